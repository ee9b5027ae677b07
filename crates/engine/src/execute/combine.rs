//! Queries over the answers of other queries: of one report, or of several side by side.
//!
//! The answers become tables of a database in memory. Reports are never attached to each other: their
//! relations depend on the schema of each.

use super::Session;
use super::findings::Findings;
use super::insert::Insert;
use super::limits::Limits;
use super::partial::Partial;
use crate::compile::Plan;
use crate::normalize::Installation;
use nsq_value::error::Result;
use nsq_value::table::Value;
use rusqlite::Connection;
use std::sync::Arc;

/// The columns that say which report a row comes from, before the columns of its query.
pub(super) const REPORT_COLUMNS: [&str; 2] = ["report", "side"];

/// The values of [`REPORT_COLUMNS`].
pub(super) fn origin(report: &str, side: usize) -> [Value; 2] {
    [Value::Text(report.to_owned()), Value::Int(i64::try_from(side).unwrap_or(i64::MAX))]
}

impl Session {
    /// A session over answers instead of a report, which shares what it names with this one. `answers` has an entry for
    /// each query that `plan` asks: the answers of all reports, or the one answer across reports. `findings`: those of the
    /// findings, if the plan reads them.
    pub(super) fn over(
        &self,
        plan: &Plan,
        answers: &[Vec<Partial<'_>>],
        findings: Option<Arc<Findings>>,
        limits: &Limits,
    ) -> Result<Self> {
        let connection = Connection::open_in_memory()?;
        connection.execute_batch("BEGIN")?;
        for (asked, partials) in plan.asks.iter().zip(answers) {
            let columns = asked.plan.columns.iter().map(|column| column.name.as_str()).collect();
            create(&connection, &asked.table, columns, !asked.plan.across, partials)?;
        }
        connection.execute_batch("COMMIT")?;
        findings.map_or(Ok(()), |findings| findings.create(&connection, limits))?;
        let classes = self.installation.classes.clone();
        let installation = Installation { classes, ..Installation::default() };
        let session = Self::begin_sharing(connection, &installation, limits, self.shared())?;
        session.check_times()?;
        Ok(session)
    }
}

/// Creates a table and fills it. `by_report`: the columns that name the report stand before its own.
fn create(
    connection: &Connection,
    name: &str,
    columns: Vec<&str>,
    by_report: bool,
    partials: &[Partial<'_>],
) -> Result<()> {
    let of_report = if by_report { &REPORT_COLUMNS[..] } else { &[] };
    let mut insert = Insert::create(connection, name, of_report.iter().copied().chain(columns))?;
    for partial in partials {
        let origin = origin(partial.report, partial.side);
        let origin = if by_report { &origin[..] } else { &[] };
        for row in &partial.table.rows {
            insert.row(origin.iter().chain(row))?;
        }
    }
    Ok(())
}
