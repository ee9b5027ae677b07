//! The whole cache: its entries, its size limit, and the leftovers of killed runs.

use super::entry::{Entry, remove};
use super::key::Key;
use super::lock::KeyLock;
use super::{Derived, PART};
use nsq_files::whole_file::find_cache;
use nsq_value::error::{Error, Result};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// A database in the cache.
#[derive(Debug, Clone)]
pub struct CacheEntry {
    /// What was converted.
    pub kind: Derived,
    /// The path of the source file when the database was made.
    pub source: String,
    /// Path of the database.
    pub database: PathBuf,
    /// Bytes on disk.
    pub size_bytes: u64,
    /// When it was made.
    pub made: SystemTime,
    /// When a run last used it.
    pub used: SystemTime,
    entry: Entry,
}

/// What was removed from the cache.
#[derive(Debug, Clone, Copy, Default)]
pub struct Cleared {
    /// Removed databases.
    pub entries: usize,
    /// Bytes of the removed databases.
    pub size_bytes: u64,
    /// Databases that were kept because other runs are using them.
    pub in_use: usize,
}

/// All entries of the cache, most recently used first.
pub fn cache_entries() -> Result<Vec<CacheEntry>> {
    match find_cache()? {
        Some(root) => entries(&root.path).map_err(|e| Error::io(&root.path, e)),
        None => Ok(Vec::new()),
    }
}

/// Removes all entries that no run is using, and the leftovers of killed runs.
pub fn clear_cache() -> Result<Cleared> {
    let mut cleared = Cleared::default();
    let Some(root) = find_cache()? else { return Ok(cleared) };
    for found in entries(&root.path).map_err(|e| Error::io(&root.path, e))? {
        if found.entry.evict().map_err(|e| Error::io(&found.database, e))? {
            cleared.entries += 1;
            cleared.size_bytes += found.size_bytes;
        } else {
            cleared.in_use += 1;
        }
    }
    for kind in Derived::ALL {
        sweep(&root.path.join(kind.folder()), None);
    }
    Ok(cleared)
}

/// Removes the least recently used entries until the cache is within its limit. The entry that was just
/// made stays, even if it is larger than the limit.
pub(super) fn shrink(folder: &Path, just_made: &Key, limit: u64) -> Result<()> {
    let Some(root) = folder.parent() else { return Ok(()) };
    let keep = Entry::new(folder, just_made).database;
    let mut found = entries(root).map_err(|e| Error::io(root, e))?;
    let mut total: u64 = found.iter().map(|entry| entry.size_bytes).sum();
    while total > limit
        && let Some(oldest) = found.pop()
    {
        // If an entry cannot be removed now, the next run that adds an entry tries again.
        if oldest.database != keep && oldest.entry.evict().unwrap_or(false) {
            total -= oldest.size_bytes;
        }
    }
    Ok(())
}

/// Default maximum size of the cache in bytes: 20 GiB.
const LIMIT: u64 = 20 << 30;

/// Maximum size of the cache in bytes: `NSQ_CACHE_SIZE`, or the default.
pub(super) fn limit() -> Result<u64> {
    let Some(text) = std::env::var_os("NSQ_CACHE_SIZE").filter(|text| !text.is_empty()) else {
        return Ok(LIMIT);
    };
    let text = text.to_string_lossy();
    parse_size(&text).ok_or_else(|| {
        Error::usage(
            format!("invalid value '{text}' for NSQ_CACHE_SIZE: expected a size"),
            "give a number of bytes, or a number with a unit, such as 500MB or 20GiB",
        )
    })
}

/// Parses sizes such as `500MB`, `20 GiB`, `4096`, or `1.5G` (binary, as in other tools).
fn parse_size(text: &str) -> Option<u64> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let unit = unit.trim().to_ascii_lowercase();
    let power = match unit.chars().next() {
        None | Some('b') => 0,
        Some(first) => 1 + "kmgt".find(first)?,
    };
    let base: f64 = match unit.get(1..).unwrap_or_default() {
        "" | "ib" => 1024.0,
        "b" => 1000.0,
        _ => return None,
    };
    let bytes = number.parse::<f64>().ok()? * base.powi(i32::try_from(power).ok()?);
    bytes.is_finite().then_some(bytes as u64)
}

