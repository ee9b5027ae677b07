//! The rows of the GPU relations, and their look-ups.

use super::answers::{ACTIVITIES, AMONG, Answers, COMPUTE_GAP_PART, HIDEABLE, IDLE_PART, SHIFT};
use super::columns::{
    AT, BUSY, CALL, Column, DOUBT, EXPOSED, GAP, IDLE, LAUNCH, LEAD, OVERLAP, REPEATED, RUN, STREAM,
    STREAM_GAP, Spent, WINDOW,
};
use super::doubts::Doubt;
use super::replay::{CRITICAL, REPLAYED, WINDOWS};
use crate::execute::native::relation::{Access, Cell, Key, Order, Relation};
use nsq_sweep::classify::Activity;
use nsq_sweep::occupancy::{IdleKind, Level};
use nsq_sweep::projection::OpKind;
use std::cell::OnceCell;
use std::ops::Range;
use std::sync::atomic::Ordering;

/// Disjoint times of each GPU.
const IN_GPU: &[Order] =
    &[Order { columns: &[("gpu_id", false), ("start_ns", false)], is_total: true, is_on_demand: false }];

/// Disjoint times of each GPU, gap by gap.
const IN_GAP: &[Order] = &[
    Order { columns: &[("gpu_id", false), ("start_ns", false)], is_total: true, is_on_demand: false },
    Order {
        columns: &[("gpu_id", false), ("gap_start_ns", false), ("start_ns", false)],
        is_total: true,
        is_on_demand: false,
    },
    Order {
        columns: &[("gpu_id", false), ("part", false), ("start_ns", false)],
        is_total: true,
        is_on_demand: true,
    },
];

/// A relation on GPU occupancy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::execute::native) enum Table {
    At,
    Busy,
    Call,
    ComputeGap,
    Doubt,
    Exposed,
    Gap,
    Idle,
    Launch,
    Lead,
    Overlap,
    Critical,
    Repeated,
    Replayed,
    ReplayedWindow,
    Run,
    Stream,
    StreamGap,
    Window,
}

