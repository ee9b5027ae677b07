//! Which ranges of a report a playbook's pattern means.

use crate::catalog::{NamePattern, Pattern, PatternUse, Playbook};
use crate::error::{Error, Result, nearest};
use crate::glob::Glob;
use crate::normalize::RangePattern;
use regex::Regex;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Names that a message lists.
const LISTED: usize = 6;

/// A name of ranges in a report.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RangeName {
    /// As it is printed: behind its domain and a colon outside the default domain.
    pub name: String,
    /// The message alone.
    pub text: String,
    /// The name with numbers folded.
    pub layer: String,
    /// Ranges of this name.
    pub count: i64,
    /// Their length on the CPU, together.
    pub cpu_ns: i64,
    /// Fewest ranges above one of them.
    pub depth: i64,
}

/// What a pattern means in a report.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Found {
    /// Globs that mean just these ranges, for `--nvtx` and for parameters of queries.
    pub globs: Vec<String>,
    /// Folded names and how many ranges each has, most first.
    pub layers: Vec<(String, i64)>,
}

impl Found {
    /// How many ranges there are.
    pub fn count(&self) -> i64 {
        self.layers.iter().map(|(_, count)| count).sum()
    }

    fn join(&mut self, other: Self) {
        for glob in other.globs {
            if !self.globs.contains(&glob) {
                self.globs.push(glob);
            }
        }
        self.layers.extend(other.layers);
    }
}

/// Why a pattern means nothing in a report.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Missing {
    /// The pattern.
    pub pattern: String,
    /// What ranges of it are.
    pub doc: String,
    /// What was looked for.
    pub tried: Vec<String>,
    /// Names that are spelled alike, nearest first.
    pub near: Vec<String>,
    /// Other names of the report, outermost and longest first, and how many ranges each has.
    pub present: Vec<(String, i64)>,
    /// There are more.
    pub more: usize,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let quoted = |name: &String| format!("`{}`", name.replace('`', "'"));
        let list = |names: &[String]| names.iter().map(quoted).collect::<Vec<_>>().join(", ");
        write!(f, "no NVTX range is a {} (looked for {}). ", self.doc, list(&self.tried))?;
        let counted: Vec<String> =
            self.present.iter().map(|(name, count)| format!("{} ({count})", quoted(name))).collect();
        match (self.near.as_slice(), counted.as_slice()) {
            ([], []) => write!(f, "The report has no NVTX ranges")?,
            ([], _) => write!(f, "None is spelled alike; those that are there: {}", counted.join(", "))?,
            (near, []) => write!(f, "Nearest: {}", list(near))?,
            (near, _) => write!(f, "Nearest: {}; also there: {}", list(near), counted.join(", "))?,
        }
        if self.more > 0 {
            write!(f, " and {} more", self.more)?;
        }
        write!(f, ". If one of them is it, say so: -p {}='NAME'", self.pattern)
    }
}

/// The ranges of a report, as a playbook sees them.
#[derive(Debug, Clone, Default)]
pub struct Ranges {
    names: Vec<RangeName>,
}

impl Ranges {
    /// From the names of a report; those without a name mean nothing.
    pub fn new(names: Vec<RangeName>) -> Self {
        Self { names: names.into_iter().filter(|name| !name.name.is_empty()).collect() }
    }

    /// What the pattern `name` means. `given` is what the user says that patterns are called.
    pub fn find(
        &self,
        playbook: &Playbook,
        given: &BTreeMap<String, Vec<String>>,
        name: &str,
    ) -> Result<std::result::Result<Found, Missing>> {
        self.look(playbook, given, name, &mut Vec::new())
    }

    fn look(
        &self,
        playbook: &Playbook,
        given: &BTreeMap<String, Vec<String>>,
        name: &str,
        above: &mut Vec<String>,
    ) -> Result<std::result::Result<Found, Missing>> {
        let Some(pattern) = playbook.pattern(name) else {
            let names = playbook.patterns.iter().map(|pattern| pattern.name.as_str());
            let help = format!("`nsq show {}` lists its patterns.", playbook.name);
            return Err(Error::unknown("pattern", name, names, help));
        };
        if above.iter().any(|open| open == name) {
            return Err(Error::catalog(
                &playbook.file,
                1,
                format!("patterns need each other in a circle: {} → {name}", above.join(" → ")),
                "a pattern may only need patterns that do not need it",
            ));
        }
        if let Some(spellings) = given.get(name) {
            let mut all = Found::default();
            for spelling in spellings {
                let pattern = spelled(spelling);
                let found = self.matching(&pattern)?;
                if found.is_empty() {
                    return Ok(Err(self.missing(playbook, name, vec![pattern.spelled()])));
                }
                all.join(self.found(&pattern, &found)?);
            }
            return Ok(Ok(all));
        }
        above.push(name.to_owned());
        let answer = self.look_up(playbook, given, pattern, above);
        above.pop();
        answer
    }

