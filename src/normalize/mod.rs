//! [`Schema`] + specs + relations → TEMP objects: the one seam where export versions differ.
//!
//! For: making every report look the same. Each raw table becomes a generated `src_…` view in which
//! a missing column is NULL and a missing table is empty; the relations of `queries/views` are
//! written once on top. The scope options are applied here too, so no query has to.
//!
//! Not for: knowing any query, or running one.

mod presence;
mod range_pattern;
mod scope;
mod source_view;
mod strings;

pub use presence::{Lack, Presence};
pub use range_pattern::RangePattern;
pub use scope::{Attribute, IN_WINDOW, SELECTS_CALL, SELECTS_OP, Scope, Selector};
pub use strings::{STRING_RELATIONS, STRING_TABLE, STRING_VIEW, strings_of_events};

use crate::catalog::{Catalog, ClassMaps, Relation, Rules, is_built_in};
use crate::error::{Error, Result, nearest};
use crate::schema::{Schema, quote};
use std::collections::BTreeSet;

/// Reads the relation without the scope options: `all_kernel` beside `kernel`.
pub const UNSCOPED: &str = "all_";

/// Graphs that were traced as wholes.
const GRAPHS: &str = "graph_trace";
/// Columns that show which kernels were launched.
const KERNEL_NAMES: [&str; 2] = ["mangled_name_id", "kernel_name_id"];
/// What is said where there are some.
const GRAPH_NOTE: &str = "CUDA graphs were traced as wholes here: each counts as one operation and its kernels \
                          are not in the report; capture with --cuda-graph-trace=node to see them";
/// What the ranges of a scope are looked up in.
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

/// The TEMP objects that a statement needs, in the order in which they can be made.
#[derive(Debug, Clone, Default)]
pub struct Installation {
    /// `CREATE TEMP …` statements.
    pub statements: Statements,
    /// The tables whose times are read by statements, and whether one of them is no number.
    pub times: Vec<Times>,
    /// Relations that nsq computes; they exist before the statements run.
    pub natives: Vec<Native>,
    /// What native relations are computed from.
    pub inputs: Vec<Input>,
    /// The input whose ranges say what is in the scope, where NVTX ranges do.
    pub selecting: Option<usize>,
    /// The scope that they select for.
    pub scope: Option<Scope>,
    /// Rules by which names fold, and by which they mean phases: the first file's go first.
    pub rules: [Vec<Rules>; 2],
    /// From names of GPU operations to classes.
    pub classes: ClassMaps,
    /// Scope options that some relation could not follow, as `--device does not apply to cuda_call`.
    pub notes: Vec<String>,
    /// Captured environments, command lines and all strings may be read.
    pub reveals_secrets: bool,
}

/// `CREATE TEMP …` statements, without semicolons.
#[derive(Debug, Clone, Default)]
pub struct Statements {
    /// What may be seen of secret tables. They are made with all rights, and are the library's own.
    pub copies: Vec<String>,
    /// All others, which may read no secret. Some may be a stranger's.
    pub others: Vec<String>,
    /// Strings are copied too: of those in the table, none may be read.
    pub has_strings: bool,
}

impl Statements {
    /// All of them, in the order in which they can be made.
    pub fn iter(&self) -> impl Iterator<Item = &String> {
        self.copies.iter().chain(&self.others)
    }

    /// Puts the strings that events refer to in the place of all strings.
    pub fn copy_strings(&mut self, schema: &Schema) -> Result<()> {
        if !self.has_strings {
            let view = format!("CREATE TEMP VIEW {STRING_VIEW} AS ");
            let statements = strings_of_events(schema)?;
            if !statements.is_empty() {
                self.others.retain(|statement| !statement.starts_with(&view));
            }
            self.copies.extend(statements);
            self.has_strings = true;
        }
        Ok(())
    }
}

/// When the rows of a raw table began and ended.
#[derive(Debug, Clone)]
pub struct Times {
    /// The table, as the report spells it.
    pub table: String,
    /// A statement that answers 1 if one of them is no whole number: SQL would count with it all the same.
    pub is_no_number: String,
}

