//! Where the cache is, and that nobody else looks into it.

use crate::error::{Error, Result};
use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The cache folder, which need not exist yet.
pub(super) struct Place {
    pub(super) path: PathBuf,
    /// The user named it, and would not expect another one.
    pub(super) was_named: bool,
}

/// The folder for derived databases: `$NSQ_CACHE`, `$XDG_CACHE_HOME/nsq`, or the platform's usual
/// place below the home folder; `None` where none of them is known.
pub(super) fn folder() -> Result<Option<Place>> {
    let from =
        |variable: &str| std::env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(path) = from("NSQ_CACHE") {
        let path = std::path::absolute(&path).map_err(|e| Error::io(&path, e))?;
        return Ok(Some(Place { path, was_named: true }));
    }
    let usual = |path| Ok(Some(Place { path, was_named: false }));
    if let Some(folder) = from("XDG_CACHE_HOME").filter(|folder| folder.is_absolute()) {
        return usual(folder.join("nsq"));
    }
    if let Some(folder) = from("LOCALAPPDATA").filter(|_| cfg!(windows)) {
        return usual(folder.join("nsq").join("cache"));
    }
    let below_home = if cfg!(target_os = "macos") { "Library/Caches" } else { ".cache" };
    // A home folder that is not there is not made.
    match from("HOME").filter(|home| home.is_absolute() && home.is_dir()) {
        Some(home) => usual(home.join(below_home).join("nsq")),
        None => Ok(None),
    }
}

/// The cache folder, which need not exist; `None` where there is no place for one.
pub fn cache_folder() -> Result<Option<PathBuf>> {
    Ok(folder()?.map(|place| place.path))
}

/// Makes a folder that only the user can look into: exports hold the captured environment.
pub(super) fn prepare(folder: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, PermissionsExt};
        let metadata = folder.metadata()?;
        // What another user could have put there is not trusted.
        if !is_mine(&metadata) {
            let reason = format!("{} belongs to another user", folder.display());
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, reason));
        }
        if metadata.mode() & 0o077 != 0 {
            std::fs::set_permissions(folder, PermissionsExt::from_mode(0o700))?;
        }
    }
    Ok(())
}

/// A file or folder belongs to the user; where there is no telling, it does.
pub(super) fn is_mine(metadata: &Metadata) -> bool {
    #[cfg(unix)]
    {
        std::os::unix::fs::MetadataExt::uid(metadata) == rustix::process::geteuid().as_raw()
    }
    #[cfg(not(unix))]
    {
        let _ = metadata;
        true
    }
}

/// A new folder in `inside` that only the user can look into, and that goes with the value.
pub(in crate::report) fn private_folder(prefix: &str, suffix: &str, inside: &Path) -> Result<TempDir> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(prefix).suffix(suffix);
    // Unlike temporary files, temporary folders are open to all unless it is said.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
    builder.tempdir_in(inside).map_err(|e| Error::io(inside, e))
}

/// The folder cannot be made or written, as opposed to a disk that is full or broken.
pub(super) fn is_refusal(error: &io::Error) -> bool {
    use io::ErrorKind as Kind;
    matches!(
        error.kind(),
        Kind::PermissionDenied
            | Kind::ReadOnlyFilesystem
            | Kind::NotFound
            | Kind::NotADirectory
            | Kind::AlreadyExists
    )
}
