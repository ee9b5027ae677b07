//! Cells that several NVTX relations have.

use super::answers::Answers;
use crate::execute::native::ids::{self, NO_ID, PROCESS};
use crate::execute::native::relation::Cell;
use nsq_sweep::projection::{Caller, Kernel, Op};

pub(super) fn range_kind<'a>(is_push_pop: bool) -> Cell<'a> {
    Some(if is_push_pop { "PushPop" } else { "StartEnd" }).into()
}

pub(super) fn range_name(answers: &Answers, name: u32) -> Cell<'_> {
    answers.names.printed(name).into()
}

pub(super) fn range_id(answers: &Answers, index: u32) -> Cell<'_> {
    answers.ranges().get(index).map(|range| range.id).into()
}

pub(super) fn innermost(answers: &Answers, op: usize) -> u32 {
    answers.projection.attribution.innermost(&answers.ops().at(op))
}

pub(super) fn kernel(answers: &Answers, row: usize) -> Kernel {
    answers.projection.attribution.capture.kernels[answers.path_kernels()[row].kernel as usize]
}

/// The call that launched an operation.
pub(super) fn call(answers: &Answers, op: usize) -> Option<Caller> {
    answers.projection.attribution.capture.launches.caller(answers.ops().at(op).launch)
}

/// The row of the call that launched an operation.
pub(super) fn call_id<'a>(answers: &Answers, op: usize) -> Cell<'a> {
    let launches = &answers.projection.attribution.capture.launches;
    launches.get(answers.ops().at(op).launch).map(|launch| launch.call).into()
}

pub(super) fn process(answers: &Answers, op: Op) -> i64 {
    answers.projection.attribution.capture.processes[op.process as usize]
}

pub(super) fn pid<'a>(global: i64) -> Cell<'a> {
    ids::pid(global).into()
}

pub(super) fn tid<'a>(global: i64) -> Cell<'a> {
    ids::tid(global).into()
}

pub(super) fn global_pid<'a>(global: i64) -> Cell<'a> {
    if global == NO_ID { Cell::Null } else { (global & PROCESS).into() }
}
