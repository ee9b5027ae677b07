//! Which ranges are iterations in both reports.

use super::side::{Asked, Rows};
use crate::class_summary::{RangeSpan, Tag};
use crate::error::{Error, Result};
use crate::normalize::{Scope, Selector};
use std::collections::{BTreeMap, BTreeSet};

const QUERY: &str = "iterations";

/// What is taken for an iteration.
#[derive(Debug, Clone)]
pub(super) struct Iterations {
    /// As a scope knows it.
    pub(super) selector: Selector,
    /// For people: the folded name, or what was typed.
    pub(super) label: String,
}

/// Ranges that are iterations.
pub(super) struct Instances {
    /// A pattern that finds them.
    pub(super) glob: String,
    /// Their ids.
    pub(super) ids: BTreeSet<i64>,
    /// How many the thread with the most has: those of several threads run side by side.
    pub(super) in_a_row: usize,
}

/// The ranges that both reports have, or why there are none.
pub(super) fn choose(
    reports: [&Asked<'_>; 2],
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
                    format!("--skip and --iter {} both say which iterations count", selector.spelled),
                    "leave one of them out",
                ));
            }
            for (report, scope) in reports.iter().zip(&outer) {
                if found(report, scope, &selector.name)?.is_none() {
                    let why =
                        format!("{} has no range that --iter {} means", report.label, selector.spelled);
                    return Ok(Err(why));
                }
            }
            let selector = Selector { instances: instances.or(selector.instances), ..selector.clone() };
            return Ok(Ok(Iterations { label: selector.spelled.clone(), selector }));
        }
        _ => {
            return Err(Error::usage(
                "one --iter says what an iteration is, and there are several",
                "give one, in which * and ? stand for anything; --nvtx cuts further",
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
        (None, None) => "no range of either looks like an iteration".to_owned(),
        (Some(layer), None) => {
            format!("B has no range `{layer}`, A's likeliest iteration, nor one like it")
        }
        (None, Some(layer)) => {
            format!("A has no range `{layer}`, B's likeliest iteration, nor one like it")
        }
        (Some(a), Some(b)) => {
            format!("A's likeliest iteration is `{a}`, B's is `{b}`, and neither is in both")
        }
    };
    Ok(Err(format!("{why}; --iter NAME says which ranges are iterations")))
}

pub(super) fn without_iterations(scope: &Scope) -> Scope {
    Scope { iterations: Vec::new(), ..scope.clone() }
}

/// The ranges that `name` means, in the scope; nothing if there are none.
pub(super) fn found(report: &Asked<'_>, scope: &Scope, name: &str) -> Result<Option<Instances>> {
    // `step` also means `step 0`, `step 1`, … where no range is called just so.
    for glob in [name.to_owned(), format!("{name}*")] {
        let rows = report.ask(scope, &[(QUERY, vec![format!("tag={glob}")])])?;
        let Some(Some(rows)) = rows.first() else { continue };
        let ids = meant(rows, name, &glob)?;
        if !ids.is_empty() {
            let mut threads: BTreeMap<(Option<i64>, Option<i64>), usize> = BTreeMap::new();
            let places =
                rows.ints("pid")?.into_iter().zip(rows.ints("tid")?).zip(rows.ints("range_id")?);
            for (thread, _) in places.filter(|(_, id)| id.is_some_and(|id| ids.contains(&id))) {
                *threads.entry(thread).or_default() += 1;
            }
            let in_a_row = threads.into_values().max().unwrap_or_default();
            return Ok(Some(Instances { glob, ids, in_a_row }));
        }
    }
    Ok(None)
}

/// Of the rows that `glob` found, the ranges that `name` means.
fn meant(rows: &Rows, name: &str, glob: &str) -> Result<BTreeSet<i64>> {
    let ids = rows.ints("range_id")?;
    if glob == name {
        return Ok(ids.into_iter().flatten().collect());
    }
    let spans = rows.texts("range_name")?.into_iter().zip(ids).map(|(name, range_id)| RangeSpan {
        name,
        range_id,
        ..RangeSpan::default()
    });
    let spans: Vec<RangeSpan> = spans.collect();
    Ok(Tag::new(name)?.find(&spans).1.into_iter().filter_map(|span| span.range_id).collect())
}

/// A folded name as a pattern: its `*` stands for numbers, everything else for itself.
fn literal(layer: &str) -> String {
    let escaped = layer.chars().map(|c| match c {
        '?' | '[' => format!("[{c}]"),
        c => c.to_string(),
    });
    escaped.collect()
}
