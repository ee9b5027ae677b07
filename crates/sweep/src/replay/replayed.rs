//! The replay: new times after an edit.

use super::graph::{Edge, EdgeKind, Follows, Graph, Point, Wait};
use super::latency::explained;
use super::order::unpacked;
use crate::occupancy::NONE;
use crate::projection::{Stop, StopCheck};

/// An edit of a capture. Places are those of [`super::Capture`]; times are durations in ns.
pub trait Change {
    /// How long an operation takes, `dur` as recorded: of a collective, after its last member has started.
    fn op(&self, _op: u32, dur: i64) -> i64 {
        dur
    }

    /// Whether an operation takes no time, waits only for its stream, and holds up no call.
    fn removes(&self, _op: u32) -> bool {
        false
    }

    /// What those that wait for an operation wait for instead, or [`NONE`] for nothing.
    fn instead(&self, op: u32) -> u32 {
        op
    }

    /// Whether an operation waits only for its launch and for this operation, or [`NONE`].
    fn beside(&self, _op: u32) -> Option<u32> {
        None
    }

    /// How long a call takes by itself, without waiting.
    fn call(&self, _call: u32, work: i64) -> i64 {
        work
    }

    /// How long the host code before a call takes.
    fn code(&self, _call: u32, dur: i64) -> i64 {
        dur
    }

    /// When the first call of a thread starts.
    fn first(&self, _call: u32, start: i64) -> i64 {
        start
    }

    /// Whether a call waits for operations.
    fn waits(&self, _call: u32) -> bool {
        true
    }

    /// The unexplained delay of a call's return.
    fn call_delay(&self, _call: u32, delay: i64) -> i64 {
        delay
    }

    /// How long an operation starts after what it waited for.
    fn latency(&self, _op: u32, _kind: EdgeKind, latency: i64) -> i64 {
        latency
    }

    /// The unexplained delay of an operation.
    fn delay(&self, _op: u32, delay: i64) -> i64 {
        delay
    }
}

/// No edit.
#[derive(Debug, Clone, Copy, Default)]
pub struct AsRecorded;

impl Change for AsRecorded {}

/// When everything happens after an edit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Times {
    /// Starts of calls.
    pub call_starts: Vec<i64>,
    /// Returns of calls.
    pub call_ends: Vec<i64>,
    /// Starts of operations.
    pub op_starts: Vec<i64>,
    /// Ends of operations.
    pub op_ends: Vec<i64>,
}

impl Times {
    /// Sets all times to 0.
    fn reset(&mut self, calls: usize, ops: usize) {
        let lists = [
            (&mut self.call_starts, calls),
            (&mut self.call_ends, calls),
            (&mut self.op_starts, ops),
            (&mut self.op_ends, ops),
        ];
        for (list, count) in lists {
            list.clear();
            list.resize(count, 0);
        }
    }
}

/// When an operation or the return of a call is ready, and what makes it so.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ready {
    /// The place of the edge that binds; `usize::MAX` if there is none.
    pub(super) edge: usize,
    /// When the source of that edge is done.
    pub(super) done: i64,
    /// When all edges are.
    pub(super) at: i64,
    /// When it happens: after its unexplained delay.
    pub(super) then: i64,
}

impl Graph {
    /// When everything happened, which is what a replay without edits gives.
    pub fn recorded(&self) -> Times {
        Times {
            call_starts: self.call_starts.clone(),
            call_ends: self.call_ends.clone(),
            op_starts: self.op_starts.clone(),
            op_ends: self.op_ends.clone(),
        }
    }

    /// Replays the capture with an edit. `None` if it was stopped.
    pub fn replay<C: Change + ?Sized>(&self, change: &C, stop: Stop<'_>) -> Option<Times> {
        self.replay_into(Times::default(), change, stop)
    }

