//! Findings: ranked by what a step gains with their fixes.

mod pairs;
mod places;
mod seeded;

use crate::support::{Fixtures, outcome, project, shared, shared_exports, stdout, tried};
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

/// The time in a finding's intervals within the windows, nanosecond by nanosecond.
fn ceiling(intervals: &Intervals, windows: &[(i64, i64, i64)]) -> i64 {
    let claims = |gpu: i64, at: i64| {
        intervals.iter().any(|(on, start, length, _)| *on == gpu && *start <= at && at < start + length)
    };
    let of = |&(gpu, from, to): &(i64, i64, i64)| (from..to).filter(|&at| claims(gpu, at)).count();
    windows.iter().map(of).sum::<usize>() as i64
}

#[test]
fn all_fixes_together_gain_no_more_than_there_is() {
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
            let now = rows.iter().filter_map(|row| row["now_ns"].parse::<i64>().ok()).max();
            let total: i64 = rows.iter().map(|row| number(row, "adds_ns")).sum();
            assert!(total <= now.unwrap_or(0), "{trace}: {total} of {now:?}");
            for row in &rows {
                let gains = row["alone_ns"].parse::<i64>().is_ok_and(|alone| Some(alone) < now);
                assert!(
                    row["verdict"] != "yes" || gains || number(row, "adds_ns") > 0,
                    "{trace}: {row:?}"
                );
                if let Some(own) = findings.get(&row["finding"]) {
                    assert_eq!(number(row, "ceiling_ns"), ceiling(own, &windows), "{trace}: {row:?}");
                }
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

/// What an expert concludes first from real reports, read from their raw rows: see findings/README.md. Where nsq's first
/// screen has something else first, the column `miss` says what, so that no change goes unseen.
#[test]
fn the_first_finding_is_what_an_expert_says_first() {
    let Some(shared) = shared() else { return };
    let text = std::fs::read_to_string(project("tests/suite/findings/verdicts.tsv")).unwrap();
    let mut wrong = Vec::new();
    for line in text.lines().skip(1) {
        let cells: Vec<&str> = line.split('\t').collect();
        let (name, first, least_ms, miss) = (cells[0], cells[1], cells[2], cells[3]);
        let folder = if name.ends_with(".sqlite") { "data/exports" } else { "data/torch" };
        let report = shared.join(folder).join(name);
        if !report.is_file() {
            continue;
        }
        let page: serde_json::Value =
            serde_json::from_str(&stdout(&["overview", report.to_str().unwrap(), "-f", "json"]))
                .unwrap();
        let findings = page.as_array().unwrap().iter().find(|table| table["table"] == "findings");
        let rows = findings.and_then(|table| table["rows"].as_array().cloned()).unwrap_or_default();
        let yes = rows.iter().find(|row| row["verdict"] == "yes");
        let facts = &page[0]["page_facts"];
        let of = |fact: &str| facts[fact].as_bool().unwrap_or_default();
        let given = match yes {
            // The screen concludes nothing, or names a family of kernels first.
            _ if of("is_once") || facts["bound_by"] == "whole graphs" => "none".to_owned(),
            _ if of("kernel_binds") => format!("family:{}", facts["family"].as_str().unwrap()),
            Some(row) => row["finding"].as_str().unwrap().to_owned(),
            None => "none".to_owned(),
        };
        let expected = if miss.is_empty() { first } else { miss };
        if given != expected {
            wrong.push(format!("{name}: {given} instead of {expected}"));
        }
        // No step is promised that is shorter than the expert's bound.
        if let (Some(row), Ok(least), true) = (yes, least_ms.parse::<f64>(), miss.is_empty()) {
            let of_finding = row["avoided_ns"].as_f64().or(row["alone_ns"].as_f64()).unwrap();
            let of_family = facts["family_then_ns"].as_f64().filter(|_| of("kernel_binds"));
            let best = of_family.unwrap_or(of_finding);
            if best < 0.95e6 * least {
                wrong
                    .push(format!("{name}: {} ms, and the expert says {least} ms at least", best / 1e6));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// One ranking: each line of the screen has the number that the query gives it, asked as the screen says. Takes 15 s.
#[test]
fn the_screen_and_the_query_rank_findings_alike() {
    let mut reports = vec![project("fixtures/example.sqlite")];
    reports.extend(shared_exports());
    if let Some(shared) = shared() {
        let traces = std::fs::read_dir(shared.join("data/torch")).unwrap();
        reports.extend(traces.map(|entry| entry.unwrap().path()));
    }
    reports.sort();
    for report in tried(reports.len()).map(|place| &reports[place]) {
        let report = report.to_str().unwrap();
        let screen = stdout(&[report]);
        // Of the capture, nothing is a share of the steps, and a fix takes no more than there is.
        let whole = stdout(&[report, "-p", "whole=true"]);
        assert!(!whole.contains(" of the steps"), "{report}\n{whole}");
        for text in [&screen, &whole] {
            assert!(
                !text.contains(" -0") && !(1..10).any(|digit| text.contains(&format!(", -{digit}"))),
                "{text}"
            );
        }
        // No option of the query chooses what is judged there.
        if screen.contains("also of the time before") {
            continue;
        }
        let mut query = vec!["run", report, "-q", "findings", "-f", "csv", "--no-header"];
        if screen.contains("(all places: nsq run REPORT --steady -q NAME)") {
            query.push("--steady");
        }
        let ranked = |line: &str| {
            let (rank, claim) = line.split_once(". ")?;
            let name = claim.split_once(" -q ")?.1.split([' ', ',']).next()?;
            Some((rank.trim().parse::<usize>().ok()?, name.to_owned()))
        };
        let listed: Vec<(usize, String)> = screen.lines().filter_map(ranked).collect();
        if listed.is_empty() {
            continue;
        }
        let rows = stdout(&query);
        let of_query: Vec<Vec<&str>> = rows.lines().map(|line| line.splitn(4, ',').collect()).collect();
        for (rank, name) in listed {
            let row = of_query.get(rank - 1).unwrap_or_else(|| panic!("{report}: {rank}\n{screen}"));
            assert_eq!(
                row[..3],
                [rank.to_string().as_str(), "yes", name.as_str()],
                "{report}\n{screen}"
            );
        }
    }
}

#[test]
fn a_report_alone_is_an_overview() {
    let report = project("fixtures/example.sqlite");
    let report = report.to_str().unwrap();
    let text = stdout(&[report]);
    assert_eq!(text, stdout(&["overview", report]));
    for part in ["GPU 0  █", "What to fix", " 1. ", "Fix: ", "Next"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let page = stdout(&["overview", report, "-f", "html"]);
    assert!(page.starts_with("<!DOCTYPE html>") && page.trim_end().ends_with("</html>"), "{page}");
    assert!(page.matches("<script").count() == 1 && !page.contains("src="), "{page}");
    // Names and commands in backquotes are code there.
    assert!(page.contains("<code>") && !page.contains('`'), "{page}");
    let tables: serde_json::Value = serde_json::from_str(&stdout(&[report, "-f", "json"])).unwrap();
    let names: Vec<&str> =
        tables.as_array().unwrap().iter().map(|table| table["table"].as_str().unwrap()).collect();
    assert_eq!(
        names,
        [
            "gpus",
            "findings",
            "chosen_fixes",
            "conclusion",
            "hang",
            "judged",
            "priority",
            "trust",
            "idle",
            "iterations",
            "kernels",
            "durations",
            "phases"
        ]
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
fn findings_link_to_the_timeline_page_if_its_address_is_harmless() {
    let report = project("fixtures/example.sqlite");
    let report = report.to_str().unwrap();
    let overview = |address: &str| {
        let timeline = format!("timeline={address}");
        stdout(&["overview", report, "-f", "html", "-p", timeline.as_str()])
    };
    let page = overview("timeline.html");
    for rank in 1..=3 {
        let link = format!("<a href=\"timeline.html#finding={rank}\">see it</a>");
        assert!(page.contains(&link), "{link}: {page}");
    }
    assert!(!page.contains("To link this page"), "{page}");
    assert!(overview("https://host/t.html").contains("#finding=1\">see it</a>"));
    let bare = stdout(&["overview", report, "-f", "html"]);
    assert!(bare.contains("-p timeline=timeline.html") && !bare.contains("see it</a>"), "{bare}");
    for address in [
        "javascript:alert(1)",
        " JavaScript:alert(1)",
        "java\tscript:alert(1)",
        "data:text/html,x",
        "//host/t.html",
        "\\\\host\\t.html",
        "/\t/host/t.html",
        "file:////host/t.html",
    ] {
        let page = overview(address);
        assert!(page.contains("No links to the timeline"), "{address}: {page}");
        assert!(!page.contains("see it</a>"), "{address}: {page}");
    }
    assert_eq!(overview("\"><script>.html").matches("<script").count(), 1);
    let ranks = ["run", report, "-q", "job", "-f", "html"];
    let with = |timeline| stdout(&[&ranks[..], &["-p", timeline]].concat());
    // From one wait before the first rank came to one wait after the last one.
    let link = "<a href=\"timeline.html#t=203925604,226088410&amp;m=211313206,218700808,all\">";
    let page = with("timeline=timeline.html");
    assert!(page.contains(link) && page.contains("see it on GPU 0 of example.sqlite"), "{page}");
    assert!(!with("timeline=javascript:alert(1)").contains("see it on"));
    assert!(!stdout(&ranks).contains("see it on"));
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
