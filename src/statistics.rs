//! Statistics of a sample, shared by the SQL functions and the native relations.

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

/// Number of batches that a sequence of at least two values per batch is split into.
const BATCHES: usize = 16;

/// The standard error of the mean of values in time order; `None` for fewer than two values.
///
/// Consecutive values are correlated: clocks drift, work comes in phases. The usual stddev / sqrt(n) is
/// then too small. So from 32 values on, the values are split into 16 batches of consecutive values, and
/// the error is computed from the means of the batches. Batch lengths differ by at most one; the longer
/// batches come first. Where neighbours among these means (or the values) still resemble each other, the
/// error is widened as for an autoregressive process: by sqrt((1 + r) / (1 - r)).
pub fn mean_error(values: &[f64]) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    if values.len() < 2 * BATCHES {
        return error_of(values);
    }
    let (length, longer) = (values.len() / BATCHES, values.len() % BATCHES);
    let mut rest = values;
    let mut means = [0.0; BATCHES];
    for (batch, mean) in means.iter_mut().enumerate() {
        let (here, behind) = rest.split_at(length + usize::from(batch < longer));
        rest = behind;
        *mean = here.iter().sum::<f64>() / here.len() as f64;
    }
    error_of(&means)
}

/// Fewer values tell nothing about how neighbours resemble each other.
const LEAST_FOR_NEIGHBOURS: usize = 8;

/// The largest correlation of neighbours that is believed: a trend has nearly 1.
const MOST_CORRELATION: f64 = 0.8;

fn error_of(values: &[f64]) -> Option<f64> {
    let mut moments = Moments::default();
    values.iter().for_each(|value| moments.add(*value));
    let count = values.len() as f64;
    let error = moments.stddev()? / count.sqrt();
    if values.len() < LEAST_FOR_NEIGHBOURS {
        return Some(error);
    }
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let products: f64 = values.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum();
    // Without correlation, the estimate is -1/n on average.
    let correlation = products / squares + 1.0 / count;
    if correlation.is_nan() || correlation <= 0.0 {
        return Some(error);
    }
    let correlation = correlation.min(MOST_CORRELATION);
    Some(error * ((1.0 + correlation) / (1.0 - correlation)).sqrt())
}

/// Degrees of freedom of [`mean_error`] for `count` values.
pub fn mean_freedom(count: i64) -> f64 {
    let batches = BATCHES as i64;
    let parts = if count < 2 * batches { count } else { batches };
    (parts - 1).max(0) as f64
}

/// Degrees of freedom are capped here: from this value on, the quantiles of Student's t and of the normal
/// distribution differ by about 0.002 % at most (at 99 % confidence).
const MOST_FREEDOM: f64 = 1e5;

/// The two-sided quantile of Student's t distribution: chance alone produces a difference of more than
/// this many standard errors in at most `1 - confidence` of all cases.
///
/// Infinity unless `confidence` is between 0 and 1 and `freedom` (degrees of freedom) is above 0.
pub fn student_bound(confidence: f64, freedom: f64) -> f64 {
    let chance = 1.0 - confidence;
    if !(chance > 0.0 && chance < 1.0 && freedom > 0.0) {
        return f64::INFINITY;
    }
    let freedom = freedom.min(MOST_FREEDOM);
    // The probability of |t| or more falls as t grows. Bisect for the t where it equals `chance`.
    let beyond = |t: f64| incomplete_beta(freedom / (freedom + t * t), freedom / 2.0, 0.5);
    let (mut low, mut high) = (0.0, 1.0);
    while beyond(high) > chance && high < 1e12 {
        (low, high) = (high, high * 2.0);
    }
    for _ in 0..80 {
        let middle = (low + high) / 2.0;
        if beyond(middle) > chance { low = middle } else { high = middle }
    }
    high
}

