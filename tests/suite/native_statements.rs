//! Statements that nsq does not run: those of native relations, and those of stored relations without rows.
//!
//! Each is copied into a relation of another name, which is neither native nor stored, and both are read on every
//! fixture and every shared export.

use crate::support::{Fixtures, depth_of, outcome, project, shared_exports, stems, traces, turn};
use std::fs;
use std::path::Path;

const SCOPES: [&[&str]; 6] = [
    &[],
    &["--time", "20%/70%"],
    &["--gpu", "0"],
    &["--device", "0"],
    &["--nvtx", "*"],
    &["--window", "*"],
];

/// Writes a copy of each statement with this key in its front matter into `folder`, and returns the names of the
/// relations and the copies.
fn copies(folder: &Path, key: &str) -> Vec<(String, String)> {
    const LEFT_OUT: [&str; 6] =
        ["native: ", "native_reads: ", "stored: ", "rows_if: ", "  EXISTS ", "  OR EXISTS "];
    let mut found = Vec::new();
    fs::create_dir_all(folder.join("views")).unwrap();
    for name in stems("queries/views", "sql") {
        let text = fs::read_to_string(project(&format!("queries/views/{name}.sql"))).unwrap();
        let (header, statement) = text.split_once("---*/").unwrap();
        if header.contains(&format!("\n{key}: ")) {
            let copy = format!("{name}_as_stated");
            let stays = |line: &&str| !LEFT_OUT.iter().any(|start| line.starts_with(start));
            let lines: Vec<&str> = header.lines().filter(stays).collect();
            let named = format!("\nname: {name}\n");
            let header = lines.join("\n").replace(&named, &format!("\nname: {copy}\n"));
            let file = folder.join(format!("views/{copy}.sql"));
            fs::write(file, format!("{header}\n---*/{statement}")).unwrap();
            found.push((name, copy));
        }
    }
    found
}

/// The rows of each relation in order, or the error.
fn rows(
    report: &Path,
    folder: &Path,
    relations: &[&str],
    scope: &[&str],
) -> Result<Vec<Vec<String>>, String> {
    let (report, folder) = (report.to_str().unwrap(), folder.to_str().unwrap());
    let all: Vec<String> = relations.iter().map(|name| format!("SELECT * FROM {name}")).collect();
    let sql = all.join("; ");
    let mut arguments = vec!["sql", report, &sql, "--queries", folder, "--format", "csv"];
    arguments.extend(scope);
    let (code, output, error) = outcome(&arguments);
    if code != 0 {
        let error = error.lines().find(|line| line.starts_with("error")).unwrap_or_default();
        return Err(error.replace("_as_stated", ""));
    }
    let sorted = |rows: &str| {
        let mut rows: Vec<String> = rows.lines().skip(1).map(str::to_owned).collect();
        rows.sort_unstable();
        rows
    };
    Ok(output.split("\n\n").map(sorted).collect())
}

/// Asserts that relations and their copies have the same rows, or the same error. Returns how many rows each has.
fn compare(report: &Path, folder: &Path, relations: &[(String, String)], scope: &[&str]) -> Vec<usize> {
    let names: Vec<&str> = relations.iter().map(|(name, _)| name.as_str()).collect();
    let copies: Vec<&str> = relations.iter().map(|(_, copy)| copy.as_str()).collect();
    let (kept, stated) = (rows(report, folder, &names, scope), rows(report, folder, &copies, scope));
    match (&kept, &stated) {
        (Ok(kept), Ok(stated)) => {
            let differs = kept.iter().zip(stated).position(|(kept, stated)| kept != stated);
            let differs = differs.map(|place| names.get(place));
            let message = format!("{differs:?} of {} with {scope:?}", report.display());
            assert!(differs.is_none() && kept.len() == stated.len(), "{message}");
            kept.iter().map(Vec::len).collect()
        }
        // What one relation lacks hides the others.
        _ if relations.len() > 1 => relations
            .iter()
            .map(|one| compare(report, folder, std::slice::from_ref(one), scope)[0])
            .collect(),
        _ => {
            assert_eq!(kept, stated, "{names:?} of {} with {scope:?}", report.display());
            vec![0]
        }
    }
}

#[test]
fn native_rows_are_those_of_the_statement() {
    let fixtures = Fixtures::new();
    let folder = fixtures.path().join("stated");
    let relations = copies(&folder, "native_reads");
    assert!(relations.len() >= 2, "{relations:?}");
    let mut reports: Vec<_> = traces().iter().map(|trace| fixtures.trace(trace)).collect();
    reports.extend(shared_exports());
    let mut compared = vec![0; relations.len()];
    // Some of the scopes, of each report others; all at full depth.
    let some = depth_of(SCOPES.len()).min(SCOPES.len());
    for (place, report) in reports.iter().enumerate() {
        for scope in SCOPES.into_iter().cycle().skip(place + turn()).take(some) {
            let rows = compare(report, &folder, &relations, scope);
            compared.iter_mut().zip(rows).for_each(|(all, rows)| *all += rows);
        }
    }
    // Some of the scopes may leave few rows of one relation.
    let least = if some == SCOPES.len() { 100 } else { 1 };
    assert!(compared.iter().all(|rows| *rows >= least), "{relations:?}: {compared:?}");
}

#[test]
fn stored_relations_without_the_rows_of_their_condition_are_empty() {
    let fixtures = Fixtures::new();
    let folder = fixtures.path().join("stated");
    let relations = copies(&folder, "rows_if");
    assert!(relations.len() >= 2, "{relations:?}");
    let mut reports: Vec<_> = traces().iter().map(|trace| fixtures.trace(trace)).collect();
    reports.extend(shared_exports());
    for report in &reports {
        compare(report, &folder, &relations, &[]);
    }
}

#[test]
fn a_look_up_finds_no_launch_of_a_graph_that_was_traced_as_a_whole() {
    let fixtures = Fixtures::new();
    let report = fixtures.trace("graph_level");
    let count = |sql: &str| {
        let (code, output, error) = outcome(&["sql", report.to_str().unwrap(), sql, "--format", "csv"]);
        assert_eq!(code, 0, "{error}");
        output.lines().nth(1).unwrap().parse::<u32>().unwrap()
    };
    // A relation that has such graphs makes nsq read them, for `launch` too.
    let graphs = "SELECT count(*) FROM gpu_overlap AS op WHERE op.op_kind = 'graph'";
    let launched = "SELECT count(*) FROM gpu_overlap AS op CROSS JOIN launch \
                    WHERE op.op_kind = 'graph' AND launch.op_kind = op.op_kind AND launch.op_id = op.op_id";
    assert!(count(graphs) > 0);
    assert_eq!(count(launched), 0);
}
