//! A page without an answer.

use nsq_value::error::Error;
use nsq_value::shell;
use std::path::Path;

/// A page has no answer, because a table that it needs has no rows.
#[derive(Debug)]
pub struct NoRows<'a> {
    /// What the rows would be, such as `kernels`.
    pub what: &'a str,
    /// The reason, if a report lacks the data. `None`: it has the data, but the scope leaves no rows.
    pub lack: Option<Error>,
}

impl NoRows<'_> {
    /// The error. `asker` is who needs the rows, and `is_whole` whether no scope limits the reports.
    pub fn into_error(self, asker: &str, report: &Path, is_whole: bool) -> Error {
        if let Some(error) = self.lack {
            return error;
        }
        let (needs, detail, help) = match is_whole {
            true => (
                self.what.to_owned(),
                format!("  the tables are there, but they hold no {}", self.what),
                format!("`nsq schema {}` shows what was captured", shell::path(report)),
            ),
            false => (
                format!("{} within the scope", self.what),
                format!("  the scope options exclude all of its {}", self.what),
                "leave out some of --gpu, --device, --stream, --process, --time, --nvtx, --iter or other scope options"
                    .to_owned(),
            ),
        };
        let (query, report) = (asker.to_owned(), report.to_owned());
        Error::LacksData { query, needs, report, detail, help }
    }
}
