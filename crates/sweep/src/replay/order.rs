//! Which operation follows which, and what is replayed when.

use super::graph::{EdgeKind, Graph, Point};
use super::latency::{LONGEST, explained, most};
use crate::occupancy::NONE;

/// A launch that takes this many times the usual may have been blocked.
const BLOCKED_TIMES: i64 = 2;
/// Launches that wait in a queue which is full.
const FULL: usize = 32;

/// Operations of a stream among which the one is searched that ended last. More do not run at once.
const AT_ONCE: usize = 16;

impl Graph {
    /// Finds the operation of each stream that had ended last when another one started. It may still run out: a dependent
    /// launch starts with the last blocks of the one before. The end of a collective is not known before it ends.
    pub(super) fn link_streams(&mut self) {
        let streams = self.streams.iter().max().map_or(0, |&most| most as usize + 1);
        let mut last: Vec<Vec<u32>> = vec![Vec::new(); streams];
        self.befores = vec![NONE; self.op_count()];
        for op in 0..self.op_count() as u32 {
            let recent = &mut last[self.streams[op as usize] as usize];
            let start = self.op_starts[op as usize];
            let end = |other: u32| self.op_ends[other as usize];
            let has_ended = |other: u32| {
                end(other) <= start
                    || end(other) <= start.saturating_add(LONGEST)
                        && self.op_starts[other as usize] < start
                        && self.group(other).is_empty()
            };
            let ended = recent.iter().copied().filter(|&other| has_ended(other));
            self.befores[op as usize] = ended.max_by_key(|&other| (end(other), other)).unwrap_or(NONE);
            if recent.len() == AT_ONCE {
                recent.remove(0);
            }
            recent.push(op);
        }
    }

    /// Finds the launches that blocked because the queue of the stream was full: they take much longer than is usual, and
    /// return when an operation starts that was launched long before.
    pub(super) fn find_blocked(&mut self) {
        let calls = self.call_count();
        let mut usual: Vec<i64> = self
            .launches
            .iter()
            .filter(|&&call| (call as usize) < calls)
            .map(|&call| {
                let (start, end) = self.call(call);
                end - start
            })
            .collect();
        if usual.is_empty() {
            return;
        }
        let shorter = usual.len() / 4;
        let usual = *usual.select_nth_unstable(shorter).1;
        let mut of_streams: Vec<Vec<u32>> = Vec::new();
        for op in 0..self.op_count() as u32 {
            let stream = self.streams[op as usize] as usize;
            of_streams.resize(of_streams.len().max(stream + 1), Vec::new());
            of_streams[stream].push(op);
        }
        for of_stream in of_streams {
            for (place, &op) in of_stream.iter().enumerate() {
                let Some(call) = self.launch(op) else { continue };
                let (start, end) = self.call(call);
                if end - start <= BLOCKED_TIMES * usual || self.waits_of(call).len() > 0 {
                    continue;
                }
                let begun = of_stream.partition_point(|&other| self.op_starts[other as usize] <= end);
                let Some(&freed) = begun.checked_sub(1).and_then(|last| of_stream.get(last)) else {
                    continue;
                };
                let at = self.op_starts[freed as usize];
                if begun + FULL <= place && at > start && at < end {
                    self.blocked.push((call, freed));
                }
            }
        }
        self.blocked.sort_unstable();
        self.blocked.dedup_by_key(|(call, _)| *call);
    }

    /// Takes the groups whose members end after the last one has started. Others did not wait for each other.
    pub(super) fn take_groups(&mut self, groups: Vec<Vec<u32>>) {
        for mut members in groups {
            let start = |op: &u32| self.op_starts[*op as usize];
            let last = members.iter().map(start).max().unwrap_or(i64::MAX);
            members.retain(|&op| self.op_ends[op as usize] > last);
            if members.len() > 1 {
                let group = self.groups.len() as u32;
                self.group_of.extend(members.iter().map(|&op| (op, group)));
                self.groups.push(members);
            }
        }
        self.group_of.sort_unstable();
        self.group_of.dedup_by_key(|(op, _)| *op);
    }

