//! The manual pages of queries, relations, sources, class maps, playbooks and pages.

use crate::catalog::{Catalog, ColumnSpec, Page, Param, Query, Relation, Source};
use crate::classify::Pattern;
use crate::error::{Error, Result};
use crate::render::filled;
use std::fmt::Write as _;

/// The manual page of anything in the library, by its name. A query, relation or source takes precedence
/// over a class map, page or playbook of the same name.
///
/// # Errors
///
/// [`Error::Unknown`] for a name that nothing has, [`Error::Catalog`] for a malformed file.
pub fn manual(catalog: &Catalog, name: &str) -> Result<String> {
    let has_sql = catalog.query(name).is_ok()
        || catalog.relation(name).is_some()
        || catalog.source(name).is_some();
    if !has_sql {
        if catalog.classes().names().iter().any(|map| map == name) {
            return class_page(catalog, name);
        }
        // A page comes before a playbook of the same name.
        if catalog.page_names().any(|page| page == name) && catalog.page(name)?.parts.is_empty() {
            return page_page(catalog, name);
        }
        match catalog.playbook(name) {
            Err(Error::Unknown { .. }) => {}
            found => return found.map(playbook_page),
        }
    }
    if let Some(relation) = catalog.relation(name) {
        return relation.map(relation_page);
    }
    if let Some(source) = catalog.source(name) {
        return source.map(source_page);
    }
    catalog.query(name).map(query_page).map_err(|error| suggest(error, name, catalog))
}

/// For an unknown name, suggests both queries and relations.
fn suggest(error: Error, name: &str, catalog: &Catalog) -> Error {
    match error {
        Error::Unknown { .. } => {
            let names = catalog.query_names().chain(catalog.relation_names());
            Error::unknown(
                "query or relation",
                name,
                names,
                "`nsq list` lists the queries and `nsq list --relations` the relations.",
            )
        }
        other => other,
    }
}

fn playbook_page(playbook: &Page) -> String {
    let mut page = format!("{}@{} - {}\n\n", playbook.name, playbook.version, playbook.title);
    paragraph(&mut page, &playbook.doc);
    page.push_str("\nQUESTIONS (--part NAME)\n");
    for part in &playbook.parts {
        let about: Vec<&str> = part.answers.iter().map(|answer| answer.about.as_str()).collect();
        item(&mut page, &part.part, &format!("{} [{}]", part.question.trim(), about.join("; ")));
    }
    if !playbook.params.is_empty() {
        page.push_str("\nPARAMETERS (-p name=value)\n");
        params(&mut page, &playbook.params);
    }
    for preset in &playbook.presets {
        let _ = writeln!(page, "\nPRESETS (-p {}=NAME)", preset.param);
        for value in &preset.values {
            let sets: Vec<String> =
                value.sets.iter().map(|(name, text)| format!("{name}={text}")).collect();
            item(&mut page, &value.value, &sets.join(" "));
        }
    }
    if !playbook.files.is_empty() {
        page.push_str("\nFILES (--file name=FILE)\n");
        for file in &playbook.files {
            item(&mut page, &file.name, &format!("{} [{}]", file.doc, file.columns.join(", ")));
        }
    }
    page.push_str("\nPATTERNS (-p name='GLOB' or -p name='/REGEX/' names your own ranges)\n");
    for pattern in &playbook.patterns {
        let spelled = pattern.any.iter().map(|alternative| match alternative.with.as_slice() {
            [] => alternative.name.spelled(),
            with => format!("{} if there is {}", alternative.name.spelled(), with.join(" and ")),
        });
        let mut ways: Vec<String> = spelled.collect();
        if !pattern.all.is_empty() {
            ways.push(format!("else {} together", pattern.all.join(" + ")));
        }
        item(&mut page, &pattern.name, &format!("{} [{}]", pattern.doc, ways.join(" | ")));
    }
    page.push_str("\nQUERIES\n");
    let queries: std::collections::BTreeSet<&str> =
        playbook.asks().map(|ask| ask.query.as_str()).collect();
    paragraph(&mut page, &queries.into_iter().collect::<Vec<_>>().join(", "));
    page.push_str("\nSOURCE\n");
    paragraph(&mut page, &playbook.file);
    page
}

