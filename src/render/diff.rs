//! The comparison of two reports as a self-contained HTML page.

use super::visible;
use crate::error::{Error, Result};
use minijinja::{AutoEscape, Environment, Value as Cell, context};
use std::io;

const TEMPLATE: &str = include_str!("diff.html.jinja");

/// The content of the page.
#[derive(Debug, Clone, Default)]
pub struct Page {
    /// Heading.
    pub title: String,
    /// Version of nsq.
    pub version: String,
    /// The two reports: a letter, and pairs of a label and its value.
    pub sides: [(String, Vec<(String, String)>); 2],
    /// Pairs of a question and its answer.
    pub answers: Vec<(String, String)>,
    /// Whether the gate passed, and its message.
    pub gate: Option<(bool, String)>,
    /// The tables.
    pub sections: Vec<Section>,
}

/// A table.
#[derive(Debug, Clone, Default)]
pub struct Section {
    /// Anchor for links.
    pub id: String,
    /// Heading.
    pub title: String,
    /// Column names, and whether the column holds numbers.
    pub columns: Vec<(String, bool)>,
    /// The rows.
    pub rows: Vec<Row>,
}

/// A row.
#[derive(Debug, Clone, Default)]
pub struct Row {
    /// One text per column.
    pub cells: Vec<String>,
    /// `slower`, `faster` or empty.
    pub tone: String,
    /// Length and direction of the row's bar, in nanoseconds.
    pub change_ns: i64,
}

impl Page {
    /// Renders the page, without scripts or network access. All names are escaped.
    pub fn render(&self) -> Result<String> {
        let failed = |e: minijinja::Error| Error::Output(io::Error::other(e));
        let mut environment = Environment::new();
        environment.set_auto_escape_callback(|_| AutoEscape::Html);
        environment.add_template("diff", TEMPLATE).map_err(failed)?;
        let pairs = |pairs: &[(String, String)]| -> Vec<(String, String)> {
            pairs.iter().map(|(word, value)| (visible(word), visible(value))).collect()
        };
        let sides: Vec<Cell> = self
            .sides
            .iter()
            .map(|(letter, facts)| context! { letter => letter, facts => pairs(facts) })
            .collect();
        let gate = self
            .gate
            .as_ref()
            .map(|(passed, text)| context! { passed => passed, text => visible(text) });
        let page = environment.get_template("diff").and_then(|template| {
            template.render(context! {
                title => visible(&self.title),
                version => &self.version,
                sides,
                answers => pairs(&self.answers),
                gate,
                sections => self.sections.iter().map(Section::context).collect::<Vec<Cell>>(),
            })
        });
        page.map_err(failed)
    }
}

impl Section {
    fn context(&self) -> Cell {
        let most = self.rows.iter().map(|row| row.change_ns.unsigned_abs()).max().unwrap_or(0).max(1);
        let rows: Vec<Cell> = self
            .rows
            .iter()
            .map(|row| {
                let cells = row.cells.iter().zip(&self.columns);
                let cells: Vec<Cell> = cells
                    .map(
                        |(text, (_, is_number))| context! { text => visible(text), number => is_number },
                    )
                    .collect();
                context! {
                    cells,
                    tone => &row.tone,
                    more => row.change_ns > 0,
                    width => format!("{:.1}", 44.0 * row.change_ns.unsigned_abs() as f64 / most as f64),
                }
            })
            .collect();
        let columns: Vec<Cell> = self
            .columns
            .iter()
            .map(|(name, is_number)| context! { name => visible(name), number => is_number })
            .collect();
        context! { id => &self.id, title => visible(&self.title), columns, rows }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_names_are_escaped() {
        let hostile = "<script>alert(1)</script>\"'&\u{1b}[2J".to_owned();
        let page = Page {
            title: hostile.clone(),
            answers: vec![(hostile.clone(), hostile.clone())],
            gate: Some((false, hostile.clone())),
            sides: [
                (String::new(), vec![(hostile.clone(), hostile.clone())]),
                (String::new(), Vec::new()),
            ],
            sections: vec![Section {
                title: hostile.clone(),
                columns: vec![(hostile.clone(), false)],
                rows: vec![Row {
                    cells: vec![hostile.clone()],
                    tone: "slower".to_owned(),
                    change_ns: -3,
                }],
                ..Section::default()
            }],
            ..Page::default()
        };
        let html = page.render().unwrap();
        assert!(!html.contains("<script") && !html.contains('\u{1b}'), "{html}");
        assert_eq!(html.matches("&lt;script&gt;").count(), 10, "{html}");
    }
}
