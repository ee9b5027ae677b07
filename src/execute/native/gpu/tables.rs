//! The columns and rows of the GPU occupancy relations.

use super::answers::{ACTIVITIES, AMONG, Answers, COMPUTE_GAP_PART, HIDEABLE, IDLE_PART, SHIFT};
use crate::classify::Activity;
use crate::execute::native::ids;
use crate::execute::native::relation::{Cell, Key, Relation};
use crate::occupancy::{Decomposition, Gap, IdlePart, Level, NONE, Overlap, Shares, Stream};
use crate::projection::OpKind;
use std::cell::OnceCell;
use std::ops::Range;
use std::sync::atomic::Ordering;

/// A relation on GPU occupancy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::execute::native) enum Table {
    Busy,
    ComputeGap,
    Exposed,
    Gap,
    Idle,
    Launch,
    Overlap,
    StreamGap,
    Window,
}

/// A column: its name, and a function for its value, given the index of a row and what its cells have in
/// common.
type Column = (&'static str, for<'a> fn(&'a Answers, usize, &Spent) -> Cell<'a>);

/// How a GPU spent a window: what the cells of a row of `gpu_window` have in common.
#[derive(Default)]
pub(in crate::execute::native) struct Spent {
    /// The window of the look-up.
    asked: Option<(i64, i64)>,
    shares: OnceCell<Shares>,
}

impl Spent {
    fn window(&self, gpu: &Decomposition) -> Option<(i64, i64)> {
        self.asked.or_else(|| gpu.extent())
    }

    fn length(&self, gpu: &Decomposition) -> i64 {
        self.asked.map_or_else(|| gpu.whole().length, |(start, end)| gpu.length(start, end))
    }

    fn shares(&self, gpu: &Decomposition) -> &Shares {
        self.shares.get_or_init(|| match self.asked {
            Some((start, end)) => gpu.within(start, end),
            None => gpu.whole(),
        })
    }
}

impl Table {
    fn spec(self) -> &'static [Column] {
        match self {
            Self::Busy => BUSY,
            Self::Exposed => EXPOSED,
            Self::Gap => GAP,
            Self::Idle | Self::ComputeGap => IDLE,
            Self::Launch => LAUNCH,
            Self::Overlap => OVERLAP,
            Self::StreamGap => STREAM_GAP,
            Self::Window => WINDOW,
        }
    }

    /// The number of rows in each block.
    fn blocks(self, answers: &Answers) -> Vec<usize> {
        let levels = 0..Level::ALL.len();
        match self {
            Self::Busy => levels
                .flat_map(|level| (0..ACTIVITIES.len()).map(move |activity| (level, activity)))
                .map(|(level, activity)| answers.stretches(level, activity).len())
                .collect(),
            Self::Exposed => {
                (0..HIDEABLE.len()).map(|activity| answers.exposed(activity).len()).collect()
            }
            Self::Gap => levels.map(|level| answers.gaps(level).len()).collect(),
            Self::Idle => vec![answers.idle().parts[IDLE_PART].len()],
            Self::ComputeGap => vec![0, answers.idle().parts[COMPUTE_GAP_PART].len()],
            Self::Launch => vec![answers.launches().launched.len()],
            Self::Overlap => vec![answers.occupancy.ops.len()],
            Self::StreamGap => (0..AMONG.len()).map(|among| answers.stream_gaps(among).len()).collect(),
            Self::Window => vec![answers.decompositions().len()],
        }
    }
}

impl Relation for Table {
    type Answers = Answers;
    type Row = Spent;

    fn named(name: &str) -> Option<Self> {
        match name {
            "compute_gap_part" => Some(Self::ComputeGap),
            "exposed_part" => Some(Self::Exposed),
            "gpu_busy" => Some(Self::Busy),
            "gpu_gap" => Some(Self::Gap),
            "idle_part" => Some(Self::Idle),
            "launch" => Some(Self::Launch),
            "stream_gap" => Some(Self::StreamGap),
            "gpu_overlap" => Some(Self::Overlap),
            "gpu_window" => Some(Self::Window),
            _ => None,
        }
    }

