//! Pages: several queries shown together, as tables, in layouts of their own, and as answers to questions.

use super::column::Param;
use super::entry::Content;
use super::entry::Entry;
use super::front_matter::{read_yaml, scalars};
use super::questions::{Ask, Fact, FileSpec, Part, Pattern, Preset};
use nsq_value::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The manifest of a page: `pages/<name>/page.yml`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Page {
    /// The file, as the user would open it.
    #[serde(skip)]
    pub file: String,
    /// The full text of the file.
    #[serde(skip)]
    pub source: String,
    /// Name: the folder of the file.
    pub name: String,
    /// Version. It goes up when tables, parameters or meanings change.
    pub version: u32,
    /// Heading, without a full stop.
    pub title: String,
    /// What it shows, and when to look at it.
    pub doc: String,
    /// The layout that text output has; absent: tables.
    pub text: Option<String>,
    /// The layout that Markdown output has; absent: tables.
    pub markdown: Option<String>,
    /// The layout that HTML output has; absent: tables.
    pub html: Option<String>,
    /// Parameters, which the user sets with `-p name=value`.
    #[serde(default)]
    pub params: Vec<Param>,
    /// The tables, in the order in which they are asked and shown.
    #[serde(default)]
    pub tables: Vec<PageTable>,
    /// An expression over `params`: if it is true, and no scope is given, the page judges the steps after the warm-up.
    pub steady: Option<String>,
    /// Values for the layouts, in order. Each can use earlier ones.
    #[serde(default)]
    pub facts: Vec<Fact>,
    /// The questions, in order. A page has tables or questions.
    #[serde(default)]
    pub parts: Vec<Part>,
    /// Patterns for the names of NVTX ranges, for questions.
    #[serde(default)]
    pub patterns: Vec<Pattern>,
    /// Names of `list` parameters whose items must be classes of the class map.
    #[serde(default)]
    pub classes: Vec<String>,
    /// Parameter values that set other parameters.
    #[serde(default)]
    pub presets: Vec<Preset>,
    /// CSV files that the user can supply.
    #[serde(default)]
    pub files: Vec<FileSpec>,
}

/// A table of a page: the answer of a query.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PageTable {
    /// Name of its rows in layouts and facts.
    #[serde(rename = "as")]
    pub name: String,
    /// Name of a query in the catalog.
    pub query: String,
    /// Its parameters: templates over `params`. An empty result leaves the parameter unset.
    #[serde(default, deserialize_with = "scalars")]
    pub params: BTreeMap<String, String>,
    /// Ask the query only if this expression over `params` is true. Absent: always.
    pub when: Option<String>,
    /// Heading: a template over rows, facts and `params`. Absent: the title of the query.
    pub title: Option<String>,
    /// Most rows to show: an expression over `params`. Absent: all.
    pub rows: Option<String>,
    /// What the rows are, such as `kernels`. The page has no answer without any, and says so.
    pub required: Option<String>,
    /// Whether a report may lack its data, or have no rows, without a note.
    #[serde(default)]
    pub optional: bool,
    /// Whether only layouts show it.
    #[serde(default)]
    pub hidden: bool,
    /// Whether it is about the whole capture, even where the page judges the steady state.
    #[serde(default)]
    pub whole: bool,
}

impl Page {
    pub(super) fn parse(file: &str, _domain: &str, content: &Content) -> Result<Self> {
        let text: &str = &content.text;
        let page: Self = read_yaml(file, content, text.trim_start_matches('\u{feff}'))?;
        Ok(Self { file: file.to_owned(), source: text.to_owned(), ..page })
    }

    /// The pattern with this name.
    pub fn pattern(&self, name: &str) -> Option<&Pattern> {
        self.patterns.iter().find(|pattern| pattern.name == name)
    }

    /// The part with this name.
    pub fn part(&self, name: &str) -> Result<&Part> {
        let found = self.parts.iter().find(|part| part.part == name);
        found.ok_or_else(|| {
            let names: Vec<&str> = self.parts.iter().map(|part| part.part.as_str()).collect();
            Error::Unknown {
                what: "part",
                name: name.to_owned(),
                near: Vec::new(),
                help: format!("Parts of {}: {}, or `all`.", self.name, names.join(", ")),
            }
        })
    }

    /// The queries of all questions.
    pub fn asks(&self) -> impl Iterator<Item = &Ask> {
        self.parts.iter().flat_map(|part| &part.answers).flat_map(|answer| &answer.queries)
    }
}

/// A template that lays a page out as text, or an asset: a style sheet or script that templates take as it is.
#[derive(Debug, Clone)]
pub struct PageLayout {
    /// The file, as the user would open it.
    pub file: String,
    /// Its text.
    pub text: String,
    /// Whether it is nsq's own, which is not limited in what it writes.
    pub is_built_in: bool,
}

/// The files of a page.
#[derive(Debug, Default)]
pub(super) struct PageFiles {
    pub(super) manifest: Option<Entry<Page>>,
    /// Its layouts, by the stem of their files.
    pub(super) layouts: BTreeMap<String, PageLayout>,
    /// Its assets, by the names of their files.
    pub(super) assets: BTreeMap<String, PageLayout>,
}

/// File name of a page's manifest, without its extension.
pub(super) const MANIFEST: &str = "page";
/// Extension of layouts.
pub(super) const LAYOUT: &str = "jinja";
/// Name of the page whose assets all pages share. It has no manifest.
pub(super) const SHARED: &str = "assets";
/// Extensions of assets.
pub(super) const ASSETS: [&str; 2] = ["css", "js"];
