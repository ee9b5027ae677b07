//! Totals of each range: its launches are a slice, and prefix sums give the totals of slices.

use super::extremes::Extremes;
use super::groups::{run_shared, split};
use super::{Attribution, Failure, NONE, Op, OpKind, Ops, Reach, Stop, StopCheck};
use crate::interval::union_length;
use std::sync::OnceLock;

/// The launches inside a range: `from..to`, except for those that end after the range if it `has_holes`.
///
/// Calls on a thread follow each other, so the launches inside a range are consecutive in order of start.
/// Holes occur only if calls overlap, because they nest or run on different threads: then a launch that
/// ends after the range can be between launches that do not.
#[derive(Debug, Clone, Copy, Default)]
struct Slice {
    from: u32,
    to: u32,
    has_holes: bool,
}

/// Decides whether to keep the operations of a launch. `None` asks for operations without a launch.
pub type Keep<'a> = &'a dyn Fn(&Attribution, Option<u32>) -> bool;

/// All ranges with the GPU work that was launched inside them.
#[derive(Debug, Default)]
pub struct Projection {
    /// The capture, and how its ranges nest.
    pub attribution: Attribution,
    slices: Vec<Slice>,
    /// For each range: the number of child ranges that launched work.
    children: Vec<u32>,
    sums: Sums,
    /// Operations in the order of their launches; those without a launch come last.
    op_order: OnceLock<Vec<u32>>,
    /// Start and end of the operations, in the order of `op_order`: a union reads them in one go.
    op_times: OnceLock<Vec<(i64, i64)>>,
    /// For each range: the work launched directly in it, outside nested ranges.
    direct: OnceLock<Direct>,
}

/// Prefix sums over launches.
#[derive(Debug, Default)]
struct Sums {
    /// `op_places[l]..op_places[l + 1]`: the places of the operations of launch `l` in `op_order`.
    op_places: Vec<u32>,
    /// Total duration of the operations before those of launch `l`.
    gpu_before: Vec<i64>,
    /// Number of whole graphs among the operations before those of launch `l`; empty if there are none.
    graphs_before: Vec<u32>,
    /// `!start` of the first operation of each launch. The bitwise NOT makes the maximum the earliest.
    first_start: Extremes,
    /// End of the last operation of each launch.
    last_end: Extremes,
}

/// Work launched directly in a range, outside nested ranges.
#[derive(Debug, Clone, Copy, Default)]
pub struct Own {
    /// Number of operations.
    pub ops: u32,
    /// Number of launches.
    pub launches: u32,
    /// Sum of the operations' durations.
    pub gpu_ns: i64,
}

/// The launches that are directly in a range.
#[derive(Debug)]
struct Direct {
    /// Launches by their innermost range.
    launches: Vec<u32>,
    /// Of each range, the end of its launches; they begin at the end of those before.
    ends: Vec<u32>,
}

impl Direct {
    fn new(innermost: &[u32], ranges: usize) -> Self {
        let inside = |&innermost: &u32| (innermost as usize) < ranges;
        let mut ends = vec![0u32; ranges];
        innermost.iter().filter(|range| inside(range)).for_each(|&range| ends[range as usize] += 1);
        let mut count = 0;
        for end in &mut ends {
            // The place of the first one, which moves on to the end below.
            (*end, count) = (count, count + *end);
        }
        let mut launches = vec![0u32; count as usize];
        for (launch, &range) in (0u32..).zip(innermost).filter(|(_, range)| inside(range)) {
            let next = &mut ends[range as usize];
            launches[*next as usize] = launch;
            *next += 1;
        }
        Self { launches, ends }
    }

    fn launches_of(&self, range: usize) -> &[u32] {
        let from = range.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.launches[from as usize..self.ends[range] as usize]
    }
}

/// Work launched inside a range, including nested ranges.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Work {
    /// Number of operations.
    pub ops: u32,
    /// Number of launches.
    pub launches: u32,
    /// Number of operations that are whole graphs.
    pub graphs: u32,
    /// Sum of the operations' durations.
    pub gpu_ns: i64,
}

