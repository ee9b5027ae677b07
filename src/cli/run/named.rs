//! The queries that a command line names: of the library, in files, and statements in files without front matter.

use crate::cli::note;
use crate::cli::options::without_unit;
use nsq_engine::compile::{
    Invocation, Layout, Plan, named_params, split_statements, typed_params, unknown_param,
};
use nsq_files::bounded_file::{self, Origin};
use nsq_library::catalog::{Catalog, Param, ParamType, Shown, has_front_matter};
use nsq_library::manual::{library_items, search, words_of};
use nsq_value::error::{Error, Result};
use nsq_value::table::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// What `--query` names.
pub(super) enum Named {
    /// A query of the library, or a file that joined it.
    Query(Invocation),
    /// The statement of a file without front matter.
    Statement(Box<Plan>),
}

impl Named {
    /// Whether it has the parameter.
    fn takes(&self, catalog: &Catalog, key: &str) -> bool {
        match self {
            Self::Query(invocation) => catalog
                .query(&invocation.query)
                .is_ok_and(|query| query.header.params.iter().any(|param| param.name == key)),
            Self::Statement(plan) => named_params(&plan.sql).iter().any(|name| name == key),
        }
    }

    /// Whether the parameter is a time.
    fn takes_time(&self, catalog: &Catalog, key: &str) -> bool {
        let is_time = |param: &Param| param.name == key && param.kind == ParamType::Duration;
        match self {
            Self::Query(invocation) => catalog
                .query(&invocation.query)
                .is_ok_and(|query| query.header.params.iter().any(is_time)),
            Self::Statement(_) => false,
        }
    }

    fn with_params(self, params: &[String], key: &str) -> Result<Self> {
        match self {
            Self::Query(invocation) => Ok(Self::Query(invocation.with_params(params)?)),
            Self::Statement(plan) => {
                let names = named_params(&plan.sql);
                let values = typed_params(params)?;
                if !names.iter().any(|name| name == key) {
                    return Err(unknown_param(key, names.iter().map(String::as_str)));
                }
                Ok(Self::Statement(Box::new(plan.with_values(&values))))
            }
        }
    }

    /// The plan to run.
    pub(super) fn plan(self, catalog: &Catalog, layout: &Layout) -> Result<Plan> {
        match (self, layout) {
            (Self::Query(invocation), layout) => Plan::new(catalog, &invocation, layout),
            (Self::Statement(plan), Layout::Own) => Ok(*plan),
            (Self::Statement(plan), Layout::Nsys(_)) => Err(Error::usage(
                format!("{} has no columns of nsys", plan.origin.0),
                "leave out --columns nsys",
            )),
        }
    }
}

/// The queries that the user named. Files among them join the catalogue.
pub(super) fn named(catalog: &mut Catalog, spelled: &[String]) -> Result<Vec<Named>> {
    let invocations: Vec<Invocation> = spelled.iter().map(|text| Invocation::parse(text)).collect();
    must_have_different_names(catalog, &invocations)?;
    let mut named = Vec::new();
    for mut invocation in invocations {
        let Some(path) = invocation.path().map(Path::to_owned) else {
            named.push(Named::Query(invocation));
            continue;
        };
        let text = bounded_file::read_text(&path, Origin::Named)?;
        named.push(match has_front_matter(&text) {
            true => {
                invocation.query = catalog.add_query(&path, text);
                Named::Query(invocation)
            }
            false => Named::Statement(Box::new(statement(&path, &text, catalog)?)),
        });
    }
    let unknown = named.iter().find_map(|one| match one {
        Named::Query(invocation) => part_of_names(invocation, catalog),
        Named::Statement(_) => None,
    });
    unknown.map_or(Ok(named), Err)
}

/// The error for an unknown query whose name is a subject, such as `idle`: what `nsq list` finds first is a better guess
/// than the names that contain the word.
fn part_of_names(asked: &Invocation, catalog: &Catalog) -> Option<Error> {
    if catalog.page(&asked.query).is_ok() || catalog.relation(&asked.query).is_some() {
        return None;
    }
    let Err(Error::Unknown { what, name, near, help }) = catalog.query(&asked.query) else {
        return None;
    };
    // A name that is hardly longer is what was meant.
    if near.iter().any(|near| !near.contains(&name) || near.len() <= name.len() + 2) {
        return None;
    }
    let words: Vec<String> = name.split('_').map(str::to_owned).collect();
    let mut table = library_items(catalog, Shown::Public).ok()?;
    let found = search(&mut table, &words_of(&words), catalog).ok()?;
    let names = table.rows.iter().filter_map(|row| match row.get(1) {
        Some(Value::Text(found)) if catalog.query(found).is_ok() => Some(found.clone()),
        _ => None,
    });
    let near = if found.is_answer { names.take(3).collect() } else { near };
    Some(Error::Unknown { what, name, near, help })
}

/// The plan of the one statement in a file.
fn statement(path: &Path, text: &str, catalog: &Catalog) -> Result<Plan> {
    let file = path.display().to_string();
    match split_statements(text.trim_start_matches('\u{feff}')).as_slice() {
        [(offset, sql)] => {
            let line = 1 + text[..*offset].matches('\n').count();
            let title = Catalog::name_of_file(path);
            Ok(Plan { title, ..Plan::ad_hoc(sql, (file, line), catalog) })
        }
        [] => Err(Error::usage(
            format!("{file} has no statement"),
            "write a SELECT, or begin with `nsq new query NAME`",
        )),
        several => Err(Error::usage(
            format!("{file} has {} statements, but a query is one SELECT", several.len()),
            format!("run a script with `nsq sql REPORT --file {file}`"),
        )),
    }
}

/// One name stands for one query, in output as well.
fn must_have_different_names(catalog: &Catalog, named: &[Invocation]) -> Result<()> {
    let mut sources: BTreeMap<String, String> = BTreeMap::new();
    for invocation in named {
        let (name, source) = match invocation.path().map(Path::to_owned) {
            Some(path) => (Catalog::name_of_file(&path), path.display().to_string()),
            None => match catalog.query(&invocation.query) {
                Ok(query) => (query.header.name.clone(), format!("the query {}", query.header.name)),
                // It may be a file that is named, too.
                Err(_) => continue,
            },
        };
        match sources.insert(name.clone(), source.clone()) {
            Some(other) if other != source => {
                return Err(Error::usage(
                    format!("{other} and {source} have the same name, {name}"),
                    "rename a file, or run them one after the other",
                ));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Gives each parameter to the queries that have it. A parameter that no query has is an error.
pub(super) fn give_params(
    catalog: &Catalog,
    mut named: Vec<Named>,
    params: &[String],
) -> Result<Vec<Named>> {
    for param in params {
        let key = param.split('=').next().unwrap_or_default().trim();
        let is_taken = named.iter().any(|one| one.takes(catalog, key));
        if let Some(value) = param.split_once('=').map(|(_, value)| value)
            && named.iter().any(|one| one.takes_time(catalog, key))
            && let Some(text) = without_unit(&format!("-p {key}="), value, 1_000)
        {
            note(&text);
        }
        let give = |one: Named| match !is_taken || one.takes(catalog, key) {
            true => one.with_params(std::slice::from_ref(param), key),
            false => Ok(one),
        };
        named = named.into_iter().map(give).collect::<Result<Vec<Named>>>()?;
    }
    Ok(named)
}
