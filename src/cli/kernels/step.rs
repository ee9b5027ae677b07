//! `--pstep N`: finds the ranges of a step of PyTorch's profiler.

use crate::cli::reports::noted;
use nsq_ask::open_report::OpenReport;
use nsq_engine::compile::{Invocation, Layout, Plan};
use nsq_engine::execute::Limits;
use nsq_engine::normalize::{Presence, Scope, Selector};
use nsq_library::catalog::Catalog;
use nsq_value::error::{Error, Result};
use nsq_value::table::ResultTable;

/// The name of a step in PyTorch, before its number.
const NAME: &str = "ProfilerStep#";
/// The query that lists the steps of a report.
const STEPS: &str = "profiler_step_names";

/// Selectors for the ranges of step `number`. If there is no such step, the error lists the steps of the report.
pub(super) fn selectors(
    opened: &OpenReport,
    catalog: &Catalog,
    number: u64,
    limits: &Limits,
) -> Result<Vec<Selector>> {
    let path = opened.report.path.clone();
    let none = || Error::LacksData {
        query: "--pstep".to_owned(),
        needs: format!("ranges named {NAME}N"),
        report: path.clone(),
        detail: "  PyTorch's profiler records one at each prof.step()".to_owned(),
        help: "leave out --pstep, or select other ranges with --nvtx NAME --attribute process"
            .to_owned(),
    };
    let plan = Plan::new(catalog, &Invocation::parse(STEPS), &Layout::Own)?;
    match plan.check_presence(&Presence::new(&opened.schema, catalog), &path) {
        Err(Error::LacksData { .. }) => return Err(none()),
        present => present?,
    }
    let steps = noted(opened.answers(catalog, &Scope::default(), &[plan], limits)?);
    let found: Vec<(i64, String)> = steps
        .iter()
        .flat_map(ResultTable::iter)
        .filter_map(|row| Some((row.int("step")?, row.text("domain_name")?.to_owned())))
        .collect();
    if found.is_empty() {
        return Err(none());
    }
    let name = format!("{NAME}{number}");
    let wanted: Vec<Selector> = found
        .iter()
        .filter(|(step, _)| u64::try_from(*step) == Ok(number))
        .map(|(_, domain)| Selector {
            name: name.clone(),
            spelled: name.clone(),
            domain: Some(domain.clone()),
            instances: None,
            by_thread: false,
        })
        .collect();
    if wanted.is_empty() {
        let mut steps: Vec<i64> = found.iter().map(|(step, _)| *step).collect();
        steps.dedup();
        return Err(Error::usage(
            format!("there is no {name}; the report has {}", list(&steps)),
            "give one of these; list them with `nsq run REPORT --query profiler_steps`",
        ));
    }
    Ok(wanted)
}

/// Steps as runs: `3 to 6, 9`.
fn list(steps: &[i64]) -> String {
    let mut runs: Vec<(i64, i64)> = Vec::new();
    for &step in steps {
        match runs.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(step) => *last = step,
            _ => runs.push((step, step)),
        }
    }
    let texts: Vec<String> = runs
        .into_iter()
        .map(|(first, last)| match last.saturating_sub(first) {
            0 => first.to_string(),
            1 => format!("{first}, {last}"),
            _ => format!("{first} to {last}"),
        })
        .collect();
    texts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn consecutive_steps_are_one_run() {
        assert_eq!(list(&[3]), "3");
        assert_eq!(list(&[3, 4]), "3, 4");
        assert_eq!(list(&[1, 3, 4, 5, 9]), "1, 3 to 5, 9");
        assert_eq!(list(&[i64::MAX]), i64::MAX.to_string());
    }
}
