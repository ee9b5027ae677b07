//! Every query on every fixture, as CSV: `tests/golden/<query>/<trace>.csv`.
//!
//! What a golden must hold is derived by hand in the header of the fixture's trace. `NSQ_BLESS=1`
//! writes them anew; CI refuses to. A query without a golden that has rows is a failure.

use crate::in_process::answer;
use crate::support::{Fixtures, project, queries, traces};
use libtest_mimic::{Failed, Trial};
use nsq::error::Error;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

/// One trial for each query on each trace, and one for each query that it has rows somewhere.
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

/// The golden against the answer: a CSV, or no file where the trace lacks the data.
fn compare(fixtures: &Fixtures, query: &str, trace: &str) -> Result<(), Failed> {
    let got = match answer(&fixtures.trace(trace), query) {
        Ok(csv) => Some(csv),
        Err(Error::LacksData { .. }) => None,
        Err(error) => return Err(error.to_string().into()),
    };
    let path = golden(query, trace);
    if std::env::var_os("NSQ_BLESS").is_some() {
        assert!(std::env::var_os("CI").is_none(), "CI does not bless");
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

/// Queries whose rows are given as parameters, and tried in `tests/answer.rs`.
const GIVEN: [&str; 2] = ["share_change", "timing_compare"];

fn has_rows(query: &str) -> Result<(), Failed> {
    if GIVEN.contains(&query) {
        return Ok(());
    }
    let found = traces().iter().any(|trace| {
        fs::read_to_string(golden(query, trace)).is_ok_and(|text| text.lines().count() > 1)
    });
    if found { Ok(()) } else { Err("no golden has rows: add them to a trace in fixtures/traces".into()) }
}
