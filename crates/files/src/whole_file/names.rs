//! The names of work folders.

use std::ffi::OsStr;

/// The naming scheme of work folders in one kind of place.
#[derive(Debug, Clone, Copy)]
pub struct Names {
    pub(super) prefix: &'static str,
    pub(super) suffix: &'static str,
    /// Name of the lock file in the folder.
    pub(super) lock: &'static str,
}

/// Work folders next to an output file.
pub(super) const BESIDE: Names = Names { prefix: ".nsq-", suffix: ".part", lock: "nsq.lock" };
/// Work folders in the folder of temporary files.
pub const TEMPORARY: Names = Names { prefix: "nsq-run-", suffix: "", lock: "nsq-run.lock" };

impl Names {
    /// Whether a work folder can have this name.
    pub(super) fn has(self, name: &OsStr) -> bool {
        let random = name
            .to_str()
            .and_then(|name| name.strip_prefix(self.prefix))
            .and_then(|name| name.strip_suffix(self.suffix));
        random.is_some_and(|random| {
            random.len() == 6 && random.bytes().all(|byte| byte.is_ascii_alphanumeric())
        })
    }
}
