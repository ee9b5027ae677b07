//! The SQL function `piece_times`: how long intervals are in each of the equal pieces of a window, without a join.

use super::aggregate::{aggregate, ints};
use crate::execute::native::texts::{Texts, readable};
use foldhash::HashMap;
use rusqlite::functions::Context;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Error, Result};
use serde_json::json;

pub(super) fn register(connection: &Connection) -> Result<()> {
    aggregate(connection, "piece_times", 6, add, rows)
}

/// The window, cut into pieces. The last one takes what division leaves.
#[derive(Clone, Copy)]
struct Window {
    from: i64,
    to: i64,
    pieces: i64,
    /// The length of a piece.
    piece: i64,
}

impl Window {
    fn new(from: i64, to: i64, pieces: i64) -> Option<Self> {
        let piece = to.checked_sub(from)?.checked_div(pieces)?;
        (pieces > 0 && piece > 0).then_some(Self { from, to, pieces, piece })
    }

    fn place(&self, at: i64) -> i64 {
        ((at - self.from) / self.piece).min(self.pieces - 1)
    }

    fn begin(&self, place: i64) -> i64 {
        self.from + place * self.piece
    }

    fn length(&self, place: i64) -> i64 {
        if place + 1 == self.pieces { self.to - self.begin(place) } else { self.piece }
    }
}

/// What is known of a piece of a key.
#[derive(Default)]
struct Piece {
    /// The time of intervals that begin or end there.
    sum: i128,
    /// How many more intervals fill this piece than the one before it.
    fill: i64,
}

#[derive(Default)]
struct Sums {
    window: Option<Window>,
    pieces: HashMap<(i64, i64), Piece>,
    /// The keys that are texts: each is its place here.
    texts: Texts,
    has_ints: bool,
}

impl Sums {
    fn add(&mut self, key: i64, start: i64, end: i64, window: Window) {
        self.window = Some(window);
        let (start, end) = (start.max(window.from), end.min(window.to));
        if start >= end {
            return;
        }
        let (first, last) = (window.place(start), window.place(end - 1));
        let mut add = |place, sum: i64, fill| {
            let piece = self.pieces.entry((key, place)).or_default();
            piece.sum += i128::from(sum);
            piece.fill += fill;
        };
        if first == last {
            return add(first, end - start, 0);
        }
        add(first, window.begin(first + 1) - start, 0);
        add(first + 1, 0, 1);
        add(last, end - window.begin(last), -1);
    }

    /// The key, the place and the time of each piece with time, in order.
    fn times(self) -> Vec<(i64, i64, i128)> {
        let Some(window) = self.window else { return Vec::new() };
        let mut pieces: Vec<((i64, i64), Piece)> = self.pieces.into_iter().collect();
        pieces.sort_unstable_by_key(|(place, _)| *place);
        let mut times = Vec::new();
        let (mut filled, mut next) = (0, 0);
        for ((key, place), piece) in pieces {
            // Pieces that intervals fill, and in which none begins or ends. Of another key, none is left open.
            if filled > 0 {
                times.extend(
                    (next..place).map(|n| (key, n, i128::from(filled) * i128::from(window.length(n)))),
                );
            }
            filled += piece.fill;
            let sum = piece.sum + i128::from(filled) * i128::from(window.length(place));
            if sum > 0 {
                times.push((key, place, sum));
            }
            next = place + 1;
        }
        times
    }
}

/// `piece_times(key, start_ns, end_ns, from_ns, to_ns, pieces)`. The last three are the same in all rows. All keys are integers,
/// or all are texts.
fn add(context: &mut Context<'_>, sums: &mut Sums) -> Result<()> {
    let Some([start, end, from, to, pieces]) = ints(context, 1)? else { return Ok(()) };
    let key = match context.get_raw(0) {
        ValueRef::Null => return Ok(()),
        ValueRef::Text(text) => i64::from(sums.texts.place(readable(text).as_bytes())),
        _ => {
            sums.has_ints = true;
            context.get(0)?
        }
    };
    if let Some(window) = Window::new(from, to, pieces) {
        sums.add(key, start, end, window);
    }
    Ok(())
}

