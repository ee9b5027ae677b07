//! The distinct names of ranges, and the rules that fold them and give them phases.

use crate::execute::native::ids::Numbered;
use crate::execute::native::texts::Texts;
use foldhash::{HashMap, HashMapExt};
use nsq_library::catalog::{Rule, Rules, Setting};
use nsq_sweep::projection::{NONE, Stop, StopCheck};
use nsq_value::error::{Error, Result};
use regex::bytes::{RegexSet, RegexSetBuilder};
use regex::{Regex, RegexBuilder};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

/// Shown in paths for a range without a message.
const UNNAMED: &str = "(unnamed)";
/// The phase in a rule for names that look like a phase but are not, such as feed-forward.
const NO_PHASE: &str = "none";
/// The most memory in bytes that a compiled rule may take.
const RULE_LIMIT: usize = 1 << 20;

/// The name of a range: a domain and a message, as places in the texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Name {
    /// The domain's name; [`NONE`] for the default domain and domains without a name.
    pub(super) domain: u32,
    /// The domain was created without a name. The printed name is then empty, as in NVIDIA's reports.
    pub(super) is_domain_nameless: bool,
    /// The message; [`NONE`] if it is empty.
    pub(super) text: u32,
}

/// All names of ranges.
#[derive(Debug, Default)]
pub(super) struct Names {
    texts: Texts,
    /// The names that `Range::name` refers to.
    names: Numbered<Name>,
    /// For each name: its printed text; [`NONE`] if it is empty.
    shown: Vec<u32>,
    /// For each name: the representative of all names with the same printed text.
    pub(super) printed: Vec<u32>,
    /// With numbers folded, and as they are; each computed on first use.
    folded: [OnceLock<Arc<Layers>>; 2],
}

/// The folded names of ranges.
#[derive(Debug, Default)]
pub(super) struct Layers {
    /// Distinct folded names.
    pub(super) layers: Vec<String>,
    /// For each name: its place in `layers`.
    pub(super) of_name: Vec<u32>,
}

impl Layers {
    /// The folded form of a name.
    pub(super) fn of(&self, name: usize) -> Option<&str> {
        self.layers.get(*self.of_name.get(name)? as usize).map(String::as_str)
    }
}

