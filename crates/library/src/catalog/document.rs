//! One tree for JSON with comments and for YAML. It keeps the order of keys, and duplicate keys.

use super::entry::Content;
use jsonc_parser::{CollectOptions, ast, parse_to_ast};
use nsq_render::seed::analyzer::WITH_COMMENTS;
use nsq_value::error::{Error, Result};
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// A value in a JSON or YAML file.
#[derive(Debug, Clone, PartialEq)]
pub enum Document {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number, spelled as in the file.
    Number(String),
    /// A string.
    Text(String),
    /// A list.
    List(Vec<Document>),
    /// Keys and values in file order. A key may occur more than once.
    Map(Vec<(String, Document)>),
}

impl Document {
    /// Parses the text of `file`: YAML if its name ends in `.yml` or `.yaml`, otherwise JSON, which may
    /// have comments and trailing commas.
    pub fn read(file: &str, content: &Content) -> Result<Self> {
        let text = content.text.trim_start_matches('\u{feff}');
        if file.ends_with(".yml") || file.ends_with(".yaml") {
            super::front_matter::read_yaml(file, content, text)
        } else {
            read_json(file, text)
        }
    }

    /// The value of a key, if this is a map that has it. The last value of a duplicate key wins.
    pub fn get(&self, key: &str) -> Option<&Document> {
        let entries = self.as_map()?;
        entries.iter().rev().find_map(|(name, value)| (name == key).then_some(value))
    }

    /// The entries, if this is a map.
    pub fn as_map(&self) -> Option<&[(String, Document)]> {
        match self {
            Self::Map(entries) => Some(entries),
            _ => None,
        }
    }

    /// The items, if this is a list.
    pub fn as_list(&self) -> Option<&[Document]> {
        match self {
            Self::List(items) => Some(items),
            _ => None,
        }
    }

    /// The text, if this is a string.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }
}

fn read_json(file: &str, text: &str) -> Result<Document> {
    let parsed = parse_to_ast(text, &CollectOptions::default(), &WITH_COMMENTS).map_err(|error| {
        Error::catalog(
            file,
            error.line_display(),
            format!("invalid JSON: {}", error.kind()),
            "strings need double quotes, and `\\\\` stands for a backslash; comments and trailing commas are \
             allowed",
        )
    })?;
    Ok(parsed.value.map_or(Document::Null, from_json))
}

fn from_json(value: ast::Value<'_>) -> Document {
    match value {
        ast::Value::NullKeyword(_) => Document::Null,
        ast::Value::BooleanLit(literal) => Document::Bool(literal.value),
        ast::Value::NumberLit(literal) => Document::Number(literal.value.to_owned()),
        ast::Value::StringLit(literal) => Document::Text(literal.value.into_owned()),
        ast::Value::Array(array) => Document::List(array.elements.into_iter().map(from_json).collect()),
        ast::Value::Object(object) => {
            let entry =
                |property: ast::ObjectProp<'_>| (property.name.into_string(), from_json(property.value));
            Document::Map(object.properties.into_iter().map(entry).collect())
        }
    }
}

impl<'de> Deserialize<'de> for Document {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(DocumentVisitor)
    }
}

struct DocumentVisitor;

impl<'de> Visitor<'de> for DocumentVisitor {
    type Value = Document;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("null, a boolean, a number, a string, a list or a map")
    }

    fn visit_unit<E>(self) -> Result<Document, E> {
        Ok(Document::Null)
    }

    fn visit_none<E>(self) -> Result<Document, E> {
        Ok(Document::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Document, D::Error> {
        Document::deserialize(deserializer)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Document, E> {
        Ok(Document::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Document, E> {
        Ok(Document::Number(value.to_string()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Document, E> {
        Ok(Document::Number(value.to_string()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Document, E> {
        Ok(Document::Number(value.to_string()))
    }

    fn visit_str<E>(self, value: &str) -> Result<Document, E> {
        Ok(Document::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Document, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Document::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Document, A::Error> {
        let mut map = Vec::new();
        while let Some(entry) = entries.next_entry()? {
            map.push(entry);
        }
        Ok(Document::Map(map))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(file: &str, text: &str) -> Result<Document> {
        Document::read(file, &Content::from(text))
    }

    #[test]
    fn json_allows_comments_and_trailing_commas_and_keeps_order_and_duplicates() {
        let text = "{ // first\n \"b\": [1, 2.5, true, null,], /* then */ \"a\": {\"x\\\\d\": \"y\",},\n \"b\": \"last\",}";
        let read = read("f.json", text).unwrap();
        let keys: Vec<&str> = read.as_map().unwrap().iter().map(|(key, _)| key.as_str()).collect();
        assert_eq!(keys, ["b", "a", "b"]);
        assert_eq!(read.get("b").and_then(Document::as_text), Some("last"));
        let list = read.as_map().unwrap()[0].1.as_list().unwrap();
        let number = |text: &str| Document::Number(text.to_owned());
        assert_eq!(list, [number("1"), number("2.5"), Document::Bool(true), Document::Null]);
        assert_eq!(read.get("a").unwrap().get("x\\d").and_then(Document::as_text), Some("y"));
    }

    #[test]
    fn yaml_reads_the_same() {
        let yaml = read("f.yml", "b: [1, 2.5, true, null]\na: {'x\\d': y}\nb: last\n").unwrap();
        let json = "{\"b\": [1, 2.5, true, null], \"a\": {\"x\\\\d\": \"y\"}, \"b\": \"last\"}";
        assert_eq!(yaml, read("f.json", json).unwrap());
    }

    #[test]
    fn syntax_errors_name_the_file_and_line() {
        let error = |file: &str, text: &str| read(file, text).unwrap_err().to_string();
        assert!(error("f.json", "{\n\"a\": 1\n\"b\": 2}").starts_with("f.json:"));
        assert!(error("f.json", "{'a': 1}").contains("invalid JSON"));
        assert!(error("f.json", "{\"a\": \"\\d\"}").contains("invalid JSON"));
        assert!(error("f.yml", "a: [1\nb: 2").starts_with("f.yml:"));
        assert!(error("f.yml", "a: b: c").starts_with("f.yml:1"));
    }
}
