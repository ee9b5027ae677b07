//! The front matter of queries and relations.

use super::column::{ColumnSpec, Param};
use super::entry::Content;
use super::finding::{FINDING_TABLES, Finding};
use super::front_matter::{read_yaml, scalars, split};
use nsq_value::error::Result;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The tags that a query may have.
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

/// A query file.
#[derive(Debug, Clone)]
pub struct Query {
    /// The file, as the user would open it.
    pub file: String,
    /// Its folder in the library, which is its subject.
    pub domain: String,
    /// The full text of the file.
    pub text: String,
    /// The front matter.
    pub header: QueryHeader,
    /// The statement.
    pub sql: String,
    /// Line of the file where `sql` begins, from 1.
    pub sql_line: usize,
}

impl Query {
    pub(super) fn parse(file: &str, domain: &str, content: &Content) -> Result<Self> {
        let text: &str = &content.text;
        let parts = split(file, text)?;
        Ok(Self {
            file: file.to_owned(),
            domain: domain.to_owned(),
            text: text.to_owned(),
            header: read_yaml(file, content, parts.yaml)?,
            sql: parts.body.to_owned(),
            sql_line: parts.body_line,
        })
    }
}

/// What lists have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// What people ask for.
    Public,
    /// Internal queries and relations too.
    All,
}

impl Shown {
    /// All, or only what people ask for.
    pub fn of(all: bool) -> Self {
        if all { Self::All } else { Self::Public }
    }

    /// Whether lists have a query or relation.
    pub fn has(self, is_internal: bool) -> bool {
        self == Self::All || !is_internal
    }
}

/// Front matter of a query.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QueryHeader {
    /// Name: the stem of the file. It never changes.
    pub name: String,
    /// Version. It goes up when columns, types, units or meanings change.
    pub version: u32,
    /// Heading, without a full stop.
    pub title: String,
    /// What a row is, in one sentence.
    pub summary: String,
    /// When to run it.
    pub why: String,
    /// Shape of the result.
    pub kind: Kind,
    /// Tags from [`TAGS`].
    pub tags: Vec<String>,
    /// Whether it is a part of a page rather than a question of people. It runs by its name, but lists leave it out.
    #[serde(default)]
    pub internal: bool,
    /// Exactly the relations that the statement reads.
    pub reads: Vec<String>,
    /// Queries whose answers the statement reads, instead of relations.
    #[serde(default)]
    pub asks: Vec<AskedQuery>,
    /// Whether the tables of `asks` have the rows of all reports, so that the statement can compare them.
    /// Otherwise it runs once for each report, as other queries do.
    #[serde(default)]
    pub across: bool,
    /// Relations that the report must have data for, each `a` or `a | b`. Default: all of `reads`.
    pub requires: Option<Vec<String>>,
    /// A condition over what it reads, without which it has no rows. It is quick to check, and changes no answer.
    pub rows_if: Option<String>,
    /// Parameters: exactly the `:name`s in the statement.
    #[serde(default)]
    pub params: Vec<Param>,
    /// Columns, in order.
    pub columns: Vec<ColumnSpec>,
    /// What it means that there are no rows, although the report has the data and the scope leaves some.
    pub when_empty: Option<String>,
    /// SQL predicates over the columns that must be true for every row.
    #[serde(default)]
    pub checks: Vec<String>,
    /// What it does not cover, and how it can mislead.
    pub limits: String,
    /// Related queries.
    #[serde(default)]
    pub see_also: Vec<String>,
    /// What it says, if its kind is `finding`.
    #[serde(skip_serializing)]
    pub finding: Option<Finding>,
    /// NVIDIA's equivalent report or rule, if there is one.
    pub nsys: Option<NsysReport>,
    /// Set when the query will be removed.
    pub deprecated: Option<Deprecated>,
}

