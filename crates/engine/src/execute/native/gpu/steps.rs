//! What each process launches again and again on each GPU.

use super::answers::Answers;
use super::launch::Launches;
use crate::execute::native::ids::PROCESS;
use foldhash::{HashMap, HashMapExt};
use nsq_sweep::classify::Activity;
use nsq_sweep::occupancy::{Level, NONE, Occupancy, Op};
use nsq_sweep::projection::OpKind;
use nsq_sweep::steps::{ALIKE, Kind, Repeat, Sequence};
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// Copies from and to the host, as CUPTI numbers them.
const HOST_COPIES: [i64; 2] = [1, 2];

/// Fewer launches than this repeat by chance.
const FEWEST: usize = 4;

/// Steps of fewer launches are looked for in the busiest thread alone, too; its own must be longer by this factor.
const SHORT: u32 = 8;

/// The steps of all steady states hold at least this share of the time of kernels. What repeats beside them is no step.
const LEAST_OF_KERNELS: f64 = 0.3;

/// What repeats. Each part is computed on first use.
#[derive(Default)]
pub(super) struct Steps {
    parts: OnceLock<Vec<Part>>,
    shapes: OnceLock<Vec<(i64, u64)>>,
    sizes: OnceLock<Vec<(i64, u64)>>,
}

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
    /// Number of the steady state in its lane, in order of time.
    pub(super) state: Option<u32>,
    /// Whether it has an end of its own.
    pub(super) is_sure: bool,
    /// Time of its kernels, and place of the longest one.
    pub(super) kernel_ns: i64,
    /// Time of the kernels of its lane.
    pub(super) all_kernel_ns: i64,
    pub(super) longest: Option<u32>,
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
    /// The row and the launch shape, hashed, of each kernel, sorted by row.
    fn shapes(&self) -> &[(i64, u64)] {
        self.steps.shapes.get_or_init(|| self.read(|| self.calls.shapes(&self.limits).map(Some)))
    }

    /// The row and the bytes, hashed, of each copy, sorted by row.
    fn sizes(&self) -> &[(i64, u64)] {
        self.steps.sizes.get_or_init(|| self.read(|| self.calls.sizes(&self.limits).map(Some)))
    }

    /// The parts of all repeats, sorted by lane, repeat and number.
    pub(super) fn steps(&self) -> &[Part] {
        self.steps.parts.get_or_init(|| {
            let launches = self.launches();
            let waits = self.read(|| self.calls.waits(launches, &self.limits).map(Some));
            let waits = waits_of_processes(launches, &waits);
            let has_kernels = self.occupancy.ops.iter().any(is_kernel);
            let mut parts = Vec::new();
            for (lane, keyed) in (0u32..).zip(in_order(&self.occupancy, launches)) {
                let first = self.occupancy.first_stream(Level::Process, lane);
                let waits = waits.get(&first.global_pid).map_or(&[][..], Vec::as_slice);
                let is_host_copy =
                    |name: u32| HOST_COPIES.contains(&self.labels.values[name as usize].id);
                let ops = &self.occupancy.ops;
                // Collectives wait for other ranks: their time tells nothing of the work of a step.
                let computes = keyed.iter().any(|&(_, place)| is_compute(&ops[place as usize]));
                let is_timed = |op: &Op| if computes { is_compute(op) } else { is_kernel(op) };
                let repeats_of = |keyed: &[(i64, u32)]| {
                    let mut launched =
                        Launched::new(ops, launches, keyed, waits, (is_host_copy, is_timed));
                    let mut repeats = self.make(|stop| launched.sequence.repeats(stop));
                    // Many steps without the host may be parts of a round, such as the time steps of sequences.
                    let is_inner =
                        has_step(&repeats) && launched.sequence.runs_without_host(&repeats[0]);
                    let mut rounds = if has_step(&repeats) && !is_inner {
                        Vec::new()
                    } else {
                        self.make(|stop| launched.sequence.rounds(stop))
                    };
                    if is_inner && !rounds.is_empty() && 2 * rounds[0].len() <= repeats[0].len() {
                        repeats.iter_mut().for_each(|inner| inner.kind = Kind::Block);
                        repeats.splice(..0, rounds.drain(..));
                    }
                    if has_blocks(&repeats) {
                        // Of the names, none is once in a step. Of the launch shapes and sizes of copies, one may be.
                        launched.tell_shapes(ops, self.shapes(), self.sizes());
                        let shaped = self.make(|stop| launched.sequence.repeats(stop));
                        if has_step(&shaped) {
                            repeats = shaped;
                        }
                    }
                    if !has_step(&repeats) {
                        repeats.splice(..0, rounds);
                    }
                    (launched, repeats)
                };
                // Threads that launch side by side have steps of their own. Others hand over to each other in a step.
                let threads = Threads::of(launches, ops, &keyed);
                let own = threads.busiest(launches, &keyed);
                let (first, second) = match &own {
                    Some(own) if threads.are_side_by_side() => (own, Some(&keyed)),
                    own => (&keyed, own.as_ref()),
                };
                let (mut launched, mut repeats) = repeats_of(first);
                // A few launches in a row may repeat in each of several threads, whose own steps are longer.
                let is_short = has_step(&repeats) && repeats[0].usual_length() < SHORT;
                if (!has_step(&repeats) || is_short && !threads.are_side_by_side())
                    && let Some(second) = second
                {
                    let found = repeats_of(second);
                    let is_longer = || found.1[0].usual_length() > SHORT * repeats[0].usual_length();
                    // Without a step, blocks of all threads count.
                    if is_short && has_step(&found.1) && is_longer()
                        || !is_short && (has_step(&found.1) || threads.are_side_by_side())
                    {
                        (launched, repeats) = found;
                    }
                }
                let all_ns = kernel_ns(ops, &keyed, is_kernel);
                let timed_ns = kernel_ns(ops, &keyed, is_timed);
                if has_step(&repeats) && !launched.holds_kernels(&repeats, timed_ns, has_kernels) {
                    repeats[0].kind = Kind::Block;
                }
                let states = states(&repeats);
                for ((repeat, found), state) in (0u32..).zip(repeats).zip(states) {
                    for number in 0..found.len() {
                        let launches_of = found.cuts[number]..found.cuts[number + 1];
                        let mut part = launched.part(&self.occupancy.ops, launches, launches_of);
                        (part.kind, part.lane, part.repeat) = (found.kind, lane, repeat);
                        (part.number, part.count) = (number as u32, found.len() as u32);
                        (part.likeness, part.is_sure) = (found.likeness[number], found.is_sure);
                        (part.state, part.all_kernel_ns) = (state, all_ns);
                        parts.push(part);
                    }
                }
            }
            parts
        })
    }
}

