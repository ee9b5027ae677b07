//! How long edges of a kind usually take.

use super::graph::{EdgeKind, Graph};
use crate::occupancy::NONE;
use std::collections::BTreeMap;

/// Latencies that vary by less than this are as usual.
const JITTER: i64 = 1_000;

/// Latencies of families differ by this factor at most.
const MOST_TIMES: i64 = 4;

/// No hardware takes longer: what does, waits.
pub(super) const LONGEST: i64 = 20_000;

/// Latencies of current GPUs, for captures without an example.
const LAUNCH: i64 = 3_000;
const GAP: i64 = 1_000;

/// Usual latencies. Each is the median of edges that surely bind.
#[derive(Debug, Clone, Default)]
pub(super) struct Usual {
    /// By function: the time of a call before it waits.
    works: Vec<i64>,
    /// By function: from the end of what a call waits for to its return.
    returns: Vec<i64>,
    /// By function: what a call does after it has waited, beyond a return.
    rests: Vec<i64>,
    pub(super) ops: Latencies,
}

/// Usual latencies of operations.
#[derive(Debug, Clone)]
pub(super) struct Latencies {
    /// From the work of the launching call to the start.
    launches: ByFamily,
    /// From the end of the operation before in the stream.
    gaps: ByFamily,
    /// From the end of an operation of another stream.
    pub(super) event: i64,
}

/// A latency for each family of operations.
type ByFamily = [i64; u8::MAX as usize + 1];

impl Default for Latencies {
    fn default() -> Self {
        Self { launches: [0; _], gaps: [0; _], event: 0 }
    }
}

impl Usual {
    pub(super) fn work(&self, function: u32) -> i64 {
        self.works.get(function as usize).copied().unwrap_or_default()
    }

    pub(super) fn returning(&self, function: u32) -> i64 {
        self.returns.get(function as usize).copied().unwrap_or_default()
    }

    /// What a call does after it has waited. It takes this time, whatever it waits for.
    pub(super) fn rest(&self, function: u32) -> i64 {
        self.rests.get(function as usize).copied().unwrap_or_default()
    }

    pub(super) fn launch(&self, family: u8) -> i64 {
        self.ops.launches[usize::from(family)]
    }

    pub(super) fn gap(&self, family: u8) -> i64 {
        self.ops.gaps[usize::from(family)]
    }
}

/// The most that an edge that binds explains.
pub(super) fn most(usual: i64) -> i64 {
    (2 * usual).max(usual + JITTER)
}

/// The latency of each edge, and the delay that they leave unexplained. An edge is when its source was done, and its
/// usual latency.
pub(super) fn explained(at: i64, edges: impl Iterator<Item = (i64, i64)> + Clone) -> (usize, i64, i64) {
    let ready = |(done, usual): (i64, i64)| done + usual.min(at - done);
    let mut binding: Option<(usize, (i64, i64))> = None;
    for (place, edge) in edges.enumerate() {
        if binding.is_none_or(|(_, best)| ready(edge) > ready(best)) {
            binding = Some((place, edge));
        }
    }
    let Some((place, (done, usual))) = binding else { return (usize::MAX, 0, 0) };
    let latency = (at - done).min(most(usual));
    (place, latency, at - done - latency)
}

pub(super) fn median(mut of: Vec<i64>) -> Option<i64> {
    let middle = of.len() / 2;
    (!of.is_empty()).then(|| *of.select_nth_unstable(middle).1)
}

/// The medians of values with keys.
fn medians<K: Ord + Copy>(of: Vec<(K, i64)>) -> BTreeMap<K, i64> {
    let mut of_keys: BTreeMap<K, Vec<i64>> = BTreeMap::new();
    // Consecutive values often have the same key.
    for same in of.chunk_by(|a, b| a.0 == b.0) {
        of_keys.entry(same[0].0).or_default().extend(same.iter().map(|&(_, value)| value));
    }
    of_keys.into_iter().filter_map(|(key, values)| Some((key, median(values)?))).collect()
}

fn by_function(of: &BTreeMap<u32, i64>, count: usize) -> Vec<i64> {
    (0..count as u32).map(|function| of.get(&function).copied().unwrap_or_default()).collect()
}