impl Projection {
    /// Computes the projection. With `keep`, only of the operations that it keeps.
    pub fn new(
        mut attribution: Attribution,
        keep: Option<Keep<'_>>,
        stop: Stop<'_>,
    ) -> Result<Self, Failure> {
        if let Some(keep) = keep {
            let kept: Vec<bool> = (0..attribution.capture.launches.len() as u32)
                .map(|launch| keep(&attribution, Some(launch)))
                .collect();
            let others = keep(&attribution, None);
            let is_kept = |op: &Op| kept.get(op.launch as usize).copied().unwrap_or(others);
            attribution.capture.ops.retain(is_kept);
            attribution.drop_unused_launches();
        }
        let (ops, launches) = (&attribution.capture.ops, attribution.capture.launches.len());
        let sliced = || {
            let slices = slices(&attribution, stop)?;
            let children = children(&slices, &attribution.parent);
            Some((slices, children))
        };
        let (sliced, sums) = stop.threads().both(sliced, || sums(ops, launches, stop));
        let (sums, (slices, children)) = (sums?, sliced.ok_or(Failure::Stopped)?);
        let (op_order, op_times, direct) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        Ok(Self { attribution, slices, children, sums, op_order, op_times, direct })
    }

    /// Indices of the operations in the order of their launches; those without a launch come last.
    pub(super) fn op_order(&self) -> &[u32] {
        self.op_order.get_or_init(|| {
            let ops = &self.attribution.capture.ops;
            let mut next = self.sums.op_places.clone();
            let mut order = vec![0u32; ops.len()];
            let launches = next.len() - 1;
            for (index, op) in (0u32..).zip(ops.iter()) {
                let place = &mut next[(op.launch as usize).min(launches)];
                order[*place as usize] = index;
                *place += 1;
            }
            order
        })
    }

    /// The places in `op_order` of the operations of launches `from..to`.
    pub(super) fn op_places(&self, from: usize, to: usize) -> std::ops::Range<usize> {
        let places = &self.sums.op_places;
        places[from] as usize..places[to] as usize
    }

    /// Start and end of the operations of launches `from..to`.
    pub(super) fn op_times(&self, from: usize, to: usize) -> &[(i64, i64)] {
        let times = self.op_times.get_or_init(|| {
            let ops = &self.attribution.capture.ops;
            self.op_order().iter().map(|&index| ops.times(index as usize)).collect()
        });
        &times[self.op_places(from, to)]
    }

