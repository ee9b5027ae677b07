//! The relations that every implementation answers, and the comparison of two answers.

use nsq::table::Value;
use std::cmp::Ordering;

pub type Row = Vec<Value>;

/// The rows of each of [`RELATIONS`], in their order, sorted by key.
pub type Answers = Vec<Vec<Row>>;

/// A relation with the columns that the oracles compute. The first `key` columns identify a row.
pub struct Relation {
    pub name: &'static str,
    /// The `FROM` clause that gives nsq's columns.
    pub from: &'static str,
    pub key: usize,
    pub columns: &'static [&'static str],
}

pub const RELATIONS: [Relation; 4] = [
    Relation {
        name: "nvtx_projection",
        from: "nvtx_projection",
        key: 1,
        columns: &[
            "range_id",
            "start_ns",
            "end_ns",
            "dur_ns",
            "range_kind",
            "range_name",
            "parent_id",
            "depth",
            "range_stack",
            "child_count",
            "op_count",
            "launch_count",
            "graph_count",
            "gpu_ns",
            "self_op_count",
            "self_launch_count",
            "self_gpu_ns",
            "proj_start_ns",
            "proj_end_ns",
            "busy_ns",
            "pid",
            "tid",
            "global_pid",
            "global_tid",
        ],
    },
    Relation {
        name: "nvtx_op",
        from: "nvtx_op",
        key: 2,
        columns: &[
            "op_kind",
            "op_id",
            "start_ns",
            "end_ns",
            "dur_ns",
            "pid",
            "global_pid",
            "correlation_id",
            "call_id",
            "call_start_ns",
            "call_end_ns",
            "tid",
            "global_tid",
            "range_id",
            "unattributed",
        ],
    },
    Relation {
        name: "nvtx_pushpop",
        from: "nvtx_pushpop",
        key: 1,
        columns: &[
            "range_id",
            "start_ns",
            "end_ns",
            "dur_ns",
            "range_name",
            "parent_id",
            "depth",
            "range_stack",
            "child_count",
            "child_ns",
            "pid",
            "tid",
            "global_pid",
            "global_tid",
        ],
    },
    Relation {
        name: "nvtx_range_kernel",
        // SQLite is built without `sqrt`, so compare the square of the deviation.
        from: "(SELECT *, stddev_ns * stddev_ns AS variance FROM nvtx_range_kernel WHERE naming = 'demangled')",
        key: 4,
        columns: &[
            "global_tid",
            "range_name",
            "range_kind",
            "kernel_name_id",
            "range_count",
            "calls",
            "total_ns",
            "mean_ns",
            "median_ns",
            "min_ns",
            "max_ns",
            "variance",
        ],
    },
];

/// A type that converts to a cell of a row.
pub trait Cell {
    fn cell(self) -> Value;
}

impl Cell for i64 {
    fn cell(self) -> Value {
        Value::Int(self)
    }
}

impl Cell for usize {
    fn cell(self) -> Value {
        Value::Int(self as i64)
    }
}

impl Cell for f64 {
    fn cell(self) -> Value {
        Value::Real(self)
    }
}

impl Cell for &str {
    fn cell(self) -> Value {
        Value::Text(self.to_owned())
    }
}

impl Cell for String {
    fn cell(self) -> Value {
        Value::Text(self)
    }
}

impl<T: Cell> Cell for Option<T> {
    fn cell(self) -> Value {
        self.map_or(Value::Null, Cell::cell)
    }
}

macro_rules! row {
    ($($cell:expr),* $(,)?) => { vec![$($crate::projection::answer::Cell::cell($cell)),*] };
}
pub(crate) use row;

/// Sorts rows by key, since relations have no guaranteed order.
pub fn sort(rows: &mut [Row], key: usize) {
    rows.sort_by(|a, b| compare_keys(a, b, key));
}

fn compare_keys(a: &Row, b: &Row, key: usize) -> Ordering {
    a.iter().zip(b).take(key).map(|(a, b)| compare(a, b)).find(|o| o.is_ne()).unwrap_or(Ordering::Equal)
}

fn compare(a: &Value, b: &Value) -> Ordering {
    match (a, b) {
        (Value::Null, Value::Null) => Ordering::Equal,
        (Value::Null, _) => Ordering::Less,
        (_, Value::Null) => Ordering::Greater,
        (Value::Text(a), Value::Text(b)) => a.cmp(b),
        (Value::Text(_), _) => Ordering::Greater,
        (_, Value::Text(_)) => Ordering::Less,
        (Value::Int(a), Value::Int(b)) => a.cmp(b),
        (a, b) => number(a).total_cmp(&number(b)),
    }
}

fn number(value: &Value) -> f64 {
    match value {
        Value::Int(int) => *int as f64,
        Value::Real(real) => *real,
        other => panic!("{other:?} is not a number"),
    }
}

/// Compares integers, text and nulls exactly; real numbers may differ in the last digits.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Real(_), Value::Int(_) | Value::Real(_)) | (Value::Int(_), Value::Real(_)) => {
            let (a, b) = (number(a), number(b));
            (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1.0)
        }
        (a, b) => a == b,
    }
}

/// Describes the first row in which two answers differ.
pub fn difference(wanted: (&str, &Answers), found: (&str, &Answers)) -> Option<String> {
    RELATIONS.iter().enumerate().find_map(|(nth, relation)| {
        rows_difference(relation, (wanted.0, &wanted.1[nth]), (found.0, &found.1[nth]))
    })
}

fn rows_difference(
    relation: &Relation,
    (wanted_by, wanted): (&str, &[Row]),
    (found_by, found): (&str, &[Row]),
) -> Option<String> {
    let name = relation.name;
    let (mut wanted, mut found) = (wanted.iter().peekable(), found.iter().peekable());
    loop {
        let order = match (wanted.peek(), found.peek()) {
            (None, None) => return None,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(a), Some(b)) => compare_keys(a, b, relation.key),
        };
        match order {
            Ordering::Less => {
                return Some(format!(
                    "{name}: only {wanted_by} has\n{}",
                    print(relation, wanted.next()?)
                ));
            }
            Ordering::Greater => {
                return Some(format!("{name}: only {found_by} has\n{}", print(relation, found.next()?)));
            }
            Ordering::Equal => {}
        }
        let (a, b) = (wanted.next()?, found.next()?);
        let differ: Vec<&str> = (0..relation.columns.len())
            .filter(|&i| !same(&a[i], &b[i]))
            .map(|i| relation.columns[i])
            .collect();
        if !differ.is_empty() {
            return Some(format!(
                "{name} differs in {}\n{wanted_by}:\n{}\n{found_by}:\n{}",
                differ.join(", "),
                print(relation, a),
                print(relation, b)
            ));
        }
    }
}

fn print(relation: &Relation, row: &Row) -> String {
    let cells = relation.columns.iter().zip(row).map(|(column, value)| match value {
        Value::Null => format!("{column} null"),
        Value::Int(int) => format!("{column} {int}"),
        Value::Real(real) => format!("{column} {real}"),
        Value::Text(text) => format!("{column} {text:?}"),
    });
    format!("  {}", cells.collect::<Vec<_>>().join(", "))
}
