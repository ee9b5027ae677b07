//! Dependencies point one way: each module uses only the modules that its list allows.

use std::collections::BTreeSet;
use std::path::Path;

/// The modules that each module may use, in the order of the data flow in `lib.rs`.
/// `error` and `table` are types that all stages share.
const MAY_USE: [(&str, &[&str]); 25] = [
    ("error", &[]),
    ("interrupt", &["error"]),
    ("threads", &[]),
    ("bounded_file", &["error"]),
    ("classify", &[]),
    ("interval", &[]),
    ("statistics", &[]),
    ("glob", &["error"]),
    ("projection", &["interval", "statistics", "threads"]),
    ("occupancy", &["interval", "classify", "projection"]),
    ("comparison", &["classify", "statistics"]),
    ("table", &["error"]),
    ("class_summary", &["error", "glob"]),
    ("trace", &["error", "classify"]),
    ("report", &["error", "interrupt", "trace"]),
    ("schema", &["error", "report"]),
    ("catalog", &["error", "bounded_file", "classify", "table"]),
    ("normalize", &["error", "glob", "schema", "catalog"]),
    ("answer", &["error", "glob", "catalog", "normalize"]),
    ("compile", &["error", "table", "schema", "catalog", "normalize"]),
    (
        "execute",
        &[
            "error",
            "interrupt",
            "threads",
            "glob",
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
    ("page", &["error", "classify", "table", "catalog", "compile", "execute"]),
    ("render", &["error", "threads", "table"]),
    (
        "lint",
        &["error", "page", "table", "report", "schema", "catalog", "normalize", "compile", "execute"],
    ),
    (
        "cli",
        &[
            "answer",
            "error",
            "interrupt",
            "threads",
            "bounded_file",
            "table",
            "class_summary",
            "trace",
            "comparison",
            "report",
            "schema",
            "catalog",
            "normalize",
            "classify",
            "compile",
            "execute",
            "page",
            "render",
            "lint",
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
            line.strip_prefix("pub mod ").map(|rest| rest.trim_end_matches(';').to_owned())
        })
        .collect();
    let listed: BTreeSet<String> = seen.into_iter().map(str::to_owned).collect();
    assert_eq!(modules, listed, "MAY_USE must list every public module");
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
