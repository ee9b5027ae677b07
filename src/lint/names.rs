//! What columns, names and sentences must look like.

use super::Finding;
use crate::catalog::{ColumnSpec, line_of};
use crate::table::{Type, Unit};

/// Where a rule is broken: the file and its text, to find lines in.
pub(super) struct Place<'a> {
    pub file: &'a str,
    pub text: &'a str,
}

impl Place<'_> {
    /// A finding on the line where `needle` stands.
    pub(super) fn finding(
        &self,
        rule: &'static str,
        needle: &str,
        message: String,
        help: &str,
    ) -> Finding {
        let (file, line) = (self.file.to_owned(), line_of(self.text, needle));
        Finding { file, line, rule, message, help: help.to_owned() }
    }
}

/// Q01: the file is called what the front matter says.
pub(super) fn check_stem(
    place: &Place<'_>,
    rule: &'static str,
    name: &str,
    findings: &mut Vec<Finding>,
) {
    let stem = std::path::Path::new(place.file).file_stem().unwrap_or_default().to_string_lossy();
    let is_snake = name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    if stem != name || !is_snake || name.is_empty() {
        findings.push(place.finding(
            rule,
            "name:",
            format!("the name `{name}` is not the file's stem `{stem}` in lower_snake_case"),
            "rename the file or the query: people look one up by the other",
        ));
    }
}

/// Q07, Q08: units agree with suffixes and types, and everything is documented.
pub(super) fn check_columns(
    place: &Place<'_>,
    rules: [&'static str; 2],
    columns: &[ColumnSpec],
    findings: &mut Vec<Finding>,
) {
    for column in columns {
        let name = &column.name;
        let needle = format!("name: {name},");
        let mut unit_finding = |message: String, help: &str| {
            findings.push(place.finding(rules[0], &needle, message, help));
        };
        let by_suffix = [Unit::BytesPerS, Unit::Bytes, Unit::Ns, Unit::Percent, Unit::Hz]
            .into_iter()
            .find(|unit| name.ends_with(unit.suffix()));
        match (by_suffix, column.unit) {
            (Some(suffix), unit) if unit != Some(suffix) => unit_finding(
                format!("column {name}: its name promises a unit that the front matter does not give"),
                &format!("give it `unit: {}`, or another name", suffix.name()),
            ),
            (None, Some(unit)) if !unit.suffix().is_empty() => unit_finding(
                format!("column {name}: its name does not tell its unit"),
                &format!("end its name in `{}`", unit.suffix()),
            ),
            _ => {}
        }
        let fits = match column.kind {
            Type::Timestamp | Type::Duration => column.unit == Some(Unit::Ns),
            Type::Bytes => column.unit == Some(Unit::Bytes),
            Type::Percent => column.unit == Some(Unit::Percent),
            Type::Text | Type::Bool => column.unit.is_none(),
            Type::Int | Type::Real | Type::Id => true,
            Type::Any => false,
        };
        if !fits {
            findings.push(place.finding(
                rules[0],
                &needle,
                format!(
                    "column {name}: type {} does not go with unit {}",
                    column.kind.name(),
                    column.unit.map_or("none", Unit::name)
                ),
                "timestamp and duration go with ns, bytes with bytes, percent with percent, text with none",
            ));
        }
        check_doc(place, rules[1], &needle, &format!("column {name}"), name, &column.doc, findings);
    }
}

/// Q08: the text says more than the name.
pub(super) fn check_doc(
    place: &Place<'_>,
    rule: &'static str,
    needle: &str,
    what: &str,
    name: &str,
    doc: &str,
    findings: &mut Vec<Finding>,
) {
    let bare: String = doc.to_lowercase().chars().filter(|c| c.is_alphanumeric()).collect();
    let same: String = name.to_lowercase().chars().filter(|c| c.is_alphanumeric()).collect();
    if bare.is_empty() || bare == same || !doc.trim_end().ends_with('.') {
        findings.push(place.finding(
            rule,
            needle,
            format!("{what} is not documented"),
            "say in a sentence, with a full stop, what it means, and what null means where it can be",
        ));
    }
}
