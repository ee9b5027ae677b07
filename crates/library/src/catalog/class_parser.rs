//! Parses the formats of class maps.

use super::class_map::{ClassMapSource, ClassRule, Duplicate, MAX_RULES, TOO_MANY_HELP, too_many};
use super::document::Document;
use super::entry::Content;
use super::front_matter::line_of;
use nsq_sweep::classify::{Activity, Pattern, Rule};
use nsq_value::error::{Error, Result};
use std::cell::Cell;
use std::collections::HashMap;
use std::path::Path;

/// Substring and class of GPU Perf Analyzer's built-in rule for NCCL kernels, tried before the keys of a
/// map.
const SEED_CLASS: &str = "nccl";

const HELP: &str = "queries/README.md describes the class map formats";

/// Parses the class maps in a file.
///
/// The format is one of:
/// - nsq's own: `name: {doc, rules}`
/// - gputrc2graph's: `{engine: {model: {regex: class}}}`
/// - GPU Perf Analyzer's: `{substring: class}`, either the whole file or the key `kernel_to_class_map` of
///   its settings
pub fn parse(file: &str, text: &str) -> Result<Vec<ClassMapSource>> {
    parse_content(file, &Content::from(text))
}

/// As [`parse`], also of an embedded file.
pub(super) fn parse_content(file: &str, content: &Content) -> Result<Vec<ClassMapSource>> {
    let (text, document): (&str, _) = (&content.text, Document::read(file, content)?);
    let count = entries_in(&document);
    if count > MAX_RULES {
        return Err(Error::catalog(file, 1, too_many(count, "entries"), TOO_MANY_HELP));
    }
    let parser = Parser { file, text, cursor: Cell::default() };
    let stem = Path::new(file).file_stem().unwrap_or_default().to_string_lossy().into_owned();
    if let Some(map) = document.get("kernel_to_class_map") {
        return Ok(vec![parser.substrings(&stem, parser.entries(map, "kernel_to_class_map")?)?]);
    }
    let entries = parser.entries(&document, "the file")?;
    if entries.is_empty() {
        return Err(parser.error("", "the file has no class map".to_owned()));
    }
    if document.get("rules").is_some_and(|rules| rules.as_list().is_some()) {
        let help = match file.ends_with(".json") {
            true => {
                "write {\"my_map\": {\"doc\": \"…\", \"rules\": […]}}, or without rules {\"part of a name\": \
                 \"class\"}"
            }
            false => "write `my_map:` above `doc` and `rules`, and indent both below it",
        };
        let reason = "the class map has no name: `rules` is at the top of the file";
        return Err(Error::catalog(file, line_of(text, "rules"), reason, help));
    }
    if entries.iter().all(|(_, value)| value.as_text().is_some()) {
        return Ok(vec![parser.substrings(&stem, entries)?]);
    }
    let mut maps: Vec<ClassMapSource> = Vec::new();
    let mut add = |map: ClassMapSource| match maps.iter_mut().find(|known| known.name == map.name) {
        Some(known) => known.append(&map),
        None => maps.push(map),
    };
    for (name, value) in entries {
        if value.get("rules").is_some_and(|rules| rules.as_list().is_some()) {
            add(parser.rules(name, value)?);
            continue;
        }
        for (model, map) in parser.entries(value, &format!("'{name}'"))? {
            let name = format!("{name}/{model}");
            add(parser.regexes(&name, parser.entries(map, &format!("'{name}'"))?)?);
        }
    }
    Ok(maps)
}

/// Upper bound for the number of rules: counts the leaves of the tree, and at least 1 for each map.
fn entries_in(document: &Document) -> usize {
    match document {
        // A list item is a rule with several keys: count it once.
        Document::List(items) => items.len().max(1),
        Document::Map(entries) => {
            entries.iter().map(|(_, value)| entries_in(value)).sum::<usize>().max(1)
        }
        _ => 1,
    }
}

struct Parser<'a> {
    pub(super) file: &'a str,
    pub(super) text: &'a str,
    /// Position after the last rule found, to give each rule its line number.
    pub(super) cursor: Cell<Cursor>,
}

/// A position in the text of a file.
#[derive(Debug, Clone, Copy, Default)]
struct Cursor {
    /// Byte offset.
    pub(super) at: usize,
    /// Line number, from 0.
    pub(super) line: usize,
    /// Number of searches that found nothing.
    pub(super) misses: usize,
}

/// Searches that may fail before line numbers become approximate. Each failed search reads the whole
/// rest of the file.
const MAX_MISSES: usize = 100;

