//! Rows in two buffers: no value has memory of its own.

use nsq::Value;

/// A value. A text is a part of the texts of its batch.
#[derive(Debug, Clone, Copy)]
enum Cell {
    Null,
    Int(i64),
    Real(f64),
    Text { start: usize, length: u32 },
}

/// A value that is read.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum CellRef<'a> {
    Null,
    Int(i64),
    Real(f64),
    Text(&'a str),
}

/// Rows of the same width.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    rows: usize,
    cells: Vec<Cell>,
    texts: String,
}

impl Batch {
    pub(crate) fn len(&self) -> usize {
        self.rows
    }

    pub(crate) fn push(&mut self, row: &[Value]) {
        for value in row {
            self.cells.push(match value {
                Value::Null => Cell::Null,
                Value::Int(int) => Cell::Int(*int),
                Value::Real(real) => Cell::Real(*real),
                Value::Text(text) => {
                    let start = self.texts.len();
                    self.texts.push_str(text);
                    // SQLite's texts are shorter than 2 GB.
                    Cell::Text { start, length: text.len() as u32 }
                }
            });
        }
        self.rows += 1;
    }

    /// Adds the rows of another batch after these.
    pub(crate) fn append(&mut self, other: &Self) {
        let before = self.texts.len();
        self.texts.push_str(&other.texts);
        self.cells.extend(other.cells.iter().map(|cell| match *cell {
            Cell::Text { start, length } => Cell::Text { start: before + start, length },
            cell => cell,
        }));
        self.rows += other.rows;
    }

    /// A value; null beyond the columns, where parameters are.
    pub(crate) fn cell(&self, row: usize, column: usize) -> CellRef<'_> {
        let width = self.cells.len() / self.rows.max(1);
        let cell = (row < self.rows && column < width).then(|| self.cells.get(row * width + column));
        match cell.flatten() {
            None | Some(Cell::Null) => CellRef::Null,
            Some(Cell::Int(int)) => CellRef::Int(*int),
            Some(Cell::Real(real)) => CellRef::Real(*real),
            Some(Cell::Text { start, length }) => {
                CellRef::Text(self.texts.get(*start..*start + *length as usize).unwrap_or_default())
            }
        }
    }
}
