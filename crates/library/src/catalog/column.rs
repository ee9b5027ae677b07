//! Columns and parameters in front matter.

use nsq_value::table::{Column, Type, Unit};
use serde::{Deserialize, Serialize};

/// Type and meaning of a result column.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ColumnSpec {
    /// Name in the statement.
    pub name: String,
    /// What the values are.
    #[serde(rename = "type")]
    pub kind: Type,
    /// Unit of the raw values.
    pub unit: Option<Unit>,
    /// Header in tables for people; default: the name without its unit suffix.
    pub label: Option<String>,
    /// How long the column stays where a terminal is too narrow; default: [`Column::PRIORITY`].
    pub priority: Option<u8>,
    /// Meaning; says what null means where null can be.
    pub doc: String,
}

impl ColumnSpec {
    /// The column of a result.
    pub fn to_column(&self) -> Column {
        Column {
            name: self.name.clone(),
            kind: self.kind,
            unit: self.unit,
            label: self.label.clone(),
            priority: self.priority.unwrap_or(Column::PRIORITY),
            doc: self.doc.clone(),
            decimals: None,
        }
    }
}

/// A parameter that the statement binds as `:name`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Param {
    /// Name, without the colon.
    pub name: String,
    /// Type of its values.
    #[serde(rename = "type")]
    pub kind: ParamType,
    /// Value if the user gives none. Absent means null.
    #[serde(default)]
    pub default: serde_yaml::Value,
    /// Whether the query refuses to run without it.
    #[serde(default)]
    pub required: bool,
    /// Minimum, for numbers.
    pub min: Option<f64>,
    /// Maximum, for numbers.
    pub max: Option<f64>,
    /// Allowed values of an `enum`.
    #[serde(default)]
    pub values: Vec<String>,
    /// Meaning.
    pub doc: String,
}

/// Type of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ParamType {
    /// An integer.
    Int,
    /// A number.
    Real,
    /// Any text.
    Text,
    /// `true` or `false`, bound as 1 or 0.
    Bool,
    /// A time such as `300ns`, `1.5ms` or `2s`, bound as integer nanoseconds.
    Duration,
    /// A size such as `4096`, `4KiB` or `1.5MB`, bound as integer bytes.
    Bytes,
    /// One of `values`.
    Enum,
    /// A list such as `a,b,c`, bound as a JSON array for `json_each`.
    List,
}
