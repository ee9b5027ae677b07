//! Class maps: ordered rules that map the names of GPU operations to classes.
//!
//! A file has one of four formats: nsq's own, or one of those that the tools before it ("seeds") read:
//! two of GPU Perf Analyzer and one of gputrc2graph.

use super::BUILT_IN;
use super::document::Document;
use super::front_matter::line_of;
use crate::bounded_file::{self, Origin};
use crate::classify::{Activity, ClassMap, Pattern, Rule};
use crate::error::{Error, Result};
use std::borrow::Cow;
use std::cell::Cell;
use std::collections::HashMap;
use std::fmt;
use std::path::Path;
use std::sync::{Arc, OnceLock};

/// Name of the map used by default.
pub const DEFAULT_CLASSES: &str = "default";

/// Substring and class of GPU Perf Analyzer's built-in rule for NCCL kernels, tried before the keys of a
/// map.
const SEED_CLASS: &str = "nccl";

const HELP: &str = "queries/README.md describes the class map formats";

/// Maximum number of rules in a file, and in a map merged from several files.
///
/// Compile time grows with the square of the number of substrings: it is two seconds at this limit.
const MAX_RULES: usize = 2_000;

/// A file of class maps, parsed on first use.
#[derive(Debug)]
struct ClassFile {
    file: String,
    text: Cow<'static, str>,
    parsed: OnceLock<Vec<ClassMapSource>>,
}

/// All known files of class maps, and the name of the selected map.
#[derive(Debug, Clone)]
pub struct ClassMaps {
    /// Newest first: the rules of a file added later are tried first.
    files: Vec<Arc<ClassFile>>,
    chosen: String,
}

/// A class map, merged from all files that define a map of this name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClassMapSource {
    /// Name, such as `default` or `vllm/llama`.
    pub name: String,
    /// What its classes are.
    pub doc: String,
    /// The rules, in the order they are tried.
    pub rules: Vec<ClassRule>,
    /// Patterns that occur more than once.
    pub duplicates: Vec<Duplicate>,
}

/// A rule and its location.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClassRule {
    /// The rule.
    pub rule: Rule,
    /// Why the rule exists.
    pub why: String,
    /// The file, as the user would open it.
    pub file: String,
    /// Line number in the file, from 1.
    pub line: usize,
    /// Whether nsq added the rule because the file's format implies it; no line of the file states it.
    pub is_implied: bool,
}

/// A pattern that occurs more than once in a map.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Duplicate {
    /// The file with the finding.
    pub file: String,
    /// Line number in the file, from 1.
    pub line: usize,
    /// Which pattern is repeated, and which rule wins.
    pub message: String,
}

impl fmt::Display for Duplicate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.message)
    }
}

impl ClassMapSource {
    /// A map of rules that stand in no file.
    pub fn of_rules(name: String, rules: Vec<Rule>) -> Self {
        let rule = |rule| ClassRule {
            rule,
            why: String::new(),
            file: String::new(),
            line: 0,
            is_implied: false,
        };
        Self { name, rules: rules.into_iter().map(rule).collect(), ..Self::default() }
    }

    /// Compiles the map. An error names the file, the map and the rule.
    pub fn compile(&self) -> Result<ClassMap> {
        let count = self.rules.iter().filter(|rule| !rule.is_implied).count();
        if count > MAX_RULES {
            return Err(Error::usage(
                format!("class map {}: {}", self.name, too_many(count, "rules")),
                TOO_MANY_HELP,
            ));
        }
        let rules = self.rules.iter().map(|rule| rule.rule.clone()).collect();
        ClassMap::compile(rules).map_err(|broken| match broken.index.and_then(|index| self.rules.get(index)) {
            Some(rule) => Error::catalog(
                &rule.file,
                rule.line,
                format!("class map {}: invalid pattern '{}': {}", self.name, rule.rule.pattern, broken.reason),
                "`match` is a regular expression without look-around; use `substring` for plain text",
            ),
            None => Error::usage(
                format!("class map {}: cannot compile all rules together: {}", self.name, broken.reason),
                "remove some rules, or repeat less inside them, as in `x{1000}`",
            ),
        })
    }

