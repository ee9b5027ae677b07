//! Kernels by where they were launched: aggregates that SQL would have to sort for.

use super::{Kernel, NONE, OpKind, Paths, Projection, Stop, Unattributed};
use crate::statistics::{Moments, percentile};
use foldhash::HashMap;

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
    /// Which names make groups.
    pub naming: Naming,
    /// Index into the threads, or [`NONE`] without a call.
    pub thread: u32,
    /// Index into the names of ranges, or [`NONE`] outside all of them.
    pub name: u32,
    /// The ranges are pushed and popped.
    pub is_push_pop: bool,
    /// Number of the kernel's name.
    pub kernel_name: i64,
    /// Ranges in which the kernel was launched.
    pub ranges: i64,
    /// Executions.
    pub calls: i64,
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

/// Every kernel in the ranges of each name, thread by thread. `None`: it was stopped.
///
/// `printed` says which names are one and the same to a reader.
pub fn range_kernels(
    projection: &Projection,
    naming: Naming,
    printed: &[u32],
    stop: Stop<'_>,
) -> Option<Vec<RangeKernel>> {
    let capture = &projection.attribution.capture;
    let mut names: Vec<i64> = capture.kernels.iter().map(|kernel| naming.of(kernel)).collect();
    names.sort_unstable();
    names.dedup();
    let group_of_kernel: Vec<u32> = capture
        .kernels
        .iter()
        .map(|kernel| names.partition_point(|&name| name < naming.of(kernel)) as u32)
        .collect();
    let mut collector = Collector {
        projection,
        naming,
        names: &names,
        group_of_kernel: &group_of_kernel,
        pairs: Vec::new(),
        samples: vec![Sample::default(); names.len()],
        last_group: vec![0; capture.ops.len()],
        group: 0,
        rows: Vec::new(),
    };
    let key = |index: u32| {
        let range = &capture.ranges[index as usize];
        (range.thread, printed[range.name as usize], range.is_push_pop)
    };
    let mut order: Vec<u32> =
        (0..capture.ranges.len() as u32).filter(|&index| projection.has_work(index as usize)).collect();
    order.sort_by_key(|&index| key(index));
    for ranges in order.chunk_by(|&a, &b| key(a) == key(b)) {
        if stop() {
            return None;
        }
        let (thread, name, is_push_pop) = key(ranges[0]);
        for &range in ranges {
            for launch in projection.launches_in(range as usize) {
                collector.take(launch, range);
            }
        }
        collector.finish(thread, name, is_push_pop);
    }
    collector.outside();
    Some(collector.rows)
}

#[derive(Debug, Clone, Copy, Default)]
struct Sample {
    ranges: u32,
    calls: u32,
    last_range: u32,
}

/// Gathers the executions of one group of ranges after the other.
struct Collector<'a> {
    projection: &'a Projection,
    naming: Naming,
    names: &'a [i64],
    group_of_kernel: &'a [u32],
    /// (kernel's name, time) of the group at hand.
    pairs: Vec<(u32, i64)>,
    samples: Vec<Sample>,
    /// The last group that counted each operation, so that one inside two ranges is one call.
    last_group: Vec<u32>,
    group: u32,
    rows: Vec<RangeKernel>,
}

impl Collector<'_> {
    fn take(&mut self, launch: usize, range: u32) {
        let places = self.projection.op_places(launch);
        for place in places {
            let op = &self.projection.attribution.capture.ops[place];
            self.take_op(place, op, range);
        }
    }

    fn take_op(&mut self, place: usize, op: &super::Op, range: u32) {
        if op.kind != OpKind::Kernel {
            return;
        }
        let name = self.group_of_kernel[op.kernel as usize];
        self.pairs.push((name, op.dur()));
        let sample = &mut self.samples[name as usize];
        if range != NONE && sample.last_range != range + 1 {
            sample.last_range = range + 1;
            sample.ranges += 1;
        }
        if self.last_group[place] != self.group + 1 {
            self.last_group[place] = self.group + 1;
            sample.calls += 1;
        }
    }

    /// Turns what was gathered into rows, by name of the kernel.
    fn finish(&mut self, thread: u32, name: u32, is_push_pop: bool) {
        self.group += 1;
        self.pairs.sort_unstable();
        let mut values = Vec::new();
        for pairs in self.pairs.chunk_by(|a, b| a.0 == b.0) {
            let kernel = pairs[0].0 as usize;
            let sample = std::mem::take(&mut self.samples[kernel]);
            values.clear();
            values.extend(pairs.iter().map(|pair| pair.1 as f64));
            let mut moments = Moments::default();
            values.iter().for_each(|&value| moments.add(value));
            let total_ns: i64 = pairs.iter().map(|pair| pair.1).fold(0, i64::saturating_add);
            self.rows.push(RangeKernel {
                naming: self.naming,
                thread,
                name,
                is_push_pop,
                kernel_name: self.names[kernel],
                ranges: i64::from(sample.ranges),
                calls: i64::from(sample.calls),
                total_ns,
                mean_ns: total_ns as f64 / pairs.len() as f64,
                median_ns: percentile(&mut values, 50.0).unwrap_or_default(),
                min_ns: pairs[0].1,
                max_ns: pairs[pairs.len() - 1].1,
                stddev_ns: moments.stddev().unwrap_or_default(),
            });
        }
        self.pairs.clear();
    }

    /// The kernels in no range, by thread; those without a call last.
    fn outside(&mut self) {
        let capture = &self.projection.attribution.capture;
        let thread_of = |op: &super::Op| {
            capture.launches.get(op.launch as usize).map_or(NONE, |launch| launch.thread)
        };
        let mut outside: Vec<usize> = (0..capture.ops.len())
            .filter(|&place| self.projection.attribution.innermost(&capture.ops[place]) == NONE)
            .collect();
        outside.sort_by_key(|&place| thread_of(&capture.ops[place]));
        for places in outside.chunk_by(|&a, &b| thread_of(&capture.ops[a]) == thread_of(&capture.ops[b]))
        {
            for &place in places {
                let op = &capture.ops[place];
                self.take_op(place, op, NONE);
            }
            self.finish(thread_of(&capture.ops[places[0]]), NONE, false);
        }
    }
}
