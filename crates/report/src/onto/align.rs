//! Which items of two sequences are the same, where each may lack some of the other's.
//!
//! `nsq_sweep::alignment` cannot say it: its longest common subsequence has a pair for each item that may be the same,
//! and here only what is sure to be the same has one.

use foldhash::{HashMap, HashMapExt};

/// Items that must be equal after a difference for the sequences to be in step again. At the end, fewer are enough.
const RUN: usize = 12;
/// Equal items at the start or the end of both sequences that are a pair, and no accident, though a difference is next.
const FEW: usize = 4;
/// Equal items one after the other that repeat as a step does, and not by accident.
const STEP: usize = 64;
/// Items that are searched first for the next run.
const NEAR: usize = 64;

/// Pairs of places, in order, that hold equal items of `left` and `right`.
///
/// Where the sequences differ, they go on at the nearest run of equal items. Every search looks at a few times as many
/// items as it skips, so that all take a time that grows as the sequences do.
///
/// A pair is left out if the difference next to it could as well be elsewhere, with another item of `right` in the
/// pair, unless `agree` says of both items of `right` that they mean the same: of three equal items, no sequence says
/// which one the other lacks. Pairs of a step that one sequence has more often stay.
pub(super) fn align(
    left: &[u64],
    right: &[u64],
    agree: impl Fn(usize, usize) -> bool,
) -> Vec<(usize, usize)> {
    let (left_runs, right_runs) = (runs(left), runs(right));
    let mut blocks = Vec::new();
    let (mut i, mut j) = (0, 0);
    loop {
        let equal = left[i..].iter().zip(&right[j..]).take_while(|(a, b)| a == b).count();
        if equal >= FEW.min(left.len()).min(right.len()) && equal > 0 {
            blocks.push((i, j, equal));
        }
        (i, j) = (i + equal, j + equal);
        let Some(next) = next_run((left, &left_runs, i), (right, &right_runs, j)) else { break };
        (i, j) = next;
    }
    let mut pairs = Vec::new();
    for (place, &(i, j, length)) in blocks.iter().enumerate() {
        let before = match place.checked_sub(1) {
            Some(before) => (blocks[before].0 + blocks[before].2, blocks[before].1 + blocks[before].2),
            None => (0, 0),
        };
        let after = blocks.get(place + 1).map_or((left.len(), right.len()), |next| (next.0, next.1));
        let from_start = movable(left, right, (before, (i, j)), length, true, &agree);
        let from_end = movable(left, right, ((i + length, j + length), after), length, false, &agree);
        pairs.extend(
            (from_start..length.saturating_sub(from_end)).map(|offset| (i + offset, j + offset)),
        );
    }
    pairs
}

/// A hash of the run that begins at each place. Those at the end are shorter.
fn runs(items: &[u64]) -> Vec<u64> {
    let hash = |place: usize| {
        let run = &items[place..(place + RUN).min(items.len())];
        let mixed = |sum: u64, item: &u64| (sum ^ sum >> 29).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ item;
        run.iter().fold(run.len() as u64, mixed)
    };
    (0..items.len()).map(hash).collect()
}

/// The nearest places from `i` and `j` on with a run of equal items.
fn next_run(
    (left, left_runs, i): (&[u64], &[u64], usize),
    (right, right_runs, j): (&[u64], &[u64], usize),
) -> Option<(usize, usize)> {
    let longest = (left.len() - i).max(right.len() - j);
    if i >= left.len() || j >= right.len() {
        return None;
    }
    let mut window = NEAR;
    loop {
        let left_near = &left_runs[i..(i + window).min(left.len())];
        let right_near = &right_runs[j..(j + window).min(right.len())];
        let mut first = HashMap::with_capacity(left_near.len());
        for (offset, run) in left_near.iter().enumerate() {
            first.entry(*run).or_insert(offset);
        }
        let nearest = right_near
            .iter()
            .enumerate()
            .filter_map(|(offset, run)| first.get(run).map(|other| (*other, offset)))
            .min_by_key(|(a, b)| (a + b, *a));
        if let Some((a, b)) = nearest
            && left[i + a] == right[j + b]
        {
            return Some((i + a, j + b));
        }
        if window >= longest {
            return None;
        }
        window *= 4;
    }
}

