//! Playbooks: questions of a course or a team, and the queries and sentences that answer them.

use super::front_matter::read_yaml;
use super::header::Param;
use crate::error::{Error, Result};
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;

/// A file of questions.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Playbook {
    /// The file, as the user would open it.
    #[serde(skip)]
    pub file: String,
    /// The whole text of the file.
    #[serde(skip)]
    pub text: String,
    /// Name: the stem of the file.
    pub name: String,
    /// Rises when questions, parameters or meanings change.
    pub version: u32,
    /// Heading, without a full stop.
    pub title: String,
    /// Whom it is for, and where its questions come from.
    pub doc: String,
    /// What the user may give by `-p name=value`.
    #[serde(default)]
    pub params: Vec<Param>,
    /// Parameters of the type list whose items are classes of the class map.
    #[serde(default)]
    pub classes: Vec<String>,
    /// Values of a parameter that set others.
    #[serde(default)]
    pub presets: Vec<Preset>,
    /// Files of the user's that take part, as CSV.
    #[serde(default)]
    pub files: Vec<FileSpec>,
    /// What NVTX ranges may be called.
    pub patterns: Vec<Pattern>,
    /// The questions, in order.
    pub parts: Vec<Part>,
}

/// Values of a parameter that set others.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Preset {
    /// The parameter.
    pub param: String,
    /// Its values, and what each sets.
    pub values: Vec<PresetValue>,
}

/// What a value of a parameter sets.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PresetValue {
    /// The value.
    #[serde(rename = "is")]
    pub value: String,
    /// Other parameters, and what they are then, unless the user gives them.
    #[serde(deserialize_with = "scalars")]
    pub sets: BTreeMap<String, String>,
}

/// A CSV file of the user's.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileSpec {
    /// Name, for `--file name=FILE`.
    pub name: String,
    /// What it holds.
    pub doc: String,
    /// Columns that it must have.
    pub columns: Vec<String>,
    /// Those of them whose cells are numbers, or empty.
    #[serde(default)]
    pub numbers: Vec<String>,
}

/// Names that NVTX ranges of one meaning may have.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pattern {
    /// Name, for `{name}` in queries and `-p name='…'`.
    pub name: String,
    /// What ranges of it are, as `forward pass`: it stands behind `a` in a sentence.
    pub doc: String,
    /// Names that fit, for people: what messages say was looked for.
    #[serde(default)]
    pub like: Vec<String>,
    /// What they may be called; the first that a range is called decides.
    #[serde(default)]
    pub any: Vec<Alternative>,
    /// Other patterns, `name?` for those that may be missing: all of them together stand for this one where no
    /// alternative fits.
    #[serde(default)]
    pub all: Vec<String>,
}

/// A way to name a range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alternative {
    /// What is looked for.
    pub name: NamePattern,
    /// Patterns that must be there as well for this to count.
    pub with: Vec<String>,
}

/// How a name is looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NamePattern {
    /// A glob over the whole name, as `--nvtx` takes it.
    Glob(String),
    /// A regular expression, anywhere in the name.
    Match(String),
}

impl NamePattern {
    /// As messages print it.
    pub fn spelled(&self) -> String {
        match self {
            Self::Glob(glob) => glob.clone(),
            Self::Match(regex) => format!("/{regex}/"),
        }
    }
}

impl<'de> Deserialize<'de> for Alternative {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
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
                Err(serde::de::Error::custom("an alternative has either `glob` or `match`"))
            }
        }
    }
}

/// A question.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// Name, for `--part`.
    pub part: String,
    /// The question, as it was asked.
    pub question: String,
    /// What answers it, piece by piece.
    pub answers: Vec<Answer>,
}

/// A piece of an answer: it is given as a whole, or the reason why not.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// What it tells, for the reason why not.
    pub about: String,
    /// Parameters and files that the user must give.
    #[serde(default)]
    pub given: Vec<String>,
    /// A question is answered without it where `given` is not given.
    #[serde(default)]
    pub optional: bool,
    /// Queries, in order; each sees the rows of those before it.
    #[serde(default)]
    pub queries: Vec<Ask>,
    /// Values computed from rows, in order; each sees those before it.
    #[serde(default)]
    pub facts: Vec<Fact>,
    /// Sentences: a template over rows, facts and parameters.
    pub text: String,
}

/// A query and what it is asked about.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ask {
    /// What templates call its rows.
    #[serde(rename = "as")]
    pub name: String,
    /// Query of the catalogue.
    pub query: String,
    /// Its parameters: templates over rows, facts and parameters. One that renders to nothing is not given.
    #[serde(default, deserialize_with = "scalars")]
    pub params: BTreeMap<String, String>,
    /// Reports that it may be asked of, counted from 1: the first of them that has the ranges.
    #[serde(default = "first_report", deserialize_with = "one_or_many")]
    pub report: Vec<usize>,
    /// `--nvtx`: `{pattern}`, or `{pattern?}` where it may be missing.
    #[serde(default)]
    pub nvtx: Vec<String>,
    /// `--iter`: likewise.
    #[serde(default)]
    pub iter: Vec<String>,
    /// `--exclude`: likewise; none has to be there.
    #[serde(default)]
    pub exclude: Vec<String>,
    /// `--attribute`.
    #[serde(default)]
    pub attribute: Attribution,
    /// Relations that the report must have besides those that the query needs, each `a` or `a | b`.
    #[serde(default)]
    pub requires: Vec<String>,
    /// Column by whose values templates find rows: `name.by.value`.
    pub key: Option<String>,
    /// Why there is no answer where it has no rows; absent: in general words.
    pub when_empty: Option<String>,
    /// It may have no rows; then it also has none where the report lacks the data for it.
    #[serde(default)]
    pub may_be_empty: bool,
    /// Columns that are shown to people; empty: all.
    #[serde(default)]
    pub columns: Vec<String>,
    /// Rows that are shown to people; absent: as many as usual.
    pub rows: Option<usize>,
    /// Values of `key` whose rows are shown to people; empty: all.
    #[serde(default)]
    pub only: Vec<String>,
    /// People are not shown its rows.
    #[serde(default)]
    pub hidden: bool,
}

