//! The API calls that launched the operations.

use crate::execute::native::ids::{NO_ID, Numbered, PROCESS};
use foldhash::{HashMap, HashMapExt};
use nsq_sweep::calls::{Call, Calls};
use nsq_sweep::occupancy::Occupancy;
use nsq_sweep::projection::{Links, OpKind};
use std::ops::Range;
use std::sync::Arc;

/// The launches of all operations.
#[derive(Debug, Default)]
pub(super) struct Launches {
    /// Indices of the operations that a call can have launched: all but graphs that were traced as a whole.
    pub(super) launched: Vec<u32>,
    /// Of each operation, the place of its call in `calls`, or [`nsq_sweep::occupancy::NONE`].
    of_op: Vec<u32>,
    pub(super) calls: Arc<Calls>,
    /// Places of the calls with which no operation shares a correlation ID, by function.
    pub(super) without_work: Vec<u32>,
    /// Calls of each thread and function.
    counts: HashMap<(u32, u32), i64>,
    /// Start of the last call of each process that launched an operation.
    last_work: HashMap<i64, i64>,
}

impl Launches {
    /// Finds the outermost call with the process and correlation ID of each operation.
    pub(super) fn new(occupancy: &Occupancy, calls: Arc<Calls>) -> Self {
        let ops = &occupancy.ops;
        let mut processes = Numbered::<i64>::default();
        let of_stream: Vec<u32> =
            occupancy.streams.iter().map(|stream| processes.place(stream.global_pid)).collect();
        // No call has the ID of an operation without one.
        let given = |correlation| if correlation == NO_ID { 0 } else { correlation };
        let ids = ops.iter().map(|op| (of_stream[op.stream as usize], given(op.correlation)));
        let mut links = Links::between(ids.clone(), processes.values.len());
        let mut of_op: Vec<u32> = ids.map(|(process, id)| links.slot_for(process, id)).collect();
        let callers = links.callers(&calls, |global_tid| processes.known(global_tid & PROCESS));
        for (of, op) in of_op.iter_mut().zip(ops) {
            *of = callers.of(*of, op.start, &calls);
        }
        let are_linked = links.are_linked(&calls, |global_tid| processes.known(global_tid & PROCESS));
        let (mut counts, mut last_work) = (HashMap::new(), HashMap::new());
        let mut without_work = Vec::new();
        for (place, is_linked) in (0u32..).zip(are_linked) {
            let (thread, name) = (calls.threads()[place as usize], calls.names()[place as usize]);
            *counts.entry((thread, name)).or_default() += 1;
            if is_linked {
                let process = calls.global_tids[thread as usize] & PROCESS;
                let last = last_work.entry(process).or_insert(i64::MIN);
                *last = calls.times(place as usize).0.max(*last);
            } else {
                without_work.push(place);
            }
        }
        without_work.sort_by_key(|&place| calls.names()[place as usize]);
        let launched = (0u32..).zip(ops).filter(|(_, op)| op.kind != OpKind::Graph);
        Self {
            launched: launched.map(|(index, _)| index).collect(),
            of_op,
            calls,
            without_work,
            counts,
            last_work,
        }
    }

    /// The place of the call that launched an operation.
    pub(super) fn place(&self, op: usize) -> Option<u32> {
        self.of_op.get(op).copied().filter(|&place| (place as usize) < self.calls.len())
    }

    /// The number of calls of the function of a call by its thread.
    pub(super) fn count(&self, call: &Call) -> Option<i64> {
        self.counts.get(&(call.thread, call.name)).copied()
    }

    /// The start of the last call of the process of a call that launched an operation.
    pub(super) fn last_work(&self, call: &Call) -> Option<i64> {
        let process = self.calls.global_tids[call.thread as usize] & PROCESS;
        self.last_work.get(&process).copied()
    }

    /// The rows of `call_without_work` of a function, by the string ID of its name.
    pub(super) fn without_work_of(&self, name_id: i64) -> Range<usize> {
        let name = self.calls.name_ids.iter().position(|id| *id == name_id);
        name.map_or(0..0, |name| {
            let of = |place: &u32| self.calls.names()[*place as usize] as usize;
            let from = self.without_work.partition_point(|place| of(place) < name);
            from..self.without_work.partition_point(|place| of(place) <= name)
        })
    }

    pub(super) fn call(&self, op: usize) -> Option<Call> {
        self.calls.get(*self.of_op.get(op)?)
    }

    pub(super) fn thread(&self, op: usize) -> Option<i64> {
        self.calls.global_tids.get(self.call(op)?.thread as usize).copied()
    }

    /// String ID of the name of the function that launched an operation.
    pub(super) fn name(&self, op: usize) -> Option<i64> {
        self.calls.name_ids.get(self.call(op)?.name as usize).copied().filter(|id| *id != NO_ID)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_read_is_unknown() {
        // Rows are looked up by key before a stopped read is noticed.
        let none = Launches::default();
        assert!(none.call(3).is_none());
        assert_eq!([none.thread(3), none.name(3)], [None; 2]);
    }
}
