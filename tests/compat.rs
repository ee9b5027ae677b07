//! One logical trace, written as each export version would write it, gives the same answers.

mod support;

use libtest_mimic::{Arguments, Failed, Trial};
use std::process::ExitCode;
use support::{Fixtures, NEWEST_COMMON, outcome, queries, traces, versions};

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let mut trials = Vec::new();
    for version in versions() {
        for trace in traces() {
            let version = version.clone();
            trials.push(Trial::test(format!("{version}::{trace}"), move || same_answers(&version, &trace)));
        }
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn same_answers(version: &str, trace: &str) -> Result<(), Failed> {
    let fixtures = Fixtures::new();
    let old = fixtures.version(version, trace);
    let new = fixtures.version(NEWEST_COMMON, trace);
    let mut differences = Vec::new();
    for query in queries() {
        let ask = |path: &std::path::Path| {
            outcome(&["run", path.to_str().unwrap(), "--query", &query, "--format", "csv"])
        };
        let ((code, mut got, error), (_, mut want, _)) = (ask(&old), ask(&new));
        if code == 3 && lacks_table(version, &query) {
            continue;
        }
        if query == "report_info" {
            (got, want) = (without_versions(&got), without_versions(&want));
        }
        if got != want {
            differences.push(format!("{query}: {error}\nwant:\n{want}\ngot:\n{got}"));
        }
    }
    if differences.is_empty() { Ok(()) } else { Err(differences.join("\n").into()) }
}

/// The export version has no table for what the query asks.
fn lacks_table(_version: &str, _query: &str) -> bool {
    false
}

/// Facts about the export itself differ from version to version, as they should.
fn without_versions(text: &str) -> String {
    text.lines().filter(|line| !line.contains("export")).collect::<Vec<_>>().join("\n")
}
