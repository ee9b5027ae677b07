//! Which relations a report has data for, and which capture flags would record the missing ones.
//!
//! An empty table counts as present: it shows that no such event happened.

use super::scope::{self, UNSCOPED};
use nsq_library::catalog::{Catalog, Source};
use nsq_report::schema::{Schema, Table};
use nsq_value::error::Result;
use std::collections::BTreeSet;

/// Tells whether a report has the tables that a relation is built from.
#[derive(Debug)]
pub struct Presence<'a> {
    schema: &'a Schema,
    catalog: &'a Catalog,
}

/// Why a requirement is not met.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lack {
    /// The required relations. Any one would be enough.
    pub relations: Vec<String>,
    /// Titles of the missing data, such as `CUDA kernels`.
    pub titles: Vec<String>,
    /// One line per raw table: `table X is missing`, or `table X has no column end`.
    pub tables: Vec<String>,
    /// The `nsys profile` flags that record the data; for a trace, what records it there, such as the profiler's
    /// activities.
    pub flags: Vec<String>,
    /// The kind of trace that the report was imported from, if it was.
    pub maker: Option<String>,
    /// Whether the report has another table of the same flags: the flag was set, but no such event
    /// happened.
    pub was_recorded: bool,
    /// Whether nsys records the data without an option, where the system allows it. Then there are no flags.
    pub is_automatic: bool,
}

/// What records GPU work in a trace of this kind.
fn recorder_of_gpu(maker: &str) -> &'static str {
    match maker {
        "XLA trace" => "jax.profiler.trace() on a GPU",
        "Ascend trace" => "ProfilerActivity.NPU",
        "PyTorch trace (XPU)" => "ProfilerActivity.XPU",
        "ONNX Runtime profile" => "a session on a GPU",
        "rocpd database" | "rpd database" => "rocprofv3 --runtime-trace",
        _ => "ProfilerActivity.CUDA",
    }
}

/// What makes PyTorch's profiler record a table of nsq's own, which no activity alone records.
fn recorder_in_pytorch(source: &Source) -> Option<&'static str> {
    match source.tables.first()?.as_str() {
        "NSQ_PYTHON_FRAME" => Some("torch.profiler.profile(with_stack=True)"),
        "NSQ_MEMORY" => Some("torch.profiler.profile(profile_memory=True)"),
        "NSQ_OPERATOR_INPUT" => Some("torch.profiler.profile(record_shapes=True)"),
        _ => None,
    }
}

impl<'a> Presence<'a> {
    /// Creates the look-up for a report with this schema.
    pub fn new(schema: &'a Schema, catalog: &'a Catalog) -> Self {
        Self { schema, catalog }
    }

    /// Whether the report has a table of the relation or source view.
    pub fn is_present(&self, relation: &str) -> Result<bool> {
        let relation = relation.strip_prefix(UNSCOPED).unwrap_or(relation);
        if relation == scope::SCOPE_RELATION {
            return Ok(true);
        }
        if self.schema.is_materialized {
            return self.is_in_file(relation);
        }
        let mut leaves = Vec::new();
        self.leaves(relation, &mut leaves, &mut BTreeSet::new())?;
        Ok(leaves.iter().any(|source| self.table_of(source).is_some()))
    }

    /// Whether a file of `nsq materialize` has the relation, or what nsq computes it from.
    fn is_in_file(&self, relation: &str) -> Result<bool> {
        if self.schema.table(relation).is_some() {
            return Ok(true);
        }
        let Some(relation) = self.catalog.relation(relation) else { return Ok(false) };
        let header = &relation?.header;
        for below in header.present_if.iter().filter(|_| header.internal) {
            if self.is_in_file(below)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// For a requirement such as `a | b`: what is missing if no relation is present, otherwise `None`.
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
            maker: self.schema.maker.clone(),
            was_recorded: false,
            is_automatic: false,
        };
        // What nsys records without an option is missing because the system does not allow it: no option helps. nsq's own
        // tables are those of imported traces.
        let is_own = |source: &Source| source.tables.iter().all(|table| table.starts_with("NSQ_"));
        lack.is_automatic = leaves.iter().any(|source| source.capture == "always" && !is_own(source));
        for source in &leaves {
            // A table of older versions has the same title.
            if !lack.titles.contains(&source.title) {
                lack.titles.push(source.title.clone());
            }
            lack.tables.push(self.reason(source));
            if !lack.is_automatic
                && source.capture.starts_with('-')
                && !lack.flags.contains(&source.capture)
            {
                lack.flags.push(source.capture.clone());
            }
        }
        for source in self.catalog.sources_recorded_by(&lack.flags) {
            let source = source?;
            lack.was_recorded |= lack.flags.contains(&source.capture) && self.table_of(source).is_some();
        }
        if let Some(maker) = &lack.maker {
            // Traces have no data of other flags.
            lack.flags.retain(|flag| flag == "--trace=cuda");
            lack.flags.iter_mut().for_each(|flag| *flag = recorder_of_gpu(maker).to_owned());
            if maker.starts_with("PyTorch trace") {
                lack.flags
                    .extend(leaves.iter().filter_map(|own| recorder_in_pytorch(own)).map(str::to_owned));
            }
        }
        Ok(Some(lack))
    }

    /// The raw table of a source, if the report has it with its essential columns.
    fn table_of(&self, source: &Source) -> Option<&Table> {
        let table = source.tables.iter().find_map(|name| self.schema.table(name))?;
        source.essential_columns().all(|column| table.column(column).is_some()).then_some(table)
    }

    /// Why the source has no usable table.
    fn reason(&self, source: &Source) -> String {
        let Some(table) = source.tables.iter().find_map(|name| self.schema.table(name)) else {
            return format!("table {} is missing", source.tables.join(" or "));
        };
        let lost: Vec<&str> =
            source.essential_columns().filter(|column| table.column(column).is_none()).collect();
        format!(
            "table {} has no column {}, which all nsys versions write",
            table.name,
            lost.join(" and ")
        )
    }

    /// Collects the sources that provide a relation's data, in the order of `present_if`.
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