fn entries(root: &Path) -> io::Result<Vec<CacheEntry>> {
    let mut found = Vec::new();
    for kind in Derived::ALL {
        let folder = root.join(kind.folder());
        for stem in files_by_key(&folder)?.into_keys() {
            let entry = Entry::of_stem(&folder, &stem);
            // Skip incomplete entries, and those that another run removes at this moment.
            let (Some(facts), Ok(database), Ok(facts_file)) =
                (entry.read_facts(), entry.database.metadata(), entry.facts.metadata())
            else {
                continue;
            };
            found.push(CacheEntry {
                kind,
                source: facts.source,
                database: entry.database.clone(),
                size_bytes: database.len(),
                made: SystemTime::UNIX_EPOCH + Duration::from_nanos(facts.made_ns),
                used: facts_file.modified()?,
                entry,
            });
        }
    }
    found.sort_by(|a, b| b.used.cmp(&a.used).then_with(|| a.database.cmp(&b.database)));
    Ok(found)
}

/// The keys in a folder, each with its `.part` folders. Files of other programs are ignored.
fn files_by_key(folder: &Path) -> io::Result<BTreeMap<String, Vec<PathBuf>>> {
    let mut keys = BTreeMap::<String, Vec<PathBuf>>::new();
    let files = match std::fs::read_dir(folder) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(keys),
        files => files?,
    };
    for file in files {
        let name = file?.file_name().to_string_lossy().into_owned();
        let Some((stem, _)) = name.split_once('.') else { continue };
        if stem.len() == 32 && stem.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            let parts = keys.entry(stem.to_owned()).or_default();
            parts.extend(name.ends_with(PART).then(|| folder.join(&name)));
        }
    }
    Ok(keys)
}

/// Age after which a `.part` folder counts as abandoned on a file system without locks.
const ABANDONED: Duration = Duration::from_secs(24 * 60 * 60);

/// Removes the leftovers of killed runs: incomplete files whose key no other run has locked.
///
/// Leftovers that cannot be removed now stay for the next run. They are never taken for an entry.
pub(super) fn sweep(folder: &Path, mine: Option<(&Key, &KeyLock)>) {
    for (stem, parts) in files_by_key(folder).unwrap_or_default() {
        if let Some((_, lock)) = mine.filter(|(key, _)| key.as_str() == stem) {
            discard(parts, lock);
            continue;
        }
        let entry = Entry::of_stem(folder, &stem);
        let is_whole = || entry.database.exists() && entry.facts.exists();
        if is_whole() && parts.is_empty() && !entry.lock.exists() {
            continue;
        }
        let Ok(Some(lock)) = KeyLock::take_if_free(&entry.lock) else { continue };
        discard(parts, &lock);
        // Check again: with the lock held, no other run is about to complete the entry.
        if lock.is_real && !is_whole() {
            let _ = remove(&entry.facts);
            let _ = remove(&entry.database);
        }
    }
}

/// Removes the `.part` folders of a key. The caller holds its lock.
fn discard(parts: Vec<PathBuf>, lock: &KeyLock) {
    for part in parts {
        if lock.is_real || is_older(&part, ABANDONED) {
            let _ = std::fs::remove_dir_all(part);
        }
    }
}

fn is_older(path: &Path, age: Duration) -> bool {
    let modified = path.metadata().and_then(|metadata| metadata.modified());
    modified.is_ok_and(|time| time.elapsed().is_ok_and(|elapsed| elapsed > age))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_parsed_with_and_without_units() {
        assert_eq!(parse_size("4096"), Some(4096));
        assert_eq!(parse_size("500MB"), Some(500_000_000));
        assert_eq!(parse_size(" 20 GiB "), Some(20 << 30));
        assert_eq!(parse_size("1.5k"), Some(1536));
        assert_eq!(parse_size("0"), Some(0));
        for text in ["", "many", "5 parsecs", "-1", "1e400T", "5gig"] {
            assert_eq!(parse_size(text), None, "{text}");
        }
    }
}
