//! Words of commands, as a shell reads them.

use std::path::Path;

/// Quotes a word for the shell.
pub fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// The path of a file in a command to type.
pub fn path(path: &Path) -> String {
    quoted(&path.display().to_string())
}

/// A part of a command line.
pub fn line_of(words: &[String]) -> String {
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}
