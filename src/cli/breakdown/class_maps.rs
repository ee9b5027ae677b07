//! Chooses the class map of each profile.

use super::input::Input;
use crate::cli::note;
use nsq_library::catalog::{Catalog, ClassMaps, DEFAULT_CLASSES};
use nsq_value::error::{Error, Result};
use std::collections::BTreeMap;
use std::path::Path;

/// Returns the maps of each input, in order, with its own chosen.
///
/// `given` holds files of further maps, and the name of the map for inputs that name none.
pub(super) fn of(catalog: &mut Catalog, given: &[String], inputs: &[Input]) -> Result<Vec<ClassMaps>> {
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
    let mut known: BTreeMap<String, ClassMaps> = BTreeMap::new();
    let mut maps = Vec::with_capacity(inputs.len());
    for name in inputs.iter().map(name_of) {
        if !known.contains_key(&name) {
            let map = catalog.classes().map(&name).map_err(|error| explain(error, &name))?;
            map.compile()?;
            for duplicate in &map.duplicates {
                note(&duplicate.to_string());
            }
            catalog.choose_classes(&name)?;
            known.insert(name.clone(), catalog.classes().clone());
        }
        maps.extend(known.get(&name).cloned());
    }
    Ok(maps)
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
