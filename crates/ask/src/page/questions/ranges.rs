//! Finds the ranges of a report that match a page's pattern.

use super::pattern_matches::{Found, Missing, RangeName};
use nsq_engine::normalize::RangePattern;
use nsq_library::catalog::{NamePattern, Page, Pattern, PatternUse};
use nsq_value::error::{Error, Result, nearest};
use nsq_value::glob::Glob;
use regex::Regex;
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of names that a message lists.
const LISTED: usize = 6;

/// The names of all ranges in a report.
#[derive(Debug, Clone, Default)]
pub(super) struct Ranges {
    names: Vec<RangeName>,
}

impl Ranges {
    /// Takes the names of a report's ranges, without empty names.
    pub(super) fn new(names: impl Iterator<Item = RangeName>) -> Self {
        Self { names: names.filter(|name| !name.name.is_empty()).collect() }
    }

    /// Finds the ranges that match the pattern `name`. `given` has the user's names for patterns, which
    /// take precedence.
    pub(super) fn find(
        &self,
        page: &Page,
        given: &BTreeMap<String, Vec<String>>,
        name: &str,
    ) -> Result<std::result::Result<Found, Missing>> {
        self.find_within(page, given, name, &mut Vec::new())
    }

    /// As [`Ranges::find`]. `above` has the patterns being looked up, to detect cycles.
    fn find_within(
        &self,
        page: &Page,
        given: &BTreeMap<String, Vec<String>>,
        name: &str,
        above: &mut Vec<String>,
    ) -> Result<std::result::Result<Found, Missing>> {
        let Some(pattern) = page.pattern(name) else {
            let names = page.patterns.iter().map(|pattern| pattern.name.as_str());
            let help = format!("`nsq show {}` lists its patterns.", page.name);
            return Err(Error::unknown("pattern", name, names, help));
        };
        if above.iter().any(|open| open == name) {
            return Err(Error::catalog(
                &page.file,
                1,
                format!("patterns need each other in a cycle: {} → {name}", above.join(" → ")),
                "remove one of these from `with` or `all`",
            ));
        }
        if let Some(spellings) = given.get(name) {
            let mut all = Found::default();
            for spelling in spellings {
                let pattern = parse_name_pattern(spelling);
                let found = self.matching(&pattern)?;
                if found.is_empty() {
                    return Ok(Err(self.missing(page, name, vec![pattern.spelled()])));
                }
                all.join(self.found(&pattern, &found)?);
            }
            return Ok(Ok(all));
        }
        above.push(name.to_owned());
        let answer = self.find_by_alternatives(page, given, pattern, above);
        above.pop();
        answer
    }

