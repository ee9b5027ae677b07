//! Rules for playbooks: all names exist, and all templates parse.

use super::Finding;
use super::names::{Place, check_stem};
use super::template::{code_in, columns_in, filters_in, keyed_in};
use crate::catalog::ParamType;
use crate::catalog::{Answer, Ask, Catalog, NamePattern, PatternUse, Playbook, line_of};
use crate::compile::{parse_param, scalar};
use crate::normalize::RangePattern;
use crate::page::{FUNCTIONS, Templates};
use regex::Regex;
use std::collections::BTreeSet;

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}

/// The help of all findings in playbooks.
const HELP: &str = "see \"Playbooks\" in queries/README.md";

pub(super) fn check_playbook(playbook: &Playbook, catalog: &Catalog, findings: &mut Vec<Finding>) {
    let place = Place { file: &playbook.file, text: &playbook.text };
    check_stem(&place, "P01", &playbook.name, findings);
    let mut check = Check { playbook, catalog, templates: Templates::new(str::to_owned), findings };
    check.check_texts();
    check.check_patterns();
    check.check_settings();
    check.check_parts();
}

struct Check<'a> {
    playbook: &'a Playbook,
    catalog: &'a Catalog,
    templates: Templates,
    findings: &'a mut Vec<Finding>,
}

