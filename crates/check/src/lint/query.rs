//! Rules for queries.

use super::dialect::departures;
use super::names::{Place, check_columns, check_doc, check_stem};
use super::reads::{SHARED, check_finding, check_reads};
use super::statement::{parameters, shape};
use super::{EmptyReport, Finding};
use nsq_engine::compile::code_only;
use nsq_engine::compile::{Invocation, Layout, NsysUnits, Plan};
use nsq_engine::execute::{Limits, Session};
use nsq_library::catalog::{Catalog, FINDING_COLUMNS, Kind, Query, TAGS};
use nsq_value::error::{Error, Result};
use nsq_value::table::Type;
use std::collections::BTreeSet;
use std::path::Path;

pub(super) fn check_query(
    query: &Query,
    catalog: &Catalog,
    empty_report: &EmptyReport,
    findings: &mut Vec<Finding>,
) {
    let place = Place { file: &query.file, text: &query.text };
    check_stem(&place, "Q01", &query.header.name, findings);
    check_header(query, &place, catalog, findings);
    check_columns(&place, ["Q07", "Q08"], &query.header.columns, findings);
    check_labels(query, &place, findings);
    check_params(query, &place, catalog, findings);
    check_body(&query.sql, query.sql_line, &query.file, findings);
    check_dialect(query, findings);
    check_reads(query, &place, catalog, findings);
    check_order(query, &place, catalog, findings);
    check_prepared(query, &place, catalog, empty_report, findings);
}

/// Q19: a query of `ranks/` across reports is in the dialect that SQLite and DataFusion share.
fn check_dialect(query: &Query, findings: &mut Vec<Finding>) {
    let folder = Path::new(&query.file).parent().and_then(Path::file_name);
    if !query.header.across || folder.is_none_or(|folder| folder != "ranks") {
        return;
    }
    for (message, help) in departures(&query.sql) {
        let (file, line) = (query.file.clone(), query.sql_line);
        findings.push(Finding { file, line, rule: "Q19", message, help: help.to_owned() });
    }
}

/// Q02 to Q05, Q13: texts, tags, kind, references to other queries, and NVIDIA's arguments.
fn check_header(query: &Query, place: &Place<'_>, catalog: &Catalog, findings: &mut Vec<Finding>) {
    let header = &query.header;
    let mut add = |rule, needle: &str, message: String, help: &str| {
        findings.push(place.finding(rule, needle, message, help));
    };
    if header.version == 0 {
        add("Q02", "version:", "the version must be at least 1".to_owned(), "write `version: 1`");
    }
    if header.title.ends_with('.') || header.title.is_empty() {
        add(
            "Q03",
            "title:",
            "the title is empty or ends in a full stop".to_owned(),
            "write a title without a full stop",
        );
    }
    if !header.summary.ends_with('.') || header.summary.chars().count() > 80 {
        add(
            "Q03",
            "summary:",
            format!(
                "the summary ({} characters) must be a sentence of at most 80 characters",
                header.summary.chars().count()
            ),
            "describe a row in one sentence that ends in a full stop; `nsq list` shows it on one line",
        );
    }
    for (field, text) in [("why", &header.why), ("limits", &header.limits)] {
        if !text.trim_end().ends_with('.') {
            add("Q03", field, format!("`{field}` must end in a full stop"), "write a full sentence");
        }
    }
    if let Some(text) = &header.when_empty
        && (text.is_empty() || text.ends_with('.') || text.chars().count() > 160)
    {
        add(
            "Q03",
            "when_empty:",
            format!(
                "`when_empty` ({} characters) must have at most 160 characters and no full stop",
                text.chars().count()
            ),
            "say what it means that there are no rows; it is printed after `NAME returned no rows: `",
        );
    }
    for tag in header.tags.iter().filter(|tag| !TAGS.contains(&tag.as_str())) {
        add("Q04", tag, format!("unknown tag '{tag}'"), &format!("known tags: {}", TAGS.join(", ")));
    }
    let (kind, needed) = match header.kind {
        Kind::Trace => ("trace", &["start_ns", "dur_ns"][..]),
        Kind::Finding => ("finding", &FINDING_COLUMNS[..]),
        _ => ("", &[][..]),
    };
    for needed in needed {
        if !header.columns.iter().any(|column| column.name == *needed) {
            add(
                "Q04",
                "kind:",
                format!("a query of kind {kind} needs the column {needed}"),
                "add the column, or change `kind`",
            );
        }
    }
    check_finding(header, &mut add);
    let deprecated = header.deprecated.iter().map(|deprecated| &deprecated.instead);
    for name in header.see_also.iter().chain(deprecated) {
        if !catalog.query_names().any(|known| known == name) {
            add(
                "Q13",
                name,
                format!("unknown query '{name}'"),
                "use the name of an existing query (`nsq list`)",
            );
        }
    }
    let lacks = header.nsys.iter().flat_map(|nsys| &nsys.lacks);
    for relation in lacks.filter_map(|lack| lack.without.as_ref()).flat_map(|names| names.split('|')) {
        let relation = relation.trim();
        if !catalog.relation_names().any(|known| known == relation) {
            add(
                "Q05",
                relation,
                format!("`lacks` names the unknown relation '{relation}'"),
                "use the name of a relation (`nsq list --relations`)",
            );
        }
    }
    for arg in header.nsys.iter().flat_map(|nsys| &nsys.args) {
        for param in arg.set.keys().chain(&arg.param) {
            if !header.params.iter().any(|known| known.name == *param) {
                add(
                    "Q05",
                    param,
                    format!("argument {} sets the unknown parameter '{param}'", arg.name),
                    "use a name from `params`",
                );
            }
        }
    }
}

