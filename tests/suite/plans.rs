//! What SQLite sorts and indexes for each query, which is most of the time of a statement on a million rows.
//!
//! `plans.tsv` has the numbers of temporary B-trees and of automatic indexes in the plan of each query. They must not rise without
//! a reason: a statement that no longer uses the order of a native relation sorts all its rows. `NSQ_BLESS=1` writes them again.

use crate::in_process::Opened;
use crate::support::project;
use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

/// The queries of the library: the files with `kind:` outside `views`.
fn queries() -> Vec<String> {
    let mut folders: Vec<PathBuf> = vec![project("queries")];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.ends_with("views") {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "sql") {
                found.push(path.file_stem().unwrap().to_str().unwrap().to_owned());
            }
        }
    }
    found.sort_unstable();
    found
}

#[test]
fn no_query_sorts_or_indexes_more_than_is_known() {
    let report = Opened::new(&project("fixtures/example.sqlite")).unwrap();
    let mut plans = "query\tsorts\tindexes\n".to_owned();
    for query in queries() {
        let Ok(Some(plan)) = report.query_plan(&query) else { continue };
        let count = |word: &str| plan.iter().filter(|line| line.contains(word)).count();
        let (sorts, indexes) = (count("USE TEMP B-TREE"), count("AUTOMATIC"));
        writeln!(plans, "{query}\t{sorts}\t{indexes}").unwrap();
    }
    let file = project("tests/suite/plans.tsv");
    if std::env::var_os("NSQ_BLESS").is_some() {
        fs::write(&file, &plans).unwrap();
    }
    let known = fs::read_to_string(&file).unwrap();
    assert!(known.lines().count() > 150);
    let changed: Vec<_> = plans
        .lines()
        .zip(known.lines())
        .filter(|(now, known)| now != known)
        .map(|(now, known)| format!("{known} is now {now}"))
        .collect();
    assert!(plans == known, "see plans.tsv; NSQ_BLESS=1 writes it again: {changed:#?}");
}