impl Parser<'_> {
    /// Finds `needle` after the cursor, moves the cursor past it, and returns its line number, from 1.
    pub(super) fn next_line_with(&self, needle: &str) -> Option<usize> {
        let mut cursor = self.cursor.get();
        if cursor.misses >= MAX_MISSES {
            return None;
        }
        let rest = &self.text[cursor.at..];
        let end = |needle: &str| rest.find(needle).map(|at| at + needle.len());
        match end(needle).or_else(|| end(&needle.replace('\\', "\\\\"))) {
            Some(end) => {
                cursor.line += rest[..end].matches('\n').count();
                cursor.at += end;
            }
            None => cursor.misses += 1,
        }
        let is_found = cursor.misses == self.cursor.get().misses;
        self.cursor.set(cursor);
        is_found.then_some(cursor.line + 1)
    }

    /// Finds a key and its class, and returns their line number, from 1.
    pub(super) fn line_of_key(&self, key: &str, class: &str) -> usize {
        let line = self.next_line_with(key);
        let mut cursor = self.cursor.get();
        if line.is_some() {
            // Skip the class too: it may look like the next key.
            let rest = self.text[cursor.at..].split('\n').next().unwrap_or_default();
            cursor.at += rest.find(class).map_or(0, |at| at + class.len());
            self.cursor.set(cursor);
        }
        line.unwrap_or_else(|| match cursor.misses < MAX_MISSES {
            true => line_of(self.text, &self.spelled(key)),
            false => cursor.line + 1,
        })
    }

    /// Moves the cursor past the next line that starts with the map's name, if there is one.
    pub(super) fn seek_map(&self, name: &str) {
        let mut cursor = self.cursor.get();
        if cursor.misses >= MAX_MISSES {
            return;
        }
        let (start, mut at) = (cursor.at, cursor.at);
        for (number, line) in self.text[start..].split_inclusive('\n').enumerate() {
            let key = line.trim_start().trim_start_matches(['"', '\'']);
            if key.starts_with(name) {
                cursor.at = at + line.len() - key.len() + name.len();
                cursor.line += number;
                return self.cursor.set(cursor);
            }
            at += line.len();
        }
        cursor.misses += 1;
        self.cursor.set(cursor);
    }

    /// Moves the cursor to the end of the line.
    pub(super) fn end_line(&self) {
        let mut cursor = self.cursor.get();
        cursor.at += self.text[cursor.at..].find('\n').unwrap_or(0);
        self.cursor.set(cursor);
    }

    pub(super) fn error(&self, needle: &str, reason: String) -> Error {
        Error::catalog(self.file, line_of(self.text, needle), reason, HELP)
    }

    pub(super) fn entries<'d>(
        &self,
        document: &'d Document,
        what: &str,
    ) -> Result<&'d [(String, Document)]> {
        document.as_map().ok_or_else(|| {
            let needle = what.trim_matches('\'').rsplit('/').next().unwrap_or_default();
            self.error(needle, format!("{what} is not a class map: it has no keys"))
        })
    }

    pub(super) fn class(&self, map: &str, pattern: &str, value: &Document) -> Result<String> {
        match value.as_text() {
            Some(class) if !class.is_empty() => Ok(class.to_owned()),
            _ => Err(self.error(
                &self.spelled(pattern),
                format!("class map {map}: invalid class for '{pattern}': expected text"),
            )),
        }
    }

    /// The pattern as the file spells it: backslashes may be escaped.
    pub(super) fn spelled(&self, pattern: &str) -> String {
        if self.text.contains(pattern) { pattern.to_owned() } else { pattern.replace('\\', "\\\\") }
    }

    /// Reads `{regex: class}`.
    pub(super) fn regexes(&self, name: &str, entries: &[(String, Document)]) -> Result<ClassMapSource> {
        let doc = format!("From {}.", file_name(self.file));
        let mut map = ClassMapSource { name: name.to_owned(), doc, ..ClassMapSource::default() };
        let mut known = HashMap::new();
        for (pattern, value) in entries {
            let class = self.class(name, pattern, value)?;
            self.insert(
                &mut map,
                &mut known,
                pattern,
                Rule { class, pattern: Pattern::Match(pattern.clone()) },
            );
        }
        Ok(map)
    }

    /// Reads `{substring: class}`, after the implied rule for NCCL.
    pub(super) fn substrings(
        &self,
        name: &str,
        entries: &[(String, Document)],
    ) -> Result<ClassMapSource> {
        let doc = format!("From {}.", file_name(self.file));
        let mut map = ClassMapSource { name: name.to_owned(), doc, ..ClassMapSource::default() };
        let mut known = HashMap::new();
        let nccl =
            Rule { class: SEED_CLASS.to_owned(), pattern: Pattern::Substring(SEED_CLASS.to_owned()) };
        known.insert(nccl.pattern.clone(), 0);
        map.rules.push(ClassRule {
            rule: nccl,
            why: "Goes before every key of a file of this shape.".to_owned(),
            file: self.file.to_owned(),
            line: line_of(self.text, SEED_CLASS),
            is_implied: true,
        });
        for (key, value) in entries {
            let class = self.class(name, key, value)?;
            // Substrings ignore case, so keys that differ only in case are equal.
            let pattern = Pattern::Substring(key.to_lowercase());
            self.insert(&mut map, &mut known, key, Rule { class, pattern });
        }
        Ok(map)
    }

    /// Adds a rule. A repeated key keeps its first position and takes the last value, as in JSON.
    pub(super) fn insert(
        &self,
        map: &mut ClassMapSource,
        known: &mut HashMap<Pattern, usize>,
        key: &str,
        rule: Rule,
    ) {
        let line = self.line_of_key(key, &rule.class);
        let file = self.file.to_owned();
        match known.get(&rule.pattern).map(|&index| &mut map.rules[index]) {
            None => {
                let why = String::new();
                known.insert(rule.pattern.clone(), map.rules.len());
                map.rules.push(ClassRule { rule, why, file, line, is_implied: false });
            }
            Some(known) if known.is_implied => {
                *known = ClassRule { rule, why: String::new(), file, line, is_implied: false };
            }
            Some(known) => {
                let (class, name) = (&rule.class, &map.name);
                let message = format!(
                    "class map {name}: duplicate key '{key}': the last one applies (class {class})"
                );
                map.duplicates.push(Duplicate { file, line, message });
                known.rule = rule;
            }
        }
    }

    /// Reads `{doc, rules: [{class, match | substring | activity, why}]}`.
    pub(super) fn rules(&self, name: &str, value: &Document) -> Result<ClassMapSource> {
        let mut map = ClassMapSource { name: name.to_owned(), ..ClassMapSource::default() };
        let mut known = HashMap::<Pattern, usize>::new();
        self.seek_map(name);
        for (key, value) in self.entries(value, name)? {
            match (key.as_str(), value) {
                ("doc", Document::Text(doc)) => map.doc = doc.trim_end().to_owned(),
                ("rules", Document::List(rules)) => {
                    for rule in rules {
                        let rule = self.rule(name, rule)?;
                        let index = *known.entry(rule.rule.pattern.clone()).or_insert(map.rules.len());
                        if let Some(first) = map.rules.get(index) {
                            map.duplicates.push(duplicate_rule(&map.name, first, &rule));
                        }
                        map.rules.push(rule);
                    }
                }
                _ => {
                    let reason = format!(
                        "class map {name}: invalid key '{key}': expected `doc` (text) or `rules` (a list)"
                    );
                    return Err(self.error(&format!("{key}:"), reason));
                }
            }
        }
        Ok(map)
    }

    /// Reads the rule after the cursor.
    pub(super) fn rule(&self, map: &str, value: &Document) -> Result<ClassRule> {
        let (mut class, mut pattern, mut why) = (None, None, String::new());
        let mut needle = String::new();
        let line = self.cursor.get().line + 1;
        let malformed = |key: &str| {
            Error::catalog(
                self.file,
                line,
                format!("class map {map}: a rule has {key}"),
                "a rule has `class`, exactly one of `match`, `substring` or `activity`, and optionally `why`; all are text",
            )
        };
        for (key, value) in value.as_map().ok_or_else(|| malformed("no keys"))? {
            let text = value
                .as_text()
                .ok_or_else(|| malformed(&format!("a `{key}` that is not text")))?
                .to_owned();
            if text.is_empty() {
                return Err(malformed(&format!("an empty `{key}`")));
            }
            if !matches!(key.as_str(), "class" | "why") {
                needle.clone_from(&text);
            }
            let found = match key.as_str() {
                "class" => {
                    class = Some(text);
                    continue;
                }
                "why" => {
                    why = text;
                    continue;
                }
                "match" => Pattern::Match(text),
                "substring" => Pattern::Substring(text.to_lowercase()),
                "activity" => {
                    let known = Activity::from_name(&text);
                    Pattern::Activity(known.ok_or_else(|| {
                        malformed(&format!(
                            "an unknown activity '{text}' (expected compute, communication or memory)"
                        ))
                    })?)
                }
                other => return Err(malformed(&format!("an unknown key '{other}'"))),
            };
            if pattern.replace(found).is_some() {
                return Err(malformed("two patterns"));
            }
        }
        let class = class.ok_or_else(|| malformed("no `class`"))?;
        let pattern = pattern.ok_or_else(|| malformed("no pattern"))?;
        // Rules are in file order, so the next occurrence of the pattern is in this rule.
        let line = self.next_line_with(&needle).unwrap_or(line);
        self.end_line();
        let file = self.file.to_owned();
        Ok(ClassRule { rule: Rule { class, pattern }, why, file, line, is_implied: false })
    }
}

/// The finding for a rule whose pattern an earlier rule already has.
fn duplicate_rule(map: &str, first: &ClassRule, rule: &ClassRule) -> Duplicate {
    Duplicate {
        file: rule.file.clone(),
        line: rule.line,
        message: format!(
            "class map {map}: duplicate pattern '{}': the first rule applies (class {})",
            rule.rule.pattern, first.rule.class
        ),
    }
}

fn file_name(file: &str) -> String {
    Path::new(file).file_name().unwrap_or_default().to_string_lossy().into_owned()
}
