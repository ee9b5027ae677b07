//! A deterministic generator of large exports.
//!
//! The capture resembles a training run of four processes that reuse correlation ids. Each process has a
//! main, an autograd and a loader thread; the module `training` describes their steps. With a million
//! kernels, the export has about 1.15 million API calls, 1.55 million NVTX rows and 230 MB. Other sizes
//! are proportional.

// Each benchmark uses only a part of this module.
#![allow(dead_code)]

mod process;
mod strings;
mod tables;
mod training;

use rusqlite::Connection;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The schema of the export.
const SCHEMA: &str = include_str!("../../fixtures/schema/3.25.0.sql");

/// What an export is made of.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) kernels: i64,
    /// Start of the random numbers.
    pub(crate) seed: u64,
    /// Most distinct names of ranges that have numbers in their text; `None`: each has its own.
    pub(crate) distinct_names: Option<usize>,
    /// What makes the export unlike the others: the name of a distribution.
    pub(crate) distribution: Option<&'static str>,
}

/// Scripts that change an export into one of another distribution. Each says how.
pub(crate) const DISTRIBUTIONS: [(&str, &str); 7] = [
    ("deep", include_str!("distributions/deep.sql")),
    ("graphs", include_str!("distributions/graphs.sql")),
    ("overlap", include_str!("distributions/overlap.sql")),
    ("processes", include_str!("distributions/processes.sql")),
    ("tail", include_str!("distributions/tail.sql")),
    ("tiny", include_str!("distributions/tiny.sql")),
    ("unified", include_str!("distributions/unified.sql")),
];

impl Shape {
    pub(crate) fn new(kernels: i64) -> Self {
        Self { kernels, seed: 1, distinct_names: None, distribution: None }
    }

    /// The file name contains a version. Increase it whenever the content of the export changes.
    fn file_name(&self) -> String {
        let mut name = format!("large-v2-{}", self.kernels);
        if self.seed != 1 {
            name.push_str(&format!("-seed-{}", self.seed));
        }
        if let Some(names) = self.distinct_names {
            name.push_str(&format!("-names-{names}"));
        }
        if let Some(distribution) = self.distribution {
            name.push_str(&format!("-{distribution}"));
        }
        name + ".sqlite"
    }
}

/// The path of an export with `kernels` kernels under `target/`, which is created if it is missing.
pub(crate) fn export(kernels: i64) -> PathBuf {
    export_of(&Shape::new(kernels))
}

/// The path of an export of this shape under `target/`, which is created if it is missing.
pub(crate) fn export_of(shape: &Shape) -> PathBuf {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(shape.file_name());
    if !path.exists() {
        let fresh = path.with_extension("part");
        let _ = std::fs::remove_file(&fresh);
        write(&fresh, shape).expect("the generator's SQL fits the schema");
        std::fs::rename(&fresh, &path).expect("the target folder can be written");
    }
    path
}

fn write(path: &Path, shape: &Shape) -> rusqlite::Result<()> {
    let mut connection = Connection::open(path)?;
    connection.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;")?;
    connection.execute_batch(SCHEMA)?;
    let transaction = connection.transaction()?;
    let mut tables = tables::Tables::new(&transaction)?;
    training::train(shape, &mut tables)?;
    drop(tables);
    let scripts = DISTRIBUTIONS.iter().filter(|(name, _)| shape.distribution == Some(name));
    scripts.map(|(_, script)| script).try_for_each(|script| transaction.execute_batch(script))?;
    transaction.commit()
}
