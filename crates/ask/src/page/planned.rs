//! The parameters of a page, and the plans of its tables with them.

use super::template::{Templates, Trouble};
use super::values::value;
use minijinja::Value;
use nsq_engine::compile::{Invocation, Layout, Plan, Planner, parse_param, scalar};
use nsq_library::catalog::{Catalog, Page, PageTable, line_of};
use nsq_value::error::{Error, Result, nearest};
use nsq_value::table::Value as Cell;
use std::collections::BTreeMap;

/// A table of the page whose `when` is true.
#[derive(Debug)]
pub(super) struct Planned<'a> {
    pub(super) spec: &'a PageTable,
    pub(super) plan: Plan,
}

/// Plans the tables of the page whose `when` is true.
pub(super) fn planned<'a>(
    catalog: &Catalog,
    page: &'a Page,
    templates: &Templates,
    params: &Value,
) -> Result<Vec<Planned<'a>>> {
    let context = BTreeMap::from([("params".to_owned(), params.clone())]);
    let planner = Planner::new(catalog);
    let mut tables = Vec::new();
    for spec in &page.tables {
        if let Some(when) = &spec.when {
            let is_wanted = templates.value(when, &context);
            if !is_wanted.map_err(|trouble| fault(page, when, trouble))?.is_true() {
                continue;
            }
        }
        let mut invocation = Invocation::parse(&spec.query);
        for (key, text) in &spec.params {
            let set = templates.argument(text, &context);
            let set = set.map_err(|trouble| fault(page, text, trouble))?;
            invocation.values.extend(set.map(|set| (key.clone(), set)));
        }
        tables.push(Planned { spec, plan: planner.plan(&invocation, &Layout::Own)? });
    }
    Ok(tables)
}

/// Splits `key=value`. Fails unless each key is a parameter or a pattern of the page.
pub(super) fn split<'t>(page: &Page, given: &'t [String]) -> Result<Vec<(&'t str, &'t str)>> {
    let names = page.params.iter().map(|param| param.name.as_str());
    let names: Vec<&str> = names.chain(page.patterns.iter().map(|p| p.name.as_str())).collect();
    let (what, all) = match page.patterns.is_empty() {
        true => ("parameter", "Parameters"),
        false => ("parameter or pattern", "Parameters and patterns"),
    };
    let split = |text: &'t String| {
        let (key, text) = text.split_once('=').ok_or_else(|| {
            Error::usage(
                format!("invalid parameter '{text}': expected key=value"),
                format!("`nsq show {}` lists the parameters of the page", page.name),
            )
        })?;
        let (name, near) = (key.trim(), || nearest(key.trim(), names.iter().copied()));
        match names.contains(&name) {
            true => Ok((name, text)),
            false => Err(Error::Unknown {
                what,
                name: name.to_owned(),
                near: near(),
                help: format!("{all} of {}: {}.", page.name, names.join(", ")),
            }),
        }
    };
    given.iter().map(split).collect()
}

/// The values of the page's parameters, by name. Null: neither a value nor a default.
pub(super) fn values(page: &Page, typed: &BTreeMap<&str, &str>) -> Result<BTreeMap<String, Cell>> {
    let mut values = BTreeMap::new();
    for param in &page.params {
        let text = match typed.get(param.name.as_str()) {
            Some(text) => Some((*text).to_owned()),
            None if param.default.is_null() => None,
            None => Some(scalar(&param.default)),
        };
        let cell = match text {
            Some(text) => parse_param(&page.name, param, &text)?,
            None => Cell::Null,
        };
        values.insert(param.name.clone(), cell);
    }
    Ok(values)
}

/// The values of the page's parameters as templates see them.
pub(super) fn bind(page: &Page, given: &[String]) -> Result<Value> {
    let typed = split(page, given)?.into_iter().collect();
    let values = values(page, &typed)?;
    let values = values.iter().map(|(name, cell)| (name.clone(), value(cell)));
    Ok(Value::from(values.collect::<BTreeMap<String, Value>>()))
}

const PLAYBOOKS: &str = "see \"Playbooks\" in queries/README.md, and run `nsq check`";
pub(super) const HELP: &str = "see \"Pages\" in queries/README.md";

/// An error in the manifest, near a text in it.
pub(super) fn fault(page: &Page, near: &str, trouble: Trouble) -> Error {
    let (Trouble::Fault(reason) | Trouble::NoAnswer(reason)) = trouble;
    let near = near.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("name:");
    let help = if page.parts.is_empty() { HELP } else { PLAYBOOKS };
    Error::catalog(&page.file, line_of(&page.source, near), reason, help)
}
