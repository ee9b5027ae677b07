//! Splits each GPU's window into its parts, with the query `gpu_time`.

use crate::catalog::Catalog;
use crate::cli::record::Record;
use crate::compile::{Invocation, Layout, Plan};
use crate::error::Result;

const QUERY: &str = "gpu_time";

/// A window and its four parts, which add up to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Decomposition {
    pub(super) window_ns: i64,
    pub(super) compute_ns: i64,
    pub(super) exposed_communication_ns: i64,
    pub(super) exposed_memory_ns: i64,
    pub(super) idle_ns: i64,
}

/// Plans the query.
pub(super) fn plan(catalog: &Catalog) -> Result<Plan> {
    Plan::new(catalog, &Invocation::parse(QUERY), &Layout::Own)
}

/// The parts of each GPU that the rows have, by its number.
pub(super) fn of(records: &[Record]) -> Vec<(Option<i64>, Decomposition)> {
    let parts = |record: &Record| {
        let parts = Decomposition {
            window_ns: record.int("window_ns")?,
            compute_ns: record.int("compute_ns")?,
            exposed_communication_ns: record.int("exposed_communication_ns")?,
            exposed_memory_ns: record.int("exposed_memory_ns")?,
            idle_ns: record.int("idle_ns")?,
        };
        Some((record.int("gpu_id"), parts))
    };
    records.iter().filter_map(parts).collect()
}
