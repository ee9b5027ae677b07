//! Texts that people read are in plain English: none has a sign of `english/signs.tsv`, unless
//! `english/allowed.tsv` argues for it. `english/heard.tsv` is what readers stumbled over.
//!
//! Read are README.md, the unreleased part of CHANGELOG.md, the book, and in `queries` all but code. Of Rust, strings
//! are read, and in `src`, whose comments are help texts, comments too.

use crate::support::project;
use regex::Regex;
use std::fs;
use std::path::PathBuf;

struct Sign {
    wanted: Regex,
    /// What may stand there: a match of the sign that overlaps one of this is no sign.
    unless: Option<Regex>,
    why: String,
    instead: String,
}

/// The rows of a table of `english`, without comments.
fn rows<const N: usize>(name: &str) -> Vec<[String; N]> {
    let text = fs::read_to_string(project(&format!("tests/suite/english/{name}"))).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let cells = |line: &str| line.split('\t').map(str::to_owned).collect::<Vec<String>>();
    lines.map(|line| cells(line).try_into().unwrap_or_else(|_| panic!("{name}: {line}"))).collect()
}

/// A pattern in any case, in which a space is any white space.
fn pattern(text: &str) -> Regex {
    Regex::new(&format!("(?i){}", text.replace(' ', r"\s+"))).unwrap()
}

fn signs() -> Vec<Sign> {
    let sign = |[wanted, unless, why, instead]: [String; 4]| Sign {
        wanted: pattern(&wanted),
        unless: (unless != "-").then(|| pattern(&unless)),
        why,
        instead,
    };
    rows("signs.tsv").into_iter().map(sign).collect()
}

impl Sign {
    /// The places of the sign in a text.
    fn places(&self, text: &str) -> Vec<(usize, String)> {
        let pardons = self.unless.iter().flat_map(|unless| unless.find_iter(text));
        let pardons: Vec<(usize, usize)> = pardons.map(|found| (found.start(), found.end())).collect();
        let found = self.wanted.find_iter(text).filter(|found| {
            !pardons.iter().any(|(start, end)| *start < found.end() && found.start() < *end)
        });
        found.map(|found| (found.start(), found.as_str().to_owned())).collect()
    }
}

/// A text with blanks for all but the matches that are read. Its lines stay.
fn only(text: &str, wanted: &str, is_read: fn(&str) -> bool) -> String {
    let blank = |text: &str| text.chars().map(|c| if c == '\n' { c } else { ' ' }).collect::<String>();
    let (mut read, mut end) = (String::new(), 0);
    for found in Regex::new(wanted).unwrap().find_iter(text) {
        read.push_str(&blank(&text[end..found.start()]));
        match is_read(found.as_str()) {
            true => read.push_str(found.as_str()),
            false => read.push_str(&blank(found.as_str())),
        }
        end = found.end();
    }
    read + &blank(&text[end..])
}

/// Comments, raw strings, strings and characters of Rust.
const RUST: &str = r##"//[^\n]*|r#"(?s:.*?)"#|"(?s:\\.|[^"\\])*"|'(?:\\.[^']*|[^'\\\n])'"##;
const SQL: &str = r"--[^\n]*|'(?:[^']|'')*'";
const TAG: &str = r"\{%(?s:.*?)%\}|\{\{(?s:.*?)\}\}";

/// What a person reads of a file, on the same lines.
fn texts(name: &str, file: &str) -> String {
    let text = match name.rsplit('.').next().unwrap_or_default() {
        "rs" if name.starts_with("src/") => only(file, RUST, |found| !found.starts_with('\'')),
        "rs" => only(file, RUST, |found| !found.starts_with(['\'', '/'])),
        "sql" => match file.split_once("---*/") {
            Some((header, sql)) => header.to_owned() + &only(sql, SQL, |_| true),
            None => file.to_owned(),
        },
        "jinja" => {
            let quoted = |tag: &regex::Captures<'_>| only(&tag[0], r"'[^'\n]*'", |_| true);
            Regex::new(TAG).unwrap().replace_all(file, quoted).into_owned()
        }
        _ if name == "CHANGELOG.md" => unreleased(file),
        _ => file.to_owned(),
    };
    let text = text.replace("\\\n", " \n").replace("\\n", " ");
    // A sentence goes on after the mark of a comment.
    Regex::new(r"(?m)^[ \t]*(?:///|//!|//|--|#)").unwrap().replace_all(&text, " ").into_owned()
}

fn unreleased(changelog: &str) -> String {
    let start = changelog.find("## Unreleased").unwrap();
    let end = changelog[start + 3..].find("\n## ").map_or(changelog.len(), |at| start + 3 + at);
    let lines_before = changelog[..start].matches('\n').count();
    "\n".repeat(lines_before) + &changelog[start..end]
}

/// The files that are read, by their paths in the project.
fn files() -> Vec<String> {
    let mut files = vec!["README.md".to_owned(), "CHANGELOG.md".to_owned()];
    let roots =
        ["docs/src", "queries", "src", "crates", "arrow/src", "fleet/src", "mcp/src", "perfetto/src"];
    let mut folders: Vec<PathBuf> = roots.iter().map(PathBuf::from).collect();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(project("").join(&folder)).unwrap() {
            let entry = entry.unwrap();
            let path = folder.join(entry.file_name());
            let kind = path.extension().and_then(|kind| kind.to_str()).unwrap_or_default();
            if entry.file_type().unwrap().is_dir() {
                folders.push(path);
            } else if ["md", "sql", "yml", "jinja", "rs"].contains(&kind) {
                files.push(path.to_str().unwrap().to_owned());
            }
        }
    }
    files.sort();
    files
}

#[test]
fn texts_are_in_plain_english() {
    let signs = signs();
    let allowed: Vec<[String; 3]> = rows("allowed.tsv");
    let mut used = vec![false; allowed.len()];
    let mut faults = Vec::new();
    for name in files() {
        let file = fs::read_to_string(project(&name)).unwrap();
        let text = texts(&name, &file);
        for sign in &signs {
            for (at, found) in sign.places(&text) {
                // The first word may be on the line after the one where the match begins.
                let word = at + (found.len() - found.trim_start().len());
                let line = text[..word].matches('\n').count();
                let shown = file.lines().nth(line).unwrap_or_default();
                let exception = allowed
                    .iter()
                    .position(|[of, part, _]| *of == name && shown.contains(part.as_str()));
                match exception {
                    Some(place) => used[place] = true,
                    None => faults.push(format!(
                        "{name}:{}: `{}`: {}. Write: {}",
                        line + 1,
                        found.split_whitespace().collect::<Vec<_>>().join(" "),
                        sign.why,
                        sign.instead
                    )),
                }
            }
        }
    }
    for ([name, part, _], _) in allowed.iter().zip(&used).filter(|(_, used)| !**used) {
        faults.push(format!("tests/suite/english/allowed.tsv: not needed: {name}: {part}"));
    }
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn what_readers_stumbled_over_has_a_sign() {
    let signs = signs();
    let has_sign = |text: &str| signs.iter().any(|sign| !sign.places(text).is_empty());
    for [was, is] in rows("heard.tsv") {
        assert!(has_sign(&was), "no sign in: {was}");
        assert!(!has_sign(&is), "a sign in: {is}");
    }
}
