//! Statistics of a sample, shared by the SQL functions and the native relations.

mod certainty;

pub use certainty::{Difference, correlated_freedom, mean_error, mean_freedom, student_bound};

/// The percentile of `values`, interpolated linearly between the nearest ranks; `None` without values.
pub fn percentile(values: &mut [f64], percent: f64) -> Option<f64> {
    let last = values.len().checked_sub(1)?;
    let rank = percent / 100.0 * last as f64;
    let below = (rank.floor() as usize).min(last);
    let (_, low, above) = values.select_nth_unstable_by(below, f64::total_cmp);
    let low = *low;
    let fraction = rank - below as f64;
    if fraction == 0.0 || above.is_empty() {
        return Some(low);
    }
    let high = above.iter().copied().fold(f64::INFINITY, f64::min);
    Some(low + (high - low) * fraction)
}

/// The median of integers, each given with its number of occurrences; `None` without values.
///
/// Equals [`percentile`] 50 of the expanded list.
pub fn weighted_median(values: &mut [(i64, u32)]) -> Option<f64> {
    let between = |low: i64, high: i64| low as f64 + (high as f64 - low as f64) * 0.5;
    let count: u64 = values.iter().map(|&(_, times)| u64::from(times)).sum();
    let last = count.checked_sub(1)?;
    let first = values.first()?.1;
    if values.iter().all(|&(_, times)| times == first) {
        // With equal weights, selecting the middle ranks is enough: no sort needed.
        let last = values.len() - 1;
        let (_, &mut (low, _), above) = values.select_nth_unstable_by_key(last / 2, |&(value, _)| value);
        let high =
            if last.is_multiple_of(2) { low } else { above.iter().map(|&(value, _)| value).min()? };
        return Some(between(low, high));
    }
    values.sort_unstable();
    let mut passed = 0;
    let mut values = values.iter().map(|&(value, times)| {
        passed += u64::from(times);
        (value, passed)
    });
    let (low, passed) = values.find(|&(_, passed)| passed > last / 2)?;
    let is_alone = last.is_multiple_of(2) || passed > last / 2 + 1;
    let high = if is_alone { low } else { values.find(|&(_, passed)| passed > last / 2 + 1)?.0 };
    Some(between(low, high))
}

/// Accumulates the standard deviation. For integers the result does not depend on the order of the values.
///
/// Integers, such as times and sizes, are summed exactly. Fractions, and sums that exceed 128 bits, use
/// Welford's recurrence: it keeps its precision for large means, but rounds at every step.
#[derive(Debug, Clone, Copy, Default)]
pub struct Moments {
    count: f64,
    mean: f64,
    squares: f64,
    exact: Exact,
}

/// Exact sums of the differences from the first value, and of their squares.
#[derive(Debug, Clone, Copy, Default)]
struct Exact {
    first: i64,
    sum: i128,
    squares: i128,
    /// A value was not an exact integer, or a sum overflowed: the sums are unusable.
    is_lost: bool,
}

/// Every integer up to this magnitude is exact as a double.
const WHOLE: u64 = 1 << 53;

impl Exact {
    /// Adds a value `times` times. `is_first` marks the first value of the sample.
    fn add(&mut self, value: f64, times: u64, is_first: bool) {
        if self.is_lost || value.fract() != 0.0 || value.abs() > WHOLE as f64 {
            self.is_lost = true;
            return;
        }
        self.add_whole(value as i64, times, is_first);
    }

    /// Like [`Exact::add`], for an integer.
    fn add_whole(&mut self, value: i64, times: u64, is_first: bool) {
        if self.is_lost || value.unsigned_abs() > WHOLE {
            self.is_lost = true;
            return;
        }
        if is_first {
            self.first = value;
        }
        let difference = i128::from(value - self.first);
        let times = i128::from(times);
        let square = (difference * difference).checked_mul(times);
        match square.and_then(|square| self.squares.checked_add(square)) {
            Some(squares) => (self.sum, self.squares) = (self.sum + times * difference, squares),
            None => self.is_lost = true,
        }
    }

    /// The sample variance of `count` values; `None` if the sums are not exact.
    fn variance(&self, count: f64) -> Option<f64> {
        let n = count as i128;
        let spread = n.checked_mul(self.squares)?.checked_sub(self.sum.checked_mul(self.sum)?)?;
        (!self.is_lost).then(|| spread as f64 / (n * (n - 1)) as f64)
    }
}

impl Moments {
    /// Adds a value.
    pub fn add(&mut self, value: f64) {
        self.add_times(value, 1);
    }

