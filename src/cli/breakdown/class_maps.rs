//! Which class map each profile goes by.

use super::input::Input;
use crate::catalog::{Catalog, ClassMapSource, ClassRule, DEFAULT_CLASSES};
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
            let map = catalog.classes().map(&name).map_err(|error| explain(error, &name))?;
            map.compile()?;
            for twice in &map.duplicates {
                note(&format!("{}:{}: {}", twice.file, twice.line, twice.message));
            }
            known.insert(name.clone(), ClassMap::of(&map));
        }
        maps.extend(known.get(&name).cloned());
    }
    Ok(maps)
}

/// The map that a profile goes by.
#[derive(Debug, Clone)]
pub(super) struct ClassMap {
    pub(super) name: String,
    /// Class and pattern of each rule, as `op_class_also` writes them.
    rules: Vec<(String, String)>,
}

impl ClassMap {
    fn of(map: &ClassMapSource) -> Self {
        let written = |rule: &ClassRule| {
            let rule = &rule.rule;
            (rule.class.clone(), format!("{} ({})", rule.class, rule.pattern))
        };
        Self { name: map.name.clone(), rules: map.rules.iter().map(written).collect() }
    }

    /// The classes in what `op_class_also` says, but for that of a rule which takes everything.
    ///
    /// Patterns hold commas and parentheses, so the rules themselves tell where one ends.
    pub(super) fn words<'m>(&'m self, mut also: &str) -> Vec<&'m str> {
        let mut words = Vec::new();
        while !also.is_empty() {
            let begins = self.rules.iter().filter(|(_, written)| also.starts_with(written.as_str()));
            let Some((class, written)) = begins.max_by_key(|(_, written)| written.len()) else { break };
            if !written.ends_with("(.*)") {
                words.push(class.as_str());
            }
            also = also[written.len()..].trim_start_matches(", ");
        }
        words
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_read_from_between_their_patterns() {
        let rule = |class: &str, pattern: &str| (class.to_owned(), format!("{class} ({pattern})"));
        let map = ClassMap {
            name: String::new(),
            rules: vec![rule("a", "x, b (y)"), rule("b", "(?i:y)|z{1,2}"), rule("misc", ".*")],
        };
        assert_eq!(map.words("a (x, b (y)), b ((?i:y)|z{1,2}), misc (.*)"), ["a", "b"]);
        assert!(map.words("misc (.*)").is_empty() && map.words("").is_empty());
    }
}
