//! SQL functions that nsq adds to SQLite: interval arithmetic, statistics, and names and classes of GPU
//! operations.
//!
//! Aggregates ignore nulls, as SQLite's own do. A statistic without values is null. Text and blobs in a
//! numeric aggregate are an error; SQLite would count them as zero.

mod aggregate;
mod aligned;
mod arguments;
mod claims;
mod classes;
mod extents;
mod gpu_times;
mod json_rows;
mod longest_spans;
mod mean_error;
mod names;
mod numbers;
mod piece_times;
mod refuse;
mod split_spans;
mod statistics;
mod sums_by;
mod table_function;
mod time_places;
mod time_set;
mod time_spans;

use super::named_times::NamedTimes;
use aggregate::{aggregate, ints, within_64_bits};
use arguments::add_interval;
use nsq_library::catalog::ClassMaps;
use nsq_sweep::interval::TimeSet;
use rusqlite::functions::Context;
use rusqlite::{Connection, Result};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A SQL function that nsq adds.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Function {
    /// Name in SQL.
    pub name: String,
    /// Arguments, as the documentation shows them.
    pub args: String,
    /// What it returns.
    pub doc: String,
}

/// All functions that nsq adds, sorted by name.
pub fn functions() -> nsq_value::error::Result<Vec<Function>> {
    serde_yaml::from_str(include_str!("functions.yml")).map_err(|e| {
        let help = "report this: it is a bug in nsq";
        nsq_value::error::Error::catalog("functions.yml", 1, e.to_string(), help)
    })
}

/// Adds the functions to a connection. Classes come from the chosen map.
pub fn register(connection: &Connection, maps: &ClassMaps) -> Result<()> {
    register_naming(connection, maps, None)
}

/// The same. `named`: where `gpu_times` keeps many intervals, to return a name.
pub(super) fn register_naming(
    connection: &Connection,
    maps: &ClassMaps,
    named: Option<Arc<NamedTimes>>,
) -> Result<()> {
    aligned::register(connection)?;
    claims::register(connection)?;
    classes::register(connection, maps)?;
    extents::register(connection)?;
    piece_times::register(connection)?;
    gpu_times::register(connection, named)?;
    json_rows::register(connection)?;
    longest_spans::register(connection)?;
    mean_error::register(connection)?;
    names::register(connection)?;
    refuse::register(connection)?;
    split_spans::register(connection)?;
    statistics::register(connection)?;
    sums_by::register(connection)?;
    time_places::register(connection)?;
    time_set::register(connection)?;
    time_spans::register(connection)?;
    aggregate(connection, "busy_ns", 2, add_busy, |intervals| {
        within_64_bits("busy_ns", TimeSet::union_of(intervals).length())
    })
}

/// `busy_ns(start_ns, end_ns)`.
fn add_busy(context: &mut Context<'_>, intervals: &mut Vec<(i64, i64)>) -> Result<()> {
    if let Some([start, end]) = ints(context, 0)? {
        add_interval(intervals, start, end);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number that a statement returns, for the tests of all functions.
    pub(super) fn ask(sql: &str) -> Result<Option<f64>> {
        let connection = Connection::open_in_memory()?;
        register(&connection, &ClassMaps::default())?;
        connection.query_row(sql, [], |row| row.get(0))
    }

    #[test]
    fn busy_time_counts_overlaps_once() {
        let busy = |values: &str| {
            ask(&format!("WITH v(a, b) AS (VALUES {values}) SELECT busy_ns(a, b) FROM v"))
        };
        assert_eq!(busy("(0,10),(5,12),(20,21),(20,NULL),(30,25)").unwrap(), Some(13.0));
        assert_eq!(busy("(NULL,NULL)").unwrap(), Some(0.0));
        assert!(busy("('a','b')").is_err());
        assert!(busy("(-9223372036854775807,9223372036854775807)").is_err());
    }
}
