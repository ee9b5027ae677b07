//! Pages: several queries shown together, as tables, in layouts of their own, and as answers to questions.

use super::front_matter::{read_yaml, scalars};
use super::header::Param;
use super::questions::{Ask, Fact, FileSpec, Part, Pattern, Preset};
use super::{Catalog, Entry, FileKind, PLAYBOOKS};
use crate::bounded_file::{self, Origin};
use crate::error::{Error, Result};
use serde::Deserialize;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::OnceLock;

/// The manifest of a page: `pages/<name>/page.yml`.
#[derive(Debug, Clone, Deserialize)]
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
#[derive(Debug, Clone, Deserialize)]
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
}

impl Page {
    pub(super) fn parse(file: &str, _domain: &str, text: &str) -> Result<Self> {
        let page: Self = read_yaml(file, 1, text.trim_start_matches('\u{feff}'))?;
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

/// A template that lays a page out as text.
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
    manifest: Option<Entry<Page>>,
    /// Its layouts, by the stem of their files.
    layouts: BTreeMap<String, PageLayout>,
}

/// Name of the page whose layouts all questions share. It has no manifest.
const ANSWERS: &str = "answers";
/// File name of a page's manifest, without its extension.
const MANIFEST: &str = "page";
/// Extension of layouts.
pub(super) const LAYOUT: &str = "jinja";

impl Catalog {
    /// Adds a file of the page `name`: its manifest or a layout. Other files are queries.
    pub(super) fn add_to_page(&mut self, name: &str, stem: String, extension: &str, entry: Entry<Page>) {
        let page = self.pages.entry(name.to_owned()).or_default();
        if extension == LAYOUT {
            let Entry { file, text, .. } = entry;
            let is_built_in = file.starts_with(super::BUILT_IN);
            page.layouts.insert(stem, PageLayout { file, text: text.into_owned(), is_built_in });
        } else if stem == MANIFEST {
            page.manifest = Some(entry);
        }
    }

    /// The page with this name.
    pub fn page(&self, name: &str) -> Result<&Page> {
        match self.pages.get(name).and_then(|files| files.manifest.as_ref()) {
            Some(entry) => entry.get(Page::parse),
            None => Err(Error::unknown(
                "page",
                name,
                self.page_names(),
                "`nsq list --pages` shows all pages.",
            )),
        }
    }

    /// The page with questions of this name. A file in the folder `playbooks` comes before a page.
    pub fn playbook(&self, name: &str) -> Result<&Page> {
        if let Some(entry) = self.playbooks.get(name) {
            return entry.get(Page::parse);
        }
        match self.pages.get(name).and_then(|files| files.manifest.as_ref()) {
            Some(entry) if entry.get(Page::parse).map_or(true, |page| !page.parts.is_empty()) => {
                entry.get(Page::parse)
            }
            _ => Err(Error::unknown(
                "playbook",
                name,
                self.readable_playbooks().iter().map(|page| page.name.as_str()),
                "`nsq list --playbooks` shows all playbooks. A path to a file is also accepted.",
            )),
        }
    }

    /// All readable pages with questions, sorted by name.
    pub fn readable_playbooks(&self) -> Vec<&Page> {
        let mut all: Vec<&Page> = self.manifests().filter(|page| !page.parts.is_empty()).collect();
        // The first of the same name is that of the folder `playbooks`.
        all.sort_by_key(|page| &page.name);
        all.dedup_by_key(|page| &page.name);
        all
    }

    /// All readable pages, and files of the folder `playbooks`.
    pub fn manifests(&self) -> impl Iterator<Item = &Page> {
        let own = self.playbooks.values().filter_map(|entry| entry.get(Page::parse).ok());
        own.chain(self.readable_pages())
    }

    /// Adds the playbook in the file at `path` and returns its name.
    pub fn add_playbook(&mut self, path: &Path) -> Result<String> {
        let text = bounded_file::read_text(path, Origin::Named)?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let (file, domain) = (path.to_string_lossy().into_owned(), PLAYBOOKS.to_owned());
        let entry = Entry { file, domain, text: Cow::Owned(text), parsed: OnceLock::new() };
        self.playbooks.insert(name.clone(), entry);
        Ok(name)
    }

    /// The names of all pages, including unreadable ones.
    pub fn page_names(&self) -> impl Iterator<Item = &str> {
        let is_whole = |(_, files): &(&String, &PageFiles)| files.manifest.is_some();
        self.pages.iter().filter(is_whole).map(|(name, _)| name.as_str())
    }

    /// All readable pages, sorted by name. [`Catalog::broken`] lists the others.
    pub fn readable_pages(&self) -> Vec<&Page> {
        self.page_names().filter_map(|name| self.page(name).ok()).collect()
    }

    /// Kind and path of the files of all pages, without their queries.
    pub(super) fn page_files(&self) -> impl Iterator<Item = (FileKind, &str)> {
        self.pages.values().flat_map(|files| {
            let manifest = files.manifest.iter().map(|entry| (FileKind::Page, entry.file.as_str()));
            let layouts = files.layouts.values();
            manifest.chain(layouts.map(|layout| (FileKind::PageLayout, layout.file.as_str())))
        })
    }

    /// The layouts of answers to questions, by name.
    pub fn answer_layouts(&self) -> impl Iterator<Item = (&str, &PageLayout)> {
        self.layouts(ANSWERS)
    }

    /// The layouts of a page, by name.
    pub fn layouts(&self, page: &str) -> impl Iterator<Item = (&str, &PageLayout)> {
        let layouts = self.pages.get(page).into_iter().flat_map(|files| &files.layouts);
        layouts.map(|(name, layout)| (name.as_str(), layout))
    }
}
