//! Edits of a capture, several at once.

use super::capture::KERNEL;
use super::graph::{EdgeKind, Graph};
use super::replayed::Change;
use crate::occupancy::NONE;
use std::collections::BTreeMap;

/// Factors on durations, by call and operation. A list is empty as long as no edit needs it.
#[derive(Debug, Clone, Default)]
pub struct Edits {
    pub(super) ops: Vec<f32>,
    /// Operations that take no time and hold up nobody.
    pub(super) removed: Vec<bool>,
    /// What others wait for instead of operations that run beside them; of others, themselves.
    instead: Vec<u32>,
    /// For each operation that runs beside others: the one of its kind on its GPU that it follows.
    beside: Vec<(u32, u32)>,
    /// Operations that a graph launches, except the first.
    in_graph: Vec<bool>,
    /// Those of them that are kernels and follow a kernel of the same graph in their stream.
    follows_kernel: Vec<bool>,
    pub(super) calls: Vec<f32>,
    pub(super) codes: Vec<f32>,
    /// Factors on unexplained delays of operations, and on their latencies after other operations.
    pub(super) delays: Vec<f32>,
    pub(super) latencies: Vec<f32>,
    /// Factors on unexplained delays of the returns of calls.
    pub(super) call_delays: Vec<f32>,
    /// Calls that wait for nothing.
    pub(super) waitless: Vec<bool>,
    /// By how much the first calls of threads start earlier.
    pub(super) earlier: BTreeMap<u32, i64>,
}

/// From the end of a kernel of a graph to the start of the next one. On an H100, the median is 0.1 µs in one program and 0.42 µs
/// in another, where kernels that are launched one by one take 1.2 to 1.4 µs.
const GRAPH_GAP: i64 = 300;

#[inline]
fn scaled(dur: i64, factors: &[f32], place: u32) -> i64 {
    match factors.get(place as usize) {
        Some(&factor) if factor != 1.0 => (dur as f64 * f64::from(factor)) as i64,
        _ => dur,
    }
}

pub(super) fn sized<T: Clone>(list: &mut Vec<T>, count: usize, value: T) -> &mut Vec<T> {
    list.resize(count, value);
    list
}

impl Edits {
    /// Multiplies the durations of operations.
    pub fn scale_ops(&mut self, graph: &Graph, factor: impl Fn(u32) -> f64) {
        for (op, of) in (0..).zip(sized(&mut self.ops, graph.op_count(), 1.0)) {
            *of *= factor(op) as f32;
        }
    }

    /// Multiplies the host code before calls.
    pub fn scale_code(&mut self, graph: &Graph, factor: impl Fn(u32) -> f64) {
        for (call, of) in (0..).zip(sized(&mut self.codes, graph.call_count(), 1.0)) {
            *of *= factor(call) as f32;
        }
    }

    /// Runs several operations as one that takes as long as one of them: operations take `share` of their time, and so do
    /// the calls that launch only such operations, and the code before these calls. Long code stays.
    pub fn fuse(&mut self, graph: &Graph, share: impl Fn(u32) -> f64) {
        self.scale_ops(graph, &share);
        // Of a call that launches several, the largest.
        let mut of_calls = vec![0.0f64; graph.call_count()];
        for op in 0..graph.op_count() as u32 {
            if let Some(call) = graph.launch(op) {
                let of = &mut of_calls[call as usize];
                *of = of.max(share(op));
            }
        }
        let of_call = |call: u32| match of_calls[call as usize] {
            0.0 => 1.0,
            share => share,
        };
        for (call, of) in (0..).zip(sized(&mut self.calls, graph.call_count(), 1.0)) {
            *of *= of_call(call) as f32;
        }
        self.scale_code(graph, |call| if graph.prepares(call) { of_call(call) } else { 1.0 });
    }

    /// Leaves out operations, and the calls that launch nothing else.
    pub fn remove(&mut self, graph: &Graph, is_removed: impl Fn(u32) -> bool) {
        let mut launches_others = vec![false; graph.call_count()];
        let mut launches = vec![false; graph.call_count()];
        for (op, of) in (0..).zip(sized(&mut self.removed, graph.op_count(), false)) {
            let is_removed = is_removed(op);
            *of |= is_removed;
            if let Some(call) = graph.launch(op) {
                let of = if is_removed { &mut launches } else { &mut launches_others };
                of[call as usize] = true;
            }
        }
        for (call, of) in sized(&mut self.calls, graph.call_count(), 1.0).iter_mut().enumerate() {
            if launches[call] && !launches_others[call] {
                *of = 0.0;
            }
        }
    }

