//! Totals of ranges by name.
//!
//! Ranges are visited in array order, because the data of neighbours is also adjacent. Each range stores its
//! extent in the slots of its group, and adds the rest to the group's totals.

use super::by_name::Listing;
use super::groups::map_shared;
use super::{NONE, Projection, Stop, StopCheck};
use crate::statistics::{percentile, whole_stddev};
use std::cmp::Reverse;
use std::ops;

/// Totals of all ranges of one name and kind that launched work.
#[derive(Debug, Clone, Copy)]
pub struct RangeSum {
    /// Index into the names of ranges.
    pub name: u32,
    /// The ranges are push/pop ranges.
    pub is_push_pop: bool,
    /// Number of ranges.
    pub ranges: i64,
    /// Sum of their durations on the CPU.
    pub range_ns: i64,
    /// Sum of their extents on the GPU: first start to last end of their operations.
    pub extent_ns: i64,
    /// Median extent.
    pub median_ns: f64,
    /// Shortest extent.
    pub min_ns: i64,
    /// Longest extent.
    pub max_ns: i64,
    /// Sample standard deviation of the extents.
    pub stddev_ns: f64,
    /// Number of operations launched inside, summed over the ranges.
    pub ops: i64,
    /// Number of launches inside, summed over the ranges.
    pub launches: i64,
    /// Duration of the operations launched inside, summed over the ranges.
    pub gpu_ns: i64,
    /// Sum of the ranges' depths.
    pub depths: i64,
    /// Number of child ranges that launched work, summed over the ranges.
    pub children: i64,
}

/// The totals by name of the ranges for which `is_shown` is true, sorted by extent, descending. `None` if it
/// was stopped.
pub fn range_sums(
    projection: &Projection,
    listing: Listing<'_>,
    is_shown: impl Fn(usize) -> bool,
    stop: Stop<'_>,
) -> Option<Vec<RangeSum>> {
    let sums = || {
        let groups = Groups::of(projection, listing.printed, is_shown, stop)?;
        let parts =
            map_shared(groups.parts.iter().collect(), (groups.of_range.len(), stop.threads()), |part| {
                Vec::from_iter(part.totals(projection, &groups, stop))
            });
        // If any part was stopped, the whole result is.
        let parts = parts.into_iter().map(|mut part| part.pop()).collect::<Option<Vec<Totals>>>()?;
        let sums = map_shared(groups.pieces(), (groups.of_range.len(), stop.threads()), |piece| {
            let (mut check, mut extents) = (StopCheck::new(stop), Vec::new());
            let sum = |group| sum_of(&groups, &parts, group, &mut extents, &mut check);
            piece.map_while(sum).collect()
        });
        Some(sums)
    };
    let (names, sums) = stop.threads().both(listing.names, sums);
    let mut sums = sums?.concat();
    if stop.is_over() {
        return None;
    }
    sums.sort_unstable_by_key(|sum| {
        (Reverse(sum.extent_ns), names[sum.name as usize], !sum.is_push_pop)
    });
    Some(sums)
}

/// Number of parts that the ranges are split into, one for each thread.
const PARTS: usize = 2;

/// Groups of ranges with the same name and kind.
struct Groups {
    /// For each group: the printed name, and whether the ranges are push/pop ranges.
    keys: Vec<(u32, bool)>,
    /// For each range: its group, or [`NONE`] if it does not count.
    of_range: Vec<u32>,
    parts: Vec<Part>,
}

/// A run of consecutive ranges.
struct Part {
    ranges: ops::Range<usize>,
    /// `bounds[g]..bounds[g + 1]`: the slots for the extents of group `g`.
    bounds: Vec<u32>,
}

/// The totals of a part.
struct Totals {
    /// The extents, by group.
    extents: Vec<i64>,
    /// One total for each group.
    sums: Vec<Total>,
}

/// Sums over the ranges of a group.
#[derive(Debug, Clone, Copy, Default)]
struct Total {
    range_ns: i64,
    gpu_ns: i64,
    ops: i64,
    launches: i64,
    depths: i64,
    children: i64,
}

impl Total {
    /// The sum of both. Times saturate.
    fn and(self, other: Self) -> Self {
        Self {
            range_ns: self.range_ns.saturating_add(other.range_ns),
            gpu_ns: self.gpu_ns.saturating_add(other.gpu_ns),
            ops: self.ops + other.ops,
            launches: self.launches + other.launches,
            depths: self.depths + other.depths,
            children: self.children + other.children,
        }
    }
}

