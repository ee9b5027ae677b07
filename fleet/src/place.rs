//! Where a report lies: in a file, or in an object store.

use crate::asked::Failure;
#[cfg(feature = "stores")]
use crate::stores::{Fetched, Object};
use nsq::{Cancel, Error, Library, Report, Result};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The URLs of object stores. Others are names of files.
const SCHEMES: [&str; 8] = ["s3", "s3a", "gs", "az", "abfs", "abfss", "http", "https"];

/// Whether an object store has it.
pub(crate) fn is_url(path: &Path) -> bool {
    let scheme = path.to_str().and_then(|text| text.split_once("://"));
    scheme.is_some_and(|(scheme, _)| SCHEMES.contains(&scheme))
}

/// Size, and time of the last change: what tells whether a report is the one that answered before.
pub(crate) type Stamp = (u64, Option<SystemTime>);

/// Where a report lies.
#[derive(Debug)]
pub(crate) enum Place {
    File(PathBuf),
    #[cfg(feature = "stores")]
    Object(Object),
}

/// A report that is open.
pub(crate) struct Open {
    // Closed before the file is removed.
    pub(crate) report: Report,
    #[cfg(feature = "stores")]
    fetched: Option<Fetched>,
}

impl Place {
    pub(crate) fn of(path: PathBuf) -> Result<Self> {
        match is_url(&path) {
            false => Ok(Self::File(path)),
            #[cfg(feature = "stores")]
            true => crate::stores::url(&path).and_then(Object::at).map(Self::Object),
            #[cfg(not(feature = "stores"))]
            true => Err(without_stores(&path)),
        }
    }

    /// Its path or URL.
    pub(crate) fn path(&self) -> &Path {
        match self {
            Self::File(path) => path,
            #[cfg(feature = "stores")]
            Self::Object(object) => object.url(),
        }
    }

    #[cfg_attr(not(feature = "stores"), expect(unused_variables, reason = "files are there at once"))]
    pub(crate) fn stamp(&self, cancel: &Cancel) -> Result<Stamp> {
        match self {
            Self::File(path) => {
                let metadata = path.metadata().map_err(|error| Error::io(path, error))?;
                Ok((metadata.len(), metadata.modified().ok()))
            }
            #[cfg(feature = "stores")]
            Self::Object(object) => object.stamp(cancel),
        }
    }

    /// Opens the report; one in a store is copied to `scratch` meanwhile.
    #[cfg_attr(not(feature = "stores"), expect(unused_variables, reason = "files need no copy"))]
    pub(crate) fn open(
        &self,
        library: &Library,
        scratch: &Path,
        cancel: &Cancel,
    ) -> std::result::Result<Open, Failure> {
        match self {
            #[cfg(not(feature = "stores"))]
            Self::File(path) => Ok(Open { report: library.open(path)? }),
            #[cfg(feature = "stores")]
            Self::File(path) => Ok(Open { report: library.open(path)?, fetched: None }),
            #[cfg(feature = "stores")]
            Self::Object(object) => {
                let fetched = object.fetch(scratch, cancel)?;
                match library.open(&fetched.file) {
                    Ok(report) => Ok(Open { report, fetched: Some(fetched) }),
                    Err(error) => Err(fetched.told_of_url(error.into())),
                }
            }
        }
    }
}

impl Open {
    /// Why it does not answer.
    pub(crate) fn failed(&self, error: Error) -> Failure {
        #[cfg(feature = "stores")]
        if let Some(fetched) = &self.fetched {
            return fetched.told_of_url(error.into());
        }
        error.into()
    }
}

#[cfg(feature = "stores")]
pub(crate) use crate::stores::reports_at;

#[cfg(not(feature = "stores"))]
pub(crate) fn reports_at(url: &Path, _: &Cancel) -> Result<Vec<PathBuf>> {
    Err(without_stores(url))
}

/// What a build without stores says about URLs.
#[cfg(not(feature = "stores"))]
fn without_stores(path: &Path) -> Error {
    Error::Usage {
        reason: format!("{}: this nsq-fleet reads files only", path.display()),
        help: "build it with `cargo install --path fleet --features stores`".to_owned(),
    }
}
