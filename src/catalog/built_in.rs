//! The library inside the program.

use include_dir::{Dir, File, include_dir};

pub(super) static EMBEDDED: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/queries");

/// Prefix of the file names of the embedded library. No user file has it.
pub const BUILT_IN: &str = "built-in:";

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
