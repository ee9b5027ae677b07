//! The library: embedded files, and those of the user's folders.

use super::built_in::{BUILT_IN, BuiltIn};
use super::class_map::ClassMapSource;
use super::classes::ClassMaps;
use super::entry::{CLASSES, Content, Entry, FileKind, NAMES, PAGES, PLAYBOOKS, SOURCES, VIEWS};
use super::header::{Kind, Query};
use super::page::{ASSETS, LAYOUT, Page, PageFiles};
use super::recipes::recipe_help;
use super::relation::Relation;
use super::rules::Rules;
use super::source::Source;
use nsq_files::bounded_file::{self, Origin};
use nsq_value::error::{Error, Result};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// All queries, relations, source specs, name rules, class maps, playbooks and pages of the library.
#[derive(Debug, Default)]
pub struct Catalog {
    built_in: &'static BuiltIn,
    pub(super) queries: BTreeMap<String, Entry<Query>>,
    pub(super) relations: BTreeMap<String, Entry<Relation>>,
    pub(super) sources: BTreeMap<String, Entry<Source>>,
    /// Files of name rules by stem, newest first: the rules of a file added later are tried first.
    pub(super) rules: BTreeMap<String, Vec<Entry<Rules>>>,
    /// Class maps of GPU operations.
    pub(super) classes: ClassMaps,
    pub(super) playbooks: BTreeMap<String, Entry<Page>>,
    pub(super) pages: BTreeMap<String, PageFiles>,
}

impl Catalog {
    /// Loads the embedded library, then the query folders in order. A later file replaces an earlier one
    /// of the same name.
    pub fn load(built_in: &'static BuiltIn, folders: &[PathBuf]) -> Result<Self> {
        let mut catalog = Self { built_in, ..Self::default() };
        for file in built_in.files() {
            let label = format!("{BUILT_IN}queries/{}", file.path);
            let content = Content { text: Cow::Borrowed(file.text), json: file.json };
            catalog.add(Path::new(&label), Path::new(file.path), content);
        }
        for folder in folders {
            catalog.add_folder(folder)?;
        }
        Ok(catalog)
    }

