//! No file uses another one that uses it, directly or through others.
//!
//! A use leads to the file that defines the item: a `pub use` or `use` on the way is only a name for it. So a
//! module may collect the names of its parts, and its parts may use each other by these names.

use regex::Regex;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The path of a module: `["page", "request"]`; empty for the crate.
type ModulePath = Vec<String>;

/// A name that a file brings into scope.
struct Import {
    path: Vec<String>,
    alias: String,
    is_public: bool,
}

/// The code of each module, and what it imports.
struct Modules {
    code: BTreeMap<ModulePath, String>,
    imports: BTreeMap<ModulePath, Vec<Import>>,
}

fn words(path: &str) -> Vec<String> {
    path.split("::").map(|word| word.trim().to_owned()).filter(|word| !word.is_empty()).collect()
}

/// The names of a use tree: `a::{b, c as d}` has `a::b` and `a::c`, the latter as `d`.
fn names_in(tree: &str, before: &[String]) -> Vec<(Vec<String>, String)> {
    let tree = tree.trim();
    if let Some((prefix, group)) = tree.split_once('{') {
        let prefix = [before, &words(prefix)].concat();
        let group = &group[..group.rfind('}').unwrap_or(group.len())];
        let (mut depth, mut start, mut names) = (0, 0, Vec::new());
        for (at, c) in group.char_indices().chain([(group.len(), ',')]) {
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                ',' if depth == 0 => {
                    names.extend(names_in(&group[start..at], &prefix));
                    start = (at + 1).min(group.len());
                }
                _ => {}
            }
        }
        return names;
    }
    let (path, alias) =
        tree.split_once(" as ").map_or((tree, None), |(path, alias)| (path, Some(alias)));
    let mut path = [before, &words(path)].concat();
    if path.last().is_some_and(|last| last == "self") {
        path.pop();
    }
    let last = path.last().cloned().unwrap_or_default();
    if last.is_empty() {
        return Vec::new();
    }
    vec![(path, alias.map_or(last, |alias| alias.trim().to_owned()))]
}

impl Modules {
    fn new(texts: BTreeMap<ModulePath, String>) -> Self {
        let comment = Regex::new("(?m)//.*$").unwrap();
        let within = Regex::new(r"pub\(in [\w:]+\)").unwrap();
        let using = Regex::new(r"(?m)^\s*(pub(?:\(\w+\))?\s+)?use\s+([^;]+);").unwrap();
        let declared = Regex::new(r"(?m)^\s*(?:pub(?:\(\w+\))?\s+)?mod \w+;").unwrap();
        let (mut code, mut imports) = (BTreeMap::new(), BTreeMap::new());
        for (path, text) in texts {
            let text = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default().to_owned();
            let text = within.replace_all(&comment.replace_all(&text, ""), "pub").into_owned();
            let import = |found: regex::Captures<'_>| {
                let is_public = found.get(1).is_some();
                let names = names_in(&found[2].replace('\n', " "), &[]).into_iter();
                names.map(|(path, alias)| Import { path, alias, is_public }).collect::<Vec<_>>()
            };
            imports.insert(path.clone(), using.captures_iter(&text).flat_map(import).collect());
            let text = using.replace_all(&text, "");
            code.insert(path, declared.replace_all(&text, "").into_owned());
        }
        Self { code, imports }
    }

    /// The module that defines what a path in `from` names. `None`: something outside the crate.
    fn defining(&self, from: &[String], path: &[String], depth: usize) -> Option<ModulePath> {
        let (mut at, mut rest) = match path.first()?.as_str() {
            "crate" => (Vec::new(), &path[1..]),
            "super" | "self" => {
                let ups = path.iter().take_while(|word| *word == "super").count();
                let skipped = path.iter().take_while(|word| *word == "super" || *word == "self").count();
                (from[..from.len().checked_sub(ups)?].to_vec(), &path[skipped..])
            }
            first if self.code.contains_key(&[from, &[first.to_owned()]].concat()) => {
                (from.to_vec(), path)
            }
            _ => return None,
        };
        while let [next, more @ ..] = rest {
            let child = [at.as_slice(), std::slice::from_ref(next)].concat();
            if self.code.contains_key(&child) {
                (at, rest) = (child, more);
                continue;
            }
            let import = self.imports.get(&at)?.iter().find(|import| import.alias == *next);
            return match import {
                Some(import) if depth > 0 => {
                    let path = [import.path.as_slice(), more].concat();
                    self.defining(&at, &path, depth - 1)
                }
                _ => Some(at),
            };
        }
        Some(at)
    }

    /// The modules that each module uses.
    fn uses(&self) -> BTreeMap<&ModulePath, BTreeSet<ModulePath>> {
        let paths = Regex::new(r"\b[a-z_]\w*(?:::\w+)+").unwrap();
        let of = |(path, code): (&'_ ModulePath, &String)| {
            let is_used = |import: &&Import| {
                // A name for others is not a use of its own.
                !import.is_public
                    || Regex::new(&format!(r"\b{}\b", regex::escape(&import.alias)))
                        .unwrap()
                        .is_match(code)
            };
            let imported = self.imports[path].iter().filter(is_used).map(|import| import.path.clone());
            let inline = paths.find_iter(code).map(|found| words(found.as_str()));
            let all = imported.chain(inline).collect::<BTreeSet<_>>();
            let all = all.iter().filter_map(|used| self.defining(path, used, 8));
            all.filter(|used| used != path).collect::<BTreeSet<ModulePath>>()
        };
        self.code.iter().map(|module| (module.0, of(module))).collect()
    }

    /// The modules that use themselves through others.
    fn in_circles(&self) -> Vec<String> {
        let uses = self.uses();
        let mut circles = Vec::new();
        for start in uses.keys() {
            let (mut open, mut seen) = (vec![*start], BTreeSet::new());
            while let Some(next) = open.pop() {
                open.extend(uses.get(next).into_iter().flatten().filter(|used| seen.insert(*used)));
            }
            if seen.contains(*start) {
                circles.push(start.join("::"));
            }
        }
        circles
    }
}

