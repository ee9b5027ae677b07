//! The interface of a native relation to SQLite: columns, rows, and look-ups by key.

use super::texts::readable;
use rusqlite::types::ValueRef;
use std::borrow::Cow;
use std::ops::Range;

/// A value of a native relation.
pub(super) enum Cell<'a> {
    Null,
    Int(i64),
    Real(f64),
    Text(Cow<'a, str>),
}

impl From<Option<i64>> for Cell<'_> {
    fn from(value: Option<i64>) -> Self {
        value.map_or(Self::Null, Self::Int)
    }
}

impl From<i64> for Cell<'_> {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl From<u32> for Cell<'_> {
    fn from(value: u32) -> Self {
        Self::Int(value.into())
    }
}

impl<'a> From<&'a str> for Cell<'a> {
    fn from(value: &'a str) -> Self {
        Self::Text(value.into())
    }
}

impl<'a> From<Option<&'a str>> for Cell<'a> {
    fn from(value: Option<&'a str>) -> Self {
        value.map_or(Self::Null, |text| Self::Text(text.into()))
    }
}

impl<'a> From<Option<Cow<'a, str>>> for Cell<'a> {
    fn from(value: Option<Cow<'a, str>>) -> Self {
        value.map_or(Self::Null, Self::Text)
    }
}

/// How a statement reads a relation.
#[derive(Debug, Clone, Copy)]
pub(super) enum Access<'a> {
    /// All rows, or those that a filter passes.
    Scan,
    /// The rows of a key. The text is its first value, if the statement gives it.
    Lookup(Option<&'a str>),
}

/// An order of rows.
#[derive(Debug)]
pub(super) struct Order {
    /// Columns, and whether each is descending.
    pub(super) columns: &'static [(&'static str, bool)],
    /// Whether no two rows are equal in all of them: then any order goes on from there.
    pub(super) is_total: bool,
    /// Whether rows come in this order only if they are asked for in it, by [`Relation::reordered`].
    pub(super) is_on_demand: bool,
}

impl Order {
    /// Whether rows in this order are in the order of `wanted`.
    pub(super) fn satisfies<'a>(
        &self,
        mut wanted: impl Iterator<Item = Option<(&'a str, bool)>>,
    ) -> bool {
        let mut known = self.columns.iter();
        loop {
            match (wanted.next(), known.next()) {
                (None, _) => return true,
                (Some(_), None) => return self.is_total,
                (Some(by), Some(known)) if by == Some(*known) => {}
                (Some(_), Some(_)) => return false,
            }
        }
    }
}

/// The values of a look-up, in the order of [`Relation::key`].
#[derive(Debug, Clone, Default)]
pub(super) struct Key(Vec<Part>);

#[derive(Debug, Clone)]
enum Part {
    Text(String),
    Number(i64),
    /// A value that equals no cell of a relation.
    Other,
}

impl Key {
    /// Sets the values. A join looks up a million times: the memory of the last texts is used again.
    pub(super) fn set<'a>(&mut self, values: impl Iterator<Item = ValueRef<'a>>) {
        let mut count = 0;
        for (place, value) in values.enumerate() {
            count = place + 1;
            let part = match (self.0.get_mut(place), value) {
                (Some(Part::Text(text)), ValueRef::Text(bytes)) => {
                    text.clear();
                    text.push_str(&readable(bytes));
                    continue;
                }
                (_, ValueRef::Text(bytes)) => Part::Text(readable(bytes).into_owned()),
                (_, ValueRef::Integer(int)) => Part::Number(int),
                (_, ValueRef::Real(real)) if real.fract() == 0.0 => Part::Number(real as i64),
                _ => Part::Other,
            };
            match self.0.get_mut(place) {
                Some(known) => *known = part,
                None => self.0.push(part),
            }
        }
        self.0.truncate(count);
    }

    /// The text at `place`; `None` if it is not text.
    pub(super) fn text(&self, place: usize) -> Option<&str> {
        match self.0.get(place) {
            Some(Part::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// The number at `place`; `None` if it is not a number.
    pub(super) fn number(&self, place: usize) -> Option<i64> {
        match self.0.get(place) {
            Some(Part::Number(number)) => Some(*number),
            _ => None,
        }
    }
}

/// A family of native relations that answer from the same data. Each value is one relation.
pub(super) trait Relation: Copy + 'static {
    /// The data that they answer from.
    type Answers: Send + Sync + 'static;

    /// What the cells of a row have in common and is computed once for them.
    type Row;

    /// The relation of this name.
    fn named(name: &str) -> Option<Self>;

    /// The names of its columns.
    fn columns(self) -> Vec<&'static str>;

    /// The columns of the look-up key.
    fn key(self) -> &'static [&'static str];

    /// The orders in which the rows come, or can come. Those that are not on demand are all true at once.
    fn orders(self, access: Access<'_>) -> &'static [Order];

    /// The column by whose words a look-up filters, instead of by [`Relation::key`]: rows come in the order of a scan.
    fn filtered(self) -> Option<&'static str> {
        None
    }

    /// The bit of a word of that column; 0 if no row has it.
    fn bit_of_word(self, _word: &str) -> u32 {
        0
    }

    /// The bit of the word in a row.
    fn bit(self, _answers: &Self::Answers, _index: usize) -> u32 {
        0
    }

    /// Whether look-ups find rows that a scan does not return. A statement that compares all key columns
    /// must then use a look-up.
    fn is_asked_by_key(self) -> bool {
        false
    }

    /// Whether every row that a look-up finds matches the key, so that SQLite need not compare again.
    fn is_found_exactly(self) -> bool {
        false
    }

    /// Rows that the query planner assumes for a look-up. If this is far too low, SQLite joins what comes
    /// from it row by row.
    fn rows_per_key(self) -> i64 {
        1
    }

    /// The reason why a value could not be computed, if one failed.
    fn failure(answers: &Self::Answers) -> Option<&str>;

    /// Whether a computation was stopped halfway, which makes the values unusable.
    fn is_stopped(answers: &Self::Answers) -> bool;

    /// The number of rows of a scan.
    fn rows(self, answers: &Self::Answers) -> usize;

    /// The index of a row of a scan.
    fn index(self, answers: &Self::Answers, row: usize) -> usize;

    /// The row of a scan that comes at place `row` in the order on demand.
    fn reordered(self, _answers: &Self::Answers, row: usize) -> usize {
        row
    }

    /// The rows that match the key.
    fn find(self, answers: &Self::Answers, key: &Key) -> Range<usize>;

    /// The index of a row that a look-up found.
    fn found(self, _answers: &Self::Answers, row: usize) -> usize {
        row
    }

    /// What the cells of the row `index` have in common. `key` is the key of the look-up.
    fn row(self, answers: &Self::Answers, index: usize, key: &Key) -> Self::Row;

    /// The value of the column at place `column`, in the row `index`.
    fn cell<'a>(
        self,
        answers: &'a Self::Answers,
        column: usize,
        index: usize,
        row: &Self::Row,
    ) -> Cell<'a>;
}
