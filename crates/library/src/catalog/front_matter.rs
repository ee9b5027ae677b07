//! Splits a `.sql` file into its YAML header and its statement.
//!
//! The header is in a leading block comment, so the file stays plain SQL:
//!
//! ```sql
//! /*---
//! name: top_kernels
//! ---*/
//! SELECT …
//! ```

use super::entry::Content;
use super::yaml_error::explain;
use nsq_value::error::{Error, Result};
use serde::de::{Deserialize, DeserializeOwned, Deserializer};
use std::collections::BTreeMap;

const OPEN: &str = "/*---";
const CLOSE: &str = "---*/";

/// The two parts of a `.sql` file.
pub(super) struct Parts<'a> {
    /// The front matter, without its delimiters.
    pub yaml: &'a str,
    /// The statement, without leading or trailing white space.
    pub body: &'a str,
    /// Line of the file where `body` begins, from 1.
    pub body_line: usize,
}

/// The reason for which a file without front matter is no query of the library. nsq can run its statement.
pub const NO_FRONT_MATTER: &str = "missing front matter";

/// Whether a text begins with front matter, or means to.
pub fn has_front_matter(text: &str) -> bool {
    text.trim_start_matches('\u{feff}').trim_start().starts_with(OPEN)
}

/// Splits `text` after its front matter.
pub(super) fn split<'a>(file: &str, text: &'a str) -> Result<Parts<'a>> {
    let missing = |line, reason: &str| {
        Error::catalog(
            file,
            line,
            reason,
            "start the file with a line `/*---`, then YAML, then a line `---*/` (see queries/README.md)",
        )
    };
    let rest = text
        .trim_start_matches('\u{feff}')
        .strip_prefix(OPEN)
        .ok_or_else(|| missing(1, NO_FRONT_MATTER))?;
    let end = rest.find(CLOSE).ok_or_else(|| missing(1, "unclosed front matter: no `---*/`"))?;
    let yaml = &rest[..end];
    if let Some(early) = yaml.find("*/") {
        let line = 1 + yaml[..early].matches('\n').count();
        return Err(missing(line, "`*/` inside the front matter closes the comment too early"));
    }
    let after = &rest[end + CLOSE.len()..];
    let body = after.trim_start();
    let body_at = text.len() - body.len();
    let body_line = 1 + text[..body_at].matches('\n').count();
    Ok(Parts { yaml, body: body.trim_end(), body_line })
}

/// Parses the YAML at the beginning of a file: `yaml`, a part of `content`.
pub(super) fn read_yaml<T: DeserializeOwned>(file: &str, content: &Content, yaml: &str) -> Result<T> {
    match content.json.map(serde_json::from_str) {
        Some(Ok(parsed)) => Ok(parsed),
        _ => parse_yaml(file, yaml),
    }
}

/// Longest YAML text in bytes. The parser looks at all open brackets for each new one: a mebibyte of them takes seconds.
const LONGEST: usize = 1 << 20;

fn parse_yaml<T: DeserializeOwned>(file: &str, yaml: &str) -> Result<T> {
    if yaml.len() > LONGEST {
        let reason = format!("too much YAML: {} bytes (the limit is {LONGEST})", yaml.len());
        return Err(Error::catalog(file, 1, reason, "split the file, or write a class map as JSON"));
    }
    serde_yaml::from_str(yaml).map_err(|e| {
        let line = e.location().map_or(1, |at| at.line().max(1));
        let text = e.to_string();
        // The message ends with a position within the front matter. Drop it: the error has the line in
        // the file.
        let (reason, help) = explain(text.split(" at line ").next().unwrap_or(&text));
        Error::catalog(file, line, reason, help)
    })
}

/// Line of the first occurrence of `needle` in `text`, from 1. Returns 1 if there is none.
pub fn line_of(text: &str, needle: &str) -> usize {
    text.lines().position(|line| line.contains(needle)).map_or(1, |index| index + 1)
}

/// Reads a map of scalars, with each value converted to text.
pub(super) fn scalars<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> std::result::Result<BTreeMap<String, String>, D::Error> {
    let written = BTreeMap::<String, serde_yaml::Value>::deserialize(deserializer)?;
    written
        .into_iter()
        .map(|(key, value)| match value {
            serde_yaml::Value::String(text) => Ok((key, text)),
            serde_yaml::Value::Bool(flag) => Ok((key, flag.to_string())),
            serde_yaml::Value::Number(number) => Ok((key, number.to_string())),
            _ => Err(serde::de::Error::custom(format!(
                "invalid value for `{key}`: expected text, a number or a boolean"
            ))),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Document;

    #[test]
    fn the_body_has_its_line_number() {
        let parts = split("f.sql", "/*---\nname: f\n---*/\n\nSELECT 1\n").unwrap();
        assert_eq!(parts.yaml, "\nname: f\n");
        assert_eq!((parts.body, parts.body_line), ("SELECT 1", 5));
    }

    #[test]
    fn a_yaml_error_points_into_the_file() {
        #[derive(Debug, serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Header {
            #[allow(dead_code)]
            name: String,
        }
        let parts = split("f.sql", "/*---\nname: f\nnmae: g\n---*/\nSELECT 1").unwrap();
        let error = read_yaml::<Header>("f.sql", &Content::from(""), parts.yaml).unwrap_err();
        assert!(error.to_string().starts_with("f.sql:3: unknown field 'nmae'"), "{error}");
    }

    #[test]
    fn a_long_yaml_text_is_refused_before_it_is_parsed() {
        let read = |text: String| parse_yaml::<Document>("f.yml", &text).map_err(|e| e.to_string());
        let error = read("[".repeat(LONGEST + 1)).unwrap_err();
        assert_eq!(error, "f.yml:1: too much YAML: 1048577 bytes (the limit is 1048576)");
        assert!(read(format!("a: {}", "x".repeat(LONGEST - 3))).is_ok());
    }

    #[test]
    fn files_without_front_matter_are_refused() {
        assert!(split("f.sql", "SELECT 1").is_err());
        assert!(split("f.sql", "/*---\nname: f\n").is_err());
        assert!(split("f.sql", "/*---\ndoc: a */ b\n---*/\nSELECT 1").is_err());
    }
}