/// Measures the usual latencies of a graph whose edges are complete.
pub(super) fn usual(graph: &Graph) -> Usual {
    let functions = graph.functions.iter().max().map_or(0, |&most| most as usize + 1);
    let mut usual = Usual::default();
    // The first operation of each call.
    let mut first_op = vec![NONE; graph.call_count()];
    for op in (0..graph.op_count() as u32).rev() {
        let call = graph.launches[op as usize];
        if call != NONE {
            first_op[call as usize] = op;
        }
    }
    let (mut works, mut wholes, mut calls) = (Vec::new(), Vec::new(), Vec::new());
    let (mut returns, mut after_ends) = (Vec::new(), Vec::new());
    // Before the first operation, a call may create a context.
    let begun = graph.op_starts.first().copied().unwrap_or(i64::MIN);
    let mut shortest_of = vec![None; functions];
    for call in 0..graph.call_count() as u32 {
        let ((start, end), function) = (graph.call(call), graph.functions[call as usize]);
        let last = graph.awaited(call).map(|wait| wait.of(&graph.op_starts, &graph.op_ends)).max();
        let least = &mut shortest_of[function as usize];
        *least = Some(least.unwrap_or(i64::MAX).min(end - start));
        match last {
            None => {
                calls.push((function, end - start));
                if end > begun {
                    wholes.push((function, end - start));
                }
            }
            Some(last) if last <= start => wholes.push((function, end - start)),
            Some(last) => {
                returns.push((function, end - last));
                if graph.waits_of(call).len() > 0 {
                    after_ends.push((function, end - last));
                }
            }
        }
        // A call that waits for its own operation does nothing else once that has started.
        let first = first_op[call as usize];
        if first != NONE && last.is_some_and(|last| last > start) && is_idle(graph, first, start) {
            works.push((function, graph.op_starts[first as usize] - start));
        }
    }
    // Of a function that waited each time, a call is at most as long as the shortest, and like calls of others.
    let other = median(calls.iter().map(|&(_, dur)| dur).collect()).unwrap_or_default();
    let shortest_of = (0u32..).zip(shortest_of).filter_map(|(function, least)| Some((function, least?)));
    let mut shortest: BTreeMap<u32, i64> =
        shortest_of.map(|(function, least)| (function, least.min(other))).collect();
    usual.returns = by_function(&medians(returns), functions);
    usual.rests = by_function(&medians(after_ends), functions);
    for (rest, returning) in usual.rests.iter_mut().zip(&mut usual.returns) {
        *rest = (*rest - LONGEST).max(0);
        if *rest > 0 {
            *returning = LONGEST;
        }
    }
    let before = |(function, whole): (u32, i64)| (function, (whole - usual.rest(function)).max(0));
    works.extend(wholes.into_iter().map(before));
    shortest.extend(medians(works));
    usual.works = by_function(&shortest, functions);
    usual
}

/// Whether the stream of an operation had nothing to do at a time.
fn is_idle(graph: &Graph, op: u32, at: i64) -> bool {
    let before = graph.befores[op as usize];
    before == NONE || graph.op_ends[before as usize] <= at
}

/// Measures latencies of operations, for which the work of calls must be known.
pub(super) fn latencies(graph: &Graph) -> Latencies {
    let mut least = i64::MAX;
    let (mut launches, mut gaps, mut events) = (Vec::new(), Vec::new(), Vec::new());
    let mut edges = Vec::new();
    for op in 0..graph.op_count() as u32 {
        graph.edges(op, &mut edges);
        let (start, family) = (graph.op_starts[op as usize], graph.families[op as usize]);
        let of = |kind: EdgeKind| {
            edges.iter().filter(move |edge| edge.kind == kind).map(|edge| edge.at).max()
        };
        let (launch, stream, event) = (of(EdgeKind::Launch), of(EdgeKind::Stream), of(EdgeKind::Event));
        let begun = graph.launch(op).map(|call| graph.call_starts[call as usize]);
        let others = stream.max(event);
        least = launch.map_or(least, |at| least.min(start - at));
        match (launch, begun) {
            (Some(launch), Some(begun)) if others.is_none_or(|other| other <= begun) => {
                launches.push((family, start - launch));
            }
            // Launched well before the operation before it ended.
            (Some(launch), Some(begun))
                if others.is_none_or(|other| launch + (launch - begun) > other) => {}
            _ if stream > event => gaps.extend(stream.map(|at| (family, (start - at).max(0)))),
            _ => events.extend(event.map(|at| start - at)),
        }
    }
    let known =
        |of: &[(u8, i64)], or| median(of.iter().map(|&(_, latency)| latency).collect()).unwrap_or(or);
    let (any_launch, any_gap) = (known(&launches, LAUNCH.min(least)), known(&gaps, GAP));
    let event = median(events).unwrap_or(any_gap).min(LONGEST);
    let (any_launch, any_gap) = (any_launch.min(LONGEST), any_gap.min(LONGEST));
    let (mut launches, mut gaps) = (medians(launches), medians(gaps));
    // What a family always waits for may not be recorded.
    for of in [&mut launches, &mut gaps] {
        let least = of.values().copied().min().unwrap_or_default();
        let most = (MOST_TIMES * least.max(JITTER)).min(LONGEST);
        of.values_mut().for_each(|latency| *latency = (*latency).min(most));
    }
    let by_family = |of: BTreeMap<u8, i64>, any: i64| {
        let mut all = [any; _];
        of.into_iter().for_each(|(family, latency)| all[usize::from(family)] = latency);
        all
    };
    Latencies { launches: by_family(launches, any_launch), gaps: by_family(gaps, any_gap), event }
}
