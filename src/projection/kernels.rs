//! Aggregates of kernels by the path or range they were launched in. SQL would have to sort for these.

use super::by_name::{Listing, Named, by_name};
use super::groups::{map_shared, pieces};
use super::open::{HeldLaunch, sweep};
use super::{Kernel, NONE, OpKind, Paths, Projection, Stop, StopCheck, Unattributed};
use crate::statistics::{weighted_median, whole_stddev};
use crate::threads;
use foldhash::HashMap;
use std::cmp::Reverse;
use std::{mem, ops};

/// A kernel launched directly under a path.
#[derive(Debug, Clone, Copy)]
pub struct PathKernel {
    /// The path of the innermost range, or [`NONE`].
    pub path: u32,
    /// Why there is no path.
    pub unattributed: Option<Unattributed>,
    /// Index into the capture's kernels.
    pub kernel: u32,
    /// Number of executions.
    pub calls: i64,
    /// Sum of their durations.
    pub total_ns: i64,
    /// The shortest duration.
    pub min_ns: i64,
    /// The longest duration.
    pub max_ns: i64,
}

/// Aggregates kernels by the path of the innermost range that they were launched in.
pub fn path_kernels(projection: &Projection, paths: &Paths) -> Vec<PathKernel> {
    let attribution = &projection.attribution;
    let mut known: HashMap<(u32, Option<Unattributed>, u32), u32> = HashMap::default();
    let mut groups: Vec<PathKernel> = Vec::new();
    for op in attribution.capture.ops.iter().filter(|op| op.kind == OpKind::Kernel) {
        let innermost = attribution.innermost(op);
        let path = paths.of_range.get(innermost as usize).copied().unwrap_or(NONE);
        let unattributed = attribution.unattributed(op);
        let dur = op.dur();
        let fresh = groups.len() as u32;
        let place = *known.entry((path, unattributed, op.kernel)).or_insert(fresh);
        if place == fresh {
            groups.push(PathKernel {
                path,
                unattributed,
                kernel: op.kernel,
                calls: 0,
                total_ns: 0,
                min_ns: dur,
                max_ns: dur,
            });
        }
        let group = &mut groups[place as usize];
        group.calls += 1;
        group.total_ns += dur;
        group.min_ns = group.min_ns.min(dur);
        group.max_ns = group.max_ns.max(dur);
    }
    groups.sort_unstable_by_key(|group| (group.path, group.unattributed, group.kernel));
    groups
}

/// The name that kernels are grouped by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Naming {
    /// The demangled name.
    Demangled,
    /// The function name alone.
    Short,
    /// The mangled name.
    Mangled,
}

impl Naming {
    /// All namings.
    pub const ALL: [Self; 3] = [Self::Demangled, Self::Short, Self::Mangled];

