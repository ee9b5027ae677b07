//! The API calls that launched the operations.

use crate::execute::native::ids::{NO_ID, Numbered, PROCESS};
use nsq_sweep::calls::{Call, Calls};
use nsq_sweep::occupancy::Occupancy;
use nsq_sweep::projection::{Links, OpKind};
use std::sync::Arc;

/// The launches of all operations.
#[derive(Debug, Default)]
pub(super) struct Launches {
    /// Indices of the operations that a call can have launched: all but graphs that were traced as a whole.
    pub(super) launched: Vec<u32>,
    /// Of each operation, the place of its call in `calls`, or [`nsq_sweep::occupancy::NONE`].
    of_op: Vec<u32>,
    pub(super) calls: Arc<Calls>,
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
        let found = links.outermost(&calls, |global_tid| processes.known(global_tid & PROCESS));
        // An operation without a slot has no call either.
        of_op.iter_mut().for_each(|of| *of = found.get(*of as usize).copied().unwrap_or(*of));
        let launched = (0u32..).zip(ops).filter(|(_, op)| op.kind != OpKind::Graph);
        Self { launched: launched.map(|(index, _)| index).collect(), of_op, calls }
    }

    /// The place of the call that launched an operation.
    pub(super) fn place(&self, op: usize) -> Option<u32> {
        self.of_op.get(op).copied().filter(|&place| (place as usize) < self.calls.len())
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
