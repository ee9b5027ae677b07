//! The rules for queries.

use super::names::{Place, check_columns, check_doc, check_stem};
use super::statement::{code_only, parameters, shape};
use super::{Complete, Finding};
use crate::catalog::{Catalog, Kind, Query, TAGS};
use crate::compile::{Invocation, Layout, Plan, TimeUnit, relations_in};
use crate::error::{Error, Result};
use crate::execute::{Limits, Session};
use crate::normalize::{self, Scope};
use std::collections::BTreeSet;

pub(super) fn check_query(
    query: &Query,
    catalog: &Catalog,
    complete: &Complete,
    findings: &mut Vec<Finding>,
) {
    let place = Place { file: &query.file, text: &query.text };
    check_stem(&place, "Q01", &query.header.name, findings);
    check_header(query, &place, catalog, findings);
    check_columns(&place, ["Q07", "Q08"], &query.header.columns, findings);
    check_params(query, &place, findings);
    check_body(&query.sql, query.sql_line, &query.file, findings);
    check_reads(query, &place, catalog, findings);
    check_order(query, &place, findings);
    check_prepared(query, &place, catalog, complete, findings);
}

/// Q03, Q04, Q13: texts, subjects and pointers.
fn check_header(query: &Query, place: &Place<'_>, catalog: &Catalog, findings: &mut Vec<Finding>) {
    let header = &query.header;
    let mut say = |rule, needle: &str, message: String, help: &str| {
        findings.push(place.finding(rule, needle, message, help));
    };
    if header.version == 0 {
        say("Q02", "version:", "versions begin at 1".to_owned(), "write `version: 1`");
    }
    if header.title.ends_with('.') || header.title.is_empty() {
        say("Q03", "title:", "the title is empty or ends in a full stop".to_owned(), "write a heading");
    }
    if !header.summary.ends_with('.') || header.summary.chars().count() > 80 {
        say(
            "Q03",
            "summary:",
            format!(
                "the summary ({} characters) is no sentence of at most 80",
                header.summary.chars().count()
            ),
            "say in one sentence with a full stop what a row is; `nsq list` shows it on one line",
        );
    }
    for (field, text) in [("why", &header.why), ("limits", &header.limits)] {
        if !text.trim_end().ends_with('.') {
            say("Q03", field, format!("`{field}` is not a sentence"), "end it with a full stop");
        }
    }
    for tag in header.tags.iter().filter(|tag| !TAGS.contains(&tag.as_str())) {
        say("Q04", tag, format!("there is no tag `{tag}`"), &format!("take of {}", TAGS.join(", ")));
    }
    if header.kind == Kind::Trace {
        for needed in ["start_ns", "dur_ns"] {
            if !header.columns.iter().any(|column| column.name == needed) {
                say(
                    "Q04",
                    "kind:",
                    format!("a trace without {needed}"),
                    "add the column, or take another kind",
                );
            }
        }
    }
    let deprecated = header.deprecated.iter().map(|deprecated| &deprecated.instead);
    for name in header.see_also.iter().chain(deprecated) {
        if !catalog.query_names().any(|known| known == name) {
            say("Q13", name, format!("there is no query `{name}`"), "name a query that exists");
        }
    }
    for arg in header.nsys.iter().flat_map(|nsys| &nsys.args) {
        for param in arg.set.keys().chain(&arg.param) {
            if !header.params.iter().any(|known| known.name == *param) {
                say(
                    "Q05",
                    param,
                    format!("argument {} sets no parameter: {param}", arg.name),
                    "name a parameter",
                );
            }
        }
    }
}

/// Q05, Q08: the parameters are exactly those of the statement.
fn check_params(query: &Query, place: &Place<'_>, findings: &mut Vec<Finding>) {
    let used = parameters(&query.sql);
    let declared: BTreeSet<String> =
        query.header.params.iter().map(|param| param.name.clone()).collect();
    for name in declared.difference(&used) {
        findings.push(place.finding(
            "Q05",
            &format!("name: {name},"),
            format!("parameter {name} is not used"),
            "use it as `:name` in the statement, or take it out of `params`",
        ));
    }
    for name in used.difference(&declared) {
        findings.push(place.finding(
            "Q05",
            &format!(":{name}"),
            format!("parameter :{name} is not declared"),
            "add it to `params` with type, default and doc",
        ));
    }
    for param in &query.header.params {
        let needle = format!("name: {},", param.name);
        let what = format!("parameter {}", param.name);
        check_doc(place, "Q08", &needle, &what, &param.name, &param.doc, findings);
    }
}

/// Q12: what a statement of the library does not do.
pub(super) fn check_body(sql: &str, first_line: usize, file: &str, findings: &mut Vec<Finding>) {
    const BANNED: [(&str, &str); 5] = [
        ("LIKE", "use GLOB: LIKE ignores case and cannot use an index"),
        ("CREATE", "write one SELECT; what two queries share becomes a file in views/"),
        ("INSERT", "write one SELECT"),
        ("PRAGMA", "write one SELECT"),
        ("NATURAL", "write JOIN … USING"),
    ];
    let code = code_only(sql);
    for (index, line) in code.lines().enumerate() {
        let mut say = |message: String, help: &str| {
            let (file, line) = (file.to_owned(), first_line + index);
            findings.push(Finding { file, line, rule: "Q12", message, help: help.to_owned() });
        };
        let words: BTreeSet<String> = line
            .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .map(str::to_uppercase)
            .collect();
        for (word, help) in BANNED.iter().filter(|(word, _)| words.contains(*word)) {
            say(format!("{word} is not used here"), help);
        }
        if line.contains(';') {
            say("a semicolon: a file holds one statement".to_owned(), "take it out");
        }
        if sql.lines().nth(index).is_some_and(|line| line.chars().count() > 120) {
            say("a line of more than 120 characters".to_owned(), "break it");
        }
    }
}

