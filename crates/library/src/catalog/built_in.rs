//! The library that a program brings along.

use super::library::Catalog;
use super::lock;
use nsq_value::error::{Error, Result};
use std::path::Path;
use std::sync::OnceLock;

/// Prefix of the file names of the embedded library. No user file has it.
pub const BUILT_IN: &str = "built-in:";

/// A file of the embedded library.
#[derive(Debug)]
pub struct EmbeddedFile {
    /// Its path in the folder `queries`.
    pub path: &'static str,
    /// Its text.
    pub text: &'static str,
    /// Its YAML as JSON, which is parsed ten times faster. `None` if it has no YAML, or if that is damaged.
    pub json: Option<&'static str>,
}

/// The library that a program embeds. Users' files come on top of it.
#[derive(Debug)]
pub struct BuiltIn {
    files: &'static [EmbeddedFile],
    catalog: OnceLock<Catalog>,
}

/// An empty library.
static NOTHING: BuiltIn = BuiltIn::new(&[]);

impl Default for &'static BuiltIn {
    fn default() -> Self {
        &NOTHING
    }
}

impl BuiltIn {
    /// The library of these files.
    pub const fn new(files: &'static [EmbeddedFile]) -> Self {
        Self { files, catalog: OnceLock::new() }
    }

    /// The library in a folder, for programs that embed none. Its texts stay in memory until the program ends.
    pub fn read(folder: &Path) -> Result<&'static Self> {
        fn find(root: &Path, folder: &Path, into: &mut Vec<EmbeddedFile>) -> Result<()> {
            let failed = |e| Error::io(folder, e);
            for entry in std::fs::read_dir(folder).map_err(failed)? {
                let path = entry.map_err(failed)?.path();
                if path.is_dir() {
                    find(root, &path, into)?;
                } else if let Ok(text) = std::fs::read_to_string(&path) {
                    let inside = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().into_owned();
                    into.push(EmbeddedFile { path: inside.leak(), text: text.leak(), json: None });
                }
            }
            Ok(())
        }
        let mut files = Vec::new();
        find(folder, folder, &mut files)?;
        files.sort_by_key(|file| file.path);
        Ok(Box::leak(Box::new(Self::new(files.leak()))))
    }

    /// Its catalogue alone, loaded once.
    pub fn catalog(&'static self) -> Result<&'static Catalog> {
        match self.catalog.get() {
            Some(catalog) => Ok(catalog),
            None => Catalog::load(self, &[]).map(|catalog| self.catalog.get_or_init(|| catalog)),
        }
    }

    /// Its files, sorted by path.
    pub fn files(&self) -> &'static [EmbeddedFile] {
        self.files
    }

    /// The text of its lock file, or an empty string if there is none.
    pub fn lock(&self) -> &'static str {
        self.files.iter().find(|file| file.path == lock::FILE).map_or("", |file| file.text)
    }

    /// Whether `text` is the content of its file with the stem `name`.
    ///
    /// The name and the content must both match: a user's file may have any name, and the library's text
    /// under another name would define a different relation.
    pub fn has(&self, name: &str, text: &str) -> bool {
        let is_named = |path| Path::new(path).file_stem().is_some_and(|stem| stem == name);
        self.files.iter().any(|file| file.text == text && is_named(file.path))
    }
}
