//! `nsq show NAME --json-schema`: the JSON Schema of what `--format json` prints.

use nsq_engine::compile::Invocation;
use nsq_library::catalog::{Catalog, ColumnSpec};
use nsq_render::render::json_schema::{Document, of_list, of_one};
use nsq_value::error::{Error, Result};
use nsq_value::table::Column;
use serde_json::{Value as Json, json};

/// The schema of a page or query, indented.
pub(super) fn schema(name: &str, catalog: &Catalog, invocation: &Invocation) -> Result<String> {
    let schema = match catalog.page(name).is_ok_and(|page| !page.tables.is_empty()) {
        true => of_page(catalog, name)?,
        false => of_query(catalog, &invocation.query)?,
    };
    let text = serde_json::to_string_pretty(&schema).map_err(|e| Error::Output(e.into()))?;
    Ok(text + "\n")
}

fn of_query(catalog: &Catalog, name: &str) -> Result<Json> {
    let header = &catalog.query(name)?.header;
    let id = format!("nsq:{name}:{}", header.version);
    Ok(of_one(
        &id,
        &header.title,
        &Document {
            constants: vec![("query", name.into()), ("version", header.version.into())],
            facts: vec![("nsq", "string")],
            optional: vec![
                ("report", "string"),
                ("reports", "array"),
                ("export_schema", "string"),
                ("nsys", "string"),
                ("scope", "object"),
                ("parameters", "object"),
            ],
            columns: columns(&header.columns),
            by_report: Some("report"),
        },
    ))
}

fn of_page(catalog: &Catalog, name: &str) -> Result<Json> {
    let page = catalog.page(name)?;
    let mut documents = Vec::new();
    for table in page.tables.iter().filter(|table| !table.hidden) {
        let header = &catalog.query(&table.query)?.header;
        documents.push(Document {
            constants: vec![
                ("page", name.into()),
                ("page_version", page.version.into()),
                ("table", table.name.as_str().into()),
                ("query", json!(table.query)),
                ("version", header.version.into()),
            ],
            facts: vec![
                ("nsq", "string"),
                ("reports", "array"),
                ("page_facts", "object"),
                ("title", "string"),
            ],
            optional: Vec::new(),
            columns: columns(&header.columns),
            by_report: (!header.across).then_some("report"),
        });
    }
    Ok(of_list(&format!("nsq:{name}:{}", page.version), &page.title, &documents))
}

fn columns(specs: &[ColumnSpec]) -> Vec<Column> {
    specs.iter().map(ColumnSpec::to_column).collect()
}
