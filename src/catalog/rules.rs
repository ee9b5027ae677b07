//! Rules for the names of NVTX ranges: how to fold numbers in them, and which phase they belong to.

use super::front_matter::read_yaml;
use crate::error::Result;
use serde::Deserialize;

/// A file of name rules.
#[derive(Debug, Clone, Deserialize)]
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
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Regular expression that matches anywhere in the name.
    #[serde(rename = "match")]
    pub pattern: String,
    /// For files named `layers`: the replacement. `$1` is the first group.
    pub replace: Option<String>,
    /// For files named `phases`: the phase of matching ranges.
    pub phase: Option<String>,
    /// Why the rule exists.
    #[serde(default)]
    pub why: String,
}

impl Rules {
    pub(super) fn parse(file: &str, _domain: &str, text: &str) -> Result<Self> {
        let mut rules: Self = read_yaml(file, 1, text)?;
        rules.file = file.to_owned();
        Ok(rules)
    }
}
