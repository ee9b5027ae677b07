//! Whether the steps of the reports that the page `diff` compares are the same ones.

use nsq_value::error::{Error, Result};
use nsq_value::table::ResultTable;
use std::collections::BTreeSet;

/// Why the steps of the reports are not compared with each other, although some have any. `runs` is the
/// page's table of that name, `named` the user's name of the steps, and `quotable` makes names harmless
/// between backquotes.
///
/// # Errors
///
/// [`Error::Usage`] if no report has steps of the user's name: a misspelt name must not look like an
/// answer.
pub fn not_comparable(
    runs: &ResultTable,
    named: Option<&str>,
    quotable: fn(&str) -> String,
) -> Result<Option<String>> {
    let quoted = |name: &str| format!("`{}`", quotable(name));
    let runs: Vec<_> = runs.iter().map(|run| (run.text("report"), run.text("iteration_name"))).collect();
    let lacking = runs.iter().find(|(_, name)| name.is_none());
    let names: BTreeSet<&str> = runs.iter().filter_map(|(_, name)| *name).collect();
    match (lacking, named) {
        (Some(_), Some(name)) if names.is_empty() => Err(Error::usage(
            format!("no range with GPU work in any report matches --iter {name}"),
            "`nsq run REPORT --query range_names` lists the names of ranges",
        )),
        (Some(_), None) if names.is_empty() => Ok(None),
        (Some((report, _)), Some(name)) => {
            let (report, name) = (quoted(report.unwrap_or_default()), quoted(name));
            Ok(Some(format!("No range of {report} that matches --iter {name} has GPU work.")))
        }
        (Some((report, _)), None) => {
            let report = quoted(report.unwrap_or_default());
            Ok(Some(format!("{report} has none; name them with --iter NAME.")))
        }
        (None, None) if names.len() > 1 => {
            let names: Vec<String> = names.into_iter().map(quoted).collect();
            let names = names.join(" and ");
            Ok(Some(format!("They have different names, {names}; name them with --iter NAME.")))
        }
        (None, _) => Ok(None),
    }
}
