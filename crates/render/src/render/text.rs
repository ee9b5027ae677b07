//! Aligned columns for people.
//!
//! A table fits the terminal. Where it is too wide, headers wrap, names are shortened in the middle, and the
//! least important columns are dropped; a last line names them. In a pipe, only names are shortened. Numbers never
//! are. `tabled` then draws the cells.

use super::lead::{bold, wrapped};
use super::shorten::shorten;
use super::{Heading, Style, count_of, header_of, put, shown, visible};
use nsq_value::error::{Error, Result};
use nsq_value::table::{Column, ResultTable, RowSink, Type, Value};
use std::io::{self, Write};
use std::mem;
use tabled::grid::IterGrid;
use tabled::grid::colors::NoColors;
use tabled::grid::config::{
    AlignmentHorizontal, AlignmentVertical, Entity, Indent, Sides, SpannedConfig,
};
use tabled::grid::dimension::{Dimension, Estimate, IterGridDimension};
use tabled::grid::records::IterRecords;
use unicode_width::UnicodeWidthStr;

/// Blanks between two columns.
const GAP: usize = 2;
/// Lines that a header wraps to.
const HEADER_LINES: usize = 3;
/// The narrowest that a name becomes before columns of lower priority are dropped, as a share of the terminal.
const NAME_SHARE: f64 = 0.3;
/// The same for text that is the answer, in characters.
const ANSWER_WIDTH: usize = 26;
/// The same for other text, in characters.
const TEXT_WIDTH: usize = 16;
/// The narrowest that a text becomes where nothing is left to drop.
const NARROWEST: usize = 8;

pub(super) struct Text<'a> {
    out: &'a mut dyn Write,
    style: &'a Style,
    heading: &'a Heading,
    kept: ResultTable,
    left_out: usize,
}

impl<'a> Text<'a> {
    pub(super) fn new(out: &'a mut dyn Write, style: &'a Style, heading: &'a Heading) -> Self {
        Self { out, style, heading, kept: ResultTable::default(), left_out: 0 }
    }
}

impl RowSink for Text<'_> {
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
        if !self.heading.title.is_empty() && !self.style.no_header {
            let title = fitted(&visible(&self.heading.title), self.style);
            put(self.out, &bold(&title, self.style.color))?;
            put(self.out, "\n\n")?;
        }
        if self.kept.rows.is_empty() {
            return put(self.out, "(no rows)\n");
        }
        Layout::new(&self.kept, self.style).draw(self.out, self.style)?;
        if self.left_out > 0 {
            let total = self.kept.rows.len() + self.left_out;
            let line = format!(
                "… {} of {total} not shown (--rows 0 shows all)",
                count_of(self.left_out, "row")
            );
            put(self.out, &format!("{}\n", fitted(&line, self.style)))?;
        }
        Ok(())
    }
}

/// A sentence in lines that fit the terminal.
fn fitted(sentence: &str, style: &Style) -> String {
    style.width.map_or_else(|| sentence.to_owned(), |width| wrapped(sentence, width).join("\n"))
}

/// The cells that fit the terminal.
struct Layout {
    /// The wrapped header comes first, if there is one.
    rows: Vec<Vec<String>>,
    is_right: Vec<bool>,
    /// Headers of the columns that are left out.
    dropped: Vec<String>,
    /// Whether a number tells shortened names apart.
    is_numbered: bool,
}

