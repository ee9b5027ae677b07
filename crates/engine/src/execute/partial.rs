//! What a report contributes to a query over answers.

use nsq_value::table::ResultTable;

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
