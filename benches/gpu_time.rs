//! The queries about busy and idle GPUs over one million kernels, beside their peers and their floor.
//!
//! Run with `cargo bench --bench gpu_time -- [KERNELS]`. Each query is the best of three, and the three
//! rounds go over everything in turn, so that the machine's drift is shared. Beside them:
//!
//! - the floor: `sqlite3` adds up the times, devices and names of kernels, copies and fills; ratios are to it
//! - `nsys analyze`, where `NSQ_BENCH_NSYS` names an nsys or one is on the PATH; once, for at most five minutes

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
/// Those that `nsys analyze` has too.
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
        "GPU time over {kernels} kernels ({} MB)",
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
    report("floor: sqlite3 adds up the columns", Some(floor), floor);
    for (query, cost) in QUERIES.iter().zip(costs) {
        report(&format!("nsq {query}"), cost, floor);
    }
    match nsys() {
        Some(nsys) => {
            for query in NSYS {
                report(&format!("nsys analyze {query}"), bench.nsys(&nsys, "analyze", query), floor);
            }
        }
        None => println!("  no nsys: NSQ_BENCH_NSYS names none and none is on the PATH"),
    }
}
