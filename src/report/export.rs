//! `.nsys-rep` → SQLite, by the user's own `nsys`, once.
//!
//! The export goes to a temporary file in the cache folder and is renamed when it is whole, so that
//! a run that is killed leaves nothing that a later run would trust.

use super::cache::{cache_dir, content_key};
use crate::error::{Error, Result};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// How to export a `.nsys-rep`.
#[derive(Debug, Clone, Default)]
pub struct ExportOptions {
    /// The `nsys` to use; `None`: `$NSQ_NSYS`, then the one on `PATH`.
    pub nsys: Option<PathBuf>,
    /// Export again although the cache holds one.
    pub again: bool,
}

/// The SQLite export of `report`, made now or found in the cache.
pub(super) fn export_once(report: &Path, options: &ExportOptions) -> Result<PathBuf> {
    let folder = cache_dir()?.join("exports");
    let kept = folder.join(format!("{}.sqlite", content_key(report)?));
    if kept.is_file() && !options.again {
        return Ok(kept);
    }
    let refuse =
        |reason: String, help: String| Err(Error::Export { path: report.to_owned(), reason, help });
    let Some(nsys) = find_nsys(options) else {
        return refuse(
            "is a capture, and there is no `nsys` here to export it".to_owned(),
            format!(
                "install Nsight Systems or give --nsys PATH; or export it elsewhere with \
                 `nsys export --type sqlite -o {} {}` and give the result",
                report.with_extension("sqlite").display(),
                report.display()
            ),
        );
    };
    make_private(&folder)?;
    // A folder of its own: nsys leaves side files (journals) next to what it writes.
    let work = tempfile::Builder::new()
        .prefix(".export-")
        .tempdir_in(&folder)
        .map_err(|e| Error::io(&folder, e))?;
    let fresh = work.path().join("export.sqlite");
    let output = Command::new(&nsys)
        .args(["export", "--quiet", "true", "--type", "sqlite", "--force-overwrite", "true"])
        .arg("--output")
        .arg(&fresh)
        .arg(report)
        .stdin(Stdio::null())
        .output();
    let output = match output {
        Ok(output) => output,
        Err(e) => {
            return refuse(
                format!("cannot start {}: {e}", nsys.display()),
                "give the path of a working `nsys` by --nsys".to_owned(),
            );
        }
    };
    #[cfg(unix)]
    if std::os::unix::process::ExitStatusExt::signal(&output.status) == Some(2)
        || output.status.code() == Some(130)
    {
        return Err(Error::Interrupted);
    }
    if !output.status.success() || !fresh.is_file() {
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        let said = if said.is_empty() {
            String::from_utf8_lossy(&output.stdout).trim().to_owned()
        } else {
            said
        };
        return refuse(
            format!("{} could not export it ({}): {said}", nsys.display(), output.status),
            "a report needs an `nsys` at least as new as the one that captured it".to_owned(),
        );
    }
    std::fs::rename(&fresh, &kept).map_err(|e| Error::io(&kept, e))?;
    Ok(kept)
}

fn find_nsys(options: &ExportOptions) -> Option<PathBuf> {
    if let Some(nsys) = &options.nsys {
        return Some(nsys.clone());
    }
    if let Some(nsys) = std::env::var_os("NSQ_NSYS").filter(|value| !value.is_empty()) {
        return Some(PathBuf::from(nsys));
    }
    let program = OsString::from(format!("nsys{}", std::env::consts::EXE_SUFFIX));
    std::env::split_paths(&std::env::var_os("PATH")?)
        .map(|folder| folder.join(&program))
        .find(|candidate| candidate.is_file())
}

/// Makes a folder that only the user can look into: exports hold the captured environment.
fn make_private(folder: &Path) -> Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder).map_err(|e| Error::io(folder, e))
}
