//! Scopes that name threads: `--thread loader`, `--thread 4101`.

use crate::open_report::OpenReport;
use nsq_engine::compile::{Invocation, Layout, Plan};
use nsq_engine::execute::Limits;
use nsq_engine::normalize::Scope;
use nsq_library::catalog::Catalog;
use nsq_value::error::{Error, Result};
use nsq_value::glob::Glob;
use nsq_value::table::{ResultTable, Row};

/// The query that lists the threads of a report.
const THREADS: &str = "scope_threads";
/// Most threads to list in an error.
const MOST_LISTED: usize = 8;

/// A thread of a report.
struct Thread {
    global_tid: i64,
    tid: i64,
    name: Option<String>,
}

impl Thread {
    /// Its name and ID, for messages.
    fn shown(&self) -> String {
        match &self.name {
            Some(name) => format!("'{name}' ({})", self.tid),
            None => self.tid.to_string(),
        }
    }
}

impl OpenReport {
    /// The scope with the IDs of the threads that it names.
    pub(crate) fn of_threads(&self, catalog: &Catalog, scope: &Scope, limits: &Limits) -> Result<Scope> {
        if scope.launchers.is_empty() || !scope.launcher_tids.is_empty() {
            return Ok(scope.clone());
        }
        let plan = Plan::new(catalog, &Invocation::parse(THREADS), &Layout::Own)?;
        let (tables, _) = self.answers(catalog, &Scope::default(), &[plan], limits)?;
        let known: Vec<Thread> = tables.iter().flat_map(threads).collect();
        let mut launcher_tids = Vec::new();
        for text in &scope.launchers {
            let name = Glob::new(text)?;
            let tid: Option<i64> = text.parse().ok();
            let is_it = |thread: &&Thread| {
                tid == Some(thread.tid) || thread.name.as_ref().is_some_and(|known| name.matches(known))
            };
            let found: Vec<i64> = known.iter().filter(is_it).map(|thread| thread.global_tid).collect();
            if found.is_empty() {
                return Err(unknown(text, &known));
            }
            launcher_tids.extend(found);
        }
        Ok(Scope { launcher_tids, ..scope.clone() })
    }
}

fn unknown(text: &str, known: &[Thread]) -> Error {
    let listed: Vec<String> = known.iter().take(MOST_LISTED).map(Thread::shown).collect();
    let threads = match (known.len().saturating_sub(MOST_LISTED), listed.is_empty()) {
        (_, true) => "the report records no threads".to_owned(),
        (0, _) => format!("threads in the report: {}", listed.join(", ")),
        (more, _) => format!("threads in the report: {} and {more} more", listed.join(", ")),
    };
    Error::usage(
        format!("unknown thread '{text}': the report has no such thread"),
        format!("{threads}; `--query {THREADS}` lists them"),
    )
}

/// The rows of [`THREADS`].
fn threads(table: &ResultTable) -> Vec<Thread> {
    let of = |row: Row<'_>| {
        let name = row.text("thread_name").map(str::to_owned);
        Some(Thread { global_tid: row.int("global_tid")?, tid: row.int("tid")?, name })
    };
    table.iter().filter_map(of).collect()
}
