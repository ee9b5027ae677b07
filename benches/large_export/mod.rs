//! A deterministic generator of large exports.
//!
//! The capture resembles a training run of four processes that reuse correlation ids. Each process has a
//! main, an autograd and a loader thread; the module `training` describes their steps. With a million
//! kernels, the export has about 1.15 million API calls, 1.55 million NVTX rows and 230 MB. Other sizes
//! are proportional.

mod process;
mod strings;
mod tables;
mod training;

use rusqlite::Connection;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The schema of the export.
const SCHEMA: &str = include_str!("../../fixtures/schema/3.25.0.sql");

/// The path of an export with `kernels` kernels under `target/`, which is created if it is missing.
///
/// The file name contains a version. Increase it whenever the content of the export changes.
pub(crate) fn export(kernels: i64) -> PathBuf {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("large-v2-{kernels}.sqlite"));
    if !path.exists() {
        let fresh = path.with_extension("part");
        let _ = std::fs::remove_file(&fresh);
        write(&fresh, kernels).expect("the generator's SQL fits the schema");
        std::fs::rename(&fresh, &path).expect("the target folder can be written");
    }
    path
}

fn write(path: &Path, kernels: i64) -> rusqlite::Result<()> {
    let mut connection = Connection::open(path)?;
    connection.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;")?;
    connection.execute_batch(SCHEMA)?;
    let transaction = connection.transaction()?;
    let mut tables = tables::Tables::new(&transaction)?;
    training::train(kernels, &mut tables)?;
    drop(tables);
    transaction.commit()
}
