//! Predictions against programs that were changed: `../shared/gpu/pairs` has captures of an H100 before and after one change,
//! and what a step takes by the programs' own clocks.

use crate::support::{say, shared, stdout};
use serde_json::Value;
use std::collections::BTreeMap;

/// A pair, the findings that its change fixes, and by how much the predicted step may be longer or shorter than the one
/// after the change, as a share.
///
/// What a capture cannot know is in the shares: host code is faster without what was removed (1, 2, 5), the first launch of
/// a graph is cheaper than what it replaces (3), memory that is freed goes with a copy (9).
const PREDICTED: [(&str, &[&str], f64, f64); 6] = [
    ("1", &["host_sync"], 0.0, 0.35),
    ("2", &["exposed_pageable_copies"], 0.0, 0.55),
    ("3", &["launch_bound", "host_work"], 0.0, 0.30),
    ("4", &["fp32_matmul"], 0.15, 0.0),
    ("5", &["host_work"], 0.0, 0.25),
    ("9", &["host_sync", "iteration_border"], 0.0, 0.25),
];

/// The findings of the steady state: what a step takes now, with the fix, without its operations, and with the fixes before it too.
fn findings(shared: &std::path::Path, pair: &str) -> BTreeMap<String, BTreeMap<String, f64>> {
    let report = shared.join(format!("gpu/pairs/{pair}.before.sqlite"));
    let line = ["run", report.to_str().unwrap(), "--steady", "-q", "findings", "-f", "json"];
    let answer: Value = serde_json::from_str(&stdout(&line)).unwrap();
    let rows = answer["rows"].as_array().unwrap().iter().map(|row| {
        let numbers = row.as_object().unwrap().iter();
        let numbers = numbers.filter_map(|(name, value)| Some((name.clone(), value.as_f64()?)));
        (row["finding"].as_str().unwrap().to_owned(), numbers.collect())
    });
    rows.collect()
}

/// The median step after the change, recorded by nsys as the one before was.
fn after(shared: &std::path::Path, pair: &str) -> f64 {
    let truth = std::fs::read_to_string(shared.join("gpu/pairs/truth.json")).unwrap();
    let truth: Value = serde_json::from_str(&truth).unwrap();
    let mut variants = truth["variants"].as_array().unwrap().iter();
    let of = variants.find(|of| of["pair"] == pair && of["variant"] == "after").unwrap();
    of["step_ns_under_nsys"]["median"].as_f64().unwrap()
}

#[test]
fn steps_of_changed_programs_are_predicted() {
    let Some(shared) = shared() else { return };
    for (pair, fixes, shorter, longer) in PREDICTED {
        let (findings, after) = (findings(&shared, pair), after(&shared, pair));
        let first = &findings[fixes[0]];
        let alone = first.get("avoided_ns").unwrap_or(&first["alone_ns"]);
        let more: f64 = fixes[1..].iter().map(|name| findings[*name]["adds_ns"]).sum();
        let off = (alone - more) / after - 1.0;
        say(&format!(
            "pair {pair}: {} ns predicted, {after} ns made, {:+.1} %",
            alone - more,
            100.0 * off
        ));
        assert!((-shorter..=longer).contains(&off), "pair {pair}, {fixes:?}: {alone} - {more}, {after}");
    }
}

/// Attention with two products, a mask and a softmax became one fused kernel: 12.07 ms became 0.85 ms.
#[test]
fn unfused_attention_is_found_with_an_upper_bound() {
    let Some(shared) = shared() else { return };
    let findings = findings(&shared, "7");
    let found = &findings["unfused_attention"];
    assert_eq!(found["rank"], 1.0);
    // By hand: kernels and copies other than products take 9.54 of the 12.07 ms.
    assert!(
        (9.5e6..9.6e6).contains(&found["adds_ns"]) && found["alone_ns"] >= after(&shared, "7"),
        "{found:?}"
    );
    // A pass of another program: 35.2 of 841 ms are in the range of its attention and no product.
    let report = shared.join("data/exports/a100_gpt2.7b_nvtx.sqlite");
    let line =
        ["run", report.to_str().unwrap(), "-q", "unfused_attention", "-f", "csv", "--columns", "dur_ns"];
    let total: f64 = stdout(&line).lines().skip(1).map(|line| line.parse::<f64>().unwrap()).sum();
    assert!((total / 4e6 - 35.2).abs() < 0.5, "{total} ns in four passes");
}
