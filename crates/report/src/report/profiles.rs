//! Finds the profiles in a folder, and gives each a unique name.

use crate::trace::{is_archive, is_tar, is_trace_text, looks_like_trace, start_of, traces_in};
use nsq_value::error::{Error, Result};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// A capture or trace with the export beside it, or just one of the two.
#[derive(Debug)]
pub struct Profile {
    /// Unique base name for files that are written about this profile.
    pub base: PathBuf,
    file: PathBuf,
    export: Option<PathBuf>,
}

/// What is in a folder.
#[derive(Debug, Default)]
pub struct Found {
    /// The profiles, by their base.
    pub profiles: Vec<Profile>,
    /// Folders that could not be read.
    pub failures: Vec<(PathBuf, Error)>,
    /// Skipped files, and why.
    pub notes: Vec<String>,
}

impl Profile {
    /// The file to read: the export, unless the capture or trace is newer.
    pub fn path(&self) -> &Path {
        let modified = |path: &Path| path.metadata().and_then(|m| m.modified()).ok();
        match &self.export {
            Some(export) if modified(&self.file) <= modified(export) => export,
            _ => &self.file,
        }
    }

    /// All its files.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        std::iter::once(self.file.as_path()).chain(self.export.as_deref())
    }

    /// The base name as text. Bytes that are not UTF-8 are escaped, so that the name stays unique.
    pub fn name(&self) -> String {
        let mut name = String::new();
        for chunk in self.base.as_os_str().as_encoded_bytes().utf8_chunks() {
            name.push_str(chunk.valid());
            chunk.invalid().iter().for_each(|byte| name.push_str(&format!("\\x{byte:02x}")));
        }
        name
    }
}

/// Kind of a file, by its extension. If several files could own an export, the first in this order does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Capture,
    OldCapture,
    Trace,
    Export,
}

/// Finds the profiles in a folder and its subfolders. Links to folders are not followed.
pub fn find(folder: &Path) -> Result<Found> {
    let mut found = Found::default();
    let mut files: Vec<(Kind, PathBuf)> = Vec::new();
    let mut pending = vec![folder.to_owned()];
    while let Some(current) = pending.pop() {
        let entries = match std::fs::read_dir(&current) {
            Ok(entries) => entries,
            Err(e) if current == folder => return Err(Error::io(folder, e)),
            Err(e) => {
                found.failures.push((current.clone(), Error::io(&current, e)));
                continue;
            }
        };
        for entry in entries {
            let entry = entry.map_err(|e| Error::io(&current, e))?;
            let path = entry.path();
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                pending.push(path);
                continue;
            }
            let kind = match path.extension().unwrap_or_default().to_ascii_lowercase().to_str() {
                Some("nsys-rep") => Kind::Capture,
                Some("qdrep") => Kind::OldCapture,
                Some("sqlite") => Kind::Export,
                Some("json" | "gz" | "zst" | "zip" | "tar" | "tgz") => Kind::Trace,
                _ => continue,
            };
            if path.metadata().is_ok_and(|m| !m.is_file()) {
                // Reading a pipe would block until somebody writes to it.
                found.notes.push(format!("{} is not a regular file: skipped", path.display()));
            } else if kind != Kind::Trace {
                files.push((kind, path));
            } else if let Some(traces) = traces(&path) {
                files.extend(traces.into_iter().map(|trace| (kind, trace)));
            } else {
                let path = path.display();
                found
                    .notes
                    .push(format!("{path} is a large archive: skipped; give its path to read it"));
            }
        }
    }
    files.sort();
    found.notes.sort();
    found.profiles = profiles(folder, files);
    Ok(found)
}

/// Groups files into profiles: the export `run.sqlite` belongs to the capture `run.nsys-rep`.
///
/// An export spelled differently, such as `run.SQLITE`, belongs to it only if there is no `run.sqlite`.
fn profiles(folder: &Path, files: Vec<(Kind, PathBuf)>) -> Vec<Profile> {
    let mut exports: Vec<PathBuf> = Vec::new();
    let mut profiles: Vec<Profile> = Vec::new();
    for (kind, file) in files {
        match kind {
            Kind::Export => exports.push(file),
            _ => profiles.push(Profile { base: PathBuf::new(), file, export: None }),
        }
    }
    // `sqlite` comes before its other spellings.
    exports.sort_by_key(|path| path.extension().is_some_and(|spelled| spelled != "sqlite"));
    // If several files could own an export, the first one does.
    let mut of_stem = BTreeMap::<PathBuf, usize>::new();
    for (index, profile) in profiles.iter().enumerate() {
        of_stem.entry(stem(&profile.file)).or_insert(index);
    }
    for export in exports {
        match of_stem.remove(&stem(&export)) {
            Some(index) => profiles[index].export = Some(export),
            None => profiles.push(Profile { base: PathBuf::new(), file: export, export: None }),
        }
    }
    assign_names(folder, &mut profiles);
    profiles.sort_by(|a, b| a.base.as_os_str().cmp(b.base.as_os_str()));
    profiles
}

