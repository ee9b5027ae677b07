//! Native relations on the NVTX projection, and scopes that are selected by NVTX ranges.

mod answers;
mod cells;
mod interner;
mod load;
mod names;
mod path_text;
mod ranges;
mod scope;
mod tables;

pub(super) use answers::Answers;
pub use load::Loads;
pub(super) use names::NameRules;
pub use scope::AttributedTime;
pub(super) use scope::Selection;
pub(super) use tables::Table;

use super::natives::Sources;
use crate::normalize::{Input, Scope};
use nsq_value::error::Result;
use rusqlite::Connection;
use scope::RangeScope;
use std::sync::Arc;

/// Reads the input and projects NVTX ranges onto GPU operations.
pub(super) fn project(from: &Sources<'_>, input: &Input, rules: &Arc<NameRules>) -> Result<Answers> {
    let &Sources { database, limits, .. } = from;
    let scope = &input.scope;
    let loaded = load::load(from, input)?;
    let mut attribution = load::attribute(loaded.capture, scope, limits)?;
    let ranges = RangeScope::new(&attribution, &loaded.names, rules, scope)?;
    attribution.capture.ops.retain(|op| ranges.is_in_window(op.start, op.end));
    let projection = if !scope.selects_ranges() {
        load::project(attribution, None, limits, database)?
    } else {
        let keep = |attribution: &_, launch| ranges.holds_launch(attribution, launch);
        load::project(attribution, Some(&keep), limits, database)?
    };
    let (names, kernel_names) = (loaded.names, loaded.kernel_names);
    let rules = Arc::clone(rules);
    Ok(Answers::new(projection, names, kernel_names, rules, scope.clone(), ranges, limits))
}

/// The same for an input of which `whole` has all times.
pub(super) fn part(whole: &Answers, from: &Sources<'_>, input: &Input) -> Result<Answers> {
    let scope = &input.scope;
    let attribution = whole.projection.attribution.within(|op| scope.has_time(op.start, op.end));
    let projection = load::project(attribution, None, from.limits, from.database)?;
    Ok(whole.with(projection, scope.clone(), from.limits))
}

/// Finds the operations and calls in the NVTX ranges that the scope selects. Registers the selection
/// functions on `connection`, if given.
pub(super) fn select(
    from: &Sources<'_>,
    input: &Input,
    scope: &Scope,
    rules: &NameRules,
    connection: Option<&Connection>,
) -> Result<Selection> {
    let loaded = load::load(from, input)?;
    let attribution = load::attribute(loaded.capture, &input.scope, from.limits)?;
    let ranges = RangeScope::new(&attribution, &loaded.names, rules, scope)?;
    let selection = ranges.select(&attribution);
    if let Some(connection) = connection {
        scope::register(connection, ranges, selection.clone(), &attribution)?;
    }
    Ok(selection)
}