impl Check<'_> {
    /// Adds a finding at the first line that contains `near`.
    fn add(&mut self, rule: &'static str, near: &str, message: String) {
        let near = near.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().trim();
        let line = if near.is_empty() { 1 } else { line_of(&self.playbook.text, near) };
        self.findings.push(Finding {
            file: self.playbook.file.clone(),
            line,
            rule,
            message,
            help: HELP.to_owned(),
        });
    }

    /// P01, P02: version, title and doc are valid, and there are parts.
    fn check_texts(&mut self) {
        let playbook = self.playbook;
        if playbook.version == 0 {
            self.add("P01", "version:", "the version must be at least 1".to_owned());
        }
        if playbook.title.is_empty() || playbook.title.ends_with('.') {
            self.add("P02", "title:", "the title is empty or ends in a full stop".to_owned());
        }
        if !playbook.doc.trim_end().ends_with('.') {
            self.add("P02", "doc:", "`doc` must end in a full stop".to_owned());
        }
        if playbook.parts.is_empty() {
            self.add("P02", "parts:", "the playbook has no parts".to_owned());
        }
    }

    /// P03: patterns parse, and refer only to existing patterns.
    fn check_patterns(&mut self) {
        let mut seen = BTreeSet::new();
        for pattern in &self.playbook.patterns {
            if !seen.insert(&pattern.name) {
                self.add("P03", &pattern.name, format!("duplicate pattern '{}'", pattern.name));
            }
            if pattern.any.is_empty() && pattern.all.is_empty() {
                self.add(
                    "P03",
                    &pattern.name,
                    format!("pattern '{}' has neither `any` nor `all`", pattern.name),
                );
            }
            for alternative in &pattern.any {
                let fault = match &alternative.name {
                    NamePattern::Glob(glob) => RangePattern::new(glob).err().map(|e| e.to_string()),
                    NamePattern::Match(regex) => Regex::new(regex).err().map(|e| e.to_string()),
                };
                if let Some(fault) = fault {
                    let fault = fault.lines().last().unwrap_or_default().to_owned();
                    self.add("P03", &pattern.name, format!("pattern '{}': {fault}", pattern.name));
                }
                for with in &alternative.with {
                    self.check_pattern(with, &pattern.name);
                }
            }
            for part in &pattern.all {
                self.check_pattern(PatternUse::named(part).name, &pattern.name);
            }
        }
    }

    fn check_pattern(&mut self, name: &str, near: &str) {
        if self.playbook.pattern(name).is_none() {
            self.add("P03", near, format!("unknown pattern '{name}'"));
        }
    }

    /// P04: presets set existing parameters and cover all values; classes, files and defaults are valid.
    fn check_settings(&mut self) {
        let playbook = self.playbook;
        let has = |name: &str| playbook.params.iter().any(|param| param.name == name);
        for preset in &playbook.presets {
            let Some(param) = playbook.params.iter().find(|param| param.name == preset.param) else {
                self.add("P04", &preset.param, format!("unknown parameter '{}'", preset.param));
                continue;
            };
            for value in &preset.values {
                if !param.values.is_empty() && !param.values.contains(&value.value) {
                    self.add(
                        "P04",
                        &value.value,
                        format!("invalid value '{}' for parameter '{}'", value.value, param.name),
                    );
                }
                for name in value.sets.keys().filter(|name| !has(name)) {
                    self.add("P04", name, format!("unknown parameter '{name}'"));
                }
            }
        }
        for preset in &playbook.presets {
            let values = playbook.params.iter().filter(|param| param.name == preset.param);
            for value in values.flat_map(|param| &param.values) {
                if !preset.values.iter().any(|known| known.value == *value) {
                    self.add(
                        "P04",
                        &preset.param,
                        format!("the preset of '{}' lacks the value '{value}'", preset.param),
                    );
                }
            }
        }
        for name in &playbook.classes {
            let is_list = playbook.params.iter().any(|p| p.name == *name && p.kind == ParamType::List);
            if !is_list {
                self.add("P04", "classes:", format!("'{name}' is not a parameter of type list"));
            }
        }
        for spec in &playbook.files {
            for name in spec.numbers.iter().filter(|name| !spec.columns.contains(name)) {
                self.add("P04", "numbers:", format!("unknown column '{name}' of file '{}'", spec.name));
            }
        }
        for param in &playbook.params {
            if !param.default.is_null()
                && let Err(error) = parse_param(&playbook.name, param, &scalar(&param.default))
            {
                self.add("P04", &format!("name: {}", param.name), first_line(&error.to_string()));
            }
            if param.required {
                self.add(
                    "P04",
                    &format!("name: {}", param.name),
                    format!("'{}' cannot be required: list it in `given` of an answer", param.name),
                );
            }
            if self.playbook.pattern(&param.name).is_some() {
                self.add(
                    "P04",
                    &param.name,
                    format!("'{}' is both a pattern and a parameter", param.name),
                );
            }
        }
    }

    /// P05: parts have unique names, questions and answers.
    fn check_parts(&mut self) {
        let mut seen = BTreeSet::new();
        for part in &self.playbook.parts {
            if part.part == "all" || !seen.insert(&part.part) {
                self.add(
                    "P05",
                    &part.question,
                    format!("part name '{}' is reserved or duplicate", part.part),
                );
            }
            if part.question.trim().is_empty() || part.answers.is_empty() {
                self.add("P05", "parts:", format!("part '{}' has no question or no answers", part.part));
            }
            let mut known: BTreeSet<String> = ["params", "given", "options"]
                .iter()
                .chain(&FUNCTIONS)
                .map(|name| name.to_string())
                .collect();
            known.extend(self.playbook.files.iter().map(|file| file.name.clone()));
            for answer in &part.answers {
                self.check_answer(answer, &mut known);
            }
        }
    }

    fn check_answer(&mut self, answer: &Answer, known: &mut BTreeSet<String>) {
        for name in &answer.given {
            let params = self.playbook.params.iter().map(|param| &param.name);
            let files = self.playbook.files.iter().map(|file| &file.name);
            if !params.chain(files).any(|known| known == name) {
                self.add("P05", &answer.about, format!("unknown parameter or file '{name}' in `given`"));
            }
        }
        for ask in &answer.queries {
            self.check_ask(ask, known);
            known.insert(ask.name.clone());
        }
        for fact in &answer.facts {
            let names = self.templates.names_in_expression(&fact.expression);
            self.check_names(&fact.expression, names, known);
            self.check_code(answer, &fact.expression, &fact.expression);
            known.insert(fact.name.clone());
        }
        let names = self.templates.names_in(&answer.text);
        self.check_names(&answer.text, names, known);
        self.check_code(answer, &answer.text, &code_in(&answer.text));
    }

    /// P06: the query exists and accepts its parameters and options.
    fn check_ask(&mut self, ask: &Ask, known: &BTreeSet<String>) {
        let near = format!("as: {}", ask.name);
        for text in ask.nvtx.iter().chain(&ask.iter).chain(&ask.exclude) {
            let used = PatternUse::of(text);
            let is_open = text.starts_with('{') && text.ends_with('}');
            match used {
                Some(used) => self.check_pattern(used.name, &near),
                None if is_open => self.add("P06", &near, format!("invalid pattern '{text}'")),
                None => {}
            }
        }
        if ask.report.is_empty() || ask.report.iter().any(|place| !(1..=2).contains(place)) {
            self.add("P06", &near, "`report` must be 1, 2 or a list of both".to_owned());
        }
        for requirement in ask.requires.iter().flat_map(|text| text.split('|')) {
            if self.catalog.relation(requirement.trim()).is_none() {
                self.add("P06", &near, format!("unknown relation '{}'", requirement.trim()));
            }
        }
        let Ok(query) = self.catalog.query(&ask.query) else {
            self.add("P06", &near, format!("unknown or unreadable query '{}'", ask.query));
            return;
        };
        let columns: Vec<&str> =
            query.header.columns.iter().map(|column| column.name.as_str()).collect();
        if !ask.only.is_empty() && ask.key.is_none() {
            self.add("P06", &near, "`only` needs a `key`".to_owned());
        }
        for column in ask.key.iter().chain(&ask.columns) {
            if !columns.contains(&column.as_str()) {
                self.add("P06", &near, format!("unknown column '{column}' of query '{}'", ask.query));
            }
        }
        let required = query.header.params.iter().filter(|param| param.required);
        for param in required.filter(|param| !ask.params.contains_key(&param.name)) {
            let message = format!("query '{}' needs the parameter '{}'", ask.query, param.name);
            self.add("P06", &near, message);
        }
        for (name, text) in &ask.params {
            if !query.header.params.iter().any(|param| param.name == *name) {
                self.add("P06", &near, format!("unknown parameter '{name}' of query '{}'", ask.query));
            }
            match PatternUse::of(text) {
                Some(used) => self.check_pattern(used.name, &near),
                None => {
                    let names = self.templates.names_in(text);
                    self.check_names(text, names, known);
                    let param = query.header.params.iter().find(|param| param.name == *name);
                    if let (Some(param), false) = (param, text.contains('{'))
                        && let Err(error) = parse_param(&ask.query, param, text)
                    {
                        self.add("P06", &near, first_line(&error.to_string()));
                    }
                }
            }
        }
    }

    /// P07: a template uses existing filters, and existing columns of its queries.
    fn check_code(&mut self, answer: &Answer, near: &str, source: &str) {
        for filter in filters_in(source) {
            if !self.templates.has_filter(&filter) {
                self.add("P07", near, format!("unknown filter '{filter}'"));
            }
        }
        for (name, column) in columns_in(source) {
            let Some(ask) = answer.queries.iter().find(|ask| ask.name == name) else { continue };
            let Ok(query) = self.catalog.query(&ask.query) else { continue };
            if !query.header.columns.iter().any(|known| known.name == column) {
                self.add("P07", near, format!("unknown column '{column}' of query '{}'", ask.query));
            }
        }
        for ask in answer.queries.iter().filter(|ask| ask.key.is_none()) {
            if keyed_in(source).contains(&ask.name) {
                self.add("P07", near, format!("`{0}.by` needs a `key` for query '{0}'", ask.name));
            }
        }
    }

    /// P07: a template parses, and uses only names defined before it.
    fn check_names(
        &mut self,
        near: &str,
        names: Result<BTreeSet<String>, String>,
        known: &BTreeSet<String>,
    ) {
        match names {
            Err(fault) => self.add("P07", near, format!("invalid template: {fault}")),
            Ok(names) => {
                for name in names.difference(known) {
                    self.add(
                        "P07",
                        near,
                        format!("the template uses '{name}', which is not defined before it"),
                    );
                }
            }
        }
    }
}
