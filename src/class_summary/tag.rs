//! Finds the ranges that a tag names, by the same rules as `--nvtx` and `--iter`.

use super::tables::RangeSpan;
use crate::error::{Result, nearest};
use crate::glob::Glob;
use std::collections::BTreeMap;

/// A name or pattern of ranges.
///
/// It matches a name with its domain, without it, or with the leading colon that recent versions of nsys
/// print in the default domain. `*`, `?` and `[…]` are wildcards.
#[derive(Debug, Clone)]
pub struct Tag {
    spelled: String,
    glob: Glob,
    bare: Glob,
    scope: Option<ScopeRules>,
}

/// Set if a scope limits the sums: then the tag matches exactly the ranges that the scope selects.
#[derive(Debug, Clone)]
struct ScopeRules {
    domain: Option<Glob>,
}

/// How the ranges of a tag were matched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TagMatch {
    /// The names equal the tag.
    Exact,
    /// The names match after a leading colon or domain is ignored, or by wildcards.
    Alike,
    /// The names match after a number at their end is ignored.
    Numbered,
    /// No range matches.
    None,
}

impl Tag {
    /// Parses a tag.
    pub fn new(spelled: &str) -> Result<Self> {
        Ok(Self {
            spelled: spelled.to_owned(),
            glob: Glob::new(spelled)?,
            bare: Glob::new(spelled.strip_prefix(':').unwrap_or(spelled))?,
            scope: None,
        })
    }

    /// Parses a tag for a report whose sums are limited to the scope `NAME` or `NAME@DOMAIN`. An exact
    /// match does not hide ranges of the same name in other domains.
    pub fn of_scope(name: &str, domain: Option<&str>) -> Result<Self> {
        let domain = domain.map(Glob::new).transpose()?;
        Ok(Self { scope: Some(ScopeRules { domain }), ..Self::new(name)? })
    }

    /// The tag as the user typed it.
    pub fn spelled(&self) -> &str {
        &self.spelled
    }

    /// Returns the matching ranges in their order: exact matches if there are any, else
    /// [`TagMatch::Alike`], else [`TagMatch::Numbered`]. With a scope, exact matches count as
    /// [`TagMatch::Alike`].
    pub fn find<'r>(&self, ranges: &'r [RangeSpan]) -> (TagMatch, Vec<&'r RangeSpan>) {
        for kind in [TagMatch::Exact, TagMatch::Alike, TagMatch::Numbered] {
            let is_match = |range: &&RangeSpan| match (&self.scope, &range.name) {
                (Some(scope), Some(name)) => self.is_selected(scope, kind, range, name),
                (None, Some(name)) => match kind {
                    TagMatch::Exact => *name == self.spelled,
                    TagMatch::Alike => self.is_alike(name),
                    TagMatch::Numbered => self.is_numbered(name),
                    TagMatch::None => false,
                },
                (_, None) => false,
            };
            let found: Vec<&RangeSpan> = ranges.iter().filter(is_match).collect();
            if !found.is_empty() {
                return (kind, found);
            }
        }
        (TagMatch::None, Vec::new())
    }

    /// Whether the scope selects this range.
    fn is_selected(&self, scope: &ScopeRules, kind: TagMatch, range: &RangeSpan, name: &str) -> bool {
        let text = range.text.as_deref().unwrap_or(name);
        let domain = range.domain.as_deref().unwrap_or_default();
        if scope.domain.as_ref().is_some_and(|wanted| !wanted.matches(domain)) {
            return false;
        }
        match kind {
            TagMatch::Alike => {
                self.glob.matches(name)
                    || self.glob.matches(text)
                    || self.spelled.starts_with(':') && self.bare.matches(text)
            }
            TagMatch::Numbered => unnumbered(text).is_some_and(|stem| self.glob.matches(stem)),
            TagMatch::Exact | TagMatch::None => false,
        }
    }

    fn is_alike(&self, name: &str) -> bool {
        let text = name.split_once(':').map_or(name, |(_, text)| text);
        [name, text].into_iter().any(|name| self.glob.matches(name) || self.bare.matches(name))
    }

    fn is_numbered(&self, name: &str) -> bool {
        unnumbered(name).is_some_and(|stem| self.is_alike(stem))
    }

    /// Names that the tag may be a typo of; if there are none, the three most frequent names.
    pub fn near(&self, ranges: &[RangeSpan]) -> Vec<String> {
        let mut names: BTreeMap<&str, usize> = BTreeMap::new();
        for name in ranges.iter().filter_map(|range| range.name.as_deref()) {
            *names.entry(name).or_default() += 1;
        }
        let near = nearest(&self.spelled, names.keys().copied());
        if !near.is_empty() {
            return near;
        }
        let mut counted: Vec<(&str, usize)> = names.into_iter().collect();
        counted.sort_by_key(|&(name, count)| (std::cmp::Reverse(count), name));
        counted.into_iter().take(3).map(|(name, _)| name.to_owned()).collect()
    }
}

