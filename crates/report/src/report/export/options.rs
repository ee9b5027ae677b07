//! How to convert a report that is not SQLite.

use crate::report::cache::CacheOptions;
use std::path::PathBuf;

/// How to convert a report that is not SQLite, and what to add to it.
#[derive(Debug, Clone, Default)]
pub struct ExportOptions {
    /// The `nsys` to use. `None` tries `$NSQ_NSYS`, then `PATH`, then the usual install folders.
    pub nsys: Option<PathBuf>,
    /// A program that calls [`super::run_as_launcher`]. It starts `nsys` so that `nsys` ends with this process,
    /// even if this process is killed. With `None`, `nsys` may outlive a killed process.
    pub launcher: Option<PathBuf>,
    /// A PyTorch trace of the program that the report is of. What it knows of the GPU operations is added.
    pub with: Option<PathBuf>,
    /// How to cache the export.
    pub cache: CacheOptions,
}
