//! What a native relation is to SQLite: columns, rows, and keys to look rows up by.

use super::Natives;
use rusqlite::types::ValueRef;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

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

/// What rows are looked up by, in the order of [`Relation::key`].
#[derive(Debug, Clone, Default)]
pub(super) struct Key(Vec<Part>);

#[derive(Debug, Clone)]
enum Part {
    Text(String),
    Number(i64),
    /// Equal to nothing that a relation holds.
    Other,
}

impl Key {
    pub(super) fn new<'a>(values: impl Iterator<Item = ValueRef<'a>>) -> Self {
        let part = |value| match value {
            ValueRef::Text(bytes) => Part::Text(String::from_utf8_lossy(bytes).into_owned()),
            ValueRef::Integer(int) => Part::Number(int),
            ValueRef::Real(real) if real.fract() == 0.0 => Part::Number(real as i64),
            _ => Part::Other,
        };
        Self(values.map(part).collect())
    }

    /// The text at a place; `None` if there is none.
    pub(super) fn text(&self, place: usize) -> Option<&str> {
        match self.0.get(place) {
            Some(Part::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// The number at a place; `None` if there is none.
    pub(super) fn number(&self, place: usize) -> Option<i64> {
        match self.0.get(place) {
            Some(Part::Number(number)) => Some(*number),
            _ => None,
        }
    }
}

/// A family of native relations that answer from the same data; a value is one of them.
pub(super) trait Relation: Copy + 'static {
    /// What they answer from.
    type Answers: Send + Sync + 'static;

    /// The relation of this name.
    fn named(name: &str) -> Option<Self>;

    /// The names of its columns.
    fn columns(self) -> Vec<&'static str>;

    /// The columns by which rows can be looked up at once.
    fn key(self) -> &'static [&'static str];

    /// The order in which rows come: columns, and whether the greatest comes first.
    fn order(self) -> &'static [(&'static str, bool)];

    /// Rows come in that order only to those who look them up.
    fn is_ordered_by_key(self) -> bool;

    /// A key asks for rows that a scan does not hold: where one is given, they must be looked up.
    fn is_asked_by_key(self) -> bool {
        false
    }

    /// Every row that is found has the key: nobody need compare again.
    fn is_found_exactly(self) -> bool {
        false
    }

    /// What an input answers from, read when it is first asked for.
    fn answers(natives: &Natives, input: usize) -> rusqlite::Result<Arc<Self::Answers>>;

    /// Why there are no answers after all.
    fn failure(answers: &Self::Answers) -> Option<&str>;

    /// Something was stopped before it was whole: no value counts.
    fn is_stopped(answers: &Self::Answers) -> bool;

    /// How many rows there are.
    fn rows(self, answers: &Self::Answers) -> usize;

    /// The index behind a row of a scan.
    fn index(self, answers: &Self::Answers, row: usize) -> usize;

    /// The rows with this key.
    fn find(self, answers: &Self::Answers, key: &Key) -> Range<usize>;

    /// The index behind a row that was found by a key.
    fn found(self, _answers: &Self::Answers, row: usize) -> usize {
        row
    }

    /// The value of a column, by its place, in the row with this index that was found by `key`.
    fn cell<'a>(self, answers: &'a Self::Answers, column: usize, index: usize, key: &Key) -> Cell<'a>;
}
