//! Which files may be opened: reports under the roots that the server was started with, and nothing else.
//!
//! A name is resolved by the kernel, beneath an open root folder, so that no link and no `..` leads out of
//! it. The path that is then opened has no links and follows none, and the file is compared before and after
//! each answer: if somebody replaced it meanwhile, the answer is dropped. Somebody who may write under a root
//! can still make the server read another report of the same user: with a folder that becomes a link and is
//! put back within one question, or with such a file while a capture is exported, a trace imported, or the
//! program runs for `answer`. Do not give such a folder as a root.

use crate::failure::Failure;
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Component, Path, PathBuf};

/// Longest name of a report, in bytes, as in Linux.
const LONGEST_NAME: usize = 4096;
/// Deepest folder below a root that is searched for reports.
const DEEPEST: usize = 8;
/// Most files and folders to look at in a search.
const MOST_ENTRIES: usize = 20_000;
/// Files that SQLite or nsq open beside a report.
const BESIDE: [&str; 3] = ["-wal", "-shm", "-journal"];

/// The folders whose reports may be opened.
#[derive(Debug)]
pub(crate) struct Roots(Vec<Root>);

#[derive(Debug)]
struct Root {
    /// Absolute, without links.
    path: PathBuf,
    #[cfg(target_os = "linux")]
    folder: File,
}

/// A file under a root, as it was when its name was resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Located {
    /// The name for answers: relative to its root if there is only one.
    pub(crate) name: String,
    /// Absolute, without links.
    pub(crate) path: PathBuf,
    identity: Identity,
}

/// What tells a file from another one that takes its place: device, inode, size, and nanoseconds of its last
/// change.
type Identity = (u64, u64, u64, i128);

impl Roots {
    /// Opens the folders.
    pub(crate) fn open(folders: &[PathBuf]) -> io::Result<Self> {
        let mut roots = Vec::<Root>::new();
        for folder in folders {
            let named = |e: io::Error| io::Error::new(e.kind(), format!("{}: {e}", folder.display()));
            let path = fs::canonicalize(folder).map_err(named)?;
            if !path.is_dir() {
                return Err(named(io::Error::other("is not a folder")));
            }
            if roots.iter().any(|root| root.path == path) {
                continue;
            }
            #[cfg(target_os = "linux")]
            let folder = File::open(&path).map_err(named)?;
            roots.push(Root {
                path,
                #[cfg(target_os = "linux")]
                folder,
            });
        }
        Ok(Self(roots))
    }

    /// The folders, for people.
    pub(crate) fn names(&self) -> Vec<String> {
        self.0.iter().map(|root| root.path.display().to_string()).collect()
    }

    /// Finds the file of a name: relative to a root, or an absolute path under one.
    pub(crate) fn locate(&self, name: &str) -> Result<Located, Failure> {
        let refuse = |reason: &str| {
            Failure::new(
                format!("cannot open the report {}: {reason}", quoted(name)),
                "list_reports lists the names of the reports that can be opened",
            )
        };
        if name.is_empty() || name.len() > LONGEST_NAME || name.contains('\0') {
            return Err(refuse("this is not the name of a file"));
        }
        if name.contains("://") || name.starts_with("file:") {
            return Err(refuse("URLs are not opened"));
        }
        let given = Path::new(name);
        if given.components().any(|part| part == Component::ParentDir) {
            return Err(refuse("names with .. are not opened"));
        }
        let mut outside = false;
        let mut found = Vec::new();
        for root in &self.0 {
            let relative = match given.is_absolute() {
                false => given,
                true => match given.strip_prefix(&root.path) {
                    Ok(relative) => relative,
                    Err(_) => {
                        outside = true;
                        continue;
                    }
                },
            };
            match root.open(relative) {
                Ok(located) => found.push((root, located)),
                Err(e) if e.kind() == io::ErrorKind::NotFound => {}
                // EXDEV and ELOOP: the name leads out of the root.
                Err(_) => outside = true,
            }
        }
        match found.as_slice() {
            [(root, (path, identity))] => {
                root.check_beside(path).map_err(|reason| refuse(&reason))?;
                Ok(Located { name: self.name(root, path), path: path.clone(), identity: *identity })
            }
            [] if outside => Err(refuse("it is not under the roots of this server")),
            [] => Err(refuse("there is no such file under the roots of this server")),
            _ => Err(refuse("several roots have it; give the absolute path")),
        }
    }

    /// Whether the file is still the one that was located, at the same place.
    pub(crate) fn is_unchanged(&self, located: &Located) -> bool {
        let root = self.0.iter().find(|root| located.path.starts_with(&root.path));
        root.is_some_and(|root| {
            let relative = located.path.strip_prefix(&root.path).unwrap_or(&located.path);
            root.open(relative).is_ok_and(|(path, identity)| {
                path == located.path && identity == located.identity && root.check_beside(&path).is_ok()
            })
        })
    }

