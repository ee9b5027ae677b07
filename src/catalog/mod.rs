//! Embedded files and user folders → [`Catalog`]: the SQL library, by name.
//!
//! For: finding the files, reading their front matter, and answering "is there a query of this
//! name, and which did you mean?". Files are read when they are asked for, so that a run pays for
//! the one query it uses.
//!
//! Not for: opening a report or running anything. A catalogue is the same for every report.

mod classes;
mod document;
mod front_matter;
mod header;
pub mod lock;
mod playbook;
mod rules;
mod source;

pub use classes::{
    ClassMapSource, ClassMaps, ClassRule, DEFAULT_CLASSES, Duplicate, parse as parse_classes,
};
pub use document::Document;
pub use front_matter::line_of;
pub use header::{
    ArgSpec, ColumnSpec, Deprecated, Kind, Materialize, NsysColumn, NsysReport, NsysUnit, Param,
    ParamType, Query, QueryHeader, Relation, RelationHeader, ScopeColumns, TAGS,
};
pub use playbook::{
    Alternative, Answer, Ask, Attribution, Fact, FileSpec, NamePattern, Part, Pattern, PatternUse,
    Playbook, Preset, PresetValue,
};
pub use rules::{Rule, Rules};
pub use source::{EnumRow, Source, SourceColumn};

use crate::bounded_file::{self, Origin};
use crate::error::{Error, Result};
use include_dir::{Dir, File, include_dir};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

static EMBEDDED: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/queries");

/// What the file names of the embedded library begin with: no file of the user's is called so.
pub const BUILT_IN: &str = "built-in:";

/// The text is that of the embedded library's file of this name, and no stranger's. What a file is called
/// proves nothing, and neither does what it holds: as another relation it would mean something else.
pub fn is_built_in(name: &str, text: &str) -> bool {
    let mut pending: Vec<&Dir<'static>> = vec![&EMBEDDED];
    while let Some(folder) = pending.pop() {
        pending.extend(folder.dirs());
        let is_it = |file: &File<'static>| {
            let stem = file.path().file_stem().and_then(|stem| stem.to_str());
            stem == Some(name) && file.contents() == text.as_bytes()
        };
        if folder.files().any(is_it) {
            return true;
        }
    }
    false
}

/// The folder of raw table specs inside a query folder.
const SOURCES: &str = "sources";
/// The folder of the normalised vocabulary inside a query folder.
const VIEWS: &str = "views";

/// The folder of class maps inside a query folder.
const CLASSES: &str = "classes";
/// The folder of playbooks inside a query folder.
const PLAYBOOKS: &str = "playbooks";
/// The folder of rules about names inside a query folder.
const NAMES: &str = "names";

/// A file of the library that is parsed when it is first asked for.
#[derive(Debug)]
struct Entry<T> {
    file: String,
    domain: String,
    text: Cow<'static, str>,
    parsed: OnceLock<T>,
}

impl<T> Entry<T> {
    fn get(&self, parse: impl FnOnce(&str, &str, &str) -> Result<T>) -> Result<&T> {
        if let Some(parsed) = self.parsed.get() {
            return Ok(parsed);
        }
        let parsed = parse(&self.file, &self.domain, &self.text)?;
        Ok(self.parsed.get_or_init(|| parsed))
    }
}

/// All queries, relations, source specs and class maps that are in reach.
#[derive(Debug, Default)]
pub struct Catalog {
    queries: BTreeMap<String, Entry<Query>>,
    relations: BTreeMap<String, Entry<Relation>>,
    sources: BTreeMap<String, Entry<Source>>,
    /// Files of rules by stem, those that were added last first: their rules go first.
    rules: BTreeMap<String, Vec<Entry<Rules>>>,
    /// From names of GPU operations to classes.
    classes: ClassMaps,
    playbooks: BTreeMap<String, Entry<Playbook>>,
}

