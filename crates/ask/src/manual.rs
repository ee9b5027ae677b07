//! The manual pages of queries, relations, sources, functions, class maps, pages and playbooks, which a layout writes.

use crate::page::Templates;
use nsq_engine::execute::{Function, functions};
use nsq_library::catalog::{Catalog, Page, Pattern};
use nsq_render::render::visible;
use nsq_sweep::classify::Pattern as ClassPattern;
use nsq_value::error::{Error, Result};
use serde::Serialize;
use serde_json::{Value as Json, json};
use std::collections::BTreeSet;

/// How a manual page is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Form {
    /// Lines of at most 96 characters, for terminals.
    #[default]
    Text,
    /// Markdown, for a site or a book.
    Markdown,
}

/// The folder of pages and the layout in it.
const LAYOUT: &str = "manual";

/// The manual page of anything in the library, by its name. A query, relation or source takes precedence
/// over a class map, page or playbook of the same name, and all of these over a function of SQL.
///
/// # Errors
///
/// [`Error::Unknown`] for a name that nothing has, [`Error::Catalog`] for a malformed file.
pub fn manual(catalog: &Catalog, name: &str, form: Form) -> Result<String> {
    let mut about = about(catalog, name)?;
    about["markdown"] = (form == Form::Markdown).into();
    Templates::new(visible).own_layout(catalog, LAYOUT, &about)
}

/// What the layout sees of it.
fn about(catalog: &Catalog, name: &str) -> Result<Json> {
    let has_sql = catalog.query(name).is_ok()
        || catalog.relation(name).is_some()
        || catalog.source(name).is_some();
    if !has_sql {
        if catalog.classes().names().iter().any(|map| map == name) {
            return about_classes(catalog, name);
        }
        // A page comes before a playbook of the same name.
        if catalog.page_names().any(|page| page == name) && catalog.page(name)?.parts.is_empty() {
            return about_page(catalog, catalog.page(name)?);
        }
        match catalog.playbook(name) {
            Err(Error::Unknown { .. }) => {}
            found => return about_playbook(found?),
        }
    }
    if let Some(relation) = catalog.relation(name) {
        let relation = relation?;
        return Ok(
            json!({ "kind": "relation", "it": fields(&relation.header)?, "file": relation.file }),
        );
    }
    if let Some(source) = catalog.source(name) {
        return Ok(json!({ "kind": "source", "it": fields(source?)? }));
    }
    let query = match catalog.query(name) {
        Ok(query) => query,
        Err(error) => {
            let functions = functions()?;
            return match functions.iter().find(|function| function.name == name) {
                Some(function) => Ok(json!({ "kind": "function", "it": fields(function)? })),
                None => Err(suggest(error, name, catalog, &functions)),
            };
        }
    };
    let headers: Vec<String> =
        query.header.columns.iter().map(|column| column.to_column().header()).collect();
    let it = fields(&query.header)?;
    Ok(json!({ "kind": "query", "it": it, "file": query.file, "headers": headers }))
}

/// The fields of a file, by the names that the file has for them.
fn fields(of: &impl Serialize) -> Result<Json> {
    serde_json::to_value(of).map_err(|e| Error::Output(e.into()))
}

/// For an unknown name, suggests queries, relations and functions.
fn suggest(error: Error, name: &str, catalog: &Catalog, functions: &[Function]) -> Error {
    match error {
        Error::Unknown { .. } => {
            let functions = functions.iter().map(|function| function.name.as_str());
            let names = catalog.query_names().chain(catalog.relation_names()).chain(functions);
            Error::unknown(
                "query, relation or function",
                name,
                names,
                "`nsq list` lists the queries, `nsq list --relations` the relations and `nsq list --functions` the functions.",
            )
        }
        other => other,
    }
}

fn about_classes(catalog: &Catalog, name: &str) -> Result<Json> {
    let map = catalog.classes().map(name)?;
    let rules = map.rules.iter().map(|rule| {
        let kind = match rule.rule.pattern {
            ClassPattern::Match(_) => "match ",
            ClassPattern::Substring(_) => "substring ",
            ClassPattern::Activity(_) => "",
        };
        let why = if rule.why.is_empty() { String::new() } else { format!(" [{}]", rule.why) };
        [rule.rule.class.clone(), format!("{kind}{}{why}", rule.rule.pattern)]
    });
    let rules: Vec<[String; 2]> = rules.collect();
    Ok(json!({ "kind": "classes", "name": name, "doc": map.doc, "rules": rules, "files": map.files() }))
}

fn about_page(catalog: &Catalog, page: &Page) -> Result<Json> {
    let summary = |query: &String| Ok(&catalog.query(query)?.header.summary);
    let summaries = page.tables.iter().map(|table| summary(&table.query)).collect::<Result<Vec<_>>>()?;
    let layouts = catalog.layouts(&page.name).map(|(name, _)| name);
    let layouts: Vec<&str> = layouts.filter(|name| !name.starts_with('_')).collect();
    let it = fields(page)?;
    Ok(
        json!({ "kind": "page", "it": it, "file": page.file, "summaries": summaries, "layouts": layouts }),
    )
}

fn about_playbook(playbook: &Page) -> Result<Json> {
    let ways = |pattern: &Pattern| {
        let spelled = pattern.any.iter().map(|alternative| match alternative.with.as_slice() {
            [] => alternative.name.spelled(),
            with => format!("{} if there is {}", alternative.name.spelled(), with.join(" and ")),
        });
        let together =
            (!pattern.all.is_empty()).then(|| format!("else {} together", pattern.all.join(" + ")));
        spelled.chain(together).collect::<Vec<_>>().join(" | ")
    };
    let ways: Vec<String> = playbook.patterns.iter().map(ways).collect();
    let queries: BTreeSet<&str> = playbook.asks().map(|ask| ask.query.as_str()).collect();
    let it = fields(playbook)?;
    Ok(json!({ "kind": "playbook", "it": it, "file": playbook.file, "ways": ways, "queries": queries }))
}
