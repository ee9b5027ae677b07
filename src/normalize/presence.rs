//! Which relations a report can fill, and what would have to be captured where it cannot.
//!
//! A table that is there and empty says that nothing of its kind happened: that is an answer.

use super::{UNSCOPED, scope};
use crate::catalog::{Catalog, Source};
use crate::error::Result;
use crate::schema::{Schema, Table};
use std::collections::BTreeSet;

/// Answers whether a report has the tables that a relation rests on.
#[derive(Debug)]
pub struct Presence<'a> {
    schema: &'a Schema,
    catalog: &'a Catalog,
}

/// Why a requirement is not met.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lack {
    /// The relations of which one would have been enough.
    pub relations: Vec<String>,
    /// Kinds of data in words, such as `CUDA kernels`.
    pub titles: Vec<String>,
    /// One line per raw table: `table X is missing`, or `table X has no column end`.
    pub tables: Vec<String>,
    /// The `nsys profile` flags that record them; for a PyTorch trace, the profiler's activities.
    pub flags: Vec<String>,
    /// The report was made from a PyTorch trace.
    pub is_imported: bool,
    /// Other tables of the same flags are there: it was on, and nothing of the kind happened.
    pub was_recorded: bool,
}

impl<'a> Presence<'a> {
    /// The presence of relations in a report with this schema.
    pub fn new(schema: &'a Schema, catalog: &'a Catalog) -> Self {
        Self { schema, catalog }
    }

    /// The relation (or source view) rests on a table that the report has.
    pub fn is_present(&self, relation: &str) -> Result<bool> {
        let relation = relation.strip_prefix(UNSCOPED).unwrap_or(relation);
        if relation == scope::RELATION {
            return Ok(true);
        }
        if self.schema.is_materialized {
            return Ok(self.schema.table(relation).is_some());
        }
        let mut leaves = Vec::new();
        self.leaves(relation, &mut leaves, &mut BTreeSet::new())?;
        Ok(leaves.iter().any(|source| self.table_of(source).is_some()))
    }

    /// `a | b`: the lack where neither relation is present.
    pub fn lack(&self, requirement: &str) -> Result<Option<Lack>> {
        let named = requirement.split('|').map(str::trim);
        let relations: Vec<String> =
            named.map(|name| name.strip_prefix(UNSCOPED).unwrap_or(name).to_owned()).collect();
        let (mut leaves, mut seen) = (Vec::new(), BTreeSet::new());
        for relation in &relations {
            if self.is_present(relation)? {
                return Ok(None);
            }
            self.leaves(relation, &mut leaves, &mut seen)?;
        }
        let mut lack = Lack {
            relations,
            titles: Vec::new(),
            tables: Vec::new(),
            flags: Vec::new(),
            is_imported: self.schema.is_imported,
            was_recorded: false,
        };
        for source in &leaves {
            lack.titles.push(source.title.clone());
            lack.tables.push(self.reason(source));
            if source.capture.starts_with('-') && !lack.flags.contains(&source.capture) {
                lack.flags.push(source.capture.clone());
            }
        }
        for source in self.catalog.sources()? {
            lack.was_recorded |= lack.flags.contains(&source.capture) && self.table_of(source).is_some();
        }
        if lack.is_imported {
            // Of what nsys can record, a PyTorch trace holds only this much.
            lack.flags.retain(|flag| flag == "--trace=cuda");
            lack.flags.iter_mut().for_each(|flag| *flag = "ProfilerActivity.CUDA".to_owned());
        }
        Ok(Some(lack))
    }

    /// The raw table of a source, if its rows can be read.
    fn table_of(&self, source: &Source) -> Option<&Table> {
        let table = source.tables.iter().find_map(|name| self.schema.table(name))?;
        source.essential_columns().all(|column| table.column(column).is_some()).then_some(table)
    }

    /// Why the report has no such table.
    fn reason(&self, source: &Source) -> String {
        let Some(table) = source.tables.iter().find_map(|name| self.schema.table(name)) else {
            return format!("table {} is missing", source.tables.join(" or "));
        };
        let lost: Vec<&str> =
            source.essential_columns().filter(|column| table.column(column).is_none()).collect();
        format!("table {} has no column {}, which every nsys writes", table.name, lost.join(" and "))
    }

    /// The sources that a relation's data comes from, in the order in which they are named.
    fn leaves(&self, name: &str, into: &mut Vec<&'a Source>, seen: &mut BTreeSet<String>) -> Result<()> {
        if !seen.insert(name.to_owned()) {
            return Ok(());
        }
        if let Some(source) = self.catalog.source(name) {
            into.push(source?);
        } else if let Some(relation) = self.catalog.relation(name) {
            for below in &relation?.header.present_if {
                self.leaves(below, into, seen)?;
            }
        }
        Ok(())
    }
}
