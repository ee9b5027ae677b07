//! Sorts elements into groups, and works on groups in parallel if there are enough elements.

use crate::threads::Threads;
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Below this number of elements, starting a second thread does not pay.
const WORTH_SHARING: usize = 50_000;

/// Sorts by group, and within each group by `key`. Also returns the start of each group and the end of the
/// last.
pub(super) fn sort_in_groups<T: Copy + Sync, K: Ord>(
    elements: Vec<T>,
    groups: usize,
    group_of: impl Fn(&T) -> u32,
    key: impl Fn(&T) -> K + Sync,
    threads: Threads,
) -> (Vec<T>, Vec<usize>) {
    if elements.is_sorted_by_key(|element| (group_of(element), key(element))) {
        let begin = |group| elements.partition_point(|element| group_of(element) < group);
        let bounds = (0..=groups as u32).map(begin).collect();
        return (elements, bounds);
    }
    let (order, bounds) = order_in_groups(&elements, groups, group_of, key, threads);
    (gather(&elements, &order), bounds)
}

/// The order by group, and within each group by `key`, as indices. Also returns the start of each group and
/// the end of the last.
///
/// Rows of a report are mostly sorted by time, so most groups are sorted already.
pub(super) fn order_in_groups<T: Sync, K: Ord>(
    elements: &[T],
    groups: usize,
    group_of: impl Fn(&T) -> u32,
    key: impl Fn(&T) -> K + Sync,
    threads: Threads,
) -> (Vec<u32>, Vec<usize>) {
    let (mut order, bounds) = by_group(elements, groups, group_of);
    let size = order.len();
    let key_at = |&index: &u32| key(&elements[index as usize]);
    run_shared(split(&mut order, &bounds), (size, threads), |group| {
        if !group.is_sorted_by_key(key_at) {
            group.sort_by_cached_key(key_at);
        }
    });
    (order, bounds)
}

/// The stable order by group, as indices. Also returns the start of each group and the end of the last.
fn by_group<T>(elements: &[T], groups: usize, group_of: impl Fn(&T) -> u32) -> (Vec<u32>, Vec<usize>) {
    let mut bounds = vec![0; groups + 1];
    for element in elements {
        bounds[group_of(element) as usize + 1] += 1;
    }
    for group in 0..groups {
        bounds[group + 1] += bounds[group];
    }
    let mut next = bounds.clone();
    let mut order = vec![0u32; elements.len()];
    for (index, element) in (0u32..).zip(elements) {
        let place = &mut next[group_of(element) as usize];
        order[*place] = index;
        *place += 1;
    }
    (order, bounds)
}

/// The elements at these places.
pub(super) fn gather<T: Copy>(elements: &[T], places: &[u32]) -> Vec<T> {
    places.iter().map(|&place| elements[place as usize]).collect()
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
