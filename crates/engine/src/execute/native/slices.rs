//! Native relations on the slices of a timeline: its lanes, how they fill pieces of the time, and the longest slices.
//!
//! Unlike others, they are read from a relation of the session, with a statement on its own connection: the events of
//! a timeline come from native relations, too.
#![allow(unsafe_code)]

use super::asked::AskedBy;
use super::reader::Rows;
use super::relation::{Access, Cell, Key, Order, Relation};
use crate::execute::guard;
use crate::execute::limits::Limits;
use nsq_sweep::slices::{self, NO_TEXT, Pieces, Slice, Slices, SlicesBuilder};
use nsq_value::error::{Error, Result};
use rusqlite::{Connection, ffi};
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// The relation that the slices are read from.
pub(super) const EVENTS: &str = "timeline_event";

/// An index packs two numbers: the row in the low `SHIFT` bits, and what was asked for above.
const SHIFT: u32 = 40;
const ROW: usize = (1 << SHIFT) - 1;

/// Kinds of lanes up to this one belong to GPUs.
const GPU_KINDS: i64 = 2;

/// The slices, and what was computed of them. Each part is computed on first use.
pub(super) struct Answers {
    slices: Slices,
    limits: Limits,
    is_stopped: AtomicBool,
    cells: AskedBy<Vec<slices::Cell>>,
    longest: AskedBy<Vec<u32>>,
}

/// Reads the events of a session through its own connection.
///
/// # Safety
///
/// `connection` must be open, and used by no other thread.
pub(super) unsafe fn read(
    connection: *mut ffi::sqlite3,
    database: &Path,
    limits: &Limits,
) -> Result<Answers> {
    // SAFETY: the caller's promise. What is made of a handle does not close it.
    let connection = unsafe { Connection::from_handle(connection) }?;
    let sql = format!(
        "SELECT kind, place, device_id, context_id, track, source, event_id, start_ns, end_ns, category, name FROM {EVENTS}"
    );
    let mut slices = SlicesBuilder::default();
    let mut rows = Rows::new(&connection, database, &sql)?;
    let path = database.to_string_lossy();
    while let Some(cells) = rows.next().map_err(|error| guard::explain(limits, error, &path))? {
        let (Some(start), Some(end)) = (cells.time(7)?, cells.time(8)?) else { continue };
        let lane = slices.lane([0, 1, 2, 3, 4].map(|column| cells.int(column)));
        let mut text = |column| {
            let bytes = cells.text(column)?;
            Some(slices.text(&super::texts::readable(bytes)))
        };
        let (source, category, name) = (text(5), text(9), text(10));
        let event = match source {
            Some(_) => cells.int(6).unwrap_or_default(),
            None => name.map_or(0, |name| i64::from(name) + 1),
        };
        let category = category.unwrap_or(NO_TEXT);
        slices.push(Slice { lane, start, end, category, source: source.unwrap_or(NO_TEXT), event });
    }
    let slices = slices.finish();
    if slices.lanes.iter().any(|lane| i64::try_from(lane.busy).is_err()) {
        return Err(Error::Report {
            path: database.to_owned(),
            reason: "has durations whose sum exceeds 64 bits".to_owned(),
            help: "its times make no sense: export the report again".to_owned(),
        });
    }
    Ok(Answers {
        slices,
        limits: limits.clone(),
        is_stopped: AtomicBool::new(false),
        cells: AskedBy::default(),
        longest: AskedBy::default(),
    })
}

impl Answers {
    /// What was computed; if it was stopped, nothing, and no row may be used.
    fn unless_stopped<T: Default>(&self, made: Option<T>) -> T {
        made.unwrap_or_else(|| {
            self.is_stopped.store(true, Ordering::Relaxed);
            T::default()
        })
    }

    fn cells(&self, by: &[i64]) -> (usize, &[slices::Cell]) {
        let make = || self.unless_stopped(self.slices.cells(&pieces(by), &self.limits));
        let (place, cells) = self.cells.find(by, make);
        (place, cells)
    }

    fn longest(&self, by: &[i64]) -> (usize, &[u32]) {
        let most = |lane: usize| {
            let is_gpu = self.slices.lanes[lane].key[0].is_some_and(|kind| kind <= GPU_KINDS);
            usize::try_from(by[if is_gpu { 3 } else { 4 }]).unwrap_or_default()
        };
        let make = || self.unless_stopped(self.slices.longest(&pieces(by), most, &self.limits));
        let (place, longest) = self.longest.find(by, make);
        (place, longest)
    }

    fn cell(&self, index: usize) -> Option<&slices::Cell> {
        self.cells.at(index >> SHIFT)?.answer.get(index & ROW)
    }

    /// The place of a slice among all.
    fn slice(&self, index: usize) -> Option<usize> {
        let place = self.longest.at(index >> SHIFT)?.answer.get(index & ROW);
        place.map(|&place| place as usize)
    }
}

fn pieces(by: &[i64]) -> Pieces {
    Pieces::new(by[0], by[1], by[2])
}

/// The cell of a number that a look-up gave.
fn asked<'a, T>(all: &AskedBy<T>, index: usize, nth: usize) -> Cell<'a> {
    all.at(index >> SHIFT).and_then(|asked| asked.by.get(nth).copied()).into()
}

