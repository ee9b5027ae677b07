//! A self-contained HTML page without scripts or network access.

use super::{Heading, Style, count_of, csp_source, header_of, put, shown, visible};
use minijinja::{AutoEscape, Environment, context};
use nsq_value::error::{Error, Result};
use nsq_value::table::{Column, ResultTable, RowSink, Value};
use std::io::{self, Write};

const TEMPLATE: &str = include_str!("report.html.jinja");
const CSS: &str = include_str!("report.css");
/// The end of the page, after the last section.
pub(super) const END: &str = "</body>\n</html>\n";

pub(super) struct Section<'a> {
    out: &'a mut dyn Write,
    style: &'a Style,
    heading: &'a Heading,
    is_first: bool,
    kept: ResultTable,
    left_out: usize,
}

impl<'a> Section<'a> {
    pub(super) fn new(
        out: &'a mut dyn Write,
        style: &'a Style,
        heading: &'a Heading,
        is_first: bool,
    ) -> Self {
        Self { out, style, heading, is_first, kept: ResultTable::default(), left_out: 0 }
    }
}

impl RowSink for Section<'_> {
    fn begin(&mut self, columns: &[Column]) -> Result<()> {
        self.kept.columns = columns.to_vec();
        Ok(())
    }

    fn row(&mut self, row: &[Value]) -> Result<()> {
        if self.style.max_rows.is_some_and(|max| self.kept.rows.len() >= max) {
            self.left_out += 1;
        } else {
            self.kept.rows.push(row.to_vec());
        }
        Ok(())
    }

    fn end(&mut self) -> Result<()> {
        let failed = |e: minijinja::Error| Error::Output(io::Error::other(e));
        let mut environment = Environment::new();
        environment.set_auto_escape_callback(|_| AutoEscape::Html);
        environment.add_template("report", TEMPLATE).map_err(failed)?;
        let columns: Vec<_> = self
            .kept
            .columns
            .iter()
            .map(|c| context! { name => visible(&header_of(c, self.style)), doc => visible(&c.doc), numeric => c.kind.is_numeric() })
            .collect();
        let cell = |value: &Value, column: &Column| {
            context! {
                text => visible(&shown(value, column, self.style)),
                numeric => column.kind.is_numeric(),
            }
        };
        let rows: Vec<Vec<_>> = self
            .kept
            .rows
            .iter()
            .map(|row| row.iter().zip(&self.kept.columns).map(|(v, c)| cell(v, c)).collect())
            .collect();
        let facts: Vec<_> = self
            .heading
            .facts
            .iter()
            .filter_map(|(key, value)| value.as_str().map(|text| (key.clone(), visible(text))))
            .collect();
        let left_out = (self.left_out > 0).then(|| count_of(self.left_out, "row"));
        let page = environment
            .get_template("report")
            .and_then(|template| {
                template.render(context! {
                    first => self.is_first,
                    css => CSS,
                    csp => csp_source(CSS),
                    title => visible(&self.heading.title),
                    facts, columns, rows, left_out,
                })
            })
            .map_err(failed)?;
        put(self.out, &page)
    }
}
