//! What the user gives to a page with questions: parameters, range names and files.

use super::super::planned::{split, values};
use super::super::values::value;
use super::files;
use minijinja::Value;
use nsq_library::catalog::{Catalog, Page};
use nsq_sweep::classify::OTHERS;
use nsq_value::error::{Error, Result};
use nsq_value::table::Value as Cell;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The rows of a file.
type Rows = Vec<BTreeMap<String, Cell>>;

/// The settings that apply to all parts.
#[derive(Debug)]
pub(super) struct Settings {
    /// Parameters by name; null if there is neither a value nor a default.
    params: BTreeMap<String, Cell>,
    /// Parameters that the user gave, directly or with a preset.
    given: Vec<String>,
    /// Range names by pattern.
    pub(super) patterns: BTreeMap<String, Vec<String>>,
    files: BTreeMap<String, Rows>,
}

impl Settings {
    pub(super) fn new(page: &Page, given: &[String], files: &[(String, PathBuf)]) -> Result<Self> {
        let mut typed = BTreeMap::<&str, &str>::new();
        let mut patterns = BTreeMap::<String, Vec<String>>::new();
        for (key, text) in split(page, given)? {
            if page.pattern(key).is_none() {
                typed.insert(key, text);
            } else if text.trim().is_empty() {
                return Err(Error::usage(
                    format!("empty value for pattern `{key}`"),
                    "give a glob over range names, or a regular expression between slashes",
                ));
            } else {
                patterns.entry(key.to_owned()).or_default().push(text.to_owned());
            }
        }
        // Parameters that a preset sets count as given. A parameter given directly overrides the preset.
        let mut given: Vec<String> = typed.keys().map(|&name| name.to_owned()).collect();
        for preset in &page.presets {
            let Some(chosen) = typed.get(preset.param.as_str()).copied() else { continue };
            let chosen = preset.values.iter().find(|value| value.value == chosen.trim());
            for (name, text) in chosen.iter().flat_map(|chosen| &chosen.sets) {
                if !typed.contains_key(name.as_str()) {
                    typed.insert(name, text);
                    given.push(name.clone());
                }
            }
        }
        let mut rows = BTreeMap::new();
        for (name, path) in files {
            let Some(spec) = page.files.iter().find(|spec| spec.name == *name) else {
                let known = page.files.iter().map(|spec| spec.name.as_str());
                let help = format!("`nsq show {}` lists its files.", page.name);
                return Err(Error::unknown("playbook file", name, known, help));
            };
            rows.insert(name.clone(), files::read(spec, path)?);
        }
        Ok(Self { params: values(page, &typed)?, given, patterns, files: rows })
    }

    /// Checks that the class map has the classes in parameters. Defaults are checked only if the user
    /// chose a class map.
    pub(super) fn check_classes(&self, page: &Page, catalog: &Catalog, is_chosen: bool) -> Result<()> {
        for name in page.classes.iter().filter(|name| is_chosen || self.given.contains(name)) {
            let Some(Cell::Text(text)) = self.params.get(name) else { continue };
            let map = catalog.classes().chosen_map()?;
            let mut known: Vec<&str> = map.rules.iter().map(|rule| rule.rule.class.as_str()).collect();
            known.push(OTHERS);
            known.sort_unstable();
            known.dedup();
            for class in serde_json::from_str::<Vec<String>>(text).unwrap_or_default() {
                if !known.contains(&class.as_str()) {
                    let help = format!(
                        "-p {name}= accepts the classes of map {}: {}.",
                        map.name,
                        known.join(", ")
                    );
                    return Err(Error::unknown("class", &class, known, help));
                }
            }
        }
        Ok(())
    }

    /// Whether the parameter or file has a value.
    pub(super) fn has(&self, name: &str) -> bool {
        self.files.contains_key(name) || self.params.get(name).is_some_and(|value| *value != Cell::Null)
    }

    /// The variables for templates: `params`, `given` (names of given parameters), and the rows of each file.
    pub(super) fn context(&self) -> BTreeMap<String, Value> {
        let row = |cells: &BTreeMap<String, Cell>| {
            let cells = cells.iter().map(|(name, cell)| (name.clone(), value(cell)));
            Value::from(cells.collect::<BTreeMap<String, Value>>())
        };
        let rows = |rows: &Rows| rows.iter().map(row).collect::<Vec<Value>>().into();
        let mut context: BTreeMap<String, Value> =
            self.files.iter().map(|(name, file)| (name.clone(), rows(file))).collect();
        context.insert("params".to_owned(), row(&self.params));
        context.insert("given".to_owned(), self.given.clone().into());
        context
    }
}
