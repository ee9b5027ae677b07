//! The maximum of any slice of a sequence, in constant time after O(n) preparation.

/// Number of values in a block. Blocks are scanned value by value.
const BLOCK: usize = 32;

/// A sequence that answers queries for the maximum of a slice, with a sparse table over blocks.
#[derive(Debug, Default)]
pub(super) struct Extremes {
    values: Vec<i64>,
    /// `tables[k][b]`: the maximum of the `2^k` blocks that start at block `b`.
    tables: Vec<Vec<i64>>,
}

impl Extremes {
    pub(super) fn new(values: Vec<i64>) -> Self {
        let of_blocks: Vec<i64> =
            values.chunks(BLOCK).map(|block| block.iter().copied().fold(i64::MIN, i64::max)).collect();
        let mut tables = vec![of_blocks];
        let mut width = 1;
        while let Some(below) = tables.last()
            && below.len() > width
        {
            let above = below.iter().zip(&below[width..]).map(|(a, b)| *a.max(b)).collect();
            tables.push(above);
            width *= 2;
        }
        Self { values, tables }
    }

    /// The maximum of `values[from..to]`; `i64::MIN` if it is empty.
    pub(super) fn greatest(&self, from: usize, to: usize) -> i64 {
        let one_by_one = |from: usize, to: usize| {
            self.values[from.min(to)..to].iter().copied().fold(i64::MIN, i64::max)
        };
        let (first, last) = (from.div_ceil(BLOCK), to / BLOCK);
        if first >= last {
            return one_by_one(from, to);
        }
        let level = (last - first).ilog2() as usize;
        let table = &self.tables[level];
        let blocks = table[first].max(table[last - (1 << level)]);
        blocks.max(one_by_one(from, first * BLOCK)).max(one_by_one(last * BLOCK, to))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_slice_agrees_with_a_scan() {
        let values: Vec<i64> = (0..300i64).map(|n| (n * 7919 + 13) % 1009 - 500).collect();
        let extremes = Extremes::new(values.clone());
        for from in 0..=values.len() {
            for to in from..=values.len() {
                let expected = values[from..to].iter().copied().max().unwrap_or(i64::MIN);
                assert_eq!(extremes.greatest(from, to), expected, "{from}..{to}");
            }
        }
    }
}
