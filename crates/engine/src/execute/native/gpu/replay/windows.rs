//! How long windows of a GPU take after edits.

use super::{Edited, model};
use crate::execute::native::gpu::answers::Answers;
use crate::execute::native::gpu::columns::Column;
use foldhash::HashMap;
use nsq_sweep::classify::Activity;
use nsq_sweep::interval::length_of_lists;
use nsq_sweep::occupancy::Level;
use nsq_sweep::replay::{AsRecorded, Change, Times};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// The windows that were asked for.
#[derive(Default)]
pub(super) struct Windows {
    asked: Mutex<Asked>,
    lanes: OnceLock<Vec<Lane>>,
}

/// Windows after edits. A window mostly has few texts of edits, which can be long.
#[derive(Default)]
struct Asked {
    windows: Vec<Arc<Window>>,
    /// Their places, by GPU and bounds.
    places: HashMap<(u32, (i64, i64)), Vec<usize>>,
}

impl Asked {
    fn place(&self, edits: &str, gpu: u32, bounds: (i64, i64)) -> Option<usize> {
        let places = self.places.get(&(gpu, bounds))?;
        places.iter().copied().find(|&place| *self.windows[place].edits == *edits)
    }

    fn add(&mut self, window: Window) -> usize {
        let place = self.windows.len();
        self.places.entry((window.gpu, window.bounds)).or_default().push(place);
        self.windows.push(Arc::new(window));
        place
    }
}

/// The operations of a GPU.
struct Lane {
    /// By start.
    ops: Vec<u32>,
    /// What each of these does.
    activities: Vec<Activity>,
    /// By end.
    ended: Vec<u32>,
    longest: i64,
}

/// A window of a GPU, in times of the capture, and after edits.
pub(in crate::execute::native::gpu) struct Window {
    edits: Arc<str>,
    gpu: u32,
    bounds: (i64, i64),
    new_dur: i64,
    work: Work,
}

/// What a GPU does in a window after edits.
struct Work {
    /// The time of what takes longest of all that runs one after the other: the operations of a stream, what a thread does
    /// to launch them, or what took turns on the GPU. No step can be shorter for long, whatever runs ahead at first; and
    /// kernels of several streams that took turns may have had to.
    busiest: i64,
    /// The time in which anything runs, if what ran one after the other still does.
    busy: i64,
    /// The time of all copies of one direction between host and GPU, whose streams share an engine.
    copying: i64,
}

/// The families of copies that share an engine: from the host, and to the host.
const ENGINES: [u8; 2] = [model::copies(1), model::copies(2)];

/// The time of operations that ran one after the other.
#[derive(Debug, Clone, Copy)]
struct Turns {
    recorded: i64,
    /// After edits.
    sum: f64,
    /// The latest end so far, as recorded.
    reached: i64,
}

impl Turns {
    fn new(from: i64) -> Self {
        Self { recorded: 0, sum: 0.0, reached: from }
    }

    /// Adds an operation that takes this share of its time: what it ran after those before had ended.
    #[inline]
    fn add(&mut self, (start, end): (i64, i64), share: f64) {
        let alone = (end - start.max(self.reached)).max(0);
        self.add_alone(end, alone, alone as f64 * share);
    }

    /// Adds an operation of which this much ran after those before had ended, and what that takes after edits.
    #[inline]
    fn add_alone(&mut self, end: i64, recorded: i64, after: f64) {
        self.recorded += recorded;
        self.sum += after;
        self.reached = self.reached.max(end);
    }
}

/// The part of their time in which communication and copies run beside other work if they can.
const BESIDE: f64 = 0.02;

/// The operations of a GPU, by kind of activity.
struct Kinds {
    /// For each set of kinds: bit 0 for compute, bit 1 for communication, bit 2 for memory.
    turns: [Turns; 8],
}

impl Kinds {
    fn new(from: i64) -> Self {
        Self { turns: [Turns::new(from); 8] }
    }

    #[inline]
    fn add(&mut self, activity: Activity, bounds: (i64, i64), share: f64) {
        // Communication with copies alone is not asked for.
        let sets: &[usize] = match activity {
            Activity::Compute => &[1, 3, 5, 7],
            Activity::Communication => &[2, 3, 7],
            Activity::Memory => &[4, 5, 7],
        };
        let (start, end) = bounds;
        if start < self.turns[7].reached {
            return sets.iter().for_each(|&set| self.turns[set].add(bounds, share));
        }
        // Most begin when all before have ended, of any set.
        let after = (end - start) as f64 * share;
        sets.iter().for_each(|&set| self.turns[set].add_alone(end, end - start, after));
    }

