//! Finds the parent of each range and the innermost range around each launch.
//!
//! Ranges are added in the order (start, end descending, row), so a range is added after every range that
//! can contain it. An added range contains an interval if it does not end before the interval does. The
//! innermost range is the last one added that contains the interval; the parent is the shortest one.
//!
//! The added ranges form a stack. A new range first removes the ranges that end no later than it does:
//! they can never be innermost again. On the stack, starts rise and ends fall. So the last range on it that
//! contains an interval is also the shortest on it.
//!
//! A range that is removed before it has ended was crossed: the new range started inside it and ends after
//! it. A crossed range may still be the shortest, so it is kept in a list until it ends. With more than
//! [`FEW`] crossed ranges, a Fenwick tree over all ends replaces the list, so that a query takes O(log n)
//! however ranges cross.

use super::{NONE, Range, Ranges, Stop, StopCheck};

/// Adds ranges in order of time and answers queries about those added so far.
pub(super) struct Sweep<'a> {
    ranges: &'a Ranges,
    /// The ranges that take part, in order, as indices into `ranges`.
    order: &'a [u32],
    /// End and place in `order` of the added ranges that no later range outlasts.
    stack: Vec<(i64, u32)>,
    others: Others,
    added: usize,
    check: StopCheck<'a>,
}

/// Ranges outside the stack that may be parents.
enum Others {
    /// Places in `order` of crossed ranges. Those that have ended are removed from time to time.
    Few(Vec<u32>),
    /// All ranges added so far, including those on the stack.
    All(Lengths),
}

/// The most crossed ranges that are kept in a list.
const FEW: usize = 32;

impl<'a> Sweep<'a> {
    pub(super) fn new(ranges: &'a Ranges, order: &'a [u32], stop: Stop<'a>) -> Self {
        let mut sweep = Self {
            ranges,
            order,
            stack: Vec::new(),
            others: Others::Few(Vec::new()),
            added: 0,
            check: StopCheck::new(stop),
        };
        // A range whose end is before its start may be contained in ranges that the list has dropped.
        let is_backward = |range: Range| range.end < range.start;
        if order.iter().any(|&index| is_backward(ranges.at(index as usize))) {
            sweep.remember_all();
        }
        sweep
    }

    /// Adds the ranges that started by `time`, and calls `found` with each of them and its parent. If it is
    /// stopped, ranges are missing.
    pub(super) fn advance(&mut self, time: i64, mut found: impl FnMut(u32, u32)) {
        while !self.check.must_stop()
            && let Some(&next) = self.order.get(self.added)
            && let range = self.ranges.at(next as usize)
            && range.start <= time
        {
            found(next, self.add(&range));
        }
    }

    /// The last added range that does not end before `end`, or [`NONE`].
    pub(super) fn innermost(&self, end: i64) -> u32 {
        self.index(self.last_on_stack(end))
    }

    /// Adds the next range; returns the shortest range around it, or [`NONE`].
    fn add(&mut self, range: &Range) -> u32 {
        let parent = self.shortest(range);
        while let Some(&(end, place)) = self.stack.last()
            && end <= range.end
        {
            self.stack.pop();
            if let Others::Few(crossed) = &mut self.others
                && end >= range.start
            {
                crossed.push(place);
            }
        }
        self.stack.push((range.end, self.added as u32));
        self.added += 1;
        match &mut self.others {
            Others::All(lengths) => lengths.add(self.added - 1, range),
            Others::Few(crossed) if crossed.len() > FEW => self.remember_all(),
            Others::Few(_) => {}
        }
        self.index(parent)
    }

    /// The place of the shortest added range that contains `range`, or [`NONE`]. The last of equally short
    /// ranges wins.
    fn shortest(&mut self, range: &Range) -> u32 {
        let from_stack = self.last_on_stack(range.end);
        let crossed = match &mut self.others {
            Others::All(lengths) => return lengths.shortest_from(self.added),
            Others::Few(crossed) if crossed.is_empty() => return from_stack,
            Others::Few(crossed) => crossed,
        };
        let range_at = |place: u32| self.ranges.at(self.order[place as usize] as usize);
        crossed.retain(|&place| range_at(place).end >= range.start);
        let rank = |place: u32| (range_at(place).start - range_at(place).end, place);
        let holding = crossed.iter().copied().filter(|&place| range_at(place).end >= range.end);
        let all = holding.chain((from_stack != NONE).then_some(from_stack));
        all.max_by_key(|&place| rank(place)).unwrap_or(NONE)
    }

    fn last_on_stack(&self, end: i64) -> u32 {
        let holding = match self.stack.last() {
            Some(&(last, _)) if last >= end => self.stack.len(),
            _ => self.stack.partition_point(|&(other, _)| other >= end),
        };
        holding.checked_sub(1).map_or(NONE, |last| self.stack[last].1)
    }

    fn index(&self, place: u32) -> u32 {
        self.order.get(place as usize).copied().unwrap_or(NONE)
    }

