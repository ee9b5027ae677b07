//! The reports that people name: files, folders, patterns.

use super::foreign::foreign_folder;
use super::profiles::{Profile, find};
use crate::trace::traces_in;
use nsq_value::error::{Error, Result, nearest};
use std::path::{Path, PathBuf};

/// The reports that the arguments name: files, folders with all reports in them, archives of traces, and patterns
/// such as `rank*.sqlite`. Those of a folder, archive or pattern are in the order of the numbers in their names.
///
/// Also returns notes about files that were skipped.
///
/// # Errors
///
/// [`Error::Report`] for a folder without a report, [`Error::Io`] for one that cannot be read.
pub fn report_paths(given: &[impl AsRef<Path>]) -> Result<(Vec<PathBuf>, Vec<String>)> {
    let (mut reports, mut notes) = (Vec::new(), Vec::new());
    for path in given.iter().map(AsRef::as_ref) {
        let mut found = if path.is_dir() {
            in_folder(path, &mut notes)?
        } else if path.exists() {
            in_archive(path)
        } else {
            matching(path)?
        };
        sort_by_numbers(&mut found);
        reports.extend(found);
    }
    Ok((reports, notes))
}

/// Puts reports in the order of the numbers in their names, so that `rank2` comes before `rank10`.
pub fn sort_by_numbers(reports: &mut [PathBuf]) {
    reports.sort_by_cached_key(|path| numbers_apart(&path.to_string_lossy()));
}

/// The file itself, or the traces in it, if it is an archive of several.
fn in_archive(file: &Path) -> Vec<PathBuf> {
    // A damaged archive is told when it is opened.
    match traces_in(file) {
        Ok(names) if names.len() > 1 => names.iter().map(|name| file.join(name)).collect(),
        _ => vec![file.to_owned()],
    }
}

fn in_folder(folder: &Path, notes: &mut Vec<String>) -> Result<Vec<PathBuf>> {
    let found = find(folder)?;
    let skipped = found.notes.first().cloned();
    notes.extend(found.notes);
    if let Some((_, error)) = found.failures.into_iter().next() {
        return Err(error);
    }
    if found.profiles.is_empty() {
        if let Some((what, help)) = foreign_folder(folder) {
            return Err(Error::Report { path: folder.to_owned(), reason: what.to_owned(), help });
        }
        return Err(Error::Report {
            path: folder.to_owned(),
            reason: "is a directory without a report".to_owned(),
            help: skipped.unwrap_or_else(|| {
                "give .sqlite, .nsys-rep or .qdrep files, or PyTorch's .json or .json.gz".to_owned()
            }),
        });
    }
    Ok(found.profiles.iter().map(|profile: &Profile| profile.path().to_owned()).collect())
}

/// The files that a pattern matches; the path itself if it is none, or matches nothing.
fn matching(path: &Path) -> Result<Vec<PathBuf>> {
    let pattern = path.to_str().filter(|_| is_pattern(path));
    let Some(files) = pattern.and_then(|pattern| glob::glob(pattern).ok()) else {
        return Ok(vec![path.to_owned()]);
    };
    let mut found = Vec::new();
    for file in files {
        found.push(file.map_err(|unreadable| {
            let path = unreadable.path().to_owned();
            Error::io(&path, unreadable.into())
        })?);
    }
    Ok(if found.is_empty() { vec![path.to_owned()] } else { found })
}

/// Whether a path has signs of a pattern.
pub(super) fn is_pattern(path: &Path) -> bool {
    path.to_str().is_some_and(|text| text.contains(['*', '?', '[']))
}

/// Whether somebody who typed this means a path, although nothing may be there: it has a separator, the signs of a
/// pattern, or an extension.
pub fn looks_like_path(typed: &Path) -> bool {
    let bytes = typed.as_os_str().as_encoded_bytes();
    let has_separator = bytes.iter().any(|&byte| std::path::is_separator(char::from(byte)));
    has_separator || is_pattern(typed) || typed.extension().is_some()
}

/// Maximum files of a folder among which similar names are looked for.
const LISTED: usize = 10_000;

/// Reports beside a missing file whose names are similar to its own, with their folder.
pub fn similar_names(missing: &Path) -> Vec<String> {
    let folder = missing.parent().filter(|folder| !folder.as_os_str().is_empty());
    let name = missing.file_name().unwrap_or_default().to_string_lossy();
    let Ok(entries) = std::fs::read_dir(folder.unwrap_or(Path::new("."))) else { return Vec::new() };
    let files = entries.flatten().take(LISTED).map(|entry| PathBuf::from(entry.file_name()));
    let is_report = |file: &PathBuf| {
        let extension = file.extension().unwrap_or_default().to_string_lossy().to_lowercase();
        matches!(extension.as_str(), "sqlite" | "nsys-rep" | "qdrep" | "json" | "gz" | "zst" | "zip")
    };
    let names: Vec<String> =
        files.filter(is_report).map(|file| file.to_string_lossy().into_owned()).collect();
    let near = nearest(&name, names.iter().map(String::as_str)).into_iter();
    near.map(|name| folder.map_or(name.clone(), |folder| folder.join(&name).display().to_string()))
        .collect()
}

/// Texts and numbers in turn. Ties are in the order of the text.
fn numbers_apart(text: &str) -> (Vec<(String, u128)>, String) {
    let mut parts = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let number_at = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
        let (name, from_number) = rest.split_at(number_at);
        let number_end = from_number.find(|c: char| !c.is_ascii_digit()).unwrap_or(from_number.len());
        let (number, after) = from_number.split_at(number_end);
        parts.push((name.to_owned(), number.parse().unwrap_or(0)));
        rest = after;
    }
    (parts, text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_file_is_told_from_a_word() {
        for path in ["a.sqlite", "a/b", "/dev/zero", "rank*", "./a", "a/"] {
            assert!(looks_like_path(Path::new(path)), "{path}");
        }
        for word in ["missing", "top_kernels", "-x", ""] {
            assert!(!looks_like_path(Path::new(word)), "{word}");
        }
        let folder = tempfile::tempdir().unwrap();
        for name in ["report.sqlite", "report.txt"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let near = similar_names(&folder.path().join("reprot.sqlite"));
        assert_eq!(near, [folder.path().join("report.sqlite").display().to_string()]);
        assert!(similar_names(&folder.path().join("gone/report.sqlite")).is_empty());
    }

    #[test]
    fn folders_and_patterns_name_reports_in_the_order_of_their_numbers() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["rank10.sqlite", "rank2.sqlite", "rank2b.sqlite", "notes.txt"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let names = |given: &str| -> Vec<String> {
            let found = report_paths(&[folder.path().join(given)]).unwrap().0;
            found.iter().map(|path| path.file_name().unwrap().to_str().unwrap().to_owned()).collect()
        };
        assert_eq!(names(""), ["rank2.sqlite", "rank2b.sqlite", "rank10.sqlite"]);
        assert_eq!(names("rank*.sqlite"), ["rank2.sqlite", "rank2b.sqlite", "rank10.sqlite"]);
        assert_eq!(names("rank[0-9].sqlite"), ["rank2.sqlite"]);
        // What matches nothing is left to the error about the missing file.
        assert_eq!(names("host*.sqlite"), ["host*.sqlite"]);
        let empty = tempfile::tempdir().unwrap();
        assert!(report_paths(&[empty.path().to_owned()]).is_err());
    }
}
