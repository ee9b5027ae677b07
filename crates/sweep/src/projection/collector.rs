//! Collects the kernels of a range.

use super::by_name::Named;
use super::open::{HeldLaunch, sweep};
use super::{NONE, Projection, StopCheck};
use crate::statistics::{weighted_median, whole_stddev};
use std::cmp::Reverse;
use std::{mem, ops};

/// The fields of an operation that are needed here, kept small: each is read many times, in random order.
#[derive(Debug, Clone, Copy)]
pub(super) struct Execution {
    pub(super) dur: i64,
    /// Place in the kernel names; [`NONE`] if the operation is not a kernel.
    pub(super) name: u32,
}

/// What is known of one kernel in the current group.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sample {
    pub(super) ranges: u32,
    pub(super) calls: u32,
    /// The place in `by_kernel` for its next execution.
    pub(super) next: u32,
    /// How many ranges of the group had started when the kernel was last seen.
    pub(super) begun: u32,
    /// The last range with holes that contained the kernel, plus one.
    pub(super) last_range: u32,
}

/// Collects the executions of kernels, one group of ranges after the other.
pub(super) struct Collector<'a> {
    pub(super) projection: &'a Projection,
    pub(super) names: &'a [i64],
    /// All operations, in the order of their launches.
    pub(super) executions: &'a [Execution],
    /// The executions in the current group, each with the number of ranges around it.
    pub(super) times: Vec<(Execution, u32)>,
    /// Their durations and numbers of ranges, sorted by kernel.
    pub(super) by_kernel: Vec<(i64, u32)>,
    /// The kernels in the current group.
    pub(super) met: Vec<u32>,
    pub(super) samples: Vec<Sample>,
    /// How many ranges of the group have started.
    pub(super) begun: u32,
    pub(super) rows: Vec<RangeKernel>,
}

