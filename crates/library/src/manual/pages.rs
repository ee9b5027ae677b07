//! The manual pages of queries, relations, sources, class maps, playbooks and pages.

use super::sheet::{Form, Sheet};
use crate::catalog::{Catalog, ColumnSpec, Page, Param, Query, Relation, Source};
use nsq_sweep::classify::Pattern;
use nsq_value::error::{Error, Result};

/// The manual page of anything in the library, by its name. A query, relation or source takes precedence
/// over a class map, page or playbook of the same name.
///
/// # Errors
///
/// [`Error::Unknown`] for a name that nothing has, [`Error::Catalog`] for a malformed file.
pub fn manual(catalog: &Catalog, name: &str, form: Form) -> Result<String> {
    let mut page = Sheet::new(form);
    write_page(&mut page, catalog, name)?;
    Ok(page.finish())
}

fn write_page(page: &mut Sheet, catalog: &Catalog, name: &str) -> Result<()> {
    let has_sql = catalog.query(name).is_ok()
        || catalog.relation(name).is_some()
        || catalog.source(name).is_some();
    if !has_sql {
        if catalog.classes().names().iter().any(|map| map == name) {
            return class_page(page, catalog, name);
        }
        // A page comes before a playbook of the same name.
        if catalog.page_names().any(|page| page == name) && catalog.page(name)?.parts.is_empty() {
            return page_page(page, catalog, name);
        }
        match catalog.playbook(name) {
            Err(Error::Unknown { .. }) => {}
            found => {
                playbook_page(page, found?);
                return Ok(());
            }
        }
    }
    if let Some(relation) = catalog.relation(name) {
        relation_page(page, relation?);
    } else if let Some(source) = catalog.source(name) {
        source_page(page, source?);
    } else {
        query_page(page, catalog.query(name).map_err(|error| suggest(error, name, catalog))?);
    }
    Ok(())
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

fn playbook_page(page: &mut Sheet, playbook: &Page) {
    page.title(&format!("{}@{}", playbook.name, playbook.version), &playbook.title);
    page.paragraph(&playbook.doc);
    page.heading("QUESTIONS", "(--part NAME)");
    for part in &playbook.parts {
        let about: Vec<&str> = part.answers.iter().map(|answer| answer.about.as_str()).collect();
        page.item(&part.part, &format!("{} [{}]", part.question.trim(), about.join("; ")));
    }
    if !playbook.params.is_empty() {
        page.heading("PARAMETERS", "(-p name=value)");
        params(page, &playbook.params);
    }
    for preset in &playbook.presets {
        page.heading("PRESETS", &format!("(-p {}=NAME)", preset.param));
        for value in &preset.values {
            let sets: Vec<String> =
                value.sets.iter().map(|(name, text)| format!("{name}={text}")).collect();
            page.item(&value.value, &sets.join(" "));
        }
    }
    if !playbook.files.is_empty() {
        page.heading("FILES", "(--file name=FILE)");
        for file in &playbook.files {
            page.item(&file.name, &format!("{} [{}]", file.doc, file.columns.join(", ")));
        }
    }
    page.heading("PATTERNS", "(-p name='GLOB' or -p name='/REGEX/' names your own ranges)");
    for pattern in &playbook.patterns {
        let spelled = pattern.any.iter().map(|alternative| match alternative.with.as_slice() {
            [] => alternative.name.spelled(),
            with => format!("{} if there is {}", alternative.name.spelled(), with.join(" and ")),
        });
        let mut ways: Vec<String> = spelled.collect();
        if !pattern.all.is_empty() {
            ways.push(format!("else {} together", pattern.all.join(" + ")));
        }
        page.item(&pattern.name, &format!("{} [{}]", pattern.doc, ways.join(" | ")));
    }
    page.heading("QUERIES", "");
    let queries: std::collections::BTreeSet<&str> =
        playbook.asks().map(|ask| ask.query.as_str()).collect();
    page.names("", queries);
    page.heading("SOURCE", "");
    page.names("", [playbook.file.as_str()]);
}

fn params(page: &mut Sheet, params: &[Param]) {
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
        page.item(&param.name, &format!("{} [{kind}, {default}]", param.doc));
    }
}

fn query_page(page: &mut Sheet, query: &Query) {
    let header = &query.header;
    page.title(&format!("{}@{}", header.name, header.version), &header.title);
    page.paragraph(&header.summary);
    page.paragraph(&header.why);
    if let Some(deprecated) = &header.deprecated {
        let text = format!(
            "Deprecated since {}: {} Use {}.",
            deprecated.since, deprecated.reason, deprecated.instead
        );
        page.paragraph(&text);
    }
    if !header.params.is_empty() {
        page.heading("PARAMETERS", "(-p name=value)");
        params(page, &header.params);
    }
    page.heading("COLUMNS", "(with their headers in tables)");
    for column in &header.columns {
        let header = column.to_column().header();
        let header = if header == column.name { String::new() } else { format!("\"{header}\": ") };
        page.item(&column.name, &format!("{header}{}", described(column)));
    }
    page.heading("LIMITS", "");
    page.paragraph(&header.limits);
    if let Some(nsys) = &header.nsys {
        page.heading("NVIDIA", "");
        let names = std::iter::once(&header.name).chain(&nsys.aliases);
        page.paragraph(&format!("{} ({}).", nsys.title, names.cloned().collect::<Vec<_>>().join(", ")));
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
            page.paragraph(&what);
        }
        let names: Vec<&str> = nsys.columns.iter().map(|column| column.name.as_str()).collect();
        page.paragraph(&format!("`--columns nsys` prints {}.", names.join(", ")));
    }
    if !header.see_also.is_empty() {
        page.heading("SEE ALSO", "");
        page.names("", header.see_also.iter().map(String::as_str));
    }
    page.heading("SOURCE", "");
    // The queries of a kind have no single name.
    let name_of = |query: &str| if query.is_empty() { "every finding" } else { query }.to_owned();
    let asks: Vec<String> = header.asks.iter().map(|ask| name_of(&ask.query)).collect();
    let (verb, inputs) = match asks.as_slice() {
        [] => ("reading", &header.reads),
        asks => ("over the answers of", &asks.to_vec()),
    };
    page.source(&query.file, verb, inputs.iter().map(String::as_str));
}

