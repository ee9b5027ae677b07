//! The exposed time of a GPU, operation by operation.

use super::{Decomposition, Level, Occupancy, Op};
use crate::classify::Activity;
use crate::projection::{Stop, StopCheck};

/// A part of a collective, copy or fill in which no work of a higher rank ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExposedPart {
    /// Index into [`Occupancy::ops`].
    pub op: u32,
    /// Start, in ns.
    pub start: i64,
    /// End, after `start`.
    pub end: i64,
}

impl Occupancy {
    /// The exposed parts of the operations of an activity. Parts never overlap on a GPU: if two operations
    /// run together, the time is that of the one that started first. `None` if it was stopped.
    pub fn exposed_parts(
        &self,
        of_gpus: &[Decomposition],
        activity: Activity,
        stop: Stop<'_>,
    ) -> Option<Vec<ExposedPart>> {
        let mut check = StopCheck::new(stop);
        let mut parts = Vec::new();
        for (ops, of_gpu) in self.ops_by_lane(Level::Gpu).iter().zip(of_gpus) {
            let mut exposed = of_gpu.exposed(activity).intervals();
            let mut ops: Vec<(u32, &Op)> = ops
                .iter()
                .map(|&op| (op, &self.ops[op as usize]))
                .filter(|(_, op)| op.activity == activity && op.end > op.start)
                .collect();
            if exposed.is_empty() || check.must_stop_after(ops.len() + exposed.len()) {
                continue;
            }
            ops.sort_by_key(|(_, op)| (op.start, op.kind, op.id));
            let mut reached = i64::MIN;
            for (index, op) in ops {
                let (from, to) = (op.start.max(reached), op.end);
                if from >= to {
                    continue;
                }
                reached = to;
                // What ended before this operation also ended before those after it.
                exposed = &exposed[exposed.partition_point(|&(_, end)| end <= from)..];
                let within = exposed.iter().take_while(|&&(start, _)| start < to);
                parts.extend(within.map(|&(start, end)| ExposedPart {
                    op: index,
                    start: start.max(from),
                    end: end.min(to),
                }));
            }
        }
        (!check.must_stop_after(0)).then_some(parts)
    }
}
