//! Databases that were made from another file: made once, kept in the user's cache folder, and
//! nowhere else.
//!
//! For: a key for what a file holds, one maker at a time, entries that are whole or absent whatever
//! is killed, and a folder that only the user can look into and that does not grow without bounds.
//!
//! Not for: knowing how one file is made from another.
//!
//! ```text
//! exports/KEY.sqlite       what was made
//! exports/KEY.json         of which file and when; put in place last: without it there is no entry
//! exports/KEY.lock         while it is being made or thrown away
//! exports/KEY.….part/      where it is being made
//! ```
//!
//! An entry in use is locked (shared) by its readers, and its key is locked by its maker. The locks
//! are the system's: they end with the process that holds them, however it ends.

mod entry;
mod key;
mod listing;
mod lock;
mod work_folder;
mod place;
mod temporary;

pub use listing::{CacheEntry, Cleared, cache_entries, clear_cache};
pub use work_folder::{WorkFolder, remove_work_folders};
pub use place::cache_folder;
pub(super) use place::private_folder;
pub use temporary::discard_temporaries;

use super::notices::Listener;
use crate::error::{Error, Result};
use entry::{Entry, Wanted};
use key::Key;
use lock::KeyLock;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What is made from another file; each kind has a folder of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Derived {
    /// The SQLite export of a capture.
    Export,
    /// A report made from a trace of another tool.
    Trace,
}

impl Derived {
    const ALL: [Self; 2] = [Self::Export, Self::Trace];

    fn folder(self) -> &'static str {
        match self {
            Self::Export => "exports",
            Self::Trace => "traces",
        }
    }

    /// The kind in a word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Export => "export",
            Self::Trace => "trace",
        }
    }
}

/// How what is made is kept.
#[derive(Debug, Clone, Default)]
pub struct CacheOptions {
    /// Make a temporary file, gone with the process, and leave the cache alone.
    pub off: bool,
    /// Make it again although the cache holds it.
    pub again: bool,
    /// Go by every byte of the source instead of its size, time, head and tail.
    pub verify: bool,
    /// Who is told of what takes time.
    pub listener: Listener,
}

/// The user's cache folder, or no folder: then everything is temporary.
#[derive(Debug, Clone)]
pub(crate) struct Cache {
    options: CacheOptions,
}

/// A database that was made, for as long as it is needed.
#[derive(Debug)]
pub(crate) struct Kept {
    /// The database.
    pub(crate) path: PathBuf,
    /// What keeps it there.
    _hold: Hold,
}

#[derive(Debug)]
enum Hold {
    /// A shared lock, so that no other run throws the entry away.
    Entry { _file: File },
    /// A folder that goes with its last user.
    Temporary { _folder: Arc<WorkFolder> },
}

impl Cache {
    pub(crate) fn new(options: &CacheOptions) -> Self {
        Self { options: options.clone() }
    }

    /// The database that `make` makes from `source`: the one that is kept, or made now.
    ///
    /// `recipe` names the version of what makes it and is part of the key: what another recipe made
    /// is never found. `make` gets the path to write, in an empty and private folder; whatever else
    /// it leaves there is thrown away, and everything if it fails.
    pub(crate) fn derive(
        &self,
        source: &Path,
        kind: Derived,
        recipe: &str,
        make: impl FnOnce(&Path) -> Result<()>,
    ) -> Result<Kept> {
        let key = Key::of(source, kind, recipe)?;
        if self.options.off {
            return temporary::derive(source, &key, make);
        }
        let limit = listing::limit()?;
        let wanted = self.wanted(source)?;
        let (folder, lock) = match self.open(kind, &key, &wanted)? {
            Opened::Kept(kept) => return Ok(kept),
            Opened::Locked(folder, lock) => (folder, lock),
            Opened::Unusable(reason) => {
                self.options
                    .listener
                    .note(&format!("{reason}: {} is made for this run only", describe(kind, source)));
                return temporary::derive(source, &key, make);
            }
        };
        let entry = Entry::new(&folder, &key);
        listing::sweep(&folder, Some((&key, &lock)));
        // A folder of its own: makers leave side files next to what they write.
        let part = private_folder(&format!("{key}."), PART, &folder)?;
        let fresh = part.path().join(FRESH);
        make(&fresh)?;
        key.check_unchanged(source)?;
        entry.put(part.path(), &fresh, source, recipe, wanted.sha256)?;
        let kept = entry.take(&Wanted::default())?.ok_or_else(|| Error::Report {
            path: entry.database.clone(),
            reason: "vanished from the cache as soon as it was there".to_owned(),
            help: "run it again, or with --no-cache".to_owned(),
        })?;
        drop(part);
        drop(lock);
        listing::shrink(&folder, &key, limit)?;
        Ok(kept)
    }

    /// The database that is kept of `source`, if one is.
    pub(crate) fn find(&self, source: &Path, kind: Derived, recipe: &str) -> Result<Option<Kept>> {
        let key = Key::of(source, kind, recipe)?;
        let (Some(folder), false) = (place::folder()?, self.options.off) else { return Ok(None) };
        let folder = folder.path.join(kind.folder());
        if !folder.is_dir() || place::prepare(&folder).is_err() {
            return Ok(None);
        }
        Entry::new(&folder, &key).take(&self.wanted(source)?)
    }

