//! Nodes, edges, and the order in which they are replayed.

use super::capture::Capture;
use super::latency::{Usual, latencies, median, usual};
use super::places::Begins;
use crate::occupancy::NONE;
use crate::projection::Stop;
use std::ops::Range;

/// Host code between two launches that takes this much, and this many times the usual, is no part of launching.
const OTHER_CODE: i64 = 200_000;
const OTHER_CODE_TIMES: i64 = 20;
/// Nor is what takes this much: a framework prepares no launch for so long.
const MOST_CODE: i64 = 1_000_000;

/// What an edge stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum EdgeKind {
    /// A launching call, before its operation.
    Launch,
    /// The operation before, in the same stream.
    Stream,
    /// An operation of another stream, by an event.
    Event,
    /// An operation of another stream of the GPU that ended just before: what was waited for is not recorded.
    Handover,
}

/// An edge into the start of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edge {
    /// What it stands for.
    pub kind: EdgeKind,
    /// The launching call, else the operation before.
    pub source: u32,
    /// When the source was done, as recorded. A launching call is done when it has done its own work.
    pub at: i64,
    /// The usual latency of its kind.
    pub usual: i64,
}

/// Calls and operations with all that they wait for.
#[derive(Debug, Default)]
pub struct Graph {
    pub(super) call_starts: Vec<i64>,
    pub(super) call_ends: Vec<i64>,
    pub(super) functions: Vec<u32>,
    /// Where the calls of each thread begin, and the end.
    pub(super) threads: Vec<u32>,
    /// What each call follows.
    pub(super) follows: Vec<Follows>,
    /// The time that each call takes by itself, as recorded.
    pub(super) works: Vec<i64>,
    pub(super) op_starts: Vec<i64>,
    pub(super) op_ends: Vec<i64>,
    pub(super) streams: Vec<u32>,
    pub(super) families: Vec<u8>,
    pub(super) launches: Vec<u32>,
    /// The last operation of the stream that had ended when the operation started, or was about to, or [`NONE`].
    pub(super) befores: Vec<u32>,
    /// A call and an operation that it waits for, sorted.
    pub(super) waits: Vec<(u32, u32)>,
    pub(super) waits_of: Begins,
    /// A launching call and an operation after whose start it returns, because the queue was full; sorted.
    pub(super) blocked: Vec<(u32, u32)>,
    pub(super) blocked_of: Begins,
    /// An operation, the one of another stream that it waits for, and whether that is a guess; sorted.
    pub(super) joins: Vec<(u32, u32, bool)>,
    pub(super) joins_of: Begins,
    /// A call and the call of another thread that it waits for, sorted.
    pub(super) wakes: Vec<(u32, u32)>,
    pub(super) wakes_of: Begins,
    /// The group of each member, sorted.
    pub(super) group_of: Vec<(u32, u32)>,
    pub(super) groups: Vec<Vec<u32>>,
    /// What is replayed, in the order of recorded time: see [`Point`].
    pub(super) order: Vec<u32>,
    pub(super) usual: Usual,
    /// The longest host code between two calls that is part of launching.
    pub(super) most_code: i64,
}

/// What host code before a call follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Follows {
    /// Nothing: the call is the first of its thread.
    Nothing,
    /// The call before, as nearly always.
    Call,
    /// A call of another thread.
    Waker,
    /// The later one of both.
    CallAndWaker,
}

/// What a call waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Wait {
    pub(super) op: u32,
    /// Its start, else its end.
    pub(super) is_start: bool,
}

impl Wait {
    /// When that is.
    pub(super) fn of(self, starts: &[i64], ends: &[i64]) -> i64 {
        if self.is_start { starts[self.op as usize] } else { ends[self.op as usize] }
    }
}

/// What is replayed at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Point {
    /// The start of an operation, and its end if it is in no group.
    Op(u32),
    /// The end of a member of a group.
    OpEnd(u32),
    /// The start of a call, and its end if it waits for nothing.
    Call(u32),
    /// The end of a call that waits.
    CallEnd(u32),
}

