//! What the user gives to a playbook: parameters, range names and files.

use super::Args;
use crate::bounded_file::{self, Origin};
use crate::catalog::{FileSpec, Playbook};
use crate::compile::{parse_param, scalar};
use crate::error::{Error, Result};
use crate::page::value;
use crate::table::Value as Cell;
use minijinja::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// The settings that apply to all parts.
#[derive(Debug)]
pub(super) struct Settings {
    /// Parameters by name; null if there is neither a value nor a default.
    pub(super) params: BTreeMap<String, Cell>,
    /// Parameters that the user gave, directly or with a preset.
    pub(super) given: Vec<String>,
    /// Range names by pattern.
    pub(super) patterns: BTreeMap<String, Vec<String>>,
    /// The scope that the user set for every query, as command-line options.
    pub(super) options: Vec<String>,
    /// Rows of each file, by the name of the file.
    pub(super) files: BTreeMap<String, Vec<BTreeMap<String, Cell>>>,
}

impl Settings {
    pub(super) fn new(playbook: &Playbook, args: &Args) -> Result<Self> {
        let mut typed = BTreeMap::<String, String>::new();
        let mut patterns = BTreeMap::<String, Vec<String>>::new();
        let model = args.model.iter().map(|model| format!("model={model}"));
        for text in args.param.iter().cloned().chain(model) {
            let (key, value) = text.split_once('=').ok_or_else(|| {
                Error::usage(format!("`{text}` is not a parameter"), "write it as -p key=value")
            })?;
            let key = key.trim();
            if playbook.pattern(key).is_some() {
                if value.trim().is_empty() {
                    return Err(Error::usage(
                        format!("empty value for pattern `{key}`"),
                        "give a glob over range names, or a regular expression between slashes",
                    ));
                }
                patterns.entry(key.to_owned()).or_default().push(value.to_owned());
            } else if playbook.params.iter().any(|param| param.name == key) {
                typed.insert(key.to_owned(), value.to_owned());
            } else {
                let params = playbook.params.iter().map(|param| param.name.as_str());
                let known = params.chain(playbook.patterns.iter().map(|pattern| pattern.name.as_str()));
                let help = format!("`nsq show {}` lists its parameters and patterns.", playbook.name);
                return Err(Error::unknown("parameter or pattern", key, known, help));
            }
        }
        // Parameters that a preset sets count as given. A parameter given directly overrides the preset.
        let mut given: Vec<String> = typed.keys().cloned().collect();
        for preset in &playbook.presets {
            let Some(chosen) = typed.get(&preset.param).cloned() else { continue };
            let chosen = preset.values.iter().find(|value| value.value == chosen.trim());
            for (name, value) in chosen.iter().flat_map(|chosen| &chosen.sets) {
                if !typed.contains_key(name) {
                    typed.insert(name.clone(), value.clone());
                    given.push(name.clone());
                }
            }
        }
        let mut params = BTreeMap::new();
        for param in &playbook.params {
            let text = match typed.get(&param.name) {
                Some(text) => Some(text.clone()),
                None if param.default.is_null() => None,
                None => Some(scalar(&param.default)),
            };
            let value = match text {
                Some(text) => parse_param(&playbook.name, param, &text)?,
                None => Cell::Null,
            };
            params.insert(param.name.clone(), value);
        }
        Ok(Self {
            params,
            given,
            patterns,
            options: args.scope_options(),
            files: files(playbook, args)?,
        })
    }

    /// Whether the parameter or file has a value.
    pub(super) fn has(&self, name: &str) -> bool {
        self.files.contains_key(name) || self.params.get(name).is_some_and(|value| *value != Cell::Null)
    }

