//! The answer of a page, as tables and in layouts.

use super::planned::HELP;
use super::prose::Terminal;
use super::template::{Templates, Trouble};
use minijinja::Value;
use nsq_engine::compile::Plan;
use nsq_library::catalog::{Catalog, Page};
use nsq_value::error::{Error, Result};
use nsq_value::table::ResultTable;
use std::collections::BTreeMap;

/// The answer of a page.
#[derive(Debug)]
pub struct PageAnswer<'a> {
    pub(super) catalog: &'a Catalog,
    pub(super) page: &'a Page,
    pub(super) templates: &'a Templates,
    /// The tables, in the order of the manifest.
    pub tables: Vec<PageTableAnswer<'a>>,
    /// `params`, tables and facts, as layouts see them.
    pub(super) context: BTreeMap<String, Value>,
    /// The facts of the manifest; none for several reports that the page does not compare.
    pub facts: serde_json::Map<String, serde_json::Value>,
    /// What reports lack, and why tables are empty, a line each.
    pub notes: Vec<String>,
    /// Whether it is about one report, or compares reports: else it has no layouts.
    pub(super) is_about_one: bool,
}

/// A table of an answered page.
#[derive(Debug)]
pub struct PageTableAnswer<'a> {
    /// Name in layouts and facts.
    pub name: &'a str,
    /// Heading.
    pub title: String,
    /// The query behind it.
    pub plan: &'a Plan,
    /// Most rows to show of each report. `None`: all.
    pub(super) rows: Option<usize>,
    /// Whether only layouts show it.
    pub hidden: bool,
    /// All rows. Those of several reports begin with the column `report`.
    pub table: ResultTable,
}

impl PageTableAnswer<'_> {
    /// The rows to show.
    pub fn shown(&self) -> ResultTable {
        let by_report = !self.plan.across && self.table.columns.len() > self.plan.columns.len();
        let most = self.rows.unwrap_or(usize::MAX);
        // The rows of a report stand together.
        let (mut above, mut count) = (None, 0);
        let mut rows = Vec::new();
        for row in &self.table.rows {
            let report = if by_report { row.first() } else { None };
            count = if report == above { count + 1 } else { 1 };
            above = report;
            if count <= most {
                rows.push(row.clone());
            }
        }
        ResultTable { columns: self.table.columns.clone(), rows }
    }
}

impl PageAnswer<'_> {
    /// The page in one of its layouts, for a file.
    pub fn layout(&self, name: &str) -> Result<String> {
        self.layout_on(name, Terminal::default())
    }

    /// The page in one of its layouts, for a terminal.
    pub fn layout_on(&self, name: &str, terminal: Terminal) -> Result<String> {
        if !self.is_about_one {
            return Err(Error::usage(
                "a layout of this page is about one report",
                "ask the page for each report",
            ));
        }
        let layouts = || self.catalog.layouts(&self.page.name);
        let Some((_, layout)) = layouts().find(|(known, _)| *known == name) else {
            let known = layouts().map(|(name, _)| name);
            let known: Vec<&str> = known.filter(|name| !name.starts_with('_')).collect();
            let help = match known.as_slice() {
                [] => "The page has none: a layout is a .jinja file in its folder.".to_owned(),
                known => format!("Layouts of the page: {}.", known.join(", ")),
            };
            return Err(Error::unknown("layout", name, known, help));
        };
        let (page, catalog) = (&self.page.name, self.catalog);
        let (layouts, assets) = (catalog.layouts(page), catalog.assets(page));
        let context = Value::from(self.context.clone());
        self.templates.layout(layouts, assets, name, context, terminal).map_err(|trouble| {
            let (Trouble::Fault(reason) | Trouble::NoAnswer(reason)) = trouble;
            Error::catalog(&layout.file, 1, reason, HELP)
        })
    }
}
