//! A report with all tables and no rows, on which statements are prepared.

use nsq_engine::normalize::{self, Installation, Scope, StoredView};
use nsq_library::catalog::Catalog;
use nsq_report::schema::{Schema, quote};
use nsq_value::error::Result;
use rusqlite::Connection;
use std::fmt;

/// An empty report that has all tables and columns of all export versions.
pub struct EmptyReport {
    schema: Schema,
    ddl: String,
}

impl fmt::Debug for EmptyReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EmptyReport").finish_non_exhaustive()
    }
}

impl EmptyReport {
    /// Builds it from the source specs of the library.
    pub fn new(catalog: &Catalog) -> Result<Self> {
        let mut ddl = String::new();
        for source in catalog.sources()? {
            let Some(table) = source.tables.first() else { continue };
            let mut columns: Vec<String> = source.columns.iter().map(|c| quote(&c.name)).collect();
            if source.is_enum() {
                columns = ["id", "name", "label"].map(str::to_owned).to_vec();
            }
            ddl.push_str(&format!(
                "CREATE TABLE IF NOT EXISTS {} ({});\n",
                quote(table),
                columns.join(", ")
            ));
        }
        let connection = Connection::open_in_memory()?;
        connection.execute_batch(&ddl)?;
        Ok(Self { schema: Schema::read(&connection)?, ddl })
    }

    /// Its schema.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// What `roots` need. Stored relations are empty tables, as they are tables when a statement runs. `tested`
    /// is a view, even if nsq computes it.
    pub(super) fn installation<'n>(
        &self,
        catalog: &Catalog,
        roots: impl IntoIterator<Item = &'n str>,
        tested: Option<&str>,
    ) -> Result<Installation> {
        let plan = |roots: Vec<&str>| match tested {
            Some(_) => normalize::plan_script(&self.schema, catalog, &Scope::default(), roots),
            None => normalize::plan(&self.schema, catalog, &Scope::default(), roots),
        };
        let mut installation = plan(roots.into_iter().collect())?;
        for StoredView { name, columns, .. } in std::mem::take(&mut installation.stored) {
            if Some(name.as_str()) != tested {
                let view = format!("CREATE TEMP VIEW {name} AS\n");
                let columns: Vec<String> = columns.iter().map(|column| quote(column)).collect();
                let table = format!("CREATE TEMP TABLE {name} ({})", columns.join(", "));
                let others = installation.statements.others.iter_mut();
                others.filter(|made| made.starts_with(&view)).for_each(|made| made.clone_from(&table));
            }
        }
        Ok(installation)
    }

    /// Opens an in-memory database with its tables.
    pub fn connect(&self) -> Result<Connection> {
        let connection = Connection::open_in_memory()?;
        connection.execute_batch(&self.ddl)?;
        Ok(connection)
    }
}
