//! Edits by time: what happens at some times of a GPU goes faster.

use super::edits::{Edits, sized};
use super::graph::{EdgeKind, Graph};
use super::latency::explained;
use crate::interval::{Ruler, TimeSet};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// Intervals of GPUs, by their numbers. As a text, `GPU:START+LENGTH,PAUSE+LENGTH,…;GPU:…` in ns: their union.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct IntervalsByGpu(BTreeMap<i64, Vec<(i64, i64)>>);

impl IntervalsByGpu {
    /// Adds an interval, unless it is empty.
    pub fn add(&mut self, gpu: i64, start: i64, end: i64) {
        if start < end {
            self.0.entry(gpu).or_default().push((start, end));
        }
    }

    /// Adds all intervals of others.
    pub fn add_all(&mut self, others: &Self) {
        for (&gpu, intervals) in &others.0 {
            self.0.entry(gpu).or_default().extend_from_slice(intervals);
        }
    }

    /// The same times, as sorted intervals that do not touch each other.
    pub fn united(self) -> Self {
        let union = |(gpu, intervals)| {
            let mut intervals = TimeSet::union_of(intervals).into_intervals();
            intervals.shrink_to_fit();
            (gpu, intervals)
        };
        Self(self.0.into_iter().map(union).collect())
    }

    /// The number of intervals, on all GPUs.
    pub fn count(&self) -> usize {
        self.0.values().map(Vec::len).sum()
    }

    /// The sum of their lengths.
    pub fn length(&self) -> i128 {
        let length = |&(start, end): &(i64, i64)| i128::from(end) - i128::from(start);
        self.0.values().flatten().map(length).sum()
    }

    /// The times of a GPU.
    pub fn of_gpu(&self, gpu: i64) -> Ruler {
        let intervals = self.0.get(&gpu).map_or(&[][..], Vec::as_slice);
        Ruler::new(match intervals.is_sorted() {
            true => TimeSet::union_of_sorted(intervals.iter().copied()),
            false => TimeSet::union_of(intervals.to_vec()),
        })
    }
}

impl fmt::Display for IntervalsByGpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, (gpu, intervals)) in self.0.iter().enumerate() {
            write!(f, "{}{gpu}:", if place > 0 { ";" } else { "" })?;
            let mut reached = 0i64;
            for (place, (start, end)) in
                TimeSet::union_of(intervals.clone()).intervals().iter().enumerate()
            {
                let comma = if place > 0 { "," } else { "" };
                write!(f, "{comma}{}+{}", start.wrapping_sub(reached), end.wrapping_sub(*start))?;
                reached = *end;
            }
        }
        Ok(())
    }
}

impl FromStr for IntervalsByGpu {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let invalid = |part: &str| format!("invalid times '{part}': expected GPU:START+LENGTH in ns");
        let mut all = Self::default();
        for part in text.split(';').filter(|part| !part.is_empty()) {
            let (gpu, rest) = part.split_once(':').ok_or_else(|| invalid(part))?;
            let gpu: i64 = gpu.parse().map_err(|_| invalid(part))?;
            let mut reached = 0i64;
            for one in rest.split(',') {
                let numbers = one.split_once('+').and_then(|(pause, length)| {
                    Some((pause.parse::<i64>().ok()?, length.parse::<i64>().ok()?))
                });
                let (pause, length) = numbers.ok_or_else(|| invalid(one))?;
                let start = reached.wrapping_add(pause);
                reached = start.saturating_add(length);
                all.add(gpu, start, reached);
            }
        }
        Ok(all)
    }
}

/// What takes longer than this is no read-back of a result, which goes when nobody waits for it.
const READ_BACK: i64 = 50_000;

/// The times of each GPU that an edit is about. GPUs without times may be missing at the end.
#[derive(Debug, Default)]
pub struct GpuTimes<'a> {
    /// Times, by GPU.
    pub times: Vec<Ruler>,
    /// The GPU of each stream.
    pub gpu_of_stream: &'a [u32],
    /// For each call: the operation that it launches, or else the next one of its thread.
    pub leads_to: &'a [u32],
}

impl GpuTimes<'_> {
    fn of_op(&self, graph: &Graph, op: u32) -> Option<&Ruler> {
        let stream = *graph.streams.get(op as usize)?;
        self.times.get(*self.gpu_of_stream.get(stream as usize)? as usize)
    }

    fn of_call(&self, graph: &Graph, call: u32) -> Option<&Ruler> {
        self.of_op(graph, *self.leads_to.get(call as usize)?)
    }

    /// Whether an operation runs in these times.
    pub fn hold(&self, graph: &Graph, op: u32) -> bool {
        let (start, end) = graph.op(op);
        self.of_op(graph, op).is_some_and(|times| times.within(start, end) > 0)
    }
}

/// The last calls of a thread and function that wait at some times.
struct Waits {
    /// Start of the last one.
    start: i64,
    /// The longest time from the start of one to that of the next, without other waits of the function between them.
    apart: Option<i64>,
    /// The next call that waits, at other times, and its start.
    next: Option<(u32, i64)>,
}

