//! Rules for names, columns and documentation.

use super::Finding;
use nsq_library::catalog::{ColumnSpec, line_of};
use nsq_value::table::{Type, Unit};

/// The file being checked. Its text is needed to find line numbers.
pub(super) struct Place<'a> {
    pub file: &'a str,
    pub text: &'a str,
}

impl Place<'_> {
    /// A finding on the first line that contains `needle`.
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

/// Q01, V01, P01: the name in the file equals the file's stem.
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
            format!("name '{name}' must equal the file stem '{stem}', in lower_snake_case"),
            "rename the file, or change `name`",
        ));
    }
}

/// Q07, Q08, V07, V08: units match the name suffixes and the types, and each column has a doc.
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
                format!(
                    "column {name}: the unit in the front matter does not match the suffix of the name"
                ),
                &format!("set `unit: {}`, or rename the column", suffix.name()),
            ),
            (None, Some(unit)) if !unit.suffix().is_empty() => unit_finding(
                format!("column {name}: the name lacks the suffix of its unit"),
                &format!("end the name with `{}`", unit.suffix()),
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
                    "column {name}: type {} does not match unit {}",
                    column.kind.name(),
                    column.unit.map_or("none", Unit::name)
                ),
                "timestamp and duration need unit ns, bytes needs bytes, percent needs percent; text and bool have no unit",
            ));
        }
        check_doc(place, rules[1], &needle, &format!("column {name}"), name, &column.doc, findings);
    }
}

/// Q08, V08, S08: the doc is a sentence that says more than the name.
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
    let problem = match doc.trim_end().ends_with('.') {
        _ if bare.is_empty() => Some(format!("{what} is not documented")),
        _ if bare == same => Some(format!("the doc of {what} only repeats its name")),
        true => None,
        false => Some(format!("the doc of {what} does not end in a full stop")),
    };
    if let Some(problem) = problem {
        findings.push(place.finding(
            rule,
            needle,
            problem,
            "write a `doc` sentence that ends in a full stop: what it means, and what null means if it can be null",
        ));
    }
}