/// Whose launches an NVTX range holds, as `--attribute` has it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Attribution {
    /// Its thread's.
    #[default]
    Thread,
    /// Its process's.
    Process,
    /// Its thread's, and nodes of graphs where they were captured.
    Capture,
}

/// A value that is computed from rows.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fact {
    /// Name, with its unit as a suffix.
    pub name: String,
    /// Expression over rows, parameters and facts before it.
    #[serde(rename = "is")]
    pub expression: String,
}

fn first_report() -> Vec<usize> {
    vec![1]
}

fn one_or_many<'de, D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Vec<usize>, D::Error> {
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

/// A map whose values are texts, however they were written.
fn scalars<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> std::result::Result<BTreeMap<String, String>, D::Error> {
    let written = BTreeMap::<String, serde_yaml::Value>::deserialize(deserializer)?;
    written
        .into_iter()
        .map(|(key, value)| match value {
            serde_yaml::Value::String(text) => Ok((key, text)),
            serde_yaml::Value::Bool(flag) => Ok((key, flag.to_string())),
            serde_yaml::Value::Number(number) => Ok((key, number.to_string())),
            _ => Err(serde::de::Error::custom(format!("`{key}` is no text, number or truth value"))),
        })
        .collect()
}

impl Playbook {
    pub(super) fn parse(file: &str, _domain: &str, text: &str) -> Result<Self> {
        let mut playbook: Self = read_yaml(file, 1, text.trim_start_matches('\u{feff}'))?;
        playbook.file = file.to_owned();
        playbook.text = text.to_owned();
        Ok(playbook)
    }

    /// The pattern of this name.
    pub fn pattern(&self, name: &str) -> Option<&Pattern> {
        self.patterns.iter().find(|pattern| pattern.name == name)
    }

    /// The part of this name.
    pub fn part(&self, name: &str) -> Result<&Part> {
        let found = self.parts.iter().find(|part| part.part == name);
        found.ok_or_else(|| {
            let names: Vec<&str> = self.parts.iter().map(|part| part.part.as_str()).collect();
            Error::Unknown {
                what: "part",
                name: name.to_owned(),
                near: Vec::new(),
                help: format!("{} has {}, and all for all of them.", self.name, names.join(", ")),
            }
        })
    }
}

impl Ask {
    /// The patterns in its scope options and parameters.
    pub fn patterns(&self) -> impl Iterator<Item = PatternUse<'_>> {
        let required = self.nvtx.iter().chain(&self.iter).chain(self.params.values());
        let excluded = self.exclude.iter().filter_map(|text| PatternUse::of(text));
        required
            .filter_map(|text| PatternUse::of(text))
            .chain(excluded.map(|used| PatternUse { is_optional: true, ..used }))
    }
}

/// `{pattern}` or `{pattern?}`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PatternUse<'a> {
    /// Name of the pattern.
    pub name: &'a str,
    /// It may be missing.
    pub is_optional: bool,
}

impl<'a> PatternUse<'a> {
    /// Reads a text that is a pattern and nothing else.
    pub fn of(text: &'a str) -> Option<Self> {
        let inside = text.strip_prefix('{')?.strip_suffix('}')?;
        let (name, is_optional) = match inside.strip_suffix('?') {
            Some(name) => (name, true),
            None => (inside, false),
        };
        let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        is_name.then_some(Self { name, is_optional })
    }

    /// `name` or `name?`, as in `all` of a pattern.
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
    fn a_playbook_is_read() {
        let playbook = Playbook::parse("mine.yml", "", SMALL).unwrap();
        let any = &playbook.patterns[0].any;
        assert_eq!(any[0].name, NamePattern::Glob("step_*".to_owned()));
        assert_eq!(any[1].name, NamePattern::Match("(?i)^it".to_owned()));
        assert_eq!(any[1].with, ["warmup"]);
        let ask = &playbook.part("1").unwrap().answers[0].queries[0];
        assert_eq!((ask.report.as_slice(), ask.params["x"].as_str()), (&[2, 1][..], "2"));
        let used: Vec<(&str, bool)> = ask.patterns().map(|used| (used.name, used.is_optional)).collect();
        assert_eq!(used, [("step", false), ("warmup", true)]);
        assert!(playbook.part("z").unwrap_err().to_string().contains("unknown part 'z'"));
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        let error = |text: &str| Playbook::parse("mine.yml", "", text).unwrap_err().to_string();
        assert!(error(&SMALL.replace("doc: Ours.", "dok: Ours.")).starts_with("mine.yml:4"));
        assert!(error("name: [").starts_with("mine.yml:"));
    }

    #[test]
    fn only_a_whole_text_is_a_pattern() {
        assert_eq!(PatternUse::of("{a}"), Some(PatternUse { name: "a", is_optional: false }));
        assert_eq!(PatternUse::of("{a?}"), Some(PatternUse { name: "a", is_optional: true }));
        for text in ["a", "{}", "{{ a }}", "{a} b", "{?}"] {
            assert_eq!(PatternUse::of(text), None, "{text}");
        }
    }
}
