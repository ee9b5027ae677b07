//! How the slices of lanes fill pieces of the time.

use super::Slices;
use crate::projection::{Stop, StopCheck};
use foldhash::{HashMap, HashMapExt};

/// A span of time, split into pieces of equal length but for the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pieces {
    /// Start of the first piece.
    pub from: i64,
    /// End of the last piece.
    pub to: i64,
    /// Length of each but the last.
    pub length: i64,
}

/// A category in a piece of a lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cell {
    /// Index into [`Slices::lanes`].
    pub lane: u32,
    /// Number of the piece, from 0.
    pub piece: i64,
    /// Index into [`Slices::texts`].
    pub category: u32,
    /// Time of the piece in which slices of the category run, each nanosecond once.
    pub busy: i64,
    /// Slices of the category that start in the piece. Those that start before the first piece count in it.
    pub starts: u64,
}

impl Pieces {
    /// Splits the time into so many pieces.
    pub fn new(from: i64, to: i64, count: i64) -> Self {
        let count = i128::from(count.max(1));
        let length = (i128::from(to) - i128::from(from) + count - 1) / count;
        Self { from, to, length: i64::try_from(length.max(1)).unwrap_or(i64::MAX) }
    }

    /// The piece that a time lies in. Times before the first piece lie in it.
    pub fn of(&self, at: i64) -> i64 {
        match at.checked_sub(self.from) {
            Some(after) => after.max(0) / self.length,
            None if at < self.from => 0,
            None => ((i128::from(at) - i128::from(self.from)) / i128::from(self.length)) as i64,
        }
    }

    /// End of a piece.
    fn end(&self, piece: i64) -> i64 {
        let end = i128::from(self.from) + (i128::from(piece) + 1) * i128::from(self.length);
        end.min(i128::from(self.to)) as i64
    }
}

/// The cells of one lane.
#[derive(Default)]
struct Cells {
    places: HashMap<(i64, u32), usize>,
    cells: Vec<Cell>,
    /// The cell before: consecutive slices often lie in one.
    last: Option<((i64, u32), usize)>,
}

impl Cells {
    fn at(&mut self, lane: u32, piece: i64, category: u32) -> &mut Cell {
        let key = (piece, category);
        let place = match self.last {
            Some((last, place)) if last == key => place,
            _ => *self.places.entry(key).or_insert_with(|| {
                self.cells.push(Cell { lane, piece, category, busy: 0, starts: 0 });
                self.cells.len() - 1
            }),
        };
        self.last = Some((key, place));
        &mut self.cells[place]
    }

    /// Adds the time from `start` to `end`, in which the category was busy without interruption.
    fn add(&mut self, pieces: &Pieces, lane: u32, category: u32, start: i64, end: i64) {
        let (mut start, end) = (start.max(pieces.from), end.min(pieces.to));
        while start < end {
            let piece = pieces.of(start);
            let until = pieces.end(piece).min(end);
            self.at(lane, piece, category).busy += until - start;
            start = until;
        }
    }
}

impl Slices {
    /// The cells in which slices start or run, by lane, piece and text of the category. `None` if it was stopped.
    pub fn cells(&self, pieces: &Pieces, stop: Stop<'_>) -> Option<Vec<Cell>> {
        let mut check = StopCheck::new(stop);
        let mut all = Vec::new();
        for lane in 0..self.lanes.len() {
            let mut cells = Cells::default();
            // For each category, the time in which it was busy up to now without interruption.
            let mut busy: HashMap<u32, (i64, i64)> = HashMap::new();
            let number = lane as u32;
            for place in self.of_lane(lane) {
                if check.must_stop() {
                    return None;
                }
                let ((start, end), category) = (self.times(place), self.categories[place]);
                cells.at(number, pieces.of(start), category).starts += 1;
                let until = busy.entry(category).or_insert((start, start));
                if start > until.1 {
                    cells.add(pieces, number, category, until.0, until.1);
                    *until = (start, start);
                }
                until.1 = until.1.max(end);
            }
            for (category, (start, end)) in busy {
                cells.add(pieces, number, category, start, end);
            }
            let mut cells = cells.cells;
            cells.sort_unstable_by(|a, b| {
                let texts = || self.text(a.category).cmp(&self.text(b.category));
                a.piece.cmp(&b.piece).then_with(texts)
            });
            all.append(&mut cells);
        }
        Some(all)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::slices;
    use super::*;

    /// Lane, piece, category, busy time, starts.
    type Seen<'a> = (u32, i64, &'a str, i64, u64);

    #[test]
    fn a_slice_fills_its_pieces_and_counts_in_the_first() {
        let of = slices(&[
            (1, 5, 38, "a", 1), // from piece 0 to 3
            (1, 7, 12, "a", 2), // inside it
            (1, 7, 12, "b", 3), // another category
            (1, 30, 30, "b", 4),
            (2, -9, 3, "a", 5),  // begins before the first piece
            (2, 39, 60, "a", 6), // ends after the last
        ]);
        let pieces = Pieces::new(0, 40, 4);
        assert_eq!(pieces.length, 10);
        let cells = of.cells(&pieces, &|| false).unwrap();
        let seen: Vec<Seen<'_>> = cells
            .iter()
            .map(|cell| (cell.lane, cell.piece, of.text(cell.category).unwrap(), cell.busy, cell.starts))
            .collect();
        assert_eq!(
            seen,
            [
                (0, 0, "a", 5, 2),
                (0, 0, "b", 3, 1),
                (0, 1, "a", 10, 0),
                (0, 1, "b", 2, 0),
                (0, 2, "a", 10, 0),
                (0, 3, "a", 8, 0),
                (0, 3, "b", 0, 1),
                (1, 0, "a", 3, 1),
                (1, 3, "a", 1, 1),
            ]
        );
    }

    #[test]
    fn odd_spans_do_not_wrap() {
        for (from, to) in [(i64::MIN, i64::MAX), (5, 5), (9, 3)] {
            let pieces = Pieces::new(from, to, 3);
            assert!(pieces.length >= 1);
            let of = slices(&[(1, i64::MIN / 2, i64::MAX / 2, "a", 1), (1, 4, 4, "a", 1)]);
            assert!(of.cells(&pieces, &|| false).is_some());
        }
    }
}
