//! The location of the user's cache folder.

use super::owned::is_mine;
use nsq_value::error::{Error, Result};
use std::io;
use std::path::{Path, PathBuf};

/// The cache folder. It may not exist yet.
pub struct CacheFolder {
    /// Where it is.
    pub path: PathBuf,
    /// The user named it, so no other folder is used instead.
    pub was_named: bool,
}

/// The cache folder: `$NSQ_CACHE`, `$XDG_CACHE_HOME/nsq`, or the platform's usual folder in the home
/// folder. `None` if there is no home folder either.
pub fn find_cache() -> Result<Option<CacheFolder>> {
    let from =
        |variable: &str| std::env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(path) = from("NSQ_CACHE") {
        let path = std::path::absolute(&path).map_err(|e| Error::io(&path, e))?;
        return Ok(Some(CacheFolder { path, was_named: true }));
    }
    let usual = |path| Ok(Some(CacheFolder { path, was_named: false }));
    if let Some(folder) = from("XDG_CACHE_HOME").filter(|folder| folder.is_absolute()) {
        return usual(folder.join("nsq"));
    }
    if let Some(folder) = from("LOCALAPPDATA").filter(|_| cfg!(windows)) {
        return usual(folder.join("nsq").join("cache"));
    }
    let below_home = if cfg!(target_os = "macos") { "Library/Caches" } else { ".cache" };
    // A missing home folder is not created.
    match from("HOME").filter(|home| home.is_absolute() && home.is_dir()) {
        Some(home) => usual(home.join(below_home).join("nsq")),
        None => Ok(None),
    }
}

/// The path of the cache folder, which may not exist yet. `None` if there is no place for it.
pub fn cache_folder() -> Result<Option<PathBuf>> {
    Ok(find_cache()?.map(|place| place.path))
}

/// Makes a folder that only the user can read: exports contain the captured environment.
pub fn prepare(folder: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, PermissionsExt};
        let metadata = folder.metadata()?;
        // A folder of another user cannot be trusted.
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