impl Collector<'_> {
    /// Aggregates the kernels in ranges of one name, on threads with the same ids. Returns `true` if it was
    /// stopped.
    pub(super) fn inside(&mut self, ranges: &[Named], check: &mut StopCheck<'_>) -> bool {
        let first_row = self.rows.len();
        for ranges in ranges.chunk_by(|a, b| a.thread == b.thread) {
            let Named { thread, name, .. } = ranges[0];
            for is_push_pop in [true, false] {
                let of_kind = ranges.iter().filter(|range| range.is_push_pop == is_push_pop);
                if self.gather(of_kind, check) {
                    return true;
                }
                self.finish(thread, name, is_push_pop);
            }
        }
        self.rows[first_row..].sort_unstable_by_key(RangeKernel::rank);
        false
    }

    /// Collects the kernels in the ranges of a group, given in order of start. Returns `true` if it was
    /// stopped.
    pub(super) fn gather<'r>(
        &mut self,
        ranges: impl Iterator<Item = &'r Named>,
        check: &mut StopCheck<'_>,
    ) -> bool {
        // Split into runs of overlapping ranges: ranges of different runs share no launch.
        let mut together = Vec::new();
        let mut reached = 0;
        for &range in ranges {
            if range.from >= reached {
                if self.take_ranges(&together, check) {
                    return true;
                }
                together.clear();
            }
            reached = reached.max(range.to);
            together.push(range);
        }
        self.take_ranges(&together, check)
    }

    /// Collects the kernels in a run of overlapping ranges. Returns `true` if it was stopped.
    pub(super) fn take_ranges(&mut self, ranges: &[Named], check: &mut StopCheck<'_>) -> bool {
        let projection = self.projection;
        let launches_in = |range: u32| projection.launches_in(range as usize);
        if let &[Named { range, from, to, has_holes, .. }] = ranges {
            self.begun += 1;
            let begun = self.begun;
            if check.must_stop_after(1 + (to - from) as usize) {
                return true;
            }
            if has_holes {
                launches_in(range).for_each(|launch| {
                    self.take(projection.op_places(launch, launch + 1), 1, begun, |_| 1)
                });
            } else {
                self.take(projection.op_places(from as usize, to as usize), 1, begun, |_| 1);
            }
            return false;
        }
        if ranges.is_empty() {
            return false;
        }
        let ids = |has_holes: bool| {
            ranges.iter().filter(move |range| range.has_holes == has_holes).map(|range| range.range)
        };
        let (one_by_one, ranges): (Vec<u32>, Vec<u32>) = (ids(true).collect(), ids(false).collect());
        for &range in &one_by_one {
            if check.must_stop_after(projection.cost(range as usize)) {
                return true;
            }
            for launch in launches_in(range) {
                if check.must_stop() {
                    return true;
                }
                self.count_range(launch, range);
            }
        }
        let first = self.begun;
        self.begun += ranges.len() as u32;
        sweep(projection, first, &ranges, &one_by_one, check, |held| {
            let &HeldLaunch { launch, times, open, begun } = held;
            self.take(projection.op_places(launch, launch + 1), times, begun, |since| open.since(since));
        })
    }

    /// Adds the kernels among `ops`, which are in `times` ranges. `begun` ranges have started, and
    /// `open(n)` is the number of open ranges among those from the `n`th on.
    pub(super) fn take(
        &mut self,
        ops: ops::Range<usize>,
        times: u32,
        begun: u32,
        open: impl Fn(u32) -> u32,
    ) {
        for &execution in &self.executions[ops] {
            let Some(sample) = self.samples.get_mut(execution.name as usize) else { continue };
            if sample.calls == 0 {
                self.met.push(execution.name);
            }
            sample.calls += 1;
            self.times.push((execution, times));
            if sample.begun < begun {
                sample.ranges += open(sample.begun);
                sample.begun = begun;
            }
        }
    }

    /// Counts a range for the kernels of a launch, once per kernel.
    pub(super) fn count_range(&mut self, launch: usize, range: u32) {
        for execution in &self.executions[self.projection.op_places(launch, launch + 1)] {
            let Some(sample) = self.samples.get_mut(execution.name as usize) else { continue };
            if sample.last_range != range + 1 {
                sample.last_range = range + 1;
                sample.ranges += 1;
            }
        }
    }

    /// Turns the collected executions into rows, sorted by string id of the kernel's name, and clears them.
    pub(super) fn finish(&mut self, thread: u32, name: u32, is_push_pop: bool) {
        self.begun = 0;
        self.met.sort_unstable();
        let mut first = 0;
        for &kernel in &self.met {
            let sample = &mut self.samples[kernel as usize];
            sample.next = first;
            first += sample.calls;
        }
        self.by_kernel.resize(self.times.len(), (0, 0));
        for (execution, times) in self.times.drain(..) {
            let next = &mut self.samples[execution.name as usize].next;
            self.by_kernel[*next as usize] = (execution.dur, times);
            *next += 1;
        }
        let mut rest = self.by_kernel.as_mut_slice();
        for kernel in self.met.drain(..).map(|kernel| kernel as usize) {
            let sample = mem::take(&mut self.samples[kernel]);
            let times = rest.split_off_mut(..sample.calls as usize).unwrap_or_default();
            let values = times.iter().map(|&(dur, times)| (dur, u64::from(times)));
            let (mut min_ns, mut max_ns, mut count, mut total) = (i64::MAX, i64::MIN, 0, 0);
            for (dur, times) in values.clone() {
                (min_ns, max_ns) = (min_ns.min(dur), max_ns.max(dur));
                count += times;
                total += i128::from(dur) * i128::from(times);
            }
            let total_ns = total.clamp(i64::MIN.into(), i64::MAX.into()) as i64;
            self.rows.push(RangeKernel {
                thread,
                name,
                is_push_pop,
                kernel_name: self.names[kernel],
                ranges: sample.ranges,
                calls: sample.calls,
                total_ns,
                mean_ns: total_ns as f64 / count as f64,
                stddev_ns: whole_stddev(values).unwrap_or_default(),
                median_ns: weighted_median(times).unwrap_or_default(),
                min_ns,
                max_ns,
            });
        }
    }

    /// Aggregates the kernels outside all ranges, by thread. Kernels without a call come last.
    pub(super) fn outside(&mut self) {
        let (capture, order) = (&self.projection.attribution.capture, self.projection.op_order());
        let op_at = |place: usize| capture.ops.at(order[place] as usize);
        let thread_of = |&place: &usize| {
            capture.launches.get(op_at(place).launch).map_or(NONE, |launch| launch.thread)
        };
        let mut outside: Vec<usize> = (0..order.len())
            .filter(|&place| self.projection.attribution.innermost(&op_at(place)) == NONE)
            .collect();
        outside.sort_by_key(thread_of);
        for places in outside.chunk_by(|a, b| thread_of(a) == thread_of(b)) {
            for &place in places {
                self.take(place..place + 1, 1, 0, |_| 0);
            }
            self.finish(thread_of(&places[0]), NONE, false);
        }
    }
}

/// A kernel in the ranges of one name on one thread.
#[derive(Debug, Clone, Copy)]
pub struct RangeKernel {
    /// Index into the threads, or [`NONE`] without a call.
    pub thread: u32,
    /// Index into the names of ranges, or [`NONE`] outside all ranges.
    pub name: u32,
    /// The ranges are push/pop ranges.
    pub is_push_pop: bool,
    /// String id of the kernel's name.
    pub kernel_name: i64,
    /// Number of ranges in which the kernel was launched.
    pub ranges: u32,
    /// Number of executions, each counted once.
    pub calls: u32,
    /// Sum of durations over all pairs of range and execution.
    pub total_ns: i64,
    /// Mean duration over all pairs of range and execution.
    pub mean_ns: f64,
    /// Median duration over all pairs of range and execution.
    pub median_ns: f64,
    /// The shortest duration.
    pub min_ns: i64,
    /// The longest duration.
    pub max_ns: i64,
    /// Sample standard deviation of the durations over all pairs of range and execution.
    pub stddev_ns: f64,
}

impl RangeKernel {
    /// The sort key among rows of the same name, on threads with the same ids.
    pub(super) fn rank(&self) -> impl Ord + use<> {
        let is_inside = self.name != NONE;
        let times = (Reverse(self.total_ns), Reverse(self.calls));
        (times, is_inside, !self.is_push_pop, self.thread.wrapping_add(1), self.kernel_name)
    }
}
