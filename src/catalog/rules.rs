//! Rules about names of NVTX ranges: how they fold, and which phase they mean.

use super::front_matter::read_yaml;
use crate::error::Result;
use serde::Deserialize;

/// A file of rules.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rules {
    /// The file, as the user would open it.
    #[serde(skip)]
    pub file: String,
    /// Name: the stem of the file.
    pub name: String,
    /// What the rules decide.
    pub doc: String,
    /// The rules, in order.
    pub rules: Vec<Rule>,
}

/// A rule.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Regular expression, looked for anywhere in the name.
    #[serde(rename = "match")]
    pub pattern: String,
    /// In `layers`: what stands in its place; `$1` is the first group.
    pub replace: Option<String>,
    /// In `phases`: the phase that it means.
    pub phase: Option<String>,
    /// Why.
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
