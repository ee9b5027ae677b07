//! The distinct names of ranges, and what the rules make of them.

use crate::catalog::Rules;
use crate::error::{Error, Result};
use crate::execute::native::ids::Numbered;
use crate::execute::native::texts::Texts;
use crate::projection::{NONE, Pace, Stop};
use foldhash::{HashMap, HashMapExt};
use regex::{Regex, RegexBuilder};
use std::borrow::Cow;
use std::sync::OnceLock;

/// What a range without a message is called in paths.
const UNNAMED: &str = "(unnamed)";
/// What a rule says of names that look like a phase and are none, such as feed-forward.
const NO_PHASE: &str = "none";
/// Memory that a single rule may take when compiled.
const RULE_LIMIT: usize = 1 << 20;

/// A name of ranges: a domain and a message, as places in the texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Name {
    /// The domain's name; [`NONE`] outside any domain that has one.
    pub(super) domain: u32,
    /// The domain was created without a name: then nothing is printed, as in NVIDIA's reports.
    pub(super) is_domain_nameless: bool,
    /// The message; [`NONE`] if it is empty.
    pub(super) text: u32,
}

/// All names of ranges.
#[derive(Debug, Default)]
pub(super) struct Names {
    texts: Texts,
    /// What `Range::name` counts.
    names: Numbered<Name>,
    /// Of each name, the text that is printed; [`NONE`] if it is empty.
    shown: Vec<u32>,
    /// Of each name, the first that reads the same.
    pub(super) printed: Vec<u32>,
}

/// The folded names of ranges.
#[derive(Debug, Default)]
pub(super) struct Layers {
    /// Distinct folded names.
    pub(super) layers: Vec<String>,
    /// Of each name, its place among them.
    pub(super) of_name: Vec<u32>,
}

impl Layers {
    /// What a name is folded to.
    pub(super) fn of(&self, name: usize) -> Option<&str> {
        self.layers.get(*self.of_name.get(name)? as usize).map(String::as_str)
    }
}

/// Turns of a plain loop that folding a name takes.
const FOLD: usize = 64;

impl Names {
    pub(super) fn place_text(&mut self, text: &[u8]) -> u32 {
        self.texts.place(text)
    }

    pub(super) fn place(&mut self, name: Name) -> u32 {
        self.names.place(name)
    }

    pub(super) fn len(&self) -> usize {
        self.names.values.len()
    }

    /// The message alone.
    pub(super) fn text(&self, name: u32) -> Option<Cow<'_, str>> {
        self.names.values.get(name as usize).and_then(|name| self.texts.text(name.text))
    }

    /// The domain's name.
    pub(super) fn domain(&self, name: u32) -> Option<Cow<'_, str>> {
        self.names.values.get(name as usize).and_then(|name| self.texts.text(name.domain))
    }

    /// Domain, colon and message; `None` if the message is empty. Known once all names are there.
    pub(super) fn printed(&self, name: u32) -> Option<Cow<'_, str>> {
        self.shown.get(name as usize).and_then(|&text| self.texts.text(text))
    }

    /// Finds out how names read and which read the same, once all are there.
    pub(super) fn finish(&mut self) {
        let texts = &mut self.texts;
        let shown = self.names.values.iter().map(|name| {
            match (texts.text(name.domain), texts.text(name.text)) {
                _ if name.is_domain_nameless => NONE,
                (_, None) => NONE,
                (None, Some(_)) => name.text,
                (Some(domain), Some(text)) => {
                    let shown = format!("{domain}:{text}");
                    texts.place(shown.as_bytes())
                }
            }
        });
        self.shown = shown.collect();
        // A name outside any domain goes before those that read like it.
        let (mut first, mut nothing) = (HashMap::new(), NONE);
        for is_bare in [true, false] {
            let names = (0u32..).zip(self.names.values.iter().zip(&self.shown));
            for (index, (_, &shown)) in names.filter(|(_, (name, _))| (name.domain == NONE) == is_bare) {
                match shown {
                    NONE => nothing = nothing.min(index),
                    shown => _ = first.entry(shown).or_insert(index),
                }
            }
        }
        let first = |shown: &u32| first.get(shown).copied().unwrap_or(nothing);
        self.printed = self.shown.iter().map(first).collect();
    }

    /// Folds every name. `None`: it was stopped.
    pub(super) fn fold(&self, rules: &NameRules, keep_names: bool, stop: Stop<'_>) -> Option<Layers> {
        let mut pace = Pace::new(stop);
        let mut folded = Layers::default();
        let mut places: HashMap<String, u32> = HashMap::new();
        for name in 0..self.names.values.len() as u32 {
            if pace.is_over_after(FOLD) {
                return None;
            }
            let layer = match self.printed(name) {
                None => Cow::Borrowed(UNNAMED),
                Some(name) if keep_names => name,
                Some(name) => rules.fold(name),
            };
            let place = match places.get(&*layer) {
                Some(&place) => place,
                None => {
                    let fresh = folded.layers.len() as u32;
                    folded.layers.push(layer.clone().into_owned());
                    places.insert(layer.into_owned(), fresh);
                    fresh
                }
            };
            folded.of_name.push(place);
        }
        Some(folded)
    }
}

