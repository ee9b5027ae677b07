//! Rules for the names of NVTX ranges: how to fold numbers in them, which phase they belong to, and which work
//! they do.

use super::entry::Content;
use super::front_matter::read_yaml;
use nsq_value::error::Result;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A file of name rules.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rules {
    /// The file, as the user would open it.
    #[serde(skip)]
    pub file: String,
    /// Name: the stem of the file.
    pub name: String,
    /// What the rules are for.
    pub doc: String,
    /// The rules, in order.
    pub rules: Vec<Rule>,
}

/// A rule.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Regular expression that matches anywhere in the name.
    #[serde(rename = "match")]
    pub pattern: String,
    /// For files named `layers`: the replacement. `$1` is the first group.
    pub replace: Option<String>,
    /// For files named `phases`: the phase of matching ranges.
    pub phase: Option<String>,
    /// For files named `work`: the kind and the sizes of matching ranges, see the relation `range_work`. In a
    /// text, `$1` is the first group.
    pub work: Option<BTreeMap<String, Setting>>,
    /// Why the rule exists.
    #[serde(default)]
    pub why: String,
}

/// A value in a rule.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(untagged)]
pub enum Setting {
    /// true or false.
    Flag(bool),
    /// A whole number.
    Int(i64),
    /// Another number.
    Real(f64),
    /// Anything else.
    Text(String),
}

impl Rules {
    pub(super) fn parse(file: &str, _domain: &str, content: &Content) -> Result<Self> {
        let text: &str = &content.text;
        let mut rules: Self = read_yaml(file, content, text)?;
        rules.file = file.to_owned();
        Ok(rules)
    }
}
