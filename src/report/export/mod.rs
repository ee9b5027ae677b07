//! `.nsys-rep` → SQLite, by the user's own `nsys`, once.
//!
//! For: finding an `nsys` that can read the report, running it where nobody takes half of what it
//! writes for the whole, and passing on what it says when it refuses.
//!
//! Not for: where exports are kept; that is the cache's.

mod beside;
mod child;
mod launch;
mod nsys;

pub use launch::run_as_launcher;

use super::cache::{Cache, CacheOptions, Derived, Kept, private_folder};
use super::{Notice, check_database, check_pages};
use crate::error::{Error, Result};
use crate::interrupt;
use nsys::{Nsys, Version};
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

/// How a report that is not SQLite becomes SQLite.
#[derive(Debug, Clone, Default)]
pub struct ExportOptions {
    /// The `nsys` to use; `None`: `$NSQ_NSYS`, then the one on `PATH`, then those that are installed.
    pub nsys: Option<PathBuf>,
    /// The program that calls [`run_as_launcher`], by which an `nsys` is started so that it ends with
    /// this process even when that is killed; `None`: it may outlive it then.
    pub launcher: Option<PathBuf>,
    /// How the export is kept.
    pub cache: CacheOptions,
}

/// The way an export is made: one made another way is another entry in the cache.
const RECIPE: &str = "nsys export 1";

/// An export of a capture, and where it is.
pub(super) enum Export {
    /// It was made by nsq, now or before.
    Kept(Kept),
    /// It stands beside the capture, and is the whole export of that very capture.
    Beside(PathBuf),
}

/// The SQLite export of `capture`: the one beside it, the one in the cache, or one made now.
pub(super) fn export_once(capture: &Path, options: &ExportOptions) -> Result<Export> {
    let by_every_byte = options.cache.again || options.cache.verify;
    if !by_every_byte && let Some(path) = beside::export_of(capture) {
        return Ok(Export::Beside(path));
    }
    let make = |fresh: &Path| export(capture, options, fresh);
    Cache::new(&options.cache).derive(capture, Derived::Export, RECIPE, make).map(Export::Kept)
}

/// Writes the SQLite export of `capture` to `target`: from the cache, or made now and kept nowhere else.
pub(super) fn export_to(capture: &Path, target: &Path, options: &ExportOptions) -> Result<()> {
    let failed = |e| Error::io(target, e);
    let found = Cache::new(&options.cache).find(capture, Derived::Export, RECIPE)?;
    if let Some(kept) = found {
        // Into the file that is there, whose permissions are those of a result.
        let mut from = std::fs::File::open(&kept.path).map_err(|e| Error::io(&kept.path, e))?;
        let mut to =
            std::fs::OpenOptions::new().write(true).truncate(true).open(target).map_err(failed)?;
        std::io::copy(&mut from, &mut to).map_err(failed)?;
        return Ok(());
    }
    // In the same folder, so that it can be renamed; of its own, since nsys may leave side files.
    let folder = target.parent().unwrap_or(Path::new("."));
    let work = private_folder(".nsq-", "", folder)?;
    let fresh = work.path().join("export.sqlite");
    export(capture, options, &fresh)?;
    let permissions = target.metadata().map_err(failed)?.permissions();
    std::fs::set_permissions(&fresh, permissions).map_err(failed)?;
    std::fs::rename(&fresh, target).map_err(failed)
}

