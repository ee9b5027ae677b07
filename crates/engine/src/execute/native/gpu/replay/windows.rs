//! How long windows of a GPU take after edits.

use super::Edited;
use crate::execute::native::gpu::answers::Answers;
use crate::execute::native::gpu::columns::Column;
use nsq_sweep::interval::TimeSet;
use nsq_sweep::occupancy::Level;
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The windows that were asked for.
#[derive(Default)]
pub(super) struct Windows {
    asked: Mutex<Vec<Arc<Window>>>,
    lanes: OnceLock<Vec<Lane>>,
}

/// The operations of a GPU.
struct Lane {
    /// By start.
    ops: Vec<u32>,
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
    /// The time of what takes longest of all that runs one after the other: the operations of a stream, or what a thread
    /// does to launch them. No step can be shorter for long, whatever runs ahead at first.
    busiest: i64,
    /// The time in which anything runs.
    busy: i64,
}

impl Answers {
    fn lanes_of_ops(&self) -> &[Lane] {
        self.replays.windows.lanes.get_or_init(|| {
            let lane = |_| Lane { ops: Vec::new(), ended: Vec::new(), longest: 0 };
            let mut lanes: Vec<Lane> = (0..self.occupancy.lane_count(Level::Gpu)).map(lane).collect();
            for (place, op) in (0u32..).zip(&self.occupancy.ops) {
                let lane = &mut lanes[self.occupancy.lane(Level::Gpu, op.stream) as usize];
                lane.ops.push(place);
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
    fn work(&self, edited: &Edited, gpu: u32, (from, to): (i64, i64)) -> Work {
        let (lane, change, graph) =
            (&self.lanes_of_ops()[gpu as usize], edited.change(), &self.model().graph);
        let ops = &self.occupancy.ops;
        let first = lane.ops.partition_point(|&op| ops[op as usize].start < from - lane.longest);
        let last = lane.ops.partition_point(|&op| ops[op as usize].start < to);
        // What runs one after the other: a stream, or what an edit lets run beside all others, by kind.
        let mut streams = vec![0.0; self.occupancy.streams.len()];
        let mut kinds = [0.0; u8::MAX as usize + 1];
        // By stream: each has its operations in order, so that sorting all merges a few lists.
        let mut times = vec![Vec::new(); self.occupancy.streams.len()];
        // The first and the last launch of each thread. An operation mostly comes from the thread of the one before.
        let mut launches: Vec<Option<(u32, u32)>> = vec![None; graph.thread_count()];
        let (mut thread, mut calls) = (0, 0..0);
        for &op in lane.ops.get(first..last).unwrap_or_default() {
            let (start, end) = graph.op(op);
            let inside = end.min(to) - start.max(from);
            if inside <= 0 || change.removes(op) {
                continue;
            }
            let (new_start, new_end) =
                (edited.times.op_starts[op as usize], edited.times.op_ends[op as usize]);
            times[graph.stream(op) as usize].push((new_start, new_end));
            if let Some(call) = graph.launch(op) {
                if !calls.contains(&call) {
                    thread = graph.thread(call);
                    calls = graph.calls_of(thread);
                }
                let (first, last) = launches[thread].unwrap_or((call, call));
                launches[thread] = Some((first.min(call), last.max(call)));
            }
            let sum: &mut f64 = match change.beside(op) {
                Some(_) => &mut kinds[usize::from(graph.family(op))],
                None => &mut streams[graph.stream(op) as usize],
            };
            *sum += inside as f64 * (new_end - new_start) as f64 / (end - start) as f64;
        }
        let mut times: Vec<(i64, i64)> = times.into_iter().flatten().collect();
        times.sort();
        let busy = i64::try_from(TimeSet::union_of_sorted(times).length()).unwrap_or(i64::MAX);
        // The first launch may have been before the window.
        let host = |(first, last)| graph.host_time(last, graph.call(first).1, change);
        let busiest = streams.into_iter().chain(kinds).fold(0.0, f64::max) as i64;
        // A host that was late is no reason that a fix makes it later.
        let hosts = launches.into_iter().flatten().map(|launched| host(launched).min(to - from));
        Work { busiest: hosts.fold(busiest, i64::max), busy }
    }

    /// The place of a window of a GPU, with these edits.
    pub(in crate::execute::native::gpu) fn find_window(
        &self,
        edits: &str,
        gpu_id: i64,
        bounds: (i64, i64),
    ) -> Range<usize> {
        let Some(gpu) = self.gpu_lane(gpu_id) else { return 0..0 };
        let edited = self.edited(edits);
        // A replay that was stopped, or whose edits are refused, has no times.
        let Some(ends) = edited.ends.get(gpu as usize) else { return 0..0 };
        let ends = |time: i64| ends.at(time).map(|(end, _)| end);
        let new_dur = ends(bounds.1).zip(ends(bounds.0)).map_or(0, |(to, from)| (to - from).max(0));
        let work = self.work(&edited, gpu, bounds);
        let window = Arc::new(Window { edits: Arc::clone(&edited.text), gpu, bounds, new_dur, work });
        let mut asked = self.replays.windows.asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.push(window);
        asked.len() - 1..asked.len()
    }

    fn window(&self, index: usize) -> Arc<Window> {
        let asked = self.replays.windows.asked.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&asked[index])
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
];
