//! The rules about idle GPUs with non-default arguments. `fixtures/traces/gpu_idle.sql` derives the
//! values.

use crate::support::{NEWEST_COMMON, build, outcome};
use rusqlite::Connection;
use tempfile::TempDir;

/// The trace with two data flushes of the profiler on process 12001: one at 1600 to 1700 ms, and one
/// that ends together with the last operation and therefore is not inside the operations' time.
fn flushed(folder: &TempDir) -> String {
    let path = folder.path().join("gpu_idle.sqlite");
    build(NEWEST_COMMON, "gpu_idle", &path);
    let connection = Connection::open(&path).unwrap();
    connection
        .execute_batch(
            "INSERT INTO StringIds (id, value) VALUES (90, 'CUDA profiling data flush overhead');
             CREATE TABLE IF NOT EXISTS PROFILER_OVERHEAD
               (start INTEGER NOT NULL, end INTEGER NOT NULL, globalTid INTEGER, nameId INTEGER NOT NULL,
                overheadType INTEGER);
             INSERT INTO PROFILER_OVERHEAD (start, end, globalTid, nameId, overheadType) VALUES
               (1600000000, 1700000000, 281676320079900, 90, 0),
               (2500000000, 3100000000, 281676320079900, 90, 0);",
        )
        .unwrap();
    path.to_str().unwrap().to_owned()
}

/// The values of these columns in each row of `query`.
fn rows(report: &str, query: &str, params: &[&str], columns: &[&str]) -> Vec<Vec<String>> {
    let mut args = vec!["run", report, "--query", query, "--format", "csv"];
    for param in params {
        args.extend(["-p", param]);
    }
    let (code, out, error) = outcome(&args);
    assert_eq!(code, 0, "{error}");
    let mut reader = csv::Reader::from_reader(out.as_bytes());
    let header = reader.headers().unwrap().clone();
    let at: Vec<usize> =
        columns.iter().map(|name| header.iter().position(|column| column == *name).unwrap()).collect();
    reader
        .records()
        .map(|record| {
            let record = record.unwrap();
            at.iter().map(|index| record[*index].to_owned()).collect()
        })
        .collect()
}

const MS: &str = "000000";

fn ms(rows: &[[&str; 4]]) -> Vec<Vec<String>> {
    let row = |[start, dur, before, after]: &[&str; 4]| {
        vec![format!("{start}{MS}"), format!("{dur}{MS}"), (*before).to_owned(), (*after).to_owned()]
    };
    rows.iter().map(row).collect()
}

#[test]
fn profiler_overhead_splits_a_gap() {
    let folder = TempDir::new().unwrap();
    let report = flushed(&folder);
    let columns = ["start_ns", "dur_ns", "before_kind", "after_kind"];
    let got = rows(&report, "gpu_gaps:gap=499", &[], &columns);
    let want = [
        ["1900", "1000", "kernel", "kernel"],
        ["1660", "640", "kernel", "kernel"],
        ["2400", "600", "kernel", "memcpy"],
        ["940", "560", "memcpy", "kernel"],
        ["440", "500", "kernel", "memcpy"],
        ["1700", "500", "overhead", "memset"],
    ];
    assert_eq!(got, ms(&want));
    let got = rows(&report, "gpu_gaps:gap=0:rows=-1", &[], &columns);
    assert_eq!(got.len(), 7, "also 1550 to 1600: {got:?}");
    assert_eq!(got[6], ms(&[["1550", "50", "kernel", "overhead"]])[0]);
    assert_eq!(rows(&report, "gpu_gaps:gap=500:rows=2", &[], &columns), ms(&want[..2]));
}

#[test]
fn chunks_and_threshold_follow_nvidia() {
    let folder = TempDir::new().unwrap();
    let report = flushed(&folder);
    let columns = ["start_ns", "dur_ns", "chunks", "total_ns", "busy_ns", "gpu_busy_ns"];
    let row = |values: [&str; 6]| values.map(str::to_owned).to_vec();
    // One chunk of process 12001: 645 + 100 + 50 ms of work and 100 ms of overhead; 100 + 5 ms overlap.
    let got = rows(&report, "gpu_time_util:chunks=1:threshold=1000", &[], &columns);
    let want = [
        row(["1650000000", "660000000", "1", "20000000", "20000000", "370000000"]),
        row(["1700000000", "1250000000", "1", "250000000", "250000000", "1000000000"]),
        row(["100000000", "3000000000", "1", "895000000", "790000000", "1550000000"]),
    ];
    assert_eq!(got, want);
    // Three chunks of 12001: 445 ms (busy 340) in 100-1100, 50 + 100 in 1100-2100, 50 + 150 + 100 in
    // 2100-3100.
    let got = rows(&report, "gpu_time_util:chunks=3:threshold=40", &["measure=busy"], &columns);
    assert_eq!(
        got.last(),
        Some(&row(["100000000", "3000000000", "3", "895000000", "790000000", "1550000000"]))
    );
    let got = rows(&report, "gpu_time_util:chunks=3:threshold=40", &[], &columns);
    assert_eq!(
        got.last(),
        Some(&row(["1100000000", "2000000000", "2", "450000000", "450000000", "1210000000"]))
    );
}