impl Layout {
    fn new(table: &ResultTable, style: &Style) -> Self {
        let headers: Vec<String> =
            table.columns.iter().map(|column| visible(&header_of(column, style))).collect();
        let mut rows: Vec<Vec<String>> = table
            .rows
            .iter()
            .map(|row| {
                let cells = row.iter().zip(&table.columns);
                cells.map(|(value, column)| visible(&shown(value, column, style))).collect()
            })
            .collect();
        let texts: Vec<Extent<'_>> = table
            .columns
            .iter()
            .enumerate()
            .map(|(index, column)| {
                let header = if style.no_header { 0 } else { header_width(&headers[index]) };
                let cells = rows.iter().map(|row| row[index].width()).max().unwrap_or(0);
                Extent { column, header, natural: cells.max(header) }
            })
            .collect();
        let (kept, widths) = match style.width {
            Some(width) => fit(&texts, width),
            None => {
                let width = |text: &Extent<'_>| match style.name_width {
                    Some(most) if is_name(text.column) => text.least(most),
                    _ => text.natural,
                };
                ((0..texts.len()).collect(), texts.iter().map(width).collect())
            }
        };
        let dropped = (0..headers.len()).filter(|index| !kept.contains(index));
        let dropped = dropped.map(|index| headers[index].clone()).collect();
        let mut is_numbered = false;
        for (&index, &width) in kept.iter().zip(&widths) {
            if width < texts[index].natural {
                is_numbered |= shorten(&mut rows, index, width);
            }
        }
        let header =
            kept.iter().zip(&widths).map(|(&index, &width)| wrapped(&headers[index], width).join("\n"));
        let header = (!style.no_header).then(|| header.collect());
        let pick = |mut row: Vec<String>| kept.iter().map(|&index| mem::take(&mut row[index])).collect();
        let is_right = |&index: &usize| {
            let column = &table.columns[index];
            column.kind.is_numeric() || column.kind == Type::Any && holds_numbers(table, index)
        };
        Self {
            is_right: kept.iter().map(is_right).collect(),
            rows: header.into_iter().chain(rows.into_iter().map(pick)).collect(),
            dropped,
            is_numbered,
        }
    }

    fn draw(&self, out: &mut dyn Write, style: &Style) -> Result<()> {
        let mut config = SpannedConfig::new();
        // Headers stand on the first row: short ones begin lower.
        config.set_alignment_vertical(Entity::Global, AlignmentVertical::Bottom);
        config.set_line_alignment(Entity::Global, true);
        config.set_padding(Entity::Global, Sides { right: Indent::spaced(GAP), ..Sides::default() });
        for index in (0..self.is_right.len()).filter(|&index| self.is_right[index]) {
            config.set_alignment_horizontal(Entity::Column(index), AlignmentHorizontal::Right);
        }
        // Cells are read where they are: `tabled::Table` would copy a million of them, and take 57 MiB more.
        let records = || IterRecords::new(&self.rows, self.is_right.len(), None);
        let mut size = IterGridDimension::default();
        size.estimate(records(), &config);
        let header_lines = if style.no_header { 0 } else { size.get_height(0) };
        let mut text = String::new();
        let drawn = IterGrid::new(records(), config, size, NoColors).build(&mut text);
        drawn.map_err(|e| Error::Output(io::Error::other(e)))?;
        for (nth, line) in text.lines().enumerate() {
            put(out, &bold(line.trim_end(), style.color && nth < header_lines))?;
            put(out, "\n")?;
        }
        let hint = |hint| if style.is_for_library { "" } else { hint };
        if !self.dropped.is_empty() {
            let line =
                format!("not shown: {}{}", self.dropped.join(", "), hint(" (--wide shows all columns)"));
            put(out, &format!("{}\n", fitted(&line, style)))?;
        }
        if self.is_numbered {
            let hint = hint(" (--wide shows them whole)");
            let line = format!("#1, #2: different names that are equal when shortened{hint}");
            put(out, &format!("{}\n", fitted(&line, style)))?;
        }
        Ok(())
    }
}

/// What decides how wide a column is.
struct Extent<'a> {
    column: &'a Column,
    /// The narrowest that its wrapped header gets.
    header: usize,
    /// The width at which nothing is shortened.
    natural: usize,
}

impl Extent<'_> {
    /// The narrowest that the column may become, if a text may become as narrow as `floor`.
    fn least(&self, floor: usize) -> usize {
        match self.column.kind.is_numeric() {
            true => self.natural,
            false => self.natural.min(floor.max(self.header)),
        }
    }
}

/// Whether a column holds names of the program, such as those of kernels and ranges, and no sentences.
fn is_name(column: &Column) -> bool {
    let name = column.name.as_str();
    name.ends_with("name") || ["path", "subject", "place", "stack", "shape"].contains(&name)
}

/// The columns that fit into `width`, in order, and how wide each is.
fn fit(texts: &[Extent<'_>], width: usize) -> (Vec<usize>, Vec<usize>) {
    let total = |widths: &[usize]| widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1);
    let name_width = (width as f64 * NAME_SHARE) as usize;
    let floor = |text: &Extent<'_>| match text.column.priority {
        0 => name_width,
        1 => ANSWER_WIDTH,
        _ => TEXT_WIDTH,
    };
    let mut kept: Vec<usize> = (0..texts.len()).collect();
    loop {
        let mut least: Vec<usize> = kept.iter().map(|&i| texts[i].least(floor(&texts[i]))).collect();
        let droppable = kept.iter().filter(|&&i| texts[i].column.priority > 0 && kept.len() > 1);
        // The rightmost of the least important, and numbers before names.
        let last = droppable
            .copied()
            .max_by_key(|&i| (texts[i].column.priority, texts[i].column.kind.is_numeric(), i));
        if total(&least) > width {
            match last {
                Some(last) => {
                    kept.retain(|&i| i != last);
                    continue;
                }
                None => least = kept.iter().map(|&i| texts[i].least(NARROWEST)).collect(),
            }
            if total(&least) > width && kept.len() > 1 {
                kept.pop();
                continue;
            }
            if total(&least) > width {
                return (kept, vec![width]);
            }
        }
        // Room that is left goes to the texts, the narrowest first.
        for _ in total(&least)..width {
            let shortened = (0..kept.len()).filter(|&nth| least[nth] < texts[kept[nth]].natural);
            let Some(narrowest) = shortened.min_by_key(|&nth| least[nth]) else { break };
            least[narrowest] += 1;
        }
        return (kept, least);
    }
}

