//! Sorts elements into groups, and works on groups in parallel if there are enough elements.

use crate::threads::Threads;
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Below this number of elements, starting a second thread does not pay.
const WORTH_SHARING: usize = 50_000;

/// The order by group, and within each group by `key_at`, as indices. `groups_of` has the group of each element. Also returns
/// the start of each group and the end of the last.
///
/// Rows of a report are mostly sorted by time, so most groups are sorted already.
pub(super) fn order_in_groups<K: Ord>(
    groups_of: &[u32],
    groups: usize,
    key_at: impl Fn(u32) -> K + Sync,
    threads: Threads,
) -> (Vec<u32>, Vec<usize>) {
    let (mut order, bounds) = by_group(groups_of, groups);
    let size = order.len();
    let key = |&index: &u32| key_at(index);
    run_shared(split(&mut order, &bounds), (size, threads), |group| {
        if !group.is_sorted_by_key(key) {
            group.sort_by_cached_key(key);
        }
    });
    (order, bounds)
}

/// The stable order by group, as indices. Also returns the start of each group and the end of the last.
fn by_group(groups_of: &[u32], groups: usize) -> (Vec<u32>, Vec<usize>) {
    let mut bounds = vec![0; groups + 1];
    for &group in groups_of {
        bounds[group as usize + 1] += 1;
    }
    for group in 0..groups {
        bounds[group + 1] += bounds[group];
    }
    let mut next = bounds.clone();
    let mut order = vec![0u32; groups_of.len()];
    for (index, &group) in (0u32..).zip(groups_of) {
        let place = &mut next[group as usize];
        order[*place] = index;
        *place += 1;
    }
    (order, bounds)
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

/// Calls `work` on all pieces, on two threads if they are allowed and `size`, the total number of elements,
/// is large enough.
pub(super) fn run_shared<P: Send>(
    pieces: Vec<P>,
    (size, threads): (usize, Threads),
    work: impl Fn(P) + Sync,
) {
    if size < WORTH_SHARING || !threads.may_share() {
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

/// The most pieces that a sequence is split into: enough for both threads to finish at about the same time.
const PIECES: usize = 32;

/// Splits a sequence into pieces of about the same length. Neighbours that are `alike` stay together.
pub(super) fn pieces<T>(elements: &[T], alike: impl Fn(&T, &T) -> bool) -> Vec<&[T]> {
    let length = elements.len().div_ceil(PIECES).max(1);
    let (mut pieces, mut rest) = (Vec::new(), elements);
    while rest.len() > length {
        let (last, behind) = (&rest[length - 1], &rest[length..]);
        let more = behind.iter().take_while(|element| alike(last, element)).count();
        let (piece, behind) = rest.split_at(length + more);
        pieces.push(piece);
        rest = behind;
    }
    pieces.push(rest);
    pieces
}

/// Like [`run_shared`], but returns the results in the order of the pieces.
pub(super) fn map_shared<P: Send, R: Send>(
    pieces: Vec<P>,
    size: (usize, Threads),
    work: impl Fn(P) -> Vec<R> + Sync,
) -> Vec<Vec<R>> {
    let mut parts: Vec<Vec<R>> = pieces.iter().map(|_| Vec::new()).collect();
    let places = parts.iter_mut().zip(pieces);
    run_shared(places.collect(), size, |(part, piece)| *part = work(piece));
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_complete_and_keep_alike_elements_together() {
        let elements: Vec<usize> = (0..1000).map(|n| n / 7).collect();
        for length in [0, 1, 7, 8, 9, 1000] {
            let pieces = pieces(&elements[..length], |a, b| a == b);
            assert_eq!(pieces.concat(), elements[..length]);
            assert!(pieces.windows(2).all(|two| two[0].last() != two[1].first()));
            assert!(pieces.len() <= PIECES);
        }
    }
}
