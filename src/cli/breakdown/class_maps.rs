//! Which class map each profile goes by.

use super::input::Input;
use crate::catalog::{Catalog, DEFAULT_CLASSES};
use crate::classify::{self, Pattern};
use crate::cli::note;
use crate::error::{Error, Result};
use std::collections::BTreeMap;
use std::path::Path;

/// The name of the map of each input, in order; every one is there and can be used.
///
/// `given` are files of further maps, or the name of the one for inputs that name none.
pub(super) fn of(catalog: &mut Catalog, given: &[String], inputs: &[Input]) -> Result<Vec<ClassMap>> {
    let mut alone = DEFAULT_CLASSES.to_owned();
    for spelling in given {
        if catalog.classes().names().contains(spelling) {
            alone.clone_from(spelling);
        } else if is_file(spelling) {
            // A file with one map says which one is meant where none is named.
            if let [only] = catalog.add_classes(Path::new(spelling))?.as_slice() {
                alone.clone_from(only);
            }
        } else {
            // FILE#NAME, or nothing that there is: the error names what there is.
            catalog.choose_classes(spelling)?;
            catalog.classes().chosen().clone_into(&mut alone);
        }
    }
    let name_of = |input: &Input| match &input.engine_model {
        Some((engine, model)) => format!("{engine}/{model}"),
        None => alone.clone(),
    };
    let mut known: BTreeMap<String, ClassMap> = BTreeMap::new();
    let mut maps = Vec::with_capacity(inputs.len());
    for name in inputs.iter().map(name_of) {
        if !known.contains_key(&name) {
            let name = name.clone();
            let map = catalog.classes().map(&name).map_err(|error| explain(error, &name))?;
            let rules = map.compile()?;
            for twice in &map.duplicates {
                note(&twice.to_string());
            }
            known.insert(name.clone(), ClassMap { name, rules });
        }
        maps.extend(known.get(&name).cloned());
    }
    Ok(maps)
}

/// The map that a profile goes by.
#[derive(Debug, Clone)]
pub(super) struct ClassMap {
    pub(super) name: String,
    rules: classify::ClassMap,
}

impl ClassMap {
    /// The further classes that the map has for a name, but for that of a rule which takes everything.
    pub(super) fn also(&self, name: &str) -> Vec<&str> {
        let takes_all = |pattern: &Pattern| matches!(pattern, Pattern::Match(text) if text == ".*");
        let also = self.rules.classify(name).also.into_iter();
        also.filter(|rule| !takes_all(&rule.pattern)).map(|rule| rule.class.as_str()).collect()
    }
}

fn is_file(spelling: &str) -> bool {
    Path::new(spelling).is_file() || [".json", ".yml", ".yaml"].iter().any(|end| spelling.ends_with(end))
}

/// An engine and model that nobody has a map for.
fn explain(error: Error, name: &str) -> Error {
    match error {
        Error::Unknown { near, help, .. } => Error::Unknown {
            what: "class map (ENGINE/MODEL)",
            name: name.to_owned(),
            near,
            help: format!("{help} Further ones come by --classes FILE."),
        },
        error => error,
    }
}