    fn columns(self) -> Vec<&'static str> {
        self.spec().iter().map(|(name, _)| *name).collect()
    }

    fn key(self) -> &'static [&'static str] {
        match self {
            Self::Busy => &["level", "activity"],
            Self::Exposed => &["activity"],
            Self::Gap => &["level"],
            Self::Idle | Self::ComputeGap => &["part"],
            Self::Launch | Self::Overlap => &["op_kind", "op_id"],
            Self::StreamGap => &["among"],
            Self::Window => &["start_ns", "end_ns"],
        }
    }

    fn order(self) -> &'static [(&'static str, bool)] {
        match self {
            Self::StreamGap => &[
                ("global_pid", false),
                ("device_id", false),
                ("context_id", false),
                ("stream_id", false),
                ("end_ns", false),
            ],
            _ => &[],
        }
    }

    fn is_ordered_by_key(self) -> bool {
        true
    }

    fn is_asked_by_key(self) -> bool {
        self == Self::Window
    }

    fn is_found_exactly(self) -> bool {
        // A gap has two keys with many rows each, and a window has its key in every row: comparing them
        // again would be slow.
        matches!(self, Self::StreamGap | Self::Window)
    }

    fn rows_per_key(self) -> i64 {
        match self {
            Self::StreamGap => 1_000_000,
            Self::Busy | Self::ComputeGap | Self::Exposed | Self::Gap | Self::Idle => 100_000,
            Self::Launch | Self::Overlap | Self::Window => 1,
        }
    }

    fn failure(answers: &Answers) -> Option<&str> {
        answers.failure.get().map(String::as_str)
    }

    fn is_stopped(answers: &Answers) -> bool {
        answers.is_stopped.load(Ordering::Relaxed)
    }

    fn rows(self, answers: &Answers) -> usize {
        self.blocks(answers).iter().sum()
    }

    fn index(self, answers: &Answers, row: usize) -> usize {
        match self {
            Self::Idle | Self::Overlap | Self::Window => return row,
            Self::Launch => return answers.launches().launched[row] as usize,
            _ => {}
        }
        let mut row = row;
        for (asked, rows) in self.blocks(answers).into_iter().enumerate() {
            if row < rows {
                return asked << SHIFT | row;
            }
            row -= rows;
        }
        row
    }

    fn find(self, answers: &Answers, key: &Key) -> Range<usize> {
        let level = || Level::ALL.iter().position(|level| Some(level.as_str()) == key.text(0));
        let activity = || ACTIVITIES.iter().position(|(word, _)| Some(*word) == key.text(1));
        match self {
            Self::Busy => level().zip(activity()).map_or(0..0, |(level, activity)| {
                let from = (level * ACTIVITIES.len() + activity) << SHIFT;
                from..from + answers.stretches(level, activity).len()
            }),
            Self::Exposed => {
                let activity = |of: &Activity| Some(of.as_str()) == key.text(0);
                HIDEABLE.iter().position(activity).map_or(0..0, |activity| {
                    activity << SHIFT..(activity << SHIFT) + answers.exposed(activity).len()
                })
            }
            Self::Gap => level()
                .map_or(0..0, |level| level << SHIFT..(level << SHIFT) + answers.gaps(level).len()),
            Self::Idle | Self::ComputeGap => {
                let gaps_of = if self == Self::Idle { IDLE_PART } else { COMPUTE_GAP_PART };
                let parts = &answers.idle().parts[gaps_of];
                let is_asked = |part: &&IdlePart| Some(part.kind.as_str()) == key.text(0);
                let from = parts.iter().position(|part| is_asked(&part)).unwrap_or(parts.len());
                let to = from + parts[from..].iter().take_while(is_asked).count();
                (gaps_of << SHIFT | from)..(gaps_of << SHIFT | to)
            }
            Self::StreamGap => {
                let among = AMONG.iter().position(|among| Some(*among) == key.text(0));
                among.map_or(0..0, |among| {
                    among << SHIFT..(among << SHIFT) + answers.stream_gaps(among).len()
                })
            }
            Self::Launch | Self::Overlap => {
                let op = key.text(0).and_then(OpKind::named).zip(key.number(1));
                let place = op.and_then(|(kind, id)| answers.place_of(kind, id));
                place.map_or(0..0, |index| index..index + 1)
            }
            // Every GPU has a row for any window with a start and an end.
            Self::Window if key.number(0).is_some() && key.number(1).is_some() => {
                0..answers.decompositions().len()
            }
            Self::Window => 0..0,
        }
    }

    fn row(self, _: &Answers, _: usize, key: &Key) -> Spent {
        Spent { asked: key.number(0).zip(key.number(1)), shares: OnceCell::new() }
    }

    fn cell<'a>(self, answers: &'a Answers, column: usize, index: usize, row: &Spent) -> Cell<'a> {
        (self.spec()[column].1)(answers, index, row)
    }
}