    /// Runs operations beside all others: one after the other for each kind and GPU, as soon as they are launched. What
    /// waited for one waits instead for what ended last of those that it waited for. The end of the work waits for all.
    pub fn overlap(&mut self, graph: &Graph, gpu_of_stream: &[u32], is_beside: impl Fn(u32) -> bool) {
        sized(&mut self.instead, graph.op_count(), NONE);
        let mut last: BTreeMap<(Option<u32>, u8), u32> = BTreeMap::new();
        for op in 0..graph.op_count() as u32 {
            self.instead[op as usize] = op;
            if !is_beside(op) {
                continue;
            }
            // What is copied or sent must have been made, whoever waits for it.
            let before = graph.awaited_by_op(op).max_by_key(|&other| (graph.op(other).1, other));
            self.instead[op as usize] = before.map_or(NONE, |other| self.instead[other as usize]);
            let gpu = gpu_of_stream.get(graph.stream(op) as usize).copied();
            let follows = last.insert((gpu, graph.families[op as usize]), op);
            let has_ended = |&other: &u32| graph.op(other).1 <= graph.op(op).0;
            self.beside.push((op, follows.filter(has_ended).unwrap_or(NONE)));
        }
        self.beside.sort_unstable();
    }

    /// Makes launches free: the host goes on at once.
    pub fn free_launches(&mut self, graph: &Graph) {
        sized(&mut self.calls, graph.call_count(), 1.0);
        for op in 0..graph.op_count() as u32 {
            if let Some(call) = graph.launch(op) {
                self.calls[call as usize] = 0.0;
            }
        }
    }

    /// Launches what a thread launches in a row as one graph: the first call remains, and the other calls and the code
    /// between them take no time. `is_border`: whether no graph goes on over the code before this call, because a step
    /// begins there or the call waits or allocates. Long code ends a graph, too.
    pub fn launch_as_graphs(&mut self, graph: &Graph, is_border: impl Fn(u32) -> bool) {
        let mut launches = vec![false; graph.call_count()];
        for op in 0..graph.op_count() as u32 {
            if let Some(call) = graph.launch(op) {
                launches[call as usize] = true;
            }
        }
        sized(&mut self.calls, graph.call_count(), 1.0);
        sized(&mut self.codes, graph.call_count(), 1.0);
        sized(&mut self.in_graph, graph.op_count(), false);
        // The call that launches the graph that the thread is in.
        let (mut first, mut last) = (NONE, NONE);
        let mut graph_of = vec![NONE; graph.call_count()];
        for call in 0..graph.call_count() as u32 {
            let waits = graph.waits_of(call).len() > 0;
            if !graph.prepares(call) || waits || graph.waker(call).is_some() || is_border(call) {
                first = NONE;
            }
            if !launches[call as usize] || waits {
                continue;
            }
            if first != NONE {
                // What is between two launches goes, too.
                for between in last + 1..=call {
                    self.calls[between as usize] = 0.0;
                    self.codes[between as usize] = 0.0;
                }
            } else {
                first = call;
            }
            graph_of[call as usize] = first;
            last = call;
        }
        sized(&mut self.follows_kernel, graph.op_count(), false);
        let graph_of = |op: u32| graph.launch(op).map_or(NONE, |call| graph_of[call as usize]);
        for op in 0..graph.op_count() as u32 {
            let own = graph_of(op);
            self.in_graph[op as usize] = own != NONE && graph.launch(op) != Some(own);
            let before = graph.befores[op as usize];
            self.follows_kernel[op as usize] = self.in_graph[op as usize]
                && before != NONE
                && graph_of(before) == own
                && [before, op].iter().all(|&op| graph.family(op) == KERNEL);
        }
    }

