//! The cache of databases that were made from another file. Each is made once and kept in the user's
//! cache folder.
//!
//! Entries are found by a key (see `key.rs`). Only one run at a time makes an entry. Entries
//! are complete or absent, even if a run is killed. The folder is private to the user, and its size is
//! limited.
//!
//! This module does not know how one file is made from another.
//!
//! ```text
//! exports/KEY.sqlite       the database
//! exports/KEY.json         its facts: source file and time; written last, so it marks a complete entry
//! exports/KEY.lock         exists while the entry is made or removed
//! exports/KEY.….part/      work folder of the run that makes the entry
//! ```
//!
//! Readers hold a shared lock on the database, and the maker holds the lock of the key. These are
//! operating system locks, so they end with the process.

mod cached_file;
mod entry;
mod key;
mod listing;
mod lock;
mod options;
mod temporary;

pub use listing::{CacheEntry, Cleared, cache_entries, clear_cache};
pub use temporary::Temporaries;

pub(crate) use cached_file::CachedFile;
pub use cached_file::Derived;
use cached_file::{FRESH, Hold, PART};
use entry::{Entry, Wanted};
pub(crate) use key::Key;
use lock::KeyLock;
pub use nsq_files::whole_file::cache_folder;
use nsq_files::whole_file::{CacheFolder, find_cache, prepare, private_folder};
use nsq_value::error::{Error, Result};
pub use options::CacheOptions;
use std::io;
use std::path::Path;

/// The user's cache folder. Without a folder, all databases are temporary.
#[derive(Debug, Clone)]
pub(crate) struct Cache {
    options: CacheOptions,
}

impl Cache {
    pub(crate) fn new(options: &CacheOptions) -> Self {
        Self { options: options.clone() }
    }

    /// The database for `source`, from the cache or made now by `make`.
    ///
    /// `recipe` is the version of `make`. It is part of the key, so that a database of another version
    /// is never found. `make` gets the path to write, in an empty private folder. Other files that it
    /// leaves there are removed. If it fails, all files are.
    pub(crate) fn derive(
        &self,
        source: &Path,
        kind: Derived,
        recipe: &str,
        mut make: impl FnMut(&Path) -> Result<()>,
    ) -> Result<CachedFile> {
        let key = Key::of(source, kind, recipe)?;
        if self.options.off {
            return self.options.temporaries.derive(source, &key, make);
        }
        let for_this_run = |reason: &str, make: &mut dyn FnMut(&Path) -> Result<()>| {
            let what = describe(kind, source);
            self.options.listener.note(&format!("{reason}: {what} is kept for this run only"));
            self.options.temporaries.derive(source, &key, make)
        };
        let limit = listing::limit()?;
        let wanted = self.wanted(source)?;
        let (root, lock) = match self.open(kind, &key, &wanted)? {
            Opened::CachedFile(kept) => return Ok(kept),
            Opened::Locked(root, lock) => (root, lock),
            Opened::Unusable(reason) => return for_this_run(&reason, &mut make),
        };
        let folder = root.path.join(kind.folder());
        let entry = Entry::new(&folder, &key);
        listing::sweep(&folder, Some((&key, &lock)));
        // In a separate folder: `make` may leave side files next to the database.
        let mut put = || {
            let part = private_folder(&format!("{key}."), PART, &folder)?;
            let fresh = part.path().join(FRESH);
            make(&fresh)?;
            key.check_unchanged(source)?;
            entry.put(part.path(), &fresh, source, recipe, wanted.sha256.clone())
        };
        if let Err(error) = put() {
            let fault = fault_in(&root.path, &error).filter(|_| !root.was_named).ok_or(error)?;
            drop(lock);
            return for_this_run(&unusable_for(&root.path, &fault), &mut make);
        }
        let kept = entry.take(&Wanted::default())?.ok_or_else(|| Error::Report {
            path: entry.database.clone(),
            reason: "disappeared from the cache right after it was written".to_owned(),
            help: "run it again, or use --no-cache".to_owned(),
        })?;
        drop(lock);
        listing::shrink(&folder, &key, limit)?;
        Ok(kept)
    }

    /// The cached database for `source`, if there is one.
    pub(crate) fn find(&self, source: &Path, kind: Derived, recipe: &str) -> Result<Option<CachedFile>> {
        let key = Key::of(source, kind, recipe)?;
        let (Some(folder), false) = (find_cache()?, self.options.off) else { return Ok(None) };
        let folder = folder.path.join(kind.folder());
        if !folder.is_dir() || prepare(&folder).is_err() {
            return Ok(None);
        }
        Entry::new(&folder, &key).take(&self.wanted(source)?)
    }

