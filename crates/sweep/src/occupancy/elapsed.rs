//! What each operation adds to the busy time.

use super::{Level, NONE, Occupancy};
use crate::projection::{OpKind, Stop, StopCheck};
use std::cmp::Reverse;

/// An operation, and the part of it in which none that started earlier still ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Elapsed {
    /// The GPU as a lane; 0 if all are one.
    pub gpu: u32,
    /// Kind of the operation.
    pub kind: OpKind,
    /// Index into the operation names, as in [`super::Op::name`].
    pub name: u32,
    /// Row of the raw table that `kind` names.
    pub id: i64,
    /// Duration in ns.
    pub dur: i64,
    /// That part of it, in ns.
    pub elapsed: i64,
}

/// Of a lane: the operation that started last, and until when the lane was busy before it.
#[derive(Clone, Copy)]
struct Latest {
    /// Of several that started together, the one that counts; [`NONE`] before the first.
    op: u32,
    row: u32,
    reached: i64,
}

impl Occupancy {
    /// What each operation adds to the busy time of its GPU, or of all GPUs. Of several operations that start
    /// together, the time counts for the longest, then for the one with the lowest GPU, stream, kind and row. Times
    /// outside `from` and `to` do not count. Sorted by start. `None` if it was stopped.
    pub fn elapsed(
        &self,
        per_gpu: bool,
        with_graphs: bool,
        (from, to): (i64, i64),
        stop: Stop<'_>,
    ) -> Option<Vec<Elapsed>> {
        let mut check = StopCheck::new(stop);
        let mut all: Vec<Elapsed> = Vec::with_capacity(self.ops.len());
        let lanes = if per_gpu { self.lane_count(Level::Gpu) } else { 1 };
        let mut latest = vec![Latest { op: NONE, row: 0, reached: i64::MIN }; lanes];
        let rank = |index: u32| {
            let op = &self.ops[index as usize];
            let stream = &self.streams[op.stream as usize];
            (Reverse(op.end), stream.gpu_id, stream.stream_id, op.kind.as_str(), op.id)
        };
        let settle = |latest: &mut Latest, all: &mut Vec<Elapsed>| {
            if let Some(op) = self.ops.get(latest.op as usize) {
                let (start, end) = (op.start.max(from), op.end.min(to));
                all[latest.row as usize].elapsed = end.saturating_sub(start.max(latest.reached)).max(0);
                latest.reached = latest.reached.max(end);
            }
        };
        for (index, op) in (0u32..).zip(&self.ops) {
            if check.must_stop() {
                return None;
            }
            if op.kind == OpKind::Graph && !with_graphs {
                continue;
            }
            let gpu = if per_gpu { self.lane(Level::Gpu, op.stream) } else { 0 };
            let latest = &mut latest[gpu as usize];
            let is_together =
                self.ops.get(latest.op as usize).is_some_and(|last| last.start == op.start);
            if !is_together || rank(index) < rank(latest.op) {
                if !is_together {
                    settle(latest, &mut all);
                }
                (latest.op, latest.row) = (index, all.len() as u32);
            }
            let (kind, name, id) = (op.kind, op.name, op.id);
            all.push(Elapsed { gpu, kind, name, id, dur: op.end.saturating_sub(op.start), elapsed: 0 });
        }
        latest.iter_mut().for_each(|latest| settle(latest, &mut all));
        Some(all)
    }
}
