//! Ranges by name: what all ranges of a name amount to on the GPU.

use super::Projection;
use crate::statistics::{Moments, percentile};
use std::panic::resume_unwind;
use std::thread;

/// All ranges of a name and kind that launched anything.
#[derive(Debug, Clone, Copy)]
pub struct RangeSum {
    /// Index into the names of ranges.
    pub name: u32,
    /// The ranges are pushed and popped.
    pub is_push_pop: bool,
    /// How many there are.
    pub ranges: i64,
    /// Sum of their lengths on the CPU.
    pub range_ns: i64,
    /// Sum of their extents on the GPU.
    pub extent_ns: i64,
    /// Median extent.
    pub median_ns: f64,
    /// Shortest extent.
    pub min_ns: i64,
    /// Longest extent.
    pub max_ns: i64,
    /// Sample standard deviation of the extents.
    pub stddev_ns: f64,
    /// Sum of the operations launched inside.
    pub ops: i64,
    /// Sum of the launches inside.
    pub launches: i64,
    /// Sum of the operations' lengths.
    pub gpu_ns: i64,
    /// Sum of the ranges' depths.
    pub depths: i64,
    /// Sum of the ranges directly below that launched anything.
    pub children: i64,
}

/// The sums by name; `printed` says which names are one and the same, `is_shown` which ranges count.
pub fn range_sums(
    projection: &Projection,
    printed: &[u32],
    is_shown: impl Fn(usize) -> bool,
) -> Vec<RangeSum> {
    let ranges = &projection.attribution.capture.ranges;
    let mut order: Vec<Named> = (0u32..)
        .zip(ranges)
        .filter(|(index, _)| projection.has_work(*index as usize) && is_shown(*index as usize))
        .map(|(index, range)| (printed[range.name as usize], range.is_push_pop, index))
        .collect();
    order.sort_unstable();
    // Two halves, side by side; a name is in one of them.
    let half = order.len() / 2;
    let same = order[half..].iter().take_while(|named| is_same(named, &order[half.saturating_sub(1)]));
    let (first, second) = order.split_at(half + same.count());
    thread::scope(|scope| {
        let second = scope.spawn(|| sums_of(projection, second));
        let mut sums = sums_of(projection, first);
        sums.append(&mut second.join().unwrap_or_else(|panic| resume_unwind(panic)));
        sums
    })
}

/// Name, kind and index of a range.
type Named = (u32, bool, u32);

fn is_same(a: &Named, b: &Named) -> bool {
    (a.0, a.1) == (b.0, b.1)
}

fn sums_of(projection: &Projection, order: &[Named]) -> Vec<RangeSum> {
    let ranges = &projection.attribution.capture.ranges;
    let mut extents = Vec::new();
    let mut sums = Vec::new();
    for named in order.chunk_by(is_same) {
        let mut sum = RangeSum {
            name: named[0].0,
            is_push_pop: named[0].1,
            ranges: named.len() as i64,
            range_ns: 0,
            extent_ns: 0,
            median_ns: 0.0,
            min_ns: i64::MAX,
            max_ns: i64::MIN,
            stddev_ns: 0.0,
            ops: 0,
            launches: 0,
            gpu_ns: 0,
            depths: 0,
            children: 0,
        };
        let mut moments = Moments::default();
        extents.clear();
        for &(_, _, index) in named {
            let index = index as usize;
            let range = &ranges[index];
            let Some((start, end)) = projection.extent(index) else { continue };
            let (extent, work) = (end - start, projection.work(index));
            extents.push(extent as f64);
            moments.add(extent as f64);
            sum.extent_ns = sum.extent_ns.saturating_add(extent);
            sum.min_ns = sum.min_ns.min(extent);
            sum.max_ns = sum.max_ns.max(extent);
            sum.range_ns = sum.range_ns.saturating_add(range.end - range.start);
            sum.ops += i64::from(work.ops);
            sum.launches += i64::from(work.launches);
            sum.gpu_ns = sum.gpu_ns.saturating_add(work.gpu_ns);
            sum.depths += i64::from(projection.attribution.depth[index]);
            sum.children += i64::from(projection.children(index));
        }
        sum.median_ns = percentile(&mut extents, 50.0).unwrap_or_default();
        sum.stddev_ns = moments.stddev().unwrap_or_default();
        sums.push(sum);
    }
    sums
}
