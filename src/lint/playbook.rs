//! The rules for playbooks: what they name exists, and their templates can be read.

use super::Finding;
use super::names::{Place, check_stem};
use crate::answer::{NO_ANSWER, Templates};
use crate::catalog::ParamType;
use crate::catalog::{Answer, Ask, Catalog, NamePattern, PatternUse, Playbook, line_of};
use crate::compile::{parse_param, scalar};
use crate::normalize::RangePattern;
use regex::Regex;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// A pattern over templates, which is known to be one.
#[expect(clippy::unwrap_used, reason = "constants, all compiled by a test")]
fn pattern(text: &str) -> Regex {
    Regex::new(text).unwrap()
}

/// What of a template is code.
static INSIDE: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?s)\{\{.*?\}\}|\{%.*?%\}"));
static QUOTED: LazyLock<Regex> = LazyLock::new(|| pattern(r#"'[^']*'|"[^"]*""#));
static FILTER: LazyLock<Regex> = LazyLock::new(|| pattern(r"\|\s*([A-Za-z_]\w*)"));
/// A query and a column of its rows.
static FIELD: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b(\w+)\.(?:first|by\.\w+)\.([A-Za-z_]\w*)"));
static BY: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b(\w+)\.by\b"));
/// A name for rows, and the query.
static LOOP: LazyLock<Regex> = LazyLock::new(|| pattern(r"\bfor\s+(\w+)\s+in\s+(\w+)\.rows\b"));
static OF_ROW: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b(\w+)\.([A-Za-z_]\w*)"));

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}

/// The help of most findings.
const HELP: &str = "queries/README.md, \"Playbooks\", tells what stands where";

pub(super) fn check_playbook(playbook: &Playbook, catalog: &Catalog, findings: &mut Vec<Finding>) {
    let place = Place { file: &playbook.file, text: &playbook.text };
    check_stem(&place, "P01", &playbook.name, findings);
    let mut check = Check { playbook, catalog, templates: Templates::new(str::to_owned), findings };
    check.texts();
    check.patterns();
    check.settings();
    check.parts();
}

struct Check<'a> {
    playbook: &'a Playbook,
    catalog: &'a Catalog,
    templates: Templates,
    findings: &'a mut Vec<Finding>,
}

