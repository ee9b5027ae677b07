//! The errors of this crate, in words that a user can act on.
//!
//! Every error says *what* failed and *where*; [`Error::help`] says *what to do*. The exit code belongs
//! to the error, so that scripts can distinguish a broken file (1), a wrong command line (2) and a
//! report without the data (3).
//!
//! The `cli` decides how an error is printed. Panics are not handled here.

use rusqlite::ErrorCode;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The result of everything that can fail in this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Exit code of a run that failed: unreadable file, broken query, full disk.
pub const EXIT_FAILED: u8 = 1;
/// Exit code of an invalid command line.
pub const EXIT_USAGE: u8 = 2;
/// Exit code of a question for which the report has no data.
pub const EXIT_LACKS_DATA: u8 = 3;
/// Exit code after Ctrl-C.
pub const EXIT_INTERRUPTED: u8 = 130;
/// A gate neither failed nor passed: too little could be compared.
pub const EXIT_INCONCLUSIVE: u8 = 4;
/// `nsq diff` could not read a report, or not compare it. Of a gate, 1 is a regression.
pub const EXIT_NOT_COMPARED: u8 = 5;

/// The reason of [`Error::Report`] for a file that does not exist.
pub const NO_FILE: &str = "no such file";

/// An error of one of the stages. The variants are in the order of the data flow.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file cannot be used as a report.
    #[error("{}: {reason}", path.display())]
    Report {
        /// The path as the user gave it.
        path: PathBuf,
        /// Why it cannot be used.
        reason: String,
        /// What to do.
        help: String,
    },
    /// A `.nsys-rep` could not be converted to SQLite.
    #[error("{}: {reason}", path.display())]
    Export {
        /// The path as the user gave it.
        path: PathBuf,
        /// What went wrong, with the messages of `nsys`.
        reason: String,
        /// What to do.
        help: String,
    },
    /// A report could not be converted, because a disk is full.
    #[error("{}: no space left for its export in {}", path.display(), folder.display())]
    NoSpace {
        /// The path as the user gave it.
        path: PathBuf,
        /// A folder on the disk.
        folder: PathBuf,
    },
    /// A file of the SQL library is malformed.
    #[error("{file}:{line}: {reason}")]
    Catalog {
        /// Path of the file, as the user would open it.
        file: String,
        /// Line in that file, from 1.
        line: usize,
        /// What is wrong.
        reason: String,
        /// What to do.
        help: String,
    },
    /// There is no query, relation, parameter, format, … of this name.
    #[error("unknown {what} '{name}'")]
    Unknown {
        /// The kind of thing, such as a query.
        what: &'static str,
        /// The unknown name.
        name: String,
        /// Similar names that exist.
        near: Vec<String>,
        /// How to list the known names.
        help: String,
    },
    /// The command line, or a parameter in it, is invalid.
    #[error("{reason}")]
    Usage {
        /// What is wrong.
        reason: String,
        /// What to do.
        help: String,
    },
    /// The report has no data for the query.
    #[error("{query} needs {needs}, but {} has none\n{detail}", report.display())]
    LacksData {
        /// Name of the query.
        query: String,
        /// The missing kind of data, in words.
        needs: String,
        /// The report.
        report: PathBuf,
        /// The missing tables, one per line, indented by two spaces.
        detail: String,
        /// The capture flag that records the data.
        help: String,
    },
    /// SQLite refused a statement.
    #[error("{message}\n{excerpt}")]
    Sql {
        /// SQLite's message.
        message: String,
        /// `file:line:column`, the line, and a caret under the error.
        excerpt: String,
        /// What to do, or empty.
        help: String,
    },
    /// A limit set by the user, or a default limit, was reached.
    #[error("{reason}")]
    Limit {
        /// Which limit it was.
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
        /// The error of the operating system.
        source: io::Error,
    },
    /// Writing to standard output failed.
    #[error("cannot write the output: {0}")]
    Output(#[source] io::Error),
    /// SQLite failed outside a statement from the library or the user.
    #[error("SQLite: {0}")]
    Sqlite(#[from] rusqlite::Error),
}

impl Error {
    /// An invalid command line, and how to correct it.
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

    /// Work took longer than the timeout `allowed`.
    pub fn timed_out(allowed: Duration) -> Self {
        Self::Limit {
            reason: format!("stopped: it ran longer than {} s", allowed.as_secs_f64()),
            help: "raise --timeout, or narrow the scope with --time, --device or --process".to_owned(),
        }
    }

    /// A failed read or write of `path`.
    pub fn io(path: &Path, source: io::Error) -> Self {
        Self::Io { path: path.to_owned(), source }
    }

    /// An unknown name. Suggests similar names from `known`.
    pub fn unknown<'a>(
        what: &'static str,
        name: &str,
        known: impl IntoIterator<Item = &'a str>,
        help: impl Into<String>,
    ) -> Self {
        Self::Unknown { what, name: name.to_owned(), near: nearest(name, known), help: help.into() }
    }

    /// The exit code of the program for this error.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Unknown { .. } | Self::Usage { .. } => EXIT_USAGE,
            Self::LacksData { .. } => EXIT_LACKS_DATA,
            Self::Interrupted => EXIT_INTERRUPTED,
            Self::Output(source) if source.kind() == io::ErrorKind::BrokenPipe => 0,
            _ => EXIT_FAILED,
        }
    }

    /// Whether the file does not exist that the error is about.
    pub fn is_missing_file(&self) -> bool {
        match self {
            Self::Report { reason, .. } => reason == NO_FILE,
            Self::Io { source, .. } => source.kind() == io::ErrorKind::NotFound,
            _ => false,
        }
    }

    /// Whether a disk is full.
    pub fn is_full_disk(&self) -> bool {
        match self {
            Self::NoSpace { .. } => true,
            Self::Sqlite(e) => e.sqlite_error_code() == Some(ErrorCode::DiskFull),
            Self::Io { source, .. } | Self::Output(source) => {
                matches!(source.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
            }
            _ => false,
        }
    }

    /// What to do about the error; `None` if there is nothing to add to the message.
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
                format!("{} {help}", did_you_mean(near))
            }
            Self::Io { path, source } if source.kind() == io::ErrorKind::NotFound => help_to_find(path),
            Self::Io { source, .. } | Self::Output(source) => help_with(source.kind()).to_owned(),
            Self::Sqlite(e) => match e.sqlite_error_code() {
                Some(ErrorCode::DiskFull) => {
                    "SQLite sorts in the temporary folder: free space there, or set SQLITE_TMPDIR to \
                     another folder"
                        .to_owned()
                }
                Some(ErrorCode::OutOfMemory) => MORE_MEMORY.to_owned(),
                _ => String::new(),
            },
            Self::NoSpace { .. } => {
                "free space there, or choose a folder on another disk: set NSQ_CACHE, or TMPDIR with --no-cache"
                    .to_owned()
            }
            Self::Interrupted => String::new(),
        };
        (!help.is_empty()).then_some(help)
    }
}

