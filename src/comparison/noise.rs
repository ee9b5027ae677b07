//! The noise bound: how large a difference chance alone can cause.

use super::Sample;
use crate::statistics::student_bound;

/// Resolution of GPU timestamps, in ns.
pub const TICK_NS: f64 = 32.0;

/// The error of a sum on one side, for fully correlated errors: clock drift changes all work of a run in
/// the same direction, so the errors add up, not their squares.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct CorrelatedError {
    error: f64,
    by_freedom: f64,
}

impl CorrelatedError {
    /// Adds `weight` times a mean with this variance and these degrees of freedom.
    pub(super) fn add(&mut self, weight: f64, (variance, freedom): (f64, f64)) {
        let part = weight * variance.sqrt();
        self.error += part;
        self.by_freedom += part / freedom.sqrt();
    }

    /// Variance and degrees of freedom of the sum; `None` if nothing was added. The degrees of freedom
    /// lie between the smallest and the largest of the parts.
    pub(super) fn variance(&self) -> Option<(f64, f64)> {
        (self.by_freedom > 0.0)
            .then(|| (self.error * self.error, (self.error / self.by_freedom).powi(2)))
    }
}

/// The errors of both sides. The two runs are independent of each other.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Noise {
    sides: [CorrelatedError; 2],
}

impl Noise {
    /// Adds `weight` × (mean of `b` − mean of `a`). Returns `false` and adds nothing if a side has no
    /// spread.
    pub fn add(&mut self, weight: f64, a: &Sample, b: &Sample) -> bool {
        let (Some(of_a), Some(of_b)) = (a.error(), b.error()) else { return false };
        for (side, error) in self.sides.iter_mut().zip([of_a, of_b]) {
            side.add(weight, error);
        }
        true
    }

    /// Adds the parts of another sum.
    pub fn join(&mut self, other: &Self) {
        for (side, other) in self.sides.iter_mut().zip(&other.sides) {
            side.error += other.error;
            side.by_freedom += other.by_freedom;
        }
    }

    /// The bound: a difference of at most ± this value is within noise. 0 if nothing was added.
    pub fn bound(&self, confidence: f64) -> f64 {
        let (mut variance, mut by_freedom) = (0.0, 0.0);
        for (part, freedom) in self.sides.iter().filter_map(CorrelatedError::variance) {
            variance += part;
            by_freedom += part * part / freedom;
        }
        if by_freedom <= 0.0 {
            return 0.0;
        }
        student_bound(confidence, variance * variance / by_freedom) * variance.sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bound_matches_welchs_test() {
        // Welch's test by hand. A: 5 calls, variance 250 000; B: 10 calls, variance 90 000.
        // Variance of the difference 50 000 + 9 000 = 59 000; freedom 59 000² / (50 000²/4 + 9 000²/9)
        // = 3.481e9 / (6.25e8 + 9e6) = 5.4905…; Student's 99 % bound there lies between 4.0321 at 5 and
        // 3.7074 at 6.
        let sample = |calls: i64, variance: f64| {
            Sample::new(calls, calls * 10_000, Some((variance / calls as f64).sqrt()))
        };
        let (a, b) = (sample(5, 250_000.0), sample(10, 90_000.0));
        let mut noise = Noise::default();
        assert!(noise.add(1.0, &a, &b));
        let factor = noise.bound(0.99) / 59_000f64.sqrt();
        assert!(factor > 3.83 && factor < 3.90, "{factor}");
        // Twice the difference has twice the bound.
        let mut twice = Noise::default();
        twice.add(2.0, &a, &b);
        assert!((twice.bound(0.99) / noise.bound(0.99) - 2.0).abs() < 1e-9);
    }

    /// The sum of ten kernels that share a clock is as uncertain as each kernel.
    #[test]
    fn correlated_errors_do_not_average_out() {
        let (a, b) = (Sample::of(&[1000, 1100, 900, 1050]), Sample::of(&[1000, 1090, 910, 1050]));
        let (mut one, mut ten) = (Noise::default(), Noise::default());
        one.add(4.0, &a, &b);
        for _ in 0..10 {
            ten.join(&one);
        }
        assert!((ten.bound(0.99) / one.bound(0.99) - 10.0).abs() < 1e-9);
    }

    #[test]
    fn one_call_has_no_bound_and_equal_calls_have_the_tick() {
        let (one, two) = (Sample::of(&[100]), Sample::of(&[100, 100]));
        let mut noise = Noise::default();
        assert!(!noise.add(1.0, &one, &two));
        assert_eq!(noise.bound(0.99), 0.0);
        assert!(noise.add(1.0, &two, &two));
        assert!(noise.bound(0.99) > TICK_NS);
    }
}
