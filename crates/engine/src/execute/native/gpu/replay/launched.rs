//! What was launched when, on which stream.

use super::functions::FunctionKind;
use crate::execute::native::gpu::answers::Answers;
use nsq_sweep::occupancy::NONE;
use nsq_sweep::replay::Capture;
use std::collections::BTreeMap;

/// The most by which the clocks of a host and its GPU differ in a report, in ns.
const SKEW: i64 = 100_000;
/// Operations that run in that time.
const AT_ONCE: usize = 64;

/// The operations of the streams, in the order of their launches.
pub(super) struct Launched {
    /// For each stream: when an operation was launched, and the one of all so far that ends last.
    streams: Vec<Vec<(i64, u32)>>,
    /// For each stream: when an operation was launched, and which.
    pub(super) ops: Vec<Vec<(i64, u32)>>,
    /// For each stream: the operations before the first one whose call is known. They were launched before the capture.
    before: Vec<Vec<u32>>,
    of_process: BTreeMap<i64, Vec<u32>>,
}

impl Launched {
    pub(super) fn new(answers: &Answers, capture: &Capture) -> Self {
        let occupancy = &answers.occupancy;
        let mut ops = vec![Vec::new(); occupancy.streams.len()];
        for (place, op) in (0u32..).zip(&capture.ops) {
            let call = capture.calls.get(op.launch as usize);
            ops[op.stream as usize].push((call.map_or(op.start, |call| call.start), place));
        }
        let is_known = |&(_, op): &(i64, u32)| capture.ops[op as usize].launch != NONE;
        let before = |of_stream: &Vec<(i64, u32)>| {
            // Of a stream without any, the calls were not recorded.
            let first = of_stream.iter().position(is_known).unwrap_or_default();
            of_stream[..first].iter().map(|&(_, op)| op).collect()
        };
        let before = ops.iter().map(before).collect();
        let mut streams = Vec::with_capacity(ops.len());
        for of_stream in &mut ops {
            of_stream.sort_unstable();
            let mut last: Option<u32> = None;
            let later = |&(at, op): &(i64, u32)| {
                let end = |op: u32| capture.ops[op as usize].end;
                let latest = last.filter(|&last| end(last) > end(op)).unwrap_or(op);
                last = Some(latest);
                (at, latest)
            };
            streams.push(of_stream.iter().map(later).collect());
        }
        let mut of_process: BTreeMap<i64, Vec<u32>> = BTreeMap::new();
        for (place, stream) in (0u32..).zip(&occupancy.streams) {
            of_process.entry(stream.global_pid).or_default().push(place);
        }
        Self { streams, ops, before, of_process }
    }

    /// The operation of a stream that ends last, of those that were launched before a time.
    pub(super) fn last(&self, stream: u32, before: i64) -> Option<u32> {
        let of = &self.streams[stream as usize];
        of.partition_point(|&(at, _)| at < before).checked_sub(1).map(|place| of[place].1)
    }

    /// The operation that a call waits for if it waits for all that its stream was given before.
    pub(super) fn awaited(&self, stream: u32, call: u32, capture: &Capture) -> Option<u32> {
        let (of, end) = (capture.calls[call as usize], |op: u32| capture.ops[op as usize].end);
        let before = &self.before[stream as usize];
        let ended = before.partition_point(|&op| end(op) <= of.end);
        let before = ended.checked_sub(1).map(|place| before[place]);
        self.last(stream, of.start).into_iter().chain(before).max_by_key(|&op| (end(op), op))
    }

    /// The first operation of a stream that was launched at a time or later.
    pub(super) fn next(&self, stream: u32, from: i64) -> Option<u32> {
        let of = &self.ops[stream as usize];
        of.get(of.partition_point(|&(at, _)| at < from)).map(|&(_, op)| op)
    }

    /// Lets a call wait for an operation. Where the clocks differ, that seems to end after the call has returned: then the
    /// call waits for the last operation before it in the stream that does not.
    pub(super) fn wait(&self, call: u32, op: u32, capture: &mut Capture) {
        let (of, until) = (capture.ops[op as usize], capture.calls[call as usize].end);
        let ended = |op: u32| capture.ops[op as usize].end <= until;
        if of.end > until + SKEW {
            return;
        }
        let launched = capture.calls.get(of.launch as usize).map_or(of.start, |call| call.start);
        let ops = &self.ops[of.stream as usize];
        let before = &ops[..ops.partition_point(|&other| other < (launched, op))];
        let mut before = before.iter().rev().map(|&(_, other)| other).take(AT_ONCE);
        let found = if ended(op) { Some(op) } else { before.find(|&other| ended(other)) };
        capture.waits.extend(found.map(|op| (call, op)));
    }

    pub(super) fn streams(&self, process: i64) -> &[u32] {
        self.of_process.get(&process).map_or(&[], Vec::as_slice)
    }
}

/// What threads launched around their calls, to tell what a stream waits for if that was not recorded.
pub(super) struct Near {
    /// Calls that launched operations, and the first one of each.
    launches: Vec<(u32, u32)>,
    /// Calls that recorded an event.
    records: Vec<u32>,
}

impl Near {
    pub(super) fn new(capture: &Capture, calls: &[(u32, FunctionKind)]) -> Self {
        let ops = (0u32..).zip(&capture.ops).filter(|(_, op)| op.launch != NONE);
        let mut launches: Vec<(u32, u32)> = ops.map(|(place, op)| (op.launch, place)).collect();
        launches.sort_unstable();
        launches.dedup_by_key(|(call, _)| *call);
        let records = calls.iter().filter(|(_, kind)| *kind == FunctionKind::Record);
        Self { launches, records: records.map(|&(call, _)| call).collect() }
    }

    /// A thread records an event where it has just launched, and lets the stream wait to which it launches next: that
    /// operation, and the one that it likely waits for. `None` if both are in one stream.
    pub(super) fn likely(
        &self,
        capture: &Capture,
        wait: u32,
        launched: &Launched,
    ) -> Option<(u32, u32)> {
        let thread = |call: u32| capture.calls[call as usize].thread;
        let before = |of: usize| of.checked_sub(1);
        let record = self.records[before(self.records.partition_point(|&call| call < wait))?];
        let last = self.launches[before(self.launches.partition_point(|&(call, _)| call < record))?];
        let next = *self.launches.get(self.launches.partition_point(|&(call, _)| call < wait))?;
        let stream = |op: u32| capture.ops[op as usize].stream;
        let is_near = [record, last.0, next.0].into_iter().all(|call| thread(call) == thread(wait));
        let source = launched.last(stream(last.1), capture.calls[record as usize].start)?;
        (is_near && stream(last.1) != stream(next.1)).then_some((next.1, source))
    }
}
