//! Q20, V18: what is a part of a page, or a step of one reader, says `internal: true`, so that lists leave it out.

use super::Finding;
use super::names::Place;
use nsq_library::catalog::{Catalog, Query, Relation};
use nsq_value::error::Result;
use std::collections::{BTreeMap, BTreeSet};

/// The folder of pages: queries in it are in the subjects `pages/<page>`.
const PAGES: &str = "pages/";

/// Checks all queries and relations.
pub(super) fn check_internal(catalog: &Catalog, findings: &mut Vec<Finding>) -> Result<()> {
    let queries = catalog.readable_queries();
    let relations = catalog.relations()?;
    check_queries(&queries, findings);
    check_relations(&queries, &relations, findings);
    Ok(())
}

/// Q20: a query beside a page is internal, unless `see_also` of a query elsewhere leads to it. No other query is.
fn check_queries(queries: &[&Query], findings: &mut Vec<Finding>) {
    let is_part = |query: &Query| query.domain.starts_with(PAGES);
    let others = queries.iter().filter(|query| !is_part(query));
    let seen: BTreeSet<&String> = others.flat_map(|query| &query.header.see_also).collect();
    for query in queries {
        let place = Place { file: &query.file, text: &query.text };
        let header = &query.header;
        let must_be = is_part(query) && !seen.contains(&header.name);
        if must_be && !header.internal {
            findings.push(place.finding(
                "Q20",
                "name:",
                format!("query {} is a part of a page", header.name),
                "add `internal: true`, or name it in `see_also` of a query outside `pages/`",
            ));
        } else if header.internal && !must_be {
            findings.push(place.finding(
                "Q20",
                "internal:",
                format!("query {} is internal, and is not a part of a page alone", header.name),
                "remove `internal`",
            ));
        }
    }
}

/// V18: a relation without raw tables that one query or relation reads is a step of it.
fn check_relations(queries: &[&Query], relations: &[&Relation], findings: &mut Vec<Finding>) {
    let mut readers: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let of_queries = queries.iter().map(|query| (&query.header.name, &query.header.reads));
    let of_relations = relations.iter().map(|relation| (&relation.header.name, &relation.header.reads));
    for (reader, reads) in of_queries.chain(of_relations) {
        for read in reads {
            readers.entry(read.strip_prefix("all_").unwrap_or(read)).or_default().insert(reader);
        }
    }
    let is_raw = |name: &String| name.starts_with("src_");
    for relation in relations {
        let header = &relation.header;
        let is_step = !header.present_if.iter().chain(&header.reads).any(is_raw);
        let readers = readers.get(header.name.as_str());
        if let Some(reader) = readers.filter(|readers| readers.len() == 1).and_then(BTreeSet::first)
            && is_step
            && !header.internal
        {
            let place = Place { file: &relation.file, text: &relation.text };
            findings.push(place.finding(
                "V18",
                "name:",
                format!("relation {} is a step of {reader} alone", header.name),
                "add `internal: true`",
            ));
        }
    }
}