impl Graph {
    /// The graph of a capture. `None` if it was stopped.
    pub fn new(mut capture: Capture, stop: Stop<'_>) -> Option<Self> {
        capture.waits.sort_unstable();
        capture.waits.dedup();
        let mut graph = Self::columns(&mut capture);
        let gpu_of_stream = std::mem::take(&mut capture.gpu_of_stream);
        drop(std::mem::take(&mut capture.calls));
        graph.take_groups(capture.groups);
        graph.link_streams();
        graph.waits = capture.waits;
        let (starts, ends) = (&graph.call_starts, &graph.call_ends);
        let (op_starts, op_ends) = (&graph.op_starts, &graph.op_ends);
        // A call of 0 ns waits for nothing.
        graph.waits.retain(|&(call, op)| {
            let (call, op) = (call as usize, op as usize);
            op_ends[op] <= ends[call] && op_starts[op] < ends[call] && starts[call] < ends[call]
        });
        graph.place_waits();
        graph.find_blocked();
        graph.place_waits();
        let mut wakes = capture.wakes;
        wakes.retain(|&(call, waker)| graph.is_before(Point::Call(call), graph.end_of_call(waker)));
        wakes.sort_unstable();
        graph.wakes = wakes;
        graph.place_wakes();
        for launch in 0..graph.launches.len() {
            let call = graph.launches[launch];
            if call != NONE && graph.call_starts[call as usize] > graph.op_starts[launch] {
                graph.launches[launch] = NONE;
            }
        }
        let mut joins: Vec<(u32, u32, bool)> =
            capture.events.into_iter().map(|(op, source)| (op, source, false)).collect();
        joins.sort_unstable();
        joins.dedup();
        joins.retain(|&(op, source, _)| graph.is_before(Point::Op(op), graph.end_of_op(source)));
        graph.joins = joins;
        graph.place_joins();
        graph.usual = usual(&graph);
        graph.take_works();
        graph.usual.ops = latencies(&graph);
        graph.guess_handovers(&gpu_of_stream);
        graph.place_joins();
        graph.sort_points();
        let usual_code = graph.usual_code().unwrap_or_default();
        graph.most_code = OTHER_CODE_TIMES.saturating_mul(usual_code).clamp(OTHER_CODE, MOST_CODE);
        (!stop.is_over()).then_some(graph)
    }

    fn columns(capture: &mut Capture) -> Self {
        let (calls, ops) = (&capture.calls, std::mem::take(&mut capture.ops));
        let mut threads = Vec::new();
        for (place, call) in (0u32..).zip(calls) {
            if place == 0 || calls[place as usize - 1].thread != call.thread {
                threads.push(place);
            }
        }
        threads.push(calls.len() as u32);
        Self {
            call_starts: calls.iter().map(|call| call.start).collect(),
            call_ends: calls.iter().map(|call| call.end).collect(),
            functions: calls.iter().map(|call| call.function).collect(),
            threads,
            op_starts: ops.iter().map(|op| op.start).collect(),
            op_ends: ops.iter().map(|op| op.end).collect(),
            streams: ops.iter().map(|op| op.stream).collect(),
            families: ops.iter().map(|op| op.family).collect(),
            launches: ops.iter().map(|op| op.launch).collect(),
            ..Self::default()
        }
    }

    /// The number of calls.
    pub fn call_count(&self) -> usize {
        self.call_starts.len()
    }

    /// The number of operations.
    pub fn op_count(&self) -> usize {
        self.op_starts.len()
    }

    /// Start and end of a call, as recorded.
    #[inline]
    pub fn call(&self, call: u32) -> (i64, i64) {
        (self.call_starts[call as usize], self.call_ends[call as usize])
    }

    /// Start and end of an operation, as recorded.
    #[inline]
    pub fn op(&self, op: u32) -> (i64, i64) {
        (self.op_starts[op as usize], self.op_ends[op as usize])
    }

    /// The stream of an operation.
    pub fn stream(&self, op: u32) -> u32 {
        self.streams[op as usize]
    }

    /// The kind of an operation.
    pub fn family(&self, op: u32) -> u8 {
        self.families[op as usize]
    }

    /// The call that launched an operation, if it was recorded.
    #[inline]
    pub fn launch(&self, op: u32) -> Option<u32> {
        Some(self.launches[op as usize]).filter(|&call| call != NONE)
    }

    /// The members of the collective that an operation is in; empty for other operations.
    pub fn group(&self, op: u32) -> &[u32] {
        let place = self.group_of.binary_search_by_key(&op, |&(op, _)| op);
        place.map_or(&[], |place| &self.groups[self.group_of[place].1 as usize])
    }

    /// The usual time between two operations of a stream that were both launched in time.
    pub fn usual_gap(&self, op: u32) -> i64 {
        self.usual.gap(self.families[op as usize])
    }

    /// The host code before a call that follows another one of its thread.
    pub(super) fn code_in_thread(&self, call: u32) -> Option<i64> {
        self.call_before(call).and_then(|_| self.code(call))
    }