    /// The variables for templates: `params`, `given` (names of given parameters), `options`, and the
    /// rows of each file.
    pub(super) fn context(&self) -> BTreeMap<String, Value> {
        let params: BTreeMap<String, Value> =
            self.params.iter().map(|(name, cell)| (name.clone(), value(cell))).collect();
        let given: Vec<Value> = self.given.iter().map(|name| Value::from(name.as_str())).collect();
        let mut context = BTreeMap::from([
            ("params".to_owned(), Value::from(params)),
            ("given".to_owned(), Value::from(given)),
            ("options".to_owned(), Value::from(self.options.clone())),
        ]);
        for (name, rows) in &self.files {
            let rows: Vec<Value> = rows.iter().map(|row| Value::from(values(row))).collect();
            context.insert(name.clone(), Value::from(rows));
        }
        context
    }
}

fn values(row: &BTreeMap<String, Cell>) -> BTreeMap<String, Value> {
    row.iter().map(|(name, cell)| (name.clone(), value(cell))).collect()
}

fn files(playbook: &Playbook, args: &Args) -> Result<BTreeMap<String, Vec<BTreeMap<String, Cell>>>> {
    let mut files = BTreeMap::new();
    let timings = args.timings.iter().map(|path| Ok(("timings", path.as_path())));
    let named = args.file.iter().map(|text| {
        text.split_once('=').map(|(name, path)| (name, Path::new(path))).ok_or_else(|| {
            Error::usage(format!("`{text}` is not NAME=FILE"), "write it as --file NAME=FILE")
        })
    });
    for given in named.chain(timings) {
        let (name, path) = given?;
        let Some(spec) = playbook.files.iter().find(|spec| spec.name == name) else {
            let known = playbook.files.iter().map(|spec| spec.name.as_str());
            let help = format!("`nsq show {}` lists its files.", playbook.name);
            return Err(Error::unknown("playbook file", name, known, help));
        };
        files.insert(name.to_owned(), read(spec, path)?);
    }
    Ok(files)
}

/// Reads the rows of a CSV file. The first line names the columns.
fn read(spec: &FileSpec, path: &Path) -> Result<Vec<BTreeMap<String, Cell>>> {
    let bytes = bounded_file::read(path, Origin::Named, bounded_file::MAX_TEXT_BYTES)?;
    let refuse = |reason: String| Error::Report {
        path: path.to_owned(),
        reason,
        help: format!("{} The first line names the columns: {}", spec.doc, spec.columns.join(",")),
    };
    let text = std::str::from_utf8(&bytes).map_err(|_| refuse("is not UTF-8".to_owned()))?;
    let mut reader = csv::ReaderBuilder::new()
        .trim(csv::Trim::All)
        .from_reader(text.trim_start_matches('\u{feff}').as_bytes());
    let malformed = |e: csv::Error| refuse(format!("is not CSV: {e}"));
    let names: Vec<String> = reader.headers().map_err(malformed)?.iter().map(str::to_owned).collect();
    for (place, name) in names.iter().enumerate() {
        if names[..place].contains(name) {
            return Err(refuse(format!("has two columns named {name}")));
        }
    }
    let missing: Vec<&str> =
        spec.columns.iter().filter(|name| !names.contains(name)).map(String::as_str).collect();
    if !missing.is_empty() {
        return Err(refuse(format!("has no column {}", missing.join(", "))));
    }
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.map_err(malformed)?;
        let row: BTreeMap<String, Cell> = names.iter().cloned().zip(record.iter().map(cell)).collect();
        for name in &spec.numbers {
            if let Some(Cell::Text(text)) = row.get(name) {
                let line = record.position().map_or(0, csv::Position::line);
                return Err(refuse(format!(
                    "line {line}: invalid value `{text}` in column {name}: expected a number"
                )));
            }
        }
        rows.push(row);
    }
    if rows.is_empty() {
        return Err(refuse("has a header line but no rows".to_owned()));
    }
    Ok(rows)
}

/// Parses a number if possible; an empty cell is null.
fn cell(text: &str) -> Cell {
    if text.is_empty() {
        return Cell::Null;
    }
    match (text.parse::<i64>(), text.parse::<f64>()) {
        (Ok(int), _) => Cell::Int(int),
        (_, Ok(real)) if real.is_finite() => Cell::Real(real),
        _ => Cell::Text(text.to_owned()),
    }
}
