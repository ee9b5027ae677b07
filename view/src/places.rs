//! Lists of places to jump to: the matches of a search, steps, findings.

use crate::lanes::{Span, Timeline};
use nsq::{Error, Report, Result, Scope};
use serde_json::Value;
use std::collections::BTreeMap;

/// A line of a list.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Place {
    pub(crate) text: String,
    pub(crate) span: Span,
    /// Position of its lane, if it is in one.
    pub(crate) lane: Option<usize>,
}

/// Most lines of a list.
const MOST: usize = 500;

/// The names that contain `words`, whatever their case, each with its longest slice; the longest sum first.
pub(crate) fn search(timeline: &Timeline, words: &str) -> Vec<Place> {
    let wanted = words.to_lowercase();
    let names: Vec<bool> =
        timeline.names().iter().map(|name| name.to_lowercase().contains(&wanted)).collect();
    // Of each lane and name: sum, number, longest.
    let mut found = BTreeMap::<(usize, u32), (i64, usize, Span)>::new();
    for (place, lane) in timeline.lanes.iter().enumerate() {
        for slice in lane.slices.iter().filter(|slice| names.get(slice.name as usize) == Some(&true)) {
            let of_name = found.entry((place, slice.name)).or_insert((0, 0, slice.span));
            of_name.0 += slice.span.length();
            of_name.1 += 1;
            if slice.span.length() > of_name.2.length() {
                of_name.2 = slice.span;
            }
        }
    }
    let mut found: Vec<_> = found.into_iter().collect();
    found.sort_by_key(|((lane, name), (sum, _, _))| (-sum, *lane, *name));
    found.truncate(MOST);
    let place = |((lane, name), (sum, count, span)): ((usize, u32), (i64, usize, Span))| Place {
        text: format!(
            "{} · {count} × · {} · {}",
            crate::time(sum),
            timeline.lanes[lane].title,
            timeline.name(name)
        ),
        span,
        lane: Some(lane),
    };
    found.into_iter().map(place).collect()
}

/// The steps of the first GPU that has some.
pub(crate) fn steps(timeline: &Timeline) -> Vec<Place> {
    let lane = timeline.lanes.iter().position(|lane| lane.kind == "steps");
    let Some((place, lane)) = lane.and_then(|place| Some((place, timeline.lanes.get(place)?))) else {
        return Vec::new();
    };
    let step = |slice: &crate::lanes::Slice| Place {
        text: format!("{} · {}", timeline.name(slice.name), crate::time(slice.span.length())),
        span: slice.span,
        lane: Some(place),
    };
    lane.slices.iter().map(step).collect()
}

/// The findings that a step gains from, each with its longest intervals. Empty if there are none.
pub(crate) fn findings(report: &Report, scope: &Scope) -> Result<Vec<Place>> {
    let absent = |error: Error| match error {
        Error::LacksData { .. } => Ok(None),
        error => Err(error),
    };
    let Some(findings) = report.query("findings").scope(scope).run().map(Some).or_else(absent)? else {
        return Ok(Vec::new());
    };
    let intervals = report.query("finding_intervals").scope(scope).run().map(Some).or_else(absent)?;
    let mut longest = BTreeMap::<String, Vec<Span>>::new();
    for row in intervals.iter().flat_map(nsq::Table::iter) {
        let Some(Ok(Value::Array(of_finding))) = row.text("intervals").map(serde_json::from_str) else {
            continue;
        };
        let Some(name) = of_finding.get(1).and_then(Value::as_str) else { continue };
        let spans = of_finding.get(2).and_then(Value::as_array).into_iter().flatten();
        let span = |interval: &Value| {
            let int = |place: usize| interval.get(place).and_then(Value::as_i64);
            Some(Span { start: int(1)?, end: int(2)? })
        };
        longest.insert(name.to_owned(), spans.filter_map(span).take(EACH).collect());
    }
    let mut places = Vec::new();
    for row in findings.iter().filter(|row| row.text("verdict") == Some("yes")) {
        let name = row.text("finding").unwrap_or_default();
        let claim = row.text("claim").unwrap_or_default();
        for span in longest.get(name).into_iter().flatten() {
            places.push(Place {
                text: format!("{} · {claim}", crate::time(span.length())),
                span: *span,
                lane: None,
            });
        }
    }
    Ok(places)
}

/// Intervals of a finding in the list.
const EACH: usize = 20;
