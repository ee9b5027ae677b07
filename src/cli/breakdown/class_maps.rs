//! Chooses the class map of each profile.

use super::input::Input;
use crate::catalog::{Catalog, DEFAULT_CLASSES};
use crate::classify::{self, Pattern};
use crate::cli::note;
use crate::error::{Error, Result};
use std::collections::BTreeMap;
use std::path::Path;

/// Returns the map of each input, in order, compiled.
///
/// `given` holds files of further maps, and the name of the map for inputs that name none.
pub(super) fn of(catalog: &mut Catalog, given: &[String], inputs: &[Input]) -> Result<Vec<ClassMap>> {
    let mut fallback = DEFAULT_CLASSES.to_owned();
    for spelling in given {
        if catalog.classes().names().contains(spelling) {
            fallback.clone_from(spelling);
        } else if is_file(spelling) {
            // The only map of a file is also the map for inputs that name none.
            if let [only] = catalog.add_classes(Path::new(spelling))?.as_slice() {
                fallback.clone_from(only);
            }
        } else {
            // FILE#NAME, or a name that does not exist: then the error lists the names that do.
            catalog.choose_classes(spelling)?;
            catalog.classes().chosen().clone_into(&mut fallback);
        }
    }
    let name_of = |input: &Input| match &input.engine_model {
        Some((engine, model)) => format!("{engine}/{model}"),
        None => fallback.clone(),
    };
    let mut known: BTreeMap<String, ClassMap> = BTreeMap::new();
    let mut maps = Vec::with_capacity(inputs.len());
    for name in inputs.iter().map(name_of) {
        if !known.contains_key(&name) {
            let name = name.clone();
            let map = catalog.classes().map(&name).map_err(|error| explain(error, &name))?;
            let rules = map.compile()?;
            for duplicate in &map.duplicates {
                note(&duplicate.to_string());
            }
            known.insert(name.clone(), ClassMap { name, rules });
        }
        maps.extend(known.get(&name).cloned());
    }
    Ok(maps)
}

/// The class map of a profile.
#[derive(Debug, Clone)]
pub(super) struct ClassMap {
    pub(super) name: String,
    rules: classify::ClassMap,
}

impl ClassMap {
    /// Further classes whose rules match a name, except the class of a rule that matches every name.
    pub(super) fn also(&self, name: &str) -> Vec<&str> {
        let matches_all = |pattern: &Pattern| matches!(pattern, Pattern::Match(text) if text == ".*");
        let also = self.rules.classify(name).also.into_iter();
        also.filter(|rule| !matches_all(&rule.pattern)).map(|rule| rule.class.as_str()).collect()
    }
}

fn is_file(spelling: &str) -> bool {
    Path::new(spelling).is_file() || [".json", ".yml", ".yaml"].iter().any(|end| spelling.ends_with(end))
}

/// Explains the error for an engine and model without a map.
fn explain(error: Error, name: &str) -> Error {
    match error {
        Error::Unknown { near, help, .. } => Error::Unknown {
            what: "class map (ENGINE/MODEL)",
            name: name.to_owned(),
            near,
            help: format!("{help} Add maps with --classes FILE."),
        },
        error => error,
    }
}
