//! How certain the mean of a sample is.

use super::Moments;
use std::borrow::Cow;

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
    error_of(&parts(values))
}

/// The values, or from two a batch on the means of the batches.
fn parts(values: &[f64]) -> Cow<'_, [f64]> {
    if values.len() < 2 * BATCHES {
        return Cow::Borrowed(values);
    }
    let (length, longer) = (values.len() / BATCHES, values.len() % BATCHES);
    let mut rest = values;
    let mut means = vec![0.0; BATCHES];
    for (batch, mean) in means.iter_mut().enumerate() {
        let (here, behind) = rest.split_at(length + usize::from(batch < longer));
        rest = behind;
        *mean = here.iter().sum::<f64>() / here.len() as f64;
    }
    Cow::Owned(means)
}

/// Fewer values tell nothing about how neighbours resemble each other.
const LEAST_FOR_NEIGHBOURS: usize = 8;

/// The largest correlation of neighbours that is believed: a trend has nearly 1.
const MOST_CORRELATION: f64 = 0.9;

/// The estimate of the correlation is too small by about (1 + 4r) / n (Kendall), and by more for so few values: this
/// number is from simulations of runs that drift.
const BIAS: f64 = 5.0;

/// The bias is corrected by no more than this: of few values, the correlation is hardly known, and white noise would seem
/// correlated. Of 10,000 simulated pairs of runs of 59 steps whose clock wanders by 3 % within ten steps, 1.1 calls 3.3 % of
/// equal pairs different at 99 % confidence, 1.3 calls 1.8 %; the change that calm runs can show grows by a tenth.
const MOST_CORRECTION: f64 = 1.3;

fn error_of(values: &[f64]) -> Option<f64> {
    let mut moments = Moments::default();
    values.iter().for_each(|value| moments.add(*value));
    let count = values.len() as f64;
    let error = moments.stddev()? / count.sqrt();
    if values.len() < LEAST_FOR_NEIGHBOURS {
        return Some(error);
    }
    let correction = (1.0 / (1.0 - BIAS / count)).min(MOST_CORRECTION);
    let correlation = (neighbours(values) * correction).clamp(0.0, MOST_CORRELATION);
    Some(error * ((1.0 + correlation) / (1.0 - correlation)).sqrt())
}

/// The correlation of neighbours, as estimated; 0 if all values are equal.
fn neighbours(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let products: f64 = values.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum();
    // Without correlation, the estimate is -1/n on average.
    if squares > 0.0 { products / squares + 1.0 / count } else { 0.0 }
}

/// Degrees of freedom of [`mean_error`] for `count` values.
pub fn mean_freedom(count: i64) -> f64 {
    let batches = BATCHES as i64;
    let parts = if count < 2 * batches { count } else { batches };
    (parts - 1).max(0) as f64
}

/// Fewer values have the degrees of freedom of independent ones.
const LEAST_FOR_FREEDOM: usize = 4;

/// The least share of an estimate of the correlation that is not bias.
const LEAST_UNBIASED: f64 = 0.3;

/// No more freedom is lost than leaves this much: with less, the change that a pair of runs can show says little about what
/// the next pair can.
const LEAST_FREEDOM: f64 = 2.0;

/// Degrees of freedom of [`mean_error`] of these values in time order.
///
/// Where neighbours resemble each other, n values say as much as n (1 - r) / (1 + r) independent ones, and the spread of
/// the mean is no better known than from so few. Of simulated pairs of equal runs whose clock wanders by 3 % within ten
/// steps, [`mean_freedom`] calls 15 % different at 12 steps, 7 % at 20 and 6 % at 30; this one 6 %, 3 % and 2 %. What runs
/// without drift can show stays as it is. Batches, from 32 values on, resemble each other less: no freedom is lost.
pub fn correlated_freedom(values: &[f64]) -> f64 {
    let freedom = mean_freedom(values.len() as i64);
    if values.len() < LEAST_FOR_FREEDOM || values.len() >= 2 * BATCHES {
        return freedom;
    }
    let count = values.len() as f64;
    // The bias is corrected in full: too little freedom makes a comparison inconclusive, too much makes it wrong.
    let correlation = neighbours(values) / (1.0 - BIAS / count).max(LEAST_UNBIASED);
    let correlation = correlation.clamp(0.0, 1.0);
    let left = count * (1.0 - correlation) / (1.0 + correlation) - 1.0;
    left.clamp(LEAST_FREEDOM, freedom)
}

/// How certain the difference between the means of two sides is, each with one run or several.
///
/// Several runs of a side show how much runs differ. A side with one run varies as much as the other side's runs do; with one
/// run on each side, the error within each run has to do.
#[derive(Debug, Clone, Default)]
pub struct Difference {
    a: Runs,
    b: Runs,
}

#[derive(Debug, Clone, Default)]
struct Runs {
    count: f64,
    values: Moments,
    errors: Mean,
    freedoms: Mean,
}

#[derive(Debug, Clone, Default)]
struct Mean {
    sum: f64,
    count: f64,
}