/// Lets the first `nsys` that can read it export `capture` to `fresh`.
fn export(capture: &Path, options: &ExportOptions, fresh: &Path) -> Result<()> {
    let candidates = nsys::candidates(options);
    let captured_by = nsys::captured_by(capture);
    if candidates.is_empty() {
        return Err(refusal(
            capture,
            "is a capture, and there is no `nsys` here to export it".to_owned(),
            format!(
                "install Nsight Systems{} or give --nsys PATH; or export it elsewhere with \
                 `nsys export --type sqlite -o {} {}` and give the result",
                captured_by.as_ref().map(|v| format!(" {v} or newer")).unwrap_or_default(),
                capture.with_extension("sqlite").display(),
                capture.display()
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
    // One that is new enough found fault with the file itself; else the newest one tells most.
    let telling = refusals
        .into_iter()
        .max_by(|a, b| (!a.may_be_too_old, &a.version).cmp(&(!b.may_be_too_old, &b.version)));
    match telling {
        Some(refusal) => Err(refusal.explain(capture, captured_by.as_ref())),
        None => Err(refusal(capture, "was not exported".to_owned(), String::new())),
    }
}

/// How an export ended.
enum Outcome {
    Written,
    Refused(Refused),
}

/// Why there is no export.
enum Refused {
    /// It could not be started.
    Start(std::io::Error),
    /// It said no.
    Status(ExitStatus, String),
    /// It said yes, and what it wrote is no whole database.
    Broken(String),
    /// There is no room for what it writes, in this folder.
    Full(PathBuf),
}

impl Refused {
    fn asks_for_an_update(&self) -> bool {
        matches!(self, Self::Status(_, said) if said.to_lowercase().contains("please update"))
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
            (Refused::Start(_), _) => "give the path of a working `nsys` by --nsys".to_owned(),
            (Refused::Full(..), _) => {
                "make room there, or name a folder with room: in NSQ_CACHE for the cache, in TMPDIR for \
                 --no-cache"
                    .to_owned()
            }
            (_, Some(needed)) if self.may_be_too_old => format!(
                "it was captured by nsys {needed}: install that version or a newer one, or give its \
                 path by --nsys"
            ),
            _ if self.may_be_too_old => {
                "a report needs an `nsys` at least as new as the one that captured it".to_owned()
            }
            (Refused::Status(..), _) => {
                "the file may be damaged or cut short: copy or capture it again".to_owned()
            }
            (Refused::Broken(_), _) => {
                "run it again; if it stays so, export the report with another `nsys`".to_owned()
            }
        };
        let reason = match self.refused {
            Refused::Start(e) => format!("cannot start {name}: {e}"),
            Refused::Status(status, said) if said.is_empty() => {
                format!("{name} could not export it ({status}), and says nothing about it")
            }
            Refused::Status(status, said) => format!("{name} could not export it ({status}): {said}"),
            Refused::Full(folder) => format!("there is no room for its export in {}", folder.display()),
            Refused::Broken(reason) => {
                format!("{name} says that it exported it, but what it wrote {reason}")
            }
        };
        refusal(capture, reason, help)
    }
}

fn refusal(capture: &Path, reason: String, help: String) -> Error {
    Error::Export { path: capture.to_owned(), reason, help }
}

/// Runs one `nsys`, and looks at what it wrote.
fn export_by(nsys: &Nsys, capture: &Path, options: &ExportOptions, fresh: &Path) -> Result<Outcome> {
    let listener = options.cache.listener;
    let name = capture.file_name().unwrap_or(capture.as_os_str()).to_string_lossy();
    // Its own progress comes too late: what it prints stays with it until it is much.
    let progress = || {
        let written = fresh.metadata().map_or(0, |metadata| metadata.len());
        listener.notify(Notice::Progress(&format!("exporting {name}: {} MB written", written / 1_000_000)));
    };
    let mut command = nsys.command();
    command
        .args(["export", "--quiet", "true", "--type", "sqlite", "--force-overwrite", "true", "--output"])
        .arg(fresh)
        // Absolute: a name that begins with a dash is no option.
        .arg(std::path::absolute(capture).map_err(|e| Error::io(capture, e))?);
    let ended = child::run(command, None, &progress);
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
    if let Some(reason) = launch::not_started(ended.status.code(), &ended.said()) {
        return Ok(Outcome::Refused(Refused::Start(std::io::Error::other(reason))));
    }
    // nsys may end well on a full disk: what it wrote must speak for itself, page by page.
    let checked = match ended.status.success() {
        true => check_database(fresh).and_then(|()| check_pages(fresh)),
        false => Ok(()),
    };
    interrupt::check()?;
    let refused = match checked {
        Ok(()) if ended.status.success() => return Ok(Outcome::Written),
        _ if ended.said().contains("disk is full") || is_full(fresh) => {
            Refused::Full(fresh.ancestors().nth(2).unwrap_or(fresh).to_owned())
        }
        Ok(()) => Refused::Status(ended.status, ended.said()),
        Err(reason) => Refused::Broken(reason),
    };
    // The next one begins with nothing.
    if let Err(e) = std::fs::remove_file(fresh)
        && e.kind() != std::io::ErrorKind::NotFound
    {
        return Err(Error::io(fresh, e));
    }
    Ok(Outcome::Refused(refused))
}

/// Bytes for which there must be room beside a file, else its disk counts as full.
const ROOM: usize = 1 << 20;

/// There is no room beside a file.
fn is_full(fresh: &Path) -> bool {
    let probe = fresh.with_extension("probe");
    let written = std::fs::write(&probe, vec![1; ROOM]);
    let _ = std::fs::remove_file(&probe);
    let kind = written.err().map(|e| e.kind());
    matches!(kind, Some(std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded))
}
