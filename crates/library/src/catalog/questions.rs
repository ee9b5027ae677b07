//! Questions of a page: the queries that answer them, and templates for the sentences.
//!
//! A page with questions is also called a playbook: it has the questions of a course or a team.

use super::front_matter::scalars;
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;

/// A parameter whose values set other parameters.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Preset {
    /// Name of the parameter.
    pub param: String,
    /// Its values, and what each one sets.
    pub values: Vec<PresetValue>,
}

/// A parameter value, and the parameters it sets.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PresetValue {
    /// The value.
    #[serde(rename = "is")]
    pub value: String,
    /// Names and values of the parameters to set. Values given by the user take precedence.
    #[serde(deserialize_with = "scalars")]
    pub sets: BTreeMap<String, String>,
}

/// A CSV file that the user can supply.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileSpec {
    /// Name, for `--file name=FILE`.
    pub name: String,
    /// What it contains.
    pub doc: String,
    /// Required columns.
    pub columns: Vec<String>,
    /// The required columns whose cells are numbers or empty.
    #[serde(default)]
    pub numbers: Vec<String>,
}

/// The possible names of NVTX ranges with a given meaning, such as a forward pass.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pattern {
    /// Name, used as `{name}` in queries and as `-p name='…'`.
    pub name: String,
    /// What such a range is, such as `forward pass`. Messages show it.
    pub doc: String,
    /// Example names. Messages show them instead of the patterns in `any`.
    #[serde(default)]
    pub like: Vec<String>,
    /// Alternatives. The first one that matches a range of the report is used.
    #[serde(default)]
    pub any: Vec<Alternative>,
    /// Patterns that together replace this one if no alternative matches. `name?` marks a pattern that
    /// may be missing.
    #[serde(default)]
    pub all: Vec<String>,
}

/// One alternative of a [`Pattern`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Alternative {
    /// The name pattern.
    pub name: NamePattern,
    /// Patterns that must also match, or this alternative is skipped.
    pub with: Vec<String>,
}

/// A pattern for the name of a range.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub enum NamePattern {
    /// A glob that matches the whole name, as in `--nvtx`.
    Glob(String),
    /// A regular expression that matches anywhere in the name.
    Match(String),
}

impl NamePattern {
    /// The pattern as messages show it.
    pub fn spelled(&self) -> String {
        match self {
            Self::Glob(glob) => glob.clone(),
            Self::Match(regex) => format!("/{regex}/"),
        }
    }
}

impl<'de> Deserialize<'de> for Alternative {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            Glob(String),
            Detailed(Detailed),
        }
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Detailed {
            glob: Option<String>,
            #[serde(rename = "match")]
            regex: Option<String>,
            #[serde(default)]
            with: Vec<String>,
        }
        match Written::deserialize(deserializer)? {
            Written::Glob(glob) => Ok(Self { name: NamePattern::Glob(glob), with: Vec::new() }),
            Written::Detailed(Detailed { glob: Some(glob), regex: None, with }) => {
                Ok(Self { name: NamePattern::Glob(glob), with })
            }
            Written::Detailed(Detailed { glob: None, regex: Some(regex), with }) => {
                Ok(Self { name: NamePattern::Match(regex), with })
            }
            Written::Detailed(_) => {
                Err(serde::de::Error::custom("an alternative needs either `glob` or `match`"))
            }
        }
    }
}

/// A question.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// Name, used by `--part`.
    pub part: String,
    /// The question, as it was asked.
    pub question: String,
    /// The pieces of the answer, in order.
    pub answers: Vec<Answer>,
}

/// A piece of an answer. It is printed either in full or as the reason why it has no answer.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// What it is about. Shown if the piece has no answer.
    pub about: String,
    /// Parameters and files that the user must supply for this piece.
    #[serde(default)]
    pub given: Vec<String>,
    /// Whether to leave the piece out if the user does not supply all of `given`.
    #[serde(default)]
    pub optional: bool,
    /// Queries, in order. Each can use the rows of earlier ones.
    #[serde(default)]
    pub queries: Vec<Ask>,
    /// Values computed from rows, in order. Each can use earlier ones.
    #[serde(default)]
    pub facts: Vec<Fact>,
    /// The text: a template over rows, facts and parameters.
    pub text: String,
}

/// A query, with its parameters, scope and display options.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ask {
    /// Name of its rows in templates.
    #[serde(rename = "as")]
    pub name: String,
    /// Name of a query in the catalog.
    pub query: String,
    /// Its parameters: templates over rows, facts and parameters. An empty result leaves the parameter
    /// unset.
    #[serde(default, deserialize_with = "scalars")]
    pub params: BTreeMap<String, String>,
    /// Reports to run it on, counted from 1. The first one that has the ranges is used.
    #[serde(default = "first_report", deserialize_with = "one_or_many")]
    pub report: Vec<usize>,
    /// `--nvtx`: `{pattern}`, or `{pattern?}` if it may be missing.
    #[serde(default)]
    pub nvtx: Vec<String>,
    /// `--iter`, in the same form.
    #[serde(default)]
    pub iter: Vec<String>,
    /// `--exclude`, in the same form. All of these patterns may be missing.
    #[serde(default)]
    pub exclude: Vec<String>,
    /// `--attribute`.
    #[serde(default)]
    pub attribute: Attribution,
    /// Relations that the report must have in addition to those of the query, each `a` or `a | b`.
    #[serde(default)]
    pub requires: Vec<String>,
    /// Column whose values identify rows in templates: `name.by.value`.
    pub key: Option<String>,
    /// The reason to show if the query has no rows. Absent: a generic reason.
    pub when_empty: Option<String>,
    /// Whether the query may have no rows. If so, missing data in the report also counts as no rows.
    #[serde(default)]
    pub may_be_empty: bool,
    /// Columns to show in text output. Empty: all.
    #[serde(default)]
    pub columns: Vec<String>,
    /// Maximum number of rows to show in text output. Absent: the usual number.
    pub rows: Option<usize>,
    /// Values of `key` whose rows to show in text output. Empty: all.
    #[serde(default)]
    pub only: Vec<String>,
    /// Whether text output hides its rows.
    #[serde(default)]
    pub hidden: bool,
}

