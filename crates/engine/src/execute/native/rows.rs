//! Finds what has a row of a raw table.

/// The order by row. Of `count` elements, `row_at` tells the row of each.
#[derive(Debug)]
pub(super) struct Rows {
    /// The places in order of their rows; empty if the elements are in this order.
    order: Vec<u32>,
    count: usize,
}

impl Rows {
    pub(super) fn new<K: Ord>(count: usize, row_at: impl Fn(usize) -> K) -> Self {
        let mut order = Vec::new();
        if !(0..count).is_sorted_by_key(&row_at) {
            order = (0..count as u32).collect();
            order.sort_by_cached_key(|&place| row_at(place as usize));
        }
        Self { order, count }
    }

    /// The place of the element with this row.
    pub(super) fn find(&self, row: i64, row_at: impl Fn(usize) -> i64) -> Option<usize> {
        let last = self.count.checked_sub(1)?;
        let at = |rank: usize| self.order.get(rank).map_or(rank, |&place| place as usize);
        // Rows are distinct, so the rank is at most the distance from the first one. It is little less: most rows
        // of the raw table have an element.
        let mut high = usize::try_from(row.checked_sub(row_at(at(0)))?).ok()?.min(last);
        let mut width = 1;
        let mut low = high;
        while row_at(at(low)) > row {
            high = low;
            // It ends at the first one, which is no later row.
            low = low.saturating_sub(width);
            width *= 2;
        }
        while low < high {
            let middle = low + (high - low).div_ceil(2);
            match row_at(at(middle)) > row {
                true => high = middle - 1,
                false => low = middle,
            }
        }
        (row_at(at(low)) == row).then_some(at(low))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_found_and_no_other() {
        let mut seed = 11u64;
        let mut below = |n: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            ((seed >> 33) % n) as i64
        };
        for round in 0..2_000 {
            let (mut rows, mut row) = (Vec::new(), below(40) - 20);
            // Some without gaps, some with few, some with many.
            for _ in 0..below(40) {
                row += 1 + below([1, 3, 30][round % 3]);
                rows.push(row);
            }
            if round % 2 == 1 {
                (1..rows.len()).for_each(|place| rows.swap(place, below(place as u64 + 1) as usize));
            }
            let found = Rows::new(rows.len(), |place| rows[place]);
            for row in -60..row + 60 {
                let want = rows.iter().position(|known| *known == row);
                assert_eq!(found.find(row, |place| rows[place]), want, "{row} in {rows:?}");
            }
            for far in [i64::MIN, i64::MAX] {
                assert_eq!(found.find(far, |place| rows[place]), None);
            }
        }
    }
}
