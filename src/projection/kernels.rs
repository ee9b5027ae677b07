//! Kernels by where they were launched: aggregates that SQL would have to sort for.

use super::by_name::{Listing, Named, by_name};
use super::groups::{pieces, share_out};
use super::open::{Held, sweep};
use super::{Kernel, NONE, OpKind, Pace, Paths, Projection, Stop, Unattributed};
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
    /// Why there is none.
    pub unattributed: Option<Unattributed>,
    /// Index into the capture's kernels.
    pub kernel: u32,
    /// Executions.
    pub calls: i64,
    /// Sum of their times.
    pub total_ns: i64,
    /// The shortest.
    pub min_ns: i64,
    /// The longest.
    pub max_ns: i64,
}

/// Every kernel under the path that it was launched directly in.
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

/// Which name of a kernel makes a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Naming {
    /// The demangled name.
    Demangled,
    /// The name of the function alone.
    Short,
    /// The mangled name.
    Mangled,
}

impl Naming {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Demangled, Self::Short, Self::Mangled];

    /// The word for it in the relation `nvtx_range_kernel`.
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
    /// Index into the names of ranges, or [`NONE`] outside all of them.
    pub name: u32,
    /// The ranges are pushed and popped.
    pub is_push_pop: bool,
    /// Number of the kernel's name.
    pub kernel_name: i64,
    /// Ranges in which the kernel was launched.
    pub ranges: u32,
    /// Executions.
    pub calls: u32,
    /// Sum over (range, execution).
    pub total_ns: i64,
    /// Mean over (range, execution).
    pub mean_ns: f64,
    /// Median over (range, execution).
    pub median_ns: f64,
    /// The shortest.
    pub min_ns: i64,
    /// The longest.
    pub max_ns: i64,
    /// Sample standard deviation over (range, execution).
    pub stddev_ns: f64,
}

/// Every kernel in the ranges of each name, thread by thread, and in no range.
#[derive(Debug, Default)]
pub struct RangeKernels {
    /// The rows as they were made: there are too many of them to copy.
    parts: Vec<Vec<RangeKernel>>,
    /// The part of each row and its place in it, in the order of a [`Listing`].
    order: Vec<(u32, u32)>,
}

