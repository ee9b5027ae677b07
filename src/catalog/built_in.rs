//! The library inside the program.

use include_dir::{Dir, File, include_dir};

pub(super) static EMBEDDED: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/queries");

/// Prefix of the file names of the embedded library. No user file has it.
pub const BUILT_IN: &str = "built-in:";

/// The YAML of the embedded files as JSON: path, length of the YAML, JSON. Sorted by path.
const AS_JSON: &[(&str, usize, &str)] = include!(concat!(env!("OUT_DIR"), "/front_matter.rs"));

/// The JSON of the YAML in a file of the embedded library.
pub(super) fn as_json(file: &str, yaml: &str) -> Option<&'static str> {
    let inside = file.strip_prefix(BUILT_IN)?.strip_prefix("queries/")?;
    let place = AS_JSON.binary_search_by_key(&inside, |&(path, ..)| path).ok()?;
    let (_, length, json) = AS_JSON[place];
    (length == yaml.len()).then_some(json)
}

/// Whether `text` is the content of the embedded library's file with the stem `name`.
///
/// The name and the content must both match: a user's file may have any name, and the library's text
/// under another name would define a different relation.
pub fn is_built_in(name: &str, text: &str) -> bool {
    let mut pending: Vec<&Dir<'static>> = vec![&EMBEDDED];
    while let Some(folder) = pending.pop() {
        pending.extend(folder.dirs());
        let is_it = |file: &File<'static>| {
            let stem = file.path().file_stem().and_then(|stem| stem.to_str());
            stem == Some(name) && file.contents() == text.as_bytes()
        };
        if folder.files().any(is_it) {
            return true;
        }
    }
    false
}