fn rows(mut sums: Sums) -> Result<String> {
    let failed = |why: &str| Error::UserFunctionError(format!("piece_times: {why}").into());
    let texts = std::mem::take(&mut sums.texts);
    let texts: Vec<_> = texts.iter().collect();
    if sums.has_ints && !texts.is_empty() {
        return Err(failed("some keys are texts, and others integers"));
    }
    let row = |(key, place, sum): (i64, i64, i128)| {
        let sum = i64::try_from(sum).map_err(|_| failed("a time exceeds 64 bits"))?;
        Ok(texts
            .get(key as usize)
            .map_or_else(|| json!([key, place, sum]), |key| json!([key, place, sum])))
    };
    let rows = sums.times().into_iter().map(row).collect::<Result<Vec<_>>>()?;
    Ok(json!(rows).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(values: &str, window: &str) -> Result<String> {
        let connection = Connection::open_in_memory()?;
        register(&connection)?;
        let sql =
            format!("WITH v(k, a, b) AS (VALUES {values}) SELECT piece_times(k, a, b, {window}) FROM v");
        connection.query_row(&sql, [], |row| row.get(0))
    }

    #[test]
    fn the_last_piece_takes_the_rest_and_what_is_outside_does_not_count() {
        let found = times("(1, -5, 2), (1, 3, 4), (1, 8, 99), (2, 2, 7), (3, 50, 60)", "0, 11, 5");
        // Pieces: 0-2, 2-4, 4-6, 6-8, 8-11.
        assert_eq!(found.unwrap(), "[[1,0,2],[1,1,1],[1,4,3],[2,1,2],[2,2,2],[2,3,1]]");
        assert_eq!(times("(1, NULL, 3)", "0, 10, 5").unwrap(), "[]");
        // Texts are in the order of their first interval.
        let found = times("('b', 0, 1), ('a', 2, 4), ('b', 8, 9)", "0, 10, 5").unwrap();
        assert_eq!(found, r#"[["b",0,1],["b",4,1],["a",1,2]]"#);
        assert!(times("('b', 0, 1), (1, 2, 4)", "0, 10, 5").is_err());
        assert_eq!(times("(1, 1, 3)", "0, 3, 5").unwrap(), "[]");
    }

    #[test]
    fn they_are_the_sums_of_a_loop() {
        let mut seed = 7u64;
        let mut random = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) % below
        };
        for _ in 0..200 {
            let (to, pieces) = (1 + random(100) as i64, 1 + random(12) as i64);
            let of: Vec<(i64, i64, i64)> = (0..random(20) + 1)
                .map(|_| {
                    let start = random(120) as i64 - 10;
                    (random(3) as i64, start, start + random(60) as i64)
                })
                .collect();
            let mut expected = Vec::new();
            for key in 0..3 {
                for place in 0..if to / pieces > 0 { pieces } else { 0 } {
                    let from = place * (to / pieces);
                    let until = if place + 1 == pieces { to } else { from + to / pieces };
                    let inside = |&(of, a, b): &(i64, i64, i64)| {
                        if of == key { (b.min(until) - a.max(from)).max(0) } else { 0 }
                    };
                    let sum: i64 = of.iter().map(inside).sum();
                    if sum > 0 {
                        expected.push(json!([key, place, sum]));
                    }
                }
            }
            let values: Vec<String> = of.iter().map(|(k, a, b)| format!("({k}, {a}, {b})")).collect();
            let found = times(&values.join(", "), &format!("0, {to}, {pieces}")).unwrap();
            assert_eq!(found, json!(expected).to_string(), "{of:?} in {to} / {pieces}");
        }
    }
}