    fn find_by_alternatives(
        &self,
        page: &Page,
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
                is_complete &= self.find_within(page, given, with, above)?.is_ok();
            }
            if is_complete {
                return Ok(Ok(self.found(&alternative.name, &found)?));
            }
        }
        let alternatives = || pattern.any.iter().map(|alternative| alternative.name.spelled()).collect();
        let mut tried = if pattern.like.is_empty() { alternatives() } else { pattern.like.clone() };
        if pattern.all.is_empty() {
            return Ok(Err(self.missing(page, &pattern.name, tried)));
        }
        let mut all = Found::default();
        for text in &pattern.all {
            let part = PatternUse::named(text);
            match self.find_within(page, given, part.name, above)? {
                Ok(found) => all.join(found),
                Err(_) if part.is_optional => {}
                Err(_) => {
                    let needed = pattern.all.iter().filter(|name| !name.ends_with('?'));
                    let needed: Vec<&str> = needed.map(String::as_str).collect();
                    let together = needed.join(" + ");
                    tried.push(format!("{together} ({} is missing)", part.name));
                    return Ok(Err(self.missing(page, &pattern.name, tried)));
                }
            }
        }
        Ok(Ok(all))
    }

    /// Indices of the names that match. A glob that matches no name is tried again without trailing
    /// numbers.
    fn matching(&self, pattern: &NamePattern) -> Result<Vec<usize>> {
        let places = 0..self.names.len();
        match pattern {
            NamePattern::Match(regex) => {
                let regex = Regex::new(regex).map_err(|e| {
                    let text = e.to_string();
                    let reason = text.lines().last().unwrap_or_default().to_owned();
                    Error::usage(
                        format!("invalid regular expression '{regex}': {reason}"),
                        "see the syntax of Rust's crate `regex`; without the slashes, the text is a glob",
                    )
                })?;
                // As in `--nvtx`, match the printed name with its domain, or the text alone.
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

    /// The result for the names at `places`.
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

    /// The shortest list of globs that match exactly the names at `places`.
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
            if !globs.is_empty() && self.matched_by(&globs)? == Some(&wanted).cloned() {
                return Ok(globs);
            }
        }
        let exactly = |&place: &usize| {
            self.names[place].name.replace('[', "[[]").replace('?', "[?]").replace('*', "[*]")
        };
        Ok(places.iter().map(exactly).collect())
    }

    /// The names that the globs match, or `None` if `--nvtx` and queries would match different names.
    fn matched_by(&self, globs: &[String]) -> Result<Option<BTreeSet<usize>>> {
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

    fn missing(&self, page: &Page, name: &str, tried: Vec<String>) -> Missing {
        let mut layers = BTreeMap::<&str, (i64, i64, i64)>::new();
        for name in &self.names {
            let layer = layers.entry(name.layer.as_str()).or_insert((i64::MAX, 0, 0));
            *layer = (layer.0.min(name.depth), layer.1 + name.cpu_ns, layer.2 + name.count);
        }
        // Do not suggest names that match another pattern, even if they are similar.
        let claimed = self.claimed(page, name);
        // Strip wildcards: a similar name differs from an alternative by a few letters.
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
        // List names that tools generated after names that people chose.
        let is_generated = |layer: &str| layer.contains("::") || layer.contains(" = ");
        present.sort_by_key(|(layer, (depth, cpu_ns, _))| {
            (claimed.contains(layer), is_generated(layer), *depth, -cpu_ns, *layer)
        });
        let more = present.len().saturating_sub(LISTED);
        Missing {
            pattern: name.to_owned(),
            doc: page.pattern(name).map_or_else(|| name.to_owned(), |pattern| pattern.doc.clone()),
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
    /// Folded names that match patterns other than `name`.
    fn claimed(&self, page: &Page, name: &str) -> BTreeSet<&str> {
        let others = page.patterns.iter().filter(|pattern| pattern.name != name);
        let alternatives = others.flat_map(|pattern| &pattern.any);
        let places = alternatives.filter_map(|alternative| self.matching(&alternative.name).ok());
        places.flatten().map(|place| self.names[place].layer.as_str()).collect()
    }
}

/// Parses a user's pattern: `/…/` is a regular expression, and anything else is a glob.
fn parse_name_pattern(text: &str) -> NamePattern {
    match text.strip_prefix('/').and_then(|rest| rest.strip_suffix('/')) {
        Some(regex) if !regex.is_empty() => NamePattern::Match(regex.to_owned()),
        _ => NamePattern::Glob(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page() -> Page {
        let yaml = "\
- {name: forward, doc: forward pass, any: ['forward_step_*', {match: '(?i)^(forward|fwd)( pass)?[ _]?\\d*$'}]}
- {name: backward, doc: backward pass, any: [backward]}
- {name: step, doc: step, any: [{glob: 'step_*', with: [backward]}], all: [forward, 'backward?']}
- {name: loop, doc: cycle, all: [loop]}
";
        let patterns: Vec<Pattern> = serde_yaml::from_str(yaml).unwrap();
        let text = "name: p\nversion: 1\ntitle: T\ndoc: D.\npatterns: []\nparts: []\n";
        Page { patterns, ..serde_yaml::from_str(text).unwrap() }
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
        Ranges::new(names.iter().map(of))
    }

    fn find(ranges: &Ranges, name: &str) -> std::result::Result<Found, Box<Missing>> {
        ranges.find(&page(), &BTreeMap::new(), name).unwrap().map_err(Box::new)
    }

    #[test]
    fn the_first_alternative_that_matches_wins() {
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
    fn matches_of_a_regular_expression_become_globs() {
        let folded =
            ranges(&[("Forward Pass 1", "Forward Pass *", 1), ("Forward Pass 2", "Forward Pass *", 1)]);
        assert_eq!(find(&folded, "forward").unwrap().globs, ["Forward Pass *"]);
        // The folded name would also match a name that the expression does not.
        let mixed = ranges(&[("fwd 1", "fwd *", 1), ("fwd [a]", "fwd *", 1)]);
        assert_eq!(find(&mixed, "forward").unwrap().globs, ["fwd 1"]);
        let given = BTreeMap::from([("forward".to_owned(), vec!["/\\[a\\]/".to_owned()])]);
        assert_eq!(mixed.find(&page(), &given, "forward").unwrap().unwrap().globs, ["fwd [[]a]"]);
    }

    #[test]
    fn patterns_may_require_others_or_combine_them() {
        let only_steps = ranges(&[("step_0", "step_*", 1)]);
        let missing = find(&only_steps, "step").unwrap_err();
        assert!(missing.to_string().contains("`forward (forward is missing)`"), "{missing}");
        let all = ranges(&[("step_0", "step_*", 1), ("backward", "backward", 1)]);
        assert_eq!(find(&all, "step").unwrap().globs, ["step_*"]);
        let apart = ranges(&[("forward", "forward", 2), ("backward", "backward", 2)]);
        assert_eq!(find(&apart, "step").unwrap().globs, ["forward", "backward"]);
        let cycle = apart.find(&page(), &BTreeMap::new(), "loop").unwrap_err();
        assert!(cycle.to_string().contains("cycle"));
    }

    #[test]
    fn a_missing_pattern_lists_the_ranges_of_the_report() {
        let others =
            ranges(&[("forwrd", "forwrd", 3), ("aten::mm", "aten::mm", 90), ("loop", "loop", 1)]);
        let text = find(&others, "forward").unwrap_err().to_string();
        assert!(
            text.contains("Similar names: `forwrd`. Other ranges: `loop` (1), `aten::mm` (90)"),
            "{text}"
        );
        assert!(text.ends_with("-p forward='NAME'"), "{text}");
        let none = find(&ranges(&[]), "forward").unwrap_err().to_string();
        assert!(none.ends_with("This report has no NVTX ranges"), "{none}");
    }
}