    /// Adds a value that occurs `times` times.
    pub fn add_times(&mut self, value: f64, times: u64) {
        if times == 0 {
            return;
        }
        self.exact.add(value, times, self.count == 0.0);
        let delta = value - self.mean;
        let weight = times as f64;
        self.count += weight;
        self.mean += delta * weight / self.count;
        self.squares += delta * weight * (value - self.mean);
    }

    /// Sample standard deviation (n - 1): 0 for a single value, `None` without values.
    pub fn stddev(&self) -> Option<f64> {
        match self.count {
            0.0 => None,
            1.0 => Some(0.0),
            count => {
                let variance = self.exact.variance(count).unwrap_or(self.squares / (count - 1.0));
                Some(variance.sqrt())
            }
        }
    }
}

/// The sample standard deviation of integers, each given with its number of occurrences.
///
/// Equals the result of [`Moments`], but is faster.
pub fn whole_stddev(values: impl Iterator<Item = (i64, u64)> + Clone) -> Option<f64> {
    let (mut exact, mut count) = (Exact::default(), 0);
    for (value, times) in values.clone() {
        exact.add_whole(value, times, count == 0);
        count += times;
    }
    match exact.variance(count as f64) {
        Some(variance) if count > 1 => Some(variance.sqrt()),
        _ => {
            let mut moments = Moments::default();
            values.for_each(|(value, times)| moments.add_times(value as f64, times));
            moments.stddev()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentile_agrees_with_a_sorted_oracle() {
        let mut seed = 7u64;
        for n in 1..40usize {
            let mut values: Vec<f64> = (0..n)
                .map(|_| {
                    seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                    ((seed >> 33) % 100) as f64
                })
                .collect();
            let mut sorted = values.clone();
            sorted.sort_by(f64::total_cmp);
            for percent in [0.0, 10.0, 50.0, 90.0, 99.0, 100.0] {
                let rank = percent / 100.0 * (n - 1) as f64;
                let (low, high) = (sorted[rank.floor() as usize], sorted[rank.ceil() as usize]);
                let expected = low + (high - low) * rank.fract();
                assert_eq!(percentile(&mut values, percent), Some(expected));
            }
        }
    }

    #[test]
    fn weighted_values_equal_repeated_values() {
        let mut seed = 11u64;
        let mut random = |below: u64| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) % below
        };
        assert_eq!(weighted_median(&mut []), None);
        assert_eq!(weighted_median(&mut [(5, 0)]), None);
        for _ in 0..500 {
            let most = 1 + random(4) as u32;
            let mut weighted: Vec<(i64, u32)> = (0..=random(6))
                .map(|_| {
                    (
                        random(1 << 20) as i64,
                        if random(9) == 0 { 0 } else { 1 + random(most.into()) as u32 },
                    )
                })
                .collect();
            let one = |&(value, times): &(i64, u32)| (0..times).map(move |_| value as f64);
            let mut values: Vec<f64> = weighted.iter().flat_map(one).collect();
            let (mut moments, mut expected) = (Moments::default(), Moments::default());
            weighted.iter().for_each(|&(value, times)| moments.add_times(value as f64, times.into()));
            values.iter().for_each(|&value| expected.add(value));
            assert_eq!(moments.stddev(), expected.stddev(), "{weighted:?}");
            let whole = weighted.iter().map(|&(value, times)| (value, u64::from(times)));
            assert_eq!(whole_stddev(whole), expected.stddev(), "{weighted:?}");
            assert_eq!(weighted_median(&mut weighted), percentile(&mut values, 50.0));
        }
    }

    #[test]
    fn deviations_do_not_depend_on_the_order() {
        let values = [781_148_671.0, 781_832_676.0, 781_037_914.0, 3.0, 781_100_000.0];
        let of = |values: &[f64]| {
            let mut moments = Moments::default();
            values.iter().for_each(|value| moments.add(*value));
            moments.stddev()
        };
        let mut turned = values;
        for turn in 0..values.len() {
            turned.rotate_left(turn);
            assert_eq!(of(&turned), of(&values));
            turned.reverse();
            assert_eq!(of(&turned), of(&values));
        }
        assert_eq!(of(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]), Some((32.0_f64 / 7.0).sqrt()));
        // Fractions and integers above 2^53 use the recurrence.
        assert_eq!(of(&[0.5, 1.5]), Some(0.5_f64.sqrt()));
        for values in [[i64::MAX, 1, i64::MIN], [1 << 53, (1 << 53) + 2, 0]] {
            let expected = of(&values.map(|value| value as f64));
            assert_eq!(whole_stddev(values.map(|value| (value, 1)).into_iter()), expected);
        }
        assert_eq!(whole_stddev([(7, 1)].into_iter()), Some(0.0));
        assert_eq!(whole_stddev([].into_iter()), None);
        assert!(of(&[1e300, -1e300]).is_some_and(|stddev| stddev > 1e300));
    }
}
