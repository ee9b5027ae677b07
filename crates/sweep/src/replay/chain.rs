//! The chain that binds: what a time depends on, back to another one.

use super::graph::{EdgeKind, Graph};
use super::replayed::{Change, Times};
use crate::occupancy::NONE;

/// What a part of the chain is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PartKind {
    /// Code of a thread between two calls.
    Code,
    /// A call's own time.
    Call,
    /// From a launching call to its operation.
    Launch,
    /// An operation. Of a collective, the time after its last member has started.
    Op,
    /// From an operation to the next one in its stream.
    Gap,
    /// From an operation to one of another stream.
    Handover,
    /// From an operation to the return of the call that waits for it.
    Return,
    /// Delay that no edge explains.
    Unexplained,
    /// Before the first thing that is known.
    Before,
    /// From the last operation of a window to its end.
    After,
}

/// A part of the chain. Parts follow each other without gaps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// What it is.
    pub kind: PartKind,
    /// The call that it is in, or that host code comes before; [`NONE`] for parts of the GPU.
    pub call: u32,
    /// The operation that it is, or that it leads to; [`NONE`] if there is none.
    pub op: u32,
    /// Start, after the edit.
    pub start: i64,
    /// End, after the edit.
    pub end: i64,
}

/// A node on the way back.
#[derive(Debug, Clone, Copy)]
enum At {
    OpEnd(u32),
    OpStart(u32),
    CallEnd(u32),
    CallStart(u32),
    Start,
}

struct Walk {
    parts: Vec<Part>,
    from: i64,
    /// The operation that the walk came through last.
    op: u32,
}

impl Walk {
    /// Adds a part, cut at the start of the window.
    fn add(&mut self, kind: PartKind, call: u32, (start, end): (i64, i64)) {
        let start = start.max(self.from);
        if start < end {
            self.parts.push(Part { kind, call, op: self.op, start, end });
        }
    }
}

impl Graph {
    /// The chain that binds the end of `op`, back to `from`, in order of time. Its parts add up to the time between.
    pub fn chain(&self, times: &Times, change: &dyn Change, op: u32, from: i64) -> Vec<Part> {
        let mut walk = Walk { parts: Vec::new(), from, op };
        let (mut at, mut time) = (At::OpEnd(op), times.op_ends[op as usize]);
        let mut edges = Vec::new();
        // Edges go back in the order of the replay, so the walk ends.
        while time > from {
            (at, time) = match at {
                At::OpEnd(op) => self.through_op(op, time, times, &mut walk),
                At::OpStart(op) => {
                    walk.op = op;
                    let ready = self.op_ready(op, times, change, &mut edges);
                    if ready.edge == usize::MAX {
                        (At::Start, time)
                    } else {
                        let edge = edges[ready.edge];
                        walk.add(PartKind::Unexplained, NONE, (ready.at, ready.then));
                        let kind = match edge.kind {
                            EdgeKind::Launch => PartKind::Launch,
                            EdgeKind::Stream => PartKind::Gap,
                            EdgeKind::Event | EdgeKind::Handover => PartKind::Handover,
                        };
                        walk.add(kind, NONE, (ready.done, ready.at));
                        match edge.kind {
                            EdgeKind::Launch => {
                                let begun = times.call_starts[edge.source as usize];
                                walk.add(PartKind::Call, edge.source, (begun, ready.done));
                                (At::CallStart(edge.source), begun)
                            }
                            _ => (At::OpEnd(edge.source), ready.done),
                        }
                    }
                }
                At::CallEnd(call) => self.through_call(call, time, times, change, &mut walk),
                At::CallStart(call) => {
                    let (start, done, source) = self.call_start(call, times, change);
                    match source {
                        None => (At::Start, time),
                        Some(source) => {
                            walk.add(PartKind::Code, call, (done.min(start), start));
                            (At::CallEnd(source), done.min(start))
                        }
                    }
                }
                At::Start => {
                    walk.add(PartKind::Before, NONE, (from, time));
                    (At::Start, from)
                }
            };
        }
        walk.parts.reverse();
        walk.parts
    }

    fn through_op(&self, op: u32, time: i64, times: &Times, walk: &mut Walk) -> (At, i64) {
        walk.op = op;
        let start = |&op: &u32| times.op_starts[op as usize];
        // A collective begins for all when its last member starts.
        let last = self.group(op).iter().copied().max_by_key(|op| (start(op), *op)).unwrap_or(op);
        walk.add(PartKind::Op, NONE, (start(&last), time));
        (At::OpStart(last), start(&last))
    }

    fn through_call(
        &self,
        call: u32,
        time: i64,
        times: &Times,
        change: &dyn Change,
        walk: &mut Walk,
    ) -> (At, i64) {
        let begun = times.call_starts[call as usize];
        if !self.is_waiting(call) {
            walk.add(PartKind::Call, call, (begun, time));
            return (At::CallStart(call), begun);
        }
        let ready = self.call_return(call, times, change);
        let has_rest = self.usual.rest(self.functions[call as usize]) > 0;
        let rest = if has_rest { PartKind::Call } else { PartKind::Unexplained };
        walk.add(rest, call, (ready.at, ready.then));
        match ready.edge.checked_sub(1).and_then(|place| self.awaited(call).nth(place)) {
            Some(wait) => {
                walk.add(PartKind::Return, call, (ready.done, ready.at));
                let op = change.instead(wait.op);
                let at = if wait.is_start { At::OpStart(op) } else { At::OpEnd(op) };
                (at, ready.done)
            }
            None => {
                walk.add(PartKind::Call, call, (begun, ready.at));
                (At::CallStart(call), begun)
            }
        }
    }
}