    fn look_up(
        &self,
        playbook: &Playbook,
        given: &BTreeMap<String, Vec<String>>,
        pattern: &Pattern,
        above: &mut Vec<String>,
    ) -> Result<std::result::Result<Found, Missing>> {
        for alternative in &pattern.any {
            let found = self.matching(&alternative.name)?;
            if found.is_empty() {
                continue;
            }
            let mut is_complete = true;
            for with in &alternative.with {
                is_complete &= self.look(playbook, given, with, above)?.is_ok();
            }
            if is_complete {
                return Ok(Ok(self.found(&alternative.name, &found)?));
            }
        }
        let spelled = || pattern.any.iter().map(|alternative| alternative.name.spelled()).collect();
        let mut tried = if pattern.like.is_empty() { spelled() } else { pattern.like.clone() };
        if pattern.all.is_empty() {
            return Ok(Err(self.missing(playbook, &pattern.name, tried)));
        }
        let mut all = Found::default();
        for text in &pattern.all {
            let part = PatternUse::named(text);
            match self.look(playbook, given, part.name, above)? {
                Ok(found) => all.join(found),
                Err(_) if part.is_optional => {}
                Err(_) => {
                    let needed = pattern.all.iter().filter(|name| !name.ends_with('?'));
                    let needed: Vec<&str> = needed.map(String::as_str).collect();
                    let together = needed.join(" + ");
                    tried.push(format!("{together} together, of which {} is missing", part.name));
                    return Ok(Err(self.missing(playbook, &pattern.name, tried)));
                }
            }
        }
        Ok(Ok(all))
    }

    /// Places of the names that fit.
    fn matching(&self, pattern: &NamePattern) -> Result<Vec<usize>> {
        let places = 0..self.names.len();
        match pattern {
            NamePattern::Match(regex) => {
                let regex = Regex::new(regex).map_err(|e| {
                    let text = e.to_string();
                    let reason = text.lines().last().unwrap_or_default().to_owned();
                    Error::usage(
                        format!("`{regex}` is no regular expression: {reason}"),
                        "it is one of Rust's crate `regex`; without the slashes it would be a glob",
                    )
                })?;
                // As `--nvtx` does: the name as it is printed, with its domain, or its text alone.
                let fits = |&place: &usize| {
                    let name = &self.names[place];
                    regex.is_match(&name.name) || regex.is_match(&name.text)
                };
                Ok(places.filter(fits).collect())
            }
            NamePattern::Glob(glob) => {
                let pattern = RangePattern::new(glob)?;
                let fits = |&place: &usize| {
                    let name = &self.names[place];
                    pattern.fits(Some(&name.name), Some(&name.text))
                };
                let exact: Vec<usize> = places.clone().filter(fits).collect();
                if !exact.is_empty() {
                    return Ok(exact);
                }
                let fits = |&place: &usize| pattern.fits_unnumbered(Some(&self.names[place].text));
                Ok(places.filter(fits).collect())
            }
        }
    }

    fn found(&self, pattern: &NamePattern, places: &[usize]) -> Result<Found> {
        let mut layers = BTreeMap::<&str, i64>::new();
        for &place in places {
            *layers.entry(self.names[place].layer.as_str()).or_default() += self.names[place].count;
        }
        let globs = self.globs(pattern, places, layers.keys().copied())?;
        let mut layers: Vec<(String, i64)> =
            layers.into_iter().map(|(layer, count)| (layer.to_owned(), count)).collect();
        layers.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        Ok(Found { globs, layers })
    }

