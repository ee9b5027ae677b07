//! Interval arithmetic: half-open intervals of integer nanoseconds.
//!
//! Union, intersection, difference and length within a window, each in O(n log n) or better. Every busy,
//! idle, overlap and utilisation figure is computed here. An interval that ends at or before its start
//! is empty.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A set of instants, kept as sorted, disjoint intervals.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TimeSet(Vec<(i64, i64)>);

impl TimeSet {
    /// The union of intervals in any order.
    pub fn union_of(mut intervals: Vec<(i64, i64)>) -> Self {
        intervals.sort_unstable();
        Self::union_of_sorted(intervals)
    }

    /// The union of intervals that are sorted by start.
    pub fn union_of_sorted(intervals: impl IntoIterator<Item = (i64, i64)>) -> Self {
        let mut set: Vec<(i64, i64)> = Vec::new();
        for (start, end) in intervals.into_iter().filter(|(start, end)| start < end) {
            match set.last_mut() {
                Some(last) if start <= last.1 => last.1 = last.1.max(end),
                _ => set.push((start, end)),
            }
        }
        Self(set)
    }

    /// The intervals, in order.
    pub fn intervals(&self) -> &[(i64, i64)] {
        &self.0
    }

    /// The intervals, in order, as a list of their own.
    pub fn into_intervals(self) -> Vec<(i64, i64)> {
        self.0
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The total length of the set.
    pub fn length(&self) -> i128 {
        self.0.iter().map(|&(start, end)| i128::from(end) - i128::from(start)).sum()
    }

    /// The instants that are in both sets.
    pub fn intersection(&self, other: &Self) -> Self {
        let (mut ours, mut theirs) = (self.0.iter().peekable(), other.0.iter().peekable());
        let mut both = Vec::new();
        while let (Some(&&(a, b)), Some(&&(c, d))) = (ours.peek(), theirs.peek()) {
            let (start, end) = (a.max(c), b.min(d));
            if start < end {
                both.push((start, end));
            }
            if b <= d {
                ours.next()
            } else {
                theirs.next()
            };
        }
        Self(both)
    }

    /// The instants that are in this set but not in `other`.
    pub fn difference(&self, other: &Self) -> Self {
        let mut theirs = other.0.iter().peekable();
        let mut rest = Vec::new();
        for &(mut start, end) in &self.0 {
            while let Some(&&(from, to)) = theirs.peek() {
                if to <= start {
                    theirs.next();
                    continue;
                }
                if from >= end {
                    break;
                }
                if from > start {
                    rest.push((start, from));
                }
                start = to.min(end);
                if to >= end {
                    break;
                }
            }
            if start < end {
                rest.push((start, end));
            }
        }
        Self(rest)
    }

    /// The instants that are in at least one of the sets.
    pub fn union(&self, other: &Self) -> Self {
        let (mut ours, mut theirs) = (self.0.iter().peekable(), other.0.iter().peekable());
        Self::union_of_sorted(std::iter::from_fn(|| {
            let next = match (ours.peek(), theirs.peek()) {
                (Some(a), Some(b)) if a <= b => ours.next(),
                (Some(_), None) => ours.next(),
                _ => theirs.next(),
            };
            next.copied()
        }))
    }

    /// The first start and the last end; `None` if the set is empty.
    pub fn extent(&self) -> Option<(i64, i64)> {
        Some((self.0.first()?.0, self.0.last()?.1))
    }
}

/// A [`TimeSet`] with prefix sums: it answers how much of it lies in a window in O(log n).
#[derive(Debug, Clone, Default)]
pub struct Ruler {
    set: TimeSet,
    /// For every [`STEP`]th interval: the total length of the intervals before it.
    before: Vec<i64>,
    last: Last,
}

/// Number of intervals between two prefix sums of a [`Ruler`].
const STEP: usize = 8;

impl Ruler {
    /// Makes a ruler over a set whose total length fits in 64 bits.
    pub fn new(set: TimeSet) -> Self {
        let mut length = 0i64;
        let before = set.0.chunks(STEP).map(|intervals| {
            let before = length;
            length = length.saturating_add(length_of(intervals));
            before
        });
        Self { before: before.collect(), set, last: Last::default() }
    }

