//! What GPUs were busy with, when they were not, and what ran at the same time.
//!
//! For: unions, gaps and overlaps of GPU operations by stream, process or GPU, and the decomposition of
//! a window: compute ∪ + exposed communication + exposed memory + idle = window, to the nanosecond. All in
//! O(n log n). Times are in ns on the report's clock, half-open.
//!
//! Not for: reading a report, or telling communication from compute.

mod decomposition;
mod lanes;

pub use decomposition::{Decomposition, Overlap, Shares};
pub use lanes::{Gap, Stretch};

use crate::classify::Activity;
use crate::interval::TimeSet;
use crate::projection::OpKind;

/// The index that stands for nothing.
pub const NONE: u32 = u32::MAX;

/// An operation of a GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Op {
    /// Began.
    pub start: i64,
    /// Ended; not before it began.
    pub end: i64,
    /// What it is.
    pub kind: OpKind,
    /// Row of the raw table that `kind` names.
    pub id: i64,
    /// Index into [`Occupancy::streams`].
    pub stream: u32,
    /// Index into the names of whoever made it.
    pub name: u32,
    /// What it keeps the GPU busy with.
    pub activity: Activity,
}

/// A CUDA stream, and where it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Stream {
    /// Number of the GPU on its machine; its ordinal where the export knows no better.
    pub gpu_id: i64,
    /// Process across hosts and VMs.
    pub global_pid: i64,
    /// CUDA ordinal of the GPU inside the process.
    pub device_id: i64,
    /// CUDA context.
    pub context_id: Option<i64>,
    /// CUDA stream, unique within its context.
    pub stream_id: Option<i64>,
}

/// What is taken for one thing that is busy or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// A stream.
    Stream,
    /// A process on a GPU.
    Process,
    /// A GPU, whoever uses it.
    Gpu,
}

impl Level {
    /// All levels.
    pub const ALL: [Self; 3] = [Self::Stream, Self::Process, Self::Gpu];

    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Stream => "stream",
            Self::Process => "process",
            Self::Gpu => "gpu",
        }
    }
}

/// The time that is looked at: what lies outside it does not count.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Window {
    /// Of each lane, from its first operation to its last.
    #[default]
    Whole,
    /// From one time to another; an open end is the lane's own.
    Time {
        /// Begins.
        from: Option<i64>,
        /// Ends.
        to: Option<i64>,
    },
    /// These times and no others.
    Pieces(TimeSet),
}

/// The operations of a report, by stream, process and GPU.
#[derive(Debug, Default)]
pub struct Occupancy {
    /// Operations in order of their starts.
    pub ops: Vec<Op>,
    /// Streams: those of a GPU stand together, and among them those of a process.
    pub streams: Vec<Stream>,
    /// What is looked at.
    pub window: Window,
    /// Of each stream, its process on its GPU and its GPU, numbered in order.
    lanes: Vec<[u32; 2]>,
}

impl Occupancy {
    /// Puts operations and streams in order.
    pub fn new(mut ops: Vec<Op>, streams: Vec<Stream>, window: Window) -> Self {
        let mut order: Vec<u32> = (0..streams.len() as u32).collect();
        order.sort_unstable_by_key(|&stream| streams[stream as usize]);
        let mut place = vec![0; streams.len()];
        (0u32..).zip(&order).for_each(|(rank, &stream)| place[stream as usize] = rank);
        ops.iter_mut().for_each(|op| op.stream = place[op.stream as usize]);
        ops.sort_unstable();
        let streams: Vec<Stream> = order.iter().map(|&stream| streams[stream as usize]).collect();
        let mut lanes: Vec<[u32; 2]> = Vec::with_capacity(streams.len());
        for (index, stream) in streams.iter().enumerate() {
            let lane = match index.checked_sub(1).map(|before| (streams[before], lanes[before])) {
                None => [0, 0],
                Some((before, [process, gpu])) if before.gpu_id == stream.gpu_id => {
                    [process + u32::from(before.global_pid != stream.global_pid), gpu]
                }
                Some((_, [process, gpu])) => [process + 1, gpu + 1],
            };
            lanes.push(lane);
        }
        Self { ops, streams, window, lanes }
    }

    /// How many lanes there are on a level.
    pub fn lane_count(&self, level: Level) -> usize {
        match (level, self.lanes.last()) {
            (_, None) => 0,
            (Level::Stream, _) => self.streams.len(),
            (Level::Process, Some([process, _])) => *process as usize + 1,
            (Level::Gpu, Some([_, gpu])) => *gpu as usize + 1,
        }
    }

    /// The lane of a stream on a level.
    pub fn lane(&self, level: Level, stream: u32) -> u32 {
        let [process, gpu] = self.lanes[stream as usize];
        match level {
            Level::Stream => stream,
            Level::Process => process,
            Level::Gpu => gpu,
        }
    }

    /// The first stream of a lane: it tells the lane's GPU, and as much more as the level knows.
    pub fn first_stream(&self, level: Level, lane: u32) -> &Stream {
        let first = match level {
            Level::Stream => lane as usize,
            Level::Process => self.lanes.partition_point(|&[process, _]| process < lane),
            Level::Gpu => self.lanes.partition_point(|&[_, gpu]| gpu < lane),
        };
        &self.streams[first]
    }

    /// The window of the lane with these operations; `None` where it is all of them.
    fn window_of(&self, ops: &[u32]) -> Option<TimeSet> {
        match &self.window {
            Window::Whole => None,
            Window::Pieces(pieces) => Some(pieces.clone()),
            &Window::Time { from, to } => {
                let (first, last) = self.extent_of(ops);
                Some(TimeSet::union_of(vec![(from.unwrap_or(first), to.unwrap_or(last))]))
            }
        }
    }

    /// From the first start of these operations to their last end.
    fn extent_of(&self, ops: &[u32]) -> (i64, i64) {
        let ops = || ops.iter().map(|&op| &self.ops[op as usize]);
        let first = ops().map(|op| op.start).min().unwrap_or_default();
        let last = ops().map(|op| op.end).max().unwrap_or_default();
        (first, last)
    }

    /// The operations of each lane, in order of their starts, as indices.
    fn ops_by_lane(&self, level: Level) -> Vec<Vec<u32>> {
        let mut by_lane = vec![Vec::new(); self.lane_count(level)];
        for (index, op) in (0u32..).zip(&self.ops) {
            by_lane[self.lane(level, op.stream) as usize].push(index);
        }
        by_lane
    }
}