    /// The launches inside a range.
    pub fn launches_in(&self, range: usize) -> impl Iterator<Item = usize> + '_ {
        let slice = self.slices[range];
        let end = self.attribution.capture.ranges.at(range).end;
        (slice.from as usize..slice.to as usize).filter(move |&launch| {
            !slice.has_holes || self.attribution.capture.launches.at(launch).end <= end
        })
    }

    /// The slice from the first to the last launch inside a range; see [`Self::has_holes`].
    pub(super) fn span(&self, range: usize) -> std::ops::Range<usize> {
        self.slices[range].from as usize..self.slices[range].to as usize
    }

    /// Whether some launches in [`Self::span`] are not inside the range.
    pub(super) fn has_holes(&self, range: usize) -> bool {
        self.slices[range].has_holes
    }

    /// Appends the slices of consecutive launches inside a range to `found`.
    pub(super) fn stretches_in(&self, range: usize, found: &mut Vec<(u32, u32)>) {
        let slice = self.slices[range];
        match slice.has_holes {
            false if slice.from < slice.to => found.push((slice.from, slice.to)),
            false => {}
            true => found.extend(self.launches_in(range).map(|l| (l as u32, l as u32 + 1))),
        }
    }

    /// The work of launches `from..to`.
    pub(super) fn work_of(&self, from: usize, to: usize) -> Work {
        let count = |counts: &[u32]| counts.get(to).map_or(0, |&after| after - counts[from]);
        Work {
            ops: count(&self.sums.op_places),
            launches: (to - from) as u32,
            graphs: count(&self.sums.graphs_before),
            gpu_ns: self.sums.gpu_before[to] - self.sums.gpu_before[from],
        }
    }

    /// The work launched inside a range, including nested ranges.
    pub fn work(&self, range: usize) -> Work {
        let slice = self.slices[range];
        if !slice.has_holes {
            return self.work_of(slice.from as usize, slice.to as usize);
        }
        self.launches_in(range).fold(Work::default(), |sum, launch| {
            let one = self.work_of(launch, launch + 1);
            Work {
                ops: sum.ops + one.ops,
                launches: sum.launches + one.launches,
                graphs: sum.graphs + one.graphs,
                gpu_ns: sum.gpu_ns + one.gpu_ns,
            }
        })
    }

    /// The work launched directly in a range.
    pub fn own(&self, range: usize) -> Own {
        let direct = self.direct.get_or_init(|| {
            Direct::new(self.attribution.innermost_of(), self.attribution.capture.ranges.len())
        });
        direct.launches_of(range).iter().fold(Own::default(), |sum, &launch| {
            let work = self.work_of(launch as usize, launch as usize + 1);
            Own { ops: sum.ops + work.ops, launches: sum.launches + 1, gpu_ns: sum.gpu_ns + work.gpu_ns }
        })
    }

    /// The number of child ranges that launched work.
    pub fn children(&self, range: usize) -> u32 {
        self.children[range]
    }

    /// The first start and the last end on the GPU of a range's operations; `None` without any.
    pub fn extent(&self, range: usize) -> Option<(i64, i64)> {
        let slice = self.slices[range];
        let (from, to) = (slice.from as usize, slice.to as usize);
        let (start, end) = if slice.has_holes {
            self.launches_in(range).fold((i64::MIN, i64::MIN), |(start, end), launch| {
                let here = (
                    self.sums.first_start.greatest(launch, launch + 1),
                    self.sums.last_end.greatest(launch, launch + 1),
                );
                (start.max(here.0), end.max(here.1))
            })
        } else {
            (self.sums.first_start.greatest(from, to), self.sums.last_end.greatest(from, to))
        };
        (start != i64::MIN).then_some((!start, end))
    }

    /// Length of the union of a range's operations; `None` without any.
    pub fn busy(&self, range: usize, buffer: &mut Vec<(i64, i64)>) -> Option<i64> {
        buffer.clear();
        let slice = self.slices[range];
        if slice.has_holes {
            self.launches_in(range)
                .for_each(|launch| buffer.extend_from_slice(self.op_times(launch, launch + 1)));
        } else {
            buffer.extend_from_slice(self.op_times(slice.from as usize, slice.to as usize));
        }
        (!buffer.is_empty()).then(|| union_length(buffer))
    }

    /// Whether work was launched in the range.
    pub fn has_work(&self, range: usize) -> bool {
        // A slice that is not empty always ends with a launch inside the range.
        self.slices[range].from < self.slices[range].to
    }

    /// The cost of computing a range's totals, in launches to visit one by one.
    pub(super) fn cost(&self, range: usize) -> usize {
        let slice = self.slices[range];
        1 + if slice.has_holes { (slice.to - slice.from) as usize } else { 0 }
    }
}