    fn remember_all(&mut self) {
        let mut lengths = Lengths::new(self.ranges, self.order);
        for (place, &index) in self.order[..self.added].iter().enumerate() {
            lengths.add(place, &self.ranges.at(index as usize));
        }
        self.others = Others::All(lengths);
    }
}

/// Answers which of the added ranges that end no earlier than a given one is the shortest.
struct Lengths {
    /// For each range in order: the number of distinct ends after its own.
    later_ends: Vec<u32>,
    /// A Fenwick tree over the ends, the latest first. It holds the negative length of the shortest range,
    /// and its place, so that the later of equals wins.
    shortest: Vec<(i64, u32)>,
}

/// No range.
const NOTHING: (i64, u32) = (i64::MIN, NONE);

impl Lengths {
    fn new(ranges: &Ranges, order: &[u32]) -> Self {
        let mut by_end: Vec<(i64, u32)> =
            (0u32..).zip(order).map(|(place, &index)| (ranges.at(index as usize).end, place)).collect();
        by_end.sort_unstable();
        let mut later_ends = vec![0; order.len()];
        let mut ends = 0;
        for same in by_end.chunk_by(|a, b| a.0 == b.0).rev() {
            same.iter().for_each(|&(_, place)| later_ends[place as usize] = ends);
            ends += 1;
        }
        Self { later_ends, shortest: vec![NOTHING; ends as usize + 1] }
    }

    /// Adds the range at a place in the order.
    fn add(&mut self, place: usize, range: &Range) {
        let key = (range.start - range.end, place as u32);
        let mut at = self.later_ends[place] as usize + 1;
        while let Some(shortest) = self.shortest.get_mut(at) {
            *shortest = key.max(*shortest);
            at += at & at.wrapping_neg();
        }
    }

    /// The place of the shortest added range that ends no earlier than the one at `place`, or [`NONE`].
    fn shortest_from(&self, place: usize) -> u32 {
        let mut at = self.later_ends[place] as usize + 1;
        let mut shortest = NOTHING;
        while at > 0 {
            shortest = shortest.max(self.shortest[at]);
            at &= at - 1;
        }
        shortest.1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cmp::Reverse;

    /// A pseudo-random number generator, small enough to need no crate.
    struct Random(u64);

    impl Random {
        fn below(&mut self, bound: i64) -> i64 {
            self.0 =
                self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33).cast_signed() % bound
        }
    }

    /// Random ranges of at most `longest`, or ranges that never cross each other.
    fn made(random: &mut Random, count: i64, longest: i64, is_nested: bool) -> Ranges {
        let span = 4 * count;
        let mut ranges: Vec<Range> = (0..count)
            .map(|id| {
                let start = random.below(span);
                let (start, end) = match is_nested {
                    true => {
                        let width = 1 << random.below(6);
                        (start / width * width, start / width * width + width - random.below(2))
                    }
                    false => (start, start + random.below(longest)),
                };
                let is_backward = longest == 1 && id % 9 == 0;
                let end = if is_backward { end - 40 } else { end };
                Range { start, end, id, thread: 0, name: 0, is_push_pop: true, is_cross_thread: false }
            })
            .collect();
        ranges.sort_by_key(|range| (range.start, Reverse(range.end), range.id));
        ranges.into_iter().collect()
    }

    #[test]
    fn answers_agree_with_a_scan_of_all_ranges() {
        let mut random = Random(3);
        let (mut few, mut all) = (0, 0);
        for round in 0..400 {
            let count = 1 + random.below(120);
            let longest = [1, 3, 40, 400][round % 4];
            let ranges = made(&mut random, count, longest, round % 8 == 2);
            // Leave some ranges out, so that places differ from indices.
            let taking_part = |index: &u32| !index.is_multiple_of(5) || round % 3 == 0;
            let order: Vec<u32> = (0..ranges.len() as u32).filter(taking_part).collect();
            let range_at = |index: u32| ranges.at(index as usize);
            let mut sweep = Sweep::new(&ranges, &order, &|| false);
            let mut time = -50;
            while time < 10 * count {
                time += random.below(30);
                let before = sweep.added;
                let mut met = Vec::new();
                sweep.advance(time, |index, above| met.push((index, above)));
                for (place, (index, above)) in (before..).zip(met) {
                    assert_eq!(index, order[place]);
                    let holding = order[..place]
                        .iter()
                        .copied()
                        .filter(|&other| range_at(other).end >= range_at(index).end);
                    let shortest = holding.max_by_key(|&other| {
                        (Reverse(range_at(other).end - range_at(other).start), other)
                    });
                    assert_eq!(above, shortest.unwrap_or(NONE), "round {round}, {ranges:?}");
                }
                let end = time + random.below(20) - 2;
                let mut begun = order.iter().copied().filter(|&index| range_at(index).start <= time);
                let last = begun.rfind(|&index| range_at(index).end >= end);
                assert_eq!(sweep.innermost(end), last.unwrap_or(NONE), "round {round}, {ranges:?}");
            }
            match sweep.others {
                Others::Few(_) => few += 1,
                Others::All(_) => all += 1,
            }
        }
        assert!(few > 100 && all > 100, "{few} with few crossed ranges, {all} with many");
    }
}