/// Which launches belong to an NVTX range, as in `--attribute`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Attribution {
    /// Launches on the range's thread.
    #[default]
    Thread,
    /// Launches on any thread of the range's process.
    Process,
    /// Launches on the range's thread. Nodes of CUDA graphs belong to the range that captured them.
    Capture,
}

/// A value computed from rows.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fact {
    /// Name, with its unit as a suffix.
    pub name: String,
    /// Expression over rows, parameters and earlier facts.
    #[serde(rename = "is")]
    pub expression: String,
}

fn first_report() -> Vec<usize> {
    vec![1]
}

fn one_or_many<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<usize>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Reports {
        One(usize),
        Many(Vec<usize>),
    }
    Ok(match Reports::deserialize(deserializer)? {
        Reports::One(one) => vec![one],
        Reports::Many(many) => many,
    })
}

impl Ask {
    /// The patterns used in its scope options and parameters.
    pub fn patterns(&self) -> impl Iterator<Item = PatternUse<'_>> {
        let required = self.nvtx.iter().chain(&self.iter).chain(self.params.values());
        let excluded = self.exclude.iter().filter_map(|text| PatternUse::of(text));
        required
            .filter_map(|text| PatternUse::of(text))
            .chain(excluded.map(|used| PatternUse { is_optional: true, ..used }))
    }
}

/// A use of a pattern: `{pattern}` or `{pattern?}`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PatternUse<'a> {
    /// Name of the pattern.
    pub name: &'a str,
    /// Whether the pattern may be missing.
    pub is_optional: bool,
}

impl<'a> PatternUse<'a> {
    /// Parses `{name}` or `{name?}`. Any other text gives `None`.
    pub fn of(text: &'a str) -> Option<Self> {
        let inside = text.strip_prefix('{')?.strip_suffix('}')?;
        let (name, is_optional) = match inside.strip_suffix('?') {
            Some(name) => (name, true),
            None => (inside, false),
        };
        let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        is_name.then_some(Self { name, is_optional })
    }

    /// Parses `name` or `name?`, as in the `all` list of a pattern.
    pub fn named(text: &'a str) -> Self {
        match text.strip_suffix('?') {
            Some(name) => Self { name, is_optional: true },
            None => Self { name: text, is_optional: false },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Page;

    const SMALL: &str = "\
name: mine
version: 1
title: Mine
doc: Ours.
patterns:
  - {name: step, doc: step, any: ['step_*', {match: '(?i)^it', with: [warmup]}]}
parts:
  - part: '1'
    question: How long?
    answers:
      - about: how long
        queries:
          - {as: t, query: range_time_sum, params: {ranges: '{step}', x: 2}, exclude: ['{warmup}'], report: [2, 1]}
        text: Long.
";

    #[test]
    fn questions_are_read() {
        let page = Page::parse("mine.yml", "", &SMALL.into()).unwrap();
        let any = &page.patterns[0].any;
        assert_eq!(any[0].name, NamePattern::Glob("step_*".to_owned()));
        assert_eq!(any[1].name, NamePattern::Match("(?i)^it".to_owned()));
        assert_eq!(any[1].with, ["warmup"]);
        let ask = &page.part("1").unwrap().answers[0].queries[0];
        assert_eq!((ask.report.as_slice(), ask.params["x"].as_str()), (&[2, 1][..], "2"));
        let used: Vec<(&str, bool)> = ask.patterns().map(|used| (used.name, used.is_optional)).collect();
        assert_eq!(used, [("step", false), ("warmup", true)]);
        assert!(page.part("z").unwrap_err().to_string().contains("unknown part 'z'"));
    }

    #[test]
    fn errors_name_the_line() {
        let error = |text: &str| Page::parse("mine.yml", "", &text.into()).unwrap_err().to_string();
        assert!(error(&SMALL.replace("doc: Ours.", "dok: Ours.")).starts_with("mine.yml:4"));
        assert!(error("name: [").starts_with("mine.yml:"));
    }

    #[test]
    fn a_pattern_use_must_be_the_whole_text() {
        assert_eq!(PatternUse::of("{a}"), Some(PatternUse { name: "a", is_optional: false }));
        assert_eq!(PatternUse::of("{a?}"), Some(PatternUse { name: "a", is_optional: true }));
        for text in ["a", "{}", "{{ a }}", "{a} b", "{?}"] {
            assert_eq!(PatternUse::of(text), None, "{text}");
        }
    }
}