fn params(page: &mut String, params: &[Param]) {
    for param in params {
        let default = match serde_json::to_value(&param.default) {
            Ok(serde_json::Value::Null) | Err(_) => "none".to_owned(),
            Ok(serde_json::Value::String(text)) => text,
            Ok(other) => other.to_string(),
        };
        let kind = match param.values.as_slice() {
            [] => format!("{:?}", param.kind).to_lowercase(),
            values => values.join("|"),
        };
        let default = if param.required { "required".to_owned() } else { format!("default {default}") };
        item(page, &param.name, &format!("{} [{kind}, {default}]", param.doc));
    }
}

fn query_page(query: &Query) -> String {
    let header = &query.header;
    let mut page = format!("{}@{} - {}\n\n", header.name, header.version, header.title);
    paragraph(&mut page, &header.summary);
    paragraph(&mut page, &header.why);
    if let Some(deprecated) = &header.deprecated {
        let text = format!(
            "Deprecated since {}: {} Use {}.",
            deprecated.since, deprecated.reason, deprecated.instead
        );
        paragraph(&mut page, &text);
    }
    if !header.params.is_empty() {
        page.push_str("\nPARAMETERS (-p name=value)\n");
        params(&mut page, &header.params);
    }
    page.push_str("\nCOLUMNS (with their headers in tables)\n");
    for column in &header.columns {
        let header = column.to_column().header();
        let header = if header == column.name { String::new() } else { format!("\"{header}\": ") };
        item(&mut page, &column.name, &format!("{header}{}", described(column)));
    }
    page.push_str("\nLIMITS\n");
    paragraph(&mut page, &header.limits);
    if let Some(nsys) = &header.nsys {
        page.push_str("\nNVIDIA\n");
        let names = std::iter::once(&header.name).chain(&nsys.aliases);
        paragraph(
            &mut page,
            &format!("{} ({}).", nsys.title, names.cloned().collect::<Vec<_>>().join(", ")),
        );
        for arg in &nsys.args {
            let sets: Vec<String> = arg
                .set
                .iter()
                .map(|(name, value)| {
                    let flag = value.as_bool().map(|flag| flag.to_string());
                    format!("{name}={}", value.as_str().map(str::to_owned).or(flag).unwrap_or_default())
                })
                .collect();
            let what = match &arg.param {
                Some(param) => format!("{}=VALUE is the same as -p {param}=VALUE", arg.name),
                None => format!("{} is the same as -p {}", arg.name, sets.join(" -p ")),
            };
            paragraph(&mut page, &what);
        }
        let names: Vec<&str> = nsys.columns.iter().map(|column| column.name.as_str()).collect();
        paragraph(&mut page, &format!("`--columns nsys` prints {}.", names.join(", ")));
    }
    if !header.see_also.is_empty() {
        page.push_str("\nSEE ALSO\n");
        paragraph(&mut page, &header.see_also.join(", "));
    }
    page.push_str("\nSOURCE\n");
    let asks: Vec<String> = header.asks.iter().map(|ask| ask.query.clone()).collect();
    let (verb, inputs) = match asks.as_slice() {
        [] => ("reading", &header.reads),
        asks => ("over the answers of", &asks.to_vec()),
    };
    paragraph(&mut page, &format!("{}, {verb} {}", query.file, inputs.join(", ")));
    page
}

/// The manual page of a page of queries.
fn page_page(catalog: &Catalog, name: &str) -> Result<String> {
    let shown = catalog.page(name)?;
    let mut page = format!("{}@{} - {} (a page)\n\n", shown.name, shown.version, shown.title);
    paragraph(&mut page, &shown.doc);
    if !shown.params.is_empty() {
        page.push_str("\nPARAMETERS (-p name=value)\n");
        params(&mut page, &shown.params);
    }
    page.push_str("\nTABLES\n");
    for table in &shown.tables {
        let summary = catalog.query(&table.query).map(|query| query.header.summary.clone())?;
        let when = table.when.as_ref().map_or(String::new(), |when| format!(", if {when}"));
        let hidden = if table.hidden { ", for layouts only" } else { "" };
        item(&mut page, &table.name, &format!("{summary} [{}{when}{hidden}]", table.query));
    }
    if !shown.facts.is_empty() {
        page.push_str("\nFACTS\n");
        for fact in &shown.facts {
            item(&mut page, &fact.name, &fact.expression);
        }
    }
    let layouts = catalog.layouts(&shown.name).map(|(name, _)| name);
    let layouts: Vec<&str> = layouts.filter(|name| !name.starts_with('_')).collect();
    if !layouts.is_empty() {
        page.push_str("\nLAYOUTS (--layout NAME)\n");
        paragraph(&mut page, &layouts.join(", "));
    }
    page.push_str("\nSOURCE\n");
    paragraph(&mut page, &shown.file);
    Ok(page)
}

