//! Files and folders of this user.

use nsq_value::error::{Error, Result};
use std::fs::{File, Metadata};
use std::io;
use std::path::Path;
use tempfile::TempDir;

/// Makes a folder in `inside` that only the user can read. It is removed with the value.
pub fn private_folder(prefix: &str, suffix: &str, inside: &Path) -> Result<TempDir> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(prefix).suffix(suffix);
    // Unlike temporary files, temporary folders are not private by default.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
    builder.tempdir_in(inside).map_err(|e| Error::io(inside, plain(e)))
}

/// The error of the system, without the random name of a folder: runs that fail alike must say the same.
fn plain(error: io::Error) -> io::Error {
    match error.to_string().split_once(" at path ") {
        Some((reason, _)) => io::Error::new(error.kind(), reason),
        None => error,
    }
}

/// Whether a file or folder belongs to the user. Always true on systems without file owners.
pub fn is_mine(metadata: &Metadata) -> bool {
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

/// Whether the open file is still the one at `path`.
pub fn is_at(file: &File, path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let identity = |metadata: Metadata| (metadata.dev(), metadata.ino());
        match (file.metadata(), path.metadata()) {
            (Ok(open), Ok(there)) => identity(open) == identity(there),
            _ => false,
        }
    }
    #[cfg(not(unix))]
    {
        let _ = file;
        path.exists()
    }
}
