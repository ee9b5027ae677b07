//! Gaps between the operations of a stream.

use super::{NONE, Occupancy};
use crate::projection::{OpKind, Stop, StopCheck};

/// A gap on a stream, from the end of one operation to the start of another: indices into
/// [`Occupancy::ops`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StreamGap {
    /// The last operation to end before the gap. If several end together, the one that started last.
    pub before: u32,
    /// The operation that starts at the end of the gap.
    pub after: u32,
}

impl Occupancy {
    /// The gaps of all streams, stream by stream in order of process, device, context and stream, and in
    /// order of their ends: between kernels only, or between kernels, copies and fills. CUDA graphs that were traced as a whole do not count. `None` if it was stopped.
    pub fn stream_gaps(&self, kernels_only: bool, stop: Stop<'_>) -> Option<Vec<StreamGap>> {
        let mut check = StopCheck::new(stop);
        // Of each stream, the operation that ended last.
        let mut last = vec![NONE; self.streams.len()];
        let mut gaps: Vec<StreamGap> = Vec::new();
        for (after, op) in (0u32..).zip(&self.ops) {
            if check.must_stop() {
                return None;
            }
            if op.kind == OpKind::Graph || (kernels_only && op.kind != OpKind::Kernel) {
                continue;
            }
            let last = &mut last[op.stream as usize];
            let Some(before) = self.ops.get(*last as usize) else {
                *last = after;
                continue;
            };
            if op.start > before.end {
                gaps.push(StreamGap { before: *last, after });
            }
            if op.end >= before.end {
                *last = after;
            }
        }
        // The place of each stream among all.
        let mut order: Vec<u32> = (0..self.streams.len() as u32).collect();
        order.sort_unstable_by_key(|&stream| {
            let of = &self.streams[stream as usize];
            (of.global_pid, of.device_id, of.context_id, of.stream_id)
        });
        let mut place = vec![0u32; self.streams.len()];
        (0u32..).zip(&order).for_each(|(rank, &stream)| place[stream as usize] = rank);
        gaps.sort_unstable_by_key(|gap| {
            (place[self.ops[gap.after as usize].stream as usize], gap.after)
        });
        Some(gaps)
    }
}
