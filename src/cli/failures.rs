//! The errors of several reports. An error that several reports share is printed once.

use super::{complain, note};
use nsq_ask::request::Failed;
use nsq_value::error::EXIT_LACKS_DATA;
use nsq_value::shell;

/// Most reports that a note names.
const NAMES: usize = 3;

/// What is the same for all reports that fail for the same cause.
fn cause(failed: &Failed) -> String {
    let text = format!("{}\n{}", failed.error, failed.error.help().unwrap_or_default());
    let text = text.replace(&shell::path(&failed.path), "REPORT");
    text.replace(&failed.path.display().to_string(), "REPORT")
}

/// Whether the error itself says which report it is about.
fn names_report(failed: &Failed) -> bool {
    let path = failed.path.display().to_string();
    path.ends_with(&failed.name) && failed.error.to_string().contains(&path)
}

/// Prints each error once, and which other reports have it. Returns the most severe exit code.
pub(super) fn complain_of_all(failures: &[Failed]) -> u8 {
    let mut by_cause: Vec<(String, Vec<&Failed>)> = Vec::new();
    for failure in failures {
        let cause = cause(failure);
        match by_cause.iter_mut().find(|(known, _)| *known == cause) {
            Some((_, alike)) => alike.push(failure),
            None => by_cause.push((cause, vec![failure])),
        }
    }
    let mut code = 0;
    for (_, alike) in &by_cause {
        let [first, others @ ..] = alike.as_slice() else { continue };
        if !names_report(first) {
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
fn names(failures: &[&Failed]) -> String {
    let names: Vec<&str> = failures.iter().take(NAMES).map(|failure| failure.name.as_str()).collect();
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