    /// Waits until no other run is making the entry. Returns the entry, or the lock to make it.
    fn open(&self, kind: Derived, key: &Key, wanted: &Wanted) -> Result<Opened> {
        let Some(root) = find_cache()? else {
            return Ok(Opened::Unusable(
                "there is no cache folder (no home folder, and NSQ_CACHE is not set)".to_owned(),
            ));
        };
        let folder = root.path.join(kind.folder());
        let unusable = |e: io::Error| {
            // If the user named the folder, do not silently use another one.
            if root.was_named {
                return Err(Error::Report {
                    path: root.path.clone(),
                    reason: format!("cannot be used as the cache folder: {e}"),
                    help: "set NSQ_CACHE to another folder, or use --no-cache".to_owned(),
                });
            }
            Ok(Opened::Unusable(unusable_for(&root.path, &e)))
        };
        if let Err(e) = prepare(&folder) {
            return unusable(e);
        }
        let entry = Entry::new(&folder, key);
        if let Some(kept) = entry.take(wanted)? {
            listing::sweep(&folder, None);
            return Ok(Opened::CachedFile(kept));
        }
        let waiting = || {
            let what = describe(kind, &key.source);
            self.options.listener.note(&format!("waiting for another run, which is making {what}"));
        };
        let lock = match KeyLock::wait(&entry.lock, &self.options.cancel, waiting) {
            Ok(lock) => lock,
            Err(Error::Io { source, .. }) => return unusable(source),
            Err(e) => return Err(e),
        };
        Ok(match entry.take(wanted)? {
            Some(kept) => Opened::CachedFile(kept),
            None => Opened::Locked(root, lock),
        })
    }

    fn wanted(&self, source: &Path) -> Result<Wanted> {
        Ok(Wanted {
            made_since_ns: self.options.again.then(entry::now_ns),
            sha256: self
                .options
                .verify
                .then(|| key::sha256(source, &self.options.cancel))
                .transpose()?,
        })
    }
}

/// Result of [`Cache::open`].
enum Opened {
    /// The entry is in the cache.
    CachedFile(CachedFile),
    /// The entry must be made: the cache folder and the lock of its key.
    Locked(CacheFolder, KeyLock),
    /// No cache folder can be used, with the reason.
    Unusable(String),
}

fn unusable_for(folder: &Path, reason: &dyn std::fmt::Display) -> String {
    format!("the cache folder {} cannot be used ({reason})", folder.display())
}

/// What is wrong with the folder, if that is the error.
fn fault_in(folder: &Path, error: &Error) -> Option<String> {
    match error {
        Error::NoSpace { folder: full, .. } if full.starts_with(folder) => {
            Some("no space left".to_owned())
        }
        Error::Io { path, source } if path.starts_with(folder) => Some(source.to_string()),
        Error::Report { path, reason, .. } if path.starts_with(folder) => Some(reason.clone()),
        _ => None,
    }
}

fn describe(kind: Derived, source: &Path) -> String {
    match kind {
        Derived::Export => format!("the export of {}", source.display()),
        Derived::Trace => format!("the report of {}", source.display()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nsq_value::cancel::Cancel;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn key_of(source: &Path) -> Key {
        Key::of(source, Derived::Trace, "1").unwrap()
    }

    #[test]
    fn a_key_depends_on_content_kind_and_recipe() {
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
    fn one_thread_at_a_time_holds_a_lock_and_no_file_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key.lock");
        let (inside, entered) = (AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|threads| {
            for _ in 0..8 {
                threads.spawn(|| {
                    for _ in 0..5 {
                        let _lock = KeyLock::wait(&path, &Cancel::default(), || {}).unwrap();
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
    fn an_entry_is_complete_and_stays_while_it_is_used() {
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
        assert!(entry.take(&Wanted::default()).unwrap().is_none(), "its length has changed");
        assert!(entry.evict().unwrap());
        assert!(!entry.database.exists() && !entry.facts.exists() && !entry.lock.exists());
    }

    #[test]
    fn a_temporary_database_is_made_once_and_removed_with_the_run() {
        let folder = tempfile::tempdir().unwrap();
        let source = folder.path().join("a.json");
        std::fs::write(&source, "[1]").unwrap();
        let options = CacheOptions { off: true, ..CacheOptions::default() };
        let cache = Cache::new(&options);
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
        // Others have temporaries of their own.
        drop(CacheOptions::default());
        assert!(path.exists());
        drop((cache, options));
        assert!(!path.exists() && !path.parent().unwrap().exists());
    }
}
