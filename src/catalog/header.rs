//! What the front matter of a query or relation may say.

use super::front_matter::{read_yaml, split};
use crate::error::Result;
use crate::table::{Column, Type, Unit};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The subjects a query may be filed under.
pub const TAGS: [&str; 15] = [
    "api",
    "capture",
    "classes",
    "communication",
    "cuda",
    "gpu",
    "kernel",
    "latency",
    "memory",
    "mpi",
    "nvtx",
    "osrt",
    "rule",
    "sync",
    "unified-memory",
];

/// A query file: one question.
#[derive(Debug, Clone)]
pub struct Query {
    /// The file, as the user would open it.
    pub file: String,
    /// The folder it stands in: its subject.
    pub domain: String,
    /// The whole text of the file.
    pub text: String,
    /// The front matter.
    pub header: QueryHeader,
    /// The statement.
    pub sql: String,
    /// Line of the file on which `sql` begins.
    pub sql_line: usize,
}

impl Query {
    pub(super) fn parse(file: &str, domain: &str, text: &str) -> Result<Self> {
        let parts = split(file, text)?;
        Ok(Self {
            file: file.to_owned(),
            domain: domain.to_owned(),
            text: text.to_owned(),
            header: read_yaml(file, 1, parts.yaml)?,
            sql: parts.body.to_owned(),
            sql_line: parts.body_line,
        })
    }
}

/// Front matter of a query.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QueryHeader {
    /// Name: the stem of the file, for ever.
    pub name: String,
    /// Rises when columns, types, units or meanings change.
    pub version: u32,
    /// Heading, without a full stop.
    pub title: String,
    /// What a row is, in one sentence.
    pub summary: String,
    /// When one would run it.
    pub why: String,
    /// Shape of the result.
    pub kind: Kind,
    /// Subjects, of [`TAGS`].
    pub tags: Vec<String>,
    /// Exactly the relations that the statement names.
    pub reads: Vec<String>,
    /// What the report must have tables for, each `a` or `a | b`; by default every relation read.
    pub requires: Option<Vec<String>>,
    /// Parameters: exactly the `:names` in the statement.
    #[serde(default)]
    pub params: Vec<Param>,
    /// Columns, in order.
    pub columns: Vec<ColumnSpec>,
    /// SQL predicates over the columns that hold for every row.
    #[serde(default)]
    pub checks: Vec<String>,
    /// What it does not see, or where it can mislead.
    pub limits: String,
    /// Other queries worth a look.
    #[serde(default)]
    pub see_also: Vec<String>,
    /// The report of NVIDIA's with the same meaning.
    pub nsys: Option<NsysReport>,
    /// Set before a query goes away.
    pub deprecated: Option<Deprecated>,
}

/// Shape of a query's result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// One row per group.
    Sum,
    /// One row per event; has `start_ns` and `dur_ns`.
    Trace,
    /// One row per finding of an expert rule.
    Rule,
    /// One row per fact.
    Info,
}

/// Type and meaning of a result column.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ColumnSpec {
    /// Name in the statement.
    pub name: String,
    /// What the values are.
    #[serde(rename = "type")]
    pub kind: Type,
    /// Unit of the raw values.
    pub unit: Option<Unit>,
    /// Meaning; says what null means where null can be.
    pub doc: String,
}

impl ColumnSpec {
    /// The column of a result.
    pub fn to_column(&self) -> Column {
        Column {
            name: self.name.clone(),
            kind: self.kind,
            unit: self.unit,
            doc: self.doc.clone(),
            decimals: None,
        }
    }
}

/// A parameter that the statement binds as `:name`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Param {
    /// Name, without the colon.
    pub name: String,
    /// What values it takes.
    #[serde(rename = "type")]
    pub kind: ParamType,
    /// Value where none is given; absent means null.
    #[serde(default)]
    pub default: serde_yaml::Value,
    /// Smallest value of a number.
    pub min: Option<f64>,
    /// Largest value of a number.
    pub max: Option<f64>,
    /// The values of an `enum`.
    #[serde(default)]
    pub values: Vec<String>,
    /// Meaning.
    pub doc: String,
}

/// What values a parameter takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ParamType {
    /// An integer.
    Int,
    /// A number.
    Real,
    /// Any text.
    Text,
    /// `true` or `false`; bound as 1 or 0.
    Bool,
    /// `300ns`, `1.5ms`, `2s`; bound as integer nanoseconds.
    Duration,
    /// One of `values`.
    Enum,
    /// `a,b,c`; bound as a JSON array for `json_each`.
    List,
}

