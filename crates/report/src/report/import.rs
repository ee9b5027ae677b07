//! PyTorch trace, or database of AMD's profilers → SQLite, made once and cached.

use super::ExportOptions;
use super::cache::{Cache, CachedFile, Derived, Key};
use super::notices::{Listener, Notice};
use crate::onto;
use crate::rocm;
use crate::trace::{self, ImportOptions, Imported, Progress};
use nsq_value::cancel::Cancel;
use nsq_value::error::{Error, Result};
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// The database for `trace`, from the cache or imported now.
pub(super) fn import_once(trace: &Path, options: &ExportOptions) -> Result<CachedFile> {
    let listener = options.cache.listener;
    Cache::new(&options.cache).derive(trace, Derived::Trace, trace::RECIPE, |fresh| {
        let imported = import(trace, fresh, ImportOptions::default(), (listener, &options.cache.cancel))
            .map_err(|error| without_fresh(error, trace, fresh))?;
        if imported.is_odd() {
            listener.note(&format!("{}: {imported}", trace.display()));
        }
        Ok(())
    })
}

/// The export for a database of AMD's profilers, from the cache or converted now.
pub(super) fn convert_once(
    source: &Path,
    kind: rocm::Kind,
    options: &ExportOptions,
) -> Result<CachedFile> {
    Cache::new(&options.cache).derive(source, Derived::Trace, rocm::RECIPE, |fresh| {
        rocm::import(source, fresh, kind, &options.cache.cancel)
            .map_err(|error| without_fresh(error, source, fresh))
    })
}

/// The report at `path`, whose export is `export`, with what `trace` knows of its operations: from the cache or joined
/// now.
pub(super) fn join_once(
    (path, export): (&Path, &Path),
    trace: &Path,
    options: &ExportOptions,
) -> Result<CachedFile> {
    let cache = &options.cache;
    let added = Key::of(trace, Derived::Trace, trace::RECIPE)?;
    // Another export of the same report has another name in the cache.
    let name = export.file_name().unwrap_or_default().to_string_lossy();
    let recipe = format!("{} {} {added} {name}", onto::RECIPE, trace::RECIPE);
    Cache::new(cache).derive(path, Derived::Trace, &recipe, |fresh| {
        let shown = (cache.listener, &cache.cancel);
        onto::join(export, trace, fresh, ImportOptions::default(), shown)
            .map_err(|error| without_fresh(error, path, fresh))?;
        added.check_unchanged(trace)
    })
}

/// An error that names the folder of the new database, and not its random name in there: reports that fail for
/// the same cause say the same.
fn without_fresh(error: Error, trace: &Path, fresh: &Path) -> Error {
    let folder = fresh.ancestors().nth(2).unwrap_or(fresh).to_owned();
    match error {
        full if full.is_full_disk() => Error::NoSpace { path: trace.to_owned(), folder },
        Error::Report { path, reason, help } if path == fresh => {
            let reason = reason.replace(&format!(": {}", fresh.display()), "");
            Error::Report { path: folder, reason, help }
        }
        error => error,
    }
}

/// Imports `trace` into a new database and reports progress to `listener`.
pub fn import(
    trace: &Path,
    database: &Path,
    options: ImportOptions,
    (listener, cancel): (Listener, &Cancel),
) -> Result<Imported> {
    // Short imports show no progress.
    const PAUSE: Duration = Duration::from_millis(250);
    let name = trace.file_name().unwrap_or(trace.as_os_str()).to_string_lossy();
    let step = format!("importing {name}");
    let shown = Mutex::new(Instant::now());
    let imported = trace::import(trace, database, options, &|Progress { read, total }| {
        if let Ok(mut shown) = shown.lock()
            && shown.elapsed() >= PAUSE
        {
            *shown = Instant::now();
            listener.notify(Notice::Progress { step: &step, done: read, total: Some(total) });
        }
        !cancel.is_cancelled()
    });
    listener.notify(Notice::Done);
    imported
}
