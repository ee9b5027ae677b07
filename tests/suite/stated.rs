//! What nsq computes natively for queries, beside statements that say the same in SQL.
//!
//! Each file of `stated` has two statements: the first reads a native relation, the second the relations that it comes
//! from. Both must return the same rows on every fixture and every shared export.

use crate::support::{Fixtures, depth_of, outcome, project, shared_exports, stems, traces, turn};
use std::fs;
use std::path::Path;

const SCOPES: [&[&str]; 3] = [&[], &["--time", "20%/70%"], &["--device", "0"]];

/// The rows of a statement as text, or the error.
fn rows(report: &Path, statement: &str, scope: &[&str]) -> Result<String, String> {
    let arguments =
        [&["sql", report.to_str().unwrap(), statement, "-f", "csv", "--no-header"], scope].concat();
    match outcome(&arguments) {
        (0, output, _) => Ok(output),
        (_, _, error) => Err(error.lines().find(|line| line.starts_with("error")).unwrap().to_owned()),
    }
}

#[test]
fn native_rows_are_those_of_statements() {
    let fixtures = Fixtures::new();
    let mut reports: Vec<_> = traces().iter().map(|trace| fixtures.trace(trace)).collect();
    reports.push(project("fixtures/example.sqlite"));
    reports.extend(shared_exports());
    let mut all = 0;
    for name in stems("tests/suite/stated", "sql") {
        let text = fs::read_to_string(project(&format!("tests/suite/stated/{name}.sql"))).unwrap();
        let (native, stated) = text.split_once(";\n").unwrap();
        let mut compared = 0;
        // Each on a quarter of the reports with one of the scopes, and on all with all at full depth.
        let (step, some) = (4 / depth_of(4).min(4), depth_of(SCOPES.len()).min(SCOPES.len()));
        for (place, report) in reports.iter().skip(turn() % step).step_by(step).enumerate() {
            for scope in SCOPES.into_iter().cycle().skip(place + turn()).take(some) {
                let computed = rows(report, native, scope);
                let stated = rows(report, stated, scope);
                assert!(
                    computed == stated,
                    "{name} of {} with {scope:?}: {computed:?} is not {stated:?}",
                    report.display()
                );
                compared += computed.map_or(0, |rows| rows.lines().count());
            }
        }
        // A quarter of the reports may have few rows of one relation.
        assert!(compared > 20 || step > 1, "{name}: {compared}");
        all += compared;
    }
    assert!(all > 10_000, "{all}");
}