/// What another query reads as a table: the answer of one query, or the answers of all findings.
///
/// It is written as the name of a query, `{query, as, params, given, optional}`, or `{kind: finding}`. The columns
/// `report` and `side` stand before those of a query, unless it is across reports itself.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(from = "AskText")]
pub struct AskedQuery {
    /// The query that is asked. Of a kind: empty.
    pub query: String,
    /// Name of the table: that of the query or of the kind, if `as` is absent.
    pub table: String,
    /// Values of its parameters. Others are set by the parameter of the same name of the query that asks.
    pub params: BTreeMap<String, String>,
    /// Parameters that are lists, and for each the table, asked before, whose column of that name it gets.
    pub given: BTreeMap<String, String>,
    /// Whether the table is empty if a report lacks the data of the query. Otherwise the query that asks lacks it, too.
    pub optional: bool,
    /// All queries of this kind are asked, instead of one. [`Kind::Finding`] is the only one.
    pub kind: Option<Kind>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum AskText {
    Name(String),
    Kind { kind: Kind },
    Call(AskCall),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AskCall {
    query: String,
    #[serde(rename = "as")]
    table: Option<String>,
    #[serde(default, deserialize_with = "scalars")]
    params: BTreeMap<String, String>,
    #[serde(default)]
    given: BTreeMap<String, String>,
    #[serde(default)]
    optional: bool,
}

impl From<AskText> for AskedQuery {
    fn from(text: AskText) -> Self {
        match text {
            AskText::Name(query) => Self { table: query.clone(), query, ..Self::default() },
            AskText::Kind { kind } => {
                Self { table: FINDING_TABLES[0].to_owned(), kind: Some(kind), ..Self::default() }
            }
            AskText::Call(AskCall { query, table, params, given, optional }) => {
                let table = table.unwrap_or_else(|| query.clone());
                Self { query, table, params, given, optional, kind: None }
            }
        }
    }
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
    /// One row per interval of a GPU's time that a fix would free; see [`Finding`].
    Finding,
}

/// How a query maps to a report of `nsys stats` or a rule of `nsys analyze`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NsysReport {
    /// NVIDIA's title of the report.
    pub title: String,
    /// NVIDIA's names for it in older versions.
    #[serde(default)]
    pub aliases: Vec<String>,
    /// Arguments after a colon. If two set the same parameter, the first in this list wins.
    #[serde(default)]
    pub args: Vec<ArgSpec>,
    /// What `nsq stats` and `nsq analyze` say of a report without the data. The first that is true is said.
    #[serde(default)]
    pub lacks: Vec<NsysLack>,
    /// For a rule: what its rows are, and what to do about them. Stands over the table of `nsq analyze`.
    pub advice: Option<String>,
    /// For a rule: what `nsq analyze` says without rows. `{name}` is the value of a parameter.
    pub all_clear: Option<String>,
    /// NVIDIA's columns, computed from this query's columns.
    pub columns: Vec<NsysColumn>,
}

/// Data that a report lacks, in the words that scripts know from NVIDIA's messages.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NsysLack {
    /// The relation without data, or several as `a | b`. Absent: any that the query requires.
    pub without: Option<String>,
    /// The end of the sentence.
    pub says: String,
}

/// An argument of NVIDIA's report, and the query parameters it sets.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArgSpec {
    /// Name, such as `base`, or `rows` in `rows=50`.
    pub name: String,
    /// For an argument without a value: the parameters it sets.
    #[serde(default)]
    pub set: BTreeMap<String, serde_yaml::Value>,
    /// For `name=value`: the parameter that gets the value.
    pub param: Option<String>,
    /// Relations that this argument requires in addition to those of the query.
    #[serde(default)]
    pub requires: Vec<String>,
}

/// A column of NVIDIA's report.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NsysColumn {
    /// Header, without the unit.
    pub name: String,
    /// Unit. It sets the suffix of the header and the format of the values.
    pub unit: Option<NsysUnit>,
    /// A column of the query, or an SQL expression over its columns.
    pub sql: String,
}

/// The unit tags of NVIDIA's report scripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NsysUnit {
    /// Time in nanoseconds, or in the unit of `--timeunit`. Real numbers are rounded to one decimal.
    Ns,
    /// A point in time in nanoseconds, where the expression is no column of type timestamp.
    Ts,
    /// Percent, rounded to one decimal.
    Percent,
    /// Bytes, shown in MB (10^6 bytes).
    Mb,
    /// Bytes per second, shown in MB/s.
    #[serde(rename = "mb/s")]
    MbPerS,
    /// An address, shown in hexadecimal.
    Address,
}

/// Marks a query that will be removed.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Deprecated {
    /// First version of nsq that deprecates it.
    pub since: String,
    /// The query to use instead.
    #[serde(rename = "use")]
    pub instead: String,
    /// Why it will be removed.
    pub reason: String,
}
