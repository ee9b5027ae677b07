//! Queries over the answers of other queries: of one report, or of several side by side.
//!
//! The answers become tables of a database in memory. Reports are never attached to each other: their
//! relations depend on the schema of each.

use super::Session;
use super::guard::Limits;
use super::table_writer::Bound;
use crate::catalog::ClassMaps;
use crate::compile::{Asked, Plan};
use crate::error::Result;
use crate::normalize::Installation;
use crate::schema::quote;
use crate::table::{ResultTable, Value};
use rusqlite::{Connection, params_from_iter};

/// The columns that say which report a row comes from, before the columns of its query.
const REPORT_COLUMNS: [&str; 2] = ["report", "side"];

/// The answer of one report to a query that another query asks.
#[derive(Debug, Clone, Copy)]
pub struct Partial<'a> {
    /// Name of the report, as output shows it.
    pub report: &'a str,
    /// Position of the report on the command line, from 0.
    pub side: usize,
    /// Its rows, with the columns of the asked query.
    pub table: &'a ResultTable,
}

impl Session {
    /// A session over answers instead of a report. `answers` has an entry for each query that `plan`
    /// asks: the answers of all reports, or the one answer across reports.
    pub fn over(
        plan: &Plan,
        answers: &[Vec<Partial<'_>>],
        classes: &ClassMaps,
        limits: &Limits,
    ) -> Result<Self> {
        let connection = Connection::open_in_memory()?;
        connection.execute_batch("BEGIN")?;
        for (asked, partials) in plan.asks.iter().zip(answers) {
            create(&connection, asked, partials)?;
        }
        connection.execute_batch("COMMIT")?;
        let installation = Installation { classes: classes.clone(), ..Installation::default() };
        Self::begin(connection, &installation, limits)
    }
}

/// Creates the table of an asked query and fills it. Rows across reports name theirs in columns of their
/// own.
fn create(connection: &Connection, asked: &Asked, partials: &[Partial<'_>]) -> Result<()> {
    let name = quote(&asked.table);
    let own = asked.plan.columns.iter().map(|column| column.name.as_str());
    let of_report = |_: &&str| !asked.plan.across;
    // Without a declared type, SQLite keeps every value as it is: 1.0 does not become 1.
    let fields: Vec<String> =
        REPORT_COLUMNS.into_iter().filter(of_report).chain(own).map(quote).collect();
    connection.execute_batch(&format!("CREATE TABLE {name} ({})", fields.join(", ")))?;
    let marks = vec!["?"; fields.len()].join(", ");
    let mut insert = connection.prepare(&format!("INSERT INTO {name} VALUES ({marks})"))?;
    for partial in partials {
        let side = i64::try_from(partial.side).unwrap_or(i64::MAX);
        let origin = [Value::Text(partial.report.to_owned()), Value::Int(side)];
        let origin = if asked.plan.across { &[][..] } else { &origin };
        for row in &partial.table.rows {
            insert.execute(params_from_iter(origin.iter().chain(row).map(Bound)))?;
        }
    }
    Ok(())
}
