//! Calls, their time, and the error of their mean.

use super::TICK_NS;
use super::noise::CorrelatedError;
use crate::statistics::{mean_error, mean_freedom};
use std::collections::BTreeMap;

/// Calls of one kind in one report.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Sample {
    /// Number of calls.
    pub calls: i64,
    /// Sum of their times, in nanoseconds.
    pub total_ns: i64,
    /// Variance of the mean in square nanoseconds, and its degrees of freedom.
    error: Option<(f64, f64)>,
}

impl Sample {
    /// Builds a sample from a count, a sum and the standard error of the mean in nanoseconds, as
    /// computed by [`mean_error`]. A single call has no error.
    pub fn new(calls: i64, total_ns: i64, error_ns: Option<f64>) -> Self {
        Self::over(calls, calls, total_ns, error_ns)
    }

    /// As [`Sample::new`], with an error computed from `parts` groups of calls, such as iterations.
    pub fn over(parts: i64, calls: i64, total_ns: i64, error_ns: Option<f64>) -> Self {
        let error_ns = error_ns.filter(|error| parts > 1 && error.is_finite());
        let least = TICK_NS * TICK_NS / 12.0 / calls.max(1) as f64;
        let error = error_ns.map(|error| ((error * error).max(least), mean_freedom(parts)));
        Self { calls, total_ns, error }
    }

    /// Builds a sample from single values in nanoseconds, in order of time.
    pub fn of(values: &[i64]) -> Self {
        let total = values.iter().fold(0i64, |sum, value| sum.saturating_add(*value));
        let reals: Vec<f64> = values.iter().map(|value| *value as f64).collect();
        Self::new(i64::try_from(values.len()).unwrap_or(i64::MAX), total, mean_error(&reals))
    }

    /// Builds a sample from values in nanoseconds that belong to parts, such as the GPUs of an
    /// iteration. The mean of a part is one measurement. `parts` holds the part of each value, numbered
    /// in order of time.
    pub fn of_parts(values: &[i64], parts: &[usize]) -> Self {
        let mut sums: BTreeMap<usize, (f64, f64)> = BTreeMap::new();
        for (value, part) in values.iter().zip(parts) {
            let (sum, count) = sums.entry(*part).or_default();
            (*sum, *count) = (*sum + *value as f64, *count + 1.0);
        }
        let means: Vec<f64> = sums.into_values().map(|(sum, count)| sum / count).collect();
        let total = values.iter().fold(0i64, |sum, value| sum.saturating_add(*value));
        let count = |length: usize| i64::try_from(length).unwrap_or(i64::MAX);
        Self::over(count(means.len()), count(values.len()), total, mean_error(&means))
    }

    /// Mean time in nanoseconds; 0 without calls.
    pub fn mean_ns(&self) -> f64 {
        if self.calls == 0 { 0.0 } else { self.total_ns as f64 / self.calls as f64 }
    }

    /// Variance of the mean in square nanoseconds, and its degrees of freedom; `None` for a single call.
    /// The variance is at least that of the clock's resolution.
    pub fn error(&self) -> Option<(f64, f64)> {
        self.error
    }

    /// Combines two samples. Their errors are taken as fully correlated.
    pub fn merged(&self, other: &Self) -> Self {
        if self.calls == 0 || other.calls == 0 {
            return if self.calls == 0 { *other } else { *self };
        }
        let calls = self.calls.saturating_add(other.calls);
        let error = self.error.zip(other.error).and_then(|(of_self, of_other)| {
            let mut sum = CorrelatedError::default();
            sum.add(self.calls as f64 / calls as f64, of_self);
            sum.add(other.calls as f64 / calls as f64, of_other);
            sum.variance()
        });
        Self { calls, total_ns: self.total_ns.saturating_add(other.total_ns), error }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_is_that_of_the_mean() {
        // 100, 300, 500: the variance of a call is 40 000, that of the mean a third of it.
        let sample = Sample::of(&[100, 300, 500]);
        assert_eq!((sample.calls, sample.total_ns, sample.mean_ns()), (3, 900, 300.0));
        let (variance, freedom) = sample.error().unwrap();
        assert!((variance - 40_000.0 / 3.0).abs() < 1e-6 && freedom == 2.0);
        assert_eq!(Sample::of(&[3]).error(), None);
        // Equal calls still have the error of the clock: uniform within 32 ns.
        assert!((Sample::of(&[64, 64]).error().unwrap().0 - 1024.0 / 24.0).abs() < 1e-9);
        // Doubling fully correlated calls does not reduce the error.
        let (merged, freedom) = sample.merged(&sample).error().unwrap();
        assert!((merged - variance).abs() < 1e-6 && (freedom - 2.0).abs() < 1e-9);
        assert_eq!(sample.merged(&Sample::of(&[1])).error(), None);
        // Two GPUs in each of three iterations: means of 150, 350 and 550.
        let gpus = Sample::of_parts(&[100, 200, 300, 400, 500, 600], &[0, 0, 1, 1, 2, 2]);
        assert_eq!((gpus.calls, gpus.total_ns), (6, 2100));
        assert!((gpus.error().unwrap().0 - 40_000.0 / 3.0).abs() < 1e-6);
        assert_eq!(Sample::of_parts(&[100, 200], &[7, 7]).error(), None, "one iteration");
    }
}
