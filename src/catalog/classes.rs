//! Class maps: ordered rules from the names of GPU operations to classes, in files of four shapes.

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

/// The map that is used where none is asked for.
pub const DEFAULT_CLASSES: &str = "default";

/// What the first two seeds call what has `nccl` in its name, before they look at any key.
const SEED_CLASS: &str = "nccl";

const HELP: &str = "queries/README.md shows the shapes of a class map";

/// Rules that a file may hold, and a map that is put together from several.
///
/// To compile substrings takes the square of their number: as many as these, two seconds.
const MOST_RULES: usize = 2_000;

/// A file of class maps; read when it is first asked for.
#[derive(Debug)]
struct ClassFile {
    file: String,
    text: Cow<'static, str>,
    parsed: OnceLock<Vec<ClassMapSource>>,
}

/// All files of class maps that are in reach, and the map that was chosen.
#[derive(Debug, Clone)]
pub struct ClassMaps {
    /// Those that were added last first: their rules go first.
    files: Vec<Arc<ClassFile>>,
    chosen: String,
}

/// A class map, whole: the rules of all files that have one of its name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClassMapSource {
    /// Name, such as `default` or `vllm/llama`.
    pub name: String,
    /// What it is for.
    pub doc: String,
    /// The rules, in the order in which they are tried.
    pub rules: Vec<ClassRule>,
    /// What stands twice, in words.
    pub duplicates: Vec<Duplicate>,
}

/// A rule and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClassRule {
    /// The rule.
    pub rule: Rule,
    /// Why.
    pub why: String,
    /// The file, as the user would open it.
    pub file: String,
    /// Line in the file, from 1.
    pub line: usize,
    /// It is not in the file: files of its shape mean it.
    pub is_implied: bool,
}

/// A pattern that stands twice in a map.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Duplicate {
    /// The file in which it stands again.
    pub file: String,
    /// Line there.
    pub line: usize,
    /// What is twice, and which one decides.
    pub message: String,
}

impl fmt::Display for Duplicate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.message)
    }
}

impl ClassMapSource {
    /// Makes the map ready for use; the error names file, map and rule.
    pub fn compile(&self) -> Result<ClassMap> {
        let count = self.rules.iter().filter(|rule| !rule.is_implied).count();
        if count > MOST_RULES {
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
                format!("class map {}: rule `{}`: {}", self.name, rule.rule.pattern, broken.reason),
                "`match` is a regular expression without look-around; for plain text write `substring`",
            ),
            None => Error::usage(
                format!("class map {}: all rules together: {}", self.name, broken.reason),
                "leave some of them out, or let them repeat less",
            ),
        })
    }

    /// The files that its rules stand in, in order.
    pub fn files(&self) -> Vec<&str> {
        let mut files: Vec<&str> = Vec::new();
        for rule in &self.rules {
            if !files.contains(&rule.file.as_str()) {
                files.push(&rule.file);
            }
        }
        files
    }

    /// Appends the rules of a map of the same name whose rules go behind this one's.
    ///
    /// A pattern that stands here already would never decide: it is left out, and told where it means
    /// something else.
    fn extend(&mut self, behind: &Self) {
        for rule in &behind.rules {
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
                        "class map {}: `{}` means {} here, which decides, and {} in {}:{}",
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
            self.doc.clone_from(&behind.doc);
        }
        self.duplicates.extend(behind.duplicates.iter().cloned());
    }
}

impl Default for ClassMaps {
    fn default() -> Self {
        Self { files: Vec::new(), chosen: DEFAULT_CLASSES.to_owned() }
    }
}

impl ClassMaps {
    /// Adds a file, before those that are there.
    pub(super) fn add(&mut self, file: String, text: Cow<'static, str>) {
        self.files.insert(0, Arc::new(ClassFile { file, text, parsed: OnceLock::new() }));
    }

    /// Adds a file, before those that are there, and returns the names of its maps.
    pub(super) fn add_file(&mut self, file: String, text: Cow<'static, str>) -> Result<Vec<String>> {
        self.add(file, text);
        Ok(self.files[0].maps()?.iter().map(|map| map.name.clone()).collect())
    }