    /// The shortest way to say just these names as globs.
    fn globs<'n>(
        &self,
        pattern: &NamePattern,
        places: &[usize],
        layers: impl Iterator<Item = &'n str>,
    ) -> Result<Vec<String>> {
        let wanted: BTreeSet<usize> = places.iter().copied().collect();
        let written = match pattern {
            NamePattern::Glob(glob) => vec![glob.strip_prefix(':').unwrap_or(glob).to_owned()],
            NamePattern::Match(_) => Vec::new(),
        };
        let folded: Vec<String> =
            layers.map(|layer| layer.replace('[', "[[]").replace('?', "[?]")).collect();
        for globs in [written, folded] {
            if !globs.is_empty() && self.meant(&globs)? == Some(&wanted).cloned() {
                return Ok(globs);
            }
        }
        let exactly = |&place: &usize| {
            self.names[place].name.replace('[', "[[]").replace('?', "[?]").replace('*', "[*]")
        };
        Ok(places.iter().map(exactly).collect())
    }

    /// The names that the globs mean to `--nvtx` and to queries alike; `None` where those differ.
    fn meant(&self, globs: &[String]) -> Result<Option<BTreeSet<usize>>> {
        let (mut by_option, mut by_query) = (BTreeSet::new(), BTreeSet::new());
        for text in globs {
            let (pattern, glob) = (RangePattern::new(text)?, Glob::new(text)?);
            for (place, name) in self.names.iter().enumerate() {
                if pattern.fits(Some(&name.name), Some(&name.text)) {
                    by_option.insert(place);
                }
                if [&name.name, &name.text, &name.layer].into_iter().any(|name| glob.matches(name)) {
                    by_query.insert(place);
                }
            }
        }
        Ok((by_option == by_query).then_some(by_option))
    }

    fn missing(&self, playbook: &Playbook, name: &str, tried: Vec<String>) -> Missing {
        let mut layers = BTreeMap::<&str, (i64, i64, i64)>::new();
        for name in &self.names {
            let layer = layers.entry(name.layer.as_str()).or_insert((i64::MAX, 0, 0));
            *layer = (layer.0.min(name.depth), layer.1 + name.cpu_ns, layer.2 + name.count);
        }
        // What another pattern means is not what is looked for, however near its name is.
        let claimed = self.claimed(playbook, name);
        // Alternatives as words: a near name differs from one of them by a few letters.
        let words = tried.iter().map(|text| text.replace(['*', '?', '[', ']'], ""));
        let mut near: Vec<String> = Vec::new();
        for word in std::iter::once(name.to_owned()).chain(words) {
            for found in nearest(&word, layers.keys().copied().filter(|layer| !claimed.contains(layer)))
            {
                if !near.contains(&found) && near.len() < LISTED {
                    near.push(found);
                }
            }
        }
        let mut present: Vec<(&str, (i64, i64, i64))> =
            layers.into_iter().filter(|(layer, _)| !near.iter().any(|near| near == layer)).collect();
        // What a profiler's own tools named stands behind what people named.
        let is_generated = |layer: &str| layer.contains("::") || layer.contains(" = ");
        present.sort_by_key(|(layer, (depth, cpu_ns, _))| {
            (claimed.contains(layer), is_generated(layer), *depth, -cpu_ns, *layer)
        });
        let more = present.len().saturating_sub(LISTED);
        Missing {
            pattern: name.to_owned(),
            doc: playbook.pattern(name).map_or_else(|| name.to_owned(), |pattern| pattern.doc.clone()),
            tried,
            near,
            present: present
                .into_iter()
                .take(LISTED)
                .map(|(layer, (_, _, count))| (layer.to_owned(), count))
                .collect(),
            more,
        }
    }
}

impl Ranges {
    /// Folded names that patterns other than `name` mean.
    fn claimed(&self, playbook: &Playbook, name: &str) -> BTreeSet<&str> {
        let others = playbook.patterns.iter().filter(|pattern| pattern.name != name);
        let alternatives = others.flat_map(|pattern| &pattern.any);
        let places = alternatives.filter_map(|alternative| self.matching(&alternative.name).ok());
        places.flatten().map(|place| self.names[place].layer.as_str()).collect()
    }
}