/// Computes the prefix sums over launches.
fn sums(ops: &Ops, launches: usize, stop: Stop<'_>) -> Result<Sums, Failure> {
    let mut check = StopCheck::new(stop);
    let (mut op_places, mut gpu_before) = (vec![0u32; launches + 1], vec![0i64; launches + 1]);
    let mut graphs_before = Vec::new();
    let (mut first_start, mut last_end) = (vec![i64::MIN; launches], vec![i64::MIN; launches]);
    // Sum absolute values: negative durations must not hide an overflow of a partial sum.
    let mut total = 0u128;
    for op in ops.iter() {
        if check.must_stop() {
            return Err(Failure::Stopped);
        }
        total += u128::from(op.dur().unsigned_abs());
        let launch = op.launch as usize;
        let (Some(start), Some(end)) = (first_start.get_mut(launch), last_end.get_mut(launch)) else {
            continue;
        };
        (*start, *end) = ((!op.start).max(*start), op.end.max(*end));
        op_places[launch + 1] += 1;
        gpu_before[launch + 1] = gpu_before[launch + 1].wrapping_add(op.dur());
        if op.kind == OpKind::Graph {
            graphs_before.resize(launches + 1, 0);
            graphs_before[launch + 1] += 1;
        }
    }
    if i64::try_from(total).is_err() {
        return Err(Failure::Overflow);
    }
    for launch in 0..launches {
        op_places[launch + 1] += op_places[launch];
        gpu_before[launch + 1] += gpu_before[launch];
    }
    for launch in 1..graphs_before.len() {
        graphs_before[launch] += graphs_before[launch - 1];
    }
    let (first_start, last_end) = (Extremes::new(first_start), Extremes::new(last_end));
    Ok(Sums { op_places, gpu_before, graphs_before, first_start, last_end })
}

/// For each range: the number of child ranges that launched work.
fn children(slices: &[Slice], parents: &[u32]) -> Vec<u32> {
    let mut children = vec![0; slices.len()];
    for (slice, &parent) in slices.iter().zip(parents) {
        if slice.from < slice.to && parent != NONE {
            children[parent as usize] += 1;
        }
    }
    children
}

/// The slice of each range. A slice is empty or ends with a launch inside the range. `None` if it was
/// stopped.
fn slices(attribution: &Attribution, stop: Stop<'_>) -> Option<Vec<Slice>> {
    let capture = &attribution.capture;
    let (ranges, launches) = (&capture.ranges, &capture.launches);
    let threads = capture.threads.len();
    let bounds: Vec<usize> =
        (0..=threads as u32).map(|thread| ranges.threads().partition_point(|&of| of < thread)).collect();
    let mut slices = vec![Slice::default(); ranges.len()];
    let pieces = split(&mut slices, &bounds).into_iter().zip(&bounds).zip(0..threads as u32);
    run_shared(pieces.collect(), (ranges.len(), stop.threads()), |((slices, &first), thread)| {
        let places = attribution.launches_of(thread);
        let here = |place: usize| launches.at(places.start + place);
        if places.is_empty() || slices.is_empty() || stop.is_over() {
            return;
        }
        // If the ends are sorted too, no slice can have holes.
        let ends = || places.clone().map(|place| launches.at(place).end);
        let ends = (!ends().is_sorted()).then(|| Extremes::new(ends().collect()));
        let starts = &launches.starts()[places.clone()];
        let mut check = StopCheck::new(stop);
        let mut from = 0;
        for (slice, range) in slices.iter_mut().zip((first..).map(|place| ranges.at(place))) {
            while starts.get(from).is_some_and(|&start| start < range.start) {
                from += 1;
            }
            if range.is_cross_thread && attribution.reach == Reach::Thread {
                continue;
            }
            let mut to = from + gallop(&starts[from..], |&start| start <= range.end);
            let reached = to;
            while to > from && here(to - 1).end > range.end {
                to -= 1;
            }
            if check.must_stop_after(1 + reached - to) {
                return;
            }
            let has_holes = ends.as_ref().is_some_and(|ends| ends.greatest(from, to) > range.end);
            let place = |index: usize| (places.start + index) as u32;
            *slice = Slice { from: place(from), to: place(to), has_holes };
        }
    });
    (!stop.is_over()).then_some(slices)
}

/// Like `partition_point`, but faster if the point is near the start: most ranges contain few launches.
fn gallop<T>(elements: &[T], holds: impl Fn(&T) -> bool) -> usize {
    let mut width = 1;
    while elements.get(width - 1).is_some_and(&holds) {
        width *= 2;
    }
    let from = width / 2;
    from + elements[from..width.min(elements.len())].partition_point(holds)
}