    /// Explains delays by an operation of another stream of the same GPU that ended just before, or whose last blocks ran
    /// out just after.
    pub(super) fn guess_handovers(&mut self, gpu_of_stream: &[u32]) {
        let gpu = |op: u32| gpu_of_stream.get(self.streams[op as usize] as usize).copied();
        let streams = self.streams.iter().max().map_or(0, |&most| most as usize + 1);
        let mut of_streams: Vec<Vec<u32>> = vec![Vec::new(); streams];
        (0u32..).zip(&self.streams).for_each(|(op, &stream)| of_streams[stream as usize].push(op));
        let ops = of_streams.into_iter().flatten();
        let mut ended: Vec<(Option<u32>, i64, u32)> =
            ops.map(|op| (gpu(op), self.op_ends[op as usize], op)).collect();
        // Those of a stream mostly end in order, and this sort merges what is in order.
        ended.sort();
        let (mut edges, mut found) = (Vec::new(), Vec::new());
        let reach = most(self.usual.ops.event);
        for op in 0..self.op_count() as u32 {
            self.edges(op, &mut edges);
            let start = self.op_starts[op as usize];
            let delay = explained(start, edges.iter().map(|edge| (edge.at, edge.usual))).2;
            if delay <= reach
                || edges.iter().any(|edge| edge.kind == EdgeKind::Event && edge.at > start - reach)
            {
                continue;
            }
            let until = ended.partition_point(|&(of, end, _)| (of, end) <= (gpu(op), start));
            let candidates = ended[..until].iter().rev();
            // The longer the delay, the less likely is it that another operation ends near its end by chance.
            let reach = reach.max((delay / 4).min(LONGEST));
            let before = candidates.take_while(|&&(of, end, _)| of == gpu(op) && end >= start - reach);
            let after =
                ended[until..].iter().take_while(|&&(of, end, _)| of == gpu(op) && end <= start + reach);
            let mut others = before.take(AT_ONCE).chain(after.take(AT_ONCE)).map(|&(.., other)| other);
            let is_other = |&other: &u32| {
                self.streams[other as usize] != self.streams[op as usize]
                    && self.op_starts[other as usize] < start
                    && self.is_before(Point::Op(op), self.end_of_op(other))
            };
            found.extend(others.find(is_other).map(|other| (op, other, true)));
        }
        self.joins.extend(found);
        self.joins.sort_unstable();
    }

    /// Whether `source` is replayed before `point`.
    pub(super) fn is_before(&self, point: Point, source: Point) -> bool {
        self.key(source) < self.key(point)
    }

    /// When a point is replayed. At one time, ends come before starts, and calls before operations that they launch.
    fn key(&self, point: Point) -> (i64, u8, u32) {
        match point {
            Point::OpEnd(op) => (self.op_ends[op as usize], 0, op),
            Point::CallEnd(call) => (self.call_ends[call as usize], 1, call),
            Point::Call(call) => (self.call_starts[call as usize], 2, call),
            Point::Op(op) => (self.op_starts[op as usize], 3, op),
        }
    }

    /// Sorts what is replayed.
    pub(super) fn sort_points(&mut self) {
        let calls = (0..self.call_count() as u32).map(Point::Call);
        let ops = (0..self.op_count() as u32).map(Point::Op);
        let mut waiting: Vec<u32> =
            self.waits.iter().chain(&self.blocked).map(|&(call, _)| call).collect();
        waiting.sort_unstable();
        waiting.dedup();
        let call_ends = waiting.into_iter().map(Point::CallEnd);
        let op_ends = self.group_of.iter().map(|&(op, _)| Point::OpEnd(op));
        let points = calls.chain(ops).chain(call_ends).chain(op_ends);
        let mut order: Vec<((i64, u8, u32), u32)> =
            points.map(|point| (self.key(point), packed(point))).collect();
        // The calls of a thread and the operations are in order already: this sort merges what is sorted.
        order.sort_by_key(|&(key, _)| key);
        self.order = order.into_iter().map(|(_, point)| point).collect();
    }
}

/// A point as a number: the kind in the lowest two bits.
fn packed(point: Point) -> u32 {
    match point {
        Point::Op(op) => op << 2,
        Point::OpEnd(op) => op << 2 | 1,
        Point::Call(call) => call << 2 | 2,
        Point::CallEnd(call) => call << 2 | 3,
    }
}

pub(super) fn unpacked(point: u32) -> Point {
    match point & 3 {
        0 => Point::Op(point >> 2),
        1 => Point::OpEnd(point >> 2),
        2 => Point::Call(point >> 2),
        _ => Point::CallEnd(point >> 2),
    }
}