    /// The set it was made from.
    pub fn set(&self) -> &TimeSet {
        &self.set
    }

    /// The length of the set between `start` and `end`, in ns.
    pub fn within(&self, start: i64, end: i64) -> i64 {
        if start >= end {
            return 0;
        }
        // One window is rarely far from the one before, and its end never far from its start.
        let first = self.begun_by(start, self.last.0.load(Ordering::Relaxed));
        let last = self.begun_by(end, first);
        self.last.0.store(last, Ordering::Relaxed);
        if first == last {
            // No interval begins in the window: it holds at most the rest of one.
            let end_of = first.checked_sub(1).map(|place| self.set.0[place].1);
            return end_of.map_or(0, |last| end.min(last) - start.min(last));
        }
        self.until(end, last) - self.until(start, first)
    }

    /// The number of intervals that start before `instant`. Takes O(log d) if it is d away from `near`.
    fn begun_by(&self, instant: i64, near: usize) -> usize {
        let set = &self.set.0;
        let begun = |&(start, _): &(i64, i64)| start < instant;
        let (mut from, mut to) = (near.min(set.len()), near.min(set.len()));
        let mut step = 1;
        while to < set.len() && begun(&set[to]) {
            from = to + 1;
            to = to.saturating_add(step).min(set.len());
            step *= 2;
        }
        step = 1;
        while from > 0 && !begun(&set[from - 1]) {
            to = from - 1;
            from = from.saturating_sub(step);
            step *= 2;
        }
        from + set[from..to].partition_point(begun)
    }

    /// The length of the set before `instant`, by which `begun` intervals have started.
    fn until(&self, instant: i64, begun: usize) -> i64 {
        match begun.checked_sub(1) {
            Some(last) => {
                let (start, end) = self.set.0[last];
                let mark = last / STEP;
                let before = length_of(&self.set.0[mark * STEP..last]);
                self.before[mark].saturating_add(before) + (instant.min(end) - start)
            }
            None => 0,
        }
    }
}

/// Where the last look-up ended. It only shortens the next one.
#[derive(Debug, Default)]
struct Last(AtomicUsize);

impl Clone for Last {
    fn clone(&self) -> Self {
        Self::default()
    }
}

/// The total length of disjoint intervals.
fn length_of(intervals: &[(i64, i64)]) -> i64 {
    intervals
        .iter()
        .fold(0, |length, (start, end)| i64::saturating_add(length, end.saturating_sub(*start)))
}

/// The length of the union of intervals. Sorts them in place.
pub fn union_length(intervals: &mut [(i64, i64)]) -> i64 {
    intervals.sort_unstable();
    let mut length = 0;
    let mut reached = i64::MIN;
    for &(start, end) in intervals.iter() {
        let start = start.max(reached);
        if end > start {
            length += end - start;
            reached = end;
        }
    }
    length
}

/// The length of the union of the intervals in some lists. Takes O(n log k) for k lists that are sorted by start.
pub fn length_of_lists(mut lists: Vec<Vec<(i64, i64)>>) -> i64 {
    for list in lists.iter_mut().filter(|list| !list.is_sorted_by_key(|(start, _)| *start)) {
        list.sort_unstable();
    }
    let start_of = |list: usize, place: usize| lists[list].get(place).map(|(start, _)| *start);
    let heads = (0..lists.len()).filter_map(|list| Some(Reverse((start_of(list, 0)?, list, 0))));
    let mut heads: BinaryHeap<_> = heads.collect();
    let (mut length, mut reached) = (0i64, i64::MIN);
    while let Some(Reverse((_, list, first))) = heads.pop() {
        // One list goes on until another one is earlier.
        let until = heads.peek().map_or(i64::MAX, |Reverse((start, ..))| *start);
        let mut place = first;
        for &(start, end) in &lists[list][first..] {
            if place > first && start > until {
                break;
            }
            let start = start.max(reached);
            if end > start {
                length = length.saturating_add(end.saturating_sub(start));
                reached = end;
            }
            place += 1;
        }
        heads.extend(start_of(list, place).map(|start| Reverse((start, list, place))));
    }
    length
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(intervals: &[(i64, i64)]) -> TimeSet {
        TimeSet::union_of(intervals.to_vec())
    }

    #[test]
    fn overlaps_count_once() {
        assert_eq!(union_length(&mut []), 0);
        assert_eq!(union_length(&mut [(5, 9), (0, 3), (2, 6), (20, 20), (30, 25)]), 9);
        assert_eq!(union_length(&mut [(0, 10), (2, 3), (10, 12)]), 12);
        assert_eq!(set(&[(5, 9), (0, 3), (2, 6), (20, 20), (30, 25)]), TimeSet(vec![(0, 9)]));
        assert_eq!(set(&[(i64::MIN, 0), (1, i64::MAX)]).length(), (1i128 << 64) - 2);
    }

    /// Compares every operation with a check of each single instant, on pseudo-random sets.
    #[test]
    fn sets_agree_with_instants() {
        const INSTANTS: i64 = 24;
        let mut seed = 7u64;
        let mut random = |below: i64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((seed >> 33) % below as u64) as i64
        };
        let holds = |set: &TimeSet, at: i64| set.0.iter().any(|&(from, to)| from <= at && at < to);
        for _ in 0..4_000 {
            let mut some = || -> TimeSet {
                (0..random(6)).map(|_| (random(INSTANTS), random(INSTANTS))).collect::<Vec<_>>().into()
            };
            let (a, b) = (some(), some());
            let (both, rest, either) = (a.intersection(&b), a.difference(&b), a.union(&b));
            for at in 0..INSTANTS {
                let (in_a, in_b) = (holds(&a, at), holds(&b, at));
                assert_eq!(holds(&both, at), in_a && in_b, "{a:?} ∩ {b:?} at {at}");
                assert_eq!(holds(&rest, at), in_a && !in_b, "{a:?} \\ {b:?} at {at}");
                assert_eq!(holds(&either, at), in_a || in_b, "{a:?} ∪ {b:?} at {at}");
            }
            for made in [&a, &both, &rest, &either] {
                assert!(made.0.iter().all(|(start, end)| start < end), "{made:?} holds empty intervals");
                assert!(
                    made.0.windows(2).all(|pair| pair[0].1 <= pair[1].0),
                    "{made:?} is out of order"
                );
            }
            let ruler = Ruler::new(a.clone());
            let (from, to) = (random(INSTANTS), random(INSTANTS));
            let counted = (from..to).filter(|&at| holds(&a, at)).count() as i64;
            assert_eq!(ruler.within(from, to), counted, "{a:?} within {from}..{to}");
        }
    }

