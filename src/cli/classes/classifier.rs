//! Assigns each kernel to a class.

use super::{Args, note};
use crate::catalog::Catalog;
use crate::class_summary::{Class, ClassKeys, SeedMap};
use crate::classify::{ClassMap, Pattern, Rule, collective};
use crate::error::{Error, Result};
use std::collections::HashMap;

/// The chosen class map.
pub(super) struct Classifier {
    name: String,
    map: ClassMap,
    /// The user chose the map, so kernels that match several of its rules get a note.
    is_chosen: bool,
    /// The same map under the original tool's rules, for --seed-compat and --strict.
    seed: Option<SeedMap>,
}

impl Classifier {
    /// Chooses `--classes`, else the config's map, else the default map.
    pub(super) fn choose(catalog: &mut Catalog, args: &Args, config: Option<ClassKeys>) -> Result<Self> {
        let is_chosen = args.classes.is_some() || config.is_some();
        let (name, rules, map) = match (&args.classes, config) {
            (None, Some(map)) => {
                let rules = substrings(map);
                let map = ClassMap::compile(rules.clone()).map_err(|broken| {
                    Error::usage(
                        format!("invalid kernel_to_class_map in the config: {}", broken.reason),
                        "remove some of its keys",
                    )
                })?;
                ("config".to_owned(), rules, map)
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
                let map = source.compile()?;
                (source.name, source.rules.into_iter().map(|rule| rule.rule).collect(), map)
            }
        };
        let seed =
            (args.strict || args.seed_compat.is_some()).then(|| seed_map(&name, &rules)).transpose()?;
        Ok(Self { name, map, is_chosen, seed })
    }

    /// The name of the map.
    pub(super) fn name(&self) -> String {
        self.name.clone()
    }

    /// The class of a kernel. A grammar of kernel names, not the map, decides whether it is communication.
    pub(super) fn class_of(&self, kernel: &str) -> Class {
        let found = self.map.classify(kernel);
        Class {
            name: found.class.to_owned(),
            collective: collective(kernel).map(str::to_owned),
            also: found.also.iter().filter(|_| self.is_chosen).map(|rule| rule.class.clone()).collect(),
        }
    }

    /// The map under the original tool's rules.
    pub(super) fn seed_map(&self) -> Result<&SeedMap> {
        self.seed
            .as_ref()
            .ok_or_else(|| Error::usage("--seed-compat has no class map", "give --config FILE"))
    }
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