/// `/…/` is a regular expression, anything else a glob.
fn spelled(text: &str) -> NamePattern {
    match text.strip_prefix('/').and_then(|rest| rest.strip_suffix('/')) {
        Some(regex) if !regex.is_empty() => NamePattern::Match(regex.to_owned()),
        _ => NamePattern::Glob(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn playbook() -> Playbook {
        let yaml = "\
- {name: forward, doc: forward pass, any: ['forward_step_*', {match: '(?i)^(forward|fwd)( pass)?[ _]?\\d*$'}]}
- {name: backward, doc: backward pass, any: [backward]}
- {name: step, doc: step, any: [{glob: 'step_*', with: [backward]}], all: [forward, 'backward?']}
- {name: loop, doc: circle, all: [loop]}
";
        let patterns: Vec<Pattern> = serde_yaml::from_str(yaml).unwrap();
        let text = "name: p\nversion: 1\ntitle: T\ndoc: D.\npatterns: []\nparts: []\n";
        Playbook { patterns, ..serde_yaml::from_str(text).unwrap() }
    }

    fn ranges(names: &[(&str, &str, i64)]) -> Ranges {
        let of = |&(name, layer, count): &(&str, &str, i64)| RangeName {
            name: name.to_owned(),
            text: name.rsplit(':').next().unwrap().to_owned(),
            layer: layer.to_owned(),
            count,
            cpu_ns: count,
            depth: 0,
        };
        Ranges::new(names.iter().map(of).collect())
    }

    fn find(ranges: &Ranges, name: &str) -> std::result::Result<Found, Box<Missing>> {
        ranges.find(&playbook(), &BTreeMap::new(), name).unwrap().map_err(Box::new)
    }

    #[test]
    fn the_first_alternative_that_fits_decides() {
        let both = ranges(&[
            ("forward_step_0", "forward_step_*", 1),
            ("forward_step_1", "forward_step_*", 1),
            ("forward", "forward", 7),
        ]);
        let found = find(&both, "forward").unwrap();
        assert_eq!(found.globs, ["forward_step_*"]);
        assert_eq!(
            (found.layers.as_slice(), found.count()),
            (&[("forward_step_*".to_owned(), 2)][..], 2)
        );
    }

    #[test]
    fn what_a_regular_expression_finds_is_said_as_globs() {
        let folded =
            ranges(&[("Forward Pass 1", "Forward Pass *", 1), ("Forward Pass 2", "Forward Pass *", 1)]);
        assert_eq!(find(&folded, "forward").unwrap().globs, ["Forward Pass *"]);
        // The fold would take in one that the expression leaves out.
        let mixed = ranges(&[("fwd 1", "fwd *", 1), ("fwd [a]", "fwd *", 1)]);
        assert_eq!(find(&mixed, "forward").unwrap().globs, ["fwd 1"]);
        let given = BTreeMap::from([("forward".to_owned(), vec!["/\\[a\\]/".to_owned()])]);
        assert_eq!(mixed.find(&playbook(), &given, "forward").unwrap().unwrap().globs, ["fwd [[]a]"]);
    }

    #[test]
    fn patterns_may_need_others_or_be_made_of_them() {
        let only_steps = ranges(&[("step_0", "step_*", 1)]);
        let missing = find(&only_steps, "step").unwrap_err();
        assert!(
            missing.to_string().contains("forward together, of which forward is missing"),
            "{missing}"
        );
        let all = ranges(&[("step_0", "step_*", 1), ("backward", "backward", 1)]);
        assert_eq!(find(&all, "step").unwrap().globs, ["step_*"]);
        let apart = ranges(&[("forward", "forward", 2), ("backward", "backward", 2)]);
        assert_eq!(find(&apart, "step").unwrap().globs, ["forward", "backward"]);
        let circle = apart.find(&playbook(), &BTreeMap::new(), "loop").unwrap_err();
        assert!(circle.to_string().contains("circle"));
    }

    #[test]
    fn what_is_missing_is_told_with_what_is_there() {
        let others =
            ranges(&[("forwrd", "forwrd", 3), ("aten::mm", "aten::mm", 90), ("loop", "loop", 1)]);
        let text = find(&others, "forward").unwrap_err().to_string();
        assert!(text.contains("Nearest: `forwrd`; also there: `loop` (1), `aten::mm` (90)"), "{text}");
        assert!(text.ends_with("-p forward='NAME'"), "{text}");
        let none = find(&ranges(&[]), "forward").unwrap_err().to_string();
        assert!(none.contains("The report has no NVTX ranges"), "{none}");
    }
}