    /// The time of what ran in turns: compute, which may need the whole GPU, and communication or copies that hardly ran
    /// beside other work, because they depend on it.
    fn in_turn(&self) -> f64 {
        let recorded = |set: usize| self.turns[set].recorded;
        let takes_turns = |kind: usize| {
            let beside = recorded(7 - kind) + recorded(kind) - recorded(7);
            (beside as f64) < BESIDE * recorded(kind) as f64
        };
        let set = [2, 4].into_iter().filter(|&kind| takes_turns(kind)).fold(1, |set, kind| set | kind);
        self.turns[set].sum
    }
}

impl Answers {
    fn lanes_of_ops(&self) -> &[Lane] {
        self.replays.windows.lanes.get_or_init(|| {
            let lane =
                |_| Lane { ops: Vec::new(), activities: Vec::new(), ended: Vec::new(), longest: 0 };
            let mut lanes: Vec<Lane> = (0..self.occupancy.lane_count(Level::Gpu)).map(lane).collect();
            for (place, op) in (0u32..).zip(&self.occupancy.ops) {
                let lane = &mut lanes[self.occupancy.lane(Level::Gpu, op.stream) as usize];
                lane.ops.push(place);
                lane.activities.push(op.activity);
                lane.longest = lane.longest.max(op.end - op.start);
            }
            for lane in &mut lanes {
                lane.ended = lane.ops.clone();
                lane.ended.sort_by_key(|&op| self.occupancy.ops[op as usize].end);
            }
            lanes
        })
    }

    /// The operations of each GPU, by start and by end.
    pub(super) fn ops_of_gpus(&self) -> impl Iterator<Item = (&[u32], &[u32])> {
        self.lanes_of_ops().iter().map(|lane| (lane.ops.as_slice(), lane.ended.as_slice()))
    }

    /// What runs on a GPU in a window, after edits.
    fn work(&self, edited: &Edited, gpu: u32, window: (i64, i64)) -> Work {
        match &edited.edits {
            Some(edits) => self.work_after(edits, &edited.times, gpu, window),
            None => self.work_after(&AsRecorded, &edited.times, gpu, window),
        }
    }

    fn work_after<C: Change>(
        &self,
        change: &C,
        new_times: &Times,
        gpu: u32,
        (from, to): (i64, i64),
    ) -> Work {
        let (lane, graph) = (&self.lanes_of_ops()[gpu as usize], &self.model().graph);
        let ops = &self.occupancy.ops;
        let first = lane.ops.partition_point(|&op| ops[op as usize].start < from - lane.longest);
        let last = lane.ops.partition_point(|&op| ops[op as usize].start < to);
        // What runs one after the other: what took turns, a stream, copies of one direction, or what an edit lets run beside all
        // others, by kind.
        let mut all = Kinds::new(from);
        let mut streams = vec![Turns::new(from); self.occupancy.streams.len()];
        let mut kinds = [0.0; u8::MAX as usize + 1];
        let mut engines = [Turns::new(from); ENGINES.len()];
        // By stream: each has its operations in order.
        let mut counts = vec![0usize; self.occupancy.streams.len()];
        let of_window = lane.ops.get(first..last).unwrap_or_default();
        of_window.iter().for_each(|&op| counts[graph.stream(op) as usize] += 1);
        let mut times: Vec<Vec<(i64, i64)>> = counts.into_iter().map(Vec::with_capacity).collect();
        // The first and the last launch of each thread. An operation mostly comes from the thread of the one before.
        let mut launches: Vec<Option<(u32, u32)>> = vec![None; graph.thread_count()];
        let (mut thread, mut calls) = (0, 0..0);
        for (&op, &activity) in of_window.iter().zip(&lane.activities[first..]) {
            let (start, end) = graph.op(op);
            let inside = end.min(to) - start.max(from);
            if inside <= 0 || change.removes(op) {
                continue;
            }
            let (new_start, new_end) =
                (new_times.op_starts[op as usize], new_times.op_ends[op as usize]);
            times[graph.stream(op) as usize].push((new_start, new_end));
            if let Some(call) = graph.launch(op) {
                if !calls.contains(&call) {
                    thread = graph.thread(call);
                    calls = graph.calls_of(thread);
                }
                let (first, last) = launches[thread].unwrap_or((call, call));
                launches[thread] = Some((first.min(call), last.max(call)));
            }
            let share = (new_end - new_start) as f64 / (end - start) as f64;
            match change.beside(op) {
                Some(_) => kinds[usize::from(graph.family(op))] += inside as f64 * share,
                None => {
                    all.add(activity, (start, end.min(to)), share);
                    streams[graph.stream(op) as usize].add((start, end.min(to)), share);
                    if let Some(engine) = ENGINES.iter().position(|&family| family == graph.family(op)) {
                        engines[engine].add((start, end.min(to)), share);
                    }
                }
            }
        }
        let busy = length_of_lists(times).max(all.in_turn() as i64);
        // The first launch may have been before the window.
        let host = |(first, last)| graph.host_time(last, graph.call(first).1, change);
        let streams = streams.into_iter().map(|of| of.sum);
        let copies = |(of, family): (Turns, u8)| of.sum + kinds[usize::from(family)];
        let copying = engines.into_iter().zip(ENGINES).map(copies).fold(0.0, f64::max);
        let busiest = streams.chain(kinds).fold(all.in_turn().max(copying), f64::max) as i64;
        // A host that was late is no reason that a fix makes it later.
        let hosts = launches.into_iter().flatten().map(|launched| host(launched).min(to - from));
        Work { busiest: hosts.fold(busiest, i64::max), busy, copying: copying as i64 }
    }

