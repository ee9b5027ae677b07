//! Predictions against programs that were changed: `fixtures/pairs` has exports from an H100 before and after one change, and
//! what a step takes by the programs' own clocks.

use crate::support::{project, say, shared, stdout};
use flate2::read::GzDecoder;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::PathBuf;

/// A pair, the findings that its change fixes, and by how much the predicted step may be shorter or longer than the one
/// after the change, as a share.
///
/// What a capture cannot know is in the shares: host code is faster without what was removed (1, 2, 5, 9), the first
/// launch of a graph is cheaper than what it replaces (3), and a buffer that is freed goes with its copy (9).
const PREDICTED: [(&str, &[&str], f64, f64); 6] = [
    ("1", &["host_sync"], 0.0, 0.35),
    ("2", &["exposed_pageable_copies"], 0.0, 0.57),
    ("3", &["launch_bound", "host_work"], 0.0, 0.30),
    ("4", &["fp32_matmul"], 0.15, 0.0),
    ("5", &["host_work"], 0.0, 0.25),
    ("9", &["exposed_pageable_copies", "iteration_border"], 0.0, 0.57),
];

/// The program of a pair before its change.
struct Before {
    report: PathBuf,
    pair: &'static str,
    /// Holds the report.
    _folder: tempfile::TempDir,
}

impl Before {
    fn new(pair: &'static str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let report = folder.path().join("before.sqlite");
        let packed = File::open(project(&format!("fixtures/pairs/{pair}.before.sqlite.gz"))).unwrap();
        std::io::copy(&mut GzDecoder::new(packed), &mut File::create(&report).unwrap()).unwrap();
        Self { report, pair, _folder: folder }
    }

    /// The numbers of each finding of the steady state.
    fn findings(&self) -> BTreeMap<String, BTreeMap<String, f64>> {
        let line = ["run", self.report.to_str().unwrap(), "--steady", "-q", "findings", "-f", "json"];
        let answer: Value = serde_json::from_str(&stdout(&line)).unwrap();
        let rows = answer["rows"].as_array().unwrap().iter().map(|row| {
            let numbers = row.as_object().unwrap().iter();
            let numbers = numbers.filter_map(|(name, value)| Some((name.clone(), value.as_f64()?)));
            (row["finding"].as_str().unwrap().to_owned(), numbers.collect())
        });
        rows.collect()
    }

    /// The median step after the change, recorded by nsys as the one before was.
    fn after(&self) -> f64 {
        self.step("after", "step_ns_under_nsys")
    }

    /// The median step of a variant, in ns.
    fn step(&self, variant: &str, clock: &str) -> f64 {
        let truth = std::fs::read_to_string(project("fixtures/pairs/truth.json")).unwrap();
        let truth: Value = serde_json::from_str(&truth).unwrap();
        let mut variants = truth["variants"].as_array().unwrap().iter();
        let of = variants.find(|of| of["pair"] == self.pair && of["variant"] == variant).unwrap();
        of[clock].as_f64().unwrap()
    }
}

#[test]
fn steps_of_changed_programs_are_predicted() {
    for (pair, fixes, shorter, longer) in PREDICTED {
        let before = Before::new(pair);
        let (findings, after) = (before.findings(), before.after());
        let first = &findings[fixes[0]];
        let alone = first["alone_ns"];
        let more: f64 = fixes[1..].iter().map(|name| findings[*name]["adds_ns"]).sum();
        let predicted = alone - more;
        let off = predicted / after - 1.0;
        say(&format!("pair {pair}: {predicted} ns predicted, {after} ns made, {:+.1} %", 100.0 * off));
        assert!(
            (-shorter..=longer).contains(&off),
            "pair {pair}, {fixes:?}: {predicted} ns, made {after} ns"
        );
    }
}

/// The first screen calls a time the best only if no real fix was better.
#[test]
fn no_fix_is_better_than_the_best() {
    for pair in ["1", "3"] {
        let before = Before::new(pair);
        let screen = stdout(&[before.report.to_str().unwrap()]);
        let line = screen.lines().find(|line| line.contains("at best")).unwrap();
        let best = line.split_once("at best ").unwrap().1;
        let mut words = best.split([' ', '\u{a0}']);
        let number: f64 = words.next().unwrap().parse().unwrap();
        let unit = match words.next().unwrap().trim_end_matches('.') {
            "ms" => 1e6,
            "µs" => 1e3,
            other => panic!("{other}: {line}"),
        };
        assert!(number * unit <= before.after(), "pair {pair}: {line}, made {} ns", before.after());
    }
}

/// Steps that wait for the host are shorter without nsys, by about what it is said to take.
#[test]
fn recording_takes_what_a_step_without_it_is_shorter() {
    let told = ["1", "2", "3", "5"].map(|pair| (pair, true));
    for (pair, is_told) in told.into_iter().chain(["3b", "4", "7", "9"].map(|pair| (pair, false))) {
        let before = Before::new(pair);
        let line = ["run", before.report.to_str().unwrap(), "-q", "capture_trust", "-f", "json"];
        let answer: Value = serde_json::from_str(&stdout(&line)).unwrap();
        let mut rows = answer["rows"].as_array().unwrap().iter();
        let Some(row) = rows.find(|row| row["problem"] == "recorded launches") else {
            assert!(!is_told, "pair {pair}: {answer}");
            continue;
        };
        let detail = row["detail"].as_str().unwrap();
        let told = detail.split_once("step take ").unwrap().1.split_once(" of its ").unwrap().0;
        let (least, most) = told.split_once(" to ").unwrap();
        let [least, most] = [least, most].map(|ms| ms.parse::<f64>().unwrap() * 1e6);
        let taken = before.step("before", "step_ns_under_nsys") - before.step("before", "step_ns_bare");
        say(&format!("pair {pair}: {least} to {most} ns told, {taken} ns taken"));
        assert!(is_told && (0.9 * least..1.1 * most).contains(&taken), "pair {pair}: {detail}");
    }
}

/// Attention with two products, a mask and a softmax became one fused kernel: 12.07 ms became 0.85 ms.
#[test]
fn unfused_attention_is_found_with_an_upper_bound() {
    let before = Before::new("7");
    let findings = before.findings();
    let found = &findings["unfused_attention"];
    assert_eq!(found["rank"], 1.0);
    // By hand: kernels and copies other than products take 9.54 of the 12.07 ms.
    assert!(
        (9.5e6..9.6e6).contains(&found["adds_ns"]) && found["alone_ns"] >= before.after(),
        "{found:?}"
    );
    let Some(shared) = shared() else { return };
    // A pass of another program: 35.2 of 841 ms are in the range of its attention and no product.
    let report = shared.join("data/exports/a100_gpt2.7b_nvtx.sqlite");
    let line =
        ["run", report.to_str().unwrap(), "-q", "unfused_attention", "-f", "csv", "--columns", "dur_ns"];
    let total: f64 = stdout(&line).lines().skip(1).map(|line| line.parse::<f64>().unwrap()).sum();
    assert!((total / 4e6 - 35.2).abs() < 0.5, "{total} ns in four passes");
}
