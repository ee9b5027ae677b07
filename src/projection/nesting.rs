//! Which range holds which: parents, depths, and the innermost range around a launch.
//!
//! Ranges come in the order (start, end descending, row), so that whatever can hold a range stands
//! before it. The ranges that hold an interval are then those met so far that end no earlier than it
//! does: a suffix of the ends. A Fenwick tree over the ends keeps the best range of each suffix, so
//! that every question costs O(log n), however the ranges cross.

use super::{NONE, Pace, Range, Stop};

/// The greatest key of every suffix of the ends, as keys are added.
struct Suffixes<K> {
    greatest: Vec<K>,
    least: K,
}

impl<K: Ord + Copy> Suffixes<K> {
    fn new(ends: usize, least: K) -> Self {
        Self { greatest: vec![least; ends + 1], least }
    }

    /// Adds the key of a range whose end has `rank`, counted from the smallest.
    fn add(&mut self, rank: usize, key: K) {
        // Suffixes are prefixes of the reversed order, which is what a Fenwick tree can answer.
        let mut at = self.greatest.len() - 1 - rank;
        while let Some(greatest) = self.greatest.get_mut(at) {
            *greatest = key.max(*greatest);
            at += at & at.wrapping_neg();
        }
    }

    /// The greatest key among the ends of `rank` or more.
    fn greatest_from(&self, rank: usize) -> K {
        let mut at = self.greatest.len() - 1 - rank;
        let mut greatest = self.least;
        while at > 0 {
            greatest = greatest.max(self.greatest[at]);
            at &= at - 1;
        }
        greatest
    }
}

/// Ranges in order of time, added one by one.
pub(super) struct Sweep<'a> {
    ranges: &'a [Range],
    /// The ranges that take part, in order, as indices into `ranges`.
    order: &'a [u32],
    /// Their distinct ends, ascending.
    ends: Vec<i64>,
    /// The place in `ends` of each range in `order`.
    ranks: Vec<u32>,
    /// Keys: the negative length, and the place in `order`, so that the later of equals wins.
    shortest: Suffixes<(i64, u32)>,
    /// Keys: the place in `order`, plus one.
    latest: Suffixes<u32>,
    added: usize,
    pace: Pace<'a>,
}

impl<'a> Sweep<'a> {
    pub(super) fn new(ranges: &'a [Range], order: &'a [u32], stop: Stop<'a>) -> Self {
        let mut by_end: Vec<(i64, u32)> =
            (0u32..).zip(order).map(|(place, &index)| (ranges[index as usize].end, place)).collect();
        by_end.sort_unstable();
        let mut ends: Vec<i64> = Vec::with_capacity(by_end.len());
        let mut ranks = vec![0; order.len()];
        for (end, place) in by_end {
            if ends.last() != Some(&end) {
                ends.push(end);
            }
            ranks[place as usize] = (ends.len() - 1) as u32;
        }
        let shortest = Suffixes::new(ends.len(), (i64::MIN, NONE));
        let latest = Suffixes::new(ends.len(), 0);
        Self { ranges, order, ends, ranks, shortest, latest, added: 0, pace: Pace::new(stop) }
    }

    /// Adds the next range; returns it and the shortest range around it, or [`NONE`].
    pub(super) fn add_next(&mut self) -> Option<(u32, u32)> {
        let index = *self.order.get(self.added)?;
        let (rank, place) = (self.ranks[self.added] as usize, self.added as u32);
        let range = &self.ranges[index as usize];
        let (_, parent) = self.shortest.greatest_from(rank);
        self.shortest.add(rank, (range.start - range.end, place));
        self.latest.add(rank, place + 1);
        self.added += 1;
        Some((index, if parent == NONE { NONE } else { self.order[parent as usize] }))
    }

    /// Adds the ranges that began by `time`; `found` is told each of them and the shortest around it.
    /// Where it is stopped, what it found is not all.
    pub(super) fn advance(&mut self, time: i64, mut found: impl FnMut(u32, u32)) {
        while !self.pace.is_over()
            && let Some(&next) = self.order.get(self.added)
            && self.ranges[next as usize].start <= time
            && let Some((index, parent)) = self.add_next()
        {
            found(index, parent);
        }
    }

    /// Of the ranges added so far, the last in order that does not end before `end`, or [`NONE`].
    pub(super) fn innermost(&self, end: i64) -> u32 {
        let rank = self.ends.partition_point(|&candidate| candidate < end);
        match self.latest.greatest_from(rank) {
            0 => NONE,
            place => self.order[place as usize - 1],
        }
    }
}
