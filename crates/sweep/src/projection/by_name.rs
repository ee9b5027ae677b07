//! Groups the ranges that launched work by name.

use super::attribution::slice_of;
use super::{Projection, Stop, StopCheck};

/// The printed names, and the sort order of names and threads.
#[derive(Clone, Copy)]
pub struct Listing<'a> {
    /// For each name: the representative of all names with the same printed text.
    pub printed: &'a [u32],
    /// Computes the rank of each name in the order; 0 for names without a printed text.
    pub names: &'a (dyn Fn() -> &'a [u32] + Sync),
    /// For each thread: its rank in the order; 0 without an id. Threads with the same ids share a rank.
    pub threads: &'a [u32],
}

/// A range with its most used fields, copied to be adjacent: the ranges of a name are scattered over the
/// capture.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Named {
    pub(super) range: u32,
    /// The printed name.
    pub(super) name: u32,
    pub(super) thread: u32,
    /// The launches `from..to` are inside the range, except for holes.
    pub(super) from: u32,
    pub(super) to: u32,
    pub(super) is_push_pop: bool,
    /// Some launches in `from..to` are not inside the range.
    pub(super) has_holes: bool,
}

/// The ranges that launched work, sorted by name, thread and time.
///
/// Names are in numeric order, not in that of the listing. `None` if it was stopped.
pub(super) fn by_name(
    projection: &Projection,
    listing: Listing<'_>,
    stop: Stop<'_>,
) -> Option<Vec<Named>> {
    let mut check = StopCheck::new(stop);
    let ranges = &projection.attribution.capture.ranges;
    let mut threads: Vec<u32> = (0..listing.threads.len() as u32).collect();
    threads.sort_by_key(|&thread| listing.threads[thread as usize]);
    let all = || {
        let of_thread = |&thread: &u32| slice_of(ranges.threads(), thread);
        threads.iter().flat_map(of_thread).filter(|&index| projection.has_work(index))
    };
    let name_of = |index: usize| listing.printed[ranges.at(index).name as usize];
    let mut next = vec![0u32; listing.printed.len() + 1];
    for index in all() {
        if check.must_stop() {
            return None;
        }
        next[name_of(index) as usize + 1] += 1;
    }
    for name in 1..next.len() {
        next[name] += next[name - 1];
    }
    let mut named = vec![Named::default(); next.last().map_or(0, |&count| count as usize)];
    for index in all() {
        if check.must_stop() {
            return None;
        }
        let (range, span, name) = (ranges.at(index), projection.span(index), name_of(index));
        let place = &mut next[name as usize];
        named[*place as usize] = Named {
            range: index as u32,
            name,
            thread: range.thread,
            from: span.start as u32,
            to: span.end as u32,
            is_push_pop: range.is_push_pop,
            has_holes: projection.has_holes(index),
        };
        *place += 1;
    }
    Some(named)
}