impl Table {
    fn spec(self) -> &'static [Column] {
        match self {
            Self::At => AT,
            Self::Busy => BUSY,
            Self::Call => CALL,
            Self::Doubt => DOUBT,
            Self::Exposed => EXPOSED,
            Self::Gap => GAP,
            Self::Idle | Self::ComputeGap => IDLE,
            Self::Launch => LAUNCH,
            Self::Lead => LEAD,
            Self::Overlap => OVERLAP,
            Self::Critical => CRITICAL,
            Self::Repeated => REPEATED,
            Self::Replayed => REPLAYED,
            Self::ReplayedWindow => WINDOWS,
            Self::Run => RUN,
            Self::Stream => STREAM,
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
            Self::Call => vec![answers.launches().without_work.len()],
            Self::Doubt => vec![answers.doubts().len()],
            Self::Launch => vec![answers.launches().launched.len()],
            Self::Overlap => vec![answers.occupancy.ops.len()],
            // Only look-ups have rows: without limits there are no runs.
            Self::At | Self::Lead | Self::Run | Self::ReplayedWindow => Vec::new(),
            Self::Critical => vec![answers.critical_rows()],
            Self::Repeated => vec![answers.steps().len()],
            Self::Replayed => vec![answers.find_replayed("").len()],
            Self::Stream => vec![answers.occupancy.streams.len()],
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
            "call_without_work" => Some(Self::Call),
            "doubtful_op" => Some(Self::Doubt),
            "op_at" => Some(Self::At),
            "exposed_part" => Some(Self::Exposed),
            "gpu_busy" => Some(Self::Busy),
            "gpu_gap" => Some(Self::Gap),
            "idle_part" => Some(Self::Idle),
            "launch" => Some(Self::Launch),
            "thread_lead" => Some(Self::Lead),
            "kernel_run" => Some(Self::Run),
            "critical_part" => Some(Self::Critical),
            "repeated_step" => Some(Self::Repeated),
            "replayed_op" => Some(Self::Replayed),
            "replayed_window" => Some(Self::ReplayedWindow),
            "gpu_stream" => Some(Self::Stream),
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
            Self::At => &["gpu_id", "at_ns"],
            Self::Busy => &["level", "activity"],
            Self::Call => &["name_id"],
            Self::Critical | Self::ReplayedWindow => &["edits", "gpu_id", "start_ns", "end_ns"],
            Self::Doubt => &["reason"],
            Self::Replayed => &["edits"],
            Self::Exposed => &["activity"],
            Self::Gap => &["level"],
            Self::Launch | Self::Overlap => &["op_kind", "op_id"],
            Self::Lead => &["gpu_id", "starts_ahead"],
            Self::StreamGap => &["among"],
            Self::Window => &["start_ns", "end_ns"],
            Self::Run => &["longest_ns", "below_ns"],
            Self::Idle | Self::ComputeGap | Self::Repeated | Self::Stream => &[],
        }
    }

    fn orders(self, access: Access<'_>) -> &'static [Order] {
        match (self, access) {
            (Self::StreamGap, Access::Lookup(_)) => &[Order {
                columns: &[
                    ("global_pid", false),
                    ("device_id", false),
                    ("context_id", false),
                    ("stream_id", false),
                    ("end_ns", false),
                ],
                is_total: false,
                is_on_demand: false,
            }],
            (Self::Gap | Self::Busy, Access::Lookup(Some("gpu"))) => IN_GPU,
            (Self::Exposed | Self::Run, Access::Lookup(_)) => IN_GPU,
            // The parts of a gap are disjoint, and so are the gaps of a GPU.
            (Self::Idle | Self::ComputeGap, Access::Scan) => IN_GAP,
            (Self::Launch | Self::Overlap, Access::Scan) => &[Order {
                columns: &[("start_ns", false), ("end_ns", false)],
                is_total: false,
                is_on_demand: false,
            }],
            _ => &[],
        }
    }

    fn filtered(self) -> Option<&'static str> {
        match self {
            Self::Idle | Self::ComputeGap => Some("part"),
            Self::Overlap => Some("activity"),
            _ => None,
        }
    }

    fn bit_of_word(self, word: &str) -> u32 {
        let place = match self {
            Self::Overlap => HIDEABLE
                .into_iter()
                .chain([Activity::Compute])
                .find(|activity| activity.as_str() == word)
                .map(|activity| activity as u32),
            _ => IdleKind::ALL.into_iter().find(|kind| kind.as_str() == word).map(|kind| kind as u32),
        };
        place.map_or(0, |place| 1 << place)
    }

    fn bit(self, answers: &Answers, index: usize) -> u32 {
        let place = match self {
            Self::Overlap => answers.occupancy.ops[index].activity as u32,
            _ => answers.kind_of_part(index) as u32,
        };
        1 << place
    }

    fn is_asked_by_key(self) -> bool {
        matches!(self, Self::At | Self::Critical | Self::Replayed | Self::ReplayedWindow)
            || matches!(self, Self::Lead | Self::Run | Self::Window)
    }

    fn is_found_exactly(self) -> bool {
        // Comparing keys again would be slow: few keys of these have many rows each, or a window has its key in every row.
        matches!(
            self,
            Self::At
                | Self::Busy
                | Self::Critical
                | Self::Exposed
                | Self::Gap
                | Self::Lead
                | Self::Replayed
                | Self::ReplayedWindow
                | Self::Run
                | Self::StreamGap
                | Self::Window
        )
    }

    fn rows_per_key(self) -> i64 {
        match self {
            Self::Replayed | Self::Run | Self::StreamGap => 1_000_000,
            Self::Busy | Self::ComputeGap | Self::Exposed | Self::Gap | Self::Idle => 100_000,
            Self::Critical | Self::Lead => 10_000,
            Self::Call | Self::Doubt => 100,
            Self::At
            | Self::Launch
            | Self::Overlap
            | Self::Repeated
            | Self::ReplayedWindow
            | Self::Stream
            | Self::Window => 1,
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
            Self::At
            | Self::Call
            | Self::Doubt
            | Self::Idle
            | Self::Overlap
            | Self::Repeated
            | Self::ReplayedWindow
            | Self::Stream
            | Self::Window => return row,
            Self::ComputeGap => return COMPUTE_GAP_PART << SHIFT | row,
            Self::Launch => return answers.launches().launched[row] as usize,
            Self::Critical => return answers.critical_index(row),
            Self::Replayed => return answers.find_replayed("").start + row,
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

    fn reordered(self, answers: &Answers, row: usize) -> usize {
        match self {
            Self::Idle => answers.by_word(IDLE_PART)[row] as usize,
            Self::ComputeGap => answers.by_word(COMPUTE_GAP_PART)[row] as usize,
            _ => row,
        }
    }

    fn find(self, answers: &Answers, key: &Key) -> Range<usize> {
        let level = || Level::ALL.iter().position(|level| Some(level.as_str()) == key.text(0));
        let activity = || ACTIVITIES.iter().position(|(word, _)| Some(*word) == key.text(1));
        match self {
            Self::At => {
                key.number(0).zip(key.number(1)).map_or(0..0, |(gpu, at)| answers.op_at(gpu, at))
            }
            Self::Busy => level().zip(activity()).map_or(0..0, |(level, activity)| {
                let from = (level * ACTIVITIES.len() + activity) << SHIFT;
                from..from + answers.stretches(level, activity).len()
            }),
            Self::Critical | Self::ReplayedWindow => {
                match (key.text(0), key.number(1), key.number(2), key.number(3)) {
                    (Some(edits), Some(gpu), Some(start), Some(end)) => match self {
                        Self::Critical => answers.find_critical(edits, gpu, (start, end)),
                        _ => answers.find_window(edits, gpu, (start, end)),
                    },
                    _ => 0..0,
                }
            }
            Self::Replayed => key.text(0).map_or(0..0, |edits| answers.find_replayed(edits)),
            Self::Call => key.number(0).map_or(0..0, |name| answers.launches().without_work_of(name)),
            Self::Doubt => {
                let is_asked = |doubt: &Doubt| Some(doubt.reason) == key.text(0);
                let doubts = answers.doubts();
                let from = doubts.iter().position(is_asked).unwrap_or(doubts.len());
                from..from + doubts[from..].iter().take_while(|doubt| is_asked(doubt)).count()
            }
            Self::Exposed => {
                let activity = |of: &Activity| Some(of.as_str()) == key.text(0);
                HIDEABLE.iter().position(activity).map_or(0..0, |activity| {
                    activity << SHIFT..(activity << SHIFT) + answers.exposed(activity).len()
                })
            }
            Self::Gap => level()
                .map_or(0..0, |level| level << SHIFT..(level << SHIFT) + answers.gaps(level).len()),
            Self::StreamGap => {
                let among = AMONG.iter().position(|among| Some(*among) == key.text(0));
                among.map_or(0..0, |among| {
                    among << SHIFT..(among << SHIFT) + answers.stream_gaps(among).len()
                })
            }
            Self::Launch | Self::Overlap => {
                let op = key.text(0).and_then(OpKind::named).zip(key.number(1));
                // No call launched the operations of a graph that was traced as a whole.
                let op = op.filter(|&(kind, _)| self == Self::Overlap || kind != OpKind::Graph);
                let place = op.and_then(|(kind, id)| answers.place_of(kind, id));
                place.map_or(0..0, |index| index..index + 1)
            }
            // Every GPU has a row for any window with a start and an end.
            Self::Window if key.number(0).is_some() && key.number(1).is_some() => {
                0..answers.decompositions().len()
            }
            Self::Lead => key
                .number(0)
                .zip(key.number(1))
                .map_or(0..0, |(gpu, starts_ahead)| answers.leads_of(gpu, starts_ahead)),
            Self::Run => {
                let asked = key.number(0).zip(key.number(1));
                asked.map_or(0..0, |(longest, below)| {
                    let (place, runs) = answers.runs(longest, below);
                    place << SHIFT..(place << SHIFT) + runs.gaps.len()
                })
            }
            Self::Window | Self::Idle | Self::ComputeGap | Self::Repeated | Self::Stream => 0..0,
        }
    }

    fn row(self, _: &Answers, _: usize, key: &Key) -> Spent {
        Spent { asked: key.number(0).zip(key.number(1)), shares: OnceCell::new() }
    }

    fn cell<'a>(self, answers: &'a Answers, column: usize, index: usize, row: &Spent) -> Cell<'a> {
        (self.spec()[column].1)(answers, index, row)
    }
}