    /// The files that its rules come from, in order.
    pub fn files(&self) -> Vec<&str> {
        let mut files: Vec<&str> = Vec::new();
        for rule in &self.rules {
            if !files.contains(&rule.file.as_str()) {
                files.push(&rule.file);
            }
        }
        files
    }

    /// Appends the rules of another map of the same name.
    ///
    /// A pattern that this map already has would never win, so it is dropped. It is reported as a
    /// duplicate if its class differs.
    fn append(&mut self, other: &Self) {
        for rule in &other.rules {
            let known = self.rules.iter().find(|known| known.rule.pattern == rule.rule.pattern);
            let Some(known) = known else {
                self.rules.push(rule.clone());
                continue;
            };
            if known.rule.class != rule.rule.class {
                self.duplicates.push(Duplicate {
                    file: known.file.clone(),
                    line: known.line,
                    message: format!(
                        "class map {}: pattern '{}' has class {} here, which wins, and class {} in {}:{}",
                        self.name,
                        rule.rule.pattern,
                        known.rule.class,
                        rule.rule.class,
                        rule.file,
                        rule.line
                    ),
                });
            }
        }
        if self.doc.is_empty() {
            self.doc.clone_from(&other.doc);
        }
        self.duplicates.extend(other.duplicates.iter().cloned());
    }
}

impl Default for ClassMaps {
    fn default() -> Self {
        Self { files: Vec::new(), chosen: DEFAULT_CLASSES.to_owned() }
    }
}

impl ClassMaps {
    /// Adds a file. Its rules are tried before those of earlier files.
    pub(super) fn add(&mut self, file: String, text: Cow<'static, str>) {
        self.files.insert(0, Arc::new(ClassFile { file, text, parsed: OnceLock::new() }));
    }

    /// Adds a file as [`ClassMaps::add`] does, parses it, and returns the names of its maps.
    pub(super) fn add_file(&mut self, file: String, text: Cow<'static, str>) -> Result<Vec<String>> {
        self.add(file, text);
        Ok(self.files[0].maps()?.iter().map(|map| map.name.clone()).collect())
    }

    /// Replaces all maps by this one, and selects it.
    pub(super) fn choose_map(&mut self, map: ClassMapSource) {
        self.chosen.clone_from(&map.name);
        let (file, text) = (String::new(), Cow::Borrowed(""));
        self.files = vec![Arc::new(ClassFile { file, text, parsed: OnceLock::from(vec![map]) })];
    }

    /// Selects the map `NAME`, `FILE#NAME`, or `FILE`, which must have a single map or one named
    /// `default`.
    ///
    /// Adds all maps of the file to the known maps.
    pub fn choose(&mut self, spelling: &str) -> Result<()> {
        if self.names().iter().any(|name| name == spelling) {
            spelling.clone_into(&mut self.chosen);
            return Ok(());
        }
        let (path, name) = match spelling.rsplit_once('#') {
            Some((path, name)) if !Path::new(spelling).exists() => (path, Some(name)),
            _ => (spelling, None),
        };
        let is_file = Path::new(path).is_file();
        let looks_like_file = [".json", ".yml", ".yaml"].iter().any(|end| path.ends_with(end));
        if !is_file && !looks_like_file {
            return Err(self.unknown(spelling));
        }
        let text = bounded_file::read_text(Path::new(path), Origin::Named)?;
        let names = self.add_file(path.to_owned(), Cow::Owned(text))?;
        self.chosen = match (name, names.as_slice()) {
            (Some(name), _) if names.iter().any(|known| known == name) => name.to_owned(),
            (Some(name), _) => {
                return Err(Error::unknown(
                    "class map",
                    name,
                    names.iter().map(String::as_str),
                    format!("Maps in {path}: {}.", names.join(", ")),
                ));
            }
            (None, [only]) => only.clone(),
            (None, _) if names.iter().any(|name| name == DEFAULT_CLASSES) => DEFAULT_CLASSES.to_owned(),
            (None, _) => {
                return Err(Error::usage(
                    format!("{path} has {} class maps: {}", names.len(), names.join(", ")),
                    format!("choose one: --classes {path}#NAME"),
                ));
            }
        };
        Ok(())
    }

    /// Name of the selected map.
    pub fn chosen(&self) -> &str {
        &self.chosen
    }

    /// The selected map.
    pub fn chosen_map(&self) -> Result<ClassMapSource> {
        self.map(&self.chosen)
    }

