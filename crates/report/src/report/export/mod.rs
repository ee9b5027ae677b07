//! `.nsys-rep` → SQLite, with the user's own `nsys`, made once and cached.
//!
//! This module finds an `nsys` that can read the report, runs it in a private folder so that a partial
//! export is never used, and passes on its messages if it fails.
//!
//! The cache decides where exports are kept.

mod beside;
mod child;
mod launch;
mod nsys;
mod options;

pub use launch::run_as_launcher;
pub use options::ExportOptions;

use super::cache::{Cache, CachedFile, Derived};
use super::{Notice, check_database, check_pages};
use nsq_files::whole_file::private_folder;
use nsq_value::error::{Error, Result};
use nsq_value::shell;
use nsys::{Nsys, Version};
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

/// Version of the export. Exports of other versions are other entries in the cache.
const RECIPE: &str = "nsys export 1";

/// An export of a capture.
pub(super) enum Export {
    /// Made by nsq, now or earlier.
    CachedFile(CachedFile),
    /// Found next to the capture, and proved to be a complete export of it.
    Beside(PathBuf),
}

/// The SQLite export of `capture`: found next to it, cached, or made now.
pub(super) fn export_once(capture: &Path, options: &ExportOptions) -> Result<Export> {
    let must_be_own = options.cache.again || options.cache.verify;
    if !must_be_own && let Some(path) = beside::export_of(capture, &options.cache.cancel) {
        return Ok(Export::Beside(path));
    }
    let make = |fresh: &Path| export(capture, options, fresh);
    Cache::new(&options.cache).derive(capture, Derived::Export, RECIPE, make).map(Export::CachedFile)
}

/// Writes the SQLite export of `capture` to `target`: from the cache, or made now without caching it.
pub(super) fn export_to(capture: &Path, target: &Path, options: &ExportOptions) -> Result<()> {
    let failed = |e| Error::io(target, e);
    let found = Cache::new(&options.cache).find(capture, Derived::Export, RECIPE)?;
    if let Some(kept) = found {
        // Write into the existing file, to keep its permissions: those of cached files are stricter.
        let mut from = std::fs::File::open(&kept.path).map_err(|e| Error::io(&kept.path, e))?;
        let mut to =
            std::fs::OpenOptions::new().write(true).truncate(true).open(target).map_err(failed)?;
        std::io::copy(&mut from, &mut to).map_err(failed)?;
        return Ok(());
    }
    // In the target's folder, for the rename, but in a private one, since nsys may leave side files.
    let folder = target.parent().unwrap_or(Path::new("."));
    let work = private_folder(".nsq-", "", folder)?;
    let fresh = work.path().join("export.sqlite");
    export(capture, options, &fresh)?;
    let permissions = target.metadata().map_err(failed)?.permissions();
    std::fs::set_permissions(&fresh, permissions).map_err(failed)?;
    std::fs::rename(&fresh, target).map_err(failed)
}

/// Exports `capture` to `fresh` with the first `nsys` that can read it.
fn export(capture: &Path, options: &ExportOptions, fresh: &Path) -> Result<()> {
    let candidates = nsys::candidates(options);
    let captured_by = nsys::captured_by(capture);
    if candidates.is_empty() {
        return Err(refusal(
            capture,
            "is a capture, but no `nsys` was found to export it".to_owned(),
            format!(
                "install Nsight Systems{}, or give --nsys PATH; or export it on another machine with \
                 `nsys export --type sqlite -o {} {}` and give the result",
                captured_by.as_ref().map(|v| format!(" {v} or newer")).unwrap_or_default(),
                shell::path(&capture.with_extension("sqlite")),
                shell::path(capture)
            ),
        ));
    }
    let mut refusals = Vec::new();
    for nsys in candidates {
        match export_by(&nsys, capture, options, fresh)? {
            Outcome::Written => return Ok(()),
            Outcome::Refused(refused) => {
                let version = nsys.version();
                let is_older = matches!((&version, &captured_by), (Some(v), Some(c)) if v < c);
                let may_be_too_old = is_older || refused.asks_for_an_update();
                refusals.push(Refusal { nsys, version, may_be_too_old, refused });
                if !may_be_too_old {
                    break;
                }
            }
        }
    }
    // An `nsys` that is new enough failed because of the file: prefer its error, then the newest one's.
    let most_relevant = refusals
        .into_iter()
        .max_by(|a, b| (!a.may_be_too_old, &a.version).cmp(&(!b.may_be_too_old, &b.version)));
    match most_relevant {
        Some(refusal) => Err(refusal.explain(capture, captured_by.as_ref())),
        None => Err(refusal(capture, "was not exported".to_owned(), String::new())),
    }
}

/// Result of one export attempt.
enum Outcome {
    Written,
    Refused(Refused),
}

/// Why an export failed.
enum Refused {
    /// `nsys` could not be started.
    Start(std::io::Error),
    /// `nsys` failed, with these messages.
    Status(ExitStatus, String),
    /// `nsys` succeeded, but its output is not a complete database. The reason follows "its output".
    Broken(String),
}