/// The regularised incomplete beta function, by its continued fraction (Lentz's method).
fn incomplete_beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return x.clamp(0.0, 1.0);
    }
    // The fraction converges fast only for x below the mean; use the symmetry for the other side.
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - incomplete_beta(1.0 - x, b, a);
    }
    let front =
        (ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (1.0 - x).ln()).exp() / a;
    let away_from_zero = |value: f64| if value.abs() < 1e-300 { 1e-300 } else { value };
    let (mut c, mut d) = (1.0, 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0)));
    let mut fraction = d;
    for step in 1..1000 {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut change = 1.0;
        for term in [even, odd] {
            d = 1.0 / away_from_zero(1.0 + term * d);
            c = away_from_zero(1.0 + term / c);
            change = c * d;
            fraction *= change;
        }
        if (change - 1.0).abs() < 1e-15 {
            break;
        }
    }
    front * fraction
}

/// The logarithm of the gamma function for positive arguments, by Stirling's series.
fn ln_gamma(x: f64) -> f64 {
    // The series is accurate from about 10 on. Shift smaller arguments up by the recurrence.
    let (mut x, mut moved) = (x, 0.0);
    while x < 12.0 {
        moved += x.ln();
        x += 1.0;
    }
    let inverse = 1.0 / (x * x);
    let series =
        (1.0 / 12.0 - inverse * (1.0 / 360.0 - inverse * (1.0 / 1260.0 - inverse / 1680.0))) / x;
    (x - 0.5) * x.ln() - x + 0.5 * std::f64::consts::TAU.ln() + series - moved
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

    #[test]
    fn student_bounds_agree_with_printed_tables() {
        let table = [
            (0.95, 1.0, 12.706),
            (0.99, 1.0, 63.657),
            (0.95, 4.0, 2.776),
            (0.99, 4.0, 4.604),
            (0.99, 10.0, 3.169),
            (0.999, 10.0, 4.587),
            (0.99, 30.0, 2.750),
            (0.99, 120.0, 2.617),
            (0.99, 1e9, 2.576),
        ];
        for (confidence, freedom, expected) in table {
            let bound = student_bound(confidence, freedom);
            assert!((bound - expected).abs() < 6e-4, "{confidence} {freedom}: {bound}");
        }
        assert_eq!(student_bound(1.0, 5.0), f64::INFINITY);
        assert_eq!(student_bound(0.99, 0.0), f64::INFINITY);
        assert_eq!(student_bound(0.99, f64::NAN), f64::INFINITY);
    }

    #[test]
    fn mean_error_detects_drift() {
        assert_eq!(mean_error(&[4.0]), None);
        // 1, 3, 5: the variance is 4, the count is 3.
        assert!((mean_error(&[1.0, 3.0, 5.0]).unwrap() - (4.0f64 / 3.0).sqrt()).abs() < 1e-12);
        assert_eq!(
            (mean_freedom(1), mean_freedom(3), mean_freedom(31), mean_freedom(32)),
            (0.0, 2.0, 30.0, 15.0)
        );
        // 35 values: three batches of 3, then 13 batches of 2. Each value is the number of its batch.
        let number = |place: usize| if place < 9 { place / 3 } else { 3 + (place - 9) / 2 };
        let drift: Vec<f64> = (0..35).map(|place| number(place) as f64).collect();
        assert_eq!(drift[34], 15.0);
        // The variance of 0 to 15 is 16 x 17 / 12; the error is its square root over 4, three times as wide
        // because of the trend.
        let expected = 3.0 * (16.0f64 * 17.0 / 12.0).sqrt() / 4.0;
        assert!((mean_error(&drift).unwrap() - expected).abs() < 1e-12);
        // Alternating values have a large spread, but their mean is certain.
        let turns: Vec<f64> = (0..64).map(|place| f64::from(place % 2) * 100.0).collect();
        assert_eq!(mean_error(&turns), Some(0.0));
        // 1 1 1 1 5 5 5 5: the deviations are 2, six of seven products of neighbours are 4, one is -4. So r
        // is 20 / 32 + 1 / 8 = 0.75, and the error sqrt(32 / 7 / 8) is widened by sqrt(7).
        let halves = [1.0, 1.0, 1.0, 1.0, 5.0, 5.0, 5.0, 5.0];
        assert!((mean_error(&halves).unwrap() - 2.0).abs() < 1e-12);
    }
}