    /// The place of a window of a GPU, with these edits.
    pub(in crate::execute::native::gpu) fn find_window(
        &self,
        edits: &str,
        gpu_id: i64,
        bounds: (i64, i64),
    ) -> Range<usize> {
        let Some(gpu) = self.gpu_lane(gpu_id) else { return 0..0 };
        if let Some(place) = self.asked_windows().place(edits, gpu, bounds) {
            return place..place + 1;
        }
        let edited = self.edited(edits);
        // A replay that was stopped, or whose edits are refused, has no times.
        if edited.ends.is_empty() {
            return 0..0;
        }
        let ends = |time: i64| self.ended_at(&edited, gpu, time).map(|(end, _)| end);
        let new_dur = ends(bounds.1).zip(ends(bounds.0)).map_or(0, |(to, from)| (to - from).max(0));
        let work = self.work(&edited, gpu, bounds);
        let window = Window { edits: Arc::clone(&edited.text), gpu, bounds, new_dur, work };
        let place = self.asked_windows().add(window);
        place..place + 1
    }

    fn asked_windows(&self) -> MutexGuard<'_, Asked> {
        self.replays.windows.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn window(&self, index: usize) -> Arc<Window> {
        Arc::clone(&self.asked_windows().windows[index])
    }
}

pub(in crate::execute::native::gpu) const WINDOWS: &[Column] = &[
    ("edits", |a, i, _| {
        crate::execute::native::relation::Cell::Text(a.window(i).edits.to_string().into())
    }),
    ("gpu_id", |a, i, _| a.occupancy.first_stream(Level::Gpu, a.window(i).gpu).gpu_id.into()),
    ("start_ns", |a, i, _| a.window(i).bounds.0.into()),
    ("end_ns", |a, i, _| a.window(i).bounds.1.into()),
    ("new_dur_ns", |a, i, _| a.window(i).new_dur.into()),
    ("busiest_ns", |a, i, _| a.window(i).work.busiest.into()),
    ("busy_ns", |a, i, _| a.window(i).work.busy.into()),
    ("copying_ns", |a, i, _| a.window(i).work.copying.into()),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_took_turns_does_so_after_edits() {
        let in_turn = |ops: &[(Activity, (i64, i64))]| {
            let mut kinds = Kinds::new(0);
            ops.iter().for_each(|&(activity, bounds)| kinds.add(activity, bounds, 0.5));
            kinds.in_turn()
        };
        let (compute, collective) = (Activity::Compute, Activity::Communication);
        // Kernels of two streams overlap for 10 ns.
        assert_eq!(in_turn(&[(compute, (0, 100)), (compute, (90, 190))]), 95.0);
        // A collective that runs between kernels depends on them, and one that runs during kernels does not.
        let between = [(compute, (0, 100)), (collective, (100, 200)), (compute, (200, 300))];
        assert_eq!(in_turn(&between), 150.0);
        let during = [(compute, (0, 100)), (collective, (50, 200)), (compute, (200, 300))];
        assert_eq!(in_turn(&during), 100.0);
        assert_eq!(in_turn(&[]), 0.0);
    }
}
