//! Dependencies point one way: each module uses only the modules that its list allows.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The modules that each module may use, in the order of the data flow in `lib.rs`.
/// `error` and `table` are types that all stages share.
const MAY_USE: [(&str, &[&str]); 32] = [
    ("error", &[]),
    ("cancel", &["error"]),
    ("threads", &[]),
    ("bounded_file", &["error"]),
    ("classify", &[]),
    ("integers", &[]),
    ("interval", &[]),
    ("statistics", &[]),
    ("glob", &["error"]),
    ("projection", &["integers", "interval", "statistics", "threads"]),
    ("occupancy", &["interval", "classify", "projection"]),
    ("table", &["error"]),
    ("seed", &["error", "classify", "table"]),
    ("trace", &["error", "classify"]),
    ("whole_file", &["error"]),
    ("report", &["error", "cancel", "trace", "whole_file"]),
    ("schema", &["error", "report"]),
    ("catalog", &["error", "bounded_file", "classify", "table"]),
    ("manual", &["error", "classify", "table", "catalog", "render"]),
    ("normalize", &["error", "glob", "schema", "catalog"]),
    ("compile", &["error", "table", "schema", "catalog", "normalize"]),
    (
        "execute",
        &[
            "error",
            "cancel",
            "threads",
            "glob",
            "integers",
            "interval",
            "statistics",
            "projection",
            "classify",
            "occupancy",
            "table",
            "report",
            "schema",
            "catalog",
            "normalize",
            "compile",
        ],
    ),
    ("memory", &["error", "whole_file"]),
    ("interrupt", &["error", "cancel", "execute", "whole_file"]),
    ("scope", &["error", "schema", "normalize", "compile"]),
    (
        "open_report",
        &["error", "table", "report", "schema", "catalog", "normalize", "compile", "execute"],
    ),
    (
        "materialize",
        &["error", "report", "schema", "catalog", "normalize", "execute", "render", "whole_file"],
    ),
    (
        "page",
        &[
            "error",
            "bounded_file",
            "classify",
            "glob",
            "table",
            "catalog",
            "normalize",
            "compile",
            "execute",
            "scope",
            "open_report",
            "render",
        ],
    ),
    (
        "door",
        &[
            "error",
            "cancel",
            "threads",
            "table",
            "report",
            "catalog",
            "normalize",
            "compile",
            "execute",
            "scope",
            "open_report",
            "materialize",
            "page",
            "manual",
            "render",
        ],
    ),
    ("render", &["error", "threads", "table"]),
    (
        "lint",
        &["error", "page", "table", "report", "schema", "catalog", "normalize", "compile", "execute"],
    ),
    (
        "cli",
        &[
            "error",
            "cancel",
            "threads",
            "bounded_file",
            "table",
            "trace",
            "report",
            "schema",
            "catalog",
            "normalize",
            "classify",
            "compile",
            "execute",
            "scope",
            "open_report",
            "materialize",
            "page",
            "door",
            "render",
            "seed",
            "lint",
            "manual",
            "interrupt",
            "whole_file",
        ],
    ),
];

#[test]
fn dependencies_point_one_way() {
    let mut seen = BTreeSet::new();
    for (module, may_use) in MAY_USE {
        for (file, text) in sources(module) {
            seen.insert(module);
            for used in text.match_indices("crate::").map(|(at, _)| word(&text[at + "crate::".len()..]))
            {
                let allowed = used == module || may_use.contains(&used.as_str());
                assert!(allowed, "{file} uses crate::{used}; {module} may use {may_use:?}");
            }
        }
    }
    let modules: BTreeSet<String> = std::fs::read_to_string(crate::support::project("src/lib.rs"))
        .unwrap()
        .lines()
        .filter_map(|line| {
            let rest = line.strip_prefix("pub ").unwrap_or(line);
            rest.strip_prefix("mod ").map(|rest| rest.trim_end_matches(';').to_owned())
        })
        .collect();
    let listed: BTreeSet<String> = seen.into_iter().map(str::to_owned).collect();
    assert_eq!(modules, listed, "MAY_USE must list every module");
}

