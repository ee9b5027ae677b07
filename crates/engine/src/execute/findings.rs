//! The tables of `asks: [{kind: finding}]`: the intervals of all findings, and a row about each finding.

use super::insert::Insert;
use super::intervals::Intervals;
use super::limits::Limits;
use super::native;
use crate::compile::FINDING_ABOUT;
use foldhash::HashMap;
use nsq_library::catalog::FINDING_TABLES;
use nsq_value::error::Result;
use nsq_value::table::Value;
use rusqlite::Connection;
use std::sync::Arc;

/// The answers of all findings that a plan reads.
#[derive(Debug, Default)]
pub(super) struct Findings {
    /// Each finding that the report has data for, and its intervals, in order of the names.
    pub(super) intervals: Vec<(String, Intervals)>,
    /// Where the rows of each end among those of all.
    pub(super) ends: Vec<usize>,
    /// A row about each finding, with the columns [`FINDING_ABOUT`].
    pub(super) about: Vec<Vec<Value>>,
    /// By the ID of a GPU: the start and end of the window that its intervals are cut to.
    pub(super) windows: HashMap<i64, (i64, i64)>,
}

impl Findings {
    /// Adds the intervals of a finding.
    pub(super) fn push(&mut self, name: String, intervals: Intervals) {
        self.ends.push(self.ends.last().copied().unwrap_or_default() + intervals.len());
        self.intervals.push((name, intervals));
    }

    /// Where the rows of a finding begin.
    pub(super) fn first(&self, place: usize) -> usize {
        place.checked_sub(1).map_or(0, |before| self.ends[before])
    }

    /// Start and end of the part of an interval in the window of its GPU; `None` if it is outside.
    pub(super) fn part(&self, place: usize, row: usize) -> Option<(i64, i64)> {
        let (gpu, start, end) = self.intervals[place].1.times(row)?;
        let &(from, to) = self.windows.get(&gpu)?;
        (start < to && end > from).then(|| (start.max(from), end.min(to)))
    }

    /// Creates the tables.
    pub(super) fn create(self: Arc<Self>, connection: &Connection, limits: &Limits) -> Result<()> {
        let [intervals, about] = FINDING_TABLES;
        let mut insert = Insert::create(connection, about, FINDING_ABOUT.into_iter())?;
        self.about.iter().try_for_each(|row| insert.row(row.iter()))?;
        native::install_findings(connection, intervals, self, limits)
    }
}
