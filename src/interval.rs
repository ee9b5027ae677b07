//! Arithmetic on half-open intervals of time, in integer nanoseconds.

/// The length of the union of intervals; sorts them. Those that end before they begin count nothing.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlaps_count_once() {
        assert_eq!(union_length(&mut []), 0);
        assert_eq!(union_length(&mut [(5, 9), (0, 3), (2, 6), (20, 20), (30, 25)]), 9);
        assert_eq!(union_length(&mut [(0, 10), (2, 3), (10, 12)]), 12);
    }
}