    /// Gives all members of each collective as much work before it: the mean of their work since the collective
    /// before. `rank_of_stream` and `rank_of_thread` number the processes, the latter for each thread
    /// in the order of the calls.
    pub fn balance(&mut self, graph: &Graph, rank_of_stream: &[u32], rank_of_thread: &[u32]) {
        let ranks = rank_of_stream.iter().chain(rank_of_thread).filter(|&&rank| rank != NONE).max();
        let ranks = ranks.map_or(0, |&most| most as usize + 1);
        let rank = |op: u32| rank_of_stream[graph.stream(op) as usize];
        // The host may run ahead, so work is counted in the order of launches.
        let launched = |op: u32| graph.launch(op).map_or(graph.op(op).0, |call| graph.call(call).0);
        // For each rank, when it launched which collective.
        let mut arrivals: Vec<Vec<(i64, u32)>> = vec![Vec::new(); ranks];
        for &(op, group) in &graph.group_of {
            arrivals[rank(op) as usize].push((launched(op), group));
        }
        arrivals.iter_mut().for_each(|of| of.sort_unstable());
        let group_at = |rank: u32, at: i64| {
            let of = arrivals.get(rank as usize)?;
            let next = of.partition_point(|&(arrival, _)| arrival < at);
            of.get(next).map(|&(_, group)| group as usize)
        };
        let thread_of = graph.thread_numbers(rank_of_thread);
        let is_work = |op: u32| graph.group(op).is_empty();
        let mut sums = vec![[0i64; 2]; graph.groups.len()];
        let mut own = vec![vec![[0i64; 2]; graph.groups.len()]; ranks];
        let mut add = |rank: u32, at: i64, place: usize, dur: i64| {
            if let Some(group) = group_at(rank, at) {
                sums[group][place] += dur;
                own[rank as usize][group][place] += dur;
            }
        };
        for op in (0..graph.op_count() as u32).filter(|&op| is_work(op)) {
            let (start, end) = graph.op(op);
            add(rank(op), launched(op), 0, end - start);
        }
        for call in 0..graph.call_count() as u32 {
            let work = graph.code(call).unwrap_or_default() + graph.work(call);
            add(thread_of[call as usize], graph.call(call).0, 1, work);
        }
        let factor = |rank: u32, at: i64, place: usize| {
            let group = group_at(rank, at)?;
            let mean = sums[group][place] as f64 / graph.groups[group].len() as f64;
            let own = own[rank as usize][group][place];
            (own > 0).then(|| mean / own as f64)
        };
        self.scale_ops(graph, |op| {
            let of = is_work(op).then(|| factor(rank(op), launched(op), 0)).flatten();
            of.unwrap_or(1.0)
        });
        let of_call = |call: u32| factor(thread_of[call as usize], graph.call(call).0, 1).unwrap_or(1.0);
        self.scale_code(graph, of_call);
        for (call, of) in (0..).zip(sized(&mut self.calls, graph.call_count(), 1.0)) {
            *of *= of_call(call) as f32;
        }
    }
}

impl Graph {
    /// For each call, the number of its thread in a list.
    fn thread_numbers(&self, of_threads: &[u32]) -> Vec<u32> {
        let mut of_calls = vec![NONE; self.call_count()];
        for (thread, bounds) in self.threads.windows(2).enumerate() {
            let number = of_threads.get(thread).copied().unwrap_or(NONE);
            of_calls[bounds[0] as usize..bounds[1] as usize].fill(number);
        }
        of_calls
    }
}

impl Change for Edits {
    #[inline]
    fn op(&self, op: u32, dur: i64) -> i64 {
        scaled(dur, &self.ops, op)
    }

    #[inline]
    fn removes(&self, op: u32) -> bool {
        self.removed.get(op as usize) == Some(&true)
    }

    #[inline]
    fn instead(&self, op: u32) -> u32 {
        self.instead.get(op as usize).copied().unwrap_or(op)
    }

    #[inline]
    fn beside(&self, op: u32) -> Option<u32> {
        let place = self.beside.binary_search_by_key(&op, |&(op, _)| op).ok()?;
        Some(self.beside[place].1)
    }

    #[inline]
    fn call(&self, call: u32, work: i64) -> i64 {
        scaled(work, &self.calls, call)
    }

    #[inline]
    fn code(&self, call: u32, dur: i64) -> i64 {
        scaled(dur, &self.codes, call)
    }

    #[inline]
    fn first(&self, call: u32, start: i64) -> i64 {
        start - self.earlier.get(&call).copied().unwrap_or_default()
    }

    #[inline]
    fn waits(&self, call: u32) -> bool {
        self.waitless.get(call as usize) != Some(&true)
    }

    #[inline]
    fn call_delay(&self, call: u32, delay: i64) -> i64 {
        scaled(delay, &self.call_delays, call)
    }

    #[inline]
    fn latency(&self, op: u32, kind: EdgeKind, latency: i64) -> i64 {
        match kind {
            EdgeKind::Launch => latency,
            EdgeKind::Stream if self.follows_kernel.get(op as usize) == Some(&true) => {
                scaled(latency.min(GRAPH_GAP), &self.latencies, op)
            }
            _ => scaled(latency, &self.latencies, op),
        }
    }

    /// In a graph, nothing that the host did remains before an operation.
    #[inline]
    fn delay(&self, op: u32, delay: i64) -> i64 {
        let in_graph = self.in_graph.get(op as usize) == Some(&true);
        if in_graph { 0 } else { scaled(delay, &self.delays, op) }
    }
}