/// How a query stands to a report of `nsys stats` or a rule of `nsys analyze`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NsysReport {
    /// NVIDIA's heading of the report.
    pub title: String,
    /// Names it had in older versions.
    #[serde(default)]
    pub aliases: Vec<String>,
    /// Arguments it takes behind a colon; where two set one parameter, the first listed wins.
    #[serde(default)]
    pub args: Vec<ArgSpec>,
    /// NVIDIA's columns, from this query's.
    pub columns: Vec<NsysColumn>,
}

/// An argument of NVIDIA's, as parameters of the query.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArgSpec {
    /// `base`, or `rows` of `rows=50`.
    pub name: String,
    /// For a bare word: the parameters it sets.
    #[serde(default)]
    pub set: BTreeMap<String, serde_yaml::Value>,
    /// For `name=value`: the parameter that takes the value.
    pub param: Option<String>,
    /// What the report must have for it, besides what the query needs.
    #[serde(default)]
    pub requires: Vec<String>,
}

/// A column of NVIDIA's report.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NsysColumn {
    /// Header text without its unit.
    pub name: String,
    /// Unit, which decides how the header ends and how values are written.
    pub unit: Option<NsysUnit>,
    /// A column of this query, or an expression over its columns.
    pub sql: String,
}

/// The unit tags of NVIDIA's report scripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NsysUnit {
    /// Nanoseconds, or what `--timeunit` says; real numbers are rounded to one digit.
    Ns,
    /// Percent, rounded to one digit.
    Percent,
    /// Bytes, shown in MB of 10^6.
    Mb,
    /// Bytes per second, shown in MB/s.
    #[serde(rename = "mb/s")]
    MbPerS,
    /// An address, in hexadecimal.
    Address,
}

/// A query on its way out.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Deprecated {
    /// First version of nsq that says so.
    pub since: String,
    /// The query to use instead.
    #[serde(rename = "use")]
    pub instead: String,
    /// Why.
    pub reason: String,
}

/// A file of the normalised vocabulary: one relation that queries join.
#[derive(Debug, Clone)]
pub struct Relation {
    /// The file, as the user would open it.
    pub file: String,
    /// The whole text of the file.
    pub text: String,
    /// The front matter.
    pub header: RelationHeader,
    /// The statement.
    pub sql: String,
    /// Line of the file on which `sql` begins.
    pub sql_line: usize,
}

impl Relation {
    pub(super) fn parse(file: &str, _domain: &str, text: &str) -> Result<Self> {
        let parts = split(file, text)?;
        Ok(Self {
            file: file.to_owned(),
            text: text.to_owned(),
            header: read_yaml(file, 1, parts.yaml)?,
            sql: parts.body.to_owned(),
            sql_line: parts.body_line,
        })
    }
}

/// Front matter of a relation.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RelationHeader {
    /// Name: the stem of the file.
    pub name: String,
    /// What a row is, in one sentence.
    pub summary: String,
    /// The relation is there when one of these relations or sources is.
    pub present_if: Vec<String>,
    /// The columns that scope options act on; absent: they do not apply.
    #[serde(default)]
    pub scope: ScopeColumns,
    /// Computed by nsq, not by a statement: there is none in the file.
    #[serde(default)]
    pub native: bool,
    /// Make it a TEMP table instead of a view.
    pub materialize: Option<Materialize>,
    /// Exactly the relations that the statement names.
    pub reads: Vec<String>,
    /// Columns, in order.
    pub columns: Vec<ColumnSpec>,
    /// What it does not see, or where it can mislead.
    #[serde(default)]
    pub limits: String,
}

/// Which columns of a relation the scope options act on.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScopeColumns {
    /// Start and end of the row, for `--time`.
    pub time: Option<(String, String)>,
    /// Device ordinal, for `--device`.
    pub device: Option<String>,
    /// Stream, for `--stream`.
    pub stream: Option<String>,
    /// Process id, for `--process`.
    pub process: Option<String>,
    /// Of a GPU operation, for `--nvtx`: its kind (a word, or a column called …_kind) and its row.
    pub op: Option<(String, String)>,
    /// Of what happens on a thread, for `--nvtx`: its global thread id.
    pub thread: Option<String>,
}

/// How to keep a relation that is too dear to compute at every use.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Materialize {
    /// Columns of the index to make on it.
    pub index: Vec<String>,
}
