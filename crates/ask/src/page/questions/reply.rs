//! The result of a query, and how it was asked.

use super::pattern_matches::{Found, Missing};
use nsq_library::catalog::Ask;
use nsq_value::table::{ResultTable, Value as Cell};
use std::rc::Rc;

/// The result of a query.
#[derive(Debug, Clone)]
pub(super) struct Reply<'a> {
    pub(super) ask: &'a Ask,
    pub(super) table: Rc<ResultTable>,
    /// Name and version of the query.
    pub(super) query: (String, u32),
    pub(super) title: String,
    pub(super) bindings: Vec<(String, Cell)>,
    /// Name of the report.
    pub(super) report: String,
    /// Whether the query reads the report, and not only its parameters.
    pub(super) reads_report: bool,
    /// Index of the report, from 0.
    pub(super) report_index: usize,
    /// The scope, if there is one.
    pub(super) scope: Option<serde_json::Value>,
    /// The words of the command that runs the same query, quoted for the shell.
    pub(super) command: Option<Vec<String>>,
    /// The ranges that its patterns matched. Also lists excluding patterns without a match.
    pub(super) ranges: Vec<PatternMatch>,
    /// Notes about missing data, or about a scope that cannot be applied.
    pub(super) notes: Vec<String>,
}

/// The ranges that a pattern matched in a report.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PatternMatch {
    pub(super) pattern: String,
    pub(super) excludes: bool,
    pub(super) found: Result<Found, Missing>,
}

/// The globs of the ranges that a pattern matched; only of those that exclude, or do not, if it says so.
pub(super) fn globs_of(ranges: &[PatternMatch], pattern: &str, excludes: Option<bool>) -> Vec<String> {
    let is_it = |matched: &&PatternMatch| {
        matched.pattern == pattern && excludes.is_none_or(|excludes| matched.excludes == excludes)
    };
    let found = ranges.iter().filter(is_it).filter_map(|matched| matched.found.as_ref().ok());
    found.flat_map(|found| found.globs.iter().cloned()).collect()
}