    /// The map of this name, merged from all files that define it.
    pub fn map(&self, name: &str) -> Result<ClassMapSource> {
        let mut whole: Option<ClassMapSource> = None;
        for file in self.files.iter().filter(|file| file.may_define(name)) {
            let maps = match file.maps() {
                Ok(maps) => maps,
                // Ignore errors in files that do not mention this map.
                Err(_) if !file.mentions(name) => continue,
                Err(error) => return Err(error),
            };
            for map in maps.iter().filter(|map| map.name == name) {
                match &mut whole {
                    Some(whole) => whole.append(map),
                    None => whole = Some(map.clone()),
                }
            }
        }
        whole.ok_or_else(|| self.unknown(name))
    }

    /// Sorted names of all readable maps. [`ClassMaps::broken`] lists the files that cannot be read.
    pub fn names(&self) -> Vec<String> {
        let maps = self.files.iter().filter_map(|file| file.maps().ok()).flatten();
        let mut names: Vec<String> = maps.map(|map| map.name.clone()).collect();
        names.sort();
        names.dedup();
        names
    }

    /// The paths of all files.
    pub(super) fn files(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(|file| file.file.as_str())
    }

    /// One error for each file that cannot be read.
    pub fn broken(&self) -> impl Iterator<Item = Error> {
        self.files.iter().filter_map(|file| file.maps().err())
    }

    fn unknown(&self, name: &str) -> Error {
        let names = self.names();
        Error::unknown(
            "class map",
            name,
            names.iter().map(String::as_str),
            format!(
                "Class maps: {} (see `nsq list --classes`). A file is also accepted.",
                names.join(", ")
            ),
        )
    }
}

impl ClassFile {
    fn maps(&self) -> Result<&[ClassMapSource]> {
        if let Some(maps) = self.parsed.get() {
            return Ok(maps);
        }
        let maps = parse(&self.file, &self.text)?;
        Ok(self.parsed.get_or_init(|| maps))
    }

    /// Whether the text mentions the map, so the file may define it.
    fn mentions(&self, name: &str) -> bool {
        let last = name.rsplit('/').next().unwrap_or(name);
        self.text.contains(last) || Path::new(&self.file).file_stem().is_some_and(|stem| stem == name)
    }

    /// `false` only for a built-in file that does not define the map. Most runs need a single built-in
    /// file, and this avoids parsing the others.
    fn may_define(&self, name: &str) -> bool {
        !self.file.starts_with(BUILT_IN) || self.text.contains(&format!("{name}:"))
    }
}

fn too_many(count: usize, what: &str) -> String {
    format!("too many {what}: {count} (the limit is {MAX_RULES})")
}

const TOO_MANY_HELP: &str = "one regular expression can match many names: `gemm|dot|matmul`";

/// Parses the class maps in a file.
///
/// The format is one of:
/// - nsq's own: `name: {doc, rules}`
/// - gputrc2graph's: `{engine: {model: {regex: class}}}`
/// - GPU Perf Analyzer's: `{substring: class}`, either the whole file or the key `kernel_to_class_map` of
///   its settings
pub fn parse(file: &str, text: &str) -> Result<Vec<ClassMapSource>> {
    let document = Document::read(file, text)?;
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
    file: &'a str,
    text: &'a str,
    /// Position after the last rule found, to give each rule its line number.
    cursor: Cell<Cursor>,
}

/// A position in the text of a file.
#[derive(Debug, Clone, Copy, Default)]
struct Cursor {
    /// Byte offset.
    at: usize,
    /// Line number, from 0.
    line: usize,
    /// Number of searches that found nothing.
    misses: usize,
}

/// Searches that may fail before line numbers become approximate. Each failed search reads the whole
/// rest of the file.
const MAX_MISSES: usize = 100;