/// No module uses a neighbour in the same folder that uses it, directly or through others.
#[test]
fn no_modules_use_each_other() {
    let mut folders = vec![crate::support::project("src")];
    let mut circles = Vec::new();
    while let Some(folder) = folders.pop() {
        let mut modules = BTreeMap::<String, String>::new();
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            if path.is_dir() {
                modules.entry(name).or_default().push_str(&code_in(&path, "super::super::"));
                folders.push(path);
            } else if !["mod", "lib", "main"].contains(&name.as_str()) {
                modules.entry(name).or_default().push_str(&code_of(&path, "super::"));
            }
        }
        let inside = folder.strip_prefix(crate::support::project("src")).unwrap();
        let absolute: String = inside
            .components()
            .map(|part| part.as_os_str().to_str().unwrap().to_owned() + "::")
            .collect();
        let uses: BTreeMap<&str, Vec<&str>> = modules
            .iter()
            .map(|(name, text)| {
                let is_used = |other: &&String| {
                    *other != name
                        && [format!("crate::{absolute}{other}"), format!("sibling::{other}")]
                            .iter()
                            .any(|path| has_path(text, path))
                };
                (name.as_str(), modules.keys().filter(is_used).map(String::as_str).collect())
            })
            .collect();
        for start in uses.keys() {
            let (mut open, mut seen) = (uses[start].clone(), BTreeSet::new());
            while let Some(next) = open.pop() {
                if seen.insert(next) {
                    open.extend(&uses[next]);
                }
            }
            if seen.contains(start) {
                circles.push(format!("{}: {start}", folder.display()));
            }
        }
    }
    assert!(circles.is_empty(), "modules in a circle of uses: {circles:#?}");
}

/// Whether the text has the path, and not only as the beginning of a longer name.
fn has_path(text: &str, path: &str) -> bool {
    text.match_indices(path).any(|(at, _)| {
        !text[at + path.len()..].starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
    })
}

/// The code of all files in a module's folder. `up` leads from a file there to the module's neighbours.
fn code_in(folder: &Path, up: &str) -> String {
    let mut text = String::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => text.push_str(&code_in(&path, &format!("super::{up}"))),
            false if path.ends_with("mod.rs") => {
                text.push_str(&code_of(&path, up.strip_prefix("super::").unwrap()));
            }
            false => text.push_str(&code_of(&path, up)),
        }
    }
    text
}

/// The code of a file without comments and tests. Uses of neighbours, which begin with `up`, begin with
/// `sibling::` instead, and a group of uses becomes one use each.
fn code_of(path: &Path, up: &str) -> String {
    let text = std::fs::read_to_string(path).unwrap();
    let text = text.split("#[cfg(test)]\nmod tests").next().unwrap();
    let lines = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    let mut text = lines.collect::<Vec<_>>().join("\n");
    while let Some((before, rest)) = text.split_once("::{").map(|(a, b)| (a.to_owned(), b.to_owned())) {
        let start = before.rfind(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != ':');
        let prefix = before[start.map_or(0, |at| at + 1)..].to_owned();
        let (group, after) = rest.split_once('}').unwrap_or((&rest, ""));
        let uses: Vec<String> =
            group.split(',').map(|name| format!("{prefix}::{}", name.trim())).collect();
        text = format!("{before} {} {after}", uses.join(" "));
    }
    // More `super::` in front lead further up.
    text.replace(&format!("super::{up}"), "beyond::").replace(up, "sibling::")
}

#[test]
fn only_cli_and_render_use_clap_and_sqlite_stays_in_the_engine() {
    for (module, _) in MAY_USE {
        for (file, text) in sources(module) {
            if !["cli", "render"].contains(&module) {
                assert!(!text.contains("clap::"), "{file} uses clap");
            }
            if ["table", "render", "catalog", "cli"].contains(&module) {
                assert!(!text.contains("rusqlite"), "{file} uses rusqlite");
            }
        }
    }
}

fn word(text: &str) -> String {
    text.chars().take_while(|c| c.is_ascii_lowercase() || *c == '_').collect()
}

/// The files of a module: `src/module.rs` or everything in `src/module/`.
fn sources(module: &str) -> Vec<(String, String)> {
    let mut files = vec![crate::support::project(&format!("src/{module}.rs"))];
    let mut folders = vec![crate::support::project(&format!("src/{module}"))];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    let read = |path: &Path| Some((path.display().to_string(), std::fs::read_to_string(path).ok()?));
    files
        .iter()
        .filter(|path| path.extension().is_some_and(|e| e == "rs"))
        .filter_map(|path| read(path))
        .collect()
}
