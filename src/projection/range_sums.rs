//! Ranges by name: what all ranges of a name amount to on the GPU.

use super::by_name::{Listing, by_name};
use super::groups::{pieces, share_out};
use super::{Pace, Projection, Stop};
use crate::statistics::{Moments, percentile};
use std::cmp::Reverse;

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

/// The sums by name, of the ranges that `is_shown` holds for; the greatest extents first.
/// `None`: it was stopped.
pub fn range_sums(
    projection: &Projection,
    listing: Listing<'_>,
    is_shown: impl Fn(usize) -> bool,
    stop: Stop<'_>,
) -> Option<Vec<RangeSum>> {
    let order = by_name(projection, listing, is_shown, stop)?;
    let ranges = &projection.attribution.capture.ranges;
    let name_of = |index: u32| listing.printed[ranges[index as usize].name as usize];
    let alike = |a: &u32, b: &u32| name_of(*a) == name_of(*b);
    let parts = share_out(pieces(&order, alike), order.len(), |piece| {
        let mut pace = Pace::new(stop);
        let (mut sums, mut extents) = (Vec::new(), Vec::new());
        for named in piece.chunk_by(alike) {
            for is_push_pop in [true, false] {
                sums.extend(sum_of(projection, listing, named, is_push_pop, &mut extents, &mut pace));
            }
        }
        sums
    });
    if stop() {
        return None;
    }
    let mut sums = parts.concat();
    sums.sort_unstable_by_key(|sum| {
        (Reverse(sum.extent_ns), listing.names[sum.name as usize], !sum.is_push_pop)
    });
    Some(sums)
}

/// The sum of those ranges of a name that are of the kind; `None` without any, or if it was stopped.
fn sum_of(
    projection: &Projection,
    listing: Listing<'_>,
    named: &[u32],
    is_push_pop: bool,
    extents: &mut Vec<f64>,
    pace: &mut Pace<'_>,
) -> Option<RangeSum> {
    let ranges = &projection.attribution.capture.ranges;
    let mut sum = RangeSum {
        name: listing.printed[ranges[*named.first()? as usize].name as usize],
        is_push_pop,
        ranges: 0,
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
    for index in named.iter().map(|&index| index as usize) {
        let range = &ranges[index];
        if range.is_push_pop != is_push_pop {
            continue;
        }
        if pace.is_over_after(projection.effort(index)) {
            return None;
        }
        let Some((start, end)) = projection.extent(index) else { continue };
        let (extent, work) = (end - start, projection.work(index));
        extents.push(extent as f64);
        moments.add(extent as f64);
        sum.ranges += 1;
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
    sum.median_ns = percentile(extents, 50.0)?;
    sum.stddev_ns = moments.stddev()?;
    Some(sum)
}
