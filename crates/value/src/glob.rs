//! Patterns that match whole names: `*`, `?` and `[…]`.

use crate::error::{Error, Result};
use regex::Regex;

/// A pattern with `*`, `?` and `[…]` that matches a whole text.
#[derive(Debug, Clone)]
pub struct Glob(Pattern);

#[derive(Debug, Clone)]
enum Pattern {
    /// These texts, with anything between them. Most patterns have only stars, and take no time to compile so.
    Texts(Vec<String>),
    Regex(Regex),
}

impl Glob {
    /// Parses a pattern. All other characters match themselves.
    pub fn new(pattern: &str) -> Result<Self> {
        if !pattern.contains(['?', '[']) {
            return Ok(Self::of_texts(pattern.split('*')));
        }
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
        Regex::new(&regex).map(|regex| Self(Pattern::Regex(regex))).map_err(|_| {
            Error::usage(
                format!("invalid pattern '{pattern}'"),
                "* matches any text, ? any one character, [abc] one of these characters",
            )
        })
    }

    /// The pattern of a name that was shortened for display: `…` stands for any text, and all other
    /// characters for themselves.
    pub fn of_shortened(name: &str) -> Self {
        Self::of_texts(name.split('…'))
    }

    fn of_texts<'a>(texts: impl Iterator<Item = &'a str>) -> Self {
        Self(Pattern::Texts(texts.map(str::to_owned).collect()))
    }

    /// Whether the pattern matches the whole text.
    pub fn matches(&self, text: &str) -> bool {
        match &self.0 {
            Pattern::Texts(texts) => holds_in_order(text, texts),
            Pattern::Regex(regex) => regex.is_match(text),
        }
    }
}

/// Whether a text consists of others in this order, with anything between them.
fn holds_in_order(text: &str, others: &[String]) -> bool {
    let [first, between @ .., last] = others else { return others.iter().all(|other| other == text) };
    let rest = text.strip_prefix(first.as_str()).and_then(|rest| rest.strip_suffix(last.as_str()));
    let Some(mut rest) = rest else { return false };
    let Some((last, between)) = between.split_last() else { return true };
    for other in between {
        let Some(at) = rest.find(other.as_str()) else { return false };
        rest = &rest[at + other.len()..];
    }
    rest.contains(last.as_str())
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
    fn stars_stand_for_any_text() {
        for (pattern, fits, fails) in [
            ("", "", "a"),
            ("abc", "abc", "abcd"),
            ("ab*", "ab", "aab"),
            ("*ab", "ab", "aba"),
            ("a*a", "aba", "a"),
            ("*::*", "aten::mm", "aten:mm"),
            ("a*b*c*d", "a.c.b.c.d", "a.c.b.d"),
            ("*ab*ab*", "abab", "aba"),
            ("é*", "éa", "e"),
        ] {
            let glob = Glob::new(pattern).unwrap();
            assert!(glob.matches(fits) && !glob.matches(fails), "{pattern}");
        }
        assert!(Glob::new("*").unwrap().matches("") && Glob::new("**").unwrap().matches("a\nb"));
        let shortened = Glob::of_shortened("void f<…>(int*)");
        assert!(shortened.matches("void f<a, b>(int*)") && !shortened.matches("void f<a>(int)"));
    }

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