const BUSY: &[Column] = &[
    ("level", |a, i, _| a.busy(i).0.as_str().into()),
    ("activity", |a, i, _| a.busy(i).1.into()),
    ("gpu_id", |a, i, _| lane(a, a.busy(i).0, a.busy(i).2.lane).gpu_id.into()),
    ("device_id", |a, i, _| lane(a, a.busy(i).0, a.busy(i).2.lane).device_id.into()),
    ("pid", |a, i, _| pid(lane(a, a.busy(i).0, a.busy(i).2.lane), a.busy(i).0)),
    ("context_id", |a, i, _| context(lane(a, a.busy(i).0, a.busy(i).2.lane), a.busy(i).0)),
    ("stream_id", |a, i, _| stream(lane(a, a.busy(i).0, a.busy(i).2.lane), a.busy(i).0)),
    ("start_ns", |a, i, _| a.busy(i).2.start.into()),
    ("end_ns", |a, i, _| a.busy(i).2.end.into()),
    ("dur_ns", |a, i, _| (a.busy(i).2.end - a.busy(i).2.start).into()),
    ("op_count", |a, i, _| a.busy(i).2.ops.into()),
];

const EXPOSED: &[Column] = &[
    ("gpu_id", |a, i, _| a.stream_of(a.exposed_op(i)).gpu_id.into()),
    ("device_id", |a, i, _| a.stream_of(a.exposed_op(i)).device_id.into()),
    ("activity", |a, i, _| a.exposed_part(i).0.as_str().into()),
    ("op_kind", |a, i, _| kind(a, a.exposed_part(i).1.op)),
    ("op_id", |a, i, _| a.occupancy.ops[a.exposed_op(i)].id.into()),
    ("op_name", |a, i, _| name(a, a.exposed_part(i).1.op)),
    ("name_id", |a, i, _| a.label(a.exposed_op(i)).name.into()),
    ("start_ns", |a, i, _| a.exposed_part(i).1.start.into()),
    ("end_ns", |a, i, _| a.exposed_part(i).1.end.into()),
    ("dur_ns", |a, i, _| (a.exposed_part(i).1.end - a.exposed_part(i).1.start).into()),
    ("late_ns", |a, i, _| a.late(i).into()),
];

const GAP: &[Column] = &[
    ("level", |a, i, _| a.gap(i).0.as_str().into()),
    ("gpu_id", |a, i, _| lane(a, a.gap(i).0, a.gap(i).1.lane).gpu_id.into()),
    ("device_id", |a, i, _| lane(a, a.gap(i).0, a.gap(i).1.lane).device_id.into()),
    ("pid", |a, i, _| pid(lane(a, a.gap(i).0, a.gap(i).1.lane), a.gap(i).0)),
    ("context_id", |a, i, _| context(lane(a, a.gap(i).0, a.gap(i).1.lane), a.gap(i).0)),
    ("stream_id", |a, i, _| stream(lane(a, a.gap(i).0, a.gap(i).1.lane), a.gap(i).0)),
    ("start_ns", |a, i, _| a.gap(i).1.start.into()),
    ("end_ns", |a, i, _| a.gap(i).1.end.into()),
    ("dur_ns", |a, i, _| a.gap(i).1.end.saturating_sub(a.gap(i).1.start).into()),
    ("before_kind", |a, i, _| kind(a, a.gap(i).1.before)),
    ("before_id", |a, i, _| a.op(a.gap(i).1.before).map(|op| op.id).into()),
    ("before_name", |a, i, _| name(a, a.gap(i).1.before)),
    ("before_ns", |a, i, _| length(a, a.gap(i).1.before)),
    ("after_kind", |a, i, _| kind(a, a.gap(i).1.after)),
    ("after_id", |a, i, _| a.op(a.gap(i).1.after).map(|op| op.id).into()),
    ("after_name", |a, i, _| name(a, a.gap(i).1.after)),
    ("after_ns", |a, i, _| length(a, a.gap(i).1.after)),
    ("is_in_stream", |a, i, _| is_in_stream(a, a.gap(i).1)),
];