    /// Takes the absolute paths of the roots out of a message.
    pub(crate) fn shorten(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for root in &self.0 {
            text = text.replace(&format!("{}/", root.path.display()), "");
        }
        text
    }

    fn name(&self, root: &Root, path: &Path) -> String {
        let relative = path.strip_prefix(&root.path).unwrap_or(path);
        let shown = if self.0.len() == 1 { relative } else { path };
        shown.to_string_lossy().into_owned()
    }

    /// The reports under the roots: name, kind, bytes, and seconds since the epoch of the last change. Links
    /// to folders are not followed. `true`: there are more files than were looked at.
    pub(crate) fn list(&self, below: Option<&str>) -> (Vec<Json>, bool) {
        let mut reports = BTreeMap::new();
        let mut left = MOST_ENTRIES;
        for root in &self.0 {
            let mut pending = vec![(root.path.clone(), 0)];
            while let Some((folder, depth)) = pending.pop() {
                let Ok(entries) = fs::read_dir(&folder) else { continue };
                for entry in entries.flatten() {
                    if left == 0 {
                        break;
                    }
                    left -= 1;
                    let Ok(kind) = entry.file_type() else { continue };
                    let path = entry.path();
                    if kind.is_dir() && depth < DEEPEST {
                        pending.push((path, depth + 1));
                    } else if let (false, Some(what)) = (kind.is_dir(), kind_of(&path)) {
                        let name = self.name(root, &path);
                        // A link may lead out of the root, and a name may not be text.
                        let Ok(located) = self.locate(&name) else { continue };
                        let (.., bytes, changed) = located.identity;
                        let changed = i64::try_from(changed / 1_000_000_000).unwrap_or(0);
                        let is_wanted = below.is_none_or(|below| name.contains(below));
                        if is_wanted {
                            let report = json!([nsq::visible(&name), what, bytes, changed]);
                            reports.insert(name, report);
                        }
                    }
                }
            }
        }
        (reports.into_values().collect(), left == 0)
    }
}

impl Root {
    /// Opens a file beneath the root, and tells its real path.
    fn open(&self, relative: &Path) -> io::Result<(PathBuf, Identity)> {
        let (path, file) = self.open_beneath(relative)?;
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(io::Error::other("is not a file"));
        }
        if !path.starts_with(&self.path) {
            return Err(io::Error::other("is outside the root"));
        }
        Ok((path, identity(&metadata)))
    }

    #[cfg(target_os = "linux")]
    fn open_beneath(&self, relative: &Path) -> io::Result<(PathBuf, File)> {
        use rustix::fs::{Mode, OFlags, ResolveFlags, openat2};
        use std::os::fd::AsRawFd;
        let how = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
        let beneath = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        match openat2(&self.folder, relative, how, Mode::empty(), beneath) {
            Ok(file) => {
                let file = File::from(file);
                let path = fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd()))?;
                Ok((path, file))
            }
            // A kernel before 5.6, or a sandbox without the call.
            Err(rustix::io::Errno::NOSYS | rustix::io::Errno::PERM) => self.open_canonical(relative),
            Err(e) => Err(e.into()),
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn open_beneath(&self, relative: &Path) -> io::Result<(PathBuf, File)> {
        self.open_canonical(relative)
    }

    /// As [`Root::open_beneath`], where the kernel cannot keep the name beneath the root.
    fn open_canonical(&self, relative: &Path) -> io::Result<(PathBuf, File)> {
        let path = fs::canonicalize(self.path.join(relative))?;
        if !path.starts_with(&self.path) {
            return Err(io::Error::other("is outside the root"));
        }
        // Not a pipe, whose opening would wait.
        if !path.metadata()?.is_file() {
            return Err(io::Error::other("is not a file"));
        }
        let file = File::open(&path)?;
        Ok((path, file))
    }

    /// Refuses links beside a report that would be opened with it.
    fn check_beside(&self, path: &Path) -> Result<(), String> {
        let beside = BESIDE.map(|suffix| {
            let mut name = path.as_os_str().to_owned();
            name.push(suffix);
            PathBuf::from(name)
        });
        // nsq uses an export that it finds next to a capture.
        let export =
            kind_of(path).filter(|kind| *kind == "capture").map(|_| path.with_extension("sqlite"));
        let is_link = |path: &PathBuf| path.symlink_metadata().is_ok_and(|file| file.is_symlink());
        match beside.iter().chain(&export).find(|path| is_link(path)) {
            Some(link) => Err(format!(
                "{} next to it is a link",
                quoted(&link.file_name().unwrap_or_default().to_string_lossy())
            )),
            None => Ok(()),
        }
    }
}

