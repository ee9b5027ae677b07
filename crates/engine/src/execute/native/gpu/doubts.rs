//! Operations whose times contradict those of others, and calls that launched nothing.

use super::answers::Answers;
use super::launch::Launches;
use nsq_sweep::calls::Call;
use nsq_sweep::occupancy::Op;

/// A row of `doubtful_op`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Doubt {
    /// Index of the operation.
    pub(super) op: u32,
    /// What is wrong.
    pub(super) reason: &'static str,
    /// The start that contradicts it: of its call, or of the third kernel within it.
    pub(super) other_start: i64,
}

/// `overlaps`: kernels with the third kernel of their stream that began within them.
pub(super) fn doubts(ops: &[Op], launches: &Launches, overlaps: &[(u32, u32)]) -> Vec<Doubt> {
    let early = launches.launched.iter().filter_map(|&op| {
        let call = launches.call(op as usize)?;
        let is_early = ops[op as usize].start < call.start;
        is_early.then_some(Doubt { op, reason: "starts before its launch", other_start: call.start })
    });
    let overlong = overlaps.iter().map(|&(op, third)| Doubt {
        op,
        reason: "overlaps its stream",
        other_start: ops[third as usize].start,
    });
    early.chain(overlong).collect()
}

impl Answers {
    /// A row of `call_without_work`.
    pub(super) fn idle_call(&self, index: usize) -> Call {
        let launches = self.launches();
        launches.calls.at(launches.without_work[index] as usize)
    }
}
