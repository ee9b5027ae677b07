//! Source specs: each describes a raw table of an nsys export. The `src_*` views are generated from
//! them.

use super::entry::Content;
use super::front_matter::read_yaml;
use nsq_value::error::Result;
use nsq_value::table::{Column, Type, Unit};
use serde::{Deserialize, Serialize};

/// A raw table or ENUM table, with the columns of all supported export versions.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(from = "Spec")]
pub struct Source {
    /// The file, as the user would open it.
    pub file: String,
    /// The full text of the file.
    pub text: String,
    /// Names of the table, newest first. The first one that the report has is used.
    pub tables: Vec<String>,
    /// Name of the generated view.
    pub view: String,
    /// What it contains, in a few words.
    pub title: String,
    /// What a row is.
    pub doc: String,
    /// The `nsys profile` flag that records it, or `always` if every capture has it.
    pub capture: String,
    /// Whether it contains captured environment variables or command lines. nsq hides these.
    pub secret: bool,
    /// For a secret table: GLOB patterns. Rows with a matching `name` are not secret.
    pub keep: Vec<String>,
    /// The columns. Empty for an ENUM table, whose columns are always id, name and label.
    pub columns: Vec<SourceColumn>,
    /// For an ENUM table: NVIDIA's rows, for reports that lack them.
    pub rows: Vec<EnumRow>,
}

impl Source {
    pub(super) fn parse(file: &str, _domain: &str, content: &Content) -> Result<Self> {
        let text: &str = &content.text;
        let mut source: Self = read_yaml(file, content, text)?;
        (source.file, source.text) = (file.to_owned(), text.to_owned());
        Ok(source)
    }

    /// Whether this is an ENUM table. nsq makes it a small TEMP table instead of a view.
    pub fn is_enum(&self) -> bool {
        !self.rows.is_empty()
    }

    /// The columns that the table must have to be usable: start and end, if every export version has
    /// them.
    pub fn essential_columns(&self) -> impl Iterator<Item = &str> {
        let is_in_all = |column: &&SourceColumn| column.since.is_none() && column.until.is_none();
        let names = self.columns.iter().filter(is_in_all).map(|column| column.name.as_str());
        names.filter(|name| ["start", "end"].contains(name))
    }

    /// The SQL condition that selects the rows that are not secret, or `None` if no row is secret. With patterns for
    /// rows and for values of a column, both must match.
    pub fn keep_condition(&self) -> Option<String> {
        match self.keep.as_slice() {
            [] if self.hides_values() => Some("1".to_owned()),
            [] if self.secret => Some("0".to_owned()),
            [] => None,
            globs => {
                let shown = self.columns.iter().filter_map(|column| column.keep_condition(&column.name));
                let conditions: Vec<String> = std::iter::once(any_glob("name", globs))
                    .chain(shown)
                    .map(|one| format!("({one})"))
                    .collect();
                Some(conditions.join(" AND "))
            }
        }
    }

    /// The columns of the view.
    pub fn view_columns(&self) -> Vec<Column> {
        if self.is_enum() {
            let text = |name| Column { kind: Type::Text, ..Column::untyped(name) };
            return vec![
                Column { kind: Type::Int, ..Column::untyped("id") },
                text("name"),
                text("label"),
            ];
        }
        let column = |column: &SourceColumn| {
            let kind = match column.kind {
                RawType::Int => Type::Int,
                RawType::Real => Type::Real,
                RawType::Text => Type::Text,
                RawType::Blob => Type::Any,
            };
            Column { kind, unit: column.unit, doc: column.doc.clone(), ..Column::untyped(&column.name) }
        };
        let row_id = Column { kind: Type::Id, ..Column::untyped("row_id") };
        std::iter::once(row_id).chain(self.columns.iter().map(column)).collect()
    }

    /// Whether all rows of this secret table are shown, but not all values of some column.
    pub fn hides_values(&self) -> bool {
        self.secret && self.keep.is_empty() && self.columns.iter().any(SourceColumn::is_limited)
    }
}

