//! The columns of `critical_part` and `replayed_op`.

use super::Chain;
use super::functions::FunctionKind;
use crate::execute::native::gpu::answers::Answers;
use crate::execute::native::gpu::columns::Column;
use crate::execute::native::relation::Cell;
use nsq_sweep::calls::Call;
use nsq_sweep::classify::Activity;
use nsq_sweep::occupancy::{Level, NONE, Stream};
use nsq_sweep::replay::{Part, PartKind};
use std::borrow::Cow;

/// A value of a row's chain and part.
fn with<'a>(answers: &Answers, index: usize, cell: impl Fn(&Chain, &Part) -> Cell<'a>) -> Cell<'a> {
    let (chain, row) = answers.critical(index);
    chain.parts.get(row).map_or(Cell::Null, |part| cell(&chain, part))
}

fn gpu<'a>(answers: &Answers, index: usize, cell: impl Fn(&Stream) -> i64) -> Cell<'a> {
    with(answers, index, |chain, _| cell(answers.occupancy.first_stream(Level::Gpu, chain.gpu)).into())
}

fn word(answers: &Answers, part: &Part) -> &'static str {
    match part.kind {
        PartKind::Code => "host code",
        PartKind::Call if answers.model().launches[part.call as usize] => "launch call",
        PartKind::Call => match answers.function_kind(part.call) {
            FunctionKind::Allocation | FunctionKind::Free => "allocation call",
            _ => "other call",
        },
        PartKind::Launch => "launch latency",
        PartKind::Op => match answers.occupancy.ops[part.op as usize].activity {
            Activity::Compute => "compute",
            Activity::Communication => "communication",
            Activity::Memory => "memory",
        },
        PartKind::Gap => "stream gap",
        PartKind::Handover => "handover",
        PartKind::Return => "return from wait",
        PartKind::Unexplained => "unexplained",
        PartKind::Before => "before",
        PartKind::After => "after",
    }
}

/// The operation that a part is, or leads to: of a part of the host, the next one that its thread launches.
fn op(answers: &Answers, part: &Part) -> Option<usize> {
    let of_call = answers.model().leads_to.get(part.call as usize).copied();
    Some(of_call.unwrap_or(part.op)).filter(|&op| op != NONE).map(|op| op as usize)
}

/// The call of a part, as the report gives it.
fn call(answers: &Answers, part: &Part) -> Option<Call> {
    let place = *answers.model().places.get(part.call as usize)?;
    answers.launches().calls.get(place)
}

fn thread(answers: &Answers, part: &Part) -> Option<i64> {
    let calls = &answers.launches().calls;
    calls.global_tids.get(call(answers, part)?.thread as usize).copied()
}

pub(in crate::execute::native::gpu) const CRITICAL: &[Column] = &[
    ("edits", |a, i, _| with(a, i, |chain, _| Cell::Text(Cow::Owned(chain.edits.to_string())))),
    ("gpu_id", |a, i, _| gpu(a, i, |stream| stream.gpu_id)),
    ("device_id", |a, i, _| gpu(a, i, |stream| stream.device_id)),
    ("start_ns", |a, i, _| with(a, i, |chain, _| chain.window.0.into())),
    ("end_ns", |a, i, _| with(a, i, |chain, _| chain.window.1.into())),
    ("place", |a, i, _| (a.critical(i).1 as i64).into()),
    ("part", |a, i, _| with(a, i, |_, part| word(a, part).into())),
    ("part_start_ns", |a, i, _| with(a, i, |_, part| part.start.into())),
    ("part_end_ns", |a, i, _| with(a, i, |_, part| part.end.into())),
    ("dur_ns", |a, i, _| with(a, i, |_, part| (part.end - part.start).into())),
    ("op_kind", |a, i, _| {
        with(a, i, |_, part| op(a, part).map(|op| a.occupancy.ops[op].kind.as_str()).into())
    }),
    ("op_id", |a, i, _| with(a, i, |_, part| op(a, part).map(|op| a.occupancy.ops[op].id).into())),
    ("name_id", |a, i, _| {
        with(a, i, |_, part| op(a, part).map(|op| i64::from(a.label(op).name)).into())
    }),
    ("op_name", |a, i, _| {
        with(a, i, |_, part| {
            let name = op(a, part).and_then(|op| a.labels.names.get(a.label(op).name as usize));
            name.map(|name| Cow::Owned(name.clone())).into()
        })
    }),
    ("pid", |a, i, _| {
        with(a, i, |_, part| {
            let process = op(a, part).map(|op| a.stream_of(op).global_pid);
            process.and_then(crate::execute::native::ids::pid).into()
        })
    }),
    ("stream_id", |a, i, _| {
        with(a, i, |_, part| op(a, part).and_then(|op| a.stream_of(op).stream_id).into())
    }),
    ("call_id", |a, i, _| with(a, i, |_, part| call(a, part).map(|call| call.id).into())),
    ("call_name_id", |a, i, _| {
        with(a, i, |_, part| {
            let calls = &a.launches().calls;
            call(a, part).and_then(|call| calls.name_ids.get(call.name as usize).copied()).into()
        })
    }),
    ("global_tid", |a, i, _| with(a, i, |_, part| thread(a, part).into())),
];

pub(in crate::execute::native::gpu) const REPLAYED: &[Column] = &[
    ("edits", |a, i, _| Cell::Text(Cow::Owned(a.replayed(i).0.text.to_string()))),
    ("gpu_id", |a, i, _| a.stream_of(a.replayed(i).1).gpu_id.into()),
    ("op_kind", |a, i, _| a.occupancy.ops[a.replayed(i).1].kind.as_str().into()),
    ("op_id", |a, i, _| a.occupancy.ops[a.replayed(i).1].id.into()),
    ("start_ns", |a, i, _| a.occupancy.ops[a.replayed(i).1].start.into()),
    ("end_ns", |a, i, _| a.occupancy.ops[a.replayed(i).1].end.into()),
    ("new_start_ns", |a, i, _| {
        let (edited, op) = a.replayed(i);
        edited.times.op_starts[op].into()
    }),
    ("new_end_ns", |a, i, _| {
        let (edited, op) = a.replayed(i);
        edited.times.op_ends[op].into()
    }),
];