fn read(folder: &Path, inside: &[String], texts: &mut BTreeMap<ModulePath, String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let own = [inside, std::slice::from_ref(&name)].concat();
        if path.is_dir() {
            read(&path, &own, texts);
        } else if path.extension().is_some_and(|extension| extension == "rs") && name != "main" {
            let module = if ["mod", "lib"].contains(&name.as_str()) { inside.to_vec() } else { own };
            texts.insert(module, std::fs::read_to_string(&path).unwrap());
        }
    }
}

#[test]
fn no_file_uses_one_that_uses_it() {
    let mut texts = BTreeMap::new();
    read(&crate::support::project("src"), &[], &mut texts);
    let modules = Modules::new(texts);
    let uses: usize = modules.uses().values().map(BTreeSet::len).sum();
    assert!(modules.code.len() > 250 && uses > 1000, "{} files, {uses} uses", modules.code.len());
    assert_eq!(modules.in_circles(), Vec::<String>::new(), "files in a circle of uses");
}

#[test]
fn a_circle_is_found_behind_the_names_of_a_module() {
    let circles = |files: &[(&str, &str)]| {
        let texts = files.iter().map(|(path, text)| (words(path), (*text).to_owned())).collect();
        Modules::new(texts).in_circles()
    };
    let facade = ("a", "mod b;\nmod c;\npub use b::{B, More};\nuse c::helps as help;\n");
    let c = ("a::c", "use super::B;\n");
    // `c` uses `b` by the name that `a` has for it. `a` itself uses nothing.
    assert!(circles(&[("", "mod a;"), facade, ("a::b", "struct B;"), c]).is_empty());
    for b in ["use crate::a::help;\n", "use super::{c, help};\n", "fn f() { super::c::helps() }\n"] {
        assert_eq!(circles(&[("", "mod a;"), facade, ("a::b", b), c]), ["a::b", "a::c"], "{b}");
    }
    // What a module says of its own is used like that of a file.
    let own = ("a", "mod c;\npub struct B;\nfn f() { c::helps() }\n");
    assert_eq!(circles(&[("", "mod a;"), own, c]), ["a", "a::c"]);
    // A test may use everything.
    let tests = ("a::b", "struct B;\n#[cfg(test)]\nmod tests {\n    use super::super::c;\n}\n");
    assert!(circles(&[("", "mod a;"), facade, tests, c]).is_empty());
}

#[test]
fn no_file_is_longer_than_400_lines() {
    let (mut folders, mut files) = (vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")], 0);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files += 1;
                let lines = std::fs::read_to_string(&path).unwrap().lines().count();
                assert!(lines <= 400, "{}: {lines} lines", path.display());
            }
        }
    }
    assert!(files > 200, "{files} files");
}