/// The name without the number at its end and the separator before it; `None` without a number.
fn unnumbered(name: &str) -> Option<&str> {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    (stem.len() < name.len()).then(|| stem.trim_end_matches([' ', '_', '-', '#', '=', ':', '.']))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(tag: &str, names: &[&str]) -> (TagMatch, usize) {
        let ranges: Vec<RangeSpan> = names
            .iter()
            .map(|name| RangeSpan { name: Some((*name).to_owned()), dur_ns: 1, ..RangeSpan::default() })
            .collect();
        let (kind, found) = Tag::new(tag).unwrap().find(&ranges);
        (kind, found.len())
    }

    #[test]
    fn colons_domains_wildcards_and_numbers_are_matched() {
        assert_eq!(found("it", &["it", "it", "it ", ":it"]), (TagMatch::Exact, 2));
        assert_eq!(found("it", &[":it", "other"]), (TagMatch::Alike, 1));
        assert_eq!(found(":it", &["it"]), (TagMatch::Alike, 1));
        assert_eq!(found("XlaModule:#a=1#", &["TSL:XlaModule:#a=1#"]), (TagMatch::Alike, 1));
        assert_eq!(found("step*", &["step 1", "step 2", "warm-up"]), (TagMatch::Alike, 2));
        assert_eq!(found("step", &["step 1", ":step_2", "steps"]), (TagMatch::Numbered, 2));
        assert_eq!(found("it", &["item"]), (TagMatch::None, 0));
    }

    #[test]
    fn a_tag_of_a_scope_matches_what_the_scope_selects() {
        let range = |domain: Option<&str>, text: &str| RangeSpan {
            name: Some(domain.map_or(text.to_owned(), |domain| format!("{domain}:{text}"))),
            text: Some(text.to_owned()),
            domain: domain.map(str::to_owned),
            ..RangeSpan::default()
        };
        let ranges =
            [range(None, "it"), range(Some("D"), "it"), range(None, "D:it"), range(None, "it 1")];
        let found = |name: &str, domain: Option<&str>, ranges: &[RangeSpan]| {
            let (kind, found) = Tag::of_scope(name, domain).unwrap().find(ranges);
            (kind, found.len())
        };
        assert_eq!(found("it", None, &ranges), (TagMatch::Alike, 2));
        assert_eq!(found(":it", None, &ranges), (TagMatch::Alike, 2));
        assert_eq!(found("it", Some("D"), &ranges), (TagMatch::Alike, 1));
        assert_eq!(found("D:it", None, &ranges), (TagMatch::Alike, 2));
        assert_eq!(found("it", None, &ranges[3..]), (TagMatch::Numbered, 1));
        assert_eq!(found("it", Some("D"), &ranges[2..]), (TagMatch::None, 0));
    }

    #[test]
    fn a_tag_without_a_match_suggests_other_names() {
        let range =
            |name: &str| RangeSpan { name: Some(name.to_owned()), dur_ns: 1, ..RangeSpan::default() };
        let ranges = [range("Train_step"), range("Train_step"), range("load")];
        assert_eq!(Tag::new("train_stop").unwrap().near(&ranges), ["Train_step"]);
        assert_eq!(Tag::new("zzz").unwrap().near(&ranges), ["Train_step", "load"]);
    }
}
