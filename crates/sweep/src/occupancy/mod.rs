//! GPU occupancy: when GPUs were busy or idle, and what overlapped.
//!
//! Computes unions, gaps and overlaps of GPU operations by stream, process or GPU. It decomposes a window
//! exactly: union of compute + exposed communication + exposed memory + idle = window, to the nanosecond.
//! Takes O(n log n). Times are half-open intervals in ns on the report's clock. Reading reports and
//! classifying operations happen elsewhere.

mod decomposition;
mod exposed;
mod idle;
mod lanes;
mod leads;
mod overlaps;
mod runs;
mod stream_gaps;

pub use decomposition::{Decomposition, Overlap, Shares};
pub use exposed::ExposedPart;
pub use idle::{IdleKind, IdlePart, ThreadCalls, idle_parts, largest_of_gaps};
pub use lanes::{Gap, Stretch, Work};
pub use leads::{Lead, LeadOf, leads};
pub use runs::{Runs, StreamSum};
pub use stream_gaps::StreamGap;

use crate::classify::Activity;
use crate::interval::TimeSet;
use crate::projection::OpKind;

/// The index that means "none".
pub const NONE: u32 = u32::MAX;

/// A GPU operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Op {
    /// Start.
    pub start: i64,
    /// End, not before `start`.
    pub end: i64,
    /// What kind of operation it is.
    pub kind: OpKind,
    /// Row of the raw table that `kind` names.
    pub id: i64,
    /// Index into [`Occupancy::streams`].
    pub stream: u32,
    /// Index into the operation names, which the caller keeps.
    pub name: u32,
    /// The kind of work it does: compute, communication or memory.
    pub activity: Activity,
    /// Correlation ID of the launching call, as the caller knows it.
    pub correlation: i64,
}

/// A CUDA stream, with its GPU, process and context.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Stream {
    /// Number of the GPU on its machine; the CUDA ordinal if the export does not give it.
    pub gpu_id: i64,
    /// Process id, unique across hosts and VMs.
    pub global_pid: i64,
    /// CUDA ordinal of the GPU inside the process.
    pub device_id: i64,
    /// CUDA context.
    pub context_id: Option<i64>,
    /// CUDA stream, unique within its context.
    pub stream_id: Option<i64>,
}

/// The level at which busy and idle time is computed. Each item on it is a lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// A stream.
    Stream,
    /// A process on a GPU.
    Process,
    /// A GPU, used by any process.
    Gpu,
}

impl Level {
    /// All levels.
    pub const ALL: [Self; 3] = [Self::Stream, Self::Process, Self::Gpu];

    /// The word for this level in relations.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Stream => "stream",
            Self::Process => "process",
            Self::Gpu => "gpu",
        }
    }
}

/// The time window of the analysis. Time outside it does not count.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Window {
    /// For each lane, from its first operation to its last.
    #[default]
    Whole,
    /// A time span. A missing end is the first start or last end of the lane.
    Time {
        /// Start of the window.
        from: Option<i64>,
        /// End of the window.
        to: Option<i64>,
    },
    /// Several time spans.
    Pieces(TimeSet),
}

/// The operations of a report, by stream, process and GPU.
#[derive(Debug, Default)]
pub struct Occupancy {
    /// Operations, sorted by start.
    pub ops: Vec<Op>,
    /// Streams, sorted by GPU, then by process.
    pub streams: Vec<Stream>,
    /// The time window.
    pub window: Window,
    /// For each stream: its lanes on the levels process and GPU, numbered in order.
    lanes: Vec<[u32; 2]>,
}

impl Occupancy {
    /// Sorts operations and streams, and numbers the lanes.
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

    /// The operations for which `is_kept` is true, in another window. Streams without operations stay.
    pub fn within(&self, window: Window, is_kept: impl Fn(&Op) -> bool) -> Self {
        let kept = || self.ops.iter().filter(|op| is_kept(op));
        // Its length is not known to `collect`, which would take twice the memory.
        let mut ops = Vec::with_capacity(kept().count());
        ops.extend(kept());
        Self { ops, streams: self.streams.clone(), window, lanes: self.lanes.clone() }
    }

    /// The number of lanes on a level.
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

    /// The first stream of a lane. Use it to read the lane's GPU, and its process on levels that have one.
    pub fn first_stream(&self, level: Level, lane: u32) -> &Stream {
        let first = match level {
            Level::Stream => lane as usize,
            Level::Process => self.lanes.partition_point(|&[process, _]| process < lane),
            Level::Gpu => self.lanes.partition_point(|&[_, gpu]| gpu < lane),
        };
        &self.streams[first]
    }

    /// The window of the lane with these operations; `None` for [`Window::Whole`].
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

    /// The first start and the last end of these operations.
    fn extent_of(&self, ops: &[u32]) -> (i64, i64) {
        let ops = || ops.iter().map(|&op| &self.ops[op as usize]);
        let first = ops().map(|op| op.start).min().unwrap_or_default();
        let last = ops().map(|op| op.end).max().unwrap_or_default();
        (first, last)
    }

    /// The operations of each lane as indices, sorted by start.
    fn ops_by_lane(&self, level: Level) -> Vec<Vec<u32>> {
        let mut by_lane = vec![Vec::new(); self.lane_count(level)];
        for (index, op) in (0u32..).zip(&self.ops) {
            by_lane[self.lane(level, op.stream) as usize].push(index);
        }
        by_lane
    }
}
