//! The front matter of relations.

use super::column::ColumnSpec;
use super::entry::Content;
use super::front_matter::{read_yaml, split};
use nsq_value::error::Result;
use serde::{Deserialize, Serialize};

/// A relation of the normalised vocabulary: a file that defines a view for queries to read.
#[derive(Debug, Clone)]
pub struct Relation {
    /// The file, as the user would open it.
    pub file: String,
    /// The full text of the file.
    pub text: String,
    /// The front matter.
    pub header: RelationHeader,
    /// The statement.
    pub sql: String,
    /// Line of the file where `sql` begins, from 1.
    pub sql_line: usize,
}

impl Relation {
    pub(super) fn parse(file: &str, _domain: &str, content: &Content) -> Result<Self> {
        let text: &str = &content.text;
        let parts = split(file, text)?;
        Ok(Self {
            file: file.to_owned(),
            text: text.to_owned(),
            header: read_yaml(file, content, parts.yaml)?,
            sql: parts.body.to_owned(),
            sql_line: parts.body_line,
        })
    }
}

/// Front matter of a relation.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RelationHeader {
    /// Name: the stem of the file.
    pub name: String,
    /// What a row is, in one sentence.
    pub summary: String,
    /// The report has the relation if it has any of these relations or sources.
    pub present_if: Vec<String>,
    /// The columns that scope options filter on. Absent: scope options do not apply.
    #[serde(default)]
    pub scope: ScopeColumns,
    /// Whether nsq computes the relation. If so, a statement in the file defines the rows, and scripts use
    /// it, but nsq does not run it.
    #[serde(default)]
    pub native: bool,
    /// What nsq reads to compute the relation, if the file has a statement, which reads `reads`.
    #[serde(default)]
    pub native_reads: Vec<String>,
    /// For a native relation: whether nsq reads `reads` with a statement, as other relations do. Else it reads the
    /// relations behind them on connections of its own, which have no native relations.
    #[serde(default)]
    pub by_statement: bool,
    /// Whether its rows are computed once for all statements on a report: it has few, and they take long.
    #[serde(default)]
    pub stored: bool,
    /// For a stored relation: a SQL condition without which it has no rows. If it is false, the statement is not
    /// run.
    pub rows_if: Option<String>,
    /// Whether it is a step of other relations and queries rather than vocabulary for people. Lists leave it out, and so
    /// does `nsq materialize`: nsq computes it again from the relations that it writes.
    #[serde(default)]
    pub internal: bool,
    /// Exactly the relations that the statement reads.
    pub reads: Vec<String>,
    /// Columns, in order.
    pub columns: Vec<ColumnSpec>,
    /// What it does not cover, and how it can mislead.
    #[serde(default)]
    pub limits: String,
}

impl Relation {
    /// What nsq reads to compute the relation.
    pub fn native_reads(&self) -> &[String] {
        if self.header.native_reads.is_empty() { &self.header.reads } else { &self.header.native_reads }
    }

    /// Whether the file has a statement.
    pub fn has_statement(&self) -> bool {
        !self.sql.trim().is_empty()
    }
}

/// The columns of a relation that the scope options filter on.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScopeColumns {
    /// Start and end, for `--time`.
    pub time: Option<(String, String)>,
    /// Device ordinal, for `--device`.
    pub device: Option<String>,
    /// GPU number, for `--gpu`, where rows have no device ordinal.
    pub gpu: Option<String>,
    /// Stream, for `--stream`.
    pub stream: Option<String>,
    /// Process id, for `--process`.
    pub process: Option<String>,
    /// For GPU operations, used by `--nvtx`: kind (a literal, or a column named `…_kind`) and row id.
    pub op: Option<(String, String)>,
    /// For events on a CPU thread, used by `--nvtx`: global thread id.
    pub thread: Option<String>,
}

impl ScopeColumns {
    /// Whether no scope option acts on the relation.
    pub fn is_empty(&self) -> bool {
        let columns = [&self.device, &self.gpu, &self.stream, &self.process, &self.thread];
        self.time.is_none() && self.op.is_none() && columns.iter().all(|column| column.is_none())
    }
}
