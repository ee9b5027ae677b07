//! The intervals of all findings as a relation, which is not copied into a table: a large report has a million rows.

use super::relation::{Access, Cell, Key, Order, Relation};
use super::texts::readable;
use crate::execute::findings::Findings;
use nsq_library::catalog::{FINDING_COLUMNS, FINDING_PARTS};
use rusqlite::types::ValueRef;
use std::ops::Range;

/// The place of the first of [`FINDING_PARTS`].
const FROM: usize = 1 + FINDING_COLUMNS.len();
/// That of the second.
const TO: usize = FROM + 1;

/// The relation `finding`: the name of the query, then [`FINDING_COLUMNS`] and [`FINDING_PARTS`].
#[derive(Debug, Clone, Copy)]
pub(in crate::execute::native) struct Table;

impl Relation for Table {
    type Answers = Findings;
    /// The finding of a row, and the row's place in it.
    type Row = Option<(usize, usize)>;

    fn named(_: &str) -> Option<Self> {
        Some(Self)
    }

    fn columns(self) -> Vec<&'static str> {
        std::iter::once("query").chain(FINDING_COLUMNS).chain(FINDING_PARTS).collect()
    }

    fn key(self) -> &'static [&'static str] {
        &["query"]
    }

    fn orders(self, access: Access<'_>) -> &'static [Order] {
        match access {
            // They were asked in the order of their names.
            Access::Scan => {
                &[Order { columns: &[("query", false)], is_total: false, is_on_demand: false }]
            }
            Access::Lookup(_) => &[],
        }
    }

    fn is_found_exactly(self) -> bool {
        true
    }

    fn rows_per_key(self) -> i64 {
        10_000
    }

    fn failure(_: &Findings) -> Option<&str> {
        None
    }

    fn is_stopped(_: &Findings) -> bool {
        false
    }

    fn rows(self, findings: &Findings) -> usize {
        findings.ends.last().copied().unwrap_or_default()
    }

    fn index(self, _: &Findings, row: usize) -> usize {
        row
    }

    fn find(self, findings: &Findings, key: &Key) -> Range<usize> {
        let place = findings.intervals.iter().position(|(name, _)| Some(name.as_str()) == key.text(0));
        place.map_or(0..0, |place| findings.first(place)..findings.ends[place])
    }

    fn row(self, findings: &Findings, index: usize, _: &Key) -> Self::Row {
        let place = findings.ends.partition_point(|&end| end <= index);
        (place < findings.ends.len()).then(|| (place, index - findings.first(place)))
    }

    fn cell<'a>(self, findings: &'a Findings, column: usize, _: usize, row: &Self::Row) -> Cell<'a> {
        let Some((place, row)) = *row else { return Cell::Null };
        let (name, intervals) = &findings.intervals[place];
        match column {
            0 => name.as_str().into(),
            FROM => findings.part(place, row).map(|(from, _)| from).into(),
            TO => findings.part(place, row).map(|(_, to)| to).into(),
            column => match intervals.cell(column - 1, row) {
                Some(ValueRef::Integer(int)) => int.into(),
                Some(ValueRef::Real(real)) => Cell::Real(real),
                Some(ValueRef::Text(bytes)) => Cell::Text(readable(bytes)),
                _ => Cell::Null,
            },
        }
    }
}