/// The SQL condition that a value matches one of the GLOB patterns.
fn any_glob(value: &str, globs: &[String]) -> String {
    let conditions: Vec<String> =
        globs.iter().map(|glob| format!("{value} GLOB '{}'", glob.replace('\'', "''"))).collect();
    conditions.join(" OR ")
}

/// A column of a raw table.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SourceColumn {
    /// Name in the export.
    pub name: String,
    /// `int`, `real`, `text` or `blob`.
    #[serde(rename = "type")]
    pub kind: RawType,
    /// Unit of the values.
    pub unit: Option<Unit>,
    /// The column that it refers to, as `Table.column`.
    #[serde(rename = "ref")]
    pub reference: Option<String>,
    /// First export schema version that has it. Absent: all have it.
    pub since: Option<String>,
    /// First export schema version without it. Absent: the newest version still has it.
    pub until: Option<String>,
    /// For a column of a secret table: GLOB patterns. All other values are null.
    #[serde(default)]
    pub keep: Vec<String>,
    /// For a column of a secret table: names of variables. `NAME=number` is not secret, and nothing else is shown.
    #[serde(default)]
    pub keep_numbers: Vec<String>,
    /// Meaning, and what null means.
    pub doc: String,
}

/// Most digits of a number that `keep_numbers` shows: no rank has more, but a secret may.
const MOST_DIGITS: usize = 7;

impl SourceColumn {
    /// Whether only some of its values are shown.
    pub fn is_limited(&self) -> bool {
        !self.keep.is_empty() || !self.keep_numbers.is_empty()
    }

    /// The SQL condition that selects the values that are not secret, or `None` if all are shown or hidden with their
    /// rows.
    pub fn keep_condition(&self, value: &str) -> Option<String> {
        if !self.is_limited() {
            return None;
        }
        let numbers = self.keep_numbers.iter().map(|name| {
            let name = name.replace('\'', "''");
            let number = format!("trim(substr({value}, {}), '\"')", name.len() + 2);
            format!(
                "substr({value}, 1, {}) = '{name}=' AND {number} NOT GLOB '*[^0-9]*' \
                 AND length({value}) <= {} AND length({number}) BETWEEN 1 AND {MOST_DIGITS}",
                name.len() + 1,
                // With quotes around the number.
                name.len() + 1 + MOST_DIGITS + 2
            )
        });
        let globs = (!self.keep.is_empty()).then(|| any_glob(value, &self.keep));
        Some(globs.into_iter().chain(numbers).collect::<Vec<_>>().join(" OR "))
    }
}

/// Declared type of a raw column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RawType {
    /// 64-bit integer.
    Int,
    /// Double.
    Real,
    /// Text.
    Text,
    /// Bytes.
    Blob,
}

/// A row of an ENUM table.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EnumRow {
    /// Numerical value.
    pub id: i64,
    /// Symbol.
    pub name: String,
    /// Text for people.
    pub label: String,
}

/// The YAML format of a source spec. It has either one `table` or several `tables`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Spec {
    table: Option<String>,
    #[serde(default)]
    tables: Vec<String>,
    view: String,
    title: String,
    doc: String,
    capture: String,
    #[serde(default)]
    secret: bool,
    #[serde(default)]
    keep: Vec<String>,
    #[serde(default)]
    columns: Vec<SourceColumn>,
    #[serde(default)]
    rows: Vec<EnumRow>,
}

impl From<Spec> for Source {
    fn from(spec: Spec) -> Self {
        Self {
            file: String::new(),
            text: String::new(),
            tables: spec.table.into_iter().chain(spec.tables).collect(),
            view: spec.view,
            title: spec.title,
            doc: spec.doc,
            capture: spec.capture,
            secret: spec.secret,
            keep: spec.keep,
            columns: spec.columns,
            rows: spec.rows,
        }
    }
}
