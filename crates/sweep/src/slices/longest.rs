//! The longest slices of each piece of a lane.

use super::{Pieces, Slices};
use crate::projection::{Stop, StopCheck};
use std::cmp::Ordering;

impl Slices {
    /// The places of the slices that are among the `most` longest that start in their piece of their lane. `None` if it was
    /// stopped.
    pub fn longest(
        &self,
        pieces: &Pieces,
        most: impl Fn(usize) -> usize,
        stop: Stop<'_>,
    ) -> Option<Vec<u32>> {
        let mut check = StopCheck::new(stop);
        let (mut longest, mut cell) = (Vec::new(), Vec::new());
        for lane in 0..self.lanes.len() {
            let most = most(lane);
            let of_lane = self.of_lane(lane);
            let mut from = of_lane.start;
            while from < of_lane.end {
                let piece = pieces.of(self.starts[from]);
                let rest = &self.starts[from..of_lane.end];
                let count = rest.partition_point(|&start| pieces.of(start) <= piece);
                if check.must_stop_after(count) {
                    return None;
                }
                cell.clear();
                cell.extend(from as u32..(from + count) as u32);
                if count > most {
                    if most > 0 {
                        cell.select_nth_unstable_by(most - 1, |&a, &b| self.compare(a, b));
                    }
                    cell.truncate(most);
                }
                longest.extend_from_slice(&cell);
                from += count;
            }
        }
        Some(longest)
    }

    /// The longer slice first; then the earlier; then by source, event, category and name.
    fn compare(&self, a: u32, b: u32) -> Ordering {
        let (a, b) = (a as usize, b as usize);
        self.durations
            .at(b)
            .cmp(&self.durations.at(a))
            .then_with(|| self.starts[a].cmp(&self.starts[b]))
            .then_with(|| self.source(a).cmp(&self.source(b)))
            .then_with(|| self.event(a).cmp(&self.event(b)))
            .then_with(|| self.category(a).cmp(self.category(b)))
            .then_with(|| self.name(a).cmp(&self.name(b)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::slices;
    use super::*;

    #[test]
    fn the_longest_of_each_piece_of_a_lane_remain() {
        let of = slices(&[
            (1, 0, 3, "a", 1),
            (1, 4, 9, "a", 2),
            (1, 2, 7, "a", 3), // as long as the one before, and earlier
            (1, 12, 13, "a", 4),
            (1, 14, 14, "a", 5),
            (2, 1, 2, "a", 6),
        ]);
        let pieces = Pieces::new(0, 20, 2);
        let longest = |most: usize| {
            let places = of.longest(&pieces, |_| most, &|| false).unwrap();
            let mut events: Vec<_> =
                places.iter().filter_map(|&place| of.event(place as usize)).collect();
            events.sort_unstable();
            events
        };
        assert_eq!(longest(1), [3, 4, 6]);
        assert_eq!(longest(2), [2, 3, 4, 5, 6]);
        assert_eq!(longest(0), []);
        assert_eq!(longest(9), [1, 2, 3, 4, 5, 6]);
    }
}