impl Refused {
    fn asks_for_an_update(&self) -> bool {
        matches!(self, Self::Status(_, messages) if messages.to_lowercase().contains("please update"))
            || matches!(self, Self::Start(_))
    }
}

struct Refusal {
    nsys: Nsys,
    version: Option<Version>,
    may_be_too_old: bool,
    refused: Refused,
}

impl Refusal {
    fn explain(self, capture: &Path, captured_by: Option<&Version>) -> Error {
        let name = match &self.version {
            Some(version) => format!("{} ({version})", self.nsys.path.display()),
            None => self.nsys.path.display().to_string(),
        };
        let help = match (&self.refused, captured_by) {
            (Refused::Start(_), _) => "give the path of a working `nsys` with --nsys".to_owned(),
            (_, Some(needed)) if self.may_be_too_old => format!(
                "it was captured by nsys {needed}: install that version or a newer one, or give its \
                 path with --nsys"
            ),
            _ if self.may_be_too_old => {
                "a report needs an `nsys` at least as new as the one that captured it".to_owned()
            }
            (Refused::Status(..), _) => {
                "the file may be damaged or cut short: copy or capture it again".to_owned()
            }
            (Refused::Broken(_), _) => {
                "run it again; if that fails too, export the report with another `nsys`".to_owned()
            }
        };
        let reason = match self.refused {
            Refused::Start(e) => format!("cannot start {name}: {e}"),
            Refused::Status(status, messages) if messages.is_empty() => {
                format!("{name} could not export it ({status}) and printed no reason")
            }
            Refused::Status(status, messages) => {
                format!("{name} could not export it ({status}): {messages}")
            }
            Refused::Broken(reason) => format!("{name} reported success, but its output {reason}"),
        };
        refusal(capture, reason, help)
    }
}

fn refusal(capture: &Path, reason: String, help: String) -> Error {
    Error::Export { path: capture.to_owned(), reason, help }
}

/// Runs one `nsys` and checks its output.
fn export_by(nsys: &Nsys, capture: &Path, options: &ExportOptions, fresh: &Path) -> Result<Outcome> {
    let (listener, cancel) = (options.cache.listener, &options.cache.cancel);
    let name = capture.file_name().unwrap_or(capture.as_os_str()).to_string_lossy();
    let step = format!("exporting {name}");
    // Show the file's size: nsys buffers its own progress output, so that comes too late.
    let progress = || {
        let written = fresh.metadata().map_or(0, |metadata| metadata.len());
        listener.notify(Notice::Progress { step: &step, done: written, total: None });
    };
    let mut command = nsys.command();
    command
        .args(["export", "--quiet", "true", "--type", "sqlite", "--force-overwrite", "true", "--output"])
        .arg(fresh)
        // Absolute, so that a name with a leading dash is not taken for an option.
        .arg(std::path::absolute(capture).map_err(|e| Error::io(capture, e))?);
    let ended = child::run(command, None, cancel, &progress);
    listener.notify(Notice::Done);
    let ended = match ended? {
        Ok(ended) => ended,
        Err(e) => return Ok(Outcome::Refused(Refused::Start(e))),
    };
    #[cfg(unix)]
    if std::os::unix::process::ExitStatusExt::signal(&ended.status) == Some(2)
        || ended.status.code() == Some(130)
    {
        return Err(Error::Interrupted);
    }
    if let Some(reason) = launch::not_started(ended.status.code(), &ended.messages()) {
        return Ok(Outcome::Refused(Refused::Start(std::io::Error::other(reason))));
    }
    // nsys may report success on a full disk, so check every page of its output.
    let checked = match ended.status.success() {
        true => check_database(fresh, cancel).and_then(|()| check_pages(fresh, cancel)),
        false => Ok(()),
    };
    cancel.check()?;
    let refused = match checked {
        Ok(()) if ended.status.success() => return Ok(Outcome::Written),
        _ if ended.messages().contains("disk is full") || is_full(fresh) => {
            let folder = fresh.ancestors().nth(2).unwrap_or(fresh).to_owned();
            return Err(Error::NoSpace { path: capture.to_owned(), folder });
        }
        Ok(()) => Refused::Status(ended.status, ended.messages()),
        Err(reason) => Refused::Broken(reason),
    };
    // The next `nsys` must start without this file.
    if let Err(e) = std::fs::remove_file(fresh)
        && e.kind() != std::io::ErrorKind::NotFound
    {
        return Err(Error::io(fresh, e));
    }
    Ok(Outcome::Refused(refused))
}

/// A disk with less free space than this, in bytes, counts as full.
const ROOM: usize = 1 << 20;

/// Whether the disk of a file is full.
fn is_full(fresh: &Path) -> bool {
    let probe = fresh.with_extension("probe");
    let written = std::fs::write(&probe, vec![1; ROOM]);
    let _ = std::fs::remove_file(&probe);
    let kind = written.err().map(|e| e.kind());
    matches!(kind, Some(std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded))
}
