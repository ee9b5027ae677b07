//! What the cache keeps.

use nsq_files::whole_file::WorkFolder;
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

/// A derived database. It is not removed while this value lives.
#[derive(Debug)]
pub(crate) struct CachedFile {
    /// The database.
    pub path: PathBuf,
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
