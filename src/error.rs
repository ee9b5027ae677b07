//! What can go wrong, in words a user can act on.
//!
//! Every error says *what* failed and *where*; [`Error::help`] says *what to do*. The exit code is a
//! property of the error, so that scripts can tell a broken file (1) from a wrong command line (2)
//! and from a report that simply does not hold the data (3).
//!
//! Not for: deciding how an error is printed (the `cli` does that) or for panics.

use rusqlite::ErrorCode;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// The result of everything that can fail in this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Exit code of a run that failed: unreadable file, broken query, full disk.
pub const EXIT_FAILED: u8 = 1;
/// Exit code of a command line that cannot be carried out as written.
pub const EXIT_USAGE: u8 = 2;
/// Exit code of a question that the report holds no data for.
pub const EXIT_LACKS_DATA: u8 = 3;
/// Exit code after Ctrl-C.
pub const EXIT_INTERRUPTED: u8 = 130;

/// An error of one of the stages; the variants stand in the order of the flow.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file cannot be taken as a report.
    #[error("{}: {reason}", path.display())]
    Report {
        /// The path as the user gave it.
        path: PathBuf,
        /// Why not.
        reason: String,
        /// The remedy.
        help: String,
    },
    /// A `.nsys-rep` could not be turned into SQLite.
    #[error("{}: {reason}", path.display())]
    Export {
        /// The path as the user gave it.
        path: PathBuf,
        /// What went wrong, with the tool's own words where it said any.
        reason: String,
        /// The remedy.
        help: String,
    },
    /// A file of the SQL library is malformed.
    #[error("{file}:{line}: {reason}")]
    Catalog {
        /// File, as the user would open it.
        file: String,
        /// Line in that file, from 1.
        line: usize,
        /// What is wrong.
        reason: String,
        /// The remedy.
        help: String,
    },
    /// No such query, relation, parameter, format, …
    #[error("no {what} named `{name}`")]
    Unknown {
        /// What kind of thing was looked for.
        what: &'static str,
        /// The name that was looked for.
        name: String,
        /// The nearest names that exist.
        near: Vec<String>,
        /// How to list what exists.
        help: String,
    },
    /// The command line, or a parameter on it, makes no sense.
    #[error("{reason}")]
    Usage {
        /// What is wrong.
        reason: String,
        /// The remedy.
        help: String,
    },
    /// The report holds nothing that the query could answer from.
    #[error("{query} needs {needs}, and {} holds none\n{detail}", report.display())]
    LacksData {
        /// Name of the query.
        query: String,
        /// The kind of data, in words.
        needs: String,
        /// The report.
        report: PathBuf,
        /// Which tables are missing, one per line, indented by two.
        detail: String,
        /// The capture flag that records it.
        help: String,
    },
    /// SQLite refused a statement.
    #[error("{message}\n{excerpt}")]
    Sql {
        /// SQLite's message.
        message: String,
        /// `file:line:column`, the line and a caret under the fault.
        excerpt: String,
        /// The remedy; empty when there is none to offer.
        help: String,
    },
    /// A limit that the user set or accepted was reached.
    #[error("{reason}")]
    Limit {
        /// Which limit.
        reason: String,
        /// How to raise it.
        help: String,
    },
    /// Ctrl-C.
    #[error("interrupted")]
    Interrupted,
    /// A file could not be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The operating system's answer.
        source: io::Error,
    },
    /// Writing to standard output failed.
    #[error("cannot write the output: {0}")]
    Output(#[source] io::Error),
    /// SQLite failed outside a statement of the library or the user.
    #[error("SQLite: {0}")]
    Sqlite(#[from] rusqlite::Error),
}

impl Error {
    /// A command line that makes no sense, and what would.
    pub fn usage(reason: impl Into<String>, help: impl Into<String>) -> Self {
        Self::Usage { reason: reason.into(), help: help.into() }
    }

    /// A file of the SQL library that is malformed at `line`.
    pub fn catalog(
        file: impl Into<String>,
        line: usize,
        reason: impl Into<String>,
        help: impl Into<String>,
    ) -> Self {
        Self::Catalog { file: file.into(), line, reason: reason.into(), help: help.into() }
    }

    /// A failed read or write of `path`.
    pub fn io(path: &Path, source: io::Error) -> Self {
        Self::Io { path: path.to_owned(), source }
    }

    /// A name that does not exist, with the nearest of those that do.
    pub fn unknown<'a>(
        what: &'static str,
        name: &str,
        known: impl IntoIterator<Item = &'a str>,
        help: impl Into<String>,
    ) -> Self {
        Self::Unknown { what, name: name.to_owned(), near: nearest(name, known), help: help.into() }
    }

    /// The exit code of a process that ends with this error.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Unknown { .. } | Self::Usage { .. } => EXIT_USAGE,
            Self::LacksData { .. } => EXIT_LACKS_DATA,
            Self::Interrupted => EXIT_INTERRUPTED,
            Self::Output(source) if source.kind() == io::ErrorKind::BrokenPipe => 0,
            _ => EXIT_FAILED,
        }
    }

    /// SQLite found no room for what it writes.
    pub fn is_full_disk(&self) -> bool {
        matches!(self, Self::Sqlite(e) if e.sqlite_error_code() == Some(ErrorCode::DiskFull))
    }

    /// What to do about it; `None` where the message says it all.
    pub fn help(&self) -> Option<String> {
        let help = match self {
            Self::Report { help, .. }
            | Self::Export { help, .. }
            | Self::Catalog { help, .. }
            | Self::Usage { help, .. }
            | Self::LacksData { help, .. }
            | Self::Sql { help, .. }
            | Self::Limit { help, .. } => help.clone(),
            Self::Unknown { near, help, .. } if near.is_empty() => help.clone(),
            Self::Unknown { near, help, .. } => {
                format!("did you mean {}? {help}", Quoted(near))
            }
            Self::Io { source, .. } | Self::Output(source) => help_with(source.kind()).to_owned(),
            Self::Sqlite(e) => match e.sqlite_error_code() {
                Some(ErrorCode::DiskFull) => {
                    "it sorts in the folder for temporary files: make room there, or name another \
                     folder in SQLITE_TMPDIR"
                        .to_owned()
                }
                Some(ErrorCode::OutOfMemory) => MORE_MEMORY.to_owned(),
                _ => String::new(),
            },
            Self::Interrupted => String::new(),
        };
        (!help.is_empty()).then_some(help)
    }
}