const IDLE: &[Column] = &[
    ("gpu_id", |a, i, _| lane(a, Level::Gpu, a.part(i).1.lane).gpu_id.into()),
    ("device_id", |a, i, _| lane(a, Level::Gpu, a.part(i).1.lane).device_id.into()),
    ("start_ns", |a, i, _| a.part(i).0.start.into()),
    ("end_ns", |a, i, _| a.part(i).0.end.into()),
    ("dur_ns", |a, i, _| a.part(i).0.end.saturating_sub(a.part(i).0.start).into()),
    ("part", |a, i, _| a.part(i).0.kind.as_str().into()),
    ("api_name", |a, i, _| function(a, i)),
    ("gap_start_ns", |a, i, _| a.part(i).1.start.into()),
    ("gap_ns", |a, i, _| a.part(i).1.end.saturating_sub(a.part(i).1.start).into()),
    ("pid", |a, i, _| a.thread(i).and_then(ids::pid).into()),
    ("tid", |a, i, _| a.thread(i).and_then(ids::tid).into()),
    ("global_tid", |a, i, _| a.thread(i).into()),
    ("before_kind", |a, i, _| kind(a, a.part(i).1.before)),
    ("before_id", |a, i, _| a.op(a.part(i).1.before).map(|op| op.id).into()),
    ("before_name", |a, i, _| name(a, a.part(i).1.before)),
    ("after_kind", |a, i, _| kind(a, a.part(i).1.after)),
    ("after_id", |a, i, _| a.op(a.part(i).1.after).map(|op| op.id).into()),
    ("after_name", |a, i, _| name(a, a.part(i).1.after)),
];

const LAUNCH: &[Column] = &[
    ("op_id", |a, i, _| a.occupancy.ops[i].id.into()),
    ("op_kind", |a, i, _| kind(a, i as u32)),
    ("start_ns", |a, i, _| a.occupancy.ops[i].start.into()),
    ("end_ns", |a, i, _| a.occupancy.ops[i].end.into()),
    ("dur_ns", |a, i, _| (a.occupancy.ops[i].end - a.occupancy.ops[i].start).into()),
    ("device_id", |a, i, _| a.stream_of(i).device_id.into()),
    ("context_id", |a, i, _| a.stream_of(i).context_id.into()),
    ("green_context_id", |a, i, _| a.launches().green_context(i).into()),
    ("stream_id", |a, i, _| a.stream_of(i).stream_id.into()),
    ("correlation_id", |a, i, _| given(a.launches().correlations[i])),
    ("pid", |a, i, _| pid(a.stream_of(i), Level::Stream)),
    ("global_pid", |a, i, _| given(a.stream_of(i).global_pid)),
    ("call_id", |a, i, _| a.launches().call(i).map(|of| of.call.id).into()),
    ("call_start_ns", |a, i, _| a.launches().call(i).map(|of| of.call.start).into()),
    ("call_end_ns", |a, i, _| a.launches().call(i).map(|of| of.call.end).into()),
    ("call_name_id", |a, i, _| a.launches().call(i).map_or(Cell::Null, |of| given(of.name))),
    ("global_tid", |a, i, _| a.launches().thread(i).into()),
    ("tid", |a, i, _| a.launches().thread(i).and_then(ids::tid).into()),
];

const STREAM_GAP: &[Column] = &[
    ("among", |_, i, _| AMONG[i >> SHIFT].into()),
    ("global_pid", |a, i, _| given(a.stream_of(a.after(i)).global_pid)),
    ("pid", |a, i, _| pid(a.stream_of(a.after(i)), Level::Stream)),
    ("device_id", |a, i, _| a.stream_of(a.after(i)).device_id.into()),
    ("context_id", |a, i, _| a.stream_of(a.after(i)).context_id.into()),
    ("stream_id", |a, i, _| a.stream_of(a.after(i)).stream_id.into()),
    ("start_ns", |a, i, _| a.occupancy.ops[a.before(i)].end.into()),
    ("end_ns", |a, i, _| a.occupancy.ops[a.after(i)].start.into()),
    ("dur_ns", |a, i, _| (a.occupancy.ops[a.after(i)].start - a.occupancy.ops[a.before(i)].end).into()),
    ("before_kind", |a, i, _| kind(a, a.before(i) as u32)),
    ("before_id", |a, i, _| a.occupancy.ops[a.before(i)].id.into()),
    ("before_name_id", |a, i, _| given(a.label(a.before(i)).id)),
    ("after_kind", |a, i, _| kind(a, a.after(i) as u32)),
    ("after_id", |a, i, _| a.occupancy.ops[a.after(i)].id.into()),
    ("after_name_id", |a, i, _| given(a.label(a.after(i)).id)),
];