    /// The library below the users' files.
    pub fn built_in(&self) -> &'static BuiltIn {
        self.built_in
    }

    /// All readable queries, sorted by domain and name. [`Catalog::broken`] lists the others.
    pub fn readable_queries(&self) -> Vec<&Query> {
        let mut all: Vec<&Query> =
            self.queries.values().filter_map(|e| e.get(Query::parse).ok()).collect();
        all.sort_by(|a, b| (&a.domain, &a.header.name).cmp(&(&b.domain, &b.header.name)));
        all
    }

    /// All readable queries of kind `finding`, sorted by name. The others are not parsed, which takes longer than
    /// most questions.
    pub fn findings(&self) -> impl Iterator<Item = &Query> {
        let may_be = |entry: &&Entry<Query>| entry.content.text.contains("finding");
        let queries =
            self.queries.values().filter(may_be).filter_map(|entry| entry.get(Query::parse).ok());
        queries.filter(|query| query.header.kind == Kind::Finding)
    }

    /// The folders that are always loaded: the user's config folders, then those of `NSQ_PATH`.
    pub fn default_folders() -> Vec<PathBuf> {
        let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        let config = variable("XDG_CONFIG_HOME")
            .map(PathBuf::from)
            .or_else(|| variable("HOME").map(|home| PathBuf::from(home).join(".config")))
            .map(|config| config.join("nsq"));
        let config = config.into_iter().flat_map(|nsq| [nsq.join("queries"), nsq.join(CLASSES)]);
        let config = config.filter(|folder| folder.is_dir());
        let path = variable("NSQ_PATH").unwrap_or_default();
        let listed = std::env::split_paths(&path).filter(|folder| !folder.as_os_str().is_empty());
        config.chain(listed).collect()
    }

    fn add_folder(&mut self, folder: &Path) -> Result<()> {
        let mut pending = vec![folder.to_owned()];
        while let Some(current) = pending.pop() {
            let entries = std::fs::read_dir(&current).map_err(|e| Error::io(&current, e))?;
            let mut paths = Vec::new();
            for entry in entries {
                paths.push(entry.map_err(|e| Error::io(&current, e))?.path());
            }
            paths.sort();
            for path in paths {
                if path.is_dir() {
                    pending.push(path);
                } else if path.metadata().is_ok_and(|m| !m.is_file()) {
                    // Skip pipes and devices.
                } else if path.extension().and_then(|e| e.to_str()).is_some_and(|extension| {
                    matches!(extension, "sql" | "yml" | "yaml" | "json" | LAYOUT)
                        || ASSETS.contains(&extension)
                }) {
                    let bytes = bounded_file::read(&path, Origin::Found, bounded_file::MAX_TEXT_BYTES)?;
                    // Invalid UTF-8 must not fail here: it would break queries that do not use this
                    // file.
                    let text = String::from_utf8_lossy(&bytes).into_owned();
                    let mut inside = path.strip_prefix(folder).unwrap_or(&path).to_owned();
                    if folder.file_name().is_some_and(|name| name == CLASSES) {
                        inside = Path::new(CLASSES).join(inside);
                    }
                    self.add(&path, &inside, Content::from(text));
                }
            }
        }
        Ok(())
    }

    /// Adds a file. Its folder within the query folder (`inside`) decides what kind of file it is.
    fn add(&mut self, path: &Path, inside: &Path, content: Content) {
        let stem = inside.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let extension = inside.extension().unwrap_or_default();
        let folder = inside.parent().unwrap_or(Path::new("")).to_string_lossy().into_owned();
        let domain = if folder.is_empty() { "user".to_owned() } else { folder };
        let file = path.to_string_lossy().into_owned();
        if extension == "yml" && domain == SOURCES {
            let entry = Entry { file, domain, content, parsed: OnceLock::new() };
            self.sources.insert(format!("src_{stem}"), entry);
        } else if extension == "yml" && domain == NAMES {
            let entry = Entry { file, domain, content, parsed: OnceLock::new() };
            self.rules.entry(stem).or_default().insert(0, entry);
        } else if extension == "yml" && domain == PLAYBOOKS {
            let entry = Entry { file, domain, content, parsed: OnceLock::new() };
            self.playbooks.insert(stem, entry);
        } else if let Some(page) = domain.strip_prefix(PAGES).and_then(|name| name.strip_prefix('/'))
            && ["yml", LAYOUT].iter().chain(&ASSETS).any(|known| extension == *known)
        {
            let (page, extension) = (page.to_owned(), extension.to_string_lossy().into_owned());
            let entry = Entry { file, domain, content, parsed: OnceLock::new() };
            self.add_to_page(&page, stem, &extension, entry);
        } else if inside.starts_with(CLASSES)
            && ["yml", "yaml", "json"].iter().any(|known| extension == *known)
        {
            self.classes.add(file, content);
        } else if extension == "sql" && domain == VIEWS {
            self.relations.insert(stem, Entry { file, domain, content, parsed: OnceLock::new() });
        } else if extension == "sql" {
            self.queries.insert(stem, Entry { file, domain, content, parsed: OnceLock::new() });
        }
    }

    /// Adds the query in the file at `path` and returns its name.
    pub fn add_file(&mut self, path: &Path) -> Result<String> {
        Ok(self.add_query(path, bounded_file::read_text(path, Origin::Named)?))
    }

    /// Adds the query with the text of the file at `path` and returns its name.
    pub fn add_query(&mut self, path: &Path, text: String) -> String {
        let name = Self::name_of_file(path);
        let (file, domain) = (path.to_string_lossy().into_owned(), "user".to_owned());
        let entry = Entry { file, domain, content: Content::from(text), parsed: OnceLock::new() };
        self.queries.insert(name.clone(), entry);
        name
    }

    /// The name of the query in a file.
    pub fn name_of_file(path: &Path) -> String {
        path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// The query with this name or alias. `name@3` requires version 3.
    pub fn query(&self, name: &str) -> Result<&Query> {
        let (name, version) = match name.split_once('@') {
            Some((name, version)) => (name, Some(version)),
            None => (name, None),
        };
        let entry = match self.queries.get(name) {
            Some(entry) => entry,
            None => self.by_alias(name)?,
        };
        let query = entry.get(Query::parse)?;
        match version {
            Some(wanted) if wanted != query.header.version.to_string() => Err(Error::usage(
                format!("{} is at version {}, not {wanted}", query.header.name, query.header.version),
                format!(
                    "the version goes up when columns or meanings change: read CHANGELOG, then use {0}@{1}, \
                     or pass the path of an older copy of the file",
                    query.header.name, query.header.version
                ),
            )),
            _ => Ok(query),
        }
    }

    fn by_alias(&self, name: &str) -> Result<&Entry<Query>> {
        let mut names: Vec<&str> = Vec::new();
        for (own, entry) in &self.queries {
            // Ignore errors in other files of the library.
            let Ok(query) = entry.get(Query::parse) else { continue };
            let aliases = query.header.nsys.iter().flat_map(|nsys| &nsys.aliases);
            if aliases.clone().any(|alias| alias == name) {
                return Ok(entry);
            }
            // Parts of pages are not what people look for.
            if !query.header.internal {
                names.push(own);
                names.extend(aliases.map(String::as_str));
            }
        }
        if let Some(help) = recipe_help(name) {
            return Err(Error::Unknown { what: "query", name: name.to_owned(), near: Vec::new(), help });
        }
        // A name that exists as something else: similar names would be a guess.
        let other = if matches!(self.relation(name), Some(Ok(_))) {
            Some(format!("{name} is a relation: `nsq sql REPORT \"SELECT * FROM {name}\"`"))
        } else if self.page(name).is_ok() {
            Some(format!("{name} is a page: `nsq run REPORT -q {name}`"))
        } else {
            None
        };
        if let Some(help) = other {
            // Its plural may be a query: step and steps.
            let is_plural = |of: &&&str| of.strip_prefix(name).is_some_and(|rest| rest == "s");
            let near = names.iter().filter(is_plural).map(|of| (*of).to_owned()).collect();
            return Err(Error::Unknown { what: "query", name: name.to_owned(), near, help });
        }
        Err(Error::unknown("query", name, names, search_of(name)))
    }

    /// One error for each file of the library that cannot be read.
    pub fn broken(&self) -> Vec<Error> {
        let queries = self.queries.values().filter_map(|entry| entry.get(Query::parse).err());
        let relations = self.relations.values().filter_map(|entry| entry.get(Relation::parse).err());
        let sources = self.sources.values().filter_map(|entry| entry.get(Source::parse).err());
        let rules = self.rules.values().flatten().filter_map(|entry| entry.get(Rules::parse).err());
        let playbooks = self.playbooks.values().filter_map(|entry| entry.get(Page::parse).err());
        let pages = self.page_names().filter_map(|name| self.page(name).err());
        let broken = queries.chain(relations).chain(sources).chain(rules).chain(playbooks).chain(pages);
        broken.chain(self.classes.broken()).collect()
    }

    /// Kind and path of every file, including unreadable ones.
    pub fn files(&self) -> impl Iterator<Item = (FileKind, &str)> {
        fn of<'a, T: 'a>(
            kind: FileKind,
            entries: impl Iterator<Item = &'a Entry<T>>,
        ) -> impl Iterator<Item = (FileKind, &'a str)> {
            entries.map(move |entry| (kind, entry.file.as_str()))
        }
        of(FileKind::Query, self.queries.values())
            .chain(of(FileKind::Relation, self.relations.values()))
            .chain(of(FileKind::Source, self.sources.values()))
            .chain(of(FileKind::NameRules, self.rules.values().flatten()))
            .chain(of(FileKind::Playbook, self.playbooks.values()))
            .chain(self.page_files())
            .chain(self.classes.files().map(|file| (FileKind::ClassMap, file)))
    }

    /// All queries, sorted by domain and name.
    pub fn queries(&self) -> Result<Vec<&Query>> {
        let mut all = Vec::with_capacity(self.queries.len());
        for entry in self.queries.values() {
            all.push(entry.get(Query::parse)?);
        }
        all.sort_by(|a, b| (&a.domain, &a.header.name).cmp(&(&b.domain, &b.header.name)));
        Ok(all)
    }

    /// The names of all query files, including unreadable ones.
    pub fn query_names(&self) -> impl Iterator<Item = &str> {
        self.queries.keys().map(String::as_str)
    }

    /// The relation with this name.
    pub fn relation(&self, name: &str) -> Option<Result<&Relation>> {
        self.relations.get(name).map(|entry| entry.get(Relation::parse))
    }

    /// All relations, sorted by name.
    pub fn relations(&self) -> Result<Vec<&Relation>> {
        self.relations.values().map(|entry| entry.get(Relation::parse)).collect()
    }

    /// The source spec of the generated view `src_…`.
    pub fn source(&self, view: &str) -> Option<Result<&Source>> {
        self.sources.get(view).map(|entry| entry.get(Source::parse))
    }

    /// All source specs, sorted by the name of their view.
    pub fn sources(&self) -> Result<Vec<&Source>> {
        self.sources.values().map(|entry| entry.get(Source::parse)).collect()
    }

    /// The source specs that name one of these flags of `nsys profile`. The others need not be parsed, which takes
    /// longer than most questions.
    pub fn sources_recorded_by<'a>(
        &'a self,
        flags: &'a [String],
    ) -> impl Iterator<Item = Result<&'a Source>> {
        let names_one =
            |entry: &&Entry<Source>| flags.iter().any(|flag| entry.content.text.contains(flag));
        self.sources.values().filter(names_one).map(|entry| entry.get(Source::parse))
    }

    /// The files of name rules with this name. User files come before the built-in file, which they
    /// extend.
    pub fn rules(&self, name: &str) -> Result<Vec<&Rules>> {
        self.rules.get(name).into_iter().flatten().map(|entry| entry.get(Rules::parse)).collect()
    }

    /// All class maps, and which one is selected.
    pub fn classes(&self) -> &ClassMaps {
        &self.classes
    }

    /// Adds the class maps in the file at `path`, to be tried before earlier files, and returns their
    /// names.
    pub fn add_classes(&mut self, path: &Path) -> Result<Vec<String>> {
        let text = bounded_file::read_text(path, Origin::Named)?;
        self.classes.add_file(path.to_string_lossy().into_owned(), Content::from(text))
    }

    /// Uses this class map, and no other.
    pub fn use_classes(&mut self, map: ClassMapSource) {
        self.classes.choose_map(map);
    }

    /// Selects the class map to use; see [`ClassMaps::choose`].
    pub fn choose_classes(&mut self, spelling: &str) -> Result<()> {
        self.classes.choose(spelling)
    }

    /// All files of name rules.
    pub fn all_rules(&self) -> Result<Vec<&Rules>> {
        self.rules.values().flatten().map(|entry| entry.get(Rules::parse)).collect()
    }

    /// The names of all relations and source views that a statement can read.
    pub fn relation_names(&self) -> impl Iterator<Item = &str> {
        self.relations.keys().chain(self.sources.keys()).map(String::as_str)
    }
}

/// How to search for what a name means that no query has.
fn search_of(name: &str) -> String {
    let words: Vec<&str> = name.split(['_', '-', ' ']).collect();
    let is_word = |word: &&str| !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric());
    match words.iter().all(is_word) && name.len() <= 60 {
        true => format!("`nsq list {}` searches for the words.", words.join(" ")),
        false => "`nsq list` shows all queries.".to_owned(),
    }
}
