//! `--help-reports`, `--help-rules` and `--help-formats`, which a layout writes.

use super::request::Command;
use crate::cli::output::say;
use nsq_ask::page::Templates;
use nsq_library::catalog::{Catalog, Kind, Query};
use nsq_render::render::nsys::NsysFormat;
use nsq_render::render::visible;
use nsq_value::error::{Error, Result};
use serde_json::{Value as Json, json};

/// The folder of pages and the layout in it.
const LAYOUT: &str = "nsys_help";

/// Names everything, instead of one report, rule or format.
const ALL: &str = "ALL";

/// Lists the reports of a command, or describes one, or all.
pub(super) fn reports(catalog: &Catalog, command: Command, name: &str) -> Result<u8> {
    let is_listed = |query: &&Query| {
        query.header.nsys.is_some() && (query.header.kind == Kind::Rule) == (command == Command::Analyze)
    };
    let shown: Vec<&Query> = match name {
        "" | ALL => catalog.readable_queries().into_iter().filter(is_listed).collect(),
        name => vec![catalog.query(name).map_err(|error| command.explain(error))?],
    };
    let header = |query: &Query| serde_json::to_value(&query.header);
    let shown = shown.into_iter().map(header).collect::<Result<Vec<_>, _>>();
    let shown = shown.map_err(|e| Error::Output(e.into()))?;
    print(catalog, &json!({ "is_list": name.is_empty(), "noun": command.noun(), "reports": shown }))
}

/// Lists the formats, or describes one, or all.
pub(super) fn formats(catalog: &Catalog, name: &str) -> Result<u8> {
    let is_shown = |known: &str| name.is_empty() || name == ALL || name == known;
    let shown = NsysFormat::NAMES.into_iter().filter(|(known, _)| is_shown(known));
    let shown: Vec<_> = shown.map(|(name, format)| (name, format.extension())).collect();
    if shown.is_empty() {
        let names = NsysFormat::NAMES.iter().map(|(name, _)| *name);
        return Err(Error::unknown("format", name, names, "`--help-formats` lists the formats."));
    }
    print(catalog, &json!({ "is_list": name.is_empty(), "formats": shown }))
}

fn print(catalog: &Catalog, seen: &Json) -> Result<u8> {
    say(&Templates::new(visible).own_layout(catalog, LAYOUT, seen)?)?;
    Ok(0)
}
