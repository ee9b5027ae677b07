//! Benchmark: NVTX queries over one million kernels, from process start to exit.
//!
//! Run with `cargo bench --bench nvtx_projection -- [KERNELS]`. Each figure is the best of three rounds.
//! Every round runs all queries in turn, so drift of the machine affects all of them. They are compared
//! with:
//!
//! - the floor: `sqlite3` sums two columns each of kernels, API calls and NVTX rows; ratios are relative
//!   to it
//! - SQL alone: `sqlite3` counts and sums the operations of each range with window functions, without
//!   projecting them
//! - `nsys stats`, if `NSQ_BENCH_NSYS` names it or it is on the PATH: one run of at most five minutes
//!   per report
//!
//! CPU seconds and peak memory come from GNU `time` at /usr/bin/time, if it exists.

mod large_export;
mod measured;

use measured::{Bench, keep_best, nsys, report};

const QUERIES: [&str; 6] = [
    "nvtx_gpu_proj_sum",
    "nvtx_gpu_proj_trace",
    "nvtx_kern_sum",
    "nvtx_tree",
    "nvtx_coverage",
    "cuda_gpu_kern_sum:nvtx-name",
];
/// Queries that `nsys stats` also has.
const NSYS: [&str; 4] =
    ["nvtx_gpu_proj_sum", "nvtx_gpu_proj_trace", "nvtx_kern_sum", "cuda_gpu_kern_sum:nvtx-name"];
/// Most kernels for which the slow peers run; they take minutes.
const SMALL: i64 = 1_000_000;
const ROUNDS: usize = 3;

const FLOOR_SQL: &str = "\
    SELECT sum(end-start), sum(correlationId) FROM CUPTI_ACTIVITY_KIND_KERNEL;
    SELECT sum(end-start), sum(correlationId) FROM CUPTI_ACTIVITY_KIND_RUNTIME;
    SELECT sum(end-start), total(globalTid) FROM NVTX_EVENTS;";

/// Computes running sums along each thread: launches begun before a range starts, and launches ended
/// before it ends. At equal timestamps, a range starts before a launch starts and ends after a launch
/// ends.
const WINDOW_SQL: &str = "\
    WITH
    operation AS (
      SELECT globalPid, correlationId, end - start AS dur FROM CUPTI_ACTIVITY_KIND_KERNEL
      UNION ALL SELECT globalPid, correlationId, end - start FROM CUPTI_ACTIVITY_KIND_MEMCPY
      UNION ALL SELECT globalPid, correlationId, end - start FROM CUPTI_ACTIVITY_KIND_MEMSET
    ),
    work AS (
      SELECT globalPid, correlationId, count(*) AS ops, sum(dur) AS dur FROM operation GROUP BY 1, 2
    ),
    launch AS MATERIALIZED (
      SELECT globalTid, start, end, ops, dur
      FROM CUPTI_ACTIVITY_KIND_RUNTIME AS call
      JOIN work ON work.correlationId = call.correlationId
        AND work.globalPid = call.globalTid & 0xFFFFFFFFFF000000
    ),
    range AS MATERIALIZED (
      SELECT rowid AS id, globalTid, start, coalesce(end, (SELECT max(end) FROM NVTX_EVENTS)) AS end
      FROM NVTX_EVENTS
      WHERE eventType IN (59, 60, 70, 71) AND endGlobalTid IS NULL
    ),
    edge (globalTid, at, kind, id, ops, dur) AS (
      SELECT globalTid, start, 0, id, 0, 0 FROM range
      UNION ALL SELECT globalTid, start, 1, NULL, ops, dur FROM launch
      UNION ALL SELECT globalTid, end, 2, NULL, ops, dur FROM launch
      UNION ALL SELECT globalTid, end, 3, id, 0, 0 FROM range
    ),
    running AS (
      SELECT id, kind,
        sum(iif(kind = 1, ops, 0)) OVER along AS ops_begun,
        sum(iif(kind = 1, dur, 0)) OVER along AS dur_begun,
        sum(iif(kind = 2, ops, 0)) OVER along AS ops_ended,
        sum(iif(kind = 2, dur, 0)) OVER along AS dur_ended
      FROM edge
      WINDOW along AS (PARTITION BY globalTid ORDER BY at, kind ROWS UNBOUNDED PRECEDING)
    ),
    slice AS (
      SELECT id,
        sum(iif(kind = 3, ops_ended, -ops_begun)) AS ops,
        sum(iif(kind = 3, dur_ended, -dur_begun)) AS dur
      FROM running
      WHERE id IS NOT NULL
      GROUP BY id
    )
    SELECT coalesce(text, value) AS name, count(*), sum(ops), sum(dur)
    FROM slice
    JOIN NVTX_EVENTS AS event ON event.rowid = slice.id
    LEFT JOIN StringIds AS string ON string.id = event.textId
    WHERE ops > 0
    GROUP BY name, eventType
    ORDER BY 4 DESC, 1;";

fn main() {
    let kernels = std::env::args().filter_map(|arg| arg.parse().ok()).next().unwrap_or(1_000_000);
    let bench = Bench::new("nvtx_projection", large_export::export(kernels));
    println!(
        "NVTX queries over {kernels} kernels ({} MB), best of {ROUNDS}",
        bench.export.metadata().map_or(0, |m| m.len()) / 1_000_000
    );
    let mut floor = None;
    let mut nsq = [None; QUERIES.len()];
    for _ in 0..ROUNDS {
        keep_best(&mut floor, bench.shell(FLOOR_SQL));
        for (query, best) in QUERIES.iter().zip(&mut nsq) {
            keep_best(best, bench.nsq(query));
        }
    }
    let floor = floor.expect("the sqlite3 shell reads the export");
    report("floor: sqlite3 reads the tables", Some(floor), floor);
    for (query, best) in QUERIES.iter().zip(nsq) {
        report(&format!("nsq {query}"), best, floor);
    }
    if kernels > SMALL {
        return;
    }
    report("SQL alone: sqlite3, ops and sums", bench.shell(WINDOW_SQL), floor);
    match nsys() {
        Some(nsys) => {
            for query in NSYS {
                report(&format!("nsys stats {query}"), bench.nsys(&nsys, "stats", query), floor);
            }
        }
        None => println!("  nsys not found: set NSQ_BENCH_NSYS or add nsys to the PATH"),
    }
}
