//! Patterns over whole names: `*`, `?` and `[…]`.

use crate::error::{Error, Result};
use regex::Regex;

/// A pattern with `*`, `?` and `[…]`, over the whole of a text.
#[derive(Debug, Clone)]
pub struct Glob(Regex);

impl Glob {
    /// Reads a pattern; whatever is none of the three stands for itself.
    pub fn new(pattern: &str) -> Result<Self> {
        let mut regex = String::from("(?s)^");
        let mut rest = pattern.chars();
        while let Some(c) = rest.next() {
            match c {
                '*' => regex.push_str(".*"),
                '?' => regex.push('.'),
                '[' => match one_of(rest.as_str()) {
                    Some((class, behind)) => {
                        regex.push_str(&class);
                        rest = behind.chars();
                    }
                    None => regex.push_str("\\["),
                },
                c => regex.push_str(&regex::escape(&c.to_string())),
            }
        }
        regex.push('$');
        Regex::new(&regex).map(Self).map_err(|_| {
            Error::usage(
                format!("`{pattern}` is no pattern"),
                "* stands for any text, ? for one character, [abc] for one of several",
            )
        })
    }

    /// The whole text fits the pattern.
    pub fn matches(&self, text: &str) -> bool {
        self.0.is_match(text)
    }
}

/// The characters up to `]` as a regular expression, and what is behind it; none where they say nothing,
/// as in `[]` and `[z-a]`.
fn one_of(rest: &str) -> Option<(String, &str)> {
    let (inside, behind) = rest.split_once(']')?;
    let mut class = String::from("[");
    for c in inside.chars() {
        match c {
            '^' | '-' => class.push(c),
            c => class.push_str(&regex::escape(&c.to_string())),
        }
    }
    class.push(']');
    Regex::new(&class).ok().map(|_| (class, behind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_pattern_stands_for_itself() {
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
