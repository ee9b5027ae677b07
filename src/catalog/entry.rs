//! A file of the library, and what its folder says that it is.

use crate::error::Result;
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

/// A file of the library, parsed on first use.
#[derive(Debug)]
pub(super) struct Entry<T> {
    pub(super) file: String,
    pub(super) domain: String,
    pub(super) text: Cow<'static, str>,
    pub(super) parsed: OnceLock<T>,
}

impl<T> Entry<T> {
    pub(super) fn get(&self, parse: impl FnOnce(&str, &str, &str) -> Result<T>) -> Result<&T> {
        if let Some(parsed) = self.parsed.get() {
            return Ok(parsed);
        }
        let parsed = parse(&self.file, &self.domain, &self.text)?;
        Ok(self.parsed.get_or_init(|| parsed))
    }
}