/// Takes the part of a duration that lies in these times away.
fn cut(factor: &mut f32, times: &Ruler, start: i64, end: i64) {
    if end > start {
        let inside = times.within(start, end) as f64 / (end - start) as f64;
        *factor *= (1.0 - inside) as f32;
    }
}

impl Edits {
    /// Operations of a kind take no time at these times.
    pub fn cut_work(&mut self, graph: &Graph, at: &GpuTimes<'_>, is_meant: impl Fn(u32) -> bool) {
        for (op, factor) in (0..).zip(sized(&mut self.ops, graph.op_count(), 1.0)) {
            if let Some(times) = at.of_op(graph, op).filter(|_| is_meant(op)) {
                let (start, end) = graph.op(op);
                cut(factor, times, start, end);
            }
        }
    }

    /// What holds up a GPU at these times takes none: calls and code of the threads that launch to it next, and delays of
    /// its operations. Waits for operations remain, and so does the time from a launch to its operation.
    pub fn cut_idle(&mut self, graph: &Graph, at: &GpuTimes<'_>) {
        sized(&mut self.calls, graph.call_count(), 1.0);
        sized(&mut self.codes, graph.call_count(), 1.0);
        sized(&mut self.call_delays, graph.call_count(), 1.0);
        for call in 0..graph.call_count() as u32 {
            let Some(times) = at.of_call(graph, call) else { continue };
            let ((start, end), place) = (graph.call(call), call as usize);
            match graph.code(call) {
                Some(code) => cut(&mut self.codes[place], times, start - code, start),
                // What a thread does before its first call is no code between calls. Several edits may be about the same.
                None => {
                    let earlier = self.earlier.entry(call).or_default();
                    *earlier = times.within(i64::MIN / 2, start).max(*earlier);
                }
            }
            let work = graph.work(call);
            cut(&mut self.calls[place], times, start, start + work);
            // After what it waited for.
            let waited = graph.waits_of(call).map(|op| graph.op(op).1).max().unwrap_or(start + work);
            cut(&mut self.call_delays[place], times, waited.max(start + work), end);
        }
        sized(&mut self.delays, graph.op_count(), 1.0);
        sized(&mut self.latencies, graph.op_count(), 1.0);
        let mut edges = Vec::new();
        for op in 0..graph.op_count() as u32 {
            let (Some(times), place) = (at.of_op(graph, op), op as usize) else { continue };
            let start = graph.op(op).0;
            graph.edges(op, &mut edges);
            let pairs = edges.iter().map(|edge| (edge.at, edge.usual));
            let (binding, latency, delay) = explained(start, pairs);
            cut(&mut self.delays[place], times, start - delay, start);
            if edges.get(binding).is_some_and(|edge| edge.kind != EdgeKind::Launch) {
                cut(&mut self.latencies[place], times, start - delay - latency, start - delay);
            }
        }
    }

    /// Calls that wait at these times return without waiting. One that waits for its own operation, such as a copy that reads
    /// a result back, is left out with it, unless that takes long.
    ///
    /// A GPU idles after a wait. So of calls that wait in each step, the last one waits before times of the next step: the
    /// call of a thread that comes as soon after the last such calls of the same function as they after each other waits
    /// for nothing, too.
    pub fn skip_waits(&mut self, graph: &Graph, at: &GpuTimes<'_>) {
        sized(&mut self.waitless, graph.call_count(), false);
        let mut last: BTreeMap<(usize, u32), Waits> = BTreeMap::new();
        for call in 0..graph.call_count() as u32 {
            let (start, end) = graph.call(call);
            if graph.waits_of(call).len() == 0 {
                continue;
            }
            let is_in = |times: &Ruler| times.within(start, end) > 0;
            let of = (graph.thread(call), graph.functions[call as usize]);
            if at.of_call(graph, call).is_some_and(is_in) {
                self.waitless[call as usize] = true;
                let apart = last.get(&of).filter(|of| of.next.is_none());
                let apart = apart.map(|of| (start - of.start).max(of.apart.unwrap_or_default()));
                last.insert(of, Waits { start, apart, next: None });
            } else if let Some(of) = last.get_mut(&of) {
                of.next.get_or_insert((call, start));
            }
        }
        for Waits { start, apart, next } in last.into_values() {
            if let (Some(apart), Some((call, next))) = (apart, next) {
                self.waitless[call as usize] |= next - start <= apart;
            }
        }
        sized(&mut self.removed, graph.op_count(), false);
        sized(&mut self.calls, graph.call_count(), 1.0);
        for op in 0..graph.op_count() as u32 {
            let Some(call) = graph.launch(op) else { continue };
            let (start, end) = graph.op(op);
            let is_own =
                self.waitless[call as usize] && graph.waits_of(call).any(|awaited| awaited == op);
            if is_own && end - start <= READ_BACK {
                self.removed[op as usize] = true;
                self.calls[call as usize] = 0.0;
            }
        }
    }
}