/// Help for errors about memory.
pub const MORE_MEMORY: &str =
    "narrow the question with --time, --device or --process, or allow more memory";

/// What to do about an error of the operating system.
fn help_with(kind: io::ErrorKind) -> &'static str {
    use io::ErrorKind as Kind;
    match kind {
        Kind::StorageFull | Kind::QuotaExceeded => "free space there, or use another path",
        Kind::ReadOnlyFilesystem => "the file system is read-only: use another path",
        Kind::NotADirectory => {
            "a part of the path before the last is a file: give a path through folders"
        }
        Kind::IsADirectory => "give the path of a file",
        Kind::PermissionDenied => "check the permissions there, or use another path",
        _ => "",
    }
}

/// What to do if nothing is at `path`: the file is missing, or the folder that it is in, or is to be written to.
fn help_to_find(path: &Path) -> String {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    match folder {
        Some(folder) if !folder.exists() => {
            format!("the folder {} does not exist: make it, or give another path", folder.display())
        }
        _ => "check the path: it counts from the working folder".to_owned(),
    }
}

/// The question `did you mean 'a', 'b' or 'c'?`
pub fn did_you_mean(names: &[String]) -> String {
    format!("did you mean {}?", Quoted(names))
}

/// Names as a list: 'a', 'b' or 'c'.
struct Quoted<'a>(&'a [String]);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, name) in self.0.iter().enumerate() {
            let joint = match i {
                0 => "",
                _ if i + 1 == self.0.len() => " or ",
                _ => ", ",
            };
            write!(f, "{joint}'{name}'")?;
        }
        Ok(())
    }
}

/// Up to three names in `known` that are similar to `name`: first those that begin with it, then those
/// that contain it, then those spelled alike.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    // Such a long name is not a typo, and comparing it is slow.
    if name.len() > 1000 {
        return Vec::new();
    }
    let name = name.to_lowercase();
    let is_long = |text: &str| text.chars().count() >= 3;
    let mut scored: Vec<(usize, usize, &str)> = known
        .into_iter()
        .filter_map(|candidate| {
            let lower = candidate.to_lowercase();
            let distance = edit_distance(&name, &lower);
            let rank = if is_long(&name) && lower.starts_with(&name) {
                0
            } else if is_long(&name) && lower.contains(&name) || words_of(&name) == words_of(&lower) {
                1
            } else if distance <= 1 + name.chars().count() / 4 {
                2
            } else if is_long(&lower) && name.contains(&lower) {
                3
            } else {
                return None;
            };
            Some((rank, distance, candidate))
        })
        .collect();
    scored.sort();
    scored.dedup();
    scored.into_iter().take(3).map(|(.., candidate)| candidate.to_owned()).collect()
}

/// The words of a name without their order: `kernels_top` means `top_kernels`.
fn words_of(name: &str) -> Vec<&str> {
    let mut words: Vec<&str> = name.split(['_', '-']).map(|word| word.trim_end_matches('s')).collect();
    words.sort_unstable();
    words
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
    fn a_typo_finds_similar_names_and_nonsense_finds_none() {
        let known = ["top_kernels", "cuda_gpu_kern_sum", "nvtx_sum"];
        assert_eq!(nearest("top_kernel", known), ["top_kernels"]);
        assert_eq!(nearest("kern_sum", known), ["cuda_gpu_kern_sum"]);
        assert_eq!(nearest("kernel_top", known), ["top_kernels"]);
        assert_eq!(nearest("top_kernels_all", known), ["top_kernels"]);
        assert!(nearest("zzzzzz", known).is_empty());
    }

    #[test]
    fn names_with_the_typed_text_come_before_names_spelled_alike() {
        let known = ["nvtx_sum", "osrt_sum", "sun", "summary", "sum_by_class", "um_sum"];
        assert_eq!(nearest("sum", known), ["summary", "sum_by_class", "um_sum"]);
        // Two letters are part of too many names.
        assert_eq!(nearest("su", known), ["sun"]);
    }

    #[test]
    fn edit_distance_counts_single_edits() {
        assert_eq!(edit_distance("kitten", "sitting"), 3);
        assert_eq!(edit_distance("", "abc"), 3);
        assert_eq!(edit_distance("same", "same"), 0);
    }
}