/// A relation that nsq computes.
#[derive(Debug, Clone)]
pub struct Native {
    /// The name it has in statements: the relation's, or `all_` and the relation's.
    pub object: String,
    /// The relation.
    pub relation: String,
    /// Its columns, in order.
    pub columns: Vec<String>,
    /// Index into [`Installation::inputs`].
    pub input: usize,
}

/// What native relations of one scope are computed from.
#[derive(Debug, Clone)]
pub struct Input {
    /// Statements that make the relations that are read, on whatever connection reads them.
    pub statements: Statements,
    /// The relations that are read.
    reads: BTreeSet<String>,
    /// What is looked at, and how.
    pub scope: Scope,
    /// The names of kernels are asked for.
    pub kernel_names: bool,
}

impl Input {
    /// The relation is among those that are read.
    pub fn reads(&self, relation: &str) -> bool {
        self.reads.contains(relation)
    }
}

/// Plans what `roots` need on a report with this schema, and only that.
pub fn plan<'a>(
    schema: &Schema,
    catalog: &Catalog,
    scope: &Scope,
    roots: impl IntoIterator<Item = &'a str>,
) -> Result<Installation> {
    plan_with(schema, catalog, scope, roots, false)
}

/// The same, where the user asked to see captured environments: tables are read whole.
pub fn plan_revealing<'a>(
    schema: &Schema,
    catalog: &Catalog,
    scope: &Scope,
    roots: impl IntoIterator<Item = &'a str>,
) -> Result<Installation> {
    plan_with(schema, catalog, scope, roots, true)
}

