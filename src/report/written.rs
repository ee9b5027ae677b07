//! Files that are written, whole or not at all, and never over a report.

use super::cache::WorkFolder;
use crate::error::{Error, Result};
use std::fs::File;
use std::io;
use std::path::Path;

/// Refuses an output file that is one of the inputs.
pub fn must_differ<'a>(output: Option<&Path>, inputs: impl IntoIterator<Item = &'a Path>) -> Result<()> {
    let Some(target) = output.and_then(|path| path.canonicalize().ok()) else { return Ok(()) };
    for input in inputs {
        if input.canonicalize().is_ok_and(|input| input == target) {
            return Err(Error::usage(
                format!("the output is the report itself: {}", input.display()),
                "give another file name: nsq never overwrites a report",
            ));
        }
    }
    Ok(())
}

/// Creates or replaces the file at `path` atomically: `produce` writes to a temporary file beside it.
pub fn replace(path: &Path, produce: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    if path.is_dir() {
        return Err(Error::usage(format!("{} is a directory", path.display()), "give a file name"));
    }
    if path.metadata().is_ok_and(|m| !m.is_file()) {
        return Err(Error::usage(
            format!("{} is not a regular file", path.display()),
            "give the name of a regular file",
        ));
    }
    // If `path` is a symbolic link, replace its target and keep the link.
    let target = match path.canonicalize() {
        Err(e) if e.kind() == io::ErrorKind::NotFound => path.to_owned(),
        target => target.map_err(|e| Error::io(path, e))?,
    };
    let folder = match target.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let failed = |e: io::Error| Error::io(path, e.kind().into());
    let own = WorkFolder::beside(folder).map_err(|e| match e {
        Error::Io { source, .. } => failed(source),
        e => e,
    })?;
    // A new file gets default permissions; a replacement keeps the permissions of the old file.
    let fresh = own.path().join(FRESH);
    let file = File::create_new(&fresh).map_err(failed)?;
    if let Ok(replaced) = target.metadata() {
        file.set_permissions(replaced.permissions()).map_err(failed)?;
    }
    drop(file);
    produce(&fresh).map_err(|e| match e {
        Error::Output(source) => failed(source),
        e if e.is_full_disk() => failed(io::ErrorKind::StorageFull.into()),
        e => e,
    })?;
    std::fs::rename(&fresh, &target).map_err(failed)
}

/// Name of a file while it is being written.
const FRESH: &str = "whole";