impl Parser<'_> {
    /// Finds `needle` after the cursor, moves the cursor past it, and returns its line number, from 1.
    fn next_line_with(&self, needle: &str) -> Option<usize> {
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
    fn line_of_key(&self, key: &str, class: &str) -> usize {
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
    fn seek_map(&self, name: &str) {
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
    fn end_line(&self) {
        let mut cursor = self.cursor.get();
        cursor.at += self.text[cursor.at..].find('\n').unwrap_or(0);
        self.cursor.set(cursor);
    }

    fn error(&self, needle: &str, reason: String) -> Error {
        Error::catalog(self.file, line_of(self.text, needle), reason, HELP)
    }

    fn entries<'d>(&self, document: &'d Document, what: &str) -> Result<&'d [(String, Document)]> {
        document.as_map().ok_or_else(|| {
            let needle = what.trim_matches('\'').rsplit('/').next().unwrap_or_default();
            self.error(needle, format!("{what} is not a class map: it has no keys"))
        })
    }

    fn class(&self, map: &str, pattern: &str, value: &Document) -> Result<String> {
        match value.as_text() {
            Some(class) if !class.is_empty() => Ok(class.to_owned()),
            _ => Err(self.error(
                &self.spelled(pattern),
                format!("class map {map}: invalid class for '{pattern}': expected text"),
            )),
        }
    }

    /// The pattern as the file spells it: backslashes may be escaped.
    fn spelled(&self, pattern: &str) -> String {
        if self.text.contains(pattern) { pattern.to_owned() } else { pattern.replace('\\', "\\\\") }
    }

    /// Reads `{regex: class}`.
    fn regexes(&self, name: &str, entries: &[(String, Document)]) -> Result<ClassMapSource> {
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
    fn substrings(&self, name: &str, entries: &[(String, Document)]) -> Result<ClassMapSource> {
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
    fn insert(
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
                    "class map {name}: duplicate key '{key}': the last one wins (class {class})"
                );
                map.duplicates.push(Duplicate { file, line, message });
                known.rule = rule;
            }
        }
    }

    /// Reads `{doc, rules: [{class, match | substring | activity, why}]}`.
    fn rules(&self, name: &str, value: &Document) -> Result<ClassMapSource> {
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
    fn rule(&self, map: &str, value: &Document) -> Result<ClassRule> {
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
            "class map {map}: duplicate pattern '{}': the first rule wins (class {})",
            rule.rule.pattern, first.rule.class
        ),
    }
}

