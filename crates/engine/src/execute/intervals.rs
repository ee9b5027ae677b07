//! The intervals of a finding, each in a few bytes: a large report has a million.

use foldhash::HashMap;
use nsq_library::catalog::FINDING_COLUMNS;
use nsq_sweep::integers::Integers;
use nsq_value::error::Result;
use nsq_value::table::{Column, RowSink, Value};
use std::borrow::Cow;

/// The columns [`FINDING_COLUMNS`] of an answer.
#[derive(Debug, Default)]
pub(super) struct Intervals {
    /// Where the answer has them.
    places: Vec<usize>,
    gpus: Integers,
    starts: Vec<i64>,
    durations: Integers,
    /// Places in `names`.
    subjects: Vec<u32>,
    /// Distinct subjects: texts or null.
    names: Vec<Value>,
    known: HashMap<Option<String>, u32>,
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
            Value::Null => Some(None),
            Value::Text(text) => Some(Some(text)),
            Value::Int(_) | Value::Real(_) => None,
        };
        let numbers = [gpu, start, duration].map(|place| match row[place] {
            Value::Int(int) => Some(int),
            _ => None,
        });
        let ([gpu, start, duration], subject) = match (numbers, subject) {
            ([Some(gpu), Some(start), Some(duration)], Some(subject)) => {
                ([gpu, start, duration], self.place(subject))
            }
            _ => {
                let values = self.places.iter().map(|&place| row[place].clone()).collect::<Vec<_>>();
                let values: std::result::Result<[Value; FINDING_COLUMNS.len()], _> = values.try_into();
                self.odd.extend(values.ok().map(|values| (self.starts.len(), values)));
                ([0; 3], 0)
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
    /// The place of a subject. Consecutive rows often have the same.
    fn place(&mut self, subject: Option<&String>) -> u32 {
        let is_it = |place: &&u32| match (&self.names[**place as usize], subject) {
            (Value::Text(known), Some(text)) => known == text,
            (known, None) => *known == Value::Null,
            _ => false,
        };
        if self.odd.is_empty()
            && let Some(&last) = self.subjects.last().filter(is_it)
        {
            return last;
        }
        let fresh = self.names.len() as u32;
        let place = *self.known.entry(subject.cloned()).or_insert(fresh);
        if place == fresh {
            self.names.push(subject.map_or(Value::Null, |text| Value::Text(text.clone())));
        }
        place
    }

    /// The number of rows.
    pub(super) fn len(&self) -> usize {
        self.starts.len()
    }

    /// A value of a row: that of the column of [`FINDING_COLUMNS`] at a place.
    pub(super) fn cell(&self, column: usize, row: usize) -> Option<Cow<'_, Value>> {
        if let Some(values) = self.odd.get(&row) {
            return values.get(column).map(Cow::Borrowed);
        }
        match column {
            0 => Some(Cow::Owned(Value::Int(self.gpus.at(row)))),
            1 => Some(Cow::Owned(Value::Int(self.starts[row]))),
            2 => Some(Cow::Owned(Value::Int(self.durations.at(row)))),
            _ => self.names.get(self.subjects[row] as usize).map(Cow::Borrowed),
        }
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
            Some(place) => intervals.cell(place, row).unwrap().into_owned(),
            None => Value::Int(1),
        };
        let names = ["subject", "more", "dur_ns", "start_ns", "gpu_id"];
        let read: Vec<_> = (0..intervals.len()).map(|row| names.map(|name| value(row, name))).collect();
        assert_eq!(read, rows.map(|[a, _, c, d, e]| [a, Value::Int(1), c, d, e]));
    }
}
