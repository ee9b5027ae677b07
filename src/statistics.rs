//! Statistics of a sample, for SQL functions and native relations alike.

/// The percentile of `values` by linear interpolation between the nearest ranks; `None` of no values.
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

/// Mean and spread by Welford's recurrence, which does not lose digits on large means.
#[derive(Debug, Clone, Copy, Default)]
pub struct Moments {
    count: f64,
    mean: f64,
    squares: f64,
}

impl Moments {
    /// Takes in one more value.
    pub fn add(&mut self, value: f64) {
        self.count += 1.0;
        let delta = value - self.mean;
        self.mean += delta / self.count;
        self.squares += delta * (value - self.mean);
    }

    /// Sample standard deviation (n - 1): 0 of a single value, `None` of none.
    pub fn stddev(&self) -> Option<f64> {
        match self.count {
            0.0 => None,
            1.0 => Some(0.0),
            count => Some((self.squares / (count - 1.0)).sqrt()),
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
}