    #[test]
    fn lists_are_merged_in_any_order() {
        assert_eq!(length_of_lists(Vec::new()), 0);
        assert_eq!(length_of_lists(vec![Vec::new(), vec![(5, 9), (7, 7), (20, 10)]]), 4);
        let mut seed = 11u64;
        let mut random = |below: i64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((seed >> 33) % below as u64) as i64
        };
        for _ in 0..4_000 {
            let lists: Vec<Vec<(i64, i64)>> = (0..random(4))
                .map(|_| (0..random(6)).map(|_| (random(24), random(24))).collect())
                .collect();
            let expected = set(&lists.concat()).length();
            assert_eq!(i128::from(length_of_lists(lists.clone())), expected, "{lists:?}");
        }
    }

    #[test]
    fn a_ruler_is_exact_between_its_prefix_sums() {
        // 1 ns out of every 3; the last interval is 5 ns long.
        let mut intervals: Vec<(i64, i64)> = (0..40).map(|n| (n * 3, n * 3 + 1)).collect();
        intervals.push((120, 125));
        let ruler = Ruler::new(set(&intervals));
        let before = |at: i64| {
            (0..at).filter(|&at| intervals.iter().any(|&(from, to)| from <= at && at < to)).count()
                as i64
        };
        for from in -1..130 {
            for to in from..130 {
                assert_eq!(ruler.within(from, to), before(to) - before(from), "{from}..{to}");
            }
        }
    }

    impl From<Vec<(i64, i64)>> for TimeSet {
        fn from(intervals: Vec<(i64, i64)>) -> Self {
            Self::union_of(intervals)
        }
    }
}