type Column = (&'static str, for<'a> fn(&'a Answers, usize) -> Cell<'a>);

const LANE: &[Column] = &[
    ("lane_number", |_, i| (i as i64).into()),
    ("kind", |a, i| a.slices.lanes[i].key[0].into()),
    ("place", |a, i| a.slices.lanes[i].key[1].into()),
    ("device_id", |a, i| a.slices.lanes[i].key[2].into()),
    ("context_id", |a, i| a.slices.lanes[i].key[3].into()),
    ("track", |a, i| a.slices.lanes[i].key[4].into()),
    ("slice_count", |a, i| (a.slices.lanes[i].slices as i64).into()),
    ("busy_ns", |a, i| i64::try_from(a.slices.lanes[i].busy).ok().into()),
    ("start_ns", |a, i| a.slices.lanes[i].start.into()),
    ("end_ns", |a, i| a.slices.lanes[i].end.into()),
];

const PIECE: &[Column] = &[
    ("from_ns", |a, i| asked(&a.cells, i, 0)),
    ("to_ns", |a, i| asked(&a.cells, i, 1)),
    ("pieces", |a, i| asked(&a.cells, i, 2)),
    ("lane_number", |a, i| a.cell(i).map(|cell| i64::from(cell.lane)).into()),
    ("piece_id", |a, i| a.cell(i).map(|cell| cell.piece).into()),
    ("category", |a, i| a.cell(i).and_then(|cell| a.slices.text(cell.category)).into()),
    ("busy_ns", |a, i| a.cell(i).map(|cell| cell.busy).into()),
    ("slice_count", |a, i| a.cell(i).map(|cell| cell.starts as i64).into()),
];

const LONGEST: &[Column] = &[
    ("from_ns", |a, i| asked(&a.longest, i, 0)),
    ("to_ns", |a, i| asked(&a.longest, i, 1)),
    ("pieces", |a, i| asked(&a.longest, i, 2)),
    ("gpu_most", |a, i| asked(&a.longest, i, 3)),
    ("thread_most", |a, i| asked(&a.longest, i, 4)),
    ("lane_number", |a, i| a.slice(i).map(|at| a.slices.lane_of(at) as i64).into()),
    ("start_ns", |a, i| a.slice(i).map(|at| a.slices.times(at).0).into()),
    ("end_ns", |a, i| a.slice(i).map(|at| a.slices.times(at).1).into()),
    ("source", |a, i| a.slice(i).and_then(|at| a.slices.source(at)).into()),
    ("event_id", |a, i| a.slice(i).and_then(|at| a.slices.event(at)).into()),
    ("category", |a, i| a.slice(i).map(|at| a.slices.category(at)).into()),
    ("name", |a, i| a.slice(i).and_then(|at| a.slices.name(at)).into()),
];

/// A relation on the slices of a timeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Table {
    Lane,
    Piece,
    Longest,
}

impl Table {
    fn spec(self) -> &'static [Column] {
        match self {
            Self::Lane => LANE,
            Self::Piece => PIECE,
            Self::Longest => LONGEST,
        }
    }
}

impl Relation for Table {
    type Answers = Answers;
    type Row = ();

    fn named(name: &str) -> Option<Self> {
        match name {
            "slice_lane" => Some(Self::Lane),
            "slice_piece" => Some(Self::Piece),
            "longest_slice" => Some(Self::Longest),
            _ => None,
        }
    }

    fn columns(self) -> Vec<&'static str> {
        self.spec().iter().map(|(name, _)| *name).collect()
    }

    fn key(self) -> &'static [&'static str] {
        match self {
            Self::Lane => &[],
            Self::Piece => &["from_ns", "to_ns", "pieces"],
            Self::Longest => &["from_ns", "to_ns", "pieces", "gpu_most", "thread_most"],
        }
    }

    fn orders(self, access: Access<'_>) -> &'static [Order] {
        match (self, access) {
            (Self::Lane, Access::Scan) => {
                &[Order { columns: &[("lane_number", false)], is_total: true, is_on_demand: false }]
            }
            (Self::Piece, Access::Lookup(_)) => &[Order {
                columns: &[("lane_number", false), ("piece_id", false), ("category", false)],
                is_total: true,
                is_on_demand: false,
            }],
            (Self::Longest, Access::Lookup(_)) => {
                &[Order { columns: &[("lane_number", false)], is_total: false, is_on_demand: false }]
            }
            _ => &[],
        }
    }

    fn is_asked_by_key(self) -> bool {
        self != Self::Lane
    }

    fn is_found_exactly(self) -> bool {
        self != Self::Lane
    }

    fn rows_per_key(self) -> i64 {
        match self {
            Self::Lane => 1,
            Self::Piece => 100_000,
            Self::Longest => 400_000,
        }
    }

    fn failure(_: &Answers) -> Option<&str> {
        None
    }

    fn is_stopped(answers: &Answers) -> bool {
        answers.is_stopped.load(Ordering::Relaxed)
    }

    fn rows(self, answers: &Answers) -> usize {
        // Only look-ups have other rows.
        if self == Self::Lane { answers.slices.lanes.len() } else { 0 }
    }

    fn index(self, _: &Answers, row: usize) -> usize {
        row
    }

    fn find(self, answers: &Answers, key: &Key) -> Range<usize> {
        let by: Option<Vec<i64>> = (0..self.key().len()).map(|place| key.number(place)).collect();
        let (place, rows) = match (self, by) {
            (Self::Piece, Some(by)) => {
                let (place, cells) = answers.cells(&by);
                (place, cells.len())
            }
            (Self::Longest, Some(by)) => {
                let (place, longest) = answers.longest(&by);
                (place, longest.len())
            }
            _ => (0, 0),
        };
        place << SHIFT..(place << SHIFT) + rows
    }

    fn row(self, _: &Answers, _: usize, _: &Key) {}

    fn cell<'a>(self, answers: &'a Answers, column: usize, index: usize, (): &()) -> Cell<'a> {
        (self.spec()[column].1)(answers, index)
    }
}
