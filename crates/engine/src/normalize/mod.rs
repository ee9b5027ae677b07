//! Plans the TEMP objects that give every report the same schema, whatever its export version.
//!
//! The inputs are the report's [`Schema`], the source specs and the relations. Each raw table gets a
//! generated `src_…` view, in which missing columns are NULL and missing tables are empty. The relations
//! in `queries/views` read these views. Scope options are applied here, so queries do not handle them.
//!
//! This module does not know or run queries.

mod parts;
mod presence;
mod range_pattern;
mod scope;
mod source_view;
mod strings;

pub use parts::{Input, Native, Statements, StoredView};
pub use presence::{Lack, Presence};
pub use range_pattern::RangePattern;
pub use scope::{
    Attribute, IN_WINDOW, ProcessDevice, SCOPE_COLUMNS, SCOPE_RELATION, SELECTS_CALL, SELECTS_OP, Scope,
    Selector, UNSCOPED,
};
pub use source_view::Times;
pub use strings::{STRING_RELATIONS, STRING_TABLE, STRING_VIEW, strings_of_events};

use crate::compile::Plan;
use nsq_library::catalog::{BuiltIn, Catalog, ClassMaps, Relation, Rules};
use nsq_report::schema::{Schema, quote};
use nsq_value::error::{Error, Result, nearest};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Relation of the events whose times cannot be true.
pub const SUSPECTS: &str = "suspect_event";
/// Relation of CUDA graphs that were traced as a whole.
const GRAPHS: &str = "graph_trace";
/// Columns with names of the launched kernels.
const KERNEL_NAMES: [&str; 2] = ["mangled_name_id", "kernel_name_id"];
/// Note for reports with such graphs.
const GRAPH_NOTE: &str =
    "CUDA graphs were traced without their kernels: capture with --cuda-graph-trace=node";
/// Relations needed to find which GPU operations and calls the scope's NVTX ranges select.
const RANGE_READS: [&str; 8] = [
    "all_cuda_call",
    "all_graph_node",
    "all_nvtx_record",
    "graph_trace",
    "kernel",
    "memcpy",
    "memset",
    "string",
];

/// The TEMP objects that a statement needs, in creation order.
#[derive(Debug, Clone, Default)]
pub struct Installation {
    /// The library below the users' files.
    pub built_in: &'static BuiltIn,
    /// `CREATE TEMP …` statements.
    pub statements: Statements,
    /// Tables whose times are read, with checks of these.
    pub times: Vec<Times>,
    /// Relations that nsq computes. They exist before the statements run.
    pub natives: Vec<Native>,
    /// Views whose rows are computed once. Each comes after those that it reads.
    pub stored: Vec<StoredView>,
    /// Inputs of the native relations.
    pub inputs: Vec<Input>,
    /// Index of the input that has the scope's NVTX ranges. `None` if the scope selects no ranges.
    pub selecting: Option<usize>,
    /// The scope, if it selects NVTX ranges.
    pub scope: Option<Scope>,
    /// Name rules: `layers` fold numbers in names, `phases` give phases, `work` gives work. Rules of the
    /// first file go first.
    pub rules: [Vec<Rules>; 3],
    /// Class maps of GPU operations.
    pub classes: ClassMaps,
    /// Notes on scope options that a relation ignores, such as `--device does not apply to cuda_call`.
    pub notes: Vec<String>,
    /// What the report lacks of the relations that were asked for, by relation.
    pub lacks: BTreeMap<String, Lack>,
    /// Whether captured environment variables, command lines and all strings may be read.
    pub reveals_secrets: bool,
    /// The same with the rows whose times cannot be true, and with the relation [`SUSPECTS`]. `None` if the report has
    /// no such rows, because nsq wrote it.
    pub as_recorded: Option<Arc<Installation>>,
}

impl Installation {
    /// What the report lacks for a plan.
    pub(crate) fn lack_of(&self, plan: &Plan) -> Option<&Lack> {
        let missing = |requirement: &String| {
            let mut lacks = requirement.split('|').map(|relation| self.lacks.get(relation.trim()));
            let first = lacks.next().flatten()?;
            lacks.all(|lack| lack.is_some()).then_some(first)
        };
        plan.requires.iter().find_map(missing)
    }
}