/// The manual page of a page of queries.
fn page_page(page: &mut Sheet, catalog: &Catalog, name: &str) -> Result<()> {
    let shown = catalog.page(name)?;
    page.title(&format!("{}@{}", shown.name, shown.version), &format!("{} (a page)", shown.title));
    page.paragraph(&shown.doc);
    if !shown.params.is_empty() {
        page.heading("PARAMETERS", "(-p name=value)");
        params(page, &shown.params);
    }
    page.heading("TABLES", "");
    for table in &shown.tables {
        let summary = catalog.query(&table.query).map(|query| query.header.summary.clone())?;
        let when = table.when.as_ref().map_or(String::new(), |when| format!(", if {when}"));
        let hidden = if table.hidden { ", for layouts only" } else { "" };
        page.item(&table.name, &format!("{summary} [{}{when}{hidden}]", table.query));
    }
    if !shown.facts.is_empty() {
        page.heading("FACTS", "");
        for fact in &shown.facts {
            page.item(&fact.name, &fact.expression);
        }
    }
    let layouts = catalog.layouts(&shown.name).map(|(name, _)| name);
    let layouts: Vec<&str> = layouts.filter(|name| !name.starts_with('_')).collect();
    if !layouts.is_empty() {
        page.heading("LAYOUTS", "(--layout NAME)");
        page.names("", layouts);
    }
    page.heading("SOURCE", "");
    page.names("", [shown.file.as_str()]);
    Ok(())
}

fn relation_page(page: &mut Sheet, relation: &Relation) {
    let header = &relation.header;
    page.title(&header.name, "a relation (normalised table)");
    page.paragraph(&header.summary);
    columns(page, &header.columns);
    if !header.limits.is_empty() {
        page.heading("LIMITS", "");
        page.paragraph(&header.limits);
    }
    page.heading("SOURCE", "");
    page.source(&relation.file, "reading", header.reads.iter().map(String::as_str));
    page.paragraph(&format!(
        "Scope options such as --time limit the rows of {0}. all_{0} always has all rows.",
        header.name
    ));
}

fn source_page(page: &mut Sheet, source: &Source) {
    page.title(&source.view, &format!("{}, from {}", source.title, source.tables.join(" or ")));
    page.paragraph(&source.doc);
    page.paragraph(&format!("Recorded by: {}", source.capture));
    page.heading("COLUMNS", "");
    for column in &source.columns {
        let mut facts = vec![format!("{:?}", column.kind).to_lowercase()];
        facts.extend(column.unit.map(|unit| unit.name().to_owned()));
        facts.extend(column.reference.as_ref().map(|target| format!("see {target}")));
        facts.extend(column.since.as_ref().map(|version| format!("since schema {version}")));
        facts.extend(column.until.as_ref().map(|version| format!("gone in schema {version}")));
        page.item(&column.name, &format!("{} [{}]", column.doc, facts.join(", ")));
    }
    for row in &source.rows {
        page.item(&row.id.to_string(), &format!("{} ({})", row.label, row.name));
    }
}

fn class_page(page: &mut Sheet, catalog: &Catalog, name: &str) -> Result<()> {
    let map = catalog.classes().map(name)?;
    page.title(name, &format!("a class map of {} rules", map.rules.len()));
    page.paragraph(&map.doc);
    page.heading("RULES", "(the first that matches decides)");
    for rule in &map.rules {
        let kind = match rule.rule.pattern {
            Pattern::Match(_) => "match ",
            Pattern::Substring(_) => "substring ",
            Pattern::Activity(_) => "",
        };
        let why = if rule.why.is_empty() { String::new() } else { format!(" [{}]", rule.why) };
        page.item(&rule.rule.class, &format!("{kind}{}{why}", rule.rule.pattern));
    }
    page.heading("SOURCE", "");
    page.names("", map.files());
    Ok(())
}

fn columns(page: &mut Sheet, columns: &[ColumnSpec]) {
    page.heading("COLUMNS", "");
    for column in columns {
        page.item(&column.name, &described(column));
    }
}

/// Meaning, type and unit of a column.
fn described(column: &ColumnSpec) -> String {
    let kind = column.kind.name();
    // Such as bytes, which is the unit too.
    let unit = column.unit.map(|unit| unit.name()).filter(|unit| *unit != kind);
    format!("{} [{kind}{}]", column.doc, unit.map_or(String::new(), |unit| format!(", {unit}")))
}
