//! Ranges that launched anything, name by name.

use super::attribution::slice_of;
use super::groups::by_group;
use super::{Pace, Projection, Stop};

/// How names and threads read, and in which order they are listed.
#[derive(Debug, Clone, Copy)]
pub struct Listing<'a> {
    /// Of each name, the first that reads the same.
    pub printed: &'a [u32],
    /// Of each name, its place in the order; 0 where nothing is printed.
    pub names: &'a [u32],
    /// Of each thread, its place in the order, 0 where it has no number; those that read the same share one.
    pub threads: &'a [u32],
}

/// The ranges that launched anything and that `is_shown` holds for, by name, thread and time.
///
/// Names come in the order in which they were met, which is roughly that of time: neighbours in the
/// result are mostly neighbours in memory, too. `None`: it was stopped.
pub(super) fn by_name(
    projection: &Projection,
    listing: Listing<'_>,
    is_shown: impl Fn(usize) -> bool,
    stop: Stop<'_>,
) -> Option<Vec<u32>> {
    let mut pace = Pace::new(stop);
    let ranges = &projection.attribution.capture.ranges;
    let mut threads: Vec<u32> = (0..listing.threads.len() as u32).collect();
    threads.sort_by_key(|&thread| listing.threads[thread as usize]);
    let by_thread: Vec<u32> = threads
        .into_iter()
        .flat_map(|thread| slice_of(ranges, thread, |range| range.thread))
        .take_while(|_| !pace.is_over())
        .filter(|&index| projection.has_work(index) && is_shown(index))
        .map(|index| index as u32)
        .collect();
    if stop() {
        return None;
    }
    let name_of = |&index: &u32| listing.printed[ranges[index as usize].name as usize];
    Some(by_group(&by_thread, listing.printed.len(), name_of).0)
}