/// Plans the objects that the relations `roots` need on a report with this schema.
pub fn plan<'a>(
    schema: &Schema,
    catalog: &Catalog,
    scope: &Scope,
    roots: impl IntoIterator<Item = &'a str>,
) -> Result<Installation> {
    let roots: Vec<&str> = roots.into_iter().collect();
    let mut installation = plan_with(schema, catalog, scope, roots.iter().copied(), Plans::default())?;
    if !schema.is_materialized {
        let scope = Scope { as_recorded: true, ..scope.clone() };
        let roots = roots.into_iter().chain([SUSPECTS]);
        let recorded = plan_with(schema, catalog, &scope, roots, Plans::default())?;
        installation.as_recorded = Some(Arc::new(recorded));
    }
    Ok(installation)
}

/// As [`plan`], but for a SQLite shell: a native relation that has a statement is a view.
pub fn plan_script<'a>(
    schema: &Schema,
    catalog: &Catalog,
    scope: &Scope,
    roots: impl IntoIterator<Item = &'a str>,
) -> Result<Installation> {
    plan_with(schema, catalog, scope, roots, Plans { is_script: true, ..Plans::default() })
}

/// What a plan is for.
#[derive(Debug, Clone, Copy, Default)]
pub struct Plans {
    /// Secret tables are readable in full, because the user asked to see them.
    pub reveals_secrets: bool,
    /// Native relations with a statement are views.
    pub is_script: bool,
}

/// As [`plan`], for a purpose.
pub fn plan_with<'a>(
    schema: &Schema,
    catalog: &Catalog,
    scope: &Scope,
    roots: impl IntoIterator<Item = &'a str>,
    plans: Plans,
) -> Result<Installation> {
    let reveals_secrets = plans.reveals_secrets;
    let mut planner = Planner {
        schema,
        catalog,
        scope,
        planned: BTreeSet::new(),
        shared: BTreeSet::new(),
        open: Vec::new(),
        is_script: plans.is_script,
        has_user_files: false,
        installation: Installation {
            built_in: catalog.built_in(),
            reveals_secrets,
            ..Installation::default()
        },
    };
    if scope.selects_ranges() {
        let whole = scope.without_ranges();
        planner.installation.selecting = Some(planner.input(&whole, &RANGE_READS)?);
        planner.installation.scope = Some(scope.clone());
    }
    let presence = Presence::new(schema, catalog);
    // Queries of a page read the same relations.
    let mut visited = BTreeSet::new();
    for root in roots.into_iter().filter(|root| visited.insert(*root)) {
        planner.visit(root)?;
        if let Some(lack) = presence.lack(root)? {
            planner.installation.lacks.insert(root.to_owned(), lack);
        }
    }
    let (mut installation, mut has_user_files) = (planner.installation, planner.has_user_files);
    installation.classes = catalog.classes().clone();
    for input in &mut installation.inputs {
        let reads = input.reads.iter().map(String::as_str);
        let scope = input.scope.without_ranges();
        let planned = plan_with(schema, catalog, &scope, reads, plans)?;
        has_user_files |= planned.statements.has_strings;
        input.statements = Arc::new(planned.statements);
        // A relation leaves out times that are no numbers, so that who reads it does not see them.
        for times in planned.times {
            if !installation.times.iter().any(|known| known.table == times.table) {
                installation.times.push(times);
            }
        }
    }
    // A query of the library looks up string ids that relations provide. A user's relation could provide
    // the id of any string.
    if has_user_files && !reveals_secrets {
        installation.statements.copy_strings(schema, catalog.built_in())?;
    }
    if !installation.inputs.is_empty() {
        for (rules, name) in installation.rules.iter_mut().zip(["layers", "phases", "work"]) {
            *rules = catalog.rules(name)?.into_iter().cloned().collect();
        }
    }
    Ok(installation)
}

struct Planner<'a> {
    schema: &'a Schema,
    catalog: &'a Catalog,
    scope: &'a Scope,
    planned: BTreeSet<String>,
    /// Stored relations that were defined for the same ones without the scope.
    shared: BTreeSet<String>,
    open: Vec<String>,
    /// Whether native relations with a statement are views.
    is_script: bool,
    /// Whether a relation or spec comes from a user's file.
    has_user_files: bool,
    installation: Installation,
}

