//! Native relations with a statement: the rows that nsq computes are those of the statement.
//!
//! Each statement is copied into a relation of another name, which is not native, and both are read on every
//! fixture and every shared export, with several scopes.

use crate::support::{Fixtures, outcome, project, shared_exports, stems, traces};
use std::fs;
use std::path::Path;

const SCOPES: [&[&str]; 5] =
    [&[], &["--time", "20%/70%"], &["--device", "0"], &["--nvtx", "*"], &["--window", "*"]];

/// Writes a copy of each statement into `folder`, and returns the names of the relations and the copies.
fn copies(folder: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    fs::create_dir_all(folder.join("views")).unwrap();
    for name in stems("queries/views", "sql") {
        let text = fs::read_to_string(project(&format!("queries/views/{name}.sql"))).unwrap();
        let (is_native, copy) = (text.contains("\nnative: true\n"), format!("{name}_as_stated"));
        if is_native && text.contains("\nnative_reads: ") {
            let own = |line: &&str| !line.starts_with("native: ") && !line.starts_with("native_reads: ");
            let lines: Vec<&str> = text.lines().filter(own).collect();
            let text =
                lines.join("\n").replace(&format!("\nname: {name}\n"), &format!("\nname: {copy}\n"));
            fs::write(folder.join(format!("views/{copy}.sql")), text).unwrap();
            found.push((name, copy));
        }
    }
    found
}

/// The rows of a relation in order, or the error.
fn rows(report: &Path, folder: &Path, relation: &str, scope: &[&str]) -> Result<Vec<String>, String> {
    let (report, folder) = (report.to_str().unwrap(), folder.to_str().unwrap());
    let sql = format!("SELECT * FROM {relation}");
    let mut arguments = vec!["sql", report, &sql, "--queries", folder, "--format", "csv"];
    arguments.extend(scope);
    let (code, output, error) = outcome(&arguments);
    if code != 0 {
        return Err(error.lines().next().unwrap_or_default().replace("_as_stated", ""));
    }
    let mut rows: Vec<String> = output.lines().skip(1).map(str::to_owned).collect();
    rows.sort_unstable();
    Ok(rows)
}

#[test]
fn native_rows_are_those_of_the_statement() {
    let fixtures = Fixtures::new();
    let folder = fixtures.path().join("stated");
    let relations = copies(&folder);
    assert!(relations.len() >= 2, "{relations:?}");
    let mut reports: Vec<_> = traces().iter().map(|trace| fixtures.trace(trace)).collect();
    reports.extend(shared_exports());
    let mut compared = vec![0; relations.len()];
    for report in &reports {
        for (nth, (relation, copy)) in relations.iter().enumerate() {
            for scope in SCOPES {
                let computed = rows(report, &folder, relation, scope);
                let stated = rows(report, &folder, copy, scope);
                assert!(computed == stated, "{relation} of {} with {scope:?}", report.display());
                compared[nth] += computed.map_or(0, |rows| rows.len());
            }
        }
    }
    assert!(compared.iter().all(|rows| *rows > 100), "{relations:?}: {compared:?}");
}