fn is_kernel(op: &Op) -> bool {
    matches!(op.kind, OpKind::Kernel | OpKind::Graph)
}

fn is_compute(op: &Op) -> bool {
    is_kernel(op) && op.activity != Activity::Communication
}

/// The time of the kernels of a kind among some operations.
fn kernel_ns(ops: &[Op], keyed: &[(i64, u32)], is_counted: impl Fn(&Op) -> bool) -> i64 {
    let kernels = keyed.iter().map(|&(_, place)| &ops[place as usize]).filter(|op| is_counted(op));
    kernels.fold(0, |sum: i64, op| sum.saturating_add(op.end.saturating_sub(op.start)))
}

/// Of each repeat, the number of its steady state in order of time.
fn states(repeats: &[Repeat]) -> Vec<Option<u32>> {
    let is_state = |kind: Kind| matches!(kind, Kind::Step | Kind::Other);
    let number = |repeat: &Repeat| {
        let is_before = |other: &&Repeat| is_state(other.kind) && other.cuts[0] < repeat.cuts[0];
        is_state(repeat.kind).then(|| repeats.iter().filter(is_before).count() as u32)
    };
    repeats.iter().map(number).collect()
}

/// Adds an operation to the last launch.
fn add_kernel(sequence: &mut Sequence, op: &Op, is_timed: bool) {
    if let (true, Some(count), Some(ns)) =
        (is_kernel(op), sequence.kernels.last_mut(), sequence.kernel_ns.last_mut())
    {
        *count += 1;
        *ns = ns.saturating_add(if is_timed { op.end.saturating_sub(op.start) } else { 0 });
    }
}

