//! Compares every query on every fixture with `tests/golden/<query>/<trace>.csv`.
//!
//! The header of each fixture in `fixtures/traces` derives the expected values by hand. `NSQ_BLESS=1`
//! rewrites the goldens, except in CI. Every query needs at least one golden with rows.

use crate::in_process::answer;
use crate::support::{Fixtures, project, queries, traces};
use libtest_mimic::{Failed, Trial};
use nsq::error::Error;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

/// One trial per query and trace, and one per query that checks that some golden has rows.
pub fn trials() -> Vec<Trial> {
    let fixtures = Arc::new(Fixtures::new());
    for trace in traces() {
        fixtures.trace(&trace);
    }
    let mut trials = Vec::new();
    for query in queries() {
        for trace in traces() {
            let (fixtures, query, trace) = (fixtures.clone(), query.clone(), trace.clone());
            let name = format!("{query}::{trace}");
            trials.push(Trial::test(name, move || compare(&fixtures, &query, &trace)));
        }
        let name = format!("{query}::has_rows_somewhere");
        trials.push(Trial::test(name, move || has_rows(&query)));
    }
    trials
}

fn golden(query: &str, trace: &str) -> PathBuf {
    project(&format!("tests/golden/{query}/{trace}.csv"))
}

/// Compares the golden with the answer. There is no golden where the trace lacks the data.
fn compare(fixtures: &Fixtures, query: &str, trace: &str) -> Result<(), Failed> {
    let got = match answer(&fixtures.trace(trace), query) {
        // The name of a fixture has the version of its schema.
        Ok(csv) => {
            Some(csv.replace(fixtures.trace(trace).file_name().unwrap().to_str().unwrap(), trace))
        }
        Err(Error::LacksData { .. }) => None,
        Err(error) => return Err(error.to_string().into()),
    };
    let path = golden(query, trace);
    if std::env::var_os("NSQ_BLESS").is_some() {
        assert!(std::env::var_os("CI").is_none(), "NSQ_BLESS is not allowed in CI");
        match &got {
            Some(text) => {
                fs::create_dir_all(path.parent().unwrap())?;
                fs::write(&path, text)?;
            }
            None if path.exists() => fs::remove_file(&path)?,
            None => {}
        }
        return Ok(());
    }
    let want = fs::read_to_string(&path).ok();
    if got == want {
        return Ok(());
    }
    let show = |text: Option<String>| text.unwrap_or_else(|| "(exit 3: no data)".to_owned());
    Err(format!("{}\nwant:\n{}\ngot:\n{}", path.display(), show(want), show(got)).into())
}

/// Queries that compare reports, and have no rows for one: see `tests/suite/diff` and
/// `ranks.rs`.
const ROWS_FROM_SEVERAL: [&str; 4] = ["clock_steps", "diff_regressions", "diff_rows", "diff_whole"];

/// Queries that have no rows without parameters. `tests/suite/answer.rs` and `classes.rs` test them.
const ROWS_FROM_PARAMETERS: [&str; 3] = ["iteration_ranges", "share_change", "timing_compare"];

/// Needs what no fixture has: element types, see `tests/suite/work.rs`, or kernels that send, see
/// `tests/suite/pipelines.rs`.
const ROWS_FROM_TRACES: [&str; 3] = ["below_roofline", "memory_bound_ops", "point_to_point_waits"];

/// Findings that only real reports, seeded faults or the example show: see `tests/suite/findings.rs`.
const ROWS_ON_REAL_REPORTS: [&str; 3] = ["fp32_matmul", "rank_wait", "tiny_kernels"];

fn has_rows(query: &str) -> Result<(), Failed> {
    let elsewhere =
        [&ROWS_FROM_SEVERAL[..], &ROWS_FROM_PARAMETERS, &ROWS_FROM_TRACES, &ROWS_ON_REAL_REPORTS];
    if elsewhere.concat().contains(&query) {
        return Ok(());
    }
    let found = traces().iter().any(|trace| {
        fs::read_to_string(golden(query, trace)).is_ok_and(|text| text.lines().count() > 1)
    });
    if found { Ok(()) } else { Err("no golden has rows: add them to a trace in fixtures/traces".into()) }
}
