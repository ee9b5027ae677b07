//! The columns and rows of the GPU occupancy relations.

use super::answers::{ACTIVITIES, Answers, COMPUTE_GAP_PART, HIDEABLE, IDLE_PART, SHIFT};
use crate::classify::Activity;
use crate::execute::native::ids;
use crate::execute::native::relation::{Cell, Key, Relation};
use crate::occupancy::{Gap, IdlePart, Level, NONE, Overlap, Stream};
use crate::projection::OpKind;
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
    Overlap,
    Window,
}

/// A column: its name, and a function for its value, given the row and the look-up key.
type Column = (&'static str, for<'a> fn(&'a Answers, usize, &Key) -> Cell<'a>);

impl Table {
    fn spec(self) -> &'static [Column] {
        match self {
            Self::Busy => BUSY,
            Self::Exposed => EXPOSED,
            Self::Gap => GAP,
            Self::Idle | Self::ComputeGap => IDLE,
            Self::Overlap => OVERLAP,
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
            Self::Overlap => vec![answers.occupancy.ops.len()],
            Self::Window => vec![answers.decompositions().len()],
        }
    }
}

impl Relation for Table {
    type Answers = Answers;

    fn named(name: &str) -> Option<Self> {
        match name {
            "compute_gap_part" => Some(Self::ComputeGap),
            "exposed_part" => Some(Self::Exposed),
            "gpu_busy" => Some(Self::Busy),
            "gpu_gap" => Some(Self::Gap),
            "idle_part" => Some(Self::Idle),
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
            Self::Overlap => &["op_kind", "op_id"],
            Self::Window => &["start_ns", "end_ns"],
        }
    }

    fn order(self) -> &'static [(&'static str, bool)] {
        &[]
    }

    fn is_ordered_by_key(self) -> bool {
        false
    }

    fn is_asked_by_key(self) -> bool {
        self == Self::Window
    }

    fn rows_per_key(self) -> i64 {
        match self {
            Self::Busy | Self::ComputeGap | Self::Exposed | Self::Gap | Self::Idle => 100_000,
            Self::Overlap | Self::Window => 1,
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
        if matches!(self, Self::Idle | Self::Overlap | Self::Window) {
            return row;
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
            Self::Overlap => {
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

    fn cell<'a>(self, answers: &'a Answers, column: usize, index: usize, key: &Key) -> Cell<'a> {
        (self.spec()[column].1)(answers, index, key)
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
    ("name_id", |a, i, _| a.occupancy.ops[a.exposed_op(i)].name.into()),
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

const OVERLAP: &[Column] = &[
    ("op_kind", |a, i, _| kind(a, i as u32)),
    ("op_id", |a, i, _| a.occupancy.ops[i].id.into()),
    ("op_name", |a, i, _| name(a, i as u32)),
    ("name_id", |a, i, _| a.occupancy.ops[i].name.into()),
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
    ("start_ns", |a, i, key| {
        key.number(0).or_else(|| a.decompositions()[i].extent().map(|(start, _)| start)).into()
    }),
    ("end_ns", |a, i, key| {
        key.number(1).or_else(|| a.decompositions()[i].extent().map(|(_, end)| end)).into()
    }),
    ("window_ns", |a, i, key| a.shares(i, key).length.into()),
    ("busy_ns", |a, i, key| a.shares(i, key).busy.into()),
    ("compute_ns", |a, i, key| a.shares(i, key).compute.into()),
    ("communication_ns", |a, i, key| a.shares(i, key).communication.into()),
    ("memory_ns", |a, i, key| a.shares(i, key).memory.into()),
    ("exposed_communication_ns", |a, i, key| a.shares(i, key).exposed_communication.into()),
    ("exposed_memory_ns", |a, i, key| a.shares(i, key).exposed_memory.into()),
    ("idle_ns", |a, i, key| a.shares(i, key).idle.into()),
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
            answers.op(op).and_then(|op| answers.names.get(op.name as usize)).map(String::as_str).into()
        }
    }
}