/// The cost of folding a name, in turns of a simple loop.
const FOLD_COST: usize = 64;

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

    /// The printed name, `domain:message`; `None` if the message is empty. Available after
    /// [`Names::finish`].
    pub(super) fn printed(&self, name: u32) -> Option<Cow<'_, str>> {
        self.shown.get(name as usize).and_then(|&text| self.texts.text(text))
    }

    /// Computes the printed names, and which names have the same. Call it after the last name was added.
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
        // Among names with the same text, one without a domain becomes the representative.
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
        self.names.forget_places();
        let first = |shown: &u32| first.get(shown).copied().unwrap_or(nothing);
        self.printed = self.shown.iter().map(first).collect();
    }

    /// The folded names, computed once. `None` if that was stopped.
    pub(super) fn layers(
        &self,
        rules: &NameRules,
        keep_names: bool,
        stop: Stop<'_>,
    ) -> Option<Arc<Layers>> {
        let folded = &self.folded[usize::from(keep_names)];
        if let Some(layers) = folded.get() {
            return Some(Arc::clone(layers));
        }
        let layers = self.fold(rules, keep_names, stop)?;
        Some(Arc::clone(folded.get_or_init(|| Arc::new(layers))))
    }

    /// Folds every name. `None` if it was stopped.
    fn fold(&self, rules: &NameRules, keep_names: bool, stop: Stop<'_>) -> Option<Layers> {
        let mut check = StopCheck::new(stop);
        let mut folded = Layers::default();
        let mut places: HashMap<String, u32> = HashMap::new();
        let mut known = HashMap::new();
        for name in 0..self.names.values.len() as u32 {
            if check.must_stop_after(FOLD_COST) {
                return None;
            }
            let layer = match self.printed(name) {
                None => Cow::Borrowed(UNNAMED),
                Some(name) if keep_names => name,
                Some(name) => rules.fold(name, &mut known),
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

/// Rules about one subject, compiled on first use. Few queries need any.
#[derive(Debug)]
struct Compiled<T> {
    files: Vec<Rules>,
    rules: OnceLock<Result<T, String>>,
}

impl<T> Default for Compiled<T> {
    fn default() -> Self {
        Self { files: Vec::new(), rules: OnceLock::new() }
    }
}

impl<T> Compiled<T> {
    fn new(files: Vec<Rules>) -> Self {
        Self { files, ..Self::default() }
    }

    /// The compiled rules; none if one does not compile, see [`NameRules::failure`].
    fn get(&self, compile: impl Fn(&[Rules]) -> Result<T>) -> Option<&T> {
        let compile = || compile(&self.files).map_err(|error| error.to_string());
        self.rules.get_or_init(compile).as_ref().ok()
    }

    fn failure(&self) -> Option<&str> {
        self.rules.get().and_then(|rules| rules.as_ref().err()).map(String::as_str)
    }
}

/// Compiled rules, and what each gives.
type Each<T> = Vec<(Regex, T)>;

/// The rules about phases, compiled together.
#[derive(Debug)]
struct Phases {
    patterns: RegexSet,
    phases: Vec<String>,
}

/// The rules that fold names, give them phases and give them work.
#[derive(Debug, Default)]
pub(in crate::execute::native) struct NameRules {
    folds: Compiled<Each<String>>,
    phases: Compiled<Phases>,
    works: Compiled<Each<BTreeMap<String, Setting>>>,
}

impl NameRules {
    pub(in crate::execute::native) fn new([layers, phases, works]: [Vec<Rules>; 3]) -> Self {
        let (folds, phases) = (Compiled::new(layers), Compiled::new(phases));
        Self { folds, phases, works: Compiled::new(works) }
    }

    /// Whether these are the rules of these files.
    pub(super) fn are_of(&self, [layers, phases, works]: &[Vec<Rules>; 3]) -> bool {
        self.folds.files == *layers && self.phases.files == *phases && self.works.files == *works
    }

    /// Compiles all rules. The error says which does not.
    pub(in crate::execute::native) fn check(&self) -> Result<()> {
        folds(&self.folds.files)?;
        Phases::compile(&self.phases.files)?;
        works(&self.works.files).map(|_| ())
    }

    /// Why rules that were needed did not compile.
    pub(super) fn failure(&self) -> Option<&str> {
        self.folds.failure().or(self.phases.failure()).or(self.works.failure())
    }

    /// Folds a name. `known`: what the other rules make of a name that the first one has changed. That one takes the numbers
    /// away by which names of one operator differ.
    fn fold<'n>(&self, name: Cow<'n, str>, known: &mut HashMap<String, String>) -> Cow<'n, str> {
        let fold = |rules: &[(Regex, String)], name: &str| {
            let mut folded = None;
            for (pattern, to) in rules {
                let name = folded.as_deref().unwrap_or(name);
                if let Cow::Owned(changed) = pattern.replace_all(name, to.as_str()) {
                    folded = Some(changed);
                }
            }
            folded
        };
        let rules = self.folds.get(folds).map_or(&[][..], Vec::as_slice);
        let (first, others) = rules.split_at(rules.len().min(1));
        let Some(begun) = fold(first, &name) else {
            return fold(others, &name).map_or(name, Cow::Owned);
        };
        if let Some(folded) = known.get(&begun) {
            return Cow::Owned(folded.clone());
        }
        let folded = fold(others, &begun).unwrap_or_else(|| begun.clone());
        known.insert(begun, folded.clone());
        Cow::Owned(folded)
    }

    /// The phase of a name, and the pattern of the rule that decided it.
    pub(super) fn phase(&self, name: &str) -> Option<(&str, &str)> {
        let rules = self.phases.get(Phases::compile)?;
        let first = rules.patterns.matches(name.as_bytes()).iter().next()?;
        let rule = self.phases.files.iter().flat_map(|file| &file.rules).nth(first)?;
        let phase = rules.phases[first].as_str();
        (phase != NO_PHASE).then_some((phase, rule.pattern.as_str()))
    }

    /// The work of a name, as a JSON object.
    pub(super) fn work(&self, name: &str) -> Option<String> {
        let works = self.works.get(works)?;
        let (groups, work) =
            works.iter().find_map(|(pattern, work)| Some((pattern.captures(name)?, work)))?;
        let expand = |setting: &Setting| match setting {
            Setting::Text(text) => {
                let mut expanded = String::new();
                groups.expand(text, &mut expanded);
                Setting::Text(expanded)
            }
            other => other.clone(),
        };
        let work: BTreeMap<_, _> = work.iter().map(|(key, setting)| (key, expand(setting))).collect();
        serde_json::to_string(&work).ok()
    }
}

fn folds(files: &[Rules]) -> Result<Each<String>> {
    compile(files, "replace", |rule| rule.replace.clone())
}

fn works(files: &[Rules]) -> Result<Each<BTreeMap<String, Setting>>> {
    compile(files, "work", |rule| rule.work.clone())
}

impl Phases {
    fn compile(files: &[Rules]) -> Result<Self> {
        let rules = || files.iter().flat_map(|file| &file.rules);
        let phases: Option<Vec<String>> = rules().map(|rule| rule.phase.clone()).collect();
        let build = |in_ascii: bool| {
            let pattern = |rule: &Rule| match in_ascii && rule.pattern.is_ascii() {
                true => format!("(?-u){}", rule.pattern),
                false => rule.pattern.clone(),
            };
            let limit = rules().count().max(1) * RULE_LIMIT;
            RegexSetBuilder::new(rules().map(pattern)).size_limit(limit).build()
        };
        // The many ranges of Unicode's classes take most of the time to compile them: only where a rule names a character
        // beyond ASCII by its number.
        let patterns = build(true).or_else(|_| build(false));
        match (patterns, phases) {
            (Ok(patterns), Some(phases)) => Ok(Self { patterns, phases }),
            // One by one: which one it is.
            (patterns, _) => {
                compile(files, "phase", |rule| rule.phase.clone())?;
                let reason = patterns.err().map(|error| error.to_string()).unwrap_or_default();
                let file = files.first().map_or("phases", |file| &file.file);
                Err(malformed(file, "all together", &reason))
            }
        }
    }
}

/// Compiles the rules of all files about one subject. `what` is the field with their result.
fn compile<T>(files: &[Rules], what: &str, result: impl Fn(&Rule) -> Option<T>) -> Result<Each<T>> {
    let rules = files.iter().flat_map(|file| file.rules.iter().map(move |rule| (file, rule)));
    rules
        .map(|(file, rule)| {
            let broken = |reason: &str| malformed(&file.file, &rule.pattern, reason);
            let pattern = RegexBuilder::new(&rule.pattern).size_limit(RULE_LIMIT).build();
            let pattern = pattern.map_err(|e| broken(&e.to_string()))?;
            Ok((pattern, result(rule).ok_or_else(|| broken(&format!("has no `{what}`")))?))
        })
        .collect()
}

fn malformed(file: &str, rule: &str, reason: &str) -> Error {
    let reason = reason.lines().last().unwrap_or(reason);
    Error::catalog(
        file,
        1,
        format!("rule `{rule}`: {reason}"),
        "each rule needs `match`, a regular expression, and `replace` (layers), `phase` (phases) or `work` (work)",
    )
}
