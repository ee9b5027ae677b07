//! Which ranges a tag means, by the rules of `--nvtx` and `--iter`.

use super::tables::RangeSpan;
use crate::error::{Result, nearest};
use crate::glob::Glob;
use std::collections::BTreeSet;

/// A name of ranges: as they print, without their domain, or behind the colon that new versions of
/// `nsys` put before names of the default domain; `*`, `?` and `[…]` stand for anything.
#[derive(Debug, Clone)]
pub struct Tag {
    spelled: String,
    glob: Glob,
    bare: Glob,
}

/// How the ranges that a tag means were found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TagMatch {
    /// They are called just so.
    Exact,
    /// They are called so but for a colon, a domain or what a pattern leaves open.
    Alike,
    /// They are called so but for a number at the end.
    Numbered,
    /// There are none.
    None,
}

impl Tag {
    /// Reads a tag.
    pub fn new(spelled: &str) -> Result<Self> {
        Ok(Self {
            spelled: spelled.to_owned(),
            glob: Glob::new(spelled)?,
            bare: Glob::new(spelled.strip_prefix(':').unwrap_or(spelled))?,
        })
    }

    /// As it was typed.
    pub fn spelled(&self) -> &str {
        &self.spelled
    }

    /// The ranges that are meant, in their order: those called just so, else those called alike, else
    /// those with a number behind the name.
    pub fn find<'r>(&self, ranges: &'r [RangeSpan]) -> (TagMatch, Vec<&'r RangeSpan>) {
        for kind in [TagMatch::Exact, TagMatch::Alike, TagMatch::Numbered] {
            let is_meant = |name: &str| match kind {
                TagMatch::Exact => name == self.spelled,
                TagMatch::Alike => self.is_alike(name),
                TagMatch::Numbered => self.is_numbered(name),
                TagMatch::None => false,
            };
            let found: Vec<&RangeSpan> =
                ranges.iter().filter(|range| range.name.as_deref().is_some_and(is_meant)).collect();
            if !found.is_empty() {
                return (kind, found);
            }
        }
        (TagMatch::None, Vec::new())
    }

    fn is_alike(&self, name: &str) -> bool {
        let text = name.split_once(':').map_or(name, |(_, text)| text);
        [name, text].into_iter().any(|name| self.glob.matches(name) || self.bare.matches(name))
    }

    fn is_numbered(&self, name: &str) -> bool {
        let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
        stem.len() < name.len()
            && self.is_alike(stem.trim_end_matches([' ', '_', '-', '#', '=', ':', '.']))
    }

    /// Names that a slip could have turned into the tag; where there are none, the names that recur most.
    pub fn near(&self, ranges: &[RangeSpan]) -> Vec<String> {
        let names: BTreeSet<&str> = ranges.iter().filter_map(|range| range.name.as_deref()).collect();
        let near = nearest(&self.spelled, names.iter().copied());
        if !near.is_empty() {
            return near;
        }
        let mut counted: Vec<(usize, &str)> = names
            .iter()
            .map(|name| {
                (ranges.iter().filter(|range| range.name.as_deref() == Some(name)).count(), *name)
            })
            .collect();
        counted.sort_by_key(|&(count, name)| (std::cmp::Reverse(count), name));
        counted.into_iter().take(3).map(|(_, name)| name.to_owned()).collect()
    }
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
    fn colons_domains_patterns_and_numbers_may_differ() {
        assert_eq!(found("it", &["it", "it", "it ", ":it"]), (TagMatch::Exact, 2));
        assert_eq!(found("it", &[":it", "other"]), (TagMatch::Alike, 1));
        assert_eq!(found(":it", &["it"]), (TagMatch::Alike, 1));
        assert_eq!(found("XlaModule:#a=1#", &["TSL:XlaModule:#a=1#"]), (TagMatch::Alike, 1));
        assert_eq!(found("step*", &["step 1", "step 2", "warm-up"]), (TagMatch::Alike, 2));
        assert_eq!(found("step", &["step 1", ":step_2", "steps"]), (TagMatch::Numbered, 2));
        assert_eq!(found("it", &["item"]), (TagMatch::None, 0));
    }

    #[test]
    fn names_that_nothing_matches_bring_up_others() {
        let range =
            |name: &str| RangeSpan { name: Some(name.to_owned()), dur_ns: 1, ..RangeSpan::default() };
        let ranges = [range("Train_step"), range("Train_step"), range("load")];
        assert_eq!(Tag::new("train_stop").unwrap().near(&ranges), ["Train_step"]);
        assert_eq!(Tag::new("zzz").unwrap().near(&ranges), ["Train_step", "load"]);
    }
}