    /// Chooses `NAME`, `FILE` (which holds one map, or one called `default`) or `FILE#NAME`.
    ///
    /// The maps of a file are added to those in reach.
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
                    format!("{path} holds {}.", names.join(", ")),
                ));
            }
            (None, [only]) => only.clone(),
            (None, _) if names.iter().any(|name| name == DEFAULT_CLASSES) => DEFAULT_CLASSES.to_owned(),
            (None, _) => {
                return Err(Error::usage(
                    format!("{path} holds {} class maps: {}", names.len(), names.join(", ")),
                    format!("say which: --classes {path}#NAME"),
                ));
            }
        };
        Ok(())
    }

    /// The name of the map that was chosen.
    pub fn chosen(&self) -> &str {
        &self.chosen
    }

    /// The map that was chosen.
    pub fn chosen_map(&self) -> Result<ClassMapSource> {
        self.map(&self.chosen)
    }

    /// The map of this name, put together from all files that have one.
    pub fn map(&self, name: &str) -> Result<ClassMapSource> {
        let mut whole: Option<ClassMapSource> = None;
        for file in self.files.iter().filter(|file| file.may_hold(name)) {
            let maps = match file.maps() {
                Ok(maps) => maps,
                // A broken file that does not speak of the map is not this look-up's business.
                Err(_) if !file.mentions(name) => continue,
                Err(error) => return Err(error),
            };
            for map in maps.iter().filter(|map| map.name == name) {
                match &mut whole {
                    Some(whole) => whole.extend(map),
                    None => whole = Some(map.clone()),
                }
            }
        }
        whole.ok_or_else(|| self.unknown(name))
    }

    /// The names of all maps that can be read, sorted; see [`ClassMaps::broken`] for the others.
    pub fn names(&self) -> Vec<String> {
        let maps = self.files.iter().filter_map(|file| file.maps().ok()).flatten();
        let mut names: Vec<String> = maps.map(|map| map.name.clone()).collect();
        names.sort();
        names.dedup();
        names
    }

    /// Every file that cannot be read, as the error that says why.
    pub fn broken(&self) -> impl Iterator<Item = Error> {
        self.files.iter().filter_map(|file| file.maps().err())
    }

    fn unknown(&self, name: &str) -> Error {
        let names = self.names();
        Error::unknown(
            "class map",
            name,
            names.iter().map(String::as_str),
            format!("There are {} (`nsq list --classes`); or give a file.", names.join(", ")),
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

    /// The map could be in the file, by its words.
    fn mentions(&self, name: &str) -> bool {
        let last = name.rsplit('/').next().unwrap_or(name);
        self.text.contains(last) || Path::new(&self.file).file_stem().is_some_and(|stem| stem == name)
    }

    /// False only of a built-in file that cannot hold the map: most runs need one of them.
    fn may_hold(&self, name: &str) -> bool {
        !self.file.starts_with(BUILT_IN) || self.text.contains(&format!("{name}:"))
    }
}

fn too_many(count: usize, what: &str) -> String {
    format!("there are {count} {what}, and no more than {MOST_RULES} are taken")
}

const TOO_MANY_HELP: &str = "one regular expression may stand for many names: `gemm|dot|matmul`";

/// The maps in a file.
///
/// A file is ours (`name: {doc, rules}`), the third seed's (`{engine: {model: {regex: class}}}`), or the
/// first two seeds' (`{substring: class}`, by itself or as `kernel_to_class_map` in their settings).
pub fn parse(file: &str, text: &str) -> Result<Vec<ClassMapSource>> {
    let document = Document::read(file, text)?;
    let count = entries_in(&document);
    if count > MOST_RULES {
        return Err(Error::catalog(file, 1, too_many(count, "entries"), TOO_MANY_HELP));
    }
    let parser = Parser { file, text, place: Cell::default() };
    let stem = Path::new(file).file_stem().unwrap_or_default().to_string_lossy().into_owned();
    if let Some(map) = document.get("kernel_to_class_map") {
        return Ok(vec![parser.substrings(&stem, parser.entries(map, "kernel_to_class_map")?)?]);
    }
    let entries = parser.entries(&document, "the file")?;
    if entries.is_empty() {
        return Err(parser.error("", "there is no class map".to_owned()));
    }
    if entries.iter().all(|(_, value)| value.as_text().is_some()) {
        return Ok(vec![parser.substrings(&stem, entries)?]);
    }
    let mut maps: Vec<ClassMapSource> = Vec::new();
    let mut add = |map: ClassMapSource| match maps.iter_mut().find(|known| known.name == map.name) {
        Some(known) => known.extend(&map),
        None => maps.push(map),
    };
    for (name, value) in entries {
        if value.get("rules").is_some_and(|rules| rules.as_list().is_some()) {
            add(parser.rules(name, value)?);
            continue;
        }
        for (model, map) in parser.entries(value, &format!("`{name}`"))? {
            let name = format!("{name}/{model}");
            add(parser.regexes(&name, parser.entries(map, &format!("`{name}`"))?)?);
        }
    }
    Ok(maps)
}

/// What the document holds in the shape of rules, and at least one thing for each map.
fn entries_in(document: &Document) -> usize {
    match document {
        // A rule in a list is a map of texts.
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
    /// Where the last rule was found.
    place: Cell<Place>,
}

/// A place in a text.
#[derive(Debug, Clone, Copy, Default)]
struct Place {
    /// Bytes before it.
    at: usize,
    /// Line breaks before it.
    line: usize,
    /// Looked for and not found.
    misses: usize,
}

/// Texts that are looked for in all of a file although they do not stand where they should.
const MOST_MISSES: usize = 100;

impl Parser<'_> {
    /// Line, from 1, of the next text like this behind the place, which moves behind it.
    fn next_line_with(&self, needle: &str) -> Option<usize> {
        let mut place = self.place.get();
        if place.misses >= MOST_MISSES {
            return None;
        }
        let rest = &self.text[place.at..];
        let end = |needle: &str| rest.find(needle).map(|at| at + needle.len());
        match end(needle).or_else(|| end(&needle.replace('\\', "\\\\"))) {
            Some(end) => {
                place.line += rest[..end].matches('\n').count();
                place.at += end;
            }
            None => place.misses += 1,
        }
        let is_found = place.misses == self.place.get().misses;
        self.place.set(place);
        is_found.then_some(place.line + 1)
    }

    /// Line of a key and its class, from 1.
    fn line_of_key(&self, key: &str, class: &str) -> usize {
        let line = self.next_line_with(key);
        let mut place = self.place.get();
        if line.is_some() {
            // The class may read like the next key.
            let rest = self.text[place.at..].split('\n').next().unwrap_or_default();
            place.at += rest.find(class).map_or(0, |at| at + class.len());
            self.place.set(place);
        }
        line.unwrap_or_else(|| match place.misses < MOST_MISSES {
            true => line_of(self.text, &self.spelled(key)),
            false => place.line + 1,
        })
    }

    /// Moves behind the name of a map, where there is one further on.
    fn go_to_map(&self, name: &str) {
        let mut place = self.place.get();
        if place.misses >= MOST_MISSES {
            return;
        }
        let (start, mut at) = (place.at, place.at);
        for (number, line) in self.text[start..].split_inclusive('\n').enumerate() {
            let key = line.trim_start().trim_start_matches(['"', '\'']);
            if key.starts_with(name) {
                place.at = at + line.len() - key.len() + name.len();
                place.line += number;
                return self.place.set(place);
            }
            at += line.len();
        }
        place.misses += 1;
        self.place.set(place);
    }

    /// Moves to the end of the line.
    fn end_line(&self) {
        let mut place = self.place.get();
        place.at += self.text[place.at..].find('\n').unwrap_or(0);
        self.place.set(place);
    }

    fn error(&self, needle: &str, reason: String) -> Error {
        Error::catalog(self.file, line_of(self.text, needle), reason, HELP)
    }

    fn entries<'d>(&self, document: &'d Document, what: &str) -> Result<&'d [(String, Document)]> {
        document.as_map().ok_or_else(|| {
            let needle = what.trim_matches('`').rsplit('/').next().unwrap_or_default();
            self.error(needle, format!("{what} is no class map: it has no keys"))
        })
    }

    fn class(&self, map: &str, pattern: &str, value: &Document) -> Result<String> {
        match value.as_text() {
            Some(class) if !class.is_empty() => Ok(class.to_owned()),
            _ => Err(self.error(
                &self.spelled(pattern),
                format!("class map {map}: the class of `{pattern}` is no text"),
            )),
        }
    }

    /// The pattern as the file has it.
    fn spelled(&self, pattern: &str) -> String {
        if self.text.contains(pattern) { pattern.to_owned() } else { pattern.replace('\\', "\\\\") }
    }

    /// `{regex: class}`.
    fn regexes(&self, name: &str, entries: &[(String, Document)]) -> Result<ClassMapSource> {
        let doc = format!("From {}.", file_name(self.file));
        let mut map = ClassMapSource { name: name.to_owned(), doc, ..ClassMapSource::default() };
        let mut known = HashMap::new();
        for (pattern, value) in entries {
            let class = self.class(name, pattern, value)?;
            self.put(
                &mut map,
                &mut known,
                pattern,
                Rule { class, pattern: Pattern::Match(pattern.clone()) },
            );
        }
        Ok(map)
    }

    /// `{substring: class}`, behind what those seeds look for first.
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
            // Without case, as it is looked for: keys that differ in case alone are the same.
            let pattern = Pattern::Substring(key.to_lowercase());
            self.put(&mut map, &mut known, key, Rule { class, pattern });
        }
        Ok(map)
    }

    /// A key that stands twice: the later value counts, in the place of the earlier one, as in JSON.
    fn put(&self, map: &mut ClassMapSource, known: &mut HashMap<Pattern, usize>, key: &str, rule: Rule) {
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
                let message =
                    format!("class map {name}: `{key}` stands twice; the later one, {class}, counts");
                map.duplicates.push(Duplicate { file, line, message });
                known.rule = rule;
            }
        }
    }

    /// `{doc, rules: [{class, match | substring | activity, why}]}`.
    fn rules(&self, name: &str, value: &Document) -> Result<ClassMapSource> {
        let mut map = ClassMapSource { name: name.to_owned(), ..ClassMapSource::default() };
        let mut known = HashMap::<Pattern, usize>::new();
        self.go_to_map(name);
        for (key, value) in self.entries(value, name)? {
            match (key.as_str(), value) {
                ("doc", Document::Text(doc)) => map.doc = doc.trim_end().to_owned(),
                ("rules", Document::List(rules)) => {
                    for rule in rules {
                        let rule = self.rule(name, rule)?;
                        let index = *known.entry(rule.rule.pattern.clone()).or_insert(map.rules.len());
                        if let Some(first) = map.rules.get(index) {
                            let twice = twice(&map.name, first, &rule);
                            map.duplicates.push(twice);
                        }
                        map.rules.push(rule);
                    }
                }
                _ => {
                    let reason = format!(
                        "class map {name}: `{key}` is neither `doc`, a text, nor `rules`, a list"
                    );
                    return Err(self.error(&format!("{key}:"), reason));
                }
            }
        }
        Ok(map)
    }

    /// The rule that stands behind the place.
    fn rule(&self, map: &str, value: &Document) -> Result<ClassRule> {
        let (mut class, mut pattern, mut why) = (None, None, String::new());
        let mut needle = String::new();
        let line = self.place.get().line + 1;
        let malformed = |key: &str| {
            Error::catalog(
                self.file,
                line,
                format!("class map {map}: a rule has {key}"),
                "each rule has `class`, one of `match`, `substring` and `activity`, and maybe `why`: all texts",
            )
        };
        for (key, value) in value.as_map().ok_or_else(|| malformed("no keys"))? {
            let text = value
                .as_text()
                .ok_or_else(|| malformed(&format!("a `{key}` that is no text")))?
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
                        malformed(&format!("an activity `{text}`, not compute, communication or memory"))
                    })?)
                }
                other => return Err(malformed(&format!("a key `{other}`"))),
            };
            if pattern.replace(found).is_some() {
                return Err(malformed("two patterns"));
            }
        }
        let class = class.ok_or_else(|| malformed("no `class`"))?;
        let pattern = pattern.ok_or_else(|| malformed("nothing to look for"))?;
        // Rules stand one below the other: the next line that has the pattern is this rule's.
        let line = self.next_line_with(&needle).unwrap_or(line);
        self.end_line();
        let file = self.file.to_owned();
        Ok(ClassRule { rule: Rule { class, pattern }, why, file, line, is_implied: false })
    }
}

