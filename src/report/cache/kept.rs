//! What the cache keeps, and how it is asked.

use super::temporary::Temporaries;
use super::work_folder::WorkFolder;
use crate::cancel::Cancel;
use crate::report::notices::Listener;
use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

/// The kind of a derived database. Each kind has its own folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Derived {
    /// The SQLite export of a capture.
    Export,
    /// A PyTorch trace as SQLite.
    Trace,
}

impl Derived {
    pub(super) const ALL: [Self; 2] = [Self::Export, Self::Trace];

    pub(super) fn folder(self) -> &'static str {
        match self {
            Self::Export => "exports",
            Self::Trace => "traces",
        }
    }

    /// The kind as one word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Export => "export",
            Self::Trace => "trace",
        }
    }
}

/// How to use the cache.
#[derive(Debug, Clone, Default)]
pub struct CacheOptions {
    /// Do not use the cache: make a temporary database.
    pub off: bool,
    /// Make the database again, even if it is cached.
    pub again: bool,
    /// Compare every byte of the source, not only its size, time, head and tail.
    pub verify: bool,
    /// The temporary databases, if there are any.
    pub temporaries: Temporaries,
    /// Stops the making of a database from another thread.
    pub cancel: Cancel,
    /// Receives notes and progress.
    pub listener: Listener,
}

/// A derived database. It is not removed while this value lives.
#[derive(Debug)]
pub(crate) struct Kept {
    /// The database.
    pub(crate) path: PathBuf,
    pub(super) _hold: Hold,
}

#[derive(Debug)]
pub(super) enum Hold {
    /// A shared lock, so that no other run removes the entry.
    Entry { _file: File },
    /// A folder that is removed with its last user.
    Temporary { _folder: Arc<WorkFolder> },
}

/// Name of a database that is being made.
pub(super) const FRESH: &str = "report.sqlite";
/// Suffix of the folder in which a database is being made.
pub(super) const PART: &str = ".part";
