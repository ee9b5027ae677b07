//! Path → [`Report`]: a SQLite export of Nsight Systems, opened read-only.
//!
//! This module detects the file type, explains why a file cannot be used, and opens it so that nothing
//! is ever written to it or next to it. It exports a `.nsys-rep` first, with the user's own `nsys`, and
//! imports a PyTorch trace first.
//!
//! It does not read rows for an analysis, and does not know what tables mean.

mod cache;
mod database;
mod export;
mod foreign;
mod import;
mod kind;
mod notices;
mod paths;
mod profiles;

pub use cache::{
    CacheEntry, CacheOptions, Cleared, Derived, Temporaries, cache_entries, cache_folder, clear_cache,
};
pub use database::{LONGEST, STEPS, path_of, plain_message, reopen};
pub(crate) use database::{distrust, percent_encode};
pub use export::{ExportOptions, run_as_launcher};
pub(crate) use foreign::{FLIGHT_RECORDER, MEMORY_SNAPSHOT};
pub use import::import;
pub use notices::{Listener, Notice};
pub use paths::{looks_like_path, report_paths, similar_names, sort_by_numbers};
pub use profiles::{Found, Profile, find};

use crate::rocm;
use crate::trace::file_of;
use database::{check_database, check_pages, open_read_only, open_resolved};
use export::Export;
use kind::Kind;
use nsq_value::cancel::Cancel;
use nsq_value::error::{Error, Result};
use rusqlite::Connection;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Whether a file is an export that needs no conversion. Fails if it is no report at all.
pub fn is_database(path: &Path) -> Result<bool> {
    Ok(matches!(Kind::of(path)?, Kind::Sqlite))
}

/// An open report. Any number of sessions, in any number of threads, may ask it.
#[derive(Debug)]
pub struct Report {
    /// The path as the user gave it.
    pub path: PathBuf,
    /// That path, absolute and without links.
    pub file: PathBuf,
    /// The SQLite file that is read: the same file, or an export of it. Absolute, without links, so that
    /// every connection reads the file that was opened first, whatever a link says later.
    pub database: PathBuf,
    /// The trace whose operators were added, if one was.
    pub with: Option<PathBuf>,
    /// The connection that opening it left behind, until a session takes it.
    spare: Mutex<Option<Connection>>,
    /// Stops what happens before a session begins.
    cancel: Cancel,
    /// Keeps the database from being removed while it is used.
    _kept: Option<cache::CachedFile>,
}

impl Report {
    /// Opens a SQLite export, a `.nsys-rep`, a PyTorch trace, or a database of AMD's profilers. All but the first
    /// are converted first. To an export of nsys, a trace can be added.
    pub fn open(path: &Path, options: &ExportOptions) -> Result<Self> {
        let kind = Kind::of(path)?;
        let (file, member) = file_of(path);
        let mut file = file.canonicalize().map_err(|e| Error::io(path, e))?;
        file.extend(member);
        // Resolved once: a database that becomes a link after this is refused, not followed.
        let connect = |database: &Path| open_resolved(path, database, &options.cache.cancel);
        let convert = |kept: cache::CachedFile| -> Result<_> {
            let database = kept.path.canonicalize().map_err(|e| Error::io(path, e))?;
            Ok((connect(&database)?, database, Some(kept)))
        };
        let (connection, database, kept) = match kind {
            Kind::Sqlite => {
                let connection = connect(&file)?;
                match rocm::kind_of(&connection) {
                    None => (connection, file.clone(), None),
                    Some(kind) => convert(import::convert_once(path, kind, options)?)?,
                }
            }
            Kind::NsysRep => match export::export_once(path, options)? {
                Export::CachedFile(kept) => convert(kept)?,
                Export::Beside(database) => {
                    let database = database.canonicalize().map_err(|e| Error::io(path, e))?;
                    (connect(&database)?, database, None)
                }
            },
            Kind::Trace => convert(import::import_once(path, options)?)?,
        };
        let (connection, database, kept) = match &options.with {
            None => (connection, database, kept),
            Some(trace) => {
                if matches!(kind, Kind::Trace) || rocm::kind_of(&connection).is_some() {
                    return Err(Error::usage(
                        format!(
                            "--with adds a trace to a report of nsys, but {} is not a report of nsys",
                            path.display()
                        ),
                        "give the export of nsys first: nsq EXPORT.sqlite --with TRACE",
                    ));
                }
                convert(import::join_once((path, &database), trace, options)?)?
            }
        };
        let (spare, cancel) = (Mutex::new(Some(connection)), options.cache.cancel.clone());
        let with = options.with.clone();
        Ok(Self { path: path.to_owned(), file, database, with, spare, cancel, _kept: kept })
    }

    /// A read-only connection of its own, for one session: TEMP objects may be made on it. The file is
    /// never written.
    pub fn connect(&self) -> Result<Connection> {
        match self.spare.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(connection) => Ok(connection),
            None => open_resolved(&self.path, &self.database, &self.cancel),
        }
    }

    /// Gives back a connection on which nothing was made, for the next session.
    pub fn spare(&self, connection: Connection) {
        *self.spare.lock().unwrap_or_else(PoisonError::into_inner) = Some(connection);
    }

    /// The words by which a command line names this report.
    pub fn words(&self) -> Vec<String> {
        let with = self.with.iter().flat_map(|trace| ["--with".to_owned(), trace.display().to_string()]);
        std::iter::once(self.path.display().to_string()).chain(with).collect()
    }

    /// The name of this report in output: its file name.
    pub fn name(&self) -> String {
        self.path.file_name().unwrap_or(self.path.as_os_str()).to_string_lossy().into_owned()
    }
}

/// Copies the SQLite export `path` to the empty file `target`.
pub(crate) fn copy_database(path: &Path, target: &Path, cancel: &Cancel) -> Result<()> {
    if !is_database(path)? {
        return Err(Error::usage(
            format!("{} is not a SQLite export", path.display()),
            "export it first: nsq export REPORT -o FILE.sqlite",
        ));
    }
    let connection = open_read_only(path, cancel)?;
    let target = target.to_string_lossy();
    connection.execute("VACUUM INTO ?1", [target.as_ref()]).map_err(|error| {
        match cancel.is_cancelled() {
            true => Error::Interrupted,
            false => Error::from(error),
        }
    })?;
    Ok(())
}

/// Exports a `.nsys-rep` to `target` as SQLite, and replaces the file there.
pub fn export_to(path: &Path, target: &Path, options: &ExportOptions) -> Result<()> {
    match Kind::of(path)? {
        Kind::Sqlite => Err(Error::usage(
            format!("{} is already SQLite", path.display()),
            "use it as it is, or write its normalised tables with `nsq materialize`",
        )),
        Kind::NsysRep => export::export_to(path, target, options),
        Kind::Trace => Err(Error::usage(
            format!("{} is a PyTorch trace, which nsys cannot export", path.display()),
            "convert it to SQLite with `nsq import`",
        )),
    }
}
