//! A trace gives the same answers in every export version.

use crate::support::{Fixtures, can_express, outcome, queries, schema_of, traces, versions};
use libtest_mimic::{Failed, Trial};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

/// One trial per trace and export version that can express it. Versions that write the tables of a trace
/// alike give equal reports, so the first of them stands for all.
pub fn trials() -> Vec<Trial> {
    let queries = Arc::new(queries());
    let fixtures = Fixtures::new();
    let newest: BTreeMap<String, String> = traces()
        .into_iter()
        .map(|trace| (trace.clone(), answers(&fixtures.trace(&trace), &queries)))
        .collect();
    let newest = Arc::new(newest);
    let mut trials = Vec::new();
    let mut known = BTreeSet::new();
    for version in versions() {
        for trace in traces().into_iter().filter(|trace| can_express(&version, trace)) {
            if !known.insert((trace.clone(), schema_of(&version, &trace))) {
                continue;
            }
            let (version, queries, newest) = (version.clone(), queries.clone(), newest.clone());
            let name = format!("{version}::{trace}");
            trials.push(Trial::test(name, move || {
                let got = answers(&Fixtures::new().version(&version, &trace), &queries);
                if got == newest[&trace] { Ok(()) } else { Err(difference(&newest[&trace], &got)) }
            }));
        }
    }
    trials
}

/// The answers of all queries, or the reasons why they have none.
fn answers(report: &Path, queries: &[String]) -> String {
    let mut arguments = vec!["run", report.to_str().unwrap(), "--format", "csv"];
    for query in queries {
        arguments.extend(["--query", query.as_str()]);
    }
    let (code, out, error) = outcome(&arguments);
    assert!(code == 0 || code == 3, "exit {code}: {error}");
    // Facts about the export itself, and paths in help lines, rightly differ between versions.
    let is_same = |line: &&str| !line.starts_with("export,") && !line.contains("help:");
    let lines: Vec<&str> = out.lines().chain(error.lines()).filter(is_same).collect();
    let name = report.file_name().unwrap().to_str().unwrap();
    lines.join("\n").replace(report.to_str().unwrap(), "REPORT").replace(name, "REPORT")
}

fn difference(want: &str, got: &str) -> Failed {
    let lines = want.lines().zip(got.lines());
    let first = lines
        .filter(|(want, got)| want != got)
        .map(|(want, got)| format!("want {want}\ngot  {got}"))
        .next();
    first
        .unwrap_or_else(|| format!("want {} lines, got {}", want.lines().count(), got.lines().count()))
        .into()
}
