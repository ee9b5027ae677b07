//! [`Schema`] + specs + relations → TEMP objects: the one seam where export versions differ.
//!
//! For: making every report look the same. Each raw table becomes a generated `src_…` view in which
//! a missing column is NULL and a missing table is empty; the relations of `queries/views` are
//! written once on top. The scope options are applied here too, so no query has to.
//!
//! Not for: knowing any query, or running one.

mod presence;
mod scope;
mod source_view;

pub use presence::{Lack, Presence};
pub use scope::Scope;

use crate::catalog::{Catalog, Relation};
use crate::error::{Error, Result, nearest};
use crate::schema::{Schema, quote};
use rusqlite::Connection;
use std::collections::BTreeSet;

/// Reads the relation without the scope options: `all_kernel` beside `kernel`.
pub const UNSCOPED: &str = "all_";

/// The TEMP objects that a statement needs, in the order in which they can be made.
#[derive(Debug, Clone, Default)]
pub struct Installation {
    /// `CREATE TEMP …` statements, without semicolons.
    pub statements: Vec<String>,
    /// Scope options that some relation could not follow, as `--device does not apply to cuda_call`.
    pub notes: Vec<String>,
}

impl Installation {
    /// Makes the objects. The file is not touched: they live in the connection's TEMP database.
    pub fn install(&self, connection: &Connection) -> Result<()> {
        for statement in &self.statements {
            connection.execute_batch(statement)?;
        }
        Ok(())
    }
}

/// Plans what `roots` need on a report with this schema, and only that.
pub fn plan<'a>(
    schema: &Schema,
    catalog: &Catalog,
    scope: &Scope,
    roots: impl IntoIterator<Item = &'a str>,
) -> Result<Installation> {
    let mut planner = Planner {
        schema,
        catalog,
        scope,
        planned: BTreeSet::new(),
        open: Vec::new(),
        installation: Installation::default(),
    };
    for root in roots {
        planner.visit(root)?;
    }
    Ok(planner.installation)
}

struct Planner<'a> {
    schema: &'a Schema,
    catalog: &'a Catalog,
    scope: &'a Scope,
    planned: BTreeSet<String>,
    open: Vec<String>,
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
        self.installation.statements.extend(statements);
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
            return Ok(source_view::define(source?, self.schema));
        }
        if let Some(relation) = self.catalog.relation(name) {
            return self.define_scoped(relation?);
        }
        if let Some(relation) = name.strip_prefix(UNSCOPED).and_then(|name| self.catalog.relation(name))
        {
            return self.define_body(name, relation?);
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
