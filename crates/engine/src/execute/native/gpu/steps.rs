//! What each process launches again and again on each GPU.

use super::answers::Answers;
use super::launch::Launches;
use crate::execute::native::ids::PROCESS;
use nsq_sweep::classify::Activity;
use nsq_sweep::occupancy::{Level, NONE, Occupancy, Op};
use nsq_sweep::projection::OpKind;
use nsq_sweep::steps::{Kind, Sequence};
use std::collections::BTreeMap;

/// Copies from and to the host, as CUPTI numbers them.
const HOST_COPIES: [i64; 2] = [1, 2];

/// Fewer launches than this repeat by chance.
const FEWEST: usize = 4;

/// A part of a repeat: a row of `repeated_step`.
#[derive(Debug, Clone)]
pub(super) struct Part {
    pub(super) kind: Kind,
    /// The lane of the process and GPU.
    pub(super) lane: u32,
    /// Number of the repeat in its lane: 0 is the outermost.
    pub(super) repeat: u32,
    pub(super) number: u32,
    pub(super) count: u32,
    /// From the first launch to the end of the last one; `None` without launches.
    pub(super) host: Option<(i64, i64)>,
    pub(super) gpu: (i64, i64),
    /// Place of the first operation.
    pub(super) first: u32,
    pub(super) ops: u32,
    pub(super) launches: u32,
    pub(super) likeness: f32,
}

/// The launches of a process on a GPU, and the operations of each.
#[derive(Default)]
struct Launched {
    sequence: Sequence,
    /// Operations in the order of launches.
    ops: Vec<u32>,
    /// Where the operations of each launch begin, and the end.
    begins: Vec<u32>,
}

impl Answers {
    /// The parts of all repeats, sorted by lane, repeat and number.
    pub(super) fn steps(&self) -> &[Part] {
        self.steps.get_or_init(|| {
            let launches = self.launches();
            let waits = self.read(|| self.calls.waits(launches, &self.limits).map(Some));
            let waits = waits_of_processes(launches, &waits);
            let mut parts = Vec::new();
            for (lane, keyed) in (0u32..).zip(in_order(&self.occupancy, launches)) {
                let first = self.occupancy.first_stream(Level::Process, lane);
                let waits = waits.get(&first.global_pid).map_or(&[][..], Vec::as_slice);
                let names = |op: &Op| (op.name, self.labels.values[op.name as usize].id);
                let launched = Launched::new(&self.occupancy.ops, launches, &keyed, waits, names);
                let repeats = self.make(|stop| launched.sequence.repeats(stop));
                for (repeat, found) in (0u32..).zip(repeats) {
                    for number in 0..found.len() {
                        let launches_of = found.cuts[number]..found.cuts[number + 1];
                        let mut part = launched.part(&self.occupancy.ops, launches, launches_of);
                        (part.kind, part.lane, part.repeat) = (found.kind, lane, repeat);
                        (part.number, part.count) = (number as u32, found.len() as u32);
                        part.likeness = found.likeness[number];
                        parts.push(part);
                    }
                }
            }
            parts
        })
    }
}

/// When the threads of each process waited for a GPU, in order.
fn waits_of_processes(launches: &Launches, is_wait: &[bool]) -> BTreeMap<i64, Vec<i64>> {
    let calls = &launches.calls;
    let mut waits: BTreeMap<i64, Vec<i64>> = BTreeMap::new();
    for (place, &name) in calls.names().iter().enumerate() {
        if is_wait.get(name as usize) == Some(&true) {
            let process = calls.global_tids[calls.threads()[place] as usize] & PROCESS;
            waits.entry(process).or_default().push(calls.times(place).0);
        }
    }
    waits.values_mut().for_each(|starts| starts.sort_unstable());
    waits
}