/// The narrowest width at which a header wraps to [`HEADER_LINES`] lines.
fn header_width(header: &str) -> usize {
    let longest_word = header.split(' ').map(UnicodeWidthStr::width).max().unwrap_or(0);
    (longest_word..).find(|&width| wrapped(header, width).len() <= HEADER_LINES).unwrap_or(longest_word)
}

/// Whether every value of the column is a number or null, and one is a number.
fn holds_numbers(table: &ResultTable, index: usize) -> bool {
    let mut values =
        table.rows.iter().map(|row| &row[index]).filter(|value| **value != Value::Null).peekable();
    values.peek().is_some() && values.all(|value| !matches!(value, Value::Text(_)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use nsq_value::table::Unit;

    fn table() -> ResultTable {
        let column = |name: &str, kind, unit, priority| Column {
            kind,
            unit: Some(unit).filter(|_| kind != Type::Text),
            priority,
            ..Column::untyped(name)
        };
        let columns = vec![
            column("kernel_name", Type::Text, Unit::Count, 0),
            column("calls", Type::Int, Unit::Count, 2),
            column("total_ns", Type::Duration, Unit::Ns, 1),
            column("longest_of_all_ns", Type::Duration, Unit::Ns, 3),
        ];
        let row = |name: &str| {
            vec![Value::Text(name.to_owned()), Value::Int(12), Value::Int(1_234_567), Value::Int(5)]
        };
        let rows =
            ["one", "two"].map(|middle| row(&format!("{}{middle}{}", "a".repeat(40), "z".repeat(40))));
        ResultTable { columns, rows: rows.to_vec() }
    }

    fn drawn(width: Option<usize>) -> String {
        let style = Style { width, ..Style::default() };
        let mut text = Vec::new();
        Layout::new(&table(), &style).draw(&mut text, &style).unwrap();
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn cells_are_aligned_and_headers_stand_on_the_first_row() {
        let mut table = table();
        table.columns.remove(2);
        table.rows = [("漢字", 7, 5), ("abc", 12, 1_234_567)]
            .map(|(name, calls, ns)| {
                vec![Value::Text(name.to_owned()), Value::Int(calls), Value::Int(ns)]
            })
            .to_vec();
        let style = Style { color: true, ..Style::default() };
        let mut text = Vec::new();
        Layout::new(&table, &style).draw(&mut text, &style).unwrap();
        let expected = [
            "\u{1b}[1mkernel         longest\u{1b}[0m",
            "\u{1b}[1mname    calls   of all\u{1b}[0m",
            "漢字        7     5 ns",
            "abc        12  1.23 ms",
        ];
        assert_eq!(String::from_utf8(text).unwrap().lines().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn no_line_is_wider_than_the_terminal() {
        for width in 12..130 {
            let text = drawn(Some(width));
            assert!(text.lines().all(|line| line.width() <= width), "{width}:\n{text}");
        }
    }

    #[test]
    fn in_a_pipe_names_are_short_and_sentences_whole() {
        let long = "a".repeat(90);
        let columns =
            ["kernel_name", "detail"].map(|name| Column { kind: Type::Text, ..Column::untyped(name) });
        let (columns, rows) = (columns.to_vec(), vec![vec![Value::Text(long.clone()); 2]]);
        let style = Style { name_width: Some(60), ..Style::default() };
        let mut text = Vec::new();
        Layout::new(&ResultTable { columns, rows }, &style).draw(&mut text, &style).unwrap();
        let half = "a".repeat(30);
        let row = format!("{half}…{}  {long}", &half[1..]);
        assert_eq!(String::from_utf8(text).unwrap().lines().last(), Some(row.as_str()));
    }

    #[test]
    fn detail_is_dropped_first_and_named() {
        let all = drawn(None);
        assert!(all.contains("longest\n") && !all.contains("not shown"), "{all}");
        let narrow = drawn(Some(34));
        assert!(narrow.contains("kernel name") && narrow.contains("total"), "{narrow}");
        assert!(narrow.contains("not shown: longest of all"), "{narrow}");
        let narrower = drawn(Some(26));
        assert!(narrower.contains("total") && !narrower.contains("calls\n"), "{narrower}");
    }
}
