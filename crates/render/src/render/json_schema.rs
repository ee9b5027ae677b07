//! The JSON Schema of what `--format json` prints.

use nsq_value::table::{Column, Type};
use serde_json::{Map, Value as Json, json};

/// The dialect of the schemas.
const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// A result that `--format json` prints as an object: a query, or a table of a page.
#[derive(Debug)]
pub struct Document<'a> {
    /// Facts with only one value, such as `("query", "top_kernels")`.
    pub constants: Vec<(&'a str, Json)>,
    /// Facts that every result has, with their type, such as `("reports", "array")`.
    pub facts: Vec<(&'a str, &'a str)>,
    /// Facts that some results have, with their type.
    pub optional: Vec<(&'a str, &'a str)>,
    /// The columns, each a property of the rows.
    pub columns: Vec<Column>,
    /// A text property that rows have in answers about several reports.
    pub by_report: Option<&'a str>,
}

/// The schema of a single result.
pub fn of_one(id: &str, title: &str, document: &Document<'_>) -> Json {
    let mut schema = head(id, title);
    if let Json::Object(fields) = document.schema() {
        schema.extend(fields);
    }
    Json::Object(schema)
}

/// The schema of a list of results, which are in this order, and of which any may be missing.
pub fn of_list(id: &str, title: &str, documents: &[Document<'_>]) -> Json {
    let mut schema = head(id, title);
    schema.insert("type".to_owned(), "array".into());
    let items: Vec<Json> = documents.iter().map(Document::schema).collect();
    schema.insert("items".to_owned(), json!({ "anyOf": items }));
    Json::Object(schema)
}

fn head(id: &str, title: &str) -> Map<String, Json> {
    let facts = [("$schema", DIALECT), ("$id", id), ("title", title)];
    facts.map(|(name, text)| (name.to_owned(), text.into())).into_iter().collect()
}

impl Document<'_> {
    fn schema(&self) -> Json {
        let mut properties = Map::new();
        for (name, value) in &self.constants {
            properties.insert((*name).to_owned(), json!({ "const": value }));
        }
        for (name, kind) in self.facts.iter().chain(&self.optional) {
            properties.insert((*name).to_owned(), json!({ "type": kind }));
        }
        properties
            .insert("columns".to_owned(), json!({ "type": "array", "items": { "type": "object" } }));
        properties.insert("rows".to_owned(), json!({ "type": "array", "items": self.row() }));
        let constants = self.constants.iter().map(|(name, _)| *name);
        let required = constants.chain(self.facts.iter().map(|(name, _)| *name));
        let required: Vec<&str> = required.chain(["columns", "rows"]).collect();
        json!({ "type": "object", "properties": properties, "required": required })
    }

    fn row(&self) -> Json {
        let mut properties = Map::new();
        if let Some(name) = self.by_report {
            let doc = "Report that the row comes from, where several are asked.";
            properties.insert(name.to_owned(), json!({ "type": "string", "description": doc }));
        }
        for column in &self.columns {
            let mut property = Map::new();
            if let Some(kind) = kind(column.kind) {
                property.insert("type".to_owned(), json!([kind, "null"]));
            }
            property.insert("description".to_owned(), column.doc.as_str().into());
            if let Some(unit) = column.unit {
                property.insert("unit".to_owned(), json!(unit));
            }
            properties.insert(column.name.clone(), Json::Object(property));
        }
        let required: Vec<&str> = self.columns.iter().map(|column| column.name.as_str()).collect();
        json!({
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        })
    }
}

/// The JSON type of values that are not null; `None`: any.
fn kind(kind: Type) -> Option<&'static str> {
    match kind {
        Type::Int | Type::Bool | Type::Timestamp => Some("integer"),
        // A mean of durations or sizes has a fraction.
        Type::Real | Type::Percent | Type::Duration | Type::Bytes => Some("number"),
        Type::Text => Some("string"),
        Type::Id | Type::Any => None,
    }
}
