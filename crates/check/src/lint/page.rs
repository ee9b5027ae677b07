//! Rules for pages: all names exist, and all templates parse.

use super::Finding;
use super::names::{Place, check_stem};
use super::template::{code_in, columns_in, filters_in};
use nsq_ask::page::{ASSET, FUNCTIONS, TERMINAL, Templates};
use nsq_engine::compile::{parse_param, scalar};
use nsq_library::catalog::{Catalog, Page, PageLayout, QueryHeader};
use std::collections::{BTreeMap, BTreeSet};

/// Checks a page, and a file of the folder `playbooks`.
pub(super) fn check_page(page: &Page, catalog: &Catalog, findings: &mut Vec<Finding>) {
    let place = Place { file: &page.file, text: &page.source };
    let mut check = Check { page, catalog, place, templates: Templates::new(str::to_owned), findings };
    check.check_texts();
    if page.parts.is_empty() {
        let known = check.check_tables();
        check.check_layouts(catalog.layouts(&page.name), &known);
    } else {
        check.check_questions();
    }
}

/// What checks a page needs.
pub(super) struct Check<'a> {
    pub(super) page: &'a Page,
    pub(super) catalog: &'a Catalog,
    place: Place<'a>,
    pub(super) templates: Templates,
    findings: &'a mut Vec<Finding>,
}

impl<'a> Check<'a> {
    /// Adds a finding at the first line that contains the first line of `near`.
    pub(super) fn add(&mut self, rule: &'static str, near: &str, message: String) {
        let near = near.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("name:");
        self.findings.push(self.place.finding(rule, near, message, self.help()));
    }

