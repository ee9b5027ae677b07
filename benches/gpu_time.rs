//! Benchmark: queries on GPU busy and idle time over one million kernels.
//!
//! Run with `cargo bench --bench gpu_time -- [KERNELS]`. Each figure is the best of three rounds. Every
//! round runs all queries in turn, so drift of the machine affects all of them. They are compared with:
//!
//! - the floor: `sqlite3` sums the times, devices and names of kernels, copies and fills; ratios are
//!   relative to it
//! - `nsys analyze`, if `NSQ_BENCH_NSYS` names an nsys or one is on the PATH: one run of at most five
//!   minutes per rule

mod large_export;
mod measured;

use measured::{Bench, Cost, keep_best, nsys, report};

const QUERIES: [&str; 9] = [
    "gpu_time",
    "comm_overlap",
    "gpu_idle_causes",
    "class_sum",
    "gpu_elapsed",
    "stream_concurrency",
    "memory_ops",
    "gpu_gaps",
    "gpu_time_util",
];
/// Queries that `nsys analyze` also has.
const NSYS: [&str; 2] = ["gpu_gaps", "gpu_time_util"];
const ROUNDS: usize = 3;

const FLOOR_SQL: &str = "\
    SELECT sum(end), sum(start), sum(deviceId), sum(streamId), sum(demangledName) FROM CUPTI_ACTIVITY_KIND_KERNEL;
    SELECT sum(end), sum(start), sum(deviceId), sum(streamId), sum(copyKind) FROM CUPTI_ACTIVITY_KIND_MEMCPY;
    SELECT sum(end), sum(start), sum(deviceId), sum(streamId) FROM CUPTI_ACTIVITY_KIND_MEMSET;";

fn main() {
    let kernels = std::env::args().filter_map(|arg| arg.parse().ok()).next().unwrap_or(1_000_000);
    let export = large_export::export(kernels);
    println!(
        "GPU time queries over {kernels} kernels ({} MB), best of {ROUNDS}",
        export.metadata().map_or(0, |m| m.len()) / 1_000_000
    );
    let bench = Bench::new("gpu_time", export);
    let mut floor = None;
    let mut costs: [Option<Cost>; QUERIES.len()] = Default::default();
    for _ in 0..ROUNDS {
        keep_best(&mut floor, bench.shell(FLOOR_SQL));
        for (query, best) in QUERIES.iter().zip(&mut costs) {
            keep_best(best, bench.nsq(query));
        }
    }
    let floor = floor.expect("sqlite3 reads the export");
    report("floor: sqlite3 sums the columns", Some(floor), floor);
    for (query, cost) in QUERIES.iter().zip(costs) {
        report(&format!("nsq {query}"), cost, floor);
    }
    match nsys() {
        Some(nsys) => {
            for query in NSYS {
                report(&format!("nsys analyze {query}"), bench.nsys(&nsys, "analyze", query), floor);
            }
        }
        None => println!("  nsys not found: set NSQ_BENCH_NSYS or add nsys to the PATH"),
    }
}