/// Names each profile by its path inside the folder, without the extension if that is still unique.
fn assign_names(folder: &Path, profiles: &mut [Profile]) {
    let inside = |path: &Path| path.strip_prefix(folder).unwrap_or(path).to_owned();
    let whole: BTreeSet<PathBuf> = profiles.iter().map(|profile| inside(&profile.file)).collect();
    let mut of_stem = BTreeMap::<PathBuf, usize>::new();
    for profile in profiles.iter() {
        *of_stem.entry(inside(&stem(&profile.file))).or_default() += 1;
    }
    for profile in profiles {
        let stem = inside(&stem(&profile.file));
        let is_own = of_stem.get(&stem) == Some(&1) && !whole.contains(&stem);
        profile.base = if is_own { stem } else { inside(&profile.file) };
    }
}

/// The path without its extension; `.json.gz` counts as one extension.
fn stem(path: &Path) -> PathBuf {
    let ends_in =
        |path: &Path, ending: &str| path.extension().unwrap_or_default().to_ascii_lowercase() == ending;
    let stem = path.with_extension("");
    if (ends_in(path, "gz") || ends_in(path, "zst")) && ends_in(&stem, "json") {
        stem.with_extension("")
    } else {
        stem
    }
}

/// Number of bytes to read to recognise a trace.
const HEAD: u64 = 64 * 1024;

/// Maximum bytes of a tar archive, which is read to its end for the names in it.
const LARGEST_SEARCHED: u64 = 256 << 20;

/// The traces that a file holds: itself, those in an archive, or none if it is other JSON. `None`: not looked for.
fn traces(path: &Path) -> Option<Vec<PathBuf>> {
    let Ok(file) = File::open(path) else { return Some(Vec::new()) };
    let size = file.metadata().map_or(0, |metadata| metadata.len());
    let mut head = Vec::new();
    if file.take(HEAD).read_to_end(&mut head).is_err() {
        return Some(Vec::new());
    }
    let text = start_of(&head);
    if is_archive(&head) || is_tar(&text) {
        // A zip archive lists what is in it.
        if is_tar(&text) && size > LARGEST_SEARCHED {
            return None;
        }
        let names = traces_in(path).unwrap_or_default();
        return Some(match names.len() {
            1 => vec![path.to_owned()],
            _ => names.iter().map(|name| path.join(name)).collect(),
        });
    }
    let is_trace = looks_like_trace(&head) && is_trace_text(&text);
    Some(if is_trace { vec![path.to_owned()] } else { Vec::new() })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Name, file and export of each profile.
    fn named(files: &[(Kind, &str)]) -> Vec<(String, String, Option<String>)> {
        let mut files: Vec<(Kind, PathBuf)> =
            files.iter().map(|(kind, path)| (*kind, Path::new("f").join(path))).collect();
        files.sort();
        let text = |path: &Path| path.strip_prefix("f").unwrap().to_str().unwrap().to_owned();
        let of = |profile: &Profile| {
            (profile.name(), text(&profile.file), profile.export.as_deref().map(text))
        };
        profiles(Path::new("f"), files).iter().map(of).collect()
    }

    fn one(name: &str, file: &str, export: Option<&str>) -> (String, String, Option<String>) {
        (name.to_owned(), file.to_owned(), export.map(str::to_owned))
    }

    #[test]
    fn an_export_belongs_to_one_capture_and_no_profile_hides_another() {
        use Kind::{Capture, Export, OldCapture, Trace};
        assert_eq!(
            named(&[(Capture, "d/run.nsys-rep"), (Export, "d/run.sqlite"), (Export, "run.sqlite")]),
            [one("d/run", "d/run.nsys-rep", Some("d/run.sqlite")), one("run", "run.sqlite", None)]
        );
        assert_eq!(
            named(&[(Export, "a.sqlite"), (Export, "a.SQLITE")]),
            [one("a.SQLITE", "a.SQLITE", None), one("a.sqlite", "a.sqlite", None)]
        );
        assert_eq!(
            named(&[(Capture, "b.nsys-rep"), (OldCapture, "b.qdrep"), (Export, "b.sqlite")]),
            [one("b.nsys-rep", "b.nsys-rep", Some("b.sqlite")), one("b.qdrep", "b.qdrep", None)]
        );
        assert_eq!(
            named(&[(Capture, "c.nsys-rep"), (Export, "c.SQLITE"), (Export, "c.sqlite")]),
            [one("c.SQLITE", "c.SQLITE", None), one("c.nsys-rep", "c.nsys-rep", Some("c.sqlite"))]
        );
        // The short name of one profile may be the whole name of another.
        assert_eq!(
            named(&[(Export, "e.sqlite"), (Export, "e.SQLITE"), (Export, "e.sqlite.sqlite")]),
            [
                one("e.SQLITE", "e.SQLITE", None),
                one("e.sqlite", "e.sqlite", None),
                one("e.sqlite.sqlite", "e.sqlite.sqlite", None)
            ]
        );
        assert_eq!(
            named(&[(Trace, "t.pt.trace.json.gz"), (Export, "t.pt.trace.sqlite")]),
            [one("t.pt.trace", "t.pt.trace.json.gz", Some("t.pt.trace.sqlite"))]
        );
    }

    #[cfg(unix)]
    #[test]
    fn names_that_are_not_utf8_stay_different() {
        use std::ffi::OsString;
        use std::os::unix::ffi::OsStringExt;
        let export = |byte| (Kind::Export, PathBuf::from(OsString::from_vec(vec![b'f', b'/', byte])));
        let names: Vec<String> = profiles(Path::new("f"), vec![export(0xfe), export(0xff)])
            .iter()
            .map(Profile::name)
            .collect();
        assert_eq!(names, ["\\xfe", "\\xff"]);
    }
}