/// The operations of each process on each GPU, in the order of their launches: when, and the place.
///
/// An operation whose call the capture lacks was launched before those that follow it in its stream.
fn in_order(occupancy: &Occupancy, launches: &Launches) -> Vec<Vec<(i64, u32)>> {
    let ops = &occupancy.ops;
    let mut keys = vec![0i64; ops.len()];
    let mut next: Vec<Option<i64>> = vec![None; occupancy.streams.len()];
    let mut last = next.clone();
    for (place, op) in ops.iter().enumerate().rev() {
        let of_stream = &mut next[op.stream as usize];
        *of_stream = match launches.call(place) {
            Some(call) => Some(of_stream.map_or(call.start, |later| later.min(call.start))),
            None => *of_stream,
        };
        keys[place] = of_stream.unwrap_or(i64::MAX);
    }
    let mut lanes = vec![Vec::new(); occupancy.lane_count(Level::Process)];
    for (place, op) in ops.iter().enumerate() {
        let of_stream = &mut last[op.stream as usize];
        let own = launches.call(place).map(|call| call.start);
        let key = match own {
            Some(start) => start,
            // After all launches of its stream, or without any.
            None if keys[place] == i64::MAX => of_stream.unwrap_or(op.start),
            None => keys[place],
        };
        *of_stream = own.max(*of_stream);
        lanes[occupancy.lane(Level::Process, op.stream) as usize].push((key, place as u32));
    }
    for lane in &mut lanes {
        // Operations of one launch keep the order of their starts.
        lane.sort_by_key(|&(key, _)| key);
    }
    lanes
}

impl Launched {
    fn new(
        ops: &[Op],
        launches: &Launches,
        keyed: &[(i64, u32)],
        waits: &[i64],
        names: impl Fn(&Op) -> (u32, i64),
    ) -> Self {
        let mut launched = Self::default();
        let (mut last_call, mut next_wait) = (NONE, 0);
        let sequence = &mut launched.sequence;
        for &(at, place) in keyed {
            let op = &ops[place as usize];
            let call = launches.place(place as usize).unwrap_or(NONE);
            launched.ops.push(place);
            // A graph launch is one launch, with the name of its first operation.
            if call != NONE && call == last_call {
                continue;
            }
            last_call = call;
            while waits.get(next_wait).is_some_and(|&wait| wait < at) {
                next_wait += 1;
                if let Some(before) = sequence.touches_host.last_mut() {
                    *before = true;
                }
            }
            let (name, kind_of_copy) = names(op);
            let is_host_copy = op.kind == OpKind::Memcpy && HOST_COPIES.contains(&kind_of_copy);
            launched.begins.push(launched.ops.len() as u32 - 1);
            sequence.names.push(name);
            sequence.starts.push(at);
            sequence.touches_host.push(is_host_copy && op.activity == Activity::Memory);
        }
        if let (true, Some(last)) = (next_wait < waits.len(), sequence.touches_host.last_mut()) {
            *last = true;
        }
        launched.begins.push(launched.ops.len() as u32);
        if sequence.names.len() < FEWEST {
            launched.sequence = Sequence::default();
        }
        launched
    }

    /// What the launches at these places did.
    fn part(&self, ops: &[Op], launches: &Launches, of: std::ops::Range<u32>) -> Part {
        let (from, to) = (self.begins[of.start as usize], self.begins[of.end as usize]);
        let places = &self.ops[from as usize..to as usize];
        let (mut gpu, mut host) = ((i64::MAX, i64::MIN), None);
        for &place in places {
            let op = &ops[place as usize];
            gpu = (gpu.0.min(op.start), gpu.1.max(op.end));
            if let Some(call) = launches.call(place as usize) {
                let (start, end) = host.unwrap_or((call.start, call.end));
                host = Some((call.start.min(start), call.end.max(end)));
            }
        }
        Part {
            kind: Kind::Block,
            lane: 0,
            repeat: 0,
            number: 0,
            count: 0,
            host,
            gpu,
            first: places[0],
            ops: places.len() as u32,
            launches: of.end - of.start,
            likeness: 0.0,
        }
    }
}
