//! Finds the ranges that a tag names, by the same rules as `--nvtx` and `--iter`.

use nsq_engine::normalize::{RangePattern, Selector};
use nsq_value::error::{Result, nearest};
use nsq_value::table::ResultTable;
use std::collections::BTreeMap;

/// The ranges of a tag.
#[derive(Debug)]
pub(super) struct Tagged {
    /// The tag that matched.
    pub(super) tag: String,
    /// Whether names equal the tag.
    pub(super) is_exact: bool,
    pub(super) ranges: ResultTable,
}

/// The name, the text without the domain, and the domain of a range.
type Name<'n> = (&'n str, &'n str, &'n str);
type Fits<'f> = &'f dyn Fn(Name<'_>) -> bool;

/// The ranges that a tag names: those with exactly this name, else those whose name it matches without
/// their domain or by wildcards, else those that it matches without the number at their end.
pub(super) fn of_tag(ranges: &ResultTable, tag: &str) -> Result<Tagged> {
    let pattern = RangePattern::new(tag)?;
    let bare = RangePattern::new(tag.strip_prefix(':').unwrap_or(tag))?;
    let unnumbered = |name: &str| bare.fits_unnumbered(Some(name));
    let (place, ranges) = first(
        ranges,
        &[
            &|(name, ..)| name == tag,
            &|(name, text, _)| pattern.fits(Some(name), Some(text)),
            &|(name, text, _)| unnumbered(name) || unnumbered(text),
        ],
    );
    Ok(Tagged { tag: tag.to_owned(), is_exact: place == Some(0), ranges })
}

/// The ranges that a selector of the scope names. An exact match does not hide ranges of the same name in
/// other domains.
pub(super) fn of_scope(ranges: &ResultTable, selector: &Selector) -> Result<Tagged> {
    let (whole, pattern) = (RangePattern::new(&selector.spelled)?, RangePattern::new(&selector.name)?);
    let is_split = selector.name != selector.spelled;
    let domain = selector.domain.as_deref().map(RangePattern::new).transpose()?;
    let is_in = |own: &str| domain.as_ref().is_none_or(|domain| domain.fits(Some(own), None));
    let (place, ranges) = first(
        ranges,
        &[
            // A name, even if a part looks like a domain or an index.
            &|(name, text, _)| is_split && whole.fits(Some(name), Some(text)),
            &|(name, text, domain)| is_in(domain) && pattern.fits(Some(name), Some(text)),
            &|(_, text, domain)| is_in(domain) && pattern.fits_unnumbered(Some(text)),
        ],
    );
    let tag = if place == Some(0) { &selector.spelled } else { &selector.name };
    Ok(Tagged { tag: tag.clone(), is_exact: false, ranges })
}

/// The ranges that fit in the first of several ways in which any does, and which way that is.
fn first(ranges: &ResultTable, ways: &[Fits<'_>]) -> (Option<usize>, ResultTable) {
    let mut found = ResultTable { columns: ranges.columns.clone(), rows: Vec::new() };
    for (place, fits) in ways.iter().enumerate() {
        for (row, values) in ranges.iter().zip(&ranges.rows) {
            let Some(name) = row.text("range_name") else { continue };
            let without = name.split_once(':').map_or(name, |(_, text)| text);
            // The domain is known from a report. Otherwise it may be what stands before a colon.
            let text = row.text("range_text").unwrap_or(match row.get("range_text") {
                Some(_) => name,
                None => without,
            });
            if fits((name, text, row.text("domain_name").unwrap_or_default())) {
                found.rows.push(values.clone());
            }
        }
        if !found.rows.is_empty() {
            return (Some(place), found);
        }
    }
    (None, found)
}

/// A note on a tag that no range has.
pub(super) fn no_such_tag(tag: &str, ranges: &ResultTable) -> String {
    let near: Vec<String> = near(tag, ranges).iter().map(|name| format!("'{name}'")).collect();
    match near.as_slice() {
        [] => format!("no projected range is named '{tag}': the table has no ranges"),
        near => format!("no projected range is named '{tag}'; ranges include {}", near.join(", ")),
    }
}

/// Names that the tag may be a typo of; if there are none, the three most frequent names.
fn near(tag: &str, ranges: &ResultTable) -> Vec<String> {
    let mut names: BTreeMap<&str, usize> = BTreeMap::new();
    for name in ranges.iter().filter_map(|range| range.text("range_name")) {
        *names.entry(name).or_default() += 1;
    }
    let near = nearest(tag, names.keys().copied());
    if !near.is_empty() {
        return near;
    }
    let mut counted: Vec<(&str, usize)> = names.into_iter().collect();
    counted.sort_by_key(|&(name, count)| (std::cmp::Reverse(count), name));
    counted.into_iter().take(3).map(|(name, _)| name.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use nsq_value::table::{Column, Value};

    fn table(columns: &[&str], rows: &[&[Option<&str>]]) -> ResultTable {
        let value = |cell: &Option<&str>| cell.map_or(Value::Null, |text| Value::Text(text.to_owned()));
        ResultTable {
            columns: columns.iter().map(|name| Column::untyped(name)).collect(),
            rows: rows.iter().map(|row| row.iter().map(value).collect()).collect(),
        }
    }

    fn named(names: &[&str]) -> ResultTable {
        let rows: Vec<[Option<&str>; 1]> = names.iter().map(|name| [Some(*name)]).collect();
        table(&["range_name"], &rows.iter().map(|row| &row[..]).collect::<Vec<_>>())
    }

    #[test]
    fn colons_domains_wildcards_and_numbers_are_matched() {
        for (tag, names, is_exact, count) in [
            ("it", &["it", "it", "it ", ":it"][..], true, 2),
            ("it", &[":it", "other"], false, 1),
            (":it", &["it"], false, 1),
            ("XlaModule:#a=1#", &["TSL:XlaModule:#a=1#"], false, 1),
            ("step*", &["step 1", "step 2", "warm-up"], false, 2),
            ("step", &["step 1", ":step_2", "steps"], false, 2),
            (":step", &["step 1", ":step_2"], false, 2),
            ("it", &["item"], false, 0),
        ] {
            let found = of_tag(&named(names), tag).unwrap();
            assert_eq!((found.is_exact, found.ranges.rows.len()), (is_exact, count), "{tag}");
        }
    }

    #[test]
    fn a_selector_matches_what_the_scope_selects() {
        let rows: [&[Option<&str>]; 4] = [
            &[Some("it"), Some("it"), None],
            &[Some("D:it"), Some("it"), Some("D")],
            &[Some("D:it"), Some("D:it"), None],
            &[Some("it 1"), Some("it 1"), None],
        ];
        let columns = ["range_name", "range_text", "domain_name"];
        let found = |name: &str, domain: Option<&str>, rows: &[&[Option<&str>]]| {
            let selector = Selector {
                spelled: name.to_owned(),
                name: name.to_owned(),
                domain: domain.map(str::to_owned),
                instances: None,
                by_thread: true,
            };
            of_scope(&table(&columns, rows), &selector).unwrap().ranges.rows.len()
        };
        assert_eq!(found("it", None, &rows), 2);
        assert_eq!(found(":it", None, &rows), 2);
        assert_eq!(found("it", Some("D"), &rows), 1);
        assert_eq!(found("D:it", None, &rows), 2);
        assert_eq!(found("it", None, &rows[3..]), 1);
        assert_eq!(found("it", Some("D"), &rows[2..]), 0);
    }

    #[test]
    fn a_tag_without_a_match_suggests_other_names() {
        let ranges = named(&["Train_step", "Train_step", "load"]);
        assert_eq!(near("train_stop", &ranges), ["Train_step"]);
        assert_eq!(near("zzz", &ranges), ["Train_step", "load"]);
    }
}