impl Check<'_> {
    /// Notes what is wrong at the line where `near` stands first.
    fn say(&mut self, rule: &'static str, near: &str, message: String) {
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

    /// P01, P02: what people read, and that there is something to ask.
    fn texts(&mut self) {
        let playbook = self.playbook;
        if playbook.version == 0 {
            self.say("P01", "version:", "versions begin at 1".to_owned());
        }
        if playbook.title.is_empty() || playbook.title.ends_with('.') {
            self.say("P02", "title:", "the title is empty or ends in a full stop".to_owned());
        }
        if !playbook.doc.trim_end().ends_with('.') {
            self.say("P02", "doc:", "`doc` is not a sentence".to_owned());
        }
        if playbook.parts.is_empty() {
            self.say("P02", "parts:", "there are no parts".to_owned());
        }
    }

    /// P03: patterns can be read, and need only patterns that exist.
    fn patterns(&mut self) {
        let mut seen = BTreeSet::new();
        for pattern in &self.playbook.patterns {
            if !seen.insert(&pattern.name) {
                self.say("P03", &pattern.name, format!("there are two patterns {}", pattern.name));
            }
            if pattern.any.is_empty() && pattern.all.is_empty() {
                self.say("P03", &pattern.name, format!("pattern {} fits nothing", pattern.name));
            }
            for alternative in &pattern.any {
                let fault = match &alternative.name {
                    NamePattern::Glob(glob) => RangePattern::new(glob).err().map(|e| e.to_string()),
                    NamePattern::Match(regex) => Regex::new(regex).err().map(|e| e.to_string()),
                };
                if let Some(fault) = fault {
                    let fault = fault.lines().last().unwrap_or_default().to_owned();
                    self.say("P03", &pattern.name, format!("pattern {}: {fault}", pattern.name));
                }
                for with in &alternative.with {
                    self.has_pattern(with, &pattern.name);
                }
            }
            for part in &pattern.all {
                self.has_pattern(PatternUse::named(part).name, &pattern.name);
            }
        }
    }

    fn has_pattern(&mut self, name: &str, near: &str) {
        if self.playbook.pattern(name).is_none() {
            self.say("P03", near, format!("there is no pattern {name}"));
        }
    }

    /// P04: presets set parameters that exist, and have a value for each choice.
    fn settings(&mut self) {
        let playbook = self.playbook;
        let has = |name: &str| playbook.params.iter().any(|param| param.name == name);
        for preset in &playbook.presets {
            let Some(param) = playbook.params.iter().find(|param| param.name == preset.param) else {
                self.say("P04", &preset.param, format!("there is no parameter {}", preset.param));
                continue;
            };
            for value in &preset.values {
                if !param.values.is_empty() && !param.values.contains(&value.value) {
                    self.say("P04", &value.value, format!("{} is no {}", value.value, param.name));
                }
                for name in value.sets.keys().filter(|name| !has(name)) {
                    self.say("P04", name, format!("there is no parameter {name}"));
                }
            }
        }
        for preset in &playbook.presets {
            let values = playbook.params.iter().filter(|param| param.name == preset.param);
            for value in values.flat_map(|param| &param.values) {
                if !preset.values.iter().any(|known| known.value == *value) {
                    self.say("P04", &preset.param, format!("the preset has no value for {value}"));
                }
            }
        }
        for name in &playbook.classes {
            let is_list = playbook.params.iter().any(|p| p.name == *name && p.kind == ParamType::List);
            if !is_list {
                self.say("P04", "classes:", format!("{name} is no parameter of the type list"));
            }
        }
        for spec in &playbook.files {
            for name in spec.numbers.iter().filter(|name| !spec.columns.contains(name)) {
                self.say("P04", "numbers:", format!("file {} has no column {name}", spec.name));
            }
        }
        for param in &playbook.params {
            if !param.default.is_null()
                && let Err(error) = parse_param(&playbook.name, param, &scalar(&param.default))
            {
                self.say("P04", &format!("name: {}", param.name), first_line(&error.to_string()));
            }
            if self.playbook.pattern(&param.name).is_some() {
                self.say("P04", &param.name, format!("{} is a pattern and a parameter", param.name));
            }
        }
    }

    /// P05: parts can be told apart, and each piece can be asked and said.
    fn parts(&mut self) {
        let mut seen = BTreeSet::new();
        for part in &self.playbook.parts {
            if part.part == "all" || !seen.insert(&part.part) {
                self.say("P05", &part.question, format!("part {} has no name of its own", part.part));
            }
            if part.question.trim().is_empty() || part.answers.is_empty() {
                self.say("P05", "parts:", format!("part {} has no question or no answers", part.part));
            }
            let mut known: BTreeSet<String> =
                ["params", "given", "options", NO_ANSWER].map(str::to_owned).into();
            known.extend(self.playbook.files.iter().map(|file| file.name.clone()));
            for answer in &part.answers {
                self.answer(answer, &mut known);
            }
        }
    }

    fn answer(&mut self, answer: &Answer, known: &mut BTreeSet<String>) {
        for name in &answer.given {
            let params = self.playbook.params.iter().map(|param| &param.name);
            let files = self.playbook.files.iter().map(|file| &file.name);
            if !params.chain(files).any(|known| known == name) {
                self.say(
                    "P05",
                    &answer.about,
                    format!("nobody can give {name}: it is no parameter and no file"),
                );
            }
        }
        for ask in &answer.queries {
            self.ask(ask, known);
            known.insert(ask.name.clone());
        }
        for fact in &answer.facts {
            let names = self.templates.names_in_expression(&fact.expression);
            self.names(&fact.expression, names, known);
            self.words(answer, &fact.expression, &fact.expression);
            known.insert(fact.name.clone());
        }
        let names = self.templates.names_in(&answer.text);
        self.names(&answer.text, names, known);
        let inside: Vec<&str> = INSIDE.find_iter(&answer.text).map(|found| found.as_str()).collect();
        self.words(answer, &answer.text, &inside.join(" "));
    }

    /// P06: the query is there and takes what it is given.
    fn ask(&mut self, ask: &Ask, known: &BTreeSet<String>) {
        let near = format!("as: {}", ask.name);
        for text in ask.nvtx.iter().chain(&ask.iter).chain(&ask.exclude) {
            let used = PatternUse::of(text);
            let is_open = text.starts_with('{') && text.ends_with('}');
            match used {
                Some(used) => self.has_pattern(used.name, &near),
                None if is_open => self.say("P06", &near, format!("`{text}` is no pattern")),
                None => {}
            }
        }
        if ask.report.is_empty() || ask.report.iter().any(|place| !(1..=2).contains(place)) {
            self.say("P06", &near, "reports are 1 and 2".to_owned());
        }
        for requirement in ask.requires.iter().flat_map(|text| text.split('|')) {
            if self.catalog.relation(requirement.trim()).is_none() {
                self.say("P06", &near, format!("there is no relation {}", requirement.trim()));
            }
        }
        let Ok(query) = self.catalog.query(&ask.query) else {
            self.say("P06", &near, format!("there is no query {} that can be read", ask.query));
            return;
        };
        let columns: Vec<&str> =
            query.header.columns.iter().map(|column| column.name.as_str()).collect();
        if !ask.only.is_empty() && ask.key.is_none() {
            self.say("P06", &near, "`only` picks rows by `key`, and there is none".to_owned());
        }
        for column in ask.key.iter().chain(&ask.columns) {
            if !columns.contains(&column.as_str()) {
                self.say("P06", &near, format!("{} has no column {column}", ask.query));
            }
        }
        for (name, text) in &ask.params {
            if !query.header.params.iter().any(|param| param.name == *name) {
                self.say("P06", &near, format!("{} takes no parameter {name}", ask.query));
            }
            match PatternUse::of(text) {
                Some(used) => self.has_pattern(used.name, &near),
                None => {
                    let names = self.templates.names_in(text);
                    self.names(text, names, known);
                    let param = query.header.params.iter().find(|param| param.name == *name);
                    if let (Some(param), false) = (param, text.contains('{'))
                        && let Err(error) = parse_param(&ask.query, param, text)
                    {
                        self.say("P06", &near, first_line(&error.to_string()));
                    }
                }
            }
        }
    }

    /// P07: the filters of a template are there, and the columns that it names of queries of its piece.
    fn words(&mut self, answer: &Answer, near: &str, source: &str) {
        let code = QUOTED.replace_all(source, "''");
        for filter in FILTER.captures_iter(&code) {
            if !self.templates.has_filter(&filter[1]) {
                self.say("P07", near, format!("there is no filter {}", &filter[1]));
            }
        }
        let mut named: Vec<(String, String)> =
            FIELD.captures_iter(&code).map(|found| (found[1].to_owned(), found[2].to_owned())).collect();
        for row in LOOP.captures_iter(&code) {
            for field in OF_ROW.captures_iter(&code).filter(|field| field[1] == row[1]) {
                named.push((row[2].to_owned(), field[2].to_owned()));
            }
        }
        for (name, column) in named {
            let Some(ask) = answer.queries.iter().find(|ask| ask.name == name) else { continue };
            let Ok(query) = self.catalog.query(&ask.query) else { continue };
            if !query.header.columns.iter().any(|known| known.name == column) {
                self.say("P07", near, format!("{} has no column {column}", ask.query));
            }
        }
        for ask in answer.queries.iter().filter(|ask| ask.key.is_none()) {
            let mut asked = BY.captures_iter(&code);
            if asked.any(|found| found[1] == ask.name) {
                self.say("P07", near, format!("{}.by needs a `key` of {}", ask.name, ask.name));
            }
        }
    }

    /// P07: a template can be read, and asks only for what is there.
    fn names(&mut self, near: &str, names: Result<BTreeSet<String>, String>, known: &BTreeSet<String>) {
        match names {
            Err(fault) => self.say("P07", near, format!("a template cannot be read: {fault}")),
            Ok(names) => {
                for name in names.difference(known) {
                    self.say(
                        "P07",
                        near,
                        format!("a template asks for {name}, which nothing before it has"),
                    );
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_is_one() {
        for pattern in [&INSIDE, &QUOTED, &FILTER, &FIELD, &BY, &LOOP, &OF_ROW] {
            assert!(!pattern.as_str().is_empty());
        }
    }
}