/// How many pairs of a block, from its start or its end, could be pairs of other items, because the difference there
/// could be moved into the block.
fn movable(
    left: &[u64],
    right: &[u64],
    ((left_from, right_from), (left_until, right_until)): ((usize, usize), (usize, usize)),
    length: usize,
    is_start: bool,
    agree: &impl Fn(usize, usize) -> bool,
) -> usize {
    let (skipped_left, skipped_right) = (left_until - left_from, right_until - right_from);
    // Of two differences, the longer one decides: where both lack items, nothing says which replaces which.
    let shift = skipped_left.abs_diff(skipped_right);
    if shift == 0 {
        return 0;
    }
    let is_left = skipped_left > skipped_right;
    let items = if is_left { left } else { right };
    let mut moved = 0;
    let (mut unsure, mut lacking) = (0, 0);
    while moved < length {
        // The item that leaves the pair, and the one that takes its place.
        let (stays, other) = if is_start {
            let stays = if is_left { left_until + moved } else { right_until + moved };
            (stays, stays.checked_sub(shift))
        } else {
            let stays = (if is_left { left_from } else { right_from }).checked_sub(moved + 1);
            let Some(stays) = stays else { break };
            (stays, Some(stays + shift))
        };
        let Some(other) = other.filter(|other| items.get(*other) == Some(&items[stays])) else { break };
        moved += 1;
        // Items of the left that could take a place have the same item of the right.
        let (mine, its) = if is_left {
            let right_place = if is_start { right_until + moved - 1 } else { right_from - moved };
            match if is_start { right_place.checked_add(shift) } else { right_place.checked_sub(shift) }
            {
                Some(its) if its < right.len() => (right_place, its),
                _ => (right_place, usize::MAX),
            }
        } else {
            (stays, other)
        };
        match its {
            usize::MAX => lacking = moved,
            _ if agree(mine, its) => {}
            _ => unsure = moved,
        }
    }
    // An item that has no pair if the difference is elsewhere is one of a step that one sequence has more often.
    if moved < STEP { unsure.max(lacking) } else { unsure }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A hundred different items, six times.
    fn steps() -> Vec<u64> {
        (0..600).map(|place| place % 100).collect()
    }

    fn never(_: usize, _: usize) -> bool {
        false
    }

    #[test]
    fn items_that_either_lacks_have_no_pair_and_the_others_have_theirs() {
        let (mut left, mut right): (Vec<_>, Vec<_>) =
            (steps().into_iter().enumerate().collect(), steps().into_iter().enumerate().collect());
        for place in [550, 410, 333, 17] {
            left.remove(place);
            right.remove(place - 10);
        }
        let items =
            |sequence: &[(usize, u64)]| sequence.iter().map(|(_, item)| *item).collect::<Vec<_>>();
        let pairs = align(&items(&left), &items(&right), never);
        assert!(pairs.len() > 500, "{}", pairs.len());
        assert!(pairs.iter().all(|(a, b)| left[*a].0 == right[*b].0));
    }

    #[test]
    fn nothing_says_which_of_equal_items_is_lacking() {
        let left: Vec<u64> = (0..20).chain([7, 7, 7]).chain(20..40).collect();
        let right: Vec<u64> = (0..20).chain([7, 7]).chain(20..40).collect();
        let pairs = align(&left, &right, never);
        assert_eq!(pairs.len(), 40);
        assert!(pairs.iter().all(|(a, _)| left[*a] != 7 || *a == 7));
        assert_eq!(align(&left, &right, |_, _| true).len(), 42);
    }

    #[test]
    fn a_recording_of_fewer_steps_is_paired_with_steps_that_mean_the_same() {
        let (left, right) = (steps(), steps()[..300].to_vec());
        assert_eq!(align(&left, &right, never).len(), 300);
        // Where other pairs would say something else, nothing is said.
        assert_eq!(align(&left, &steps()[..400], never).len(), 200);
        let same = |one: usize, other: usize| one % 100 == other % 100;
        assert_eq!(align(&left, &steps()[..400], same).len(), 400);
    }

    #[test]
    fn other_programs_have_no_pairs() {
        let other: Vec<u64> = (0..600).map(|place| place * 7 % 1000 + 50).collect();
        assert!(align(&steps(), &other, never).len() < 12);
    }
}