/// Rules that are compiled when a name is first held against them: most questions never do.
#[derive(Debug)]
pub(in crate::execute::native) struct LazyRules {
    files: [Vec<Rules>; 2],
    compiled: OnceLock<Result<NameRules, String>>,
}

impl LazyRules {
    pub(in crate::execute::native) fn new(files: [Vec<Rules>; 2]) -> Self {
        Self { files, compiled: OnceLock::new() }
    }

    /// The rules; none where they cannot be used, see [`LazyRules::failure`].
    pub(super) fn get(&self) -> &NameRules {
        static NO_RULES: NameRules = NameRules { folds: Vec::new(), phases: Vec::new() };
        let compile = || NameRules::compile(&self.files).map_err(|error| error.to_string());
        self.compiled.get_or_init(compile).as_ref().unwrap_or(&NO_RULES)
    }

    /// Why the rules cannot be used, once that is known.
    pub(super) fn failure(&self) -> Option<&str> {
        self.compiled.get().and_then(|compiled| compiled.as_ref().err()).map(String::as_str)
    }
}

/// The rules, compiled.
#[derive(Debug, Default)]
pub(in crate::execute::native) struct NameRules {
    folds: Vec<(Regex, String)>,
    phases: Vec<(Regex, String)>,
}

impl NameRules {
    /// Compiles the rules.
    pub(in crate::execute::native) fn compile([layers, phases]: &[Vec<Rules>; 2]) -> Result<Self> {
        let mut compiled = Self::default();
        for (rules, is_fold) in [(layers, true), (phases, false)] {
            for file in rules {
                for rule in &file.rules {
                    let pattern = RegexBuilder::new(&rule.pattern).size_limit(RULE_LIMIT).build();
                    let pattern =
                        pattern.map_err(|e| malformed(&file.file, &rule.pattern, &e.to_string()))?;
                    let (into, what, to) = if is_fold {
                        (&mut compiled.folds, "replace", &rule.replace)
                    } else {
                        (&mut compiled.phases, "phase", &rule.phase)
                    };
                    let Some(to) = to else {
                        return Err(malformed(&file.file, &rule.pattern, &format!("has no `{what}`")));
                    };
                    into.push((pattern, to.clone()));
                }
            }
        }
        Ok(compiled)
    }

    fn fold<'n>(&self, name: Cow<'n, str>) -> Cow<'n, str> {
        let mut folded = name;
        for (pattern, to) in &self.folds {
            if let Cow::Owned(changed) = pattern.replace_all(&folded, to.as_str()) {
                folded = Cow::Owned(changed);
            }
        }
        folded
    }

    /// The phase that a name means, and the pattern of the rule that says so.
    pub(super) fn phase(&self, name: &str) -> Option<(&str, &str)> {
        let (pattern, phase) = self.phases.iter().find(|(pattern, _)| pattern.is_match(name))?;
        (phase != NO_PHASE).then_some((phase, pattern.as_str()))
    }
}

fn malformed(file: &str, rule: &str, reason: &str) -> Error {
    let reason = reason.lines().last().unwrap_or(reason);
    Error::catalog(
        file,
        1,
        format!("rule `{rule}`: {reason}"),
        "each rule has `match`, a regular expression, and what it means",
    )
}