impl Planner<'_> {
    fn visit(&mut self, name: &str) -> Result<()> {
        if self.planned.contains(name) {
            return Ok(());
        }
        if self.open.iter().any(|above| above == name) {
            return Err(Error::usage(
                format!("relations read each other in a cycle: {} → {name}", self.open.join(" → ")),
                "remove one of these from `reads` and from its statement",
            ));
        }
        self.open.push(name.to_owned());
        let statements = self.define(name)?;
        self.open.pop();
        self.planned.insert(name.to_owned());
        self.installation.statements.others.extend(statements);
        Ok(())
    }

    fn define(&mut self, name: &str) -> Result<Vec<String>> {
        if name == SCOPE_RELATION {
            return Ok(vec![self.scope.definition()]);
        }
        if let Some(source) = self.catalog.source(name) {
            if self.schema.is_materialized {
                return Err(Error::usage(
                    format!("{name} is a raw table, and this file has only normalised tables"),
                    "use the original report, or read a relation instead (see `nsq list --relations`)",
                ));
            }
            let source = source?;
            self.has_user_files |=
                !self.catalog.built_in().has(name.trim_start_matches("src_"), &source.text);
            let reveals = self.installation.reveals_secrets;
            let copy = if reveals {
                None
            } else {
                source_view::copy(source, self.schema, self.catalog.built_in())?
            };
            if let Some(copy) = copy {
                self.installation.statements.copies.push(copy);
                return Ok(Vec::new());
            }
            self.installation.times.extend(source_view::times(source, self.schema));
            return Ok(source_view::define(source, self.schema, reveals));
        }
        if let Some(relation) = self.catalog.relation(name) {
            let relation = relation?;
            self.has_user_files |= !self.catalog.built_in().has(name, &relation.text);
            return self.define_scoped(relation);
        }
        if let Some(bare) = name.strip_prefix(UNSCOPED)
            && let Some(relation) = self.catalog.relation(bare)
        {
            let relation = relation?;
            self.has_user_files |= !self.catalog.built_in().has(bare, &relation.text);
            return self.define_whole(name, relation);
        }
        let near = nearest(name, self.catalog.relation_names());
        Err(Error::Unknown {
            what: "relation",
            name: name.to_owned(),
            near,
            help: "`nsq list --relations` shows all relations.".to_owned(),
        })
    }

    /// The relation as queries see it: filtered by the scope.
    fn define_scoped(&mut self, relation: &Relation) -> Result<Vec<String>> {
        let name = &relation.header.name;
        if self.is_native(relation) {
            return self.define_native(name, relation, self.scope.clone());
        }
        let columns = &relation.header.scope;
        let notes = self.scope.notes(name, columns);
        // Without its data, it has no rows that the scope could leave out.
        if !notes.is_empty() && Presence::new(self.schema, self.catalog).lack(name)?.is_none() {
            self.installation.notes.extend(notes);
        }
        let Some(condition) = self.scope.condition(columns) else {
            // The whole relation may have defined it.
            let is_defined = self.shared.contains(name);
            return if is_defined { Ok(Vec::new()) } else { self.define_body(name, relation) };
        };
        let whole = format!("{UNSCOPED}{name}");
        self.visit(&whole)?;
        Ok(vec![format!("CREATE TEMP VIEW {name} AS\nSELECT * FROM {whole}\nWHERE {condition}")])
    }

    /// The unfiltered relation. One that is stored is not stored again if the scope does not filter it.
    fn define_whole(&mut self, name: &str, relation: &Relation) -> Result<Vec<String>> {
        let header = &relation.header;
        let is_shared = header.stored
            && !self.is_script
            && !self.is_native(relation)
            && !self.schema.is_materialized
            && self.scope.condition(&header.scope).is_none();
        if !is_shared {
            return self.define_body(name, relation);
        }
        let scoped = header.name.as_str();
        let mut statements = Vec::new();
        if !self.planned.contains(scoped) && self.shared.insert(scoped.to_owned()) {
            statements = self.define_body(scoped, relation)?;
        }
        statements.push(format!("CREATE TEMP VIEW {name} AS\nSELECT * FROM {scoped}"));
        Ok(statements)
    }

    /// The unfiltered relation, created under `name`.
    fn define_body(&mut self, name: &str, relation: &Relation) -> Result<Vec<String>> {
        let header = &relation.header;
        if self.is_native(relation) {
            return self.define_native(name, relation, self.scope.unfiltered());
        }
        if self.schema.is_materialized && !self.is_left_out(name, relation) {
            return Ok(vec![self.read_materialized(name, relation)]);
        }
        for read in &header.reads {
            self.visit(read)?;
        }
        if header.stored {
            self.installation.stored.push(StoredView {
                name: name.to_owned(),
                columns: header.columns.iter().map(|column| column.name.clone()).collect(),
                rows_if: header.rows_if.clone(),
            });
        }
        Ok(vec![format!("CREATE TEMP VIEW {name} AS\n{}", relation.sql)])
    }

    fn is_native(&self, relation: &Relation) -> bool {
        relation.header.native && !(self.is_script && relation.has_statement())
    }

    /// Registers a relation that nsq computes, under `name`. It needs no statement.
    fn define_native(&mut self, name: &str, relation: &Relation, scope: Scope) -> Result<Vec<String>> {
        let header = &relation.header;
        // What is read with a statement of the session, and what on other connections.
        let (reads, others) = match header.by_statement {
            true => (header.reads.clone(), &[][..]),
            false => (Vec::new(), relation.native_reads()),
        };
        let input = self.input(&scope, others)?;
        for read in &reads {
            self.visit(read)?;
        }
        // Kernel names are three more columns to read for each kernel: read them only if they are shown.
        let shows_kernels =
            header.columns.iter().any(|column| KERNEL_NAMES.contains(&column.name.as_str()));
        let columns = header.columns.iter().map(|column| column.name.clone()).collect();
        let (object, computed) = (name.to_owned(), header.name.clone());
        self.installation.inputs[input].kernel_names |= shows_kernels;
        self.installation.natives.push(Native { object, relation: computed, columns, reads, input });
        let counts_graphs = self.schema.has_whole_graphs
            && relation.native_reads().iter().any(|read| read.ends_with(GRAPHS));
        if counts_graphs && !self.installation.notes.iter().any(|note| note == GRAPH_NOTE) {
            self.installation.notes.push(GRAPH_NOTE.to_owned());
        }
        Ok(Vec::new())
    }

    /// Index of the input with this scope. Adds `reads` to it, and creates it if needed.
    fn input(&mut self, scope: &Scope, reads: &[impl ToString]) -> Result<usize> {
        let inputs = &mut self.installation.inputs;
        let known = inputs.iter().position(|input| input.scope == *scope);
        let index = known.unwrap_or(inputs.len());
        if known.is_none() {
            let scope = scope.clone();
            inputs.push(Input {
                statements: Arc::default(),
                reads: BTreeSet::new(),
                scope,
                kernel_names: false,
            });
        }
        inputs[index].reads.extend(reads.iter().map(ToString::to_string));
        Ok(index)
    }

    /// Whether a file of `nsq materialize` lacks the relation, so that nsq computes it from those that the file has.
    fn is_left_out(&self, name: &str, relation: &Relation) -> bool {
        let header = &relation.header;
        header.internal
            && [name, header.name.as_str()].iter().all(|name| self.schema.table(name).is_none())
    }

    /// Reads the relation from a file of `nsq materialize`, where it is a table of the same name.
    fn read_materialized(&self, name: &str, relation: &Relation) -> String {
        // If the file was written with a scope, `all_kernel` is a separate table.
        let table = self.schema.table(name).or_else(|| self.schema.table(&relation.header.name));
        let columns: Vec<String> = relation
            .header
            .columns
            .iter()
            .map(|spec| match table.and_then(|table| table.column(&spec.name)) {
                Some(column) => quote(column),
                None => format!("NULL AS {}", quote(&spec.name)),
            })
            .collect();
        let from = match table {
            Some(table) => format!("FROM main.{}", quote(&table.name)),
            None => "WHERE 0".to_owned(),
        };
        format!("CREATE TEMP VIEW {name} AS\nSELECT {}\n{from}", columns.join(", "))
    }
}