fn file_name(file: &str) -> String {
    Path::new(file).file_name().unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(maps: &[ClassMapSource]) -> Vec<(String, Vec<String>)> {
        let rule = |rule: &ClassRule| format!("{}={}", rule.rule.pattern, rule.rule.class);
        maps.iter().map(|map| (map.name.clone(), map.rules.iter().map(rule).collect())).collect()
    }

    fn one(name: &str, rules: &[&str]) -> Vec<(String, Vec<String>)> {
        vec![(name.to_owned(), rules.iter().map(|rule| (*rule).to_owned()).collect())]
    }

    #[test]
    fn the_format_of_nsq() {
        let text = "mine:\n  doc: Mine.\n  rules:\n    - {class: gemm, match: 'gemm|dot', why: 'x'}\n    - {class: fmha, substring: FMHA_}\n    - {class: comm, activity: communication}\n";
        let maps = parse("f.yml", text).unwrap();
        assert_eq!(
            shape(&maps),
            one("mine", &["gemm|dot=gemm", "fmha_=fmha", "activity: communication=comm"])
        );
        assert_eq!((maps[0].doc.as_str(), maps[0].rules[1].line), ("Mine.", 5));
        assert_eq!(maps[0].compile().unwrap().classify("x_fmha_y").class, "fmha");
    }

    #[test]
    fn the_format_of_gputrc2graph_keeps_its_order() {
        let text = "{\"eng\": {\"m1\": {\"z\\\\d\": \"a\", \"b\": \"c\"}, \"m2\": {\".*\": \"misc\"}}}";
        let maps = parse("x.json", text).unwrap();
        let mut expected = one("eng/m1", &["z\\d=a", "b=c"]);
        expected.extend(one("eng/m2", &[".*=misc"]));
        assert_eq!(shape(&maps), expected);
        let yaml = parse("x.yml", "eng:\n  m1: {'z\\d': a, b: c}\n  m2: {'.*': misc}\n").unwrap();
        assert_eq!(shape(&yaml), expected);
    }

    #[test]
    fn the_formats_of_gpu_perf_analyzer() {
        let expected = one("f", &["nccl=nccl", "gemm=G", "softmax=s"]);
        assert_eq!(
            shape(&parse("f.json", "{\"GEMM\": \"G\", \"softmax\": \"s\",} // x").unwrap()),
            expected
        );
        let settings = "{\"inputs\": [{\"format\": \"csv\"}], // one\n\"kernel_to_class_map\": {\"gemm\": \"G\", \"softmax\": \"s\"}}";
        assert_eq!(shape(&parse("dir/f.json", settings).unwrap()), expected);
    }

    #[test]
    fn only_rules_added_by_nsq_are_implied() {
        let implied = |file: &str, text: &str| -> Vec<bool> {
            parse(file, text).unwrap()[0].rules.iter().map(|rule| rule.is_implied).collect()
        };
        assert_eq!(implied("f.json", "{\"gemm\": \"g\"}"), [true, false]);
        assert_eq!(implied("f.json", "{\"gemm\": \"g\", \"NCCL\": \"comm\"}"), [false, false]);
        let own = "m:\n  rules:\n    - {class: comm, substring: nccl, why: mine}\n";
        assert_eq!(implied("f.yml", own), [false]);
    }

    #[test]
    fn duplicates_are_reported() {
        // GPU Perf Analyzer: the later value wins, the earlier position stays.
        let flat =
            &parse("f.json", "{\"softmax\": \"Softmax\", \"gemm\": \"g\", \"SoftMax\": \"softmax\"}")
                .unwrap()[0];
        assert_eq!(
            shape(std::slice::from_ref(flat)),
            one("f", &["nccl=nccl", "softmax=softmax", "gemm=g"])
        );
        assert_eq!(flat.duplicates.len(), 1);
        let ours = "m:\n  rules:\n    - {class: a, match: x}\n    - {class: b, match: x}\n";
        let ours = &parse("f.yml", ours).unwrap()[0];
        assert_eq!(ours.compile().unwrap().classify("x").class, "a");
        assert_eq!(
            ours.duplicates[0].message,
            "class map m: duplicate pattern 'x': the first rule wins (class a)"
        );
        assert_eq!(ours.duplicates[0].line, 4);
    }

    #[test]
    fn line_numbers_point_to_rules_and_not_to_similar_text() {
        let lines = |file: &str, text: &str| -> Vec<usize> {
            let maps = parse(file, text).unwrap();
            maps.iter().flat_map(|map| &map.rules).map(|rule| rule.line).collect()
        };
        let two = "{\"e\": {\n\"a\": {\n\"gemm\": \"dot\",\n\"dot\": \"x\\\\d\"},\n\"b\": {\n\"gemm\": \"y\"}}}";
        assert_eq!(lines("f.json", two), [3, 4, 6]);
        // A key written with escapes is not found, but the keys after it still are.
        assert_eq!(
            lines("f.json", "{\n\"\\u0061\": \"x\",\n\"b\\\\d\": \"y\",\n\"c\": \"z\"}")[2..],
            [3, 4]
        );
        let ours = "m:\n  rules:\n    - {class: gemm, match: gemm}\n    - {class: a, substring: gemm}\nn:\n  rules:\n    - {class: b, match: gemm}\n";
        assert_eq!(lines("f.yml", ours), [3, 4, 7]);
    }

    #[test]
    fn the_limit_on_rules_is_exact() {
        let keys = |count: usize| -> String {
            let keys: Vec<String> =
                (0..count).map(|n| format!("\"k\\u0065rnel_{n}\": \"class_{n}\"")).collect();
            keys.join(",\n")
        };
        let flat = format!("{{{}}}", keys(MAX_RULES));
        let map = parse("f.json", &flat).unwrap().remove(0);
        assert_eq!(map.rules.len(), MAX_RULES + 1);
        assert_eq!(map.compile().unwrap().classify("a KERNEL_1999 b").class, "class_1");
        let mut maps = ClassMaps::default();
        maps.add("f.json".into(), flat.clone().into());
        maps.add("f.yml".into(), "f:\n  rules:\n    - {class: c, match: x}\n".into());
        let error = maps.map("f").unwrap().compile().unwrap_err().to_string();
        assert_eq!(error, "class map f: too many rules: 2001 (the limit is 2000)");
        let nested = format!("{{\"e\": {{\"m\": {{{}}}}}}}", keys(MAX_RULES));
        assert_eq!(parse("f.json", &nested).unwrap()[0].rules.len(), MAX_RULES);
        let rules: String =
            (0..MAX_RULES).map(|n| format!("    - {{class: c, match: 'kernel_{n}'}}\n")).collect();
        let ours = parse("f.yml", &format!("m:\n  rules:\n{rules}")).unwrap();
        assert_eq!(ours[0].rules[MAX_RULES - 1].line, MAX_RULES + 2);
        let error = parse("f.json", &format!("{{{}}}", keys(100_000))).unwrap_err().to_string();
        assert_eq!(error, "f.json:1: too many entries: 100000 (the limit is 2000)");
    }

    #[test]
    fn maps_of_the_same_name_merge_and_later_files_go_first() {
        let mut maps = ClassMaps::default();
        maps.add(
            "old.yml".into(),
            "m:\n  doc: Old.\n  rules:\n    - {class: a, match: x}\n    - {class: b, match: y}\n".into(),
        );
        maps.add(
            "new.json".into(),
            "{\"m\": {\"rules\": [{\"class\": \"c\", \"match\": \"y\"}]}}".into(),
        );
        let map = maps.map("m").unwrap();
        assert_eq!(shape(std::slice::from_ref(&map)), one("m", &["y=c", "x=a"]));
        assert_eq!((map.doc.as_str(), map.duplicates.len()), ("Old.", 1));
        assert_eq!(map.files(), ["new.json", "old.yml"]);
        assert!(map.duplicates[0].message.contains("old.yml:5"), "{:?}", map.duplicates);
    }

    #[test]
    fn a_broken_file_affects_only_its_own_maps() {
        let mut maps = ClassMaps::default();
        maps.add("good.yml".into(), "m:\n  doc: x\n  rules: [{class: a, match: x}]\n".into());
        maps.add("bad.yml".into(), "other: [\n".into());
        assert_eq!(maps.names(), ["m"]);
        assert_eq!(maps.map("m").unwrap().rules.len(), 1);
        assert!(maps.map("other").unwrap_err().to_string().starts_with("bad.yml:"));
        assert!(maps.map("bad").is_err());
        assert_eq!(maps.broken().count(), 1);
    }

    #[test]
    fn errors_in_a_map_say_where() {
        let message = |file: &str, text: &str| match parse(file, text) {
            Err(error) => error.to_string(),
            Ok(maps) => maps.iter().find_map(|map| map.compile().err()).unwrap().to_string(),
        };
        for (text, expected) in [
            (
                "m:\n  rules:\n    - {class: a, match: 'x('}\n",
                "f.yml:3: class map m: invalid pattern 'x(': unclosed group",
            ),
            ("m:\n  rules:\n    - {class: a}\n", "f.yml:1: class map m: a rule has no pattern"),
            ("m:\n  rules:\n    - {match: a}\n", "a rule has no `class`"),
            ("m:\n  rules:\n    - {class: a, match: b, substring: c}\n", "a rule has two patterns"),
            ("m:\n  rules:\n    - {class: a, activity: idle}\n", "an unknown activity 'idle'"),
            ("m:\n  rules:\n    - {class: a, match: ''}\n", "an empty `match`"),
            ("m:\n  rules:\n    - {klass: a, match: b}\n", "an unknown key 'klass'"),
            ("m:\n  rules:\n    - gemm\n", "a rule has no keys"),
            ("m:\n  docs: x\n  rules: []\n", "f.yml:2: class map m: invalid key 'docs'"),
            ("e:\n  m:\n    'a(': b\n", "f.yml:3: class map e/m: invalid pattern 'a('"),
            ("e:\n  m:\n    a:\n", "class map e/m: invalid class for 'a': expected text"),
            ("e:\n  m:\n    a: 3\n", "class map e/m: invalid class for 'a': expected text"),
            ("e:\n  m: x\n", "'e/m' is not a class map"),
            ("a: b\nc: 3\n", "is not a class map"),
            ("[1]", "the file is not a class map"),
            ("{}", "the file has no class map"),
            ("", "the file is not a class map"),
            (
                "doc: x\nrules:\n  - {class: a, match: b}\n",
                "f.yml:2: the class map has no name: `rules` is at the top of the file",
            ),
        ] {
            let found = message("f.yml", text);
            assert!(found.contains(expected), "{text}\nwant {expected}\ngot  {found}");
        }
    }
}