/// What to do where memory does not suffice.
pub const MORE_MEMORY: &str = "look at less with --time, --device or --process, or allow it more memory";

/// What to do about an answer of the operating system's.
fn help_with(kind: io::ErrorKind) -> &'static str {
    use io::ErrorKind as Kind;
    match kind {
        Kind::StorageFull | Kind::QuotaExceeded => "make room there, or name another place",
        Kind::ReadOnlyFilesystem => "nothing can be written there: name another place",
        Kind::PermissionDenied => "see who may read and write there, or name another place",
        _ => "",
    }
}

/// `a`, `b` or `c`
struct Quoted<'a>(&'a [String]);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, name) in self.0.iter().enumerate() {
            let joint = match i {
                0 => "",
                _ if i + 1 == self.0.len() => " or ",
                _ => ", ",
            };
            write!(f, "{joint}`{name}`")?;
        }
        Ok(())
    }
}

/// Up to three of `known` that a typo could have turned into `name`, nearest first.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    // No typo is that long, and to compare it takes as long.
    if name.len() > 1000 {
        return Vec::new();
    }
    let name = name.to_lowercase();
    let mut scored: Vec<(usize, &str)> = known
        .into_iter()
        .filter_map(|candidate| {
            let lower = candidate.to_lowercase();
            let distance = edit_distance(&name, &lower);
            let close = distance <= 1 + name.chars().count() / 4;
            let contains = name.len() >= 4 && (lower.contains(&name) || name.contains(&lower));
            (close || contains).then_some((distance, candidate))
        })
        .collect();
    scored.sort();
    scored.dedup();
    scored.into_iter().take(3).map(|(_, candidate)| candidate.to_owned()).collect()
}

/// Levenshtein distance, in characters.
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let substitute = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = substitute.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typo_finds_its_name_and_nonsense_finds_nothing() {
        let known = ["top_kernels", "cuda_gpu_kern_sum", "nvtx_sum"];
        assert_eq!(nearest("top_kernel", known), ["top_kernels"]);
        assert_eq!(nearest("kern_sum", known), ["cuda_gpu_kern_sum"]);
        assert!(nearest("zzzzzz", known).is_empty());
    }

    #[test]
    fn edit_distance_counts_single_edits() {
        assert_eq!(edit_distance("kitten", "sitting"), 3);
        assert_eq!(edit_distance("", "abc"), 3);
        assert_eq!(edit_distance("same", "same"), 0);
    }
}