fn plan_with<'a>(
    schema: &Schema,
    catalog: &Catalog,
    scope: &Scope,
    roots: impl IntoIterator<Item = &'a str>,
    reveals_secrets: bool,
) -> Result<Installation> {
    let mut planner = Planner {
        schema,
        catalog,
        scope,
        planned: BTreeSet::new(),
        open: Vec::new(),
        has_strangers: false,
        installation: Installation { reveals_secrets, ..Installation::default() },
    };
    if scope.selects_ranges() {
        let whole = scope.unfiltered();
        planner.installation.selecting = Some(planner.input(&whole, &RANGE_READS)?);
        planner.installation.scope = Some(scope.clone());
    }
    for root in roots {
        planner.visit(root)?;
    }
    let (mut installation, mut has_strangers) = (planner.installation, planner.has_strangers);
    installation.classes = catalog.classes().clone();
    for input in &mut installation.inputs {
        let reads = input.reads.iter().map(String::as_str);
        let scope = input.scope.without_ranges();
        input.statements = plan_with(schema, catalog, &scope, reads, reveals_secrets)?.statements;
        has_strangers |= input.statements.has_strings;
    }
    // The library looks up the numbers that its relations give it: a stranger's could give it any.
    if has_strangers && !reveals_secrets {
        installation.statements.copy_strings(schema)?;
    }
    if !installation.inputs.is_empty() {
        for (rules, name) in installation.rules.iter_mut().zip(["layers", "phases"]) {
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
    open: Vec<String>,
    /// Some relation or spec is a user's own.
    has_strangers: bool,
    installation: Installation,
}

impl Planner<'_> {
    fn visit(&mut self, name: &str) -> Result<()> {
        if self.planned.contains(name) {
            return Ok(());
        }
        if self.open.iter().any(|above| above == name) {
            return Err(Error::usage(
                format!("relations read each other in a circle: {} → {name}", self.open.join(" → ")),
                "a relation may only read relations that do not read it",
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
        if name == scope::RELATION {
            return Ok(vec![self.scope.definition()]);
        }
        if let Some(source) = self.catalog.source(name) {
            if self.schema.is_materialized {
                return Err(Error::usage(
                    format!("{name} is raw vocabulary, and the file holds the normalised tables only"),
                    "ask the report that it was made from, or read a relation (`nsq list --relations`)",
                ));
            }
            let source = source?;
            self.has_strangers |= !is_built_in(name.trim_start_matches("src_"), &source.text);
            let reveals = self.installation.reveals_secrets;
            let copy = if reveals { None } else { source_view::copy(source, self.schema)? };
            if let Some(copy) = copy {
                self.installation.statements.copies.push(copy);
                return Ok(Vec::new());
            }
            self.installation.times.extend(source_view::times(source, self.schema));
            return Ok(source_view::define(source, self.schema, reveals));
        }
        if let Some(relation) = self.catalog.relation(name) {
            let relation = relation?;
            self.has_strangers |= !is_built_in(name, &relation.text);
            return self.define_scoped(relation);
        }
        if let Some(bare) = name.strip_prefix(UNSCOPED)
            && let Some(relation) = self.catalog.relation(bare)
        {
            let relation = relation?;
            self.has_strangers |= !is_built_in(bare, &relation.text);
            return self.define_body(name, relation);
        }
        let near = nearest(name, self.catalog.relation_names());
        Err(Error::Unknown {
            what: "relation",
            name: name.to_owned(),
            near,
            help: "`nsq list --relations` shows the vocabulary.".to_owned(),
        })
    }

    /// The relation as queries see it: within the scope.
    fn define_scoped(&mut self, relation: &Relation) -> Result<Vec<String>> {
        let name = &relation.header.name;
        if relation.header.native {
            return self.define_native(name, relation, self.scope.clone());
        }
        let columns = &relation.header.scope;
        self.installation.notes.extend(self.scope.notes(name, columns));
        let Some(condition) = self.scope.condition(columns) else {
            return self.define_body(name, relation);
        };
        let whole = format!("{UNSCOPED}{name}");
        self.visit(&whole)?;
        Ok(vec![format!("CREATE TEMP VIEW {name} AS\nSELECT * FROM {whole}\nWHERE {condition}")])
    }

    /// The relation's own statement, under `name`.
    fn define_body(&mut self, name: &str, relation: &Relation) -> Result<Vec<String>> {
        let header = &relation.header;
        if header.native {
            return self.define_native(name, relation, self.scope.unfiltered());
        }
        if self.schema.is_materialized {
            return Ok(vec![self.read_materialized(name, relation)]);
        }
        for read in &header.reads {
            self.visit(read)?;
        }
        let Some(materialize) = &header.materialize else {
            return Ok(vec![format!("CREATE TEMP VIEW {name} AS\n{}", relation.sql)]);
        };
        let index = materialize.index.join(", ");
        Ok(vec![
            format!("CREATE TEMP TABLE {name} AS\n{}", relation.sql),
            format!("CREATE INDEX temp.{name}_index ON {name} ({index})"),
        ])
    }

    /// A relation that nsq computes, under `name`: no statement makes it.
    fn define_native(&mut self, name: &str, relation: &Relation, scope: Scope) -> Result<Vec<String>> {
        let header = &relation.header;
        let input = self.input(&scope, &header.reads)?;
        // Three more columns of every kernel: read only for those who show them.
        let shows_kernels =
            header.columns.iter().any(|column| KERNEL_NAMES.contains(&column.name.as_str()));
        let columns = header.columns.iter().map(|column| column.name.clone()).collect();
        let (object, relation) = (name.to_owned(), header.name.clone());
        self.installation.inputs[input].kernel_names |= shows_kernels;
        self.installation.natives.push(Native { object, relation, columns, input });
        let counts_graphs =
            self.schema.has_whole_graphs && header.reads.iter().any(|read| read.ends_with(GRAPHS));
        if counts_graphs && !self.installation.notes.iter().any(|note| note == GRAPH_NOTE) {
            self.installation.notes.push(GRAPH_NOTE.to_owned());
        }
        Ok(Vec::new())
    }

    /// The input with this scope, reading at least `reads`.
    fn input(&mut self, scope: &Scope, reads: &[impl ToString]) -> Result<usize> {
        let inputs = &mut self.installation.inputs;
        let known = inputs.iter().position(|input| input.scope == *scope);
        let index = known.unwrap_or(inputs.len());
        if known.is_none() {
            let scope = scope.clone();
            inputs.push(Input {
                statements: Statements::default(),
                reads: BTreeSet::new(),
                scope,
                kernel_names: false,
            });
        }
        inputs[index].reads.extend(reads.iter().map(ToString::to_string));
        Ok(index)
    }

    /// In what `nsq materialize` wrote, the relation is a table of the same name.
    fn read_materialized(&self, name: &str, relation: &Relation) -> String {
        // `all_kernel` is a table of its own where the file holds only a part of `kernel`.
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
