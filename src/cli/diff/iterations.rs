//! Chooses the ranges that are iterations in both reports.

use super::asking::{InputReport, Rows};
use crate::error::{Error, Result};
use crate::normalize::{RangePattern, Scope, Selector};
use std::collections::{BTreeMap, BTreeSet};

const QUERY: &str = "iterations";

/// The ranges that count as iterations.
#[derive(Debug, Clone)]
pub(super) struct Iterations {
    /// For the scope of queries.
    pub(super) selector: Selector,
    /// For people: the folded name, or the text that the user typed.
    pub(super) label: String,
}

/// The iterations of one report.
pub(super) struct Instances {
    /// A pattern that matches their names.
    pub(super) glob: String,
    /// Their ids.
    pub(super) ids: BTreeSet<i64>,
    /// Count on the thread that has the most. Iterations of different threads run side by side.
    pub(super) most_per_thread: usize,
}

/// Finds ranges that both reports have, or the reason why there are none.
pub(super) fn choose(
    reports: [&InputReport<'_>; 2],
    scopes: [&Scope; 2],
    skip: usize,
) -> Result<std::result::Result<Iterations, String>> {
    let wanted = scopes[0].iterations.as_slice();
    let outer = scopes.map(without_iterations);
    let instances = (skip > 0).then_some((skip, usize::MAX));
    match wanted {
        [] => {}
        [selector] => {
            if skip > 0 && selector.instances.is_some() {
                return Err(Error::usage(
                    format!("--skip and --iter {} both select iterations", selector.spelled),
                    "leave out --skip, or the INDEX of --iter",
                ));
            }
            let mut lacking = Vec::new();
            for (report, scope) in reports.iter().zip(&outer) {
                if found(report, scope, &selector.name)?.is_none() {
                    lacking.push(report.label);
                }
            }
            match lacking.as_slice() {
                [] => {}
                [label] => {
                    return Ok(Err(format!("no range in {label} matches --iter {}", selector.spelled)));
                }
                // A gate must not pass because a name is misspelt.
                _ => {
                    return Err(Error::usage(
                        format!("no range in either report matches --iter {}", selector.spelled),
                        "`nsq run REPORT --query range_names` lists the names of ranges",
                    ));
                }
            }
            let selector = Selector { instances: instances.or(selector.instances), ..selector.clone() };
            return Ok(Ok(Iterations { label: selector.spelled.clone(), selector }));
        }
        _ => {
            return Err(Error::usage(
                "--iter is given several times, and it names the iterations",
                "give one --iter, with * and ? as wildcards; --nvtx narrows further",
            ));
        }
    }
    let mut likeliest = Vec::new();
    for (report, scope) in reports.iter().zip(&outer) {
        let rows = report.ask(scope, &[(QUERY, Vec::new())])?;
        let layer = match rows.first() {
            Some(Some(rows)) => rows.texts("layer_name")?.into_iter().next().flatten(),
            _ => None,
        };
        likeliest.push(layer);
    }
    let mut candidates: Vec<&String> = likeliest.iter().flatten().collect();
    candidates.dedup();
    for layer in candidates {
        let name = literal(layer);
        let mut is_in_both = true;
        for ((report, scope), own) in reports.iter().zip(&outer).zip(&likeliest) {
            is_in_both &= own.as_ref() == Some(layer) || found(report, scope, &name)?.is_some();
        }
        if is_in_both {
            let selector =
                Selector { spelled: layer.clone(), name, domain: None, instances, by_thread: true };
            return Ok(Ok(Iterations { label: layer.clone(), selector }));
        }
    }
    let why = match (&likeliest[0], &likeliest[1]) {
        (None, None) => "no iterations detected in either report".to_owned(),
        (Some(layer), None) => {
            format!("the likeliest iteration of A is `{layer}`, and B has no such range")
        }
        (None, Some(layer)) => {
            format!("the likeliest iteration of B is `{layer}`, and A has no such range")
        }
        (Some(a), Some(b)) => {
            format!("the likeliest iteration of A is `{a}`, that of B is `{b}`, and neither is in both")
        }
    };
    Ok(Err(format!("{why}; name the iterations with --iter NAME")))
}

pub(super) fn without_iterations(scope: &Scope) -> Scope {
    Scope { iterations: Vec::new(), ..scope.clone() }
}

/// Finds the ranges in the scope that match `name`; `None` if there are none.
pub(super) fn found(report: &InputReport<'_>, scope: &Scope, name: &str) -> Result<Option<Instances>> {
    // If no range is named exactly `step`, the name matches `step 0`, `step 1`, …
    for glob in [name.to_owned(), format!("{name}*")] {
        let rows = report.ask(scope, &[(QUERY, vec![format!("tag={glob}")])])?;
        let Some(Some(rows)) = rows.first() else { continue };
        let ids = matching(rows, name, &glob)?;
        if !ids.is_empty() {
            let mut threads: BTreeMap<(Option<i64>, Option<i64>), usize> = BTreeMap::new();
            let places =
                rows.ints("pid")?.into_iter().zip(rows.ints("tid")?).zip(rows.ints("range_id")?);
            for (thread, _) in places.filter(|(_, id)| id.is_some_and(|id| ids.contains(&id))) {
                *threads.entry(thread).or_default() += 1;
            }
            let most_per_thread = threads.into_values().max().unwrap_or_default();
            return Ok(Some(Instances { glob, ids, most_per_thread }));
        }
    }
    Ok(None)
}

/// The ranges among the rows of `glob` that match `name`.
fn matching(rows: &Rows, name: &str, glob: &str) -> Result<BTreeSet<i64>> {
    let ids = rows.ints("range_id")?;
    if glob == name {
        return Ok(ids.into_iter().flatten().collect());
    }
    let pattern = RangePattern::new(name)?;
    let fits = |printed: &str| {
        let text = printed.split_once(':').map_or(printed, |(_, text)| text);
        pattern.fits_unnumbered(Some(printed)) || pattern.fits_unnumbered(Some(text))
    };
    let named = rows.texts("range_name")?.into_iter().zip(ids);
    Ok(named.filter(|(name, _)| name.as_deref().is_some_and(fits)).filter_map(|(_, id)| id).collect())
}

/// A folded name as a pattern: `*` stands for numbers, and all other characters match themselves.
fn literal(layer: &str) -> String {
    let escaped = layer.chars().map(|c| match c {
        '?' | '[' => format!("[{c}]"),
        c => c.to_string(),
    });
    escaped.collect()
}