impl Difference {
    /// Adds a run: its mean, the standard error of it within the run, and this error divided by the square root of its
    /// degrees of freedom.
    pub fn add(&mut self, is_b: bool, value: f64, error: Option<f64>, by_freedom: Option<f64>) {
        let runs = if is_b { &mut self.b } else { &mut self.a };
        runs.count += 1.0;
        runs.values.add(value);
        runs.errors.add(error);
        runs.freedoms.add(by_freedom);
    }

    /// The standard error of the difference; `None` if a side has no run, or its only run no error.
    pub fn error(&self) -> Option<f64> {
        Some((self.a.variance(&self.b)? + self.b.variance(&self.a)?).sqrt())
    }

    /// Degrees of freedom of [`Difference::error`] (Welch and Satterthwaite); `None` where it is zero or unknown.
    pub fn freedom(&self) -> Option<f64> {
        let (of_a, of_b) = (self.a.freedom(&self.b), self.b.freedom(&self.a));
        let (most, least) = (self.a.count.max(self.b.count), self.a.count.min(self.b.count));
        if most > 1.0 && least == 1.0 {
            // What both sides know from the same runs is known once.
            return Some(of_a.min(of_b));
        }
        let (a, b) = (self.a.variance(&self.b)?, self.b.variance(&self.a)?);
        Some((a + b).powi(2) / (a * a / of_a + b * b / of_b)).filter(|freedom| freedom.is_finite())
    }
}

impl Runs {
    /// The variance of this side's mean.
    fn variance(&self, other: &Self) -> Option<f64> {
        if self.count > 1.0 {
            return Some(self.values.stddev()?.powi(2) / self.count);
        }
        let within = self.errors.mean()?.powi(2);
        if other.count > 1.0 { Some(within.max(other.values.stddev()?.powi(2))) } else { Some(within) }
    }

    fn freedom(&self, other: &Self) -> f64 {
        match (self.count > 1.0, other.count > 1.0) {
            (true, _) => self.count - 1.0,
            (false, true) => other.count - 1.0,
            (false, false) => {
                let of_errors = self.errors.mean().zip(self.freedoms.mean());
                let freedom = of_errors.map(|(error, by_freedom)| (error / by_freedom).powi(2));
                freedom.filter(|freedom| freedom.is_finite()).unwrap_or(MOST_FREEDOM)
            }
        }
    }
}

impl Mean {
    fn add(&mut self, value: Option<f64>) {
        if let Some(value) = value {
            self.sum += value;
            self.count += 1.0;
        }
    }

    fn mean(&self) -> Option<f64> {
        (self.count > 0.0).then(|| self.sum / self.count)
    }
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
        // The variance of 0 to 15 is 16 x 17 / 12; the error is its square root over 4, and wider by sqrt(1.9 / 0.1)
        // because of the trend.
        let expected = 19f64.sqrt() * (16.0f64 * 17.0 / 12.0).sqrt() / 4.0;
        assert!((mean_error(&drift).unwrap() - expected).abs() < 1e-12);
        // Alternating values have a large spread, but their mean is certain.
        let turns: Vec<f64> = (0..64).map(|place| f64::from(place % 2) * 100.0).collect();
        assert_eq!(mean_error(&turns), Some(0.0));
        // 1 1 1 1 5 5 5 5: the deviations are 2, six of seven products of neighbours are 4, one is -4. So r
        // is 1.3 x (20 / 32 + 1 / 8) = 0.975, of which 0.9 is believed: the error sqrt(32 / 7 / 8) is widened by
        // sqrt(1.9 / 0.1).
        let halves = [1.0, 1.0, 1.0, 1.0, 5.0, 5.0, 5.0, 5.0];
        assert!((mean_error(&halves).unwrap() - (19.0f64 * 4.0 / 7.0).sqrt()).abs() < 1e-12);
        // Two values would say as much, and three are believed. Batches lose no freedom.
        assert_eq!(correlated_freedom(&halves), 2.0);
        assert_eq!(correlated_freedom(&drift), 15.0);
    }

    #[test]
    fn neighbours_that_resemble_each_other_cost_freedom() {
        for (values, freedom) in
            [(&[][..], 0.0), (&[4.0], 0.0), (&[4.0, 5.0, 6.0], 2.0), (&[7.0; 9], 8.0)]
        {
            assert_eq!(correlated_freedom(values), freedom, "{values:?}");
        }
        // Alternating values cost none.
        let turns: Vec<f64> = (0..20).map(|place| f64::from(place % 2)).collect();
        assert_eq!(correlated_freedom(&turns), 19.0);
        // 0 0 1 1 … 20 values, mean 1/2: squares 5, ten pairs of neighbours with 1/4 and nine with -1/4, so r is
        // (0.25 / 5 + 1 / 20) / (1 - 5 / 20) = 2/15, and 20 (13 / 17) - 1 degrees are left.
        let twos: Vec<f64> = (0..20).map(|place| f64::from(place / 2 % 2)).collect();
        assert!((correlated_freedom(&twos) - (20.0 * 13.0 / 17.0 - 1.0)).abs() < 1e-12);
    }
}
