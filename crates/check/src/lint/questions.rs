//! Rules for questions: patterns, presets and files are whole, and answers use what was asked before.

use super::page::Check;
use super::template::{code_in, keyed_in};
use nsq_ask::page::FUNCTIONS;
use nsq_engine::compile::parse_param;
use nsq_engine::normalize::RangePattern;
use nsq_library::catalog::{Answer, Ask, NamePattern, ParamType, PatternUse};
use regex::Regex;
use std::collections::BTreeSet;

impl Check<'_> {
    /// P03 to P07: the questions of the page.
    pub(super) fn check_questions(&mut self) {
        self.check_patterns();
        self.check_settings();
        self.check_parts();
    }

    /// P03: patterns parse, and refer only to existing patterns.
    fn check_patterns(&mut self) {
        let mut seen = BTreeSet::new();
        for pattern in &self.page.patterns {
            let name = &pattern.name;
            if !seen.insert(name) {
                self.add("P03", name, format!("duplicate pattern '{name}'"));
            }
            if pattern.any.is_empty() && pattern.all.is_empty() {
                self.add("P03", name, format!("pattern '{name}' has neither `any` nor `all`"));
            }
            for alternative in &pattern.any {
                let fault = match &alternative.name {
                    NamePattern::Glob(glob) => RangePattern::new(glob).err().map(|e| e.to_string()),
                    NamePattern::Match(regex) => Regex::new(regex).err().map(|e| e.to_string()),
                };
                if let Some(fault) = fault {
                    let fault = fault.lines().last().unwrap_or_default();
                    self.add("P03", name, format!("pattern '{name}': {fault}"));
                }
                alternative.with.iter().for_each(|with| self.check_pattern(with, name));
            }
            for part in &pattern.all {
                self.check_pattern(PatternUse::named(part).name, name);
            }
        }
    }

    fn check_pattern(&mut self, name: &str, near: &str) {
        if self.page.pattern(name).is_none() {
            self.add("P03", near, format!("unknown pattern '{name}'"));
        }
    }

    /// P04: presets set existing parameters and cover all values; classes and files are valid.
    fn check_settings(&mut self) {
        let page = self.page;
        let param_of = |name: &str| page.params.iter().find(|param| param.name == name);
        for preset in &page.presets {
            let Some(param) = param_of(&preset.param) else {
                self.add("P04", &preset.param, format!("unknown parameter '{}'", preset.param));
                continue;
            };
            for value in &preset.values {
                let (text, name) = (&value.value, &param.name);
                if !param.values.is_empty() && !param.values.contains(text) {
                    self.add("P04", text, format!("invalid value '{text}' for parameter '{name}'"));
                }
                for name in value.sets.keys().filter(|name| param_of(name).is_none()) {
                    self.add("P04", name, format!("unknown parameter '{name}'"));
                }
            }
            for value in &param.values {
                if !preset.values.iter().any(|known| known.value == *value) {
                    let name = &preset.param;
                    self.add("P04", name, format!("the preset of '{name}' lacks the value '{value}'"));
                }
            }
        }
        for name in &page.classes {
            if param_of(name).is_none_or(|param| param.kind != ParamType::List) {
                self.add("P04", "classes:", format!("'{name}' is not a parameter of type list"));
            }
        }
        for spec in &page.files {
            for name in spec.numbers.iter().filter(|name| !spec.columns.contains(name)) {
                self.add("P04", "numbers:", format!("unknown column '{name}' of file '{}'", spec.name));
            }
        }
        for name in page.params.iter().map(|param| &param.name) {
            if page.params.iter().any(|param| param.name == *name && param.required) {
                let message = format!("'{name}' cannot be required: list it in `given` of an answer");
                self.add("P04", &format!("name: {name}"), message);
            }
            if page.pattern(name).is_some() {
                self.add("P04", name, format!("'{name}' is both a pattern and a parameter"));
            }
        }
    }

    /// P05: parts have unique names, questions and answers.
    fn check_parts(&mut self) {
        let mut seen = BTreeSet::new();
        for part in &self.page.parts {
            let name = &part.part;
            if name == "all" || !seen.insert(name) {
                self.add("P05", &part.question, format!("part name '{name}' is reserved or duplicate"));
            }
            if part.question.trim().is_empty() || part.answers.is_empty() {
                self.add("P05", "parts:", format!("part '{name}' has no question or no answers"));
            }
            let own = ["params", "given", "options"].into_iter().chain(FUNCTIONS).map(str::to_owned);
            let mut known: BTreeSet<String> = own.collect();
            known.extend(self.page.files.iter().map(|file| file.name.clone()));
            for answer in &part.answers {
                self.check_answer(answer, &mut known);
            }
        }
    }

    fn check_answer(&mut self, answer: &Answer, known: &mut BTreeSet<String>) {
        for name in &answer.given {
            let params = self.page.params.iter().map(|param| &param.name);
            if !params.chain(self.page.files.iter().map(|file| &file.name)).any(|known| known == name) {
                self.add("P05", &answer.about, format!("unknown parameter or file '{name}' in `given`"));
            }
        }
        for ask in &answer.queries {
            self.check_ask(ask, known);
            known.insert(ask.name.clone());
        }
        for fact in &answer.facts {
            let names = self.templates.names_in_expression(&fact.expression);
            self.check_names("P07", &fact.expression, names, known);
            self.check_answer_code(answer, &fact.expression, &fact.expression);
            known.insert(fact.name.clone());
        }
        let names = self.templates.names_in(&answer.text);
        self.check_names("P07", &answer.text, names, known);
        self.check_answer_code(answer, &answer.text, &code_in(&answer.text));
    }

    /// P06: the query exists and accepts its parameters and options.
    fn check_ask(&mut self, ask: &Ask, known: &BTreeSet<String>) {
        let near = format!("as: {}", ask.name);
        for text in ask.nvtx.iter().chain(&ask.iter).chain(&ask.exclude) {
            match PatternUse::of(text) {
                Some(used) => self.check_pattern(used.name, &near),
                None if text.starts_with('{') && text.ends_with('}') => {
                    self.add("P06", &near, format!("invalid pattern '{text}'"));
                }
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
        if !ask.only.is_empty() && ask.key.is_none() {
            self.add("P06", &near, "`only` needs a `key`".to_owned());
        }
        let Some(query) = self.check_query("P06", &near, &ask.query, &ask.params) else { return };
        for column in ask.key.iter().chain(&ask.columns) {
            if !query.columns.iter().any(|known| known.name == *column) {
                self.add("P06", &near, format!("unknown column '{column}' of query '{}'", ask.query));
            }
        }
        for (name, text) in &ask.params {
            if let Some(used) = PatternUse::of(text) {
                self.check_pattern(used.name, &near);
                continue;
            }
            self.check_names("P07", text, self.templates.names_in(text), known);
            let param = query.params.iter().find(|param| param.name == *name);
            if let (Some(param), false) = (param, text.contains('{'))
                && let Err(error) = parse_param(&ask.query, param, text)
            {
                let message = error.to_string().lines().next().unwrap_or_default().to_owned();
                self.add("P06", &near, message);
            }
        }
    }

    /// P07: a template uses existing filters, and existing columns of its queries.
    fn check_answer_code(&mut self, answer: &Answer, near: &str, code: &str) {
        let query_of = |name: &str| {
            answer.queries.iter().find(|ask| ask.name == name).map(|ask| ask.query.as_str())
        };
        for (_, message) in self.faults_in(code, query_of) {
            self.add("P07", near, message);
        }
        for ask in answer.queries.iter().filter(|ask| ask.key.is_none()) {
            if keyed_in(code).contains(&ask.name) {
                self.add("P07", near, format!("`{0}.by` needs a `key` for query '{0}'", ask.name));
            }
        }
    }
}
