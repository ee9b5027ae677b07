//! The errors of several reports. An error that several reports share is printed once.

use super::{complain, note};
use nsq_value::error::{EXIT_LACKS_DATA, Error};
use std::path::Path;

/// Most reports that a note names.
const NAMES: usize = 3;

/// Why a report has no result.
pub(super) struct Failure<'a> {
    /// Name of the report in output.
    pub(super) name: &'a str,
    pub(super) path: &'a Path,
    pub(super) error: Error,
}

impl Failure<'_> {
    /// What is the same for all reports that fail for the same cause.
    fn cause(&self) -> String {
        let text = format!("{}\n{}", self.error, self.error.help().unwrap_or_default());
        text.replace(&self.path.display().to_string(), "REPORT")
    }

    /// Whether the error itself says which report it is about.
    fn names_report(&self) -> bool {
        let path = self.path.display().to_string();
        path.ends_with(self.name) && self.error.to_string().contains(&path)
    }
}

/// Prints each error once, and which other reports have it. Returns the most severe exit code.
pub(super) fn complain_of_all(failures: &[Failure<'_>]) -> u8 {
    let mut by_cause: Vec<(String, Vec<&Failure<'_>>)> = Vec::new();
    for failure in failures {
        let cause = failure.cause();
        match by_cause.iter_mut().find(|(known, _)| *known == cause) {
            Some((_, alike)) => alike.push(failure),
            None => by_cause.push((cause, vec![failure])),
        }
    }
    let mut code = 0;
    for (_, alike) in &by_cause {
        let [first, others @ ..] = alike.as_slice() else { continue };
        if !first.names_report() {
            note(&format!("{} failed:", first.name));
        }
        code = worse(code, complain(&first.error));
        if !others.is_empty() {
            note(&format!("the same for {}", names(others)));
        }
    }
    code
}

/// `a.sqlite, b.sqlite, c.sqlite and 2 more`
fn names(failures: &[&Failure<'_>]) -> String {
    let names: Vec<&str> = failures.iter().take(NAMES).map(|failure| failure.name).collect();
    let more = match failures.len().saturating_sub(NAMES) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    names.join(", ") + &more
}

/// The more severe of two exit codes: a failure outweighs missing data.
pub(super) fn worse(a: u8, b: u8) -> u8 {
    let weight = |code: u8| match code {
        0 => 0,
        EXIT_LACKS_DATA => 1,
        _ => 2,
    };
    if weight(b) > weight(a) { b } else { a }
}
