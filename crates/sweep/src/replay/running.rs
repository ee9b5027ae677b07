//! Where a time of the capture comes to lie after an edit.

use super::graph::Graph;
use super::replayed::Times;
use crate::occupancy::NONE;

/// The ends of the operations of a lane, such as a GPU.
#[derive(Debug, Clone, Default)]
pub struct Ends {
    /// For each operation, by recorded end: of those that had ended by then, the one that ends last after the edit. An operation
    /// that the edit removes ends when those before it have ended: it has [`NONE`] if none is before it.
    latest: Vec<u32>,
    /// What comes before the first end: times as recorded and after the edit, sorted. The starts and ends of the calls of the
    /// thread that launched the first operation, up to its launch, and the start of that operation.
    begun: Vec<(i64, i64)>,
}

impl Ends {
    /// The ends of some operations. `first`: of those that remain, the one that starts first. `ops`: all of them, sorted by
    /// their recorded ends.
    pub fn new(
        graph: &Graph,
        times: &Times,
        first: Option<u32>,
        ops: &[u32],
        remains: impl Fn(u32) -> bool,
    ) -> Self {
        let begun = first.map_or_else(Vec::new, |op| begun(graph, times, op));
        let mut all_latest = Vec::with_capacity(ops.len());
        // The recorded end of the operation before, the latest end after the edit so far, and the operation that has it.
        let mut last: Option<(i64, i64, u32)> = None;
        // The latest before those with the same recorded end, and of those.
        let (mut before, mut own) = (None, (i64::MIN, 0));
        for &op in ops {
            let end = graph.op(op).1;
            let ended = match last {
                _ if remains(op) => (times.op_ends[op as usize], op),
                Some((_, latest, of)) => (latest, of),
                None => {
                    all_latest.push(NONE);
                    continue;
                }
            };
            match last {
                Some((at, ..)) if at == end => own = own.max(ended),
                last => {
                    before = last.map(|(_, latest, op)| (latest, op));
                    own = ended;
                }
            }
            let (latest, of) = before.filter(|(latest, _)| *latest > own.0).unwrap_or(own);
            last = Some((end, latest, of));
            all_latest.push(of);
        }
        Self { latest: all_latest, begun }
    }

    /// When everything has ended that had ended at `time` in the capture, and the last operation of it. Time after the
    /// last end before `time` is kept. Before the first end, the thread that launches the first operation tells the time.
    /// `graph`, `times` and `ops` are those that it was made of.
    pub fn at(
        &self,
        graph: &Graph,
        times: &Times,
        ops: &[u32],
        time: i64,
    ) -> Option<(i64, Option<u32>)> {
        let recorded = |op: u32| graph.op(op).1;
        let ended = ops.partition_point(|&op| recorded(op) <= time);
        let last = ended.checked_sub(1).map(|place| (ops[place], self.latest[place]));
        match last.filter(|&(_, of)| of != NONE) {
            Some((op, of)) => Some((times.op_ends[of as usize] + (time - recorded(op)), Some(of))),
            None => {
                let start = self.begun.last()?.1;
                let (recorded, new) = match self.begun.partition_point(|&(recorded, _)| recorded <= time)
                {
                    0 => (time, time),
                    after => self.begun[after - 1],
                };
                let is_after = self.begun.last().is_some_and(|&(first, _)| first <= time);
                let new = new + (time - recorded);
                Some((if is_after { new } else { new.min(start) }, None))
            }
        }
    }
}

/// Times before and at the start of an operation: those of the calls of its thread up to its launch, and its own.
fn begun(graph: &Graph, times: &Times, op: u32) -> Vec<(i64, i64)> {
    let mut begun = Vec::new();
    if let Some(launch) = graph.launch(op) {
        let first = graph.calls_of(graph.thread(launch)).start;
        for call in first..=launch {
            let (start, end) = graph.call(call);
            begun.push((start, times.call_starts[call as usize]));
            begun.push((end, times.call_ends[call as usize]));
        }
    }
    let start = (graph.op(op).0, times.op_starts[op as usize]);
    begun.retain(|&(recorded, _)| recorded < start.0);
    begun.sort_unstable();
    begun.push(start);
    begun
}
