//! The questions that are asked, and what the user says about them.

use super::super::template::Templates;
use super::settings::Settings;
use nsq_engine::scope::ScopeText;
use nsq_library::catalog::{Catalog, Page, Part};
use nsq_render::render::visible;
use nsq_value::error::Result;
use serde_json::{Value as Json, json};
use std::path::PathBuf;

/// What the user says about the questions.
#[derive(Debug, Clone, Default)]
pub struct Given<'g> {
    /// Names of the parts to answer, or `all`.
    pub parts: &'g [String],
    /// Parameters and names of ranges, `key=value`.
    pub params: &'g [String],
    /// CSV files, by the names that the page has for them.
    pub files: &'g [(String, PathBuf)],
    /// The scope of all queries.
    pub scope: ScopeText,
    /// The class map, if the user chose one.
    pub classes: Option<&'g str>,
}

/// The questions of a page that the user asks.
#[derive(Debug)]
pub struct Questions<'a> {
    pub(super) catalog: &'a Catalog,
    pub(super) page: &'a Page,
    pub(super) parts: Vec<&'a Part>,
    pub(super) settings: Settings,
    pub(super) scope: ScopeText,
    pub(super) classes: Option<String>,
    pub(super) templates: Templates,
}

impl<'a> Questions<'a> {
    /// The questions of the page `name`.
    pub fn new(catalog: &'a Catalog, name: &str, given: Given<'_>) -> Result<Self> {
        let page = catalog.playbook(name)?;
        for name in given.parts.iter().filter(|name| *name != "all") {
            page.part(name)?;
        }
        let is_asked = |part: &&Part| given.parts.iter().any(|name| name == "all" || *name == part.part);
        let settings = Settings::new(page, given.params, given.files)?;
        settings.check_classes(page, catalog, given.classes.is_some())?;
        Ok(Self {
            catalog,
            page,
            parts: page.parts.iter().filter(is_asked).collect(),
            settings,
            scope: given.scope,
            classes: given.classes.map(str::to_owned),
            templates: Templates::new(visible),
        })
    }

    /// The page.
    pub fn page(&self) -> &'a Page {
        self.page
    }

    /// The parts that are asked, in the order of the page.
    pub fn parts(&self) -> &[&'a Part] {
        &self.parts
    }

    /// The answers as the layout of questions shows them. `context` is what it sees.
    pub fn layout(&self, context: Json) -> Result<String> {
        self.templates.own_layout(self.catalog, LAYOUT, &json!({ "answer": context }))
    }
}

/// The layout of answers, as text and as Markdown.
const LAYOUT: &str = "answers";
