//! Findings: ranked by the time that they add, where each nanosecond counts once.

mod seeded;

use crate::support::{Fixtures, outcome, project, shared, stdout};
use std::collections::BTreeMap;
use std::path::Path;

/// Intervals of a finding: GPU, start, length and subject.
type Intervals = Vec<(i64, i64, i64, String)>;

/// A file of the finding `name` with these rows.
fn write(folder: &Path, name: &str, rows: &Intervals, needs: &str) {
    let rows: Vec<String> = rows
        .iter()
        .map(|(gpu, start, length, subject)| format!("({gpu}, {start}, {length}, '{subject}')"))
        .collect();
    let rows = match rows.as_slice() {
        [] if needs.is_empty() => "SELECT NULL, NULL, NULL, NULL WHERE false".to_owned(),
        [] => format!("SELECT 0, start_ns, 0, 'x' FROM {needs}"),
        rows => format!("VALUES {}", rows.join(", ")),
    };
    let text = format!(
        "/*---
name: {name}
version: 1
title: The finding {name}
summary: Intervals that a test makes.
why: To test the ranking.
kind: finding
tags: [gpu]
reads: [{needs}]
finding:
  claim: The test says so.
  ceiling: The time of the intervals.
  remedy: Change the test.
  link: https://example.com/
  confidence: low
columns:
  - {{name: gpu_id, type: id, label: \"GPU\", doc: \"GPU number.\"}}
  - {{name: start_ns, type: timestamp, unit: ns, doc: \"Start of the interval.\"}}
  - {{name: dur_ns, type: duration, unit: ns, doc: \"Length of the interval.\"}}
  - {{name: subject, type: text, doc: \"What it is about.\"}}
limits: None.
---*/
WITH
interval (gpu_id, start_ns, dur_ns, subject) AS (
  {rows}
)
SELECT gpu_id, start_ns, dur_ns, subject
FROM interval
GROUP BY gpu_id, start_ns, dur_ns, subject
ORDER BY gpu_id, start_ns, dur_ns, subject
"
    );
    std::fs::write(folder.join(format!("{name}.sql")), text).unwrap();
}

/// The rows of a query, by column.
fn ask(report: &str, query: &str, more: &[&str]) -> Vec<BTreeMap<String, String>> {
    rows(&stdout(&[&["run", report, "--query", query, "--format", "csv"][..], more].concat()))
}

/// The rows of a table in CSV, by column.
fn rows(text: &str) -> Vec<BTreeMap<String, String>> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header = reader.headers().unwrap().clone();
    let row = |row: csv::StringRecord| {
        header.iter().zip(row.iter()).map(|(k, v)| (k.to_owned(), v.to_owned())).collect()
    };
    reader.records().map(|record| row(record.unwrap())).collect()
}

/// For each finding that adds time, in order: its name, what it adds, and its time alone. Counts each
/// nanosecond by itself.
fn ranked(
    findings: &BTreeMap<String, Intervals>,
    windows: &[(i64, i64, i64)],
) -> Vec<(String, i64, i64)> {
    let claims = |name: &str, gpu: i64, at: i64| {
        findings[name]
            .iter()
            .any(|(on, start, length, _)| *on == gpu && *start <= at && at < start + length)
    };
    let mut open: Vec<(i64, i64)> =
        windows.iter().flat_map(|&(gpu, from, to)| (from..to).map(move |at| (gpu, at))).collect();
    let all = open.clone();
    let count = |name: &str, times: &[(i64, i64)]| {
        times.iter().filter(|(gpu, at)| claims(name, *gpu, *at)).count() as i64
    };
    let mut ranked = Vec::new();
    let mut names: Vec<&String> = findings.keys().collect();
    loop {
        let best = names.iter().map(|name| (count(name, &open), std::cmp::Reverse(*name))).max();
        let Some((adds, std::cmp::Reverse(name))) = best.filter(|(adds, _)| *adds > 0) else {
            return ranked;
        };
        ranked.push((name.clone(), adds, count(name, &all)));
        open.retain(|(gpu, at)| !claims(name, *gpu, *at));
        names.retain(|other| *other != name);
    }
}

#[test]
fn each_nanosecond_counts_once_for_the_finding_that_adds_most() {
    let fixtures = Fixtures::new();
    for trace in ["two_streams_overlap", "kernel_gaps", "idle_causes"] {
        let report = fixtures.trace(trace);
        let report = report.to_str().unwrap();
        let number = |row: &BTreeMap<String, String>, column: &str| row[column].parse::<i64>().unwrap();
        let windows: Vec<(i64, i64, i64)> = ask(report, "gpu_time", &[])
            .iter()
            .map(|row| (number(row, "gpu_id"), number(row, "start_ns"), number(row, "end_ns")))
            .collect();
        let mut state = 88_172_645_463_325_252_u64;
        let mut random = |below: i64| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state % below as u64) as i64
        };
        for _ in 0..8 {
            let folder = tempfile::tempdir().unwrap();
            let own = folder.path().join("findings");
            std::fs::create_dir(&own).unwrap();
            let mut findings = BTreeMap::new();
            for place in 0..1 + random(9) {
                let rows = (0..random(12))
                    .map(|_| {
                        let (gpu, from, to) = windows[random(windows.len() as i64) as usize];
                        let start = from - 200 + random(to - from + 300);
                        (gpu, start, random(900), format!("s{}", random(3)))
                    })
                    .collect();
                let name = format!("test_{place}");
                write(&own, &name, &rows, "");
                findings.insert(name, rows);
            }
            let options = ["--queries", folder.path().to_str().unwrap(), "-p", "at_least_pct=0"];
            let rows = ask(report, "findings", &options);
            let is_own = |row: &&BTreeMap<String, String>| row["finding"].starts_with("test_");
            // Of nsq's own findings, none may add time that the test's add: so they are left out.
            let others = rows.iter().any(|row| !is_own(&row) && row["verdict"] == "yes");
            let got: Vec<(String, i64, i64)> = rows
                .iter()
                .filter(|row| is_own(row) && row["verdict"] == "yes")
                .map(|row| (row["finding"].clone(), number(row, "adds_ns"), number(row, "ceiling_ns")))
                .collect();
            let total: i64 = rows.iter().map(|row| number(row, "adds_ns")).sum();
            let window: i64 = windows.iter().map(|(_, from, to)| to - from).sum();
            assert!(total <= window, "{trace}: {total} of {window}");
            if !others {
                assert_eq!(got, ranked(&findings, &windows), "{trace}");
            }
        }
    }
}

#[test]
fn what_the_report_lacks_cannot_be_told() {
    let fixtures = Fixtures::new();
    let report = fixtures.trace("two_streams_overlap");
    let folder = tempfile::tempdir().unwrap();
    let own = folder.path().join("findings");
    std::fs::create_dir(&own).unwrap();
    write(&own, "test_mpi", &Vec::new(), "mpi_event");
    write(&own, "test_none", &Vec::new(), "");
    let folder = folder.path().to_str().unwrap();
    let rows = ask(report.to_str().unwrap(), "findings", &["--queries", folder]);
    let of = |name: &str| rows.iter().find(|row| row["finding"] == name).unwrap();
    assert_eq!(of("test_mpi")["verdict"], "cannot tell");
    assert!(of("test_mpi")["help"].contains("--trace=mpi"), "{:?}", of("test_mpi"));
    assert_eq!((of("test_none")["verdict"].as_str(), of("test_none")["lacks"].as_str()), ("no", ""));
    // A finding is a query of its own, and is checked.
    let (code, out, _) = outcome(&["check", folder]);
    assert_eq!(code, 0, "{out}");
}

/// What an expert said about real reports, before the findings were written: see findings/README.md.
#[test]
fn the_first_finding_is_what_an_expert_says_first() {
    let Some(shared) = shared() else { return };
    let text = std::fs::read_to_string(project("tests/suite/findings/verdicts.tsv")).unwrap();
    let (mut wrong, mut count) = (Vec::new(), 0);
    for line in text.lines().skip(1) {
        let cells: Vec<&str> = line.split('\t').collect();
        let (name, first, acceptable, never) = (cells[0], cells[1], cells[2], cells[3]);
        let folder = if name.ends_with(".sqlite") { "data/exports" } else { "data/torch" };
        let ends = ["", ".json.gz", ".json"];
        let found = ends.iter().map(|end| shared.join(folder).join(format!("{name}{end}")));
        let Some(report) = found.into_iter().find(|path| path.is_file()) else { continue };
        let (code, out, error) =
            outcome(&["run", report.to_str().unwrap(), "--query", "findings", "--format", "csv"]);
        assert!(code == 0 || code == 3, "{name}: {error}");
        let mut reader = csv::Reader::from_reader(out.as_bytes());
        let header = reader.headers().unwrap().clone();
        let place = |column: &str| header.iter().position(|name| name == column);
        let yes: Vec<(String, f64)> = reader
            .records()
            .map(Result::unwrap)
            .filter(|row| &row[place("verdict").unwrap()] == "yes")
            .map(|row| {
                (
                    row[place("finding").unwrap()].to_owned(),
                    row[place("adds_pct").unwrap()].parse().unwrap(),
                )
            })
            .collect();
        let given = yes.first().map_or("none", |(finding, _)| finding.as_str());
        let defensible: Vec<&str> = acceptable.split(',').chain([first]).collect();
        let nothing = given == "none" && defensible.contains(&"cannot tell");
        let plainly_wrong = |(finding, pct): &&(String, f64)| {
            *pct >= 5.0 && never.split(',').any(|never| never == finding)
        };
        count += 1;
        if let Some((finding, pct)) = yes.iter().find(plainly_wrong) {
            panic!("{name}: {finding} claims {pct} %, which the expert rules out");
        }
        if !defensible.contains(&given) && !nothing {
            wrong.push(format!("{name}: {given} instead of {first} ({acceptable})"));
        }
    }
    assert!(wrong.len() * 10 <= count, "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_report_alone_is_an_overview() {
    let report = project("fixtures/example.sqlite");
    let report = report.to_str().unwrap();
    let text = stdout(&[report]);
    assert_eq!(text, stdout(&["overview", report]));
    for part in ["GPU 0  █", "What to fix first", " 1. ", "Confidence: ", "Why the GPUs idled", "Next"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    let page = stdout(&["overview", report, "-f", "html"]);
    assert!(page.starts_with("<!DOCTYPE html>") && page.trim_end().ends_with("</html>"), "{page}");
    assert!(page.matches("<script").count() == 1 && !page.contains("src="), "{page}");
    let tables: serde_json::Value = serde_json::from_str(&stdout(&[report, "-f", "json"])).unwrap();
    let names: Vec<&str> =
        tables.as_array().unwrap().iter().map(|table| table["table"].as_str().unwrap()).collect();
    assert_eq!(
        names,
        ["gpus", "findings", "trust", "idle", "iterations", "kernels", "durations", "phases"]
    );
    assert_eq!(tables[1]["rows"][0]["rank"], 1);
}

#[test]
fn an_overview_escapes_what_a_report_says() {
    let fixtures = Fixtures::new();
    let report = fixtures.trace("kernel_gaps");
    let evil = "<script>alert(1)</script>\u{1b}[31m";
    let connection = rusqlite::Connection::open(&report).unwrap();
    connection
        .execute("UPDATE StringIds SET value = ?1 || value WHERE value LIKE '%(%'", [evil])
        .unwrap();
    drop(connection);
    for format in ["html", "text"] {
        let page = stdout(&["overview", report.to_str().unwrap(), "-f", format]);
        assert!(!page.contains('\u{1b}'), "{page}");
        assert!(format == "text" || page.contains("&lt;script&gt;"), "{page}");
        assert!(format == "text" || page.matches("<script").count() == 1, "{page}");
    }
}

#[test]
fn a_report_without_gpu_work_says_what_to_record() {
    let fixtures = Fixtures::new();
    let report = fixtures.trace("nvtx_only");
    let text = stdout(&["overview", report.to_str().unwrap()]);
    assert!(text.contains("no GPU work") && text.contains("--trace=cuda"), "{text}");
}

#[test]
fn a_slow_iteration_is_named_with_its_excess() {
    let report = project("fixtures/example.sqlite");
    let ask = ["run", report.to_str().unwrap(), "-q", "slow_iterations", "-f", "json"];
    let answer: serde_json::Value =
        serde_json::from_str(&stdout(&[&ask[..], &["-p", "iterations=5", "-p", "slower=1.1"]].concat()))
            .unwrap();
    let rows = answer["rows"].as_array().unwrap();
    // The fixture has one step in which the host of GPU 1 holds up its work.
    let total: i64 = rows.iter().map(|row| row["dur_ns"].as_i64().unwrap()).sum();
    let excess = rows[0]["iteration_ns"].as_i64().unwrap() - rows[0]["median_ns"].as_i64().unwrap();
    assert!(rows.iter().all(|row| row["range_name"] == "step 3" && row["gpu_id"] == 1), "{rows:?}");
    assert!(0 < total && total <= excess && 10 * total > 9 * excess, "{total} of {excess}");
}