    /// The help of all findings.
    fn help(&self) -> &'static str {
        match self.page.parts.is_empty() {
            true => "see \"Pages\" in queries/README.md",
            false => "see \"Playbooks\" in queries/README.md",
        }
    }

    /// G01: name, version, texts and defaults are valid.
    fn check_texts(&mut self) {
        let page = self.page;
        let path = std::path::Path::new(&page.file);
        let folder = path.parent().and_then(|folder| folder.file_name());
        if path.file_stem().is_some_and(|stem| stem != "page") {
            check_stem(&self.place, "G01", &page.name, self.findings);
        } else if folder.is_none_or(|folder| folder != page.name.as_str()) {
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
        if page.tables.is_empty() == page.parts.is_empty() {
            let message = "a page has either `tables` or `parts` with questions";
            self.add("G02", "name:", message.to_owned());
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
        for table in &page.tables {
            let near = format!("as: {}", table.name);
            if !known.insert(table.name.clone()) {
                self.add("G02", &near, format!("duplicate name '{}'", table.name));
            }
            for source in table.when.iter().chain(&table.rows) {
                self.check_names("G03", source, self.templates.names_in_expression(source), &params);
            }
            for source in table.params.values() {
                self.check_names("G03", source, self.templates.names_in(source), &params);
            }
            self.check_query("G02", &near, &table.query, &table.params);
        }
        for fact in &page.facts {
            self.check_code(&fact.expression, &fact.expression);
            let names = self.templates.names_in_expression(&fact.expression);
            self.check_names("G03", &fact.expression, names, &known);
            if !known.insert(fact.name.clone()) {
                self.add("G03", &fact.name, format!("duplicate name '{}'", fact.name));
            }
        }
        for title in page.tables.iter().filter_map(|table| table.title.as_ref()) {
            self.check_code(title, &code_in(title));
            self.check_names("G03", title, self.templates.names_in(title), &known);
        }
        known
    }

    /// G02, P06: the query exists, and has these parameters and no other required ones.
    pub(super) fn check_query(
        &mut self,
        rule: &'static str,
        near: &str,
        name: &str,
        params: &BTreeMap<String, String>,
    ) -> Option<&'a QueryHeader> {
        let Ok(query) = self.catalog.query(name) else {
            self.add(rule, near, format!("unknown or unreadable query '{name}'"));
            return None;
        };
        let header = &query.header;
        for given in params.keys().filter(|given| !header.params.iter().any(|own| own.name == **given)) {
            self.add(rule, near, format!("unknown parameter '{given}' of query '{name}'"));
        }
        let required = header.params.iter().filter(|param| param.required);
        for param in required.filter(|param| !params.contains_key(&param.name)) {
            self.add(rule, near, format!("query '{name}' needs the parameter '{}'", param.name));
        }
        Some(header)
    }

    /// G04: the layouts of the formats exist. Layouts parse, and use only names of the page.
    fn check_layouts<'l>(
        &mut self,
        layouts: impl Iterator<Item = (&'l str, &'l PageLayout)>,
        known: &BTreeSet<String>,
    ) {
        let layouts: Vec<_> = layouts.collect();
        let page = self.page;
        for (format, wanted) in
            [("text", &page.text), ("markdown", &page.markdown), ("html", &page.html)]
        {
            if let Some(wanted) = wanted
                && !layouts.iter().any(|(name, _)| name == wanted)
            {
                let message =
                    format!("no layout '{wanted}': expected {wanted}.jinja in the page's folder");
                self.add("G04", &format!("{format}:"), message);
            }
        }
        for (_, layout) in layouts {
            let place = Place { file: &layout.file, text: &layout.text };
            let mut faults = self.faults_in(&code_in(&layout.text), |name| self.query_of(name));
            match self.templates.names_in(&layout.text) {
                Err(fault) => faults.push((String::new(), format!("invalid template: {fault}"))),
                Ok(names) => {
                    let is_function =
                        |name: &str| [ASSET, TERMINAL].contains(&name) || FUNCTIONS.contains(&name);
                    for name in names.difference(known).filter(|name| !is_function(name)) {
                        let message =
                            format!("the layout uses '{name}', which the page does not define");
                        faults.push((name.clone(), message));
                    }
                }
            }
            let help = self.help();
            let finding = |(near, message): (String, String)| place.finding("G04", &near, message, help);
            self.findings.extend(faults.into_iter().map(finding));
        }
    }

    /// The query of a table.
    fn query_of(&self, name: &str) -> Option<&'a str> {
        self.page.tables.iter().find(|table| table.name == name).map(|table| table.query.as_str())
    }

    /// G03: code uses existing filters, and existing columns of its tables.
    fn check_code(&mut self, near: &str, code: &str) {
        for (_, message) in self.faults_in(code, |name| self.query_of(name)) {
            self.add("G03", near, message);
        }
    }

    /// Filters and columns of tables that do not exist: the name, and a message. `query_of`: the query of a table.
    pub(super) fn faults_in<'q>(
        &self,
        code: &str,
        query_of: impl Fn(&str) -> Option<&'q str>,
    ) -> Vec<(String, String)> {
        let unknown = filters_in(code).into_iter().filter(|filter| !self.templates.has_filter(filter));
        let mut faults: Vec<(String, String)> =
            unknown.map(|filter| (filter.clone(), format!("unknown filter '{filter}'"))).collect();
        for (name, column) in columns_in(code) {
            let Some(query_name) = query_of(&name) else { continue };
            let Ok(query) = self.catalog.query(query_name) else { continue };
            if column != "report" && !query.header.columns.iter().any(|known| known.name == column) {
                let message = format!("unknown column '{column}' of query '{query_name}'");
                faults.push((column, message));
            }
        }
        faults
    }

    /// G03, P07: a template parses, and uses only these names.
    pub(super) fn check_names(
        &mut self,
        rule: &'static str,
        near: &str,
        names: Result<BTreeSet<String>, String>,
        known: &BTreeSet<String>,
    ) {
        match names {
            Err(fault) => self.add(rule, near, format!("invalid template: {fault}")),
            Ok(names) => {
                for name in names.difference(known) {
                    let message = format!("the template uses '{name}', which is not defined before it");
                    self.add(rule, near, message);
                }
            }
        }
    }
}