    /// The same, in the memory of times that nobody needs any more: the system takes its time to give some.
    pub fn replay_into<C: Change + ?Sized>(
        &self,
        mut times: Times,
        change: &C,
        stop: Stop<'_>,
    ) -> Option<Times> {
        times.reset(self.call_count(), self.op_count());
        let mut check = StopCheck::new(stop);
        let mut edges = Vec::new();
        for &point in &self.order {
            if check.must_stop() {
                return None;
            }
            match unpacked(point) {
                Point::Op(op) => {
                    let start = self.op_ready(op, &times, change, &mut edges).then;
                    times.op_starts[op as usize] = start;
                    let (from, to) = self.op(op);
                    let dur = if change.removes(op) { 0 } else { change.op(op, to - from) };
                    // A member of a collective ends later.
                    times.op_ends[op as usize] = start.saturating_add(dur);
                }
                Point::OpEnd(op) => {
                    let end = self.group_end(op, &times, change);
                    times.op_ends[op as usize] = end;
                }
                Point::Call(call) => {
                    let start = self.call_start(call, &times, change).0;
                    times.call_starts[call as usize] = start;
                    let work = change.call(call, self.work(call));
                    times.call_ends[call as usize] = start.saturating_add(work);
                }
                Point::CallEnd(call) => {
                    times.call_ends[call as usize] = self.call_return(call, &times, change).then;
                }
            }
        }
        Some(times)
    }

    /// The edge into the start of an operation that binds, and when the operation starts.
    pub(super) fn op_ready<C: Change + ?Sized>(
        &self,
        op: u32,
        times: &Times,
        change: &C,
        edges: &mut Vec<Edge>,
    ) -> Ready {
        self.edges(op, edges);
        let start = self.op_starts[op as usize];
        let removed = change.removes(op);
        let pairs = edges.iter().map(|edge| (edge.at, edge.usual));
        let (mut binding, latency_of, mut delay) = explained(start, pairs);
        delay = if removed { 0 } else { change.delay(op, delay) };
        if let Some(before) = change.beside(op) {
            // What bound it then says nothing of where it is now.
            (binding, delay) = (usize::MAX, 0);
            edges.retain(|edge| edge.kind == EdgeKind::Launch);
            if before != NONE {
                let (at, usual) = (self.op_ends[before as usize], self.usual_gap(op));
                edges.push(Edge { kind: EdgeKind::Stream, source: before, at, usual });
            }
        } else {
            for edge in edges.iter_mut().filter(|edge| edge.kind != EdgeKind::Launch) {
                edge.source = change.instead(edge.source);
            }
        }
        let mut ready = Ready { edge: usize::MAX, done: start, at: start, then: start };
        let has_stream = edges.iter().any(|edge| edge.kind != EdgeKind::Launch);
        for (place, edge) in edges.iter().enumerate() {
            let recorded = if place == binding { latency_of } else { edge.usual.min(start - edge.at) };
            let mut latency = change.latency(op, edge.kind, recorded);
            if removed {
                latency = latency.min(0);
            }
            let (done, at) = match edge.kind {
                // What is removed is launched by nobody.
                EdgeKind::Launch if removed && has_stream => continue,
                _ if edge.source == NONE => continue,
                EdgeKind::Launch => {
                    let begun = times.call_starts[edge.source as usize];
                    let done = begun.saturating_add(change.call(edge.source, self.work(edge.source)));
                    let ready = done.saturating_add(latency).max(begun);
                    (done.min(ready), ready)
                }
                _ => {
                    // It may start while the last blocks of the other one run, but not before that one starts.
                    let source = edge.source as usize;
                    let done = times.op_ends[source];
                    let ready = done.saturating_add(latency).max(times.op_starts[source]);
                    (done.min(ready), ready)
                }
            };
            if ready.edge == usize::MAX || at > ready.at {
                ready = Ready { edge: place, done, at, then: at };
            }
        }
        if ready.edge != usize::MAX {
            ready.then = ready.at.saturating_add(delay);
        }
        ready
    }

    /// The end of a member of a collective.
    fn group_end<C: Change + ?Sized>(&self, op: u32, times: &Times, change: &C) -> i64 {
        let last = |starts: &[i64]| self.group(op).iter().map(|&op| starts[op as usize]).max();
        let recorded = last(&self.op_starts).unwrap_or_default();
        let transfer = self.op_ends[op as usize] - recorded;
        let transfer = if change.removes(op) { 0 } else { change.op(op, transfer) };
        last(&times.op_starts).unwrap_or_default().saturating_add(transfer)
    }