impl RangeKernels {
    /// Gathers them. `None`: it was stopped.
    ///
    /// They come by name and thread, the longest in all first; then the one that was called most.
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
        let mut parts = share_out(pieces(&order, alike), order.len(), |piece| {
            let mut collector = collector();
            let mut pace = Pace::new(stop);
            for ranges in piece.chunk_by(alike) {
                if collector.inside(ranges, &mut pace) {
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

    /// How many there are.
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// There are none.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// The part in which the one at a place in the order stands, and its place there.
    pub fn place(&self, place: usize) -> (u32, u32) {
        self.order[place]
    }

    /// The one at a place in a part.
    pub fn at(&self, part: u32, row: u32) -> &RangeKernel {
        &self.parts[part as usize][row as usize]
    }
}

/// The part and place of each row, in order. Rows of a name and thread stand together, and in order.
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
    // Kernels in no range come among those of ranges without a name.
    let row_at = |&(part, row): &(u32, u32)| &parts[part as usize][row as usize];
    let nameless = order.partition_point(|place| place_of(row_at(place)).0 == 0);
    order[..nameless].sort_unstable_by_key(|place| {
        let row = row_at(place);
        (place_of(row).1, row.rank())
    });
    order
}

impl RangeKernel {
    /// Its place among those of a name and of threads that read the same.
    fn rank(&self) -> impl Ord + use<> {
        let is_inside = self.name != NONE;
        let times = (Reverse(self.total_ns), Reverse(self.calls));
        (times, is_inside, !self.is_push_pop, self.thread.wrapping_add(1), self.kernel_name)
    }
}

/// What is needed of an operation: they are met many times over, and not in order.
#[derive(Debug, Clone, Copy)]
struct Execution {
    dur: i64,
    /// Place among the names of kernels; [`NONE`] of what is no kernel.
    name: u32,
}

#[derive(Debug, Clone, Copy, Default)]
struct Sample {
    ranges: u32,
    calls: u32,
    /// Where the next of its executions goes among those of the group.
    next: u32,
    /// Ranges of the group that had begun when the kernel was last met.
    begun: u32,
    /// The last range that was looked at on its own and held the kernel, plus one.
    last_range: u32,
}

/// Gathers the executions of one group of ranges after the other.
struct Collector<'a> {
    projection: &'a Projection,
    names: &'a [i64],
    /// Of each operation, in the order of their launches.
    executions: &'a [Execution],
    /// The executions of the group at hand, each once, and in how many ranges it was.
    times: Vec<(Execution, u32)>,
    /// Their times, and in how many ranges they were, kernel by kernel.
    by_kernel: Vec<(i64, u32)>,
    /// The kernels of the group at hand.
    met: Vec<u32>,
    samples: Vec<Sample>,
    /// Ranges of the group that have begun.
    begun: u32,
    rows: Vec<RangeKernel>,
}

impl Collector<'_> {
    /// The kernels in ranges of a name, on threads that read the same. `true`: it was stopped.
    fn inside(&mut self, ranges: &[Named], pace: &mut Pace<'_>) -> bool {
        let first_row = self.rows.len();
        for ranges in ranges.chunk_by(|a, b| a.thread == b.thread) {
            let Named { thread, name, .. } = ranges[0];
            for is_push_pop in [true, false] {
                let of_kind = ranges.iter().filter(|range| range.is_push_pop == is_push_pop);
                if self.gather(of_kind, pace) {
                    return true;
                }
                self.finish(thread, name, is_push_pop);
            }
        }
        self.rows[first_row..].sort_unstable_by_key(RangeKernel::rank);
        false
    }

    /// The kernels in ranges of the group at hand, which come in order of their starts. `true`: it was stopped.
    fn gather<'r>(&mut self, ranges: impl Iterator<Item = &'r Named>, pace: &mut Pace<'_>) -> bool {
        // Ranges that follow one another hold no launch twice.
        let mut together = Vec::new();
        let mut reached = 0;
        for &range in ranges {
            if range.from >= reached {
                if self.take_ranges(&together, pace) {
                    return true;
                }
                together.clear();
            }
            reached = reached.max(range.to);
            together.push(range);
        }
        self.take_ranges(&together, pace)
    }

    /// The kernels in ranges that overlap.
    fn take_ranges(&mut self, ranges: &[Named], pace: &mut Pace<'_>) -> bool {
        let projection = self.projection;
        let launches_in = |range: u32| projection.launches_in(range as usize);
        if let &[Named { range, from, to, is_ragged, .. }] = ranges {
            self.begun += 1;
            let begun = self.begun;
            if pace.is_over_after(1 + (to - from) as usize) {
                return true;
            }
            if is_ragged {
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
        let ids = |is_ragged: bool| {
            ranges.iter().filter(move |range| range.is_ragged == is_ragged).map(|range| range.range)
        };
        let (one_by_one, ranges): (Vec<u32>, Vec<u32>) = (ids(true).collect(), ids(false).collect());
        for &range in &one_by_one {
            if pace.is_over_after(projection.effort(range as usize)) {
                return true;
            }
            for launch in launches_in(range) {
                if pace.is_over() {
                    return true;
                }
                self.meet(launch, range);
            }
        }
        let first = self.begun;
        self.begun += ranges.len() as u32;
        sweep(projection, first, &ranges, &one_by_one, pace, |held| {
            let &Held { launch, times, open, begun } = held;
            self.take(projection.op_places(launch, launch + 1), times, begun, |since| open.since(since));
        })
    }

    /// The kernels among operations that are in a number of ranges, of which `open` knows those since another.
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

    /// One more range for the kernels of a launch, but for those that it counts for already.
    fn meet(&mut self, launch: usize, range: u32) {
        for execution in &self.executions[self.projection.op_places(launch, launch + 1)] {
            let Some(sample) = self.samples.get_mut(execution.name as usize) else { continue };
            if sample.last_range != range + 1 {
                sample.last_range = range + 1;
                sample.ranges += 1;
            }
        }
    }

    /// Turns what was gathered into rows, by name of the kernel.
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

    /// The kernels in no range, by thread; those without a call last.
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
