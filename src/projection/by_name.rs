//! Ranges that launched anything, name by name.

use super::attribution::slice_of;
use super::{Pace, Projection, Stop};

/// How names and threads read, and in which order they are listed.
#[derive(Clone, Copy)]
pub struct Listing<'a> {
    /// Of each name, the first that reads the same.
    pub printed: &'a [u32],
    /// Finds out, of each name, its place in the order; 0 where nothing is printed.
    pub names: &'a (dyn Fn() -> &'a [u32] + Sync),
    /// Of each thread, its place in the order, 0 where it has no number; those that read the same share one.
    pub threads: &'a [u32],
}

/// A range with what is asked of it most: those of a name stand here and there in the capture.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Named {
    pub(super) range: u32,
    /// The name that is printed.
    pub(super) name: u32,
    pub(super) thread: u32,
    /// From the first launch inside it to behind the last one.
    pub(super) from: u32,
    pub(super) to: u32,
    pub(super) is_push_pop: bool,
    /// Not all launches between them are inside.
    pub(super) is_ragged: bool,
}

/// The ranges that launched anything, by name, thread and time.
///
/// Names come in the order in which they were met first, not in that of the listing. `None`: it was stopped.
pub(super) fn by_name(
    projection: &Projection,
    listing: Listing<'_>,
    stop: Stop<'_>,
) -> Option<Vec<Named>> {
    let mut pace = Pace::new(stop);
    let ranges = &projection.attribution.capture.ranges;
    let mut threads: Vec<u32> = (0..listing.threads.len() as u32).collect();
    threads.sort_by_key(|&thread| listing.threads[thread as usize]);
    let all = || {
        let of_thread = |&thread: &u32| slice_of(ranges, thread, |range| range.thread);
        threads.iter().flat_map(of_thread).filter(|&index| projection.has_work(index))
    };
    let name_of = |index: usize| listing.printed[ranges[index].name as usize];
    let mut next = vec![0u32; listing.printed.len() + 1];
    for index in all() {
        if pace.is_over() {
            return None;
        }
        next[name_of(index) as usize + 1] += 1;
    }
    for name in 1..next.len() {
        next[name] += next[name - 1];
    }
    let mut named = vec![Named::default(); next.last().map_or(0, |&count| count as usize)];
    for index in all() {
        if pace.is_over() {
            return None;
        }
        let (range, span, name) = (&ranges[index], projection.span(index), name_of(index));
        let place = &mut next[name as usize];
        named[*place as usize] = Named {
            range: index as u32,
            name,
            thread: range.thread,
            from: span.start as u32,
            to: span.end as u32,
            is_push_pop: range.is_push_pop,
            is_ragged: projection.is_ragged(index),
        };
        *place += 1;
    }
    Some(named)
}