    /// When a call starts, when the host code before it began, and the call that this code follows.
    pub(super) fn call_start<C: Change + ?Sized>(
        &self,
        call: u32,
        times: &Times,
        change: &C,
    ) -> (i64, i64, Option<u32>) {
        let recorded = self.call_starts[call as usize];
        match (self.follows(call, &self.call_ends), self.follows(call, &times.call_ends)) {
            (Some((ended, _)), Some((done, source))) => {
                let code = change.code(call, recorded - ended);
                (done.saturating_add(code), done, Some(source))
            }
            _ => {
                let start = change.first(call, recorded);
                (start, start, None)
            }
        }
    }

    /// The host code before a call, as recorded; `None` for the first call of a thread.
    pub fn code(&self, call: u32) -> Option<i64> {
        Some(self.call_starts[call as usize] - self.follows(call, &self.call_ends)?.0)
    }

    /// How long the host takes for a call, for those that it follows one after the other, and for the code before them,
    /// of what began at `since` or later. Waiting does not count.
    pub fn host_time<C: Change + ?Sized>(&self, last: u32, since: i64, change: &C) -> i64 {
        let (mut call, mut sum) = (last, 0i64);
        while self.call_starts[call as usize] >= since {
            sum = sum.saturating_add(change.call(call, self.work(call)));
            let Some((done, source)) = self.follows(call, &self.call_ends) else { break };
            if done < since {
                break;
            }
            let code = self.call_starts[call as usize] - done;
            sum = sum.saturating_add(change.code(call, code));
            call = source;
        }
        sum
    }

    /// When the host code before a call begins, and the call that it follows: a thread that waits for another one goes
    /// on with its code after that.
    #[inline]
    fn follows(&self, call: u32, ends: &[i64]) -> Option<(i64, u32)> {
        let done = |source: u32| (ends[source as usize], source);
        match self.follows[call as usize] {
            Follows::Call => Some(done(call - 1)),
            Follows::Nothing => None,
            Follows::Waker => self.waker(call).map(done),
            Follows::CallAndWaker => self.waker(call).map(done).max(Some(done(call - 1))),
        }
    }

    /// What binds the return of a call that waits: edge 0 is its own work, and the others are what it waits for, in
    /// the order of [`Graph::awaited`].
    pub(super) fn call_return<C: Change + ?Sized>(&self, call: u32, times: &Times, change: &C) -> Ready {
        let ((start, end), work) = (self.call(call), self.work(call));
        let usual = self.usual.returning(self.functions[call as usize]);
        let waits = self.awaited(call).map(|wait| (wait.of(&self.op_starts, &self.op_ends), usual));
        let (binding, latency_of, delay) =
            explained(end, std::iter::once((start + work, 0)).chain(waits));
        let begun = times.call_starts[call as usize];
        let own = change.call(call, work);
        // A call that is left out does nothing after its work, either.
        let is_left_out = own == 0 && work > 0;
        let extra = if binding == 0 && !is_left_out { latency_of } else { 0 };
        let waits = change.waits(call);
        let delay = if is_left_out || !waits { 0 } else { change.call_delay(call, delay) };
        let mut ready = {
            let done = begun.saturating_add(own);
            Ready { edge: 0, done, at: done.saturating_add(extra), then: 0 }
        };
        for (place, wait) in (1..).zip(self.awaited(call)) {
            // A call that waits for its own operation does not wait if that is left out.
            let instead = change.instead(wait.op);
            let is_gone = change.removes(wait.op) || instead != wait.op;
            if !waits || instead == NONE || is_gone && self.launch(wait.op) == Some(call) {
                continue;
            }
            let recorded = end - wait.of(&self.op_starts, &self.op_ends);
            let latency = if place == binding { latency_of } else { usual.min(recorded) };
            let done = Wait { op: instead, ..wait }.of(&times.op_starts, &times.op_ends);
            if done + latency > ready.at {
                ready = Ready { edge: place, done, at: done + latency, then: 0 };
            }
        }
        ready.then = ready.at + delay;
        ready
    }
}
