//! Kernels by where they were launched: aggregates that SQL would have to sort for.

use super::by_name::{Listing, by_name};
use super::groups::{pieces, share_out};
use super::open::{Held, sweep};
use super::{Kernel, NONE, Op, OpKind, Pace, Paths, Projection, Range, Stop, Unattributed};
use crate::statistics::{Moments, weighted_median};
use foldhash::HashMap;
use std::cmp::Reverse;

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
        let collector = || Collector {
            projection,
            names: &names,
            group_of_kernel: &group_of_kernel,
            times: Vec::new(),
            samples: vec![Sample::default(); names.len()],
            begun: 0,
            rows: Vec::new(),
        };
        let order = by_name(projection, listing, |_| true, stop)?;
        let group_of = |index: u32| {
            let range = &capture.ranges[index as usize];
            (listing.printed[range.name as usize], listing.threads[range.thread as usize])
        };
        let alike = |a: &u32, b: &u32| group_of(*a) == group_of(*b);
        let mut parts = share_out(pieces(&order, alike), order.len(), |piece| {
            let mut collector = collector();
            let mut pace = Pace::new(stop);
            for ranges in piece.chunk_by(alike) {
                if collector.inside(ranges, listing, &mut pace) {
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
        let order = in_order(&parts, listing);
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

    /// The one at a place in the order.
    pub fn at(&self, place: usize) -> &RangeKernel {
        let (part, row) = self.order[place];
        &self.parts[part as usize][row as usize]
    }
}

/// The part and place of each row, in order. Rows of a name and thread stand together, and in order.
fn in_order(parts: &[Vec<RangeKernel>], listing: Listing<'_>) -> Vec<(u32, u32)> {
    let place_of = |row: &RangeKernel| {
        let place = |places: &[u32], index: u32| places.get(index as usize).copied().unwrap_or_default();
        (place(listing.names, row.name), place(listing.threads, row.thread))
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

#[derive(Debug, Clone, Copy, Default)]
struct Sample {
    ranges: u32,
    calls: u32,
    /// Ranges of the group that had begun when the kernel was last met.
    begun: u32,
    /// The last range that was looked at on its own and held the kernel, plus one.
    last_range: u32,
}

/// Gathers the executions of one group of ranges after the other.
struct Collector<'a> {
    projection: &'a Projection,
    names: &'a [i64],
    group_of_kernel: &'a [u32],
    /// Kernel's name, time, and in how many ranges: the executions of the group at hand, each once.
    times: Vec<(u32, i64, u32)>,
    samples: Vec<Sample>,
    /// Ranges of the group that have begun.
    begun: u32,
    rows: Vec<RangeKernel>,
}

impl Collector<'_> {
    /// The kernels in ranges of a name, on threads that read the same. `true`: it was stopped.
    fn inside(&mut self, ranges: &[u32], listing: Listing<'_>, pace: &mut Pace<'_>) -> bool {
        let all = &self.projection.attribution.capture.ranges;
        let range_at = |index: u32| &all[index as usize];
        let first_row = self.rows.len();
        for ranges in ranges.chunk_by(|&a, &b| range_at(a).thread == range_at(b).thread) {
            let Range { thread, name, .. } = *range_at(ranges[0]);
            for is_push_pop in [true, false] {
                let of_kind = |&range: &u32| range_at(range).is_push_pop == is_push_pop;
                if self.gather(ranges.iter().copied().filter(of_kind), pace) {
                    return true;
                }
                self.finish(thread, listing.printed[name as usize], is_push_pop);
            }
        }
        self.rows[first_row..].sort_unstable_by_key(RangeKernel::rank);
        false
    }

    /// The kernels in ranges of the group at hand, which come in order of their starts. `true`: it was stopped.
    fn gather(&mut self, ranges: impl Iterator<Item = u32>, pace: &mut Pace<'_>) -> bool {
        // Ranges that follow one another hold no launch twice.
        let mut together = Vec::new();
        let mut reached = 0;
        for range in ranges {
            let span = self.projection.span(range as usize);
            if span.start >= reached {
                if self.take_ranges(&together, pace) {
                    return true;
                }
                together.clear();
            }
            reached = reached.max(span.end);
            together.push(range);
        }
        self.take_ranges(&together, pace)
    }

    /// The kernels in ranges that overlap.
    fn take_ranges(&mut self, ranges: &[u32], pace: &mut Pace<'_>) -> bool {
        let projection = self.projection;
        if let &[range] = ranges {
            self.begun += 1;
            let begun = self.begun;
            if pace.is_over_after(projection.effort(range as usize)) {
                return true;
            }
            for launch in projection.launches_in(range as usize) {
                if pace.is_over() {
                    return true;
                }
                self.take(launch, 1, begun, |_| 1);
            }
            return false;
        }
        if ranges.is_empty() {
            return false;
        }
        let (one_by_one, ranges): (Vec<u32>, Vec<u32>) =
            ranges.iter().partition(|&&range| projection.is_ragged(range as usize));
        for &range in &one_by_one {
            if pace.is_over_after(projection.effort(range as usize)) {
                return true;
            }
            for launch in projection.launches_in(range as usize) {
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
            self.take(launch, times, begun, |since| open.since(since));
        })
    }

    /// The kernels of a launch that is in a number of ranges, of which `open` knows those since another.
    fn take(&mut self, launch: usize, times: u32, begun: u32, open: impl Fn(u32) -> u32) {
        for op in self.projection.ops_of(launch) {
            let Some(sample) = self.take_op(op, times) else { continue };
            if sample.begun < begun {
                sample.ranges += open(sample.begun);
                sample.begun = begun;
            }
        }
    }

    fn take_op(&mut self, op: &Op, times: u32) -> Option<&mut Sample> {
        if op.kind != OpKind::Kernel {
            return None;
        }
        let name = self.group_of_kernel[op.kernel as usize];
        self.times.push((name, op.dur(), times));
        let sample = &mut self.samples[name as usize];
        sample.calls += 1;
        Some(sample)
    }

    /// One more range for the kernels of a launch, but for those that it counts for already.
    fn meet(&mut self, launch: usize, range: u32) {
        for op in self.projection.ops_of(launch).iter().filter(|op| op.kind == OpKind::Kernel) {
            let sample = &mut self.samples[self.group_of_kernel[op.kernel as usize] as usize];
            if sample.last_range != range + 1 {
                sample.last_range = range + 1;
                sample.ranges += 1;
            }
        }
    }

    /// Turns what was gathered into rows, by name of the kernel.
    fn finish(&mut self, thread: u32, name: u32, is_push_pop: bool) {
        self.begun = 0;
        self.times.sort_unstable();
        for times in self.times.chunk_by(|a, b| a.0 == b.0) {
            let kernel = times[0].0 as usize;
            let sample = std::mem::take(&mut self.samples[kernel]);
            let values = times.iter().map(|&(_, dur, times)| (dur as f64, u64::from(times)));
            let mut moments = Moments::default();
            values.clone().for_each(|(value, times)| moments.add_times(value, times));
            let count: u64 = times.iter().map(|&(_, _, times)| u64::from(times)).sum();
            let total: i128 =
                times.iter().map(|&(_, dur, times)| i128::from(dur) * i128::from(times)).sum();
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
                median_ns: weighted_median(values).unwrap_or_default(),
                min_ns: times[0].1,
                max_ns: times[times.len() - 1].1,
                stddev_ns: moments.stddev().unwrap_or_default(),
            });
        }
        self.times.clear();
    }

    /// The kernels in no range, by thread; those without a call last.
    fn outside(&mut self) {
        let capture = &self.projection.attribution.capture;
        let thread_of =
            |op: &Op| capture.launches.get(op.launch as usize).map_or(NONE, |launch| launch.thread);
        let mut outside: Vec<usize> = (0..capture.ops.len())
            .filter(|&place| self.projection.attribution.innermost(&capture.ops[place]) == NONE)
            .collect();
        outside.sort_by_key(|&place| thread_of(&capture.ops[place]));
        for places in outside.chunk_by(|&a, &b| thread_of(&capture.ops[a]) == thread_of(&capture.ops[b]))
        {
            for &place in places {
                self.take_op(&capture.ops[place], 1);
            }
            self.finish(thread_of(&capture.ops[places[0]]), NONE, false);
        }
    }
}
