//! Chooses the class map of `op_class()`.

use super::{Args, note};
use nsq_library::catalog::{Catalog, ClassMapSource};
use nsq_render::seed::analyzer::{ClassKeys, SeedMap};
use nsq_sweep::classify::{ClassMap, Pattern, Rule};
use nsq_value::error::{Error, Result};
use std::collections::HashMap;

/// The chosen class map.
pub(super) struct Chosen {
    pub(super) name: String,
    /// The user chose it, so kernels that match several of its rules get a note.
    pub(super) is_given: bool,
    /// With --seed-compat: its classes, in the order of the rows.
    pub(super) classes: Vec<String>,
}

/// Chooses `--classes`, else the config's map, else the default map; with --seed-compat, under the rules
/// of the original tool. A grammar of kernel names, not the map, decides what is communication.
pub(super) fn choose(catalog: &mut Catalog, args: &Args, config: Option<ClassKeys>) -> Result<Chosen> {
    let is_given = args.classes.is_some() || config.is_some();
    let (name, mut rules) = match (&args.classes, config) {
        (None, Some(keys)) => {
            let rules = substrings(keys);
            ClassMap::compile(rules.clone()).map_err(|broken| {
                Error::usage(
                    format!("invalid kernel_to_class_map in the config: {}", broken.reason),
                    "remove some of its keys",
                )
            })?;
            ("config".to_owned(), rules)
        }
        (spelling, _) => {
            if let Some(spelling) = spelling {
                catalog.choose_classes(spelling)?;
            }
            let mut source = catalog.classes().chosen_map()?;
            for duplicate in &source.duplicates {
                note(&duplicate.to_string());
            }
            // Maps in the original tool's format imply a rule for NCCL; `collective` does that job here.
            source.rules.retain(|rule| !rule.is_implied);
            source.compile()?;
            (source.name, source.rules.into_iter().map(|rule| rule.rule).collect())
        }
    };
    let mut classes = Vec::new();
    if args.strict || args.seed_compat.is_some() {
        let seed = seed_map(&name, &rules)?;
        if args.seed_compat.is_some() {
            classes = seed.classes().into_iter().map(str::to_owned).collect();
            rules = seed.rules();
        }
    }
    catalog.use_classes(ClassMapSource::of_rules(name.clone(), rules));
    Ok(Chosen { name, is_given, classes })
}

/// Turns the keys and classes of a config into rules. Classes that differ only in case become one class,
/// spelled like the first.
fn substrings(map: ClassKeys) -> Vec<Rule> {
    let mut spelled: HashMap<String, String> = HashMap::new();
    map.into_iter()
        .map(|(key, class)| Rule {
            class: spelled.entry(class.to_lowercase()).or_insert(class).clone(),
            pattern: Pattern::Substring(key),
        })
        .collect()
}

fn seed_map(name: &str, rules: &[Rule]) -> Result<SeedMap> {
    let pairs: Option<ClassKeys> = rules
        .iter()
        .map(|rule| match &rule.pattern {
            Pattern::Substring(key) => Some((key.clone(), rule.class.clone())),
            _ => None,
        })
        .collect();
    let pairs = pairs.ok_or_else(|| {
        Error::usage(
            format!("class map {name} has regular expressions, and --strict and --seed-compat take substrings"),
            "give --config FILE, or --classes FILE with {\"part of a name\": \"class\"}",
        )
    })?;
    SeedMap::strict(&pairs)
}
