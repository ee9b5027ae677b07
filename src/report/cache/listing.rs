//! All of the cache: what it holds, how large it may become, and what is left of runs that were killed.

use super::entry::{Entry, remove};
use super::key::Key;
use super::lock::KeyLock;
use super::{Derived, PART, place};
use crate::error::{Error, Result};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// A database in the cache.
#[derive(Debug, Clone)]
pub struct CacheEntry {
    /// What it is.
    pub kind: Derived,
    /// The file that it was made from, as it was called then.
    pub source: String,
    /// Where it is.
    pub database: PathBuf,
    /// Bytes on disk.
    pub size_bytes: u64,
    /// When it was made.
    pub made: SystemTime,
    /// When a run last used it.
    pub used: SystemTime,
    entry: Entry,
}

/// What was thrown away.
#[derive(Debug, Clone, Copy, Default)]
pub struct Cleared {
    /// Databases.
    pub entries: usize,
    /// Their bytes.
    pub size_bytes: u64,
    /// Databases that other runs are using, which stay.
    pub in_use: usize,
}

/// Everything that the cache holds, last used first.
pub fn cache_entries() -> Result<Vec<CacheEntry>> {
    match place::folder()? {
        Some(root) => entries(&root.path).map_err(|e| Error::io(&root.path, e)),
        None => Ok(Vec::new()),
    }
}

/// Throws away everything that no run is using, and what killed runs left.
pub fn clear_cache() -> Result<Cleared> {
    let mut cleared = Cleared::default();
    let Some(root) = place::folder()? else { return Ok(cleared) };
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

/// Throws away what was not used for longest until the cache is within its size; what was made last
/// stays, however large it is.
pub(super) fn shrink(folder: &Path, just_made: &Key, limit: u64) -> Result<()> {
    let Some(root) = folder.parent() else { return Ok(()) };
    let keep = Entry::new(folder, just_made).database;
    let mut found = entries(root).map_err(|e| Error::io(root, e))?;
    let mut total: u64 = found.iter().map(|entry| entry.size_bytes).sum();
    while total > limit
        && let Some(oldest) = found.pop()
    {
        // What cannot be thrown away now is tried again by the next run that makes something.
        if oldest.database != keep && oldest.entry.evict().unwrap_or(false) {
            total -= oldest.size_bytes;
        }
    }
    Ok(())
}

/// Bytes that the cache may have, unless `NSQ_CACHE_SIZE` says otherwise: 20 GiB.
const LIMIT: u64 = 20 << 30;

/// Bytes that the cache may have.
pub(super) fn limit() -> Result<u64> {
    let Some(text) = std::env::var_os("NSQ_CACHE_SIZE").filter(|text| !text.is_empty()) else {
        return Ok(LIMIT);
    };
    let text = text.to_string_lossy();
    parse_size(&text).ok_or_else(|| {
        Error::usage(
            format!("NSQ_CACHE_SIZE is `{text}`, which is no size"),
            "give bytes, or a number with its unit, such as 500MB or 20GiB",
        )
    })
}

/// `500MB`, `20 GiB`, `1.5G` (binary, as in other tools), `4096`.
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
            // What is not whole is no entry; what is taken away meanwhile is none either.
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

/// The keys in a folder, each with the folders in which it is, or was, being made. What other programs
/// put there is left alone.
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

/// Age from which something half-made is abandoned, where the file system has no locks to tell.
const ABANDONED: Duration = Duration::from_secs(24 * 60 * 60);

/// Removes what runs left that were killed: half-made files whose key nobody else has locked.
///
/// What cannot be removed now stays for the next run: it is never taken for an entry.
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
        // Looked at again: now nobody is about to put the rest in place.
        if lock.is_real && !is_whole() {
            let _ = remove(&entry.facts);
            let _ = remove(&entry.database);
        }
    }
}

/// Removes folders in which something was being made under a key that is now locked.
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
    fn sizes_are_read_as_people_write_them() {
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