fn relation_page(relation: &Relation) -> String {
    let header = &relation.header;
    let mut page = format!("{} - a relation (normalised table)\n\n", header.name);
    paragraph(&mut page, &header.summary);
    columns(&mut page, &header.columns);
    if !header.limits.is_empty() {
        page.push_str("\nLIMITS\n");
        paragraph(&mut page, &header.limits);
    }
    page.push_str("\nSOURCE\n");
    paragraph(&mut page, &format!("{}, reading {}", relation.file, header.reads.join(", ")));
    paragraph(
        &mut page,
        &format!(
            "Scope options such as --time limit the rows of {0}. all_{0} always has all rows.",
            header.name
        ),
    );
    page
}

fn source_page(source: &Source) -> String {
    let mut page =
        format!("{} - {}, from {}\n\n", source.view, source.title, source.tables.join(" or "));
    paragraph(&mut page, &source.doc);
    paragraph(&mut page, &format!("Recorded by: {}", source.capture));
    page.push_str("\nCOLUMNS\n");
    for column in &source.columns {
        let mut facts = vec![format!("{:?}", column.kind).to_lowercase()];
        facts.extend(column.unit.map(|unit| unit.name().to_owned()));
        facts.extend(column.reference.as_ref().map(|target| format!("see {target}")));
        facts.extend(column.since.as_ref().map(|version| format!("since schema {version}")));
        facts.extend(column.until.as_ref().map(|version| format!("gone in schema {version}")));
        item(&mut page, &column.name, &format!("{} [{}]", column.doc, facts.join(", ")));
    }
    for row in &source.rows {
        item(&mut page, &row.id.to_string(), &format!("{} ({})", row.label, row.name));
    }
    page
}

fn class_page(catalog: &Catalog, name: &str) -> Result<String> {
    let map = catalog.classes().map(name)?;
    let mut page = format!("{name} - a class map of {} rules\n\n", map.rules.len());
    paragraph(&mut page, &map.doc);
    page.push_str("\nRULES (the first that matches decides)\n");
    for rule in &map.rules {
        let kind = match rule.rule.pattern {
            Pattern::Match(_) => "match ",
            Pattern::Substring(_) => "substring ",
            Pattern::Activity(_) => "",
        };
        let why = if rule.why.is_empty() { String::new() } else { format!(" [{}]", rule.why) };
        item(&mut page, &rule.rule.class, &format!("{kind}{}{why}", rule.rule.pattern));
    }
    page.push_str("\nSOURCE\n");
    paragraph(&mut page, &map.files().join(", "));
    Ok(page)
}

fn columns(page: &mut String, columns: &[ColumnSpec]) {
    page.push_str("\nCOLUMNS\n");
    for column in columns {
        item(page, &column.name, &described(column));
    }
}

/// Meaning, type and unit of a column.
fn described(column: &ColumnSpec) -> String {
    let unit = column.unit.map_or(String::new(), |unit| format!(", {}", unit.name()));
    format!("{} [{}{unit}]", column.doc, column.kind.name())
}

/// Width of a manual page, in characters.
const WIDTH: usize = 96;

fn paragraph(page: &mut String, text: &str) {
    for line in filled(text, WIDTH - 2) {
        let _ = writeln!(page, "  {line}");
    }
}

fn item(page: &mut String, name: &str, text: &str) {
    const INDENT: usize = 24;
    for (index, line) in filled(text, WIDTH - INDENT).into_iter().enumerate() {
        match index {
            0 if name.len() + 4 > INDENT => {
                let _ = writeln!(page, "  {name}\n{:INDENT$}{line}", "");
            }
            0 => {
                let _ = writeln!(page, "  {name:width$}{line}", width = INDENT - 2);
            }
            _ => {
                let _ = writeln!(page, "{:INDENT$}{line}", "");
            }
        }
    }
}