/// A rule whose pattern an earlier one has.
fn twice(map: &str, first: &ClassRule, rule: &ClassRule) -> Duplicate {
    Duplicate {
        file: rule.file.clone(),
        line: rule.line,
        message: format!(
            "class map {map}: `{}` stands twice; the first one, {}, decides",
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
    fn our_own_shape() {
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
    fn the_third_seeds_shape_keeps_its_order() {
        let text = "{\"eng\": {\"m1\": {\"z\\\\d\": \"a\", \"b\": \"c\"}, \"m2\": {\".*\": \"misc\"}}}";
        let maps = parse("x.json", text).unwrap();
        let mut expected = one("eng/m1", &["z\\d=a", "b=c"]);
        expected.extend(one("eng/m2", &[".*=misc"]));
        assert_eq!(shape(&maps), expected);
        let yaml = parse("x.yml", "eng:\n  m1: {'z\\d': a, b: c}\n  m2: {'.*': misc}\n").unwrap();
        assert_eq!(shape(&yaml), expected);
    }

    #[test]
    fn the_first_seeds_shapes() {
        let expected = one("f", &["nccl=nccl", "gemm=G", "softmax=s"]);
        assert_eq!(
            shape(&parse("f.json", "{\"GEMM\": \"G\", \"softmax\": \"s\",} // x").unwrap()),
            expected
        );
        let settings = "{\"inputs\": [{\"format\": \"csv\"}], // one\n\"kernel_to_class_map\": {\"gemm\": \"G\", \"softmax\": \"s\"}}";
        assert_eq!(shape(&parse("dir/f.json", settings).unwrap()), expected);
    }

    #[test]
    fn only_what_nsq_adds_is_implied() {
        let implied = |file: &str, text: &str| -> Vec<bool> {
            parse(file, text).unwrap()[0].rules.iter().map(|rule| rule.is_implied).collect()
        };
        assert_eq!(implied("f.json", "{\"gemm\": \"g\"}"), [true, false]);
        assert_eq!(implied("f.json", "{\"gemm\": \"g\", \"NCCL\": \"comm\"}"), [false, false]);
        let own = "m:\n  rules:\n    - {class: comm, substring: nccl, why: mine}\n";
        assert_eq!(implied("f.yml", own), [false]);
    }

    #[test]
    fn duplicates_are_told() {
        // seeds.md §1: the later value wins, the earlier position stays.
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
            "class map m: `x` stands twice; the first one, a, decides"
        );
        assert_eq!(ours.duplicates[0].line, 4);
    }

    #[test]
    fn lines_are_those_of_the_rules_and_not_of_what_reads_alike() {
        let lines = |file: &str, text: &str| -> Vec<usize> {
            let maps = parse(file, text).unwrap();
            maps.iter().flat_map(|map| &map.rules).map(|rule| rule.line).collect()
        };
        let two = "{\"e\": {\n\"a\": {\n\"gemm\": \"dot\",\n\"dot\": \"x\\\\d\"},\n\"b\": {\n\"gemm\": \"y\"}}}";
        assert_eq!(lines("f.json", two), [3, 4, 6]);
        // A key that is spelled otherwise does not lead astray those behind it.
        assert_eq!(
            lines("f.json", "{\n\"\\u0061\": \"x\",\n\"b\\\\d\": \"y\",\n\"c\": \"z\"}")[2..],
            [3, 4]
        );
        let ours = "m:\n  rules:\n    - {class: gemm, match: gemm}\n    - {class: a, substring: gemm}\nn:\n  rules:\n    - {class: b, match: gemm}\n";
        assert_eq!(lines("f.yml", ours), [3, 4, 7]);
    }

    #[test]
    fn as_many_rules_as_there_may_be_are_read_and_no_more() {
        let keys = |count: usize| -> String {
            let keys: Vec<String> =
                (0..count).map(|n| format!("\"k\\u0065rnel_{n}\": \"class_{n}\"")).collect();
            keys.join(",\n")
        };
        let flat = format!("{{{}}}", keys(MOST_RULES));
        let map = parse("f.json", &flat).unwrap().remove(0);
        assert_eq!(map.rules.len(), MOST_RULES + 1);
        assert_eq!(map.compile().unwrap().classify("a KERNEL_1999 b").class, "class_1");
        let mut maps = ClassMaps::default();
        maps.add("f.json".into(), flat.clone().into());
        maps.add("f.yml".into(), "f:\n  rules:\n    - {class: c, match: x}\n".into());
        let error = maps.map("f").unwrap().compile().unwrap_err().to_string();
        assert_eq!(error, "class map f: there are 2001 rules, and no more than 2000 are taken");
        let nested = format!("{{\"e\": {{\"m\": {{{}}}}}}}", keys(MOST_RULES));
        assert_eq!(parse("f.json", &nested).unwrap()[0].rules.len(), MOST_RULES);
        let rules: String =
            (0..MOST_RULES).map(|n| format!("    - {{class: c, match: 'kernel_{n}'}}\n")).collect();
        let ours = parse("f.yml", &format!("m:\n  rules:\n{rules}")).unwrap();
        assert_eq!(ours[0].rules[MOST_RULES - 1].line, MOST_RULES + 2);
        let error = parse("f.json", &format!("{{{}}}", keys(100_000))).unwrap_err().to_string();
        assert_eq!(error, "f.json:1: there are 100000 entries, and no more than 2000 are taken");
    }

    #[test]
    fn maps_of_one_name_merge_and_the_users_rules_go_first() {
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
    fn a_broken_file_stands_in_the_way_of_its_own_maps_only() {
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
    fn what_is_malformed_says_where() {
        let message = |file: &str, text: &str| match parse(file, text) {
            Err(error) => error.to_string(),
            Ok(maps) => maps.iter().find_map(|map| map.compile().err()).unwrap().to_string(),
        };
        for (text, expected) in [
            (
                "m:\n  rules:\n    - {class: a, match: 'x('}\n",
                "f.yml:3: class map m: rule `x(`: unclosed group",
            ),
            ("m:\n  rules:\n    - {class: a}\n", "f.yml:1: class map m: a rule has nothing to look for"),
            ("m:\n  rules:\n    - {match: a}\n", "a rule has no `class`"),
            ("m:\n  rules:\n    - {class: a, match: b, substring: c}\n", "a rule has two patterns"),
            ("m:\n  rules:\n    - {class: a, activity: idle}\n", "an activity `idle`"),
            ("m:\n  rules:\n    - {class: a, match: ''}\n", "an empty `match`"),
            ("m:\n  rules:\n    - {klass: a, match: b}\n", "a key `klass`"),
            ("m:\n  rules:\n    - gemm\n", "a rule has no keys"),
            ("m:\n  docs: x\n  rules: []\n", "f.yml:2: class map m: `docs`"),
            ("e:\n  m:\n    'a(': b\n", "f.yml:3: class map e/m: rule `a(`"),
            ("e:\n  m:\n    a:\n", "class map e/m: the class of `a` is no text"),
            ("e:\n  m:\n    a: 3\n", "class map e/m: the class of `a` is no text"),
            ("e:\n  m: x\n", "`e/m` is no class map"),
            ("a: b\nc: 3\n", "is no class map"),
            ("[1]", "the file is no class map"),
            ("{}", "there is no class map"),
            ("", "the file is no class map"),
        ] {
            let found = message("f.yml", text);
            assert!(found.contains(expected), "{text}\nwant {expected}\ngot  {found}");
        }
    }
}
