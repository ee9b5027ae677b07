//! Files that appear when they are complete.

use super::work_folder::WorkFolder;
use nsq_value::error::{Error, Result};
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Size of the output buffer, in bytes.
const BYTES: usize = 64 << 10;

/// Name of a file while it is being written.
const FRESH: &str = "whole";

/// What is written to.
type Output = dyn Write + Send;

/// Writes a file that appears only when it is complete. A pipe or a device is written to directly.
///
/// # Errors
///
/// Those of `produce`, and [`Error::Io`] with `path` if it cannot be written.
pub fn write(path: &Path, produce: impl FnOnce(&mut Output) -> Result<()>) -> Result<()> {
    let fill = |file: &Path| {
        let file = OpenOptions::new().write(true).open(file).map_err(|e| Error::io(path, e))?;
        let mut out = BufWriter::with_capacity(BYTES, file);
        let written = produce(&mut out).and_then(|()| out.flush().map_err(Error::Output));
        // Otherwise, dropping the buffer would write it.
        let _ = out.into_parts();
        written.map_err(|e| match e {
            Error::Output(source) => Error::io(path, source),
            e => e,
        })
    };
    match path.metadata().is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir()) {
        true => fill(path),
        false => replace(path, fill),
    }
}

/// Creates a file that appears when it is complete, and never replaces one.
///
/// # Errors
///
/// Those of `produce`; [`Error::Io`] if it cannot be written, of the kind `AlreadyExists` if there is a file.
pub fn create(path: &Path, produce: impl FnOnce(&mut Output) -> Result<()>) -> Result<()> {
    let failed = |e: io::Error| Error::io(path, e);
    if path.symlink_metadata().is_ok() {
        return Err(failed(io::ErrorKind::AlreadyExists.into()));
    }
    let folder = folder_of(path);
    if !folder.is_dir() {
        return Err(failed(io::ErrorKind::NotFound.into()));
    }
    let own = WorkFolder::beside(folder)?;
    let fresh = own.path().join(FRESH);
    let file = File::create_new(&fresh).map_err(failed)?;
    let mut out = BufWriter::with_capacity(BYTES, file);
    produce(&mut out)?;
    out.flush().map_err(failed)?;
    sync(&fresh).map_err(failed)?;
    match std::fs::hard_link(&fresh, path) {
        // Some file systems have no links.
        Err(e)
            if matches!(e.kind(), io::ErrorKind::Unsupported | io::ErrorKind::PermissionDenied)
                && !path.exists() =>
        {
            std::fs::rename(&fresh, path).map_err(failed)
        }
        linked => linked.map_err(failed),
    }
}

/// The folder of a file.
fn folder_of(file: &Path) -> &Path {
    match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

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

/// Creates or replaces the file at `path` atomically: `produce` fills the empty file that it is given. A new file
/// has the usual permissions, a replaced one keeps its own. The target of a symbolic link is replaced, not the link.
///
/// # Errors
///
/// Those of `produce`; [`Error::Usage`] if `path` is no file, and [`Error::Io`] if it cannot be written.
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
    let failed = |e: io::Error| Error::io(path, e);
    let target = target_of(path).map_err(failed)?;
    let own = WorkFolder::beside(folder_of(&target)).map_err(|e| match e {
        Error::Io { source, .. } => failed(source),
        e => e,
    })?;
    let fresh = own.path().join(FRESH);
    let file = File::create_new(&fresh).map_err(failed)?;
    match target.metadata() {
        Ok(replaced) => file.set_permissions(replaced.permissions()).map_err(failed)?,
        Err(e) if e.kind() == io::ErrorKind::NotFound => {}
        Err(e) => return Err(failed(e)),
    }
    drop(file);
    // Nobody knows the work folder.
    produce(&fresh).map_err(|e| match e {
        Error::Output(source) => failed(source),
        Error::Io { path: inside, source } if inside.starts_with(own.path()) => failed(source),
        Error::Report { path: inside, reason, help } if inside.starts_with(own.path()) => {
            Error::Report { path: path.to_owned(), reason, help }
        }
        Error::NoSpace { folder: inside, .. } if inside.starts_with(own.path()) => {
            failed(io::ErrorKind::StorageFull.into())
        }
        Error::Sqlite(_) if e.is_full_disk() => failed(io::ErrorKind::StorageFull.into()),
        e => e,
    })?;
    // Network file systems and quotas may refuse what was written only now.
    sync(&fresh).map_err(failed)?;
    std::fs::rename(&fresh, &target).map_err(failed)
}

/// The path without links. The file need not exist, nor the target of a link.
fn target_of(path: &Path) -> io::Result<PathBuf> {
    match (path.canonicalize(), path.read_link()) {
        (Err(e), Ok(target)) if e.kind() == io::ErrorKind::NotFound => {
            target_of(&path.parent().unwrap_or(Path::new("")).join(target))
        }
        (Err(e), Err(_)) if e.kind() == io::ErrorKind::NotFound => Ok(path.to_owned()),
        (target, _) => target,
    }
}

/// Waits until a file is on its disk.
fn sync(path: &Path) -> io::Result<()> {
    match OpenOptions::new().write(true).open(path)?.sync_data() {
        // Some file systems cannot.
        Err(e) if matches!(e.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) => Ok(()),
        synced => synced,
    }
}