impl Catalog {
    /// The embedded library and nothing else, read once.
    pub fn built_in() -> Result<&'static Self> {
        static BUILT_IN: OnceLock<Catalog> = OnceLock::new();
        match BUILT_IN.get() {
            Some(library) => Ok(library),
            None => Self::load(&[]).map(|library| BUILT_IN.get_or_init(|| library)),
        }
    }

    /// The embedded library, and on top of it the query folders, in order: a later file replaces
    /// an earlier one of the same name.
    pub fn load(folders: &[PathBuf]) -> Result<Self> {
        let mut catalog = Self::default();
        let mut pending: Vec<&Dir<'static>> = vec![&EMBEDDED];
        while let Some(folder) = pending.pop() {
            pending.extend(folder.dirs());
            for file in folder.files() {
                // The library is text: a file that is not has no business in it.
                let Some(text) = file.contents_utf8() else { continue };
                let label = format!("{BUILT_IN}queries/{}", file.path().display());
                catalog.add(Path::new(&label), file.path(), Cow::Borrowed(text));
            }
        }
        for folder in folders {
            catalog.add_folder(folder)?;
        }
        Ok(catalog)
    }

    /// The queries that can be read, by domain and name; see [`Catalog::broken`] for the others.
    pub fn readable_queries(&self) -> Vec<&Query> {
        let mut all: Vec<&Query> =
            self.queries.values().filter_map(|e| e.get(Query::parse).ok()).collect();
        all.sort_by(|a, b| (&a.domain, &a.header.name).cmp(&(&b.domain, &b.header.name)));
        all
    }

    /// The folders that apply without being asked for: the user's config folders, then `NSQ_PATH`.
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
                    // A pipe or a device is no part of a library.
                } else if matches!(
                    path.extension().and_then(|e| e.to_str()),
                    Some("sql" | "yml" | "yaml" | "json")
                ) {
                    let bytes = bounded_file::read(&path, Origin::Found, bounded_file::MAX_TEXT_BYTES)?;
                    // Text that is not UTF-8 fails where the file is used, not where another is.
                    let text = String::from_utf8_lossy(&bytes).into_owned();
                    let mut inside = path.strip_prefix(folder).unwrap_or(&path).to_owned();
                    if folder.file_name().is_some_and(|name| name == CLASSES) {
                        inside = Path::new(CLASSES).join(inside);
                    }
                    self.add(&path, &inside, Cow::Owned(text));
                }
            }
        }
        Ok(())
    }

    /// Files `inside/a/query/folder.ext` by what the folder says they are.
    fn add(&mut self, path: &Path, inside: &Path, text: Cow<'static, str>) {
        let stem = inside.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let extension = inside.extension().unwrap_or_default();
        let folder = inside.parent().unwrap_or(Path::new("")).to_string_lossy().into_owned();
        let domain = if folder.is_empty() { "user".to_owned() } else { folder };
        let file = path.to_string_lossy().into_owned();
        if extension == "yml" && domain == SOURCES {
            let entry = Entry { file, domain, text, parsed: OnceLock::new() };
            self.sources.insert(format!("src_{stem}"), entry);
        } else if extension == "yml" && domain == NAMES {
            let entry = Entry { file, domain, text, parsed: OnceLock::new() };
            self.rules.entry(stem).or_default().insert(0, entry);
        } else if extension == "yml" && domain == PLAYBOOKS {
            let entry = Entry { file, domain, text, parsed: OnceLock::new() };
            self.playbooks.insert(stem, entry);
        } else if inside.starts_with(CLASSES)
            && ["yml", "yaml", "json"].iter().any(|known| extension == *known)
        {
            self.classes.add(file, text);
        } else if extension == "sql" && domain == VIEWS {
            self.relations.insert(stem, Entry { file, domain, text, parsed: OnceLock::new() });
        } else if extension == "sql" {
            self.queries.insert(stem, Entry { file, domain, text, parsed: OnceLock::new() });
        }
    }

    /// Adds the query in the file at `path` and returns its name.
    pub fn add_file(&mut self, path: &Path) -> Result<String> {
        let text = bounded_file::read_text(path, Origin::Named)?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let (file, domain) = (path.to_string_lossy().into_owned(), "user".to_owned());
        let entry = Entry { file, domain, text: Cow::Owned(text), parsed: OnceLock::new() };
        self.queries.insert(name.clone(), entry);
        Ok(name)
    }

    /// The query called `name`, or once called so; `name@3` wants exactly that version.
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
                    "a version rises when columns or meanings change (see CHANGELOG); ask for {0}@{1} \
                     once you have read what changed, or pass an older copy of the file as a path",
                    query.header.name, query.header.version
                ),
            )),
            _ => Ok(query),
        }
    }

    fn by_alias(&self, name: &str) -> Result<&Entry<Query>> {
        let mut names: Vec<&str> = self.queries.keys().map(String::as_str).collect();
        for entry in self.queries.values() {
            // A broken file elsewhere in the library is not this look-up's business.
            let Ok(query) = entry.get(Query::parse) else { continue };
            let aliases = query.header.nsys.iter().flat_map(|nsys| &nsys.aliases);
            if aliases.clone().any(|alias| alias == name) {
                return Ok(entry);
            }
            names.extend(aliases.map(String::as_str));
        }
        Err(Error::unknown("query", name, names, "`nsq list` shows all queries."))
    }

    /// Every file of the library that cannot be read, as the error that says why.
    pub fn broken(&self) -> Vec<Error> {
        let queries = self.queries.values().filter_map(|entry| entry.get(Query::parse).err());
        let relations = self.relations.values().filter_map(|entry| entry.get(Relation::parse).err());
        let sources = self.sources.values().filter_map(|entry| entry.get(Source::parse).err());
        let rules = self.rules.values().flatten().filter_map(|entry| entry.get(Rules::parse).err());
        let playbooks = self.playbooks.values().filter_map(|entry| entry.get(Playbook::parse).err());
        let broken = queries.chain(relations).chain(sources).chain(rules).chain(playbooks);
        broken.chain(self.classes.broken()).collect()
    }

    /// All queries, by domain and name.
    pub fn queries(&self) -> Result<Vec<&Query>> {
        let mut all = Vec::with_capacity(self.queries.len());
        for entry in self.queries.values() {
            all.push(entry.get(Query::parse)?);
        }
        all.sort_by(|a, b| (&a.domain, &a.header.name).cmp(&(&b.domain, &b.header.name)));
        Ok(all)
    }

    /// The names of all query files, whether or not they can be read.
    pub fn query_names(&self) -> impl Iterator<Item = &str> {
        self.queries.keys().map(String::as_str)
    }

    /// The relation of the normalised vocabulary called `name`.
    pub fn relation(&self, name: &str) -> Option<Result<&Relation>> {
        self.relations.get(name).map(|entry| entry.get(Relation::parse))
    }

    /// All relations of the normalised vocabulary, by name.
    pub fn relations(&self) -> Result<Vec<&Relation>> {
        self.relations.values().map(|entry| entry.get(Relation::parse)).collect()
    }

    /// The lock file that came with the library; empty where there is none.
    pub fn embedded_lock() -> &'static str {
        EMBEDDED.get_file(lock::FILE).and_then(|file| file.contents_utf8()).unwrap_or_default()
    }

    /// The spec behind the generated view `src_…`.
    pub fn source(&self, view: &str) -> Option<Result<&Source>> {
        self.sources.get(view).map(|entry| entry.get(Source::parse))
    }

    /// All source specs, by the name of their view.
    pub fn sources(&self) -> Result<Vec<&Source>> {
        self.sources.values().map(|entry| entry.get(Source::parse)).collect()
    }

    /// The files of rules called `name`: a user's own before the built-in one, which they extend.
    pub fn rules(&self, name: &str) -> Result<Vec<&Rules>> {
        self.rules.get(name).into_iter().flatten().map(|entry| entry.get(Rules::parse)).collect()
    }

    /// The class maps, and which of them was chosen.
    pub fn classes(&self) -> &ClassMaps {
        &self.classes
    }

    /// Adds the class maps in the file at `path`, before those that are there, and returns their names.
    pub fn add_classes(&mut self, path: &Path) -> Result<Vec<String>> {
        let text = bounded_file::read_text(path, Origin::Named)?;
        self.classes.add_file(path.to_string_lossy().into_owned(), Cow::Owned(text))
    }

    /// Chooses the class map for what is asked; see [`ClassMaps::choose`].
    pub fn choose_classes(&mut self, spelling: &str) -> Result<()> {
        self.classes.choose(spelling)
    }

    /// The playbook called `name`.
    pub fn playbook(&self, name: &str) -> Result<&Playbook> {
        match self.playbooks.get(name) {
            Some(entry) => entry.get(Playbook::parse),
            None => Err(Error::unknown(
                "playbook",
                name,
                self.playbook_names(),
                "`nsq list --playbooks` shows all; a file is given by its path.",
            )),
        }
    }

    /// The names of all playbooks, whether or not they can be read.
    pub fn playbook_names(&self) -> impl Iterator<Item = &str> {
        self.playbooks.keys().map(String::as_str)
    }

    /// The playbooks that can be read, by name; see [`Catalog::broken`] for the others.
    pub fn readable_playbooks(&self) -> Vec<&Playbook> {
        self.playbooks.values().filter_map(|entry| entry.get(Playbook::parse).ok()).collect()
    }

    /// Adds the playbook in the file at `path` and returns its name.
    pub fn add_playbook(&mut self, path: &Path) -> Result<String> {
        let text = bounded_file::read_text(path, Origin::Named)?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let (file, domain) = (path.to_string_lossy().into_owned(), PLAYBOOKS.to_owned());
        let entry = Entry { file, domain, text: Cow::Owned(text), parsed: OnceLock::new() };
        self.playbooks.insert(name.clone(), entry);
        Ok(name)
    }

    /// All files of rules.
    pub fn all_rules(&self) -> Result<Vec<&Rules>> {
        self.rules.values().flatten().map(|entry| entry.get(Rules::parse)).collect()
    }

    /// The names of the relations and source views that a statement can use.
    pub fn relation_names(&self) -> impl Iterator<Item = &str> {
        self.relations.keys().chain(self.sources.keys()).map(String::as_str)
    }
}
