//! Which class a kernel is in.

use super::{Args, note};
use crate::catalog::Catalog;
use crate::class_summary::{Class, ClassKeys, SeedMap};
use crate::classify::{ClassMap, Pattern, Rule, collective};
use crate::error::{Error, Result};
use std::collections::HashMap;

/// The class map that was asked for.
pub(super) struct Classifier {
    name: String,
    map: ClassMap,
    /// The user brought or named the map: where its rules meet is worth telling.
    is_chosen: bool,
    /// The same under the seed's rules, where those were asked for.
    seed: Option<SeedMap>,
}

impl Classifier {
    /// `--classes`, else the config's map, else the default.
    pub(super) fn choose(catalog: &mut Catalog, args: &Args, config: Option<ClassKeys>) -> Result<Self> {
        let is_chosen = args.classes.is_some() || config.is_some();
        let (name, rules, map) = match (&args.classes, config) {
            (None, Some(map)) => {
                let rules = substrings(map);
                let map = ClassMap::compile(rules.clone()).map_err(|broken| {
                    Error::usage(
                        format!("the classes of the config: {}", broken.reason),
                        "leave some of the keys out",
                    )
                })?;
                ("config".to_owned(), rules, map)
            }
            (spelling, _) => {
                if let Some(spelling) = spelling {
                    catalog.choose_classes(spelling)?;
                }
                let mut source = catalog.classes().chosen_map()?;
                for twice in &source.duplicates {
                    note(&twice.to_string());
                }
                // What the rule that files of the seed's shape imply is for, the grammar does.
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

    /// What a kernel is. Whether it is communication, a grammar of names decides, and no map.
    pub(super) fn class_of(&self, kernel: &str) -> Class {
        let found = self.map.classify(kernel);
        Class {
            name: found.class.to_owned(),
            collective: collective(kernel).map(str::to_owned),
            also: found.also.iter().filter(|_| self.is_chosen).map(|rule| rule.class.clone()).collect(),
        }
    }

    /// The map under the seed's rules.
    pub(super) fn seed_map(&self) -> Result<&SeedMap> {
        self.seed
            .as_ref()
            .ok_or_else(|| Error::usage("there is no map for --seed-compat", "give a --config"))
    }
}

/// Keys and classes of a config as rules. Classes that differ by case alone are one, spelled as first.
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
            format!("class map {name} is of regular expressions, and the seed knows substrings"),
            "give a --config, or --classes FILE with {\"part of a name\": \"class\"}",
        )
    })?;
    SeedMap::strict(&pairs)
}
