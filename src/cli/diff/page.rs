//! The comparison as an HTML page.

use super::Diff;
use super::tables::Table;
use crate::comparison::Verdict;
use crate::error::Result;
use crate::render::diff as html;

/// Renders the page.
pub(super) fn render(diff: &Diff, tables: &[Table]) -> Result<String> {
    let fact = |side: &str, key: &str| {
        let facts = diff.heading.facts.get(side)?;
        Some(facts.get(key)?.as_str()?.to_owned())
    };
    let side = |side: &str| {
        let facts = ["report", "nsys", "export_schema"];
        let named = facts.iter().filter_map(|key| Some(((*key).replace('_', " "), fact(side, key)?)));
        named.collect()
    };
    let page = html::Page {
        title: diff.title.clone(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        sides: [("A".to_owned(), side("a")), ("B".to_owned(), side("b"))],
        answers: diff
            .answers
            .iter()
            .map(|(word, answer)| ((*word).to_owned(), answer.clone()))
            .collect(),
        gate: diff.gate.as_ref().map(|gate| (gate.failures.is_empty(), gate.to_string())),
        sections: tables.iter().map(section).collect(),
    };
    page.render()
}

fn section(table: &Table) -> html::Section {
    html::Section {
        id: table.section.as_str().to_owned(),
        title: table.title.clone(),
        columns: table
            .columns
            .iter()
            .zip(&table.numbers)
            .map(|(name, is_number)| (name.replace('_', " "), *is_number))
            .collect(),
        rows: table
            .rows
            .iter()
            .map(|line| html::Row {
                cells: line.cells.clone(),
                tone: match line.verdict {
                    Verdict::Slower => "slower",
                    Verdict::Faster => "faster",
                    _ => "",
                }
                .to_owned(),
                change_ns: line.change_ns,
            })
            .collect(),
    }
}