/// Q18: headers are unique, short enough for a narrow terminal, and name the whole of a share.
fn check_labels(query: &Query, place: &Place<'_>, findings: &mut Vec<Finding>) {
    const LONGEST: usize = 28;
    const PRIORITIES: std::ops::RangeInclusive<u8> = 0..=3;
    let mut seen = BTreeSet::new();
    for spec in &query.header.columns {
        let (name, header) = (&spec.name, spec.to_column().header());
        let mut add = |message: String, help: &str| {
            findings.push(place.finding("Q18", &format!("name: {name},"), message, help));
        };
        if !seen.insert(header.clone()) {
            add(
                format!("the header '{header}' of column {name} is the header of another column"),
                "give the column a `label` of its own",
            );
        }
        if spec.label.as_ref().is_some_and(|label| label.chars().count() > LONGEST) {
            add(format!("the label of column {name} is too long"), "use at most 28 characters");
        }
        if spec.kind == Type::Percent && spec.label.is_none() {
            add(
                format!("column {name} does not name the whole that it is a share of"),
                "give it a label such as `share of GPU time`",
            );
        }
        if spec.priority.is_some_and(|priority| !PRIORITIES.contains(&priority)) {
            add(
                format!("the priority of column {name} is out of range"),
                "use 0 for what identifies the row, 1 for the answer, 2 for the rest, 3 for detail",
            );
        }
    }
}

