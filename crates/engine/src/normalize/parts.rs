//! What an installation is made of.

use super::scope::{Attribute, Scope};
use super::strings::{STRING_VIEW, strings_of_events};
use nsq_library::catalog::BuiltIn;
use nsq_report::schema::Schema;
use nsq_value::error::Result;
use std::collections::BTreeSet;
use std::sync::Arc;

/// A view whose rows are computed once.
#[derive(Debug, Clone)]
pub struct StoredView {
    /// Its name in statements.
    pub name: String,
    /// Its columns, in order.
    pub columns: Vec<String>,
    /// A condition without which it has no rows.
    pub rows_if: Option<String>,
}

/// `CREATE TEMP …` statements, without semicolons.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Statements {
    /// Statements that copy the public rows of secret tables. They come from the library and run with
    /// all rights.
    pub copies: Vec<String>,
    /// All other statements. They must not read secrets: some may come from user files.
    pub others: Vec<String>,
    /// Whether the strings are copied too. If so, the string table itself must not be read.
    pub has_strings: bool,
}

impl Statements {
    /// All statements, in creation order.
    pub fn iter(&self) -> impl Iterator<Item = &String> {
        self.copies.iter().chain(&self.others)
    }

    /// Replaces the view of all strings by a copy of the strings that events refer to.
    pub fn copy_strings(&mut self, schema: &Schema, built_in: &'static BuiltIn) -> Result<()> {
        if !self.has_strings {
            let view = format!("CREATE TEMP VIEW {STRING_VIEW} AS ");
            let statements = strings_of_events(schema, built_in)?;
            if !statements.is_empty() {
                self.others.retain(|statement| !statement.starts_with(&view));
            }
            self.copies.extend(statements);
            self.has_strings = true;
        }
        Ok(())
    }
}

/// A relation that nsq computes.
#[derive(Debug, Clone)]
pub struct Native {
    /// Its name in statements: the relation's name, or that name with the prefix `all_`.
    pub object: String,
    /// Name of the relation.
    pub relation: String,
    /// Its columns, in order.
    pub columns: Vec<String>,
    /// The relations that nsq reads with a statement of the session, as views do.
    pub reads: Vec<String>,
    /// Index into [`super::Installation::inputs`].
    pub input: usize,
}

/// The input of all native relations with the same scope.
#[derive(Debug, Clone, Default)]
pub struct Input {
    /// Statements that create the relations to read, on any connection to the report.
    pub statements: Arc<Statements>,
    /// The relations to read.
    pub(super) reads: BTreeSet<String>,
    /// The scope.
    pub scope: Scope,
    /// Whether the names of kernels are needed.
    pub kernel_names: bool,
}

impl Input {
    /// Whether the input reads the relation.
    pub fn reads(&self, relation: &str) -> bool {
        self.reads.contains(relation)
    }

    /// Whether this input reads what `other` reads, and at all times.
    pub fn covers(&self, other: &Self) -> bool {
        self.scope == other.scope.at_all_times()
            && !self.scope.selects_ranges()
            && !other.scope.touches_start
            && self.kernel_names >= other.kernel_names
            && self.reads.is_superset(&other.reads)
    }

    /// Whether reading both inputs gives the same. What follows from the scope's ranges is computed later.
    pub fn reads_same(&self, other: &Self) -> bool {
        let key = |input: &Self| (input.kernel_names, input.scope.attribute == Attribute::Capture);
        key(self) == key(other) && self.reads == other.reads && self.statements == other.statements
    }
}
