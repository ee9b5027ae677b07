//! What the extension adds to a connection, and the report that it asks.

use crate::listed::Listed;
use crate::scope;
use crate::table::MODULE;
use nsq::execute::register_functions;
use nsq::normalize::SCOPE_RELATION;
use nsq::report::path_of;
use nsq::{Error, Library, Report, Result, Scope};
use rusqlite::Connection;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// The report of a connection, and how it is asked. Opened when a statement first needs it.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) library: Library,
    /// The file of the connection; empty for a database in memory.
    file: PathBuf,
    report: Mutex<Option<Arc<Report>>>,
    scope: Mutex<Scope>,
}

impl Asked {
    pub(crate) fn report(&self) -> Result<Arc<Report>> {
        let mut known = self.report.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(report) = known.as_ref() {
            return Ok(Arc::clone(report));
        }
        if self.file.as_os_str().is_empty() {
            return Err(Error::Usage {
                reason: "the database is in memory, and nsq reads reports from files".to_owned(),
                help: "open an export of nsys, then load nsq".to_owned(),
            });
        }
        let report = Arc::new(self.library.open(&self.file)?);
        Ok(Arc::clone(known.insert(report)))
    }

    pub(crate) fn scope(&self) -> Scope {
        self.scope.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn set_scope(&self, scope: Scope) {
        *self.scope.lock().unwrap_or_else(PoisonError::into_inner) = scope;
    }
}

/// What a table of the extension is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A query, whose parameters are arguments.
    Query,
    /// A relation, or a view of a raw table.
    Relation,
    /// A list of what there is.
    List(Listed),
}

/// A table of the extension.
#[derive(Debug)]
pub(crate) struct Offer {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) asked: Arc<Asked>,
}

/// Adds the functions and tables. Nothing is read: each table is described and asked when a statement names it.
pub(crate) fn begin(host: &Connection) -> rusqlite::Result<()> {
    let failed = |error: Error| rusqlite::Error::ModuleError(error.to_string());
    let folders = nsq::catalog::Catalog::default_folders();
    let library = match folders.is_empty() {
        true => nsq::library(),
        false => nsq::library_with(&folders),
    };
    let library = library.map_err(failed)?;
    register_functions(host, library.catalog().classes())?;
    let asked = Arc::new(Asked {
        library: library.clone(),
        file: path_of(host),
        report: Mutex::default(),
        scope: Mutex::default(),
    });
    scope::register(host, &asked)?;
    let offer = |name: String, kind: Kind| {
        let offer = Arc::new(Offer { name, kind, asked: Arc::clone(&asked) });
        host.create_module(offer.name.clone().as_str(), MODULE, Some(offer))
    };
    for name in library.relations() {
        offer(name.to_owned(), Kind::Relation)?;
        offer(format!("{EVERYTHING}{name}"), Kind::Relation)?;
    }
    offer(SCOPE_RELATION.to_owned(), Kind::Relation)?;
    for name in library.queries() {
        offer(name.to_owned(), Kind::Query)?;
    }
    for list in [Listed::Tables, Listed::Columns] {
        offer(list.name().to_owned(), Kind::List(list))?;
    }
    Ok(())
}

/// Before the name of a relation: its rows without the scope.
pub(crate) const EVERYTHING: &str = "all_";
