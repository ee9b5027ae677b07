//! Rules for what a query reads and asks.

use super::Finding;
use super::names::Place;
use nsq_engine::compile::{relations_in, scalar};
use nsq_library::catalog::{AskedQuery, Catalog, FINDING_TABLES, Kind, Param, Query, QueryHeader};
use std::collections::BTreeSet;

/// Q09, Q10, Q17: the statement parses, `reads` lists exactly what it reads, and these are relations.
pub(super) fn check_reads(
    query: &Query,
    place: &Place<'_>,
    catalog: &Catalog,
    findings: &mut Vec<Finding>,
) {
    let condition = query.header.rows_if.as_ref().map(|condition| format!("SELECT {condition}"));
    let conditional = condition.map_or(Ok(BTreeSet::new()), |condition| relations_in(&condition));
    let found = relations_in(&query.sql).and_then(|used| Ok((used, conditional?)));
    let (used, conditional) = match found {
        Ok((used, conditional)) => (&used | &conditional, conditional),
        Err(message) => {
            findings.push(place.finding(
                "Q17",
                "---*/",
                message,
                "use only SQL that the parser supports",
            ));
            return;
        }
    };
    let header = &query.header;
    let asked: BTreeSet<String> = header.asks.iter().flat_map(tables_of).collect();
    let gives = |name: &str| header.asks.iter().any(|ask| ask.given.values().any(|of| of == name));
    // Of the two tables about findings, one may be enough.
    let is_of_findings = |name: &String| FINDING_TABLES.contains(&name.as_str());
    let reads_findings = used.iter().any(is_of_findings);
    let is_unread = |name: &&String| !(gives(name) || reads_findings && is_of_findings(name));
    for name in asked.difference(&used).filter(is_unread) {
        let message = format!("`asks` lists {name}, but the statement does not read it");
        findings.push(place.finding("Q09", "asks:", message, "remove it from `asks`"));
    }
    check_asked_limits(query, place, catalog, findings);
    for name in header.finding.iter().flat_map(|finding| &finding.narrows) {
        let is_finding = |query: &Query| query.header.kind == Kind::Finding;
        if !catalog.query(name).is_ok_and(is_finding) || *name == header.name {
            let message = format!("`narrows` names '{name}', which is not another finding");
            findings.push(place.finding("Q04", "narrows:", message, "name queries of kind finding"));
        }
    }
    let declared: BTreeSet<String> =
        header.reads.iter().chain(asked.intersection(&used)).cloned().collect();
    compare_reads(place, "Q09", &used, &declared, findings);
    if !header.asks.is_empty() && !header.reads.iter().all(|name| conditional.contains(name)) {
        findings.push(place.finding(
            "Q10",
            "asks:",
            "the query has both `asks` and `reads`".to_owned(),
            "read relations, or the answers of queries: the two are in different databases",
        ));
    }
    if header.across && header.asks.is_empty() {
        findings.push(place.finding(
            "Q10",
            "across:",
            "`across` without `asks`".to_owned(),
            "relations have the rows of one report: ask queries to see all reports",
        ));
    }
    for name in used.difference(&asked) {
        let plain = name.strip_prefix("all_").unwrap_or(name);
        let (message, help) = if name.starts_with("src_") {
            (
                format!("{name} is a raw table"),
                "read a relation from views/, and add a column there if one is missing",
            )
        } else if plain == "scope" || catalog.relation(plain).is_some() {
            continue;
        } else if catalog.query_names().any(|query| query == name) {
            (
                format!("{name} is a query"),
                "list it in `asks` to read its answers, or move the shared part to views/",
            )
        } else {
            (
                format!("unknown relation '{name}'"),
                "`nsq list --relations` shows all relations; queries cannot read raw tables",
            )
        };
        findings.push(place.finding("Q10", name, message, help));
    }
}

/// Q04: a finding says what is wrong and what to do.
pub(super) fn check_finding(
    header: &QueryHeader,
    add: &mut impl FnMut(&'static str, &str, String, &str),
) {
    let Some(finding) = &header.finding else {
        if header.kind == Kind::Finding {
            let help = "add `finding: {claim, ceiling, remedy, link, confidence, frees}`";
            add("Q04", "kind:", "a query of kind finding needs `finding`".to_owned(), help);
        }
        return;
    };
    if header.kind != Kind::Finding {
        add("Q04", "finding:", "`finding` without `kind: finding`".to_owned(), "change `kind`");
    }
    let texts = [("claim", &finding.claim), ("ceiling", &finding.ceiling), ("remedy", &finding.remedy)];
    for (name, text) in texts.into_iter().filter(|(_, text)| !text.trim_end().ends_with('.')) {
        let message = format!("`{name}` of the finding must end in a full stop: '{text}'");
        add("Q04", "finding:", message, "write a sentence for people");
    }
    if !finding.link.starts_with("https://") {
        let help = "link the documentation of the remedy";
        add("Q04", "link:", "`link` of the finding must start with https://".to_owned(), help);
    }
}

/// The tables that an entry of `asks` gives.
fn tables_of(ask: &AskedQuery) -> Vec<String> {
    match ask.kind {
        Some(_) => FINDING_TABLES.map(str::to_owned).to_vec(),
        None => vec![ask.table.clone()],
    }
}

/// Q10: a query that is asked returns all of its rows.
fn check_asked_limits(query: &Query, place: &Place<'_>, catalog: &Catalog, findings: &mut Vec<Finding>) {
    const LIMIT: &str = "limit";
    let of = |params: &[Param]| {
        params.iter().find(|param| param.name == LIMIT).map(|param| scalar(&param.default))
    };
    for AskedQuery { query: name, params, .. } in &query.header.asks {
        let Some(default) = catalog.query(name).ok().and_then(|asked| of(&asked.header.params)) else {
            continue;
        };
        let set = params.get(LIMIT).cloned().or_else(|| of(&query.header.params));
        if set.unwrap_or(default) != "-1" {
            findings.push(place.finding(
                "Q10",
                "asks:",
                format!("the answer of {name} ends at its parameter `limit`"),
                "set it: `{query: NAME, params: {limit: -1}}`, or declare `limit` with the default -1",
            ));
        }
    }
}

pub(super) fn compare_reads(
    place: &Place<'_>,
    rule: &'static str,
    used: &BTreeSet<String>,
    declared: &BTreeSet<String>,
    findings: &mut Vec<Finding>,
) {
    for name in used.difference(declared) {
        findings.push(place.finding(
            rule,
            name,
            format!("the statement reads {name}, but `reads` does not list it"),
            "add it to `reads`",
        ));
    }
    for name in declared.difference(used) {
        let message = format!("`reads` lists {name}, but the statement does not read it");
        findings.push(place.finding(rule, "reads:", message, "remove it from `reads`"));
    }
}

/// Id columns that do not identify a row: many rows have the same value.
pub(super) const SHARED: [&str; 12] = [
    "category_id",
    "context_id",
    "correlation_id",
    "device_id",
    "domain_id",
    "event_id",
    "gpu_id",
    "graph_exec_id",
    "graph_id",
    "graph_node_id",
    "green_context_id",
    "stream_id",
];