impl Groups {
    /// Groups the ranges that launched work and for which `is_shown` is true. `None` if it was stopped.
    fn of(
        projection: &Projection,
        printed: &[u32],
        is_shown: impl Fn(usize) -> bool,
        stop: Stop<'_>,
    ) -> Option<Self> {
        let mut check = StopCheck::new(stop);
        let ranges = &projection.attribution.capture.ranges;
        // Two entries for each name: push/pop ranges, then start/end ranges.
        let mut known = vec![NONE; 2 * printed.len()];
        let mut groups =
            Self { keys: Vec::new(), of_range: Vec::with_capacity(ranges.len()), parts: Vec::new() };
        let mut counts = Vec::new();
        for part in 0..PARTS {
            let part = ranges.len() * part / PARTS..ranges.len() * (part + 1) / PARTS;
            let mut count = vec![0u32; groups.keys.len()];
            for index in part.clone() {
                if check.must_stop() {
                    return None;
                }
                if !projection.has_work(index) || !is_shown(index) {
                    groups.of_range.push(NONE);
                    continue;
                }
                let range = ranges.at(index);
                let name = printed[range.name as usize];
                let group = &mut known[2 * name as usize + usize::from(!range.is_push_pop)];
                if *group == NONE {
                    *group = groups.keys.len() as u32;
                    groups.keys.push((name, range.is_push_pop));
                    count.push(0);
                }
                count[*group as usize] += 1;
                groups.of_range.push(*group);
            }
            counts.push((part, count));
        }
        for (ranges, mut count) in counts {
            count.resize(groups.keys.len(), 0);
            let mut end = 0;
            let ends = count.into_iter().map(|count| {
                end += count;
                end
            });
            let bounds = std::iter::once(0).chain(ends).collect();
            groups.parts.push(Part { ranges, bounds });
        }
        Some(groups)
    }

    /// The groups, in pieces with about the same number of ranges.
    fn pieces(&self) -> Vec<ops::Range<usize>> {
        const PIECES: usize = 8;
        let groups = self.keys.len();
        let before =
            |group: usize| self.parts.iter().map(|part| part.bounds[group] as usize).sum::<usize>();
        let length = before(groups).div_ceil(PIECES);
        let (mut pieces, mut first) = (Vec::new(), 0);
        for end in 1..=groups {
            if end == groups || before(end) - before(first) >= length {
                pieces.push(first..end);
                first = end;
            }
        }
        pieces
    }
}

impl Part {
    /// Adds up the part's ranges. `None` if it was stopped.
    fn totals(&self, projection: &Projection, groups: &Groups, stop: Stop<'_>) -> Option<Totals> {
        let mut check = StopCheck::new(stop);
        let ranges = &projection.attribution.capture.ranges;
        let mut next = self.bounds.clone();
        let mut extents = vec![0; self.bounds.last().map_or(0, |&end| end as usize)];
        let mut sums = vec![Total::default(); groups.keys.len()];
        for index in self.ranges.clone() {
            let group = groups.of_range[index] as usize;
            let Some(sum) = sums.get_mut(group) else { continue };
            if check.must_stop_after(projection.cost(index)) {
                return None;
            }
            // A range that launched work always has an extent.
            let (start, end) = projection.extent(index).unwrap_or_default();
            extents[next[group] as usize] = end - start;
            next[group] += 1;
            let (range, work) = (ranges.at(index), projection.work(index));
            *sum = sum.and(Total {
                range_ns: range.end - range.start,
                gpu_ns: work.gpu_ns,
                ops: work.ops.into(),
                launches: work.launches.into(),
                depths: projection.attribution.depth[index].into(),
                children: projection.children(index).into(),
            });
        }
        Some(Totals { extents, sums })
    }
}

/// The totals of a group; `None` if it was stopped.
fn sum_of(
    groups: &Groups,
    parts: &[Totals],
    group: usize,
    extents: &mut Vec<f64>,
    check: &mut StopCheck<'_>,
) -> Option<RangeSum> {
    let (name, is_push_pop) = groups.keys[group];
    let of_parts = groups.parts.iter().zip(parts).map(|(part, totals)| {
        &totals.extents[part.bounds[group] as usize..part.bounds[group + 1] as usize]
    });
    let values = of_parts.flatten().copied();
    extents.clear();
    extents.extend(values.clone().map(|extent| extent as f64));
    if check.must_stop_after(extents.len()) {
        return None;
    }
    let total = parts.iter().fold(Total::default(), |sum, part| sum.and(part.sums[group]));
    Some(RangeSum {
        name,
        is_push_pop,
        ranges: extents.len() as i64,
        range_ns: total.range_ns,
        extent_ns: values.clone().fold(0, i64::saturating_add),
        median_ns: percentile(extents, 50.0)?,
        min_ns: values.clone().min()?,
        max_ns: values.clone().max()?,
        stddev_ns: whole_stddev(values.map(|extent| (extent, 1)))?,
        ops: total.ops,
        launches: total.launches,
        gpu_ns: total.gpu_ns,
        depths: total.depths,
        children: total.children,
    })
}
