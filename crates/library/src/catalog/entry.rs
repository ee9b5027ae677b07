//! A file of the library, and what its folder says that it is.

use nsq_value::error::Result;
use std::borrow::Cow;
use std::sync::OnceLock;

/// Subfolder of a query folder with the specs of raw tables.
pub(super) const SOURCES: &str = "sources";
/// Subfolder with the relations of the normalised vocabulary.
pub(super) const VIEWS: &str = "views";
/// Subfolder with class maps.
pub(super) const CLASSES: &str = "classes";
/// Subfolder with playbooks.
pub(super) const PLAYBOOKS: &str = "playbooks";
/// Subfolder with pages, one folder each.
pub(super) const PAGES: &str = "pages";
/// Subfolder with rules about NVTX range names.
pub(super) const NAMES: &str = "names";

/// What a file of the library defines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FileKind {
    /// A query.
    Query,
    /// A relation.
    Relation,
    /// The spec of a raw table.
    Source,
    /// Rules for names of NVTX ranges.
    NameRules,
    /// One or more class maps.
    ClassMap,
    /// A playbook.
    Playbook,
    /// The manifest of a page.
    Page,
    /// A layout of a page.
    PageLayout,
    /// A style sheet or script of pages.
    Asset,
}

/// The text of a file.
#[derive(Debug, Clone)]
pub struct Content {
    /// The text.
    pub(super) text: Cow<'static, str>,
    /// Its YAML as JSON, if the program embeds the file.
    pub(super) json: Option<&'static str>,
}

impl From<String> for Content {
    fn from(text: String) -> Self {
        Self { text: Cow::Owned(text), json: None }
    }
}

impl From<&str> for Content {
    fn from(text: &str) -> Self {
        Self::from(text.to_owned())
    }
}

/// A file of the library, parsed on first use.
#[derive(Debug)]
pub(super) struct Entry<T> {
    pub(super) file: String,
    pub(super) domain: String,
    pub(super) content: Content,
    pub(super) parsed: OnceLock<T>,
}

impl<T> Entry<T> {
    pub(super) fn get(&self, parse: impl FnOnce(&str, &str, &Content) -> Result<T>) -> Result<&T> {
        if let Some(parsed) = self.parsed.get() {
            return Ok(parsed);
        }
        let parsed = parse(&self.file, &self.domain, &self.content)?;
        Ok(self.parsed.get_or_init(|| parsed))
    }
}