    /// The word for this naming in the relation `nvtx_range_kernel`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Demangled => "demangled",
            Self::Short => "short",
            Self::Mangled => "mangled",
        }
    }

    fn of(self, kernel: &Kernel) -> i64 {
        match self {
            Self::Demangled => kernel.name,
            Self::Short => kernel.short,
            Self::Mangled => kernel.mangled,
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

/// The kernels in the ranges of each name, by thread, and the kernels outside all ranges.
#[derive(Debug, Default)]
pub struct RangeKernels {
    /// The rows as they were computed. There are too many to copy.
    parts: Vec<Vec<RangeKernel>>,
    /// The part and place of each row, in the order of a [`Listing`].
    order: Vec<(u32, u32)>,
}

impl RangeKernels {
    /// Aggregates the kernels. `None` if it was stopped.
    ///
    /// Rows are sorted by name and thread, then by total time and calls, both descending.
    pub fn new(
        projection: &Projection,
        naming: Naming,
        listing: Listing<'_>,
        stop: Stop<'_>,
    ) -> Option<Self> {
        let capture = &projection.attribution.capture;
        let mut names: Vec<i64> = capture.kernels.iter().map(|kernel| naming.of(kernel)).collect();
        names.sort_unstable();
        names.dedup();
        let group_of_kernel: Vec<u32> = capture
            .kernels
            .iter()
            .map(|kernel| names.partition_point(|&name| name < naming.of(kernel)) as u32)
            .collect();
        let execution = |&op: &u32| match capture.ops[op as usize] {
            op if op.kind == OpKind::Kernel => {
                Execution { dur: op.dur(), name: group_of_kernel[op.kernel as usize] }
            }
            _ => Execution { dur: 0, name: NONE },
        };
        let prepare =
            || ((listing.names)(), projection.op_order().iter().map(execution).collect::<Vec<_>>());
        let ((places, executions), order) =
            threads::both(prepare, || by_name(projection, listing, stop));
        let order = order?;
        let collector = || Collector {
            projection,
            names: &names,
            executions: &executions,
            times: Vec::new(),
            by_kernel: Vec::new(),
            met: Vec::new(),
            samples: vec![Sample::default(); names.len()],
            begun: 0,
            rows: Vec::new(),
        };
        let group_of = |range: &Named| (range.name, listing.threads[range.thread as usize]);
        let alike = |a: &Named, b: &Named| group_of(a) == group_of(b);
        let mut parts = map_shared(pieces(&order, alike), order.len(), |piece| {
            let mut collector = collector();
            let mut check = StopCheck::new(stop);
            for ranges in piece.chunk_by(alike) {
                if collector.inside(ranges, &mut check) {
                    break;
                }
            }
            collector.rows
        });
        if stop() {
            return None;
        }
        let mut outside = collector();
        outside.outside();
        parts.push(outside.rows);
        let order = in_order(&parts, places, listing.threads);
        Some(Self { parts, order })
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// The part of the row at `place` in the order, and the row's place in that part.
    pub fn place(&self, place: usize) -> (u32, u32) {
        self.order[place]
    }

    /// The row at a place in a part.
    pub fn at(&self, part: u32, row: u32) -> &RangeKernel {
        &self.parts[part as usize][row as usize]
    }
}

/// The part and place of each row, sorted. Within the parts, rows of a name and thread are consecutive and
/// sorted already.
fn in_order(parts: &[Vec<RangeKernel>], names: &[u32], threads: &[u32]) -> Vec<(u32, u32)> {
    let place_of = |row: &RangeKernel| {
        let place = |places: &[u32], index: u32| places.get(index as usize).copied().unwrap_or_default();
        (place(names, row.name), place(threads, row.thread))
    };
    let mut groups = Vec::new();
    for (part, rows) in (0u32..).zip(parts) {
        let mut first = 0;
        for group in rows.chunk_by(|a, b| (a.name, place_of(a).1) == (b.name, place_of(b).1)) {
            let end = first + group.len() as u32;
            groups.push((place_of(&group[0]), part, first..end));
            first = end;
        }
    }
    groups.sort_unstable_by_key(|(place, part, rows)| (*place, *part, rows.start));
    let mut order = Vec::with_capacity(parts.iter().map(Vec::len).sum());
    order.extend(groups.into_iter().flat_map(|(_, part, rows)| rows.map(move |row| (part, row))));
    // Kernels outside all ranges are mixed with those in ranges without a name: sort these again.
    let row_at = |&(part, row): &(u32, u32)| &parts[part as usize][row as usize];
    let nameless = order.partition_point(|place| place_of(row_at(place)).0 == 0);
    order[..nameless].sort_unstable_by_key(|place| {
        let row = row_at(place);
        (place_of(row).1, row.rank())
    });
    order
}

impl RangeKernel {
    /// The sort key among rows of the same name, on threads with the same ids.
    fn rank(&self) -> impl Ord + use<> {
        let is_inside = self.name != NONE;
        let times = (Reverse(self.total_ns), Reverse(self.calls));
        (times, is_inside, !self.is_push_pop, self.thread.wrapping_add(1), self.kernel_name)
    }
}

/// The fields of an operation that are needed here, kept small: each is read many times, in random order.
#[derive(Debug, Clone, Copy)]
struct Execution {
    dur: i64,
    /// Place in the kernel names; [`NONE`] if the operation is not a kernel.
    name: u32,
}

/// What is known of one kernel in the current group.
#[derive(Debug, Clone, Copy, Default)]
struct Sample {
    ranges: u32,
    calls: u32,
    /// The place in `by_kernel` for its next execution.
    next: u32,
    /// How many ranges of the group had started when the kernel was last seen.
    begun: u32,
    /// The last range with holes that contained the kernel, plus one.
    last_range: u32,
}

/// Collects the executions of kernels, one group of ranges after the other.
struct Collector<'a> {
    projection: &'a Projection,
    names: &'a [i64],
    /// All operations, in the order of their launches.
    executions: &'a [Execution],
    /// The executions in the current group, each with the number of ranges around it.
    times: Vec<(Execution, u32)>,
    /// Their durations and numbers of ranges, sorted by kernel.
    by_kernel: Vec<(i64, u32)>,
    /// The kernels in the current group.
    met: Vec<u32>,
    samples: Vec<Sample>,
    /// How many ranges of the group have started.
    begun: u32,
    rows: Vec<RangeKernel>,
}

impl Collector<'_> {
    /// Aggregates the kernels in ranges of one name, on threads with the same ids. Returns `true` if it was
    /// stopped.
    fn inside(&mut self, ranges: &[Named], check: &mut StopCheck<'_>) -> bool {
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
    fn gather<'r>(
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
    fn take_ranges(&mut self, ranges: &[Named], check: &mut StopCheck<'_>) -> bool {
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
    fn take(&mut self, ops: ops::Range<usize>, times: u32, begun: u32, open: impl Fn(u32) -> u32) {
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
    fn count_range(&mut self, launch: usize, range: u32) {
        for execution in &self.executions[self.projection.op_places(launch, launch + 1)] {
            let Some(sample) = self.samples.get_mut(execution.name as usize) else { continue };
            if sample.last_range != range + 1 {
                sample.last_range = range + 1;
                sample.ranges += 1;
            }
        }
    }

    /// Turns the collected executions into rows, sorted by string id of the kernel's name, and clears them.
    fn finish(&mut self, thread: u32, name: u32, is_push_pop: bool) {
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
    fn outside(&mut self) {
        let (capture, order) = (&self.projection.attribution.capture, self.projection.op_order());
        let op_at = |place: usize| &capture.ops[order[place] as usize];
        let thread_of = |&place: &usize| {
            let launch = capture.launches.get(op_at(place).launch as usize);
            launch.map_or(NONE, |launch| launch.thread)
        };
        let mut outside: Vec<usize> = (0..order.len())
            .filter(|&place| self.projection.attribution.innermost(op_at(place)) == NONE)
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
