//! Rules for pages: all names exist, and all templates parse.

use super::Finding;
use super::names::Place;
use super::template::{code_in, columns_in, filters_in};
use crate::catalog::{Catalog, Page};
use crate::compile::{parse_param, scalar};
use crate::page::{FUNCTIONS, Templates};
use std::collections::BTreeSet;

/// The help of all findings in pages.
const HELP: &str = "see \"Pages\" in queries/README.md";

pub(super) fn check_page(page: &Page, catalog: &Catalog, findings: &mut Vec<Finding>) {
    let place = Place { file: &page.file, text: &page.source };
    let mut check = Check { page, catalog, place, templates: Templates::new(str::to_owned), findings };
    check.check_texts();
    let known = check.check_tables();
    check.check_layouts(&known);
}

struct Check<'a> {
    page: &'a Page,
    catalog: &'a Catalog,
    place: Place<'a>,
    templates: Templates,
    findings: &'a mut Vec<Finding>,
}

impl Check<'_> {
    fn add(&mut self, rule: &'static str, near: &str, message: String) {
        self.findings.push(self.place.finding(rule, near, message, HELP));
    }

    /// G01: name, version, texts and defaults are valid.
    fn check_texts(&mut self) {
        let page = self.page;
        let folder = std::path::Path::new(&page.file).parent().and_then(|folder| folder.file_name());
        if folder.is_none_or(|folder| folder != page.name.as_str()) {
            self.add("G01", "name:", format!("name '{}' must equal the folder of the page", page.name));
        }
        if page.version == 0 {
            self.add("G01", "version:", "the version must be at least 1".to_owned());
        }
        if page.title.is_empty() || page.title.ends_with('.') {
            self.add("G01", "title:", "the title is empty or ends in a full stop".to_owned());
        }
        if !page.doc.trim_end().ends_with('.') {
            self.add("G01", "doc:", "`doc` must end in a full stop".to_owned());
        }
        for param in &page.params {
            if !param.default.is_null()
                && let Err(error) = parse_param(&page.name, param, &scalar(&param.default))
            {
                let message = error.to_string().lines().next().unwrap_or_default().to_owned();
                self.add("G01", &format!("name: {},", param.name), message);
            }
        }
    }

    /// G02, G03: queries, parameters and the names in expressions exist. Returns the names that layouts
    /// can use.
    fn check_tables(&mut self) -> BTreeSet<String> {
        let page = self.page;
        let params = BTreeSet::from(["params".to_owned()]);
        // What every page has: the reports, and the version of nsq.
        let mut known = BTreeSet::from(["params", "reports", "nsq"].map(str::to_owned));
        if page.tables.is_empty() {
            self.add("G02", "tables:", "the page has no tables".to_owned());
        }
        for table in &page.tables {
            let near = format!("as: {}", table.name);
            if !known.insert(table.name.clone()) {
                self.add("G02", &near, format!("duplicate name '{}'", table.name));
            }
            for source in table.when.iter().chain(&table.rows) {
                let names = self.templates.names_in_expression(source);
                self.check_names(source, names, &params);
            }
            for source in table.params.values() {
                let names = self.templates.names_in(source);
                self.check_names(source, names, &params);
            }
            let Ok(query) = self.catalog.query(&table.query) else {
                self.add("G02", &near, format!("unknown or unreadable query '{}'", table.query));
                continue;
            };
            for name in table.params.keys() {
                if !query.header.params.iter().any(|param| param.name == *name) {
                    let message = format!("unknown parameter '{name}' of query '{}'", table.query);
                    self.add("G02", &near, message);
                }
            }
            let required = query.header.params.iter().filter(|param| param.required);
            for param in required.filter(|param| !table.params.contains_key(&param.name)) {
                let message = format!("query '{}' needs the parameter '{}'", table.query, param.name);
                self.add("G02", &near, message);
            }
        }
        for fact in &page.facts {
            self.check_code("G03", &page.file, &page.source, &fact.expression, &fact.expression);
            let names = self.templates.names_in_expression(&fact.expression);
            self.check_names(&fact.expression, names, &known);
            if !known.insert(fact.name.clone()) {
                self.add("G03", &fact.name, format!("duplicate name '{}'", fact.name));
            }
        }
        for title in page.tables.iter().filter_map(|table| table.title.as_ref()) {
            self.check_code("G03", &page.file, &page.source, title, &code_in(title));
            let names = self.templates.names_in(title);
            self.check_names(title, names, &known);
        }
        known
    }

    /// G04: layouts parse, and use only names of the page.
    fn check_layouts(&mut self, known: &BTreeSet<String>) {
        for (_, layout) in self.catalog.layouts(&self.page.name) {
            let place = Place { file: &layout.file, text: &layout.text };
            self.check_code("G04", &layout.file, &layout.text, "", &code_in(&layout.text));
            let messages: Vec<String> = match self.templates.names_in(&layout.text) {
                Err(fault) => vec![format!("invalid template: {fault}")],
                Ok(names) => names
                    .difference(known)
                    .filter(|name| !FUNCTIONS.contains(&name.as_str()))
                    .map(|name| format!("the layout uses '{name}', which the page does not define"))
                    .collect(),
            };
            for message in messages {
                let near = message.split('\'').nth(1).unwrap_or_default();
                self.findings.push(place.finding("G04", near, message.clone(), HELP));
            }
        }
    }

    /// G03, G04: code uses existing filters, and existing columns of its tables.
    fn check_code(&mut self, rule: &'static str, file: &str, text: &str, near: &str, code: &str) {
        let place = Place { file, text };
        let mut messages = Vec::new();
        for filter in filters_in(code).into_iter().filter(|filter| !self.templates.has_filter(filter)) {
            messages.push((filter.clone(), format!("unknown filter '{filter}'")));
        }
        for (name, column) in columns_in(code) {
            let Some(table) = self.page.tables.iter().find(|table| table.name == name) else { continue };
            let Ok(query) = self.catalog.query(&table.query) else { continue };
            if column != "report" && !query.header.columns.iter().any(|known| known.name == column) {
                messages.push((
                    column.clone(),
                    format!("unknown column '{column}' of query '{}'", table.query),
                ));
            }
        }
        for (found, message) in messages {
            let near = if near.is_empty() { &found } else { near };
            self.findings.push(place.finding(rule, near, message, HELP));
        }
    }

    /// G03: a template parses, and uses only these names.
    fn check_names(
        &mut self,
        near: &str,
        names: Result<BTreeSet<String>, String>,
        known: &BTreeSet<String>,
    ) {
        match names {
            Err(fault) => self.add("G03", near, format!("invalid template: {fault}")),
            Ok(names) => {
                for name in names.difference(known) {
                    self.add("G03", near, format!("unknown name '{name}'"));
                }
            }
        }
    }
}
