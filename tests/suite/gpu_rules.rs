//! The rules about idle GPUs with non-default arguments. `fixtures/traces/gpu_idle.sql` derives the
//! values.

use crate::support::{Fixtures, NEWEST_COMMON, build, outcome, project, traces};
use rusqlite::Connection;
use std::collections::BTreeMap;
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

/// The parts of a gap in `gpu_idle_causes`, and what `gpu_idle_cause_sum` calls them.
const CAUSES: [(&str, &str); 7] = [
    ("sync_ns", "host sync"),
    ("alloc_ns", "memory allocation"),
    ("api_ns", "other API call"),
    ("no_api_ns", "outside CUDA API"),
    ("launch_ns", "launch call"),
    ("queued_ns", "queued"),
    ("unknown_ns", "unknown"),
];

#[test]
fn the_causes_of_all_gaps_add_up() {
    let fixtures = Fixtures::new();
    let mut reports: Vec<_> = traces().iter().map(|trace| fixtures.trace(trace)).collect();
    reports.push(project("fixtures/example.sqlite"));
    let (mut gaps, number) = (0, |text: &String| text.parse::<i64>().unwrap_or_default());
    for report in reports {
        let report = report.to_str().unwrap();
        if outcome(&["run", report, "--query", "gpu_idle_causes"]).0 == 3 {
            continue;
        }
        for at_least in [0, 100] {
            // Per GPU and cause: the time, the gaps of which it is the largest part, their time, the longest.
            let mut sums: BTreeMap<(String, String), [i64; 4]> = BTreeMap::new();
            let columns: Vec<&str> =
                ["gpu_id", "cause", "dur_ns"].into_iter().chain(CAUSES.map(|(part, _)| part)).collect();
            for row in rows(report, "gpu_idle_causes", &["limit=-1"], &columns) {
                let dur = number(&row[2]);
                if dur < at_least {
                    continue;
                }
                gaps += 1;
                for (place, (_, cause)) in CAUSES.iter().enumerate() {
                    let sum = sums.entry((row[0].clone(), (*cause).to_owned())).or_default();
                    sum[0] += number(&row[3 + place]);
                    if row[1] == *cause {
                        *sum = [sum[0], sum[1] + 1, sum[2] + dur, sum[3].max(dur)];
                    }
                }
            }
            sums.retain(|_, sum| sum[0] > 0);
            let columns = ["gpu_id", "cause", "total_ns", "gap_count", "gap_ns", "max_ns"];
            let param = format!("at_least={at_least}ns");
            let summed: BTreeMap<(String, String), [i64; 4]> =
                rows(report, "gpu_idle_cause_sum", &[&param], &columns)
                    .into_iter()
                    .map(|row| {
                        let sum = [&row[2], &row[3], &row[4], &row[5]].map(number);
                        ((row[0].clone(), row[1].clone()), sum)
                    })
                    .collect();
            assert_eq!(summed, sums, "{report}, at least {at_least} ns");
        }
    }
    assert!(gaps > 1000, "{gaps} gaps");
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
