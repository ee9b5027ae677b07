//! Runs a program: what a machine would do, without a graph of edges. It shares no code with the replay.
//!
//! Threads and streams go on until none can. Times come from what they have waited for.

use super::super::{Capture, DeviceOp, HostCall};
use super::program::{Do, Machine, Program, Random, STREAMS};
use crate::occupancy::NONE;
use std::collections::{BTreeMap, HashMap, VecDeque};

/// What a run did.
#[derive(Debug, Default)]
pub(super) struct Run {
    pub(super) capture: Capture,
    /// For each operation: the kernel's name; `COPY` or `COLLECTIVE`.
    pub(super) names: Vec<usize>,
    pub(super) rank_of_stream: Vec<u32>,
    pub(super) rank_of_thread: Vec<u32>,
    /// For each call, how much of the code before it is the loader.
    pub(super) loader: Vec<i64>,
    /// Mean time from the end of one step to the end of the next.
    pub(super) step: f64,
    /// Ends of the last operation of each step, for rank 0.
    pub(super) step_ends: Vec<i64>,
}

pub(super) const COPY: usize = 100;
pub(super) const COLLECTIVE: usize = 101;

const WAITS: u32 = 10;

struct Queued {
    name: usize,
    dur: i64,
    ready: i64,
    /// Events that it waits for, as operations, once the earlier ones of its stream are done.
    after: Vec<(usize, usize)>,
    call: usize,
    in_graph: bool,
    number: usize,
}

/// An operation that has started.
#[derive(Clone, Copy)]
struct Done {
    start: i64,
    /// `None` until all members of a collective have started.
    end: Option<i64>,
    name: usize,
    call: usize,
    number: usize,
    after: Option<(usize, usize)>,
}

#[derive(Default)]
struct Stream {
    queue: VecDeque<Queued>,
    done: Vec<Done>,
    /// Events that the next operation waits for.
    next_after: Vec<(usize, usize)>,
}

impl Stream {
    fn launched(&self) -> usize {
        self.done.len() + self.queue.len()
    }

    /// When everything launched so far has ended, if that is known.
    fn end_of(&self, count: usize) -> Option<i64> {
        match count {
            0 => Some(0),
            count => self.done.get(count - 1)?.end,
        }
    }
}

struct Thread<'a> {
    program: &'a [Do],
    at: usize,
    time: i64,
    rank: usize,
    /// Loader code since the last call.
    loader: i64,
    calls: Vec<(i64, i64, u32, i64)>,
    waits: Vec<(usize, usize, usize)>,
    woken: Option<(usize, usize)>,
    wakes: Vec<(usize, usize, usize)>,
    /// A call that has been begun and blocks: its start.
    begun: Option<i64>,
}

pub(super) fn run(program: &Program, noise: &mut Random) -> Run {
    let machine = &program.machine;
    let mut threads: Vec<Thread<'_>> = Vec::new();
    for (rank, of_rank) in program.ranks.iter().enumerate() {
        for steps in of_rank {
            threads.push(Thread {
                program: steps,
                at: 0,
                time: noise.within(0, 50_000),
                rank,
                loader: 0,
                calls: Vec::new(),
                waits: Vec::new(),
                woken: None,
                wakes: Vec::new(),
                begun: None,
            });
        }
    }
    let count = program.ranks.len();
    let mut streams: Vec<Stream> = (0..count * STREAMS).map(|_| Stream::default()).collect();
    let mut events: HashMap<(usize, usize), (usize, usize)> = HashMap::new();
    let mut signals: HashMap<(usize, usize), (i64, usize, usize)> = HashMap::new();
    loop {
        let mut moved = false;
        for thread in 0..threads.len() {
            while step(thread, &mut threads, &mut streams, &mut events, &mut signals, machine, noise) {
                moved = true;
            }
        }
        for stream in 0..streams.len() {
            while start(stream, &mut streams, machine, noise) {
                moved = true;
            }
        }
        moved |= finish(&mut streams, count);
        if !moved {
            break;
        }
    }
    assert!(threads.iter().all(|thread| thread.at == thread.program.len()), "a thread is stuck");
    recorded(program, &threads, &streams)
}

/// About this much; seldom, much more.
fn about(value: i64, noise: &mut Random) -> i64 {
    let share = if noise.one_in(100) { noise.within(200, 1_000) } else { noise.within(90, 112) };
    value * share / 100
}

