//! SQL functions that nsq adds to SQLite: interval arithmetic, statistics, and names and classes of GPU
//! operations.
//!
//! Aggregates ignore nulls, as SQLite's own do. A statistic without values is null. Text and blobs in a
//! numeric aggregate are an error; SQLite would count them as zero.

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
mod piece_times;
mod split_spans;
mod statistics;
mod sums_by;
mod table_function;
mod time_places;
mod time_set;
mod time_spans;

use super::named_times::NamedTimes;
use arguments::{add_interval, flags};
use nsq_library::catalog::ClassMaps;
use nsq_sweep::interval::TimeSet;
use rusqlite::functions::{Aggregate, Context};
use rusqlite::{Connection, Error, Result};
use std::sync::Arc;

/// A SQL function that nsq adds.
#[derive(Debug, Clone, Copy)]
pub struct Function {
    /// Name in SQL.
    pub name: &'static str,
    /// Arguments, as the documentation shows them.
    pub args: &'static str,
    /// What it returns.
    pub doc: &'static str,
}

/// All functions that nsq adds, sorted by name.
pub const FUNCTIONS: [Function; 35] = [
    Function {
        name: "aligned",
        args: "is_b, place, name, class",
        doc: "JSON list of [is_b, place, block, group]: two sequences of operations, aligned by name, and between these by \
              class. Operations of a block stand in the same place. Names that only one sequence has are of one group if \
              they stand in each other's places; null for all others.",
    },
    Function {
        name: "busy_ns",
        args: "start_ns, end_ns",
        doc: "Length of the union of intervals, in ns: overlapping time counts once. 0 without intervals.",
    },
    Function {
        name: "collective",
        args: "op_name",
        doc: "Collective that a GPU operation performs: AllReduce, SendRecv, Generic, unknown, …; \
              null if it is not communication.",
    },
    Function {
        name: "extents",
        args: "key, start_ns, end_ns",
        doc: "JSON list of [key, count, start_ns, end_ns, total_ns] by key: the intervals of each key, the first start, \
              the last end, and the sum of their lengths. A key that is no integer counts as null.",
    },
    Function {
        name: "gpu_times",
        args: "gpu_id, start_ns, end_ns",
        doc: "The union of intervals on each GPU as a text, for edits of replayed_window: GPU:START+LENGTH,PAUSE+LENGTH,… \
              in ns, with a semicolon between GPUs. More than 100 intervals have a name, #COUNT+LENGTH+HASH, which edits \
              know as long as the report is open.",
    },
    Function {
        name: "json_rows",
        args: "list",
        doc: "A table: a row for each list in a JSON list of lists of numbers, texts and nulls, with the columns v0 to v7. \
              Fast for any number: `FROM json_rows((SELECT sums_by(dur_ns, pid, tid) FROM …))`.",
    },
    Function {
        name: "longest_spans",
        args: "at_most, lane, start_ns, end_ns, at_ns, name",
        doc: "JSON list of [lane, start_ns, end_ns, at_ns, name]: the longest intervals, at_most and those as long as the \
              last of these, in the order of the rows.",
    },
    Function {
        name: "mean_error",
        args: "at, x",
        doc: "Standard error of the mean of x. Computed from batches of consecutive values, sorted by at, \
              and wider where neighbours resemble each other, so that drift widens it; null for fewer than two values.",
    },
    Function {
        name: "mean_error_by",
        args: "part, at, x",
        doc: "As mean_error of the means of parts, such as iterations, in the order of their first values; of the values \
              themselves if all have the same part.",
    },
    Function {
        name: "mean_freedom",
        args: "count",
        doc: "Degrees of freedom of mean_error() over this many values; 0 for one value or none.",
    },
    Function {
        name: "mean_freedom_by",
        args: "part",
        doc: "Degrees of freedom of mean_error_by(): mean_freedom() of the number of parts; of the number of values if all \
              have the same part.",
    },
    Function {
        name: "median",
        args: "x",
        doc: "Middle value; for an even count, the mean of the two middle values.",
    },
    Function {
        name: "nth_largest",
        args: "x, n",
        doc: "The n-th largest of integers; equal values count each. The smallest if there are fewer than n. n must be at \
              least 1, and the same in all rows of a group.",
    },
    Function {
        name: "op_activity",
        args: "op_name",
        doc: "compute, communication or memory: the kind of work of a GPU operation. Ignores --classes.",
    },
    Function {
        name: "op_class",
        args: "op_name",
        doc: "Class of a GPU operation by the map that --classes chose; others if no rule matches.",
    },
    Function {
        name: "op_class_also",
        args: "op_name",
        doc: "Other classes whose rules also match, as `class (pattern)`; null if there are none.",
    },
    Function {
        name: "op_class_others",
        args: "op_name",
        doc: "Other classes whose rules also match, except rules that match every name; null if there are none.",
    },
    Function {
        name: "op_class_rule",
        args: "op_name",
        doc: "Pattern of the rule that decided op_class; null if no rule matches.",
    },
    Function {
        name: "overlap_ns",
        args: "time_set, [key,] start_ns, end_ns",
        doc: "Length of the part of an interval that the intervals of a time set cover, in ns; 0 for a key that it does not \
              have. Fast for any number of intervals and keys: \
              `overlap_ns((SELECT time_set(tid, start_ns, end_ns) FROM …), tid, start_ns, end_ns)`.",
    },
    Function {
        name: "overlap_times",
        args: "lane, bit, start_ns, end_ns",
        doc: "JSON list of [mask, ns]: how long intervals with exactly these bits, from 0 to 62, are open together, over \
              all lanes. mask is the sum of 1 << bit.",
    },
    Function {
        name: "percentile",
        args: "x, p",
        doc: "Value below which p percent (0 to 100) of the values lie, interpolated linearly between the \
              nearest ranks.",
    },
    Function {
        name: "piece_times",
        args: "key, start_ns, end_ns, from_ns, to_ns, pieces",
        doc: "JSON list of [key, piece, dur_ns] by key and piece: how long intervals are in each of the equal pieces of \
              a window, added up. Pieces have numbers from 0; the last one takes what division leaves.",
    },
    Function {
        name: "place_of",
        args: "time_places, key, at_ns",
        doc: "Number, from 0, of the interval of the key that started last at or before a time; null if all have ended \
              by then. Fast for any number of intervals: \
              `place_of((SELECT time_places(pid, start_ns, end_ns) FROM …), pid, at_ns)`.",
    },
    Function {
        name: "simple_name",
        args: "kernel_name",
        doc: "Function name alone, without return type, namespaces, template arguments, parameters or \
              lambdas. Plain and mangled names stay as they are.",
    },
    Function {
        name: "split_spans",
        args: "spans, by_spans",
        doc: "A table: each span of one list, split by those of another with the same key. Columns: key, span_id, by_id, \
              start_ns and end_ns. One row for each pair that overlaps, and one with null by_id for each time between. Fast for \
              any number: `FROM split_spans((SELECT time_spans(pid, a_id, start_ns, end_ns) FROM …), (SELECT …))`.",
    },
    Function { name: "sqrt", args: "x", doc: "Square root; null for a negative number." },
    Function {
        name: "stddev",
        args: "x",
        doc: "Sample standard deviation (n - 1); 0 for a single value.",
    },
    Function {
        name: "student_bound",
        args: "confidence_pct, freedom",
        doc: "Two-sided quantile of Student's t distribution: chance alone exceeds this many standard errors in at \
              most 100 - confidence_pct percent of all cases. Null unless the confidence is between 0 and 100 \
              and the degrees of freedom are above 0.",
    },
    Function {
        name: "sums_by",
        args: "x, key, …",
        doc: "JSON list of [key, …, count, sum] by up to 8 keys, which are integers, texts or null: the rows of each group \
              with an integer x, and the sum of x. Fast for any number of rows, where GROUP BY sorts them.",
    },
    Function {
        name: "time_places",
        args: "key, start_ns, end_ns",
        doc: "Intervals by an integer key, such as a process, for place_of. A blob, not for output.",
    },
    Function {
        name: "time_set",
        args: "[key,] start_ns, end_ns",
        doc: "Union of intervals, also by an integer key, such as a thread, for overlap_ns. A blob, not for output.",
    },
    Function {
        name: "time_spans",
        args: "key, id, start_ns, end_ns",
        doc: "Intervals with an ID by an integer key, such as a thread, for split_spans. A blob, not for output.",
    },
    Function {
        name: "time_spans_apart",
        args: "key, id, start_ns, end_ns",
        doc: "As time_spans, with what is left of each interval after those of its key that started earlier, so that no two \
              overlap. If two start together, the longer one comes first.",
    },
    Function {
        name: "top_share",
        args: "lane, start_ns, end_ns, name",
        doc: "JSON list of the name with the most time, this time in ns, and the number of names that have time. Where \
              intervals of a lane overlap, the time counts for the first one; null without intervals.",
    },
    Function {
        name: "without_numbers",
        args: "name",
        doc: "The name with each number replaced by *, to compare names that differ in numbers only.",
    },
];

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
    split_spans::register(connection)?;
    statistics::register(connection)?;
    sums_by::register(connection)?;
    time_places::register(connection)?;
    time_set::register(connection)?;
    time_spans::register(connection)?;
    connection.create_aggregate_function("busy_ns", 2, flags(), Busy)
}

/// `busy_ns(start_ns, end_ns)`.
struct Busy;

impl Aggregate<Vec<(i64, i64)>, i64> for Busy {
    fn init(&self, _: &mut Context<'_>) -> Result<Vec<(i64, i64)>> {
        Ok(Vec::new())
    }

    fn step(&self, context: &mut Context<'_>, intervals: &mut Vec<(i64, i64)>) -> Result<()> {
        let (start, end): (Option<i64>, Option<i64>) = (context.get(0)?, context.get(1)?);
        if let Some((start, end)) = start.zip(end) {
            add_interval(intervals, start, end);
        }
        Ok(())
    }

    fn finalize(&self, _: &mut Context<'_>, intervals: Option<Vec<(i64, i64)>>) -> Result<i64> {
        let length = TimeSet::union_of(intervals.unwrap_or_default()).length();
        i64::try_from(length)
            .map_err(|_| Error::UserFunctionError("busy_ns: the result exceeds 64 bits".into()))
    }
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
