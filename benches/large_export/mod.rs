//! Large exports, the same for everyone: a deterministic generator.
//!
//! A training-like capture by four processes that reuse correlation ids. Each has a main, an autograd
//! and a loader thread; `training` tells what they do in a step. For a million kernels there are about
//! 1.15 million API calls, 1.55 million NVTX rows and 230 MB; other sizes are in proportion.

mod process;
mod strings;
mod tables;
mod training;

use rusqlite::Connection;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The DDL that the export is written in.
const SCHEMA: &str = include_str!("../../fixtures/schema/3.25.0.sql");

/// An export with `kernels` kernels under `target/`, made when it is not there yet.
///
/// The file's name carries a version, to be raised with every change of what is written.
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