/// Q09, Q10: `reads` tells exactly what is read, and only the vocabulary is.
fn check_reads(query: &Query, place: &Place<'_>, catalog: &Catalog, findings: &mut Vec<Finding>) {
    let used = match relations_in(&query.sql) {
        Ok(used) => used,
        Err(message) => {
            findings.push(place.finding("Q17", "---*/", message, "keep to SQL that the parser knows"));
            return;
        }
    };
    let declared: BTreeSet<String> = query.header.reads.iter().cloned().collect();
    compare_reads(place, "Q09", &used, &declared, findings);
    for name in &used {
        let plain = name.strip_prefix("all_").unwrap_or(name);
        let (message, help) = if name.starts_with("src_") {
            (
                format!("{name} is raw vocabulary"),
                "read a relation of views/; add a column there if one is missing",
            )
        } else if plain == "scope" || catalog.relation(plain).is_some() {
            continue;
        } else if catalog.query_names().any(|query| query == name) {
            (
                format!("{name} is a query, and queries do not read queries"),
                "move what both need into views/",
            )
        } else {
            (
                format!("{name} is no relation"),
                "`nsq list --relations` shows the vocabulary; raw tables stay in sources/",
            )
        };
        findings.push(place.finding("Q10", name, message, help));
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
            format!("reads {name} without saying so"),
            "add it to `reads`",
        ));
    }
    for name in declared.difference(used) {
        let message = format!("`reads` names {name}, which the statement does not read");
        findings.push(place.finding(rule, "reads:", message, "take it out of `reads`"));
    }
}

/// Ids that many rows share.
const SHARED: [&str; 12] = [
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

/// Q11: two runs print the same bytes.
fn check_order(query: &Query, place: &Place<'_>, findings: &mut Vec<Finding>) {
    let Ok(shape) = shape(&query.sql) else { return };
    if !shape.is_one_select {
        findings.push(place.finding(
            "Q12",
            "---*/",
            "the statement is not one SELECT".to_owned(),
            "write one SELECT",
        ));
        return;
    }
    let identifies =
        |name: &String| name == "rank" || name.ends_with("_id") && !SHARED.contains(&name.as_str());
    let by_identity = shape.order.iter().any(identifies);
    let by_groups = shape.groups.iter().any(|group| group.is_subset(&shape.order));
    let is_total = shape.is_single_row || by_identity || by_groups;
    if !is_total {
        findings.push(place.finding(
            "Q11",
            if shape.order.is_empty() { "---*/" } else { "ORDER BY" },
            "the rows have no total order: ties come out in any order".to_owned(),
            "end ORDER BY with what identifies a row: its own `…_id`, `rank`, or every GROUP BY column",
        ));
    }
}

/// Q06, Q17: SQLite takes the statement, and its columns are the documented ones.
fn check_prepared(
    query: &Query,
    place: &Place<'_>,
    catalog: &Catalog,
    complete: &Complete,
    findings: &mut Vec<Finding>,
) {
    let documented: Vec<&str> = query.header.columns.iter().map(|column| column.name.as_str()).collect();
    match column_names(query, &Layout::Own, catalog, complete) {
        Err(error) => {
            let at = error.to_string().lines().find_map(|line| {
                let line = line.trim().strip_prefix("--> ")?.strip_prefix(&query.file)?;
                line.trim_start_matches(':').split(':').next()?.parse().ok()
            });
            findings.push(Finding {
                file: query.file.clone(),
                line: at.unwrap_or(query.sql_line),
                rule: "Q17",
                message: error.to_string().lines().next().unwrap_or_default().to_owned(),
                help: error.help().unwrap_or_else(|| "mend the statement".to_owned()),
            });
            return;
        }
        Ok(returned) if returned != documented => {
            let at = returned.iter().zip(&documented).position(|(a, b)| a != b);
            let at = at.unwrap_or(documented.len().min(returned.len()));
            let message = match (returned.get(at), documented.get(at)) {
                (Some(extra), None) => format!("column {extra} is not documented"),
                (None, Some(missing)) => format!("column {missing} is documented, but not returned"),
                (a, b) => format!(
                    "column {} is {}, where {} is documented",
                    at + 1,
                    a.map_or("", String::as_str),
                    b.copied().unwrap_or_default()
                ),
            };
            let needle =
                documented.get(at).map_or("columns:".to_owned(), |name| format!("name: {name},"));
            findings.push(place.finding(
                "Q06",
                &needle,
                message,
                "list in `columns` what the statement returns, in order",
            ));
        }
        Ok(_) => {}
    }
    if query.header.nsys.is_some()
        && let Err(error) = column_names(query, &Layout::Nsys(TimeUnit::Ns), catalog, complete)
    {
        let message = error.to_string().lines().next().unwrap_or_default().to_owned();
        findings.push(place.finding("Q06", "nsys:", message, "mend the `sql` of NVIDIA's columns"));
    }
}

fn column_names(
    query: &Query,
    layout: &Layout,
    catalog: &Catalog,
    complete: &Complete,
) -> Result<Vec<String>> {
    let plan = Plan::new(query, &Invocation::default(), layout)?;
    let roots = plan.reads.iter().map(String::as_str);
    let installation = normalize::plan(complete.schema(), catalog, &Scope::default(), roots)?;
    let mut connection = complete.connect()?;
    let session =
        Session::begin(&mut connection, &installation, &Limits::default()).map_err(|e| match e {
            Error::Sqlite(e) => Error::usage(e.to_string(), "mend the relation"),
            other => other,
        })?;
    session.column_names(&plan)
}