/// What kind of report a file is, by its name.
fn kind_of(path: &Path) -> Option<&'static str> {
    let name = path.file_name()?.to_str()?.to_ascii_lowercase();
    let ends = |ends: &[&str]| ends.iter().any(|end| name.ends_with(end));
    if ends(&[".sqlite", ".sqlite3", ".db"]) {
        Some("export")
    } else if ends(&[".nsys-rep", ".qdrep"]) {
        Some("capture")
    } else if ends(&[".json", ".json.gz"]) {
        Some("trace")
    } else {
        None
    }
}

#[cfg(unix)]
fn identity(metadata: &fs::Metadata) -> Identity {
    use std::os::unix::fs::MetadataExt;
    let changed = i128::from(metadata.mtime()) * 1_000_000_000 + i128::from(metadata.mtime_nsec());
    (metadata.dev(), metadata.ino(), metadata.len(), changed)
}

#[cfg(not(unix))]
fn identity(metadata: &fs::Metadata) -> Identity {
    let changed =
        metadata.modified().ok().and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
    (0, 0, metadata.len(), changed.map_or(0, |time| i128::try_from(time.as_nanos()).unwrap_or(0)))
}

/// A name of the caller in a message: short, and without control characters.
pub(crate) fn quoted(name: &str) -> String {
    const MOST: usize = 200;
    let short: String = name.chars().take(MOST).collect();
    let rest = if short.len() < name.len() { "…" } else { "" };
    format!("'{}{rest}'", nsq::visible(&short))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn reason(roots: &Roots, name: &str) -> String {
        roots.locate(name).unwrap_err().text
    }

    #[test]
    fn names_stay_beneath_the_roots() {
        let folder = tempfile::tempdir().unwrap();
        let (root, other) = (folder.path().join("root"), folder.path().join("other"));
        fs::create_dir_all(root.join("sub")).unwrap();
        fs::create_dir_all(&other).unwrap();
        for file in [root.join("a.sqlite"), root.join("sub/b.sqlite"), other.join("secret.sqlite")] {
            fs::write(file, "SQLite format 3\0").unwrap();
        }
        symlink("sub/b.sqlite", root.join("inside.sqlite")).unwrap();
        symlink("../other/secret.sqlite", root.join("outside.sqlite")).unwrap();
        symlink(&other, root.join("folder")).unwrap();
        let roots = Roots::open(std::slice::from_ref(&root)).unwrap();
        let real = fs::canonicalize(&root).unwrap();
        assert_eq!(roots.locate("a.sqlite").unwrap().path, real.join("a.sqlite"));
        assert_eq!(roots.locate("inside.sqlite").unwrap().name, "sub/b.sqlite");
        let absolute = real.join("sub/b.sqlite");
        assert_eq!(roots.locate(absolute.to_str().unwrap()).unwrap().path, absolute);
        for name in ["outside.sqlite", "folder/secret.sqlite", "/etc/passwd", "sub"] {
            assert!(reason(&roots, name).contains("not under the roots"), "{name}");
        }
        assert!(reason(&roots, "../other/secret.sqlite").contains(".."));
        assert!(reason(&roots, "sub/../../other/secret.sqlite").contains(".."));
        assert!(reason(&roots, "https://example.org/a.sqlite").contains("URLs"));
        assert!(reason(&roots, "*.sqlite").contains("no such file"));
        assert!(reason(&roots, &"a".repeat(5000)).contains("not the name"));
        let (names, more) = roots.list(None);
        assert_eq!((names.len(), more), (3, false), "{names:?}");
    }

    #[test]
    fn a_replaced_report_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.sqlite");
        fs::write(&file, "one").unwrap();
        let roots = Roots::open(&[folder.path().to_owned()]).unwrap();
        let located = roots.locate("a.sqlite").unwrap();
        assert!(roots.is_unchanged(&located));
        fs::remove_file(&file).unwrap();
        symlink("/etc/hostname", &file).unwrap();
        assert!(!roots.is_unchanged(&located));
        fs::remove_file(&file).unwrap();
        fs::write(&file, "another").unwrap();
        assert!(!roots.is_unchanged(&located));
    }

    #[test]
    fn links_beside_a_report_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("root");
        fs::create_dir(&root).unwrap();
        fs::write(folder.path().join("secret.sqlite"), "x").unwrap();
        fs::write(root.join("a.nsys-rep"), "x").unwrap();
        symlink("../secret.sqlite", root.join("a.sqlite")).unwrap();
        let roots = Roots::open(&[root]).unwrap();
        assert!(reason(&roots, "a.nsys-rep").contains("is a link"));
    }
}
