//! The columns of the GPU relations, and how each value follows from a row.

use super::answers::{AMONG, Answers, ROW, SHIFT};
use crate::execute::native::asked::Asked;
use crate::execute::native::ids;
use crate::execute::native::relation::Cell;
use nsq_sweep::occupancy::{
    Decomposition, Gap, Lead, LeadOf, Level, NONE, Overlap, Runs, Shares, Stream,
};
use nsq_sweep::steps::Kind;
use std::cell::OnceCell;

/// A column: its name, and a function for its value, given the index of a row and what its cells have in
/// common.
pub(super) type Column = (&'static str, for<'a> fn(&'a Answers, usize, &Spent) -> Cell<'a>);

/// How a GPU spent a window: what the cells of a row of `gpu_window` have in common.
#[derive(Default)]
pub(in crate::execute::native) struct Spent {
    /// The window of the look-up, or the GPU and the time.
    pub(super) asked: Option<(i64, i64)>,
    pub(super) shares: OnceCell<Shares>,
}

impl Spent {
    fn window(&self, gpu: &Decomposition) -> Option<(i64, i64)> {
        self.asked.or_else(|| gpu.extent())
    }

    fn length(&self, gpu: &Decomposition) -> i64 {
        self.asked.map_or_else(|| gpu.whole().length, |(start, end)| gpu.length(start, end))
    }

    fn shares(&self, gpu: &Decomposition) -> &Shares {
        self.shares.get_or_init(|| match self.asked {
            Some((start, end)) => gpu.within(start, end),
            None => gpu.whole(),
        })
    }
}

pub(super) const AT: &[Column] = &[
    ("gpu_id", |_, _, asked| asked.asked.map(|(gpu, _)| gpu).into()),
    ("at_ns", |_, _, asked| asked.asked.map(|(_, at)| at).into()),
    ("op_kind", |a, i, _| a.occupancy.ops[i].kind.as_str().into()),
    ("op_id", |a, i, _| a.occupancy.ops[i].id.into()),
    ("start_ns", |a, i, _| a.occupancy.ops[i].start.into()),
    ("end_ns", |a, i, _| a.occupancy.ops[i].end.into()),
    ("tid", |a, i, _| a.launches().thread(i).and_then(ids::tid).into()),
];

pub(super) const BUSY: &[Column] = &[
    ("level", |a, i, _| a.busy(i).0.as_str().into()),
    ("activity", |a, i, _| a.busy(i).1.into()),
    ("gpu_id", |a, i, _| lane(a, a.busy(i).0, a.busy(i).2.lane).gpu_id.into()),
    ("device_id", |a, i, _| lane(a, a.busy(i).0, a.busy(i).2.lane).device_id.into()),
    ("pid", |a, i, _| pid(lane(a, a.busy(i).0, a.busy(i).2.lane), a.busy(i).0)),
    ("context_id", |a, i, _| context(lane(a, a.busy(i).0, a.busy(i).2.lane), a.busy(i).0)),
    ("stream_id", |a, i, _| stream(lane(a, a.busy(i).0, a.busy(i).2.lane), a.busy(i).0)),
    ("start_ns", |a, i, _| a.busy(i).2.start.into()),
    ("end_ns", |a, i, _| a.busy(i).2.end.into()),
    ("dur_ns", |a, i, _| (a.busy(i).2.end - a.busy(i).2.start).into()),
    ("op_count", |a, i, _| a.busy(i).2.ops.into()),
];

pub(super) const CALL: &[Column] = &[
    ("call_id", |a, i, _| a.idle_call(i).id.into()),
    ("name_id", |a, i, _| given(a.launches().calls.name_ids[a.idle_call(i).name as usize])),
    ("start_ns", |a, i, _| a.idle_call(i).start.into()),
    ("end_ns", |a, i, _| a.idle_call(i).end.into()),
    ("correlation_id", |a, i, _| a.idle_call(i).correlation.into()),
    ("call_count", |a, i, _| a.launches().count(&a.idle_call(i)).into()),
    ("last_work_ns", |a, i, _| a.launches().last_work(&a.idle_call(i)).into()),
    ("global_tid", |a, i, _| a.launches().calls.global_tids[a.idle_call(i).thread as usize].into()),
];

pub(super) const DOUBT: &[Column] = &[
    ("op_id", |a, i, _| a.occupancy.ops[a.doubts()[i].op as usize].id.into()),
    ("op_kind", |a, i, _| kind(a, a.doubts()[i].op)),
    ("op_name", |a, i, _| name(a, a.doubts()[i].op)),
    ("reason", |a, i, _| a.doubts()[i].reason.into()),
    ("gpu_id", |a, i, _| a.stream_of(a.doubts()[i].op as usize).gpu_id.into()),
    ("device_id", |a, i, _| a.stream_of(a.doubts()[i].op as usize).device_id.into()),
    ("pid", |a, i, _| pid(a.stream_of(a.doubts()[i].op as usize), Level::Stream)),
    ("stream_id", |a, i, _| a.stream_of(a.doubts()[i].op as usize).stream_id.into()),
    ("start_ns", |a, i, _| a.occupancy.ops[a.doubts()[i].op as usize].start.into()),
    ("end_ns", |a, i, _| a.occupancy.ops[a.doubts()[i].op as usize].end.into()),
    ("dur_ns", |a, i, _| length(a, a.doubts()[i].op)),
    ("other_start_ns", |a, i, _| a.doubts()[i].other_start.into()),
];

pub(super) const EXPOSED: &[Column] = &[
    ("gpu_id", |a, i, _| a.stream_of(a.exposed_op(i)).gpu_id.into()),
    ("device_id", |a, i, _| a.stream_of(a.exposed_op(i)).device_id.into()),
    ("activity", |a, i, _| a.exposed_part(i).0.as_str().into()),
    ("op_kind", |a, i, _| kind(a, a.exposed_part(i).1.op)),
    ("op_id", |a, i, _| a.occupancy.ops[a.exposed_op(i)].id.into()),
    ("op_name", |a, i, _| name(a, a.exposed_part(i).1.op)),
    ("name_id", |a, i, _| a.label(a.exposed_op(i)).name.into()),
    ("start_ns", |a, i, _| a.exposed_part(i).1.start.into()),
    ("end_ns", |a, i, _| a.exposed_part(i).1.end.into()),
    ("dur_ns", |a, i, _| (a.exposed_part(i).1.end - a.exposed_part(i).1.start).into()),
    ("pid", |a, i, _| pid(a.stream_of(a.exposed_op(i)), Level::Stream)),
    ("context_id", |a, i, _| a.stream_of(a.exposed_op(i)).context_id.into()),
    ("stream_id", |a, i, _| a.stream_of(a.exposed_op(i)).stream_id.into()),
    ("late_ns", |a, i, _| a.late(i).into()),
];

pub(super) const GAP: &[Column] = &[
    ("level", |a, i, _| a.gap(i).0.as_str().into()),
    ("gpu_id", |a, i, _| lane(a, a.gap(i).0, a.gap(i).1.lane).gpu_id.into()),
    ("device_id", |a, i, _| lane(a, a.gap(i).0, a.gap(i).1.lane).device_id.into()),
    ("pid", |a, i, _| pid(lane(a, a.gap(i).0, a.gap(i).1.lane), a.gap(i).0)),
    ("context_id", |a, i, _| context(lane(a, a.gap(i).0, a.gap(i).1.lane), a.gap(i).0)),
    ("stream_id", |a, i, _| stream(lane(a, a.gap(i).0, a.gap(i).1.lane), a.gap(i).0)),
    ("start_ns", |a, i, _| a.gap(i).1.start.into()),
    ("end_ns", |a, i, _| a.gap(i).1.end.into()),
    ("dur_ns", |a, i, _| a.gap(i).1.end.saturating_sub(a.gap(i).1.start).into()),
    ("before_kind", |a, i, _| kind(a, a.gap(i).1.before)),
    ("before_id", |a, i, _| a.op(a.gap(i).1.before).map(|op| op.id).into()),
    ("before_name", |a, i, _| name(a, a.gap(i).1.before)),
    ("before_ns", |a, i, _| length(a, a.gap(i).1.before)),
    ("after_kind", |a, i, _| kind(a, a.gap(i).1.after)),
    ("after_id", |a, i, _| a.op(a.gap(i).1.after).map(|op| op.id).into()),
    ("after_name", |a, i, _| name(a, a.gap(i).1.after)),
    ("after_ns", |a, i, _| length(a, a.gap(i).1.after)),
    ("is_in_stream", |a, i, _| is_in_stream(a, a.gap(i).1)),
];

pub(super) const IDLE: &[Column] = &[
    ("part_id", |_, i, _| ((i & ROW) as i64 + 1).into()),
    ("gpu_id", |a, i, _| lane(a, Level::Gpu, a.part(i).1.lane).gpu_id.into()),
    ("device_id", |a, i, _| lane(a, Level::Gpu, a.part(i).1.lane).device_id.into()),
    ("start_ns", |a, i, _| a.part(i).0.start.into()),
    ("end_ns", |a, i, _| a.part(i).0.end.into()),
    ("dur_ns", |a, i, _| a.part(i).0.end.saturating_sub(a.part(i).0.start).into()),
    ("part", |a, i, _| a.part(i).0.kind.as_str().into()),
    ("api_name", |a, i, _| a.function(a.part(i).0).into()),
    ("call_id", |a, i, _| a.call_of_part(i).map(|call| call.id).into()),
    ("call_start_ns", |a, i, _| a.call_of_part(i).map(|call| call.start).into()),
    ("gap_start_ns", |a, i, _| a.part(i).1.start.into()),
    ("gap_ns", |a, i, _| a.part(i).1.end.saturating_sub(a.part(i).1.start).into()),
    ("is_largest", |a, i, _| i64::from(a.is_largest(i)).into()),
    ("pid", |a, i, _| a.thread(i).and_then(ids::pid).into()),
    ("tid", |a, i, _| a.thread(i).and_then(ids::tid).into()),
    ("global_tid", |a, i, _| a.thread(i).into()),
    ("before_kind", |a, i, _| kind(a, a.part(i).1.before)),
    ("before_id", |a, i, _| a.op(a.part(i).1.before).map(|op| op.id).into()),
    ("before_name", |a, i, _| name(a, a.part(i).1.before)),
    ("after_kind", |a, i, _| kind(a, a.part(i).1.after)),
    ("after_id", |a, i, _| a.op(a.part(i).1.after).map(|op| op.id).into()),
    ("after_name", |a, i, _| name(a, a.part(i).1.after)),
    ("is_first", |a, i, _| a.is_first(a.part(i).1.after).map(i64::from).into()),
];

pub(super) const REPEATED: &[Column] = &[
    ("gpu_id", |a, i, _| lane(a, Level::Process, a.steps()[i].lane).gpu_id.into()),
    ("device_id", |a, i, _| lane(a, Level::Process, a.steps()[i].lane).device_id.into()),
    ("pid", |a, i, _| pid(lane(a, Level::Process, a.steps()[i].lane), Level::Process)),
    ("global_pid", |a, i, _| given(lane(a, Level::Process, a.steps()[i].lane).global_pid)),
    ("level", |a, i, _| i64::from(a.steps()[i].repeat).into()),
    ("kind", |a, i, _| match a.steps()[i].kind {
        Kind::Step => "step".into(),
        Kind::Other => "other".into(),
        Kind::Uneven => "uneven".into(),
        Kind::Block => "block".into(),
    }),
    ("step", |a, i, _| a.steps()[i].number.into()),
    ("step_count", |a, i, _| a.steps()[i].count.into()),
    ("start_ns", |a, i, _| a.steps()[i].gpu.0.into()),
    ("end_ns", |a, i, _| a.steps()[i].gpu.1.into()),
    ("cpu_start_ns", |a, i, _| a.steps()[i].host.map(|host| host.0).into()),
    ("cpu_end_ns", |a, i, _| a.steps()[i].host.map(|host| host.1).into()),
    ("op_count", |a, i, _| a.steps()[i].ops.into()),
    ("launch_count", |a, i, _| a.steps()[i].launches.into()),
    ("likeness_pct", |a, i, _| Cell::Real((f64::from(a.steps()[i].likeness) * 1000.0).round() / 10.0)),
    ("first_kind", |a, i, _| kind(a, a.steps()[i].first)),
    ("first_id", |a, i, _| a.op(a.steps()[i].first).map(|op| op.id).into()),
    ("global_tid", |a, i, _| a.launches().thread(a.steps()[i].first as usize).into()),
    ("state", |a, i, _| a.steps()[i].state.map(i64::from).into()),
    ("is_sure", |a, i, _| i64::from(a.steps()[i].is_sure).into()),
    ("kernel_ns", |a, i, _| a.steps()[i].kernel_ns.into()),
    ("all_kernel_ns", |a, i, _| a.steps()[i].all_kernel_ns.into()),
    ("top_kernel_name", |a, i, _| match a.steps()[i].longest {
        Some(place) => name(a, place),
        None => Cell::Null,
    }),
];

pub(super) const RUN: &[Column] = &[
    ("longest_ns", |a, i, _| a.run(i).map(|(of, _)| of.by[0]).into()),
    ("below_ns", |a, i, _| a.run(i).map(|(of, _)| of.by[1]).into()),
    ("gpu_id", |a, i, _| in_run(a, i, |gap| lane(a, Level::Gpu, gap.lane).gpu_id.into())),
    ("start_ns", |a, i, _| in_run(a, i, |gap| gap.start.into())),
    ("dur_ns", |a, i, _| in_run(a, i, |gap| gap.end.saturating_sub(gap.start).into())),
    ("run", |a, i, _| a.run(i).map(|(of, row)| i64::from(of.answer.gaps[row].1)).into()),
    ("run_kernels", |a, i, _| {
        let kernels =
            |(of, row): (&Asked<Runs>, usize)| of.answer.kernels[of.answer.gaps[row].1 as usize];
        a.run(i).map(|run| i64::from(kernels(run))).into()
    }),
    ("before_id", |a, i, _| in_run(a, i, |gap| a.op(gap.before).map(|op| op.id).into())),
    ("before_ns", |a, i, _| in_run(a, i, |gap| length(a, gap.before))),
    ("before_name_id", |a, i, _| in_run(a, i, |gap| name_id(a, gap.before))),
    ("after_id", |a, i, _| in_run(a, i, |gap| a.op(gap.after).map(|op| op.id).into())),
    ("after_name_id", |a, i, _| in_run(a, i, |gap| name_id(a, gap.after))),
];

pub(super) const LEAD: &[Column] = &[
    ("gpu_id", |_, _, asked| asked.asked.map(|(gpu, _)| gpu).into()),
    ("starts_ahead", |_, _, asked| asked.asked.map(|(_, starts_ahead)| starts_ahead).into()),
    ("global_tid", |a, i, _| a.lead(i).and_then(|lead| a.thread_of(lead)).into()),
    ("lead_id", |a, i, _| a.lead(i).map(|lead| i64::from(lead.number)).into()),
    ("is_gap", |a, i, _| a.lead(i).map(|lead| i64::from(a.gap_of(lead).is_some())).into()),
    ("is_other", |a, i, _| {
        let is_other = |lead: &Lead| match lead.of {
            LeadOf::Wait(_) => true,
            LeadOf::Gap { has_other_cause, .. } => has_other_cause,
        };
        a.lead(i).map(|lead| i64::from(is_other(lead))).into()
    }),
    ("start_ns", |a, i, _| {
        let start = |lead: &Lead| a.gap_of(lead).map_or(lead.at - 1, |gap| gap.start);
        a.lead(i).map(start).into()
    }),
    ("at_ns", |a, i, _| a.lead(i).map(|lead| lead.at).into()),
    ("lost_ns", |a, i, _| {
        let lost = |lead: &Lead| match lead.of {
            LeadOf::Wait(_) => 0,
            LeadOf::Gap { lost, .. } => lost,
        };
        a.lead(i).map(lost).into()
    }),
    ("gap_ns", |a, i, _| {
        let gap = a.lead(i).and_then(|lead| a.gap_of(lead));
        gap.map(|gap| gap.end.saturating_sub(gap.start)).into()
    }),
    ("wait_ns", |a, i, _| {
        let wait = a.lead(i).and_then(|lead| a.wait_of(lead));
        wait.map(|call| call.end.saturating_sub(call.start)).into()
    }),
    ("api_name", |a, i, _| {
        let wait = a.lead(i).and_then(|lead| a.wait_of(lead));
        wait.and_then(|call| a.idle().functions.get(call.name as usize)).map(String::as_str).into()
    }),
    ("after_id", |a, i, _| {
        let after = |lead: &Lead| match a.gap_of(lead) {
            Some(gap) => a.op(gap.after).map(|op| op.id),
            None => Some(0),
        };
        a.lead(i).and_then(after).into()
    }),
];

pub(super) const STREAM: &[Column] = &[
    ("gpu_id", |a, i, _| a.occupancy.streams[i].gpu_id.into()),
    ("device_id", |a, i, _| a.occupancy.streams[i].device_id.into()),
    ("pid", |a, i, _| pid(&a.occupancy.streams[i], Level::Stream)),
    ("global_pid", |a, i, _| given(a.occupancy.streams[i].global_pid)),
    ("context_id", |a, i, _| a.occupancy.streams[i].context_id.into()),
    ("stream_id", |a, i, _| a.occupancy.streams[i].stream_id.into()),
    ("op_count", |a, i, _| (a.stream_sums()[i].ops as i64).into()),
    ("compute_ns", |a, i, _| a.stream_sums()[i].compute.into()),
    ("communication_ns", |a, i, _| a.stream_sums()[i].communication.into()),
    ("memory_ns", |a, i, _| a.stream_sums()[i].memory.into()),
];

pub(super) const LAUNCH: &[Column] = &[
    ("op_id", |a, i, _| a.occupancy.ops[i].id.into()),
    ("op_kind", |a, i, _| kind(a, i as u32)),
    ("start_ns", |a, i, _| a.occupancy.ops[i].start.into()),
    ("end_ns", |a, i, _| a.occupancy.ops[i].end.into()),
    ("dur_ns", |a, i, _| (a.occupancy.ops[i].end - a.occupancy.ops[i].start).into()),
    ("device_id", |a, i, _| a.stream_of(i).device_id.into()),
    ("context_id", |a, i, _| a.stream_of(i).context_id.into()),
    ("green_context_id", |a, i, _| a.green_context(i).into()),
    ("stream_id", |a, i, _| a.stream_of(i).stream_id.into()),
    ("correlation_id", |a, i, _| a.correlation(i).into()),
    ("pid", |a, i, _| pid(a.stream_of(i), Level::Stream)),
    ("global_pid", |a, i, _| given(a.stream_of(i).global_pid)),
    ("call_id", |a, i, _| a.launches().call(i).map(|of| of.id).into()),
    ("call_start_ns", |a, i, _| a.launches().call(i).map(|of| of.start).into()),
    ("call_end_ns", |a, i, _| a.launches().call(i).map(|of| of.end).into()),
    ("call_name_id", |a, i, _| a.launches().name(i).into()),
    ("global_tid", |a, i, _| a.launches().thread(i).into()),
    ("tid", |a, i, _| a.launches().thread(i).and_then(ids::tid).into()),
];

pub(super) const STREAM_GAP: &[Column] = &[
    ("among", |_, i, _| AMONG[i >> SHIFT].into()),
    ("global_pid", |a, i, _| given(a.stream_of(a.after(i)).global_pid)),
    ("pid", |a, i, _| pid(a.stream_of(a.after(i)), Level::Stream)),
    ("device_id", |a, i, _| a.stream_of(a.after(i)).device_id.into()),
    ("context_id", |a, i, _| a.stream_of(a.after(i)).context_id.into()),
    ("stream_id", |a, i, _| a.stream_of(a.after(i)).stream_id.into()),
    ("start_ns", |a, i, _| a.occupancy.ops[a.before(i)].end.into()),
    ("end_ns", |a, i, _| a.occupancy.ops[a.after(i)].start.into()),
    ("dur_ns", |a, i, _| (a.occupancy.ops[a.after(i)].start - a.occupancy.ops[a.before(i)].end).into()),
    ("before_kind", |a, i, _| kind(a, a.before(i) as u32)),
    ("before_id", |a, i, _| a.occupancy.ops[a.before(i)].id.into()),
    ("before_name_id", |a, i, _| given(a.label(a.before(i)).id)),
    ("after_kind", |a, i, _| kind(a, a.after(i) as u32)),
    ("after_id", |a, i, _| a.occupancy.ops[a.after(i)].id.into()),
    ("after_name_id", |a, i, _| given(a.label(a.after(i)).id)),
];

pub(super) const OVERLAP: &[Column] = &[
    ("op_kind", |a, i, _| kind(a, i as u32)),
    ("op_id", |a, i, _| a.occupancy.ops[i].id.into()),
    ("op_name", |a, i, _| name(a, i as u32)),
    ("name_id", |a, i, _| a.label(i).name.into()),
    ("activity", |a, i, _| a.occupancy.ops[i].activity.as_str().into()),
    ("gpu_id", |a, i, _| a.stream_of(i).gpu_id.into()),
    ("device_id", |a, i, _| a.stream_of(i).device_id.into()),
    ("pid", |a, i, _| pid(a.stream_of(i), Level::Stream)),
    ("context_id", |a, i, _| a.stream_of(i).context_id.into()),
    ("stream_id", |a, i, _| a.stream_of(i).stream_id.into()),
    ("start_ns", |a, i, _| a.occupancy.ops[i].start.into()),
    ("end_ns", |a, i, _| a.occupancy.ops[i].end.into()),
    ("dur_ns", |a, i, _| (a.occupancy.ops[i].end - a.occupancy.ops[i].start).into()),
    ("in_window_ns", |a, i, _| a.overlap(Overlap::InWindow, i).into()),
    ("compute_ns", |a, i, _| a.overlap(Overlap::Compute, i).into()),
    ("communication_ns", |a, i, _| a.overlap(Overlap::Communication, i).into()),
    ("memory_ns", |a, i, _| a.overlap(Overlap::Memory, i).into()),
    ("exposed_ns", |a, i, _| a.overlap(Overlap::Exposed, i).into()),
    ("concurrent_ns", |a, i, _| a.overlap(Overlap::Concurrent, i).into()),
];

pub(super) const WINDOW: &[Column] = &[
    ("gpu_id", |a, i, _| a.gpu(i).gpu_id.into()),
    ("device_id", |a, i, _| a.gpu(i).device_id.into()),
    ("start_ns", |a, i, row| row.window(a.decomposition(i)).map(|(start, _)| start).into()),
    ("end_ns", |a, i, row| row.window(a.decomposition(i)).map(|(_, end)| end).into()),
    ("window_ns", |a, i, row| row.length(a.decomposition(i)).into()),
    ("busy_ns", |a, i, row| row.shares(a.decomposition(i)).busy.into()),
    ("compute_ns", |a, i, row| row.shares(a.decomposition(i)).compute.into()),
    ("communication_ns", |a, i, row| row.shares(a.decomposition(i)).communication.into()),
    ("memory_ns", |a, i, row| row.shares(a.decomposition(i)).memory.into()),
    ("exposed_communication_ns", |a, i, row| {
        row.shares(a.decomposition(i)).exposed_communication.into()
    }),
    ("exposed_memory_ns", |a, i, row| row.shares(a.decomposition(i)).exposed_memory.into()),
    ("idle_ns", |a, i, row| row.shares(a.decomposition(i)).idle.into()),
];

/// The first stream of a lane, which tells the lane's GPU and process.
fn lane(answers: &Answers, level: Level, lane: u32) -> &Stream {
    answers.occupancy.first_stream(level, lane)
}

fn pid<'a>(stream: &Stream, level: Level) -> Cell<'a> {
    match level {
        Level::Gpu => Cell::Null,
        _ => ids::pid(stream.global_pid).into(),
    }
}

fn context<'a>(stream: &Stream, level: Level) -> Cell<'a> {
    if level == Level::Stream { stream.context_id.into() } else { Cell::Null }
}

fn stream<'a>(stream: &Stream, level: Level) -> Cell<'a> {
    if level == Level::Stream { stream.stream_id.into() } else { Cell::Null }
}

/// A cell about the gap of a row of `kernel_run`.
fn in_run<'a>(answers: &'a Answers, index: usize, cell: impl Fn(&'a Gap) -> Cell<'a>) -> Cell<'a> {
    answers.gap_of_run(index).map_or(Cell::Null, cell)
}

/// The string ID of an operation's name.
fn name_id(answers: &Answers, op: u32) -> Cell<'_> {
    answers.op(op).map_or(Cell::Null, |_| given(answers.label(op as usize).id))
}

fn kind(answers: &Answers, op: u32) -> Cell<'_> {
    answers.op(op).map(|op| op.kind.as_str()).into()
}

fn length(answers: &Answers, op: u32) -> Cell<'_> {
    answers.op(op).map(|op| op.end.saturating_sub(op.start)).into()
}

/// Whether the operations around a gap ran on one stream.
fn is_in_stream<'a>(answers: &Answers, gap: &Gap) -> Cell<'a> {
    let stream = |op| answers.op(op).map(|op| op.stream);
    stream(gap.before).zip(stream(gap.after)).map(|(before, after)| i64::from(before == after)).into()
}

fn name(answers: &Answers, op: u32) -> Cell<'_> {
    match op {
        NONE => Cell::Null,
        op => {
            answers.labels.names.get(answers.label(op as usize).name as usize).map(String::as_str).into()
        }
    }
}

/// An id of the export; null for [`ids::NO_ID`].
fn given<'a>(id: i64) -> Cell<'a> {
    if id == ids::NO_ID { Cell::Null } else { id.into() }
}