const OVERLAP: &[Column] = &[
    ("op_kind", |a, i, _| kind(a, i as u32)),
    ("op_id", |a, i, _| a.occupancy.ops[i].id.into()),
    ("op_name", |a, i, _| name(a, i as u32)),
    ("name_id", |a, i, _| a.label(i).name.into()),
    ("activity", |a, i, _| a.occupancy.ops[i].activity.as_str().into()),
    ("gpu_id", |a, i, _| a.stream_of(i).gpu_id.into()),
    ("device_id", |a, i, _| a.stream_of(i).device_id.into()),
    ("pid", |a, i, _| pid(a.stream_of(i), Level::Stream)),
    ("context_id", |a, i, _| a.stream_of(i).context_id.into()),
    ("stream_id", |a, i, _| a.stream_of(i).stream_id.into()),
    ("start_ns", |a, i, _| a.occupancy.ops[i].start.into()),
    ("end_ns", |a, i, _| a.occupancy.ops[i].end.into()),
    ("dur_ns", |a, i, _| (a.occupancy.ops[i].end - a.occupancy.ops[i].start).into()),
    ("in_window_ns", |a, i, _| a.overlap(Overlap::InWindow, i).into()),
    ("compute_ns", |a, i, _| a.overlap(Overlap::Compute, i).into()),
    ("communication_ns", |a, i, _| a.overlap(Overlap::Communication, i).into()),
    ("memory_ns", |a, i, _| a.overlap(Overlap::Memory, i).into()),
    ("exposed_ns", |a, i, _| a.overlap(Overlap::Exposed, i).into()),
    ("concurrent_ns", |a, i, _| a.overlap(Overlap::Concurrent, i).into()),
];

const WINDOW: &[Column] = &[
    ("gpu_id", |a, i, _| a.gpu(i).gpu_id.into()),
    ("device_id", |a, i, _| a.gpu(i).device_id.into()),
    ("start_ns", |a, i, row| row.window(a.decomposition(i)).map(|(start, _)| start).into()),
    ("end_ns", |a, i, row| row.window(a.decomposition(i)).map(|(_, end)| end).into()),
    ("window_ns", |a, i, row| row.length(a.decomposition(i)).into()),
    ("busy_ns", |a, i, row| row.shares(a.decomposition(i)).busy.into()),
    ("compute_ns", |a, i, row| row.shares(a.decomposition(i)).compute.into()),
    ("communication_ns", |a, i, row| row.shares(a.decomposition(i)).communication.into()),
    ("memory_ns", |a, i, row| row.shares(a.decomposition(i)).memory.into()),
    ("exposed_communication_ns", |a, i, row| {
        row.shares(a.decomposition(i)).exposed_communication.into()
    }),
    ("exposed_memory_ns", |a, i, row| row.shares(a.decomposition(i)).exposed_memory.into()),
    ("idle_ns", |a, i, row| row.shares(a.decomposition(i)).idle.into()),
];

/// The first stream of a lane, which tells the lane's GPU and process.
fn lane(answers: &Answers, level: Level, lane: u32) -> &Stream {
    answers.occupancy.first_stream(level, lane)
}

fn pid<'a>(stream: &Stream, level: Level) -> Cell<'a> {
    match level {
        Level::Gpu => Cell::Null,
        _ => ids::pid(stream.global_pid).into(),
    }
}

fn context<'a>(stream: &Stream, level: Level) -> Cell<'a> {
    if level == Level::Stream { stream.context_id.into() } else { Cell::Null }
}

fn stream<'a>(stream: &Stream, level: Level) -> Cell<'a> {
    if level == Level::Stream { stream.stream_id.into() } else { Cell::Null }
}

fn function(answers: &Answers, index: usize) -> Cell<'_> {
    let name = answers.part(index).0.name;
    let functions = &answers.idle().functions;
    functions.get(name as usize).filter(|name| !name.is_empty()).map(String::as_str).into()
}

fn kind(answers: &Answers, op: u32) -> Cell<'_> {
    answers.op(op).map(|op| op.kind.as_str()).into()
}

fn length(answers: &Answers, op: u32) -> Cell<'_> {
    answers.op(op).map(|op| op.end.saturating_sub(op.start)).into()
}

/// Whether the operations around a gap ran on one stream.
fn is_in_stream<'a>(answers: &Answers, gap: &Gap) -> Cell<'a> {
    let stream = |op| answers.op(op).map(|op| op.stream);
    stream(gap.before).zip(stream(gap.after)).map(|(before, after)| i64::from(before == after)).into()
}

fn name(answers: &Answers, op: u32) -> Cell<'_> {
    match op {
        NONE => Cell::Null,
        op => {
            answers.labels.names.get(answers.label(op as usize).name as usize).map(String::as_str).into()
        }
    }
}

/// An id of the export; null for [`ids::NO_ID`].
fn given<'a>(id: i64) -> Cell<'a> {
    if id == ids::NO_ID { Cell::Null } else { id.into() }
}