/// Q05, Q08: the statement uses exactly the declared parameters, and each has a doc.
fn check_params(query: &Query, place: &Place<'_>, catalog: &Catalog, findings: &mut Vec<Finding>) {
    let used = parameters(&query.sql);
    let declared: BTreeSet<String> =
        query.header.params.iter().map(|param| param.name.clone()).collect();
    // A parameter may be meant for a query that this one asks.
    let asked = query.header.asks.iter().filter_map(|ask| catalog.query(&ask.query).ok());
    let passed: BTreeSet<&str> =
        asked.flat_map(|asked| &asked.header.params).map(|param| param.name.as_str()).collect();
    for name in declared.difference(&used).filter(|name| !passed.contains(name.as_str())) {
        findings.push(place.finding(
            "Q05",
            &format!("name: {name},"),
            format!("parameter {name} is not used"),
            "use it in the statement as `:name`, or remove it from `params`",
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
        if param.required && !param.default.is_null() {
            findings.push(place.finding(
                "Q05",
                &needle,
                format!("{what} is required and has a default"),
                "remove `required` or `default`",
            ));
        }
    }
}

/// Q12, Q21: the statement has no banned keyword, no semicolon and no line over 120 characters.
pub(super) fn check_body(sql: &str, first_line: usize, file: &str, findings: &mut Vec<Finding>) {
    const BANNED: [(&str, &str); 5] = [
        ("LIKE", "use GLOB: LIKE ignores case and cannot use an index"),
        ("CREATE", "write one SELECT; move what several queries share to a file in views/"),
        ("INSERT", "write one SELECT"),
        ("PRAGMA", "write one SELECT"),
        ("NATURAL", "write JOIN … USING"),
    ];
    let code = code_only(sql);
    for (index, line) in code.lines().enumerate() {
        let mut add = |rule: &'static str, message: String, help: &str| {
            let (file, line) = (file.to_owned(), first_line + index);
            findings.push(Finding { file, line, rule, message, help: help.to_owned() });
        };
        let words: BTreeSet<String> = line
            .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .map(str::to_uppercase)
            .collect();
        for (word, help) in BANNED.iter().filter(|(word, _)| words.contains(*word)) {
            add("Q12", format!("{word} is not allowed"), help);
        }
        if line.contains(';') {
            add("Q12", "a semicolon is not allowed: a file has one statement".to_owned(), "remove it");
        }
        if sql.lines().nth(index).is_some_and(|line| line.chars().count() > 120) {
            add("Q21", "the line is longer than 120 characters".to_owned(), "break the line");
        }
    }
}

/// Q11, Q12: the statement is one SELECT, and its rows have a total order, so that two runs print the
/// same bytes.
fn check_order(query: &Query, place: &Place<'_>, catalog: &Catalog, findings: &mut Vec<Finding>) {
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
    // The answer of a query has one row for each of its groups.
    let asked = query.header.asks.iter().filter_map(|ask| catalog.query(&ask.query).ok());
    let groups_asked = asked.filter_map(|asked| super::statement::shape(&asked.sql).ok()?.groups.pop());
    let by_groups =
        shape.groups.into_iter().chain(groups_asked).any(|group| group.is_subset(&shape.order));
    let is_total = shape.is_single_row || by_identity || by_groups;
    if !is_total {
        findings.push(place.finding(
            "Q11",
            if shape.order.is_empty() { "---*/" } else { "ORDER BY" },
            "the rows have no total order: the order of ties is undefined".to_owned(),
            "end ORDER BY with columns that identify a row: its own `…_id`, `rank`, or all GROUP BY columns",
        ));
    }
}

/// Q06, Q17: SQLite can prepare the statement, and it returns exactly the documented columns.
fn check_prepared(
    query: &Query,
    place: &Place<'_>,
    catalog: &Catalog,
    empty_report: &EmptyReport,
    findings: &mut Vec<Finding>,
) {
    let documented: Vec<&str> = query.header.columns.iter().map(|column| column.name.as_str()).collect();
    match column_names(query, &Layout::Own, catalog, empty_report) {
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
                help: error.help().unwrap_or_else(|| "fix the statement".to_owned()),
            });
            return;
        }
        Ok(returned) if returned != documented => {
            let at = returned.iter().zip(&documented).position(|(a, b)| a != b);
            let at = at.unwrap_or(documented.len().min(returned.len()));
            let message = match (returned.get(at), documented.get(at)) {
                (Some(extra), None) => format!("column {extra} is not documented"),
                (None, Some(missing)) => format!("column {missing} is documented but not returned"),
                (a, b) => format!(
                    "column {} is {}, but {} is documented",
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
                "list in `columns` what the statement returns, in the same order",
            ));
        }
        Ok(_) => {}
    }
    if query.header.nsys.is_some()
        && let Err(error) =
            column_names(query, &Layout::Nsys(NsysUnits::default()), catalog, empty_report)
    {
        let message = error.to_string().lines().next().unwrap_or_default().to_owned();
        findings.push(place.finding("Q06", "nsys:", message, "fix the `sql` of NVIDIA's columns"));
    }
}

fn column_names(
    query: &Query,
    layout: &Layout,
    catalog: &Catalog,
    empty_report: &EmptyReport,
) -> Result<Vec<String>> {
    let plan = Plan::without_values(catalog, &Invocation::parse(&query.header.name), layout)?;
    let roots = plan.reads.iter().map(String::as_str);
    let installation = empty_report.installation(catalog, roots, None)?;
    let connection = empty_report.connect()?;
    let session =
        Session::begin(connection, &installation, &Limits::default()).map_err(|e| match e {
            Error::Sqlite(e) => Error::usage(e.to_string(), "fix the relation"),
            other => other,
        })?;
    session.column_names(&plan)
}
