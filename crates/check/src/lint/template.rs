//! What a template uses: filters, and columns of tables.

use regex::Regex;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// Compiles a constant regular expression.
#[expect(clippy::unwrap_used, reason = "constants that a test compiles")]
fn pattern(text: &str) -> Regex {
    Regex::new(text).unwrap()
}

/// Code in a template: `{{ … }}` or `{% … %}`.
static INSIDE: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?s)\{\{.*?\}\}|\{%.*?%\}"));
static QUOTED: LazyLock<Regex> = LazyLock::new(|| pattern(r#"'[^']*'|"[^"]*""#));
static FILTER: LazyLock<Regex> = LazyLock::new(|| pattern(r"\|\s*([A-Za-z_]\w*)"));
/// A column of a query's rows: `query.first.column` or `query.by.value.column`. Captures query and
/// column.
static FIELD: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b(\w+)\.(?:first|by\.\w+)\.([A-Za-z_]\w*)"));
static BY: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b(\w+)\.by\b"));
/// A loop: `for row in query.rows`. Captures row and query.
static LOOP: LazyLock<Regex> = LazyLock::new(|| pattern(r"\bfor\s+(\w+)\s+in\s+(\w+)\.rows\b"));
static OF_ROW: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b(\w+)\.([A-Za-z_]\w*)"));
/// A column of all rows: `query.rows|map(attribute='column')`. Captures query and column.
static MAPPED: LazyLock<Regex> =
    LazyLock::new(|| pattern(r#"\b(\w+)\.rows\s*\|\s*map\(\s*attribute\s*=\s*['"](\w+)['"]"#));

/// The code of a template, without the text around it.
pub(super) fn code_in(template: &str) -> String {
    let inside: Vec<&str> = INSIDE.find_iter(template).map(|found| found.as_str()).collect();
    inside.join(" ")
}

/// The filters that code uses.
pub(super) fn filters_in(code: &str) -> BTreeSet<String> {
    let code = QUOTED.replace_all(code, "''");
    FILTER.captures_iter(&code).map(|found| found[1].to_owned()).collect()
}

/// The columns that code reads, with the table of each.
pub(super) fn columns_in(code: &str) -> Vec<(String, String)> {
    let pair = |found: regex::Captures<'_>| (found[1].to_owned(), found[2].to_owned());
    let mut named: Vec<(String, String)> = MAPPED.captures_iter(code).map(pair).collect();
    let code = QUOTED.replace_all(code, "''");
    named.extend(FIELD.captures_iter(&code).map(pair));
    for row in LOOP.captures_iter(&code) {
        for field in OF_ROW.captures_iter(&code).filter(|field| field[1] == row[1]) {
            named.push((row[2].to_owned(), field[2].to_owned()));
        }
    }
    named
}

/// The tables whose rows code looks up by a key.
pub(super) fn keyed_in(code: &str) -> BTreeSet<String> {
    let code = QUOTED.replace_all(code, "''");
    BY.captures_iter(&code).map(|found| found[1].to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_compiles() {
        for pattern in [&INSIDE, &QUOTED, &FILTER, &FIELD, &BY, &LOOP, &OF_ROW, &MAPPED] {
            assert!(!pattern.as_str().is_empty());
        }
    }
}