/// Does the next thing of a thread, if it can.
fn step(
    index: usize,
    threads: &mut [Thread<'_>],
    streams: &mut [Stream],
    events: &mut HashMap<(usize, usize), (usize, usize)>,
    signals: &mut HashMap<(usize, usize), (i64, usize, usize)>,
    machine: &Machine,
    noise: &mut Random,
) -> bool {
    let thread = &mut threads[index];
    let Some(next) = thread.program.get(thread.at) else { return false };
    let base = thread.rank * STREAMS;
    let number = thread.calls.len();
    match next {
        Do::Code(dur, is_loader) => {
            thread.time += dur;
            thread.loader += if *is_loader { *dur } else { 0 };
        }
        Do::Signal(signal) => {
            let last = thread.calls.len().saturating_sub(1);
            signals.insert((thread.rank, *signal), (thread.time, index, last));
        }
        Do::Await(signal) => {
            let Some(&(time, other, call)) = signals.get(&(thread.rank, *signal)) else { return false };
            // The thread wakes up a little later.
            thread.time = thread.time.max(time + 3_000);
            thread.woken = Some((other, call));
        }
        Do::Kernel { stream, .. }
        | Do::Graph { stream, .. }
        | Do::Copy { stream, .. }
        | Do::Collective { stream, .. } => {
            let stream = base + stream;
            let begun = *thread.begun.get_or_insert(thread.time);
            let launched = streams[stream].launched();
            // Launched before: this call is blocked until it is done.
            if let Do::Copy { blocks: true, .. } = next
                && thread.waits.last().is_some_and(|&(call, ..)| call == number)
            {
                let Some(end) = streams[stream].end_of(thread.waits.last().unwrap().2) else {
                    return false;
                };
                let end = end + about(machine.returning, noise);
                finish_call(thread, begun, end, WAITS + 1);
                thread.at += 1;
                return true;
            }
            let cost =
                if matches!(next, Do::Graph { .. }) { machine.graph_call } else { machine.launch_call };
            let mut returns = begun + about(cost, noise);
            if launched >= machine.queue {
                let Some(other) = streams[stream].done.get(launched - machine.queue) else {
                    return false;
                };
                returns = returns.max(other.start + about(300, noise));
            }
            let ready = returns + about(machine.latency, noise) - cost / 4;
            let after = std::mem::take(&mut streams[stream].next_after);
            let call = thread.calls.len() | index << 32;
            let one = |name, dur, number| Queued {
                name,
                dur,
                ready,
                after: Vec::new(),
                call,
                in_graph: false,
                number,
            };
            let mut queued = match next {
                Do::Kernel { name, dur, .. } => vec![one(*name, *dur, 0)],
                Do::Graph { kernels, .. } => {
                    kernels.iter().map(|&(name, dur)| one(name, dur, 0)).collect()
                }
                Do::Copy { dur, .. } => vec![one(COPY, *dur, 0)],
                Do::Collective { number, dur, .. } => vec![one(COLLECTIVE, *dur, *number)],
                _ => unreachable!(),
            };
            queued[0].after = after;
            queued.iter_mut().skip(1).for_each(|of| of.in_graph = true);
            streams[stream].queue.extend(queued);
            if let Do::Copy { blocks: true, .. } = next {
                thread.waits.push((number, stream, launched + 1));
                return true;
            }
            let function = if matches!(next, Do::Graph { .. }) { 1 } else { 0 };
            finish_call(thread, begun, returns, function);
        }
        Do::Record { stream, event } => {
            events.insert((thread.rank, *event), (base + stream, streams[base + stream].launched()));
            let end = thread.time + about(machine.other_call, noise);
            finish_call(thread, thread.time, end, 2);
        }
        Do::StreamWait { stream, event } => {
            if let Some(&(of, count)) = events.get(&(thread.rank, *event))
                && count > 0
            {
                streams[base + stream].next_after.push((of, count - 1));
            }
            let end = thread.time + about(machine.other_call, noise);
            finish_call(thread, thread.time, end, 3);
        }
        Do::StreamSync(_) | Do::DeviceSync | Do::EventSync(_) => {
            let begun = *thread.begun.get_or_insert(thread.time);
            let awaited: Vec<(usize, usize)> = match next {
                Do::StreamSync(stream) => vec![(base + stream, streams[base + stream].launched())],
                Do::EventSync(event) => {
                    events.get(&(thread.rank, *event)).copied().into_iter().collect()
                }
                _ => (base..base + STREAMS).map(|stream| (stream, streams[stream].launched())).collect(),
            };
            let mut end = begun + about(machine.other_call, noise);
            for &(stream, count) in &awaited {
                let Some(done) = streams[stream].end_of(count) else { return false };
                if done > begun {
                    end = end.max(done + about(machine.returning, noise));
                }
            }
            let awaited = awaited.into_iter().filter(|&(_, count)| count > 0);
            thread.waits.extend(awaited.map(|(stream, count)| (number, stream, count)));
            finish_call(thread, begun, end, WAITS);
        }
    }
    threads[index].at += 1;
    true
}

fn finish_call(thread: &mut Thread<'_>, start: i64, end: i64, function: u32) {
    if let Some((other, call)) = thread.woken.take() {
        thread.wakes.push((thread.calls.len(), other, call));
    }
    thread.calls.push((start, end, function, std::mem::take(&mut thread.loader)));
    (thread.time, thread.begun) = (end, None);
}

/// From one kernel of a graph to the next.
const GRAPH_GAP: i64 = 300;

/// Starts the next operation of a stream, if it can.
fn start(index: usize, streams: &mut [Stream], machine: &Machine, noise: &mut Random) -> bool {
    let Some(next) = streams[index].queue.front() else { return false };
    let mut at = next.ready;
    let mut binding = None;
    if let Some(before) = streams[index].done.last() {
        let Some(end) = before.end else { return false };
        at = at.max(end + about(if next.in_graph { GRAPH_GAP } else { machine.gap }, noise));
    }
    for &(stream, place) in &next.after {
        let Some(end) = streams[stream].done.get(place).and_then(|done| done.end) else { return false };
        at = at.max(end + about(machine.event, noise));
        binding = Some((stream, place));
    }
    let Some(Queued { name, dur, call, number, .. }) = streams[index].queue.pop_front() else {
        return false;
    };
    let end = (name != COLLECTIVE).then_some(at + dur);
    // A collective keeps its transfer in its number until all have started.
    let number = if name == COLLECTIVE { number << 40 | dur as usize } else { number };
    streams[index].done.push(Done { start: at, end, name, call, number, after: binding });
    true
}

/// Ends the collectives that have started on all ranks.
fn finish(streams: &mut [Stream], ranks: usize) -> bool {
    let mut open: BTreeMap<usize, Vec<(usize, usize)>> = BTreeMap::new();
    for (stream, of) in streams.iter().enumerate() {
        // Only the last one of a stream can be open.
        let place = of.done.len().wrapping_sub(1);
        if let Some(done) = of.done.last().filter(|done| done.end.is_none()) {
            open.entry(done.number >> 40).or_default().push((stream, place));
        }
    }
    let mut moved = false;
    for members in open.into_values().filter(|members| members.len() == ranks) {
        let done = |&(stream, place): &(usize, usize)| streams[stream].done[place];
        let dur = (done(&members[0]).number & ((1 << 40) - 1)) as i64;
        let end = members.iter().map(|member| done(member).start).max().unwrap() + dur;
        for (nth, &(stream, place)) in members.iter().enumerate() {
            streams[stream].done[place].end = Some(end + 100 * nth as i64);
        }
        moved = true;
    }
    moved
}

/// The capture of a run.
fn recorded(program: &Program, threads: &[Thread<'_>], streams: &[Stream]) -> Run {
    let mut run = Run::default();
    let mut first_call = Vec::new();
    for (number, thread) in threads.iter().enumerate() {
        first_call.push(run.capture.calls.len());
        run.rank_of_thread.push(thread.rank as u32);
        for &(start, end, function, loader) in &thread.calls {
            run.capture.calls.push(HostCall { start, end, thread: number as u32, function });
            run.loader.push(loader);
        }
    }
    let mut ops: Vec<(i64, usize, usize)> = Vec::new();
    for (stream, of) in streams.iter().enumerate() {
        run.rank_of_stream.push((stream / STREAMS) as u32);
        run.capture.gpu_of_stream.push((stream / STREAMS) as u32);
        ops.extend(of.done.iter().enumerate().map(|(place, done)| (done.start, stream, place)));
    }
    ops.sort_unstable();
    let places: HashMap<(usize, usize), u32> =
        (0u32..).zip(&ops).map(|(op, &(_, stream, place))| ((stream, place), op)).collect();
    let mut groups: BTreeMap<usize, Vec<u32>> = BTreeMap::new();
    for (op, &(start, stream, place)) in (0u32..).zip(&ops) {
        let done = streams[stream].done[place];
        let launch = (first_call[done.call >> 32] + (done.call & 0xFFFF_FFFF)) as u32;
        let end = done.end.expect("all operations end");
        let family = match done.name {
            COPY => 1,
            COLLECTIVE => 2,
            _ => 0,
        };
        run.capture.ops.push(DeviceOp { start, end, stream: stream as u32, family, launch });
        run.names.push(done.name);
        run.capture.events.extend(done.after.map(|after| (op, places[&after])));
        if done.name == COLLECTIVE {
            groups.entry(done.number >> 40).or_default().push(op);
        }
    }
    run.capture.groups = groups.into_values().collect();
    for (number, thread) in threads.iter().enumerate() {
        for &(call, stream, count) in &thread.waits {
            let call = (first_call[number] + call) as u32;
            run.capture.waits.push((call, places[&(stream, count - 1)]));
        }
        for &(call, other, waker) in &thread.wakes {
            let of = |thread: usize, call| (first_call[thread] + call) as u32;
            run.capture.wakes.push((of(number, call), of(other, waker)));
        }
    }
    debug_assert!(run.capture.ops.iter().all(|op| op.launch != NONE));
    // The last kernel of each step on rank 0 has half the duration of the first name: it is every n-th on the stream.
    let of_rank: Vec<&Done> = streams[0].done.iter().filter(|done| done.name < COPY).collect();
    let per_step = of_rank.len() / program.steps;
    run.step_ends = of_rank.chunks(per_step).filter_map(|step| step.last()?.end).collect();
    let (first, last) = (run.step_ends[0], run.step_ends[run.step_ends.len() - 1]);
    run.step = (last - first) as f64 / (run.step_ends.len() - 1) as f64;
    run
}