    /// Whether the code before a call is short enough to prepare only what it launches.
    #[inline]
    pub fn prepares(&self, call: u32) -> bool {
        self.code_in_thread(call).is_some_and(|code| code <= self.most_code)
    }

    /// The median of the host code between two calls of a thread.
    fn usual_code(&self) -> Option<i64> {
        let calls = 0..self.call_count() as u32;
        median(calls.filter_map(|call| self.code_in_thread(call)).collect())
    }

    /// The operations that a call waits for.
    #[inline]
    pub fn waits_of(&self, call: u32) -> impl ExactSizeIterator<Item = u32> + Clone + '_ {
        self.waits[self.waits_of.of(call)].iter().map(|&(_, op)| op)
    }

    /// Whether a call waits for anything.
    #[inline]
    pub(super) fn is_waiting(&self, call: u32) -> bool {
        self.waits_of.has(call) || self.blocked_of.has(call)
    }

    /// What a call waits for: the ends of operations, and room in the queue.
    #[inline]
    pub(super) fn awaited(&self, call: u32) -> impl Iterator<Item = Wait> + Clone + '_ {
        let full = self.blocked[self.blocked_of.of(call)].iter();
        let full = full.map(|&(_, op)| Wait { op, is_start: true });
        self.waits_of(call).map(|op| Wait { op, is_start: false }).chain(full)
    }

    /// The number of threads that made calls.
    pub fn thread_count(&self) -> usize {
        self.threads.len() - 1
    }

    /// The calls of a thread.
    pub fn calls_of(&self, thread: usize) -> Range<u32> {
        self.threads[thread]..self.threads[thread + 1]
    }

    /// The number of the thread of a call.
    pub fn thread(&self, call: u32) -> usize {
        self.threads.partition_point(|&first| first <= call) - 1
    }

    /// The call before a call, in its thread.
    #[inline]
    pub(super) fn call_before(&self, call: u32) -> Option<u32> {
        matches!(self.follows[call as usize], Follows::Call | Follows::CallAndWaker).then(|| call - 1)
    }

    /// The call of another thread that a call waits for.
    #[inline]
    pub(super) fn waker(&self, call: u32) -> Option<u32> {
        self.wakes[self.wakes_of.of(call)].first().map(|&(_, waker)| waker)
    }

    /// The time that a call takes by itself, as recorded.
    #[inline]
    pub(super) fn work(&self, call: u32) -> i64 {
        self.works[call as usize]
    }

    /// The edges into the start of an operation.
    #[inline]
    pub(super) fn edges(&self, op: u32, into: &mut Vec<Edge>) {
        into.clear();
        let family = self.families[op as usize];
        if let Some(call) = self.launch(op) {
            let work = self.work(call);
            let at = self.call_starts[call as usize] + work;
            // It may start before the call returns, but not before the call starts.
            let usual = self.usual.launch(family).max(-work);
            into.push(Edge { kind: EdgeKind::Launch, source: call, at, usual });
        }
        let end = |source: u32| self.op_ends[source as usize];
        let before = self.befores[op as usize];
        if before != NONE {
            let (source, at, usual) = (before, end(before), self.usual.gap(family));
            into.push(Edge { kind: EdgeKind::Stream, source, at, usual });
        }
        for &(_, source, is_guess) in &self.joins[self.joins_of.of(op)] {
            let kind = if is_guess { EdgeKind::Handover } else { EdgeKind::Event };
            into.push(Edge { kind, source, at: end(source), usual: self.usual.ops.event });
        }
    }

    /// The operations that an operation waits for: the one before in its stream, and those by events.
    pub(super) fn awaited_by_op(&self, op: u32) -> impl Iterator<Item = u32> + '_ {
        let before = Some(self.befores[op as usize]).filter(|&before| before != NONE);
        let events = self.joins[self.joins_of.of(op)].iter().filter(|(.., is_guess)| !is_guess);
        before.into_iter().chain(events.map(|&(_, source, _)| source))
    }

    pub(super) fn end_of_op(&self, op: u32) -> Point {
        match self.group_of.binary_search_by_key(&op, |&(op, _)| op) {
            Ok(_) => Point::OpEnd(op),
            Err(_) => Point::Op(op),
        }
    }

    pub(super) fn end_of_call(&self, call: u32) -> Point {
        if self.is_waiting(call) { Point::CallEnd(call) } else { Point::Call(call) }
    }
}
