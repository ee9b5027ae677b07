//! Patterns that match whole names: `*`, `?` and `[…]`.

use crate::error::{Error, Result};
use regex::Regex;

/// A pattern with `*`, `?` and `[…]` that matches a whole text.
#[derive(Debug, Clone)]
pub struct Glob(Regex);

impl Glob {
    /// Parses a pattern. All other characters match themselves.
    pub fn new(pattern: &str) -> Result<Self> {
        let mut regex = String::from("(?s)^");
        let mut rest = pattern.chars();
        while let Some(c) = rest.next() {
            match c {
                '*' => regex.push_str(".*"),
                '?' => regex.push('.'),
                '[' => match one_of(rest.as_str()) {
                    Some((class, after)) => {
                        regex.push_str(&class);
                        rest = after.chars();
                    }
                    None => regex.push_str("\\["),
                },
                c => regex.push_str(&regex::escape(&c.to_string())),
            }
        }
        regex.push('$');
        Regex::new(&regex).map(Self).map_err(|_| {
            Error::usage(
                format!("invalid pattern '{pattern}'"),
                "* matches any text, ? any one character, [abc] one of these characters",
            )
        })
    }

    /// The pattern of a name that was shortened for display: `…` stands for any text, and all other
    /// characters for themselves.
    pub fn of_shortened(name: &str) -> Result<Self> {
        let parts: Vec<String> = name.split('…').map(regex::escape).collect();
        let regex = Regex::new(&format!("(?s)^{}$", parts.join(".*")));
        regex
            .map(Self)
            .map_err(|_| Error::usage(format!("invalid name '{name}'"), "give the whole name"))
    }

    /// Whether the pattern matches the whole text.
    pub fn matches(&self, text: &str) -> bool {
        self.0.is_match(text)
    }
}

/// Parses a class such as `abc]` into a regular expression. Returns it with the text after `]`.
///
/// Returns `None` for an empty or invalid class, such as `[]` and `[z-a]`.
fn one_of(rest: &str) -> Option<(String, &str)> {
    let (inside, after) = rest.split_once(']')?;
    let mut class = String::from("[");
    for c in inside.chars() {
        match c {
            '^' | '-' => class.push(c),
            c => class.push_str(&regex::escape(&c.to_string())),
        }
    }
    class.push(']');
    Regex::new(&class).ok().map(|_| (class, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn incomplete_classes_match_themselves() {
        for (pattern, fits, fails) in [
            ("a*c", "abbc", "abcd"),
            ("a?c", "aéc", "ac"),
            ("[a-c]x", "bx", "dx"),
            ("[^a]x", "bx", "ax"),
            ("a[]b", "a[]b", "ab"),
            ("[z-a]", "[z-a]", "z"),
            ("[^]x", "[^]x", "x"),
            ("[]*", "[] of", "x"),
            ("a[b", "a[b", "ab"),
            ("[[]x", "[x", "x"),
            ("a.c|d", "a.c|d", "abc"),
        ] {
            let glob = Glob::new(pattern).unwrap();
            assert!(glob.matches(fits) && !glob.matches(fails), "{pattern}");
        }
    }
}
