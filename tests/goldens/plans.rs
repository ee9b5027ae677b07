//! What SQLite sorts and indexes for each query, which is most of the time of a statement on a million rows.
//!
//! `plans.tsv` has the numbers of temporary B-trees and of automatic indexes in the plan of each query on
//! `fixtures/example.sqlite`. They must not rise without a reason: a statement that no longer uses the order of a native
//! relation sorts all its rows. `NSQ_BLESS=1` writes them again.

use crate::in_process::Opened;
use crate::queries::is_blessing;
use crate::support::{every_query, project};
use libtest_mimic::{Failed, Trial};
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::Mutex;

const HEADER: &str = "query\tsorts\tindexes";

/// Held while the file is read, changed and written.
static BLESSING: Mutex<()> = Mutex::new(());

/// One trial per query, and one for the file.
pub fn trials() -> Vec<Trial> {
    let queries = every_query();
    let known = queries.clone();
    let all = Trial::test("plans_of_queries_only", move || of_queries_only(&known));
    let each =
        queries.into_iter().map(|query| Trial::test(format!("{query}::plan"), move || compare(&query)));
    each.chain([all]).collect()
}

fn file() -> PathBuf {
    project("tests/goldens/plans.tsv")
}

/// The numbers of each query.
fn read() -> BTreeMap<String, String> {
    let text = fs::read_to_string(file()).unwrap_or_default();
    let rows = text.lines().skip(1).filter_map(|line| line.split_once('\t'));
    rows.map(|(query, numbers)| (query.to_owned(), numbers.to_owned())).collect()
}

fn write(plans: &BTreeMap<String, String>) -> std::io::Result<()> {
    let rows: Vec<String> =
        plans.iter().map(|(query, numbers)| format!("{query}\t{numbers}\n")).collect();
    fs::write(file(), format!("{HEADER}\n{}", rows.concat()))
}

/// Compares the numbers of a query. One that cannot be asked of the example, or asks other queries only, has none.
fn compare(query: &str) -> Result<(), Failed> {
    let report = Opened::new(&project("fixtures/example.sqlite"))?;
    let plan = report.query_plan(query).ok().flatten();
    let found = plan.map(|plan| {
        let count = |word: &str| plan.iter().filter(|line| line.contains(word)).count();
        format!("{}\t{}", count("USE TEMP B-TREE"), count("AUTOMATIC"))
    });
    if is_blessing() {
        let _blessing = BLESSING.lock();
        let mut plans = read();
        match found {
            Some(numbers) => plans.insert(query.to_owned(), numbers),
            None => plans.remove(query),
        };
        return Ok(write(&plans)?);
    }
    let known = read().remove(query);
    if found == known {
        return Ok(());
    }
    let numbers = |of: Option<String>| {
        of.map_or("none".to_owned(), |numbers| numbers.replace('\t', " sorts, ") + " indexes")
    };
    Err(format!("{query}: {} in {}, now {}", numbers(known), file().display(), numbers(found)).into())
}

/// The file has no numbers of a query that was renamed or removed.
fn of_queries_only(queries: &[String]) -> Result<(), Failed> {
    let _blessing = BLESSING.lock();
    let mut plans = read();
    if is_blessing() {
        plans.retain(|query, _| queries.contains(query));
        return Ok(write(&plans)?);
    }
    match plans.keys().find(|query| !queries.contains(query)) {
        Some(query) => {
            Err(format!("{} has numbers of {query}, which is no query", file().display()).into())
        }
        None => Ok(()),
    }
}
