//! The intervals of a finding, each in a few bytes: a large report has a million.

use super::native::texts::Texts;
use foldhash::HashMap;
use nsq_library::catalog::FINDING_COLUMNS;
use nsq_sweep::integers::Integers;
use nsq_sweep::occupancy::NONE;
use nsq_value::error::Result;
use nsq_value::table::{Column, RowSink, Value};
use rusqlite::types::ValueRef;

/// The columns [`FINDING_COLUMNS`] of an answer.
#[derive(Debug, Default)]
pub(super) struct Intervals {
    /// Where the answer has them.
    places: Vec<usize>,
    gpus: Integers,
    starts: Vec<i64>,
    durations: Integers,
    /// Places in `texts`; [`NONE`] for null.
    subjects: Vec<u32>,
    texts: Texts,
    /// Rows with other values, as they are.
    odd: HashMap<usize, [Value; FINDING_COLUMNS.len()]>,
}

impl RowSink for Intervals {
    fn begin(&mut self, columns: &[Column]) -> Result<()> {
        let place = |name: &&str| columns.iter().position(|column| column.name == **name);
        self.places = FINDING_COLUMNS.iter().filter_map(place).collect();
        Ok(())
    }

    fn row(&mut self, row: &[Value]) -> Result<()> {
        let &[gpu, start, duration, subject] = self.places.as_slice() else { return Ok(()) };
        let subject = match &row[subject] {
            Value::Null => Some(NONE),
            Value::Text(text) => Some(self.texts.place(text.as_bytes())),
            Value::Int(_) | Value::Real(_) => None,
        };
        let numbers = [gpu, start, duration].map(|place| match row[place] {
            Value::Int(int) => Some(int),
            _ => None,
        });
        let ([gpu, start, duration], subject) = match (numbers, subject) {
            ([Some(gpu), Some(start), Some(duration)], Some(subject)) => {
                ([gpu, start, duration], subject)
            }
            _ => {
                let values = self.places.iter().map(|&place| row[place].clone()).collect::<Vec<_>>();
                let values: std::result::Result<[Value; FINDING_COLUMNS.len()], _> = values.try_into();
                self.odd.extend(values.ok().map(|values| (self.starts.len(), values)));
                ([0; 3], NONE)
            }
        };
        self.gpus.push(gpu);
        self.starts.push(start);
        self.durations.push(duration);
        self.subjects.push(subject);
        Ok(())
    }

    fn end(&mut self) -> Result<()> {
        Ok(())
    }
}

impl Intervals {
    /// The number of rows.
    pub(super) fn len(&self) -> usize {
        self.starts.len()
    }

    /// GPU, start and end of a row; `None` if it has no numbers.
    pub(super) fn times(&self, row: usize) -> Option<(i64, i64, i64)> {
        let int = |column: usize| match self.cell(column, row)? {
            ValueRef::Integer(int) => Some(int),
            ValueRef::Real(real) => Some(real as i64),
            _ => None,
        };
        let (gpu, start, duration) = (int(0)?, int(1)?, int(2)?);
        Some((gpu, start, start.saturating_add(duration)))
    }

    /// A value of a row: that of the column of [`FINDING_COLUMNS`] at a place.
    pub(super) fn cell(&self, column: usize, row: usize) -> Option<ValueRef<'_>> {
        if !self.odd.is_empty()
            && let Some(values) = self.odd.get(&row)
        {
            return values.get(column).map(|value| match value {
                Value::Null => ValueRef::Null,
                Value::Int(int) => ValueRef::Integer(*int),
                Value::Real(real) => ValueRef::Real(*real),
                Value::Text(text) => ValueRef::Text(text.as_bytes()),
            });
        }
        Some(match column {
            0 => ValueRef::Integer(self.gpus.at(row)),
            1 => ValueRef::Integer(self.starts[row]),
            2 => ValueRef::Integer(self.durations.at(row)),
            _ => match self.subjects[row] {
                NONE => ValueRef::Null,
                place => ValueRef::Text(self.texts.bytes(place)),
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_back_as_they_were() {
        let mut intervals = Intervals::default();
        // In another order than the table's, among others.
        let columns = ["subject", "more", "dur_ns", "start_ns", "gpu_id"].map(Column::untyped);
        intervals.begin(&columns).unwrap();
        let (int, text) = (Value::Int, |text: &str| Value::Text(text.to_owned()));
        let rows = [
            [text("a"), int(1), int(10), int(5), int(0)],
            [text("a"), int(1), int(10), int(i64::MAX), int(0)],
            [Value::Null, int(1), int(i64::MAX), int(-5), int(1)],
            [int(7), int(1), int(10), int(5), int(0)],
            [text("b"), int(1), Value::Real(0.5), int(5), Value::Null],
            [text(""), int(1), int(10), int(5), int(-1)],
            [text("a"), int(1), int(10), int(5), int(0)],
        ];
        rows.iter().try_for_each(|row| intervals.row(row)).unwrap();
        intervals.end().unwrap();
        let value = |row, column: &str| match FINDING_COLUMNS.iter().position(|name| *name == column) {
            Some(place) => match intervals.cell(place, row).unwrap() {
                ValueRef::Integer(number) => int(number),
                ValueRef::Real(real) => Value::Real(real),
                ValueRef::Text(bytes) => text(str::from_utf8(bytes).unwrap()),
                _ => Value::Null,
            },
            None => Value::Int(1),
        };
        let names = ["subject", "more", "dur_ns", "start_ns", "gpu_id"];
        let read: Vec<_> = (0..intervals.len()).map(|row| names.map(|name| value(row, name))).collect();
        assert_eq!(read, rows.map(|[a, _, c, d, e]| [a, Value::Int(1), c, d, e]));
    }
}