fn has_step(repeats: &[Repeat]) -> bool {
    repeats.first().is_some_and(|repeat| repeat.kind == Kind::Step)
}

fn has_blocks(repeats: &[Repeat]) -> bool {
    repeats.first().is_some_and(|repeat| repeat.kind == Kind::Block)
}

fn thread_of(launches: &Launches, op: u32) -> Option<u32> {
    launches.call(op as usize).map(|call| call.thread)
}

/// The threads that launched in a lane.
struct Threads {
    /// Time of the kernels of each, and its launches.
    work: BTreeMap<u32, (i64, usize)>,
    /// Launches by another thread than the one before.
    changes: usize,
}

impl Threads {
    /// Of so many launches in a row, at least one is by another thread, if threads launch side by side.
    const SIDE_BY_SIDE: usize = 8;

    fn of(launches: &Launches, ops: &[Op], keyed: &[(i64, u32)]) -> Self {
        let (mut threads, mut last) = (Self { work: BTreeMap::new(), changes: 0 }, None);
        for &(_, place) in keyed {
            let Some(thread) = thread_of(launches, place) else { continue };
            let op = &ops[place as usize];
            let ns = if is_kernel(op) { op.end.saturating_sub(op.start) } else { 0 };
            let (time, count) = threads.work.entry(thread).or_default();
            (*time, *count) = (time.saturating_add(ns), *count + 1);
            threads.changes += usize::from(last.is_some_and(|last| last != thread));
            last = Some(thread);
        }
        threads
    }

    fn are_side_by_side(&self) -> bool {
        self.changes * Self::SIDE_BY_SIDE > self.work.values().map(|(_, count)| count).sum()
    }

    /// What the thread with the most time of kernels launched, if others launched too.
    fn busiest(&self, launches: &Launches, keyed: &[(i64, u32)]) -> Option<Vec<(i64, u32)>> {
        let most = |&(thread, work): &(&u32, &(i64, usize))| (*work, std::cmp::Reverse(*thread));
        let (&busiest, _) = self.work.iter().max_by_key(most).filter(|_| self.work.len() > 1)?;
        let is_own = |&&(_, place): &&(i64, u32)| thread_of(launches, place) == Some(busiest);
        Some(keyed.iter().filter(is_own).copied().collect())
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
        (is_host_copy, is_timed): (impl Fn(u32) -> bool, impl Fn(&Op) -> bool),
    ) -> Self {
        let mut launched = Self::default();
        let (mut last_call, mut last_thread, mut next_wait) = (NONE, NONE, 0);
        let sequence = &mut launched.sequence;
        for &(at, place) in keyed {
            let op = &ops[place as usize];
            let call = launches.place(place as usize).unwrap_or(NONE);
            launched.ops.push(place);
            // A graph launch is one launch, with a name for all graphs that begin with the same operation.
            if call != NONE && call == last_call {
                add_kernel(sequence, op, is_timed(op));
                continue;
            }
            last_call = call;
            while waits.get(next_wait).is_some_and(|&wait| wait < at) {
                next_wait += 1;
                if let Some(before) = sequence.touches_host.last_mut() {
                    *before = true;
                }
            }
            let thread = launches.call(place as usize).map_or(NONE, |call| call.thread);
            let is_other_thread = thread != last_thread && !sequence.names.is_empty();
            last_thread = thread;
            launched.begins.push(launched.ops.len() as u32 - 1);
            sequence.names.push(op.name);
            sequence.starts.push(at);
            let copies = op.kind == OpKind::Memcpy && is_host_copy(op.name);
            sequence.touches_host.push(copies || op.kind == OpKind::Graph || is_other_thread);
            sequence.kernels.push(0);
            sequence.kernel_ns.push(0);
            add_kernel(sequence, op, is_timed(op));
        }
        if let (true, Some(last)) = (next_wait < waits.len(), sequence.touches_host.last_mut()) {
            *last = true;
        }
        // A graph is not the kernel that it begins with, which the program may launch by itself, too.
        let named = sequence.names.iter().max().map_or(0, |&most| most + 1);
        for (name, &kernels) in sequence.names.iter_mut().zip(&sequence.kernels) {
            *name += if kernels > 1 { named } else { 0 };
        }
        launched.begins.push(launched.ops.len() as u32);
        if sequence.names.len() < FEWEST {
            launched.sequence = Sequence::default();
        }
        launched
    }

