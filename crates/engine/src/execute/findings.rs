//! The tables of `asks: [{kind: finding}]`: the intervals of all findings, and a row about each finding.

use super::insert::Insert;
use super::intervals::Intervals;
use crate::compile::FINDING_ABOUT;
use nsq_library::catalog::{FINDING_COLUMNS, FINDING_TABLES};
use nsq_value::error::Result;
use nsq_value::table::Value;
use rusqlite::Connection;

/// The answers of all findings that a plan reads.
#[derive(Debug, Default)]
pub struct Findings {
    /// Each finding that the report has data for, and its intervals.
    pub(super) intervals: Vec<(String, Intervals)>,
    /// A row about each finding, with the columns [`FINDING_ABOUT`].
    pub(super) about: Vec<Vec<Value>>,
}

impl Findings {
    /// Creates the tables.
    pub(super) fn create(&self, connection: &Connection) -> Result<()> {
        let [intervals, about] = FINDING_TABLES;
        let columns = std::iter::once("query").chain(FINDING_COLUMNS);
        let mut insert = Insert::create(connection, intervals, columns)?;
        for (name, rows) in &self.intervals {
            rows.write(&Value::Text(name.clone()), &mut insert)?;
        }
        let mut insert = Insert::create(connection, about, FINDING_ABOUT.into_iter())?;
        self.about.iter().try_for_each(|row| insert.row(row.iter()))
    }
}
