//! A trace gives the same answers in every export version.

use crate::in_process::Opened;
use crate::queries::is_blessing;
use crate::support::golden::Golden;
use crate::support::{Fixtures, can_express, depth_of, queries, schema_of, traces, turn, versions};
use libtest_mimic::{Failed, Trial};
use nsq::error::Error;
use nsq::render::Format;
use std::collections::BTreeSet;
use std::sync::Arc;

/// One trial per trace and export version that can express it. Versions that write the tables of a trace
/// alike give equal reports, so the first of them stands for all.
///
/// Each trial asks an eighth of the queries: the next trial asks others, so that every version is asked
/// all of them. `tests/deep.sh` asks all queries in every trial.
pub fn trials() -> Vec<Trial> {
    // The goldens are being written.
    if is_blessing() {
        return Vec::new();
    }
    let queries = Arc::new(queries());
    let parts = 8 / depth_of(8).min(8);
    let mut trials = Vec::new();
    let mut known = BTreeSet::new();
    for version in versions() {
        let expressed = traces().into_iter().filter(|trace| can_express(&version, trace));
        for trace in expressed {
            if !known.insert((trace.clone(), schema_of(&version, &trace))) {
                continue;
            }
            let (version, queries) = (version.clone(), queries.clone());
            let part = (trials.len() + turn()) % parts;
            let name = format!("export_version::{version}::{trace}");
            trials.push(Trial::test(name, move || {
                let queries = queries.iter().skip(part).step_by(parts).map(String::as_str);
                compare(&version, &trace, &queries.collect::<Vec<_>>())
            }));
        }
    }
    trials
}

/// Compares the answers of an export version with the goldens, which are those of the newest version.
fn compare(version: &str, trace: &str, queries: &[&str]) -> Result<(), Failed> {
    let fixtures = Fixtures::new();
    let old = fixtures.version(version, trace);
    let file = old.file_name().unwrap().to_str().unwrap().to_owned();
    let (old, newest) = (Opened::new(&old)?, Opened::new(&fixtures.trace(trace))?);
    let answers = old.tables(queries).into_iter();
    let answers = answers.map(|answer| answer.and_then(|table| old.written(&table, Format::Csv)));
    for (query, got) in queries.iter().zip(answers) {
        let want = Golden::read(query).answer(trace);
        let (want, got) = match (want, got) {
            // Facts about the export itself rightly differ between versions.
            (Some(want), Ok(got)) => (without_export(&want), without_export(&got.replace(&file, trace))),
            // Versions lack the same data.
            (None, Err(Error::LacksData { needs, .. })) => match newest.csv(query) {
                Err(Error::LacksData { needs: wanted, .. }) => (wanted, needs),
                _ => return Err(format!("{query}: the golden lacks {trace}").into()),
            },
            (None, Ok(got)) => ("no data".to_owned(), got),
            (_, Err(error)) => return Err(format!("{query}: {error}").into()),
        };
        if want != got {
            return Err(difference(query, &want, &got));
        }
    }
    Ok(())
}

fn without_export(csv: &str) -> String {
    csv.lines().filter(|line| !line.starts_with("export,")).collect::<Vec<_>>().join("\n")
}

fn difference(query: &str, want: &str, got: &str) -> Failed {
    let lines = want.lines().zip(got.lines());
    let first = lines
        .filter(|(want, got)| want != got)
        .map(|(want, got)| format!("{query}:\nwant {want}\ngot  {got}"))
        .next();
    let counts = || format!("{query}: want {} lines, got {}", want.lines().count(), got.lines().count());
    first.unwrap_or_else(counts).into()
}