    /// Tells kernels of one name apart by their launch shapes, and copies by their bytes.
    fn tell_shapes(&mut self, ops: &[Op], shapes: &[(i64, u64)], sizes: &[(i64, u64)]) {
        let mut numbers: HashMap<(u32, u64), u32> = HashMap::new();
        for (name, &begin) in self.sequence.names.iter_mut().zip(&self.begins) {
            let op = &ops[self.ops[begin as usize] as usize];
            let of: &[(i64, u64)] = match op.kind {
                OpKind::Kernel => shapes,
                OpKind::Memcpy => sizes,
                _ => &[],
            };
            let shape = of.binary_search_by_key(&op.id, |&(id, _)| id).map_or(0, |at| of[at].1);
            let next = numbers.len() as u32;
            *name = *numbers.entry((*name, shape)).or_insert(next);
        }
    }

    /// Whether the kernels of all steady states take enough of the time of all kernels of the lane.
    fn holds_kernels(&self, repeats: &[Repeat], all_ns: i64, has_kernels: bool) -> bool {
        let states = repeats.iter().filter(|repeat| matches!(repeat.kind, Kind::Step | Kind::Other));
        let parts = states.flat_map(|state| state.cuts.windows(2).zip(&state.likeness));
        // A part that is unlike the others is something else.
        let alike = parts.filter(|(_, like)| **like >= ALIKE);
        let inside: f64 = alike.map(|(pair, _)| self.kernel_ns(pair[0]..pair[1])).sum();
        // Copies alone are a step of a report that has nothing else.
        inside >= LEAST_OF_KERNELS * all_ns as f64 && (all_ns > 0 || !has_kernels)
    }

    fn kernel_ns(&self, launches: std::ops::Range<u32>) -> f64 {
        let of = &self.sequence.kernel_ns[launches.start as usize..launches.end as usize];
        of.iter().map(|&ns| ns as f64).sum()
    }

    /// What the launches at these places did.
    fn part(&self, ops: &[Op], launches: &Launches, of: std::ops::Range<u32>) -> Part {
        let (from, to) = (self.begins[of.start as usize], self.begins[of.end as usize]);
        let places = &self.ops[from as usize..to as usize];
        let (mut gpu, mut host) = ((i64::MAX, i64::MIN), None);
        let (mut kernel_ns, mut longest): (i64, Option<(i64, std::cmp::Reverse<u32>)>) = (0, None);
        for &place in places {
            let op = &ops[place as usize];
            if is_kernel(op) {
                let ns = op.end.saturating_sub(op.start);
                kernel_ns = kernel_ns.saturating_add(ns);
                longest = longest.max(Some((ns, std::cmp::Reverse(place))));
            }
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
            state: None,
            is_sure: false,
            kernel_ns,
            all_kernel_ns: 0,
            longest: longest.map(|(_, place)| place.0),
        }
    }
}
