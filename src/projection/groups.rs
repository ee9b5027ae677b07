//! Work on groups of neighbours, side by side where that is worth it.

use std::sync::{Mutex, PoisonError};
use std::thread;

/// Elements below which a second core is not worth starting.
const WORTH_SHARING: usize = 50_000;

/// Sorts by group, and each group by `key`; also says where each group begins, and the last one ends.
///
/// Rows of a report come in order of time, so that within a group there is mostly nothing left to do.
pub(super) fn sort_in_groups<T: Copy + Send, K: Ord>(
    elements: Vec<T>,
    groups: usize,
    group_of: impl Fn(&T) -> u32,
    key: impl Fn(&T) -> K + Sync,
) -> (Vec<T>, Vec<usize>) {
    let mut bounds = vec![0; groups + 1];
    for element in &elements {
        bounds[group_of(element) as usize + 1] += 1;
    }
    for group in 0..groups {
        bounds[group + 1] += bounds[group];
    }
    let mut next = bounds.clone();
    let mut order = vec![0u32; elements.len()];
    for (index, element) in (0u32..).zip(&elements) {
        let place = &mut next[group_of(element) as usize];
        order[*place] = index;
        *place += 1;
    }
    let mut sorted: Vec<T> = order.iter().map(|&index| elements[index as usize]).collect();
    let size = sorted.len();
    share(split(&mut sorted, &bounds), size, |group| group.sort_by_key(&key));
    (sorted, bounds)
}

/// The elements of each group.
pub(super) fn split<'a, T>(mut elements: &'a mut [T], bounds: &[usize]) -> Vec<&'a mut [T]> {
    let mut groups = Vec::with_capacity(bounds.len());
    for bounds in bounds.windows(2) {
        let (here, rest) = elements.split_at_mut(bounds[1] - bounds[0]);
        groups.push(here);
        elements = rest;
    }
    groups
}

/// Does all pieces of work, of `size` elements in all.
pub(super) fn share<P: Send>(pieces: Vec<P>, size: usize, work: impl Fn(P) + Sync) {
    if size < WORTH_SHARING {
        return pieces.into_iter().for_each(work);
    }
    let pieces = Mutex::new(pieces.into_iter());
    let next = || pieces.lock().unwrap_or_else(PoisonError::into_inner).next();
    let run = || {
        while let Some(piece) = next() {
            work(piece);
        }
    };
    thread::scope(|scope| {
        scope.spawn(run);
        run();
    });
}