    /// The entry, or the right to make it, once no other run is making it.
    fn open(&self, kind: Derived, key: &Key, wanted: &Wanted) -> Result<Opened> {
        let Some(root) = place::folder()? else {
            return Ok(Opened::Unusable(
                "there is no cache folder (no home folder, and NSQ_CACHE is not set)".to_owned(),
            ));
        };
        let folder = root.path.join(kind.folder());
        let unusable = |e: io::Error| {
            let reason = format!("the cache folder {} cannot be used ({e})", root.path.display());
            // Where the user named the folder, another place is not what they asked for.
            if root.was_named || !place::is_refusal(&e) {
                return Err(Error::Report {
                    path: root.path.clone(),
                    reason: format!("cannot be used as the cache folder: {e}"),
                    help: "name another folder in NSQ_CACHE, or give --no-cache".to_owned(),
                });
            }
            Ok(Opened::Unusable(reason))
        };
        if let Err(e) = place::prepare(&folder) {
            return unusable(e);
        }
        let entry = Entry::new(&folder, key);
        if let Some(kept) = entry.take(wanted)? {
            return Ok(Opened::Kept(kept));
        }
        let waiting = || {
            let what = describe(kind, &key.source);
            self.options.listener.note(&format!("another run is making {what}: waiting for it"));
        };
        let lock = match KeyLock::wait(&entry.lock, waiting) {
            Ok(lock) => lock,
            Err(Error::Io { source, .. }) => return unusable(source),
            Err(e) => return Err(e),
        };
        Ok(match entry.take(wanted)? {
            Some(kept) => Opened::Kept(kept),
            None => Opened::Locked(folder, lock),
        })
    }

    fn wanted(&self, source: &Path) -> Result<Wanted> {
        Ok(Wanted {
            made_since_ns: self.options.again.then(entry::now_ns),
            sha256: self.options.verify.then(|| key::sha256(source)).transpose()?,
        })
    }
}

/// How a look into the cache went.
enum Opened {
    Kept(Kept),
    Locked(PathBuf, KeyLock),
    /// There is no folder to keep it in, and why.
    Unusable(String),
}

/// What the file is called while it is being made.
const FRESH: &str = "report.sqlite";
/// What the folder's name ends with in which it is being made.
const PART: &str = ".part";

fn describe(kind: Derived, source: &Path) -> String {
    match kind {
        Derived::Export => format!("the export of {}", source.display()),
        Derived::Trace => format!("the report of {}", source.display()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn key_of(source: &Path) -> Key {
        Key::of(source, Derived::Trace, "1").unwrap()
    }

    #[test]
    fn a_key_tells_content_kind_and_recipe_apart() {
        let folder = tempfile::tempdir().unwrap();
        let source = folder.path().join("a.json");
        std::fs::write(&source, "[1]").unwrap();
        let key = key_of(&source);
        assert_eq!(key.as_str(), key_of(&source).as_str());
        assert_ne!(key.as_str(), Key::of(&source, Derived::Export, "1").unwrap().as_str());
        assert_ne!(key.as_str(), Key::of(&source, Derived::Trace, "2").unwrap().as_str());
        assert!(key.check_unchanged(&source).is_ok());
        std::fs::write(&source, "[2, 3]").unwrap();
        assert!(key.check_unchanged(&source).is_err());
        assert_ne!(key.as_str(), key_of(&source).as_str());
    }

    #[test]
    fn a_lock_is_one_runs_at_a_time_and_leaves_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key.lock");
        let (inside, entered) = (AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|threads| {
            for _ in 0..8 {
                threads.spawn(|| {
                    for _ in 0..5 {
                        let _lock = KeyLock::wait(&path, || {}).unwrap();
                        assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                        std::thread::yield_now();
                        entered.fetch_add(1, Ordering::SeqCst);
                        inside.fetch_sub(1, Ordering::SeqCst);
                    }
                });
            }
        });
        assert_eq!(entered.into_inner(), 40);
        assert!(!path.exists());
    }

    #[test]
    fn an_entry_is_whole_and_stays_while_it_is_used() {
        let folder = tempfile::tempdir().unwrap();
        let source = folder.path().join("a.json");
        std::fs::write(&source, "[1]").unwrap();
        let entry = Entry::new(folder.path(), &key_of(&source));
        let fresh = folder.path().join("fresh");
        std::fs::write(&fresh, "made").unwrap();
        entry.put(folder.path(), &fresh, &source, "1", None).unwrap();
        let kept = entry.take(&Wanted::default()).unwrap().unwrap();
        assert!(!entry.evict().unwrap(), "it is in use");
        drop(kept);
        let other = Wanted { sha256: Some("other".to_owned()), ..Wanted::default() };
        assert!(entry.take(&other).unwrap().is_none());
        std::fs::write(&entry.database, "cut").unwrap();
        assert!(entry.take(&Wanted::default()).unwrap().is_none(), "its length is another");
        assert!(entry.evict().unwrap());
        assert!(!entry.database.exists() && !entry.facts.exists() && !entry.lock.exists());
    }

    #[test]
    fn what_is_for_one_run_is_made_once_and_goes_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let source = folder.path().join("a.json");
        std::fs::write(&source, "[1]").unwrap();
        let cache = Cache::new(&CacheOptions { off: true, ..CacheOptions::default() });
        let mut made = 0;
        let mut derive = || {
            cache.derive(&source, Derived::Trace, "1", |fresh| {
                made += 1;
                std::fs::write(fresh, "made").map_err(|e| Error::io(fresh, e))
            })
        };
        let first = derive().unwrap();
        let second = derive().unwrap();
        assert_eq!(first.path, second.path);
        assert_eq!(made, 1);
        let path = first.path.clone();
        drop((first, second));
        assert!(path.exists());
        discard_temporaries();
        assert!(!path.exists() && !path.parent().unwrap().exists());
    }
}
