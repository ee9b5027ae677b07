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
                '[' if rest.as_str().contains(']') => {
                    regex.push('[');
                    for c in rest.by_ref().take_while(|c| *c != ']') {
                        match c {
                            '^' | '-' => regex.push(c),
                            c => regex.push_str(&regex::escape(&c.to_string())),
                        }
                    }
                    regex.push(']');
                }
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
