//! How many reports to ask about at once. Nobody tells the client how many executors there are, or how long a report
//! takes; both show in the reports that are answered in a second.

use std::time::Duration;

/// Reports in the first waves.
const FIRST: usize = 4;
/// How long a wave should take: progress is seen between waves.
const LONG_ENOUGH: Duration = Duration::from_secs(2);
/// So much more in a second shows that executors had been idle.
const FASTER: f64 = 1.3;
/// While they are, a wave is so many times as large as the one before.
const GROWTH: usize = 4;

/// The size of the next wave, and what earlier ones have shown.
#[derive(Debug)]
pub(super) struct Waves {
    size: usize,
    /// The smallest wave that kept all executors busy, as far as is known.
    busy: usize,
    /// Reports in a second, with that wave.
    rate: f64,
}

impl Waves {
    pub(super) fn new() -> Self {
        Self { size: FIRST, busy: FIRST, rate: 0.0 }
    }

    pub(super) fn size(&self) -> usize {
        self.size
    }

    /// A wave of so many reports took so long.
    pub(super) fn learn(&mut self, reports: usize, took: Duration) {
        // A smaller one began before the size was changed, or was the last.
        if reports < self.size {
            return;
        }
        let rate = reports as f64 / took.as_secs_f64().max(1e-3);
        if rate > FASTER * self.rate {
            (self.busy, self.rate) = (reports, rate);
            self.size = reports.saturating_mul(GROWTH);
        } else {
            let fitting = (rate * LONG_ENOUGH.as_secs_f64()) as usize;
            self.size = fitting.clamp(self.busy, self.size.saturating_mul(2));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cmp::Reverse;
    use std::collections::BinaryHeap;

    /// Seconds for so many reports, each of which takes an executor so long, and the longest time between waves.
    fn simulated(reports: usize, executors: usize, each: f64) -> (f64, f64) {
        let mut waves = Waves::new();
        // When each executor is free, in nanoseconds.
        let mut free: BinaryHeap<Reverse<u64>> = (0..executors).map(|_| Reverse(0)).collect();
        let (mut at_work, mut left, mut now, mut longest) = (Vec::new(), reports, 0, 0);
        loop {
            while at_work.len() < 2 && left > 0 {
                let size = waves.size().min(left);
                left -= size;
                let ends = (0..size).map(|_| {
                    let Reverse(from) = free.pop().unwrap();
                    let end = from.max(now) + (each * 1e9) as u64;
                    free.push(Reverse(end));
                    end
                });
                at_work.push((ends.max().unwrap(), now, size));
            }
            at_work.sort_unstable();
            if at_work.is_empty() {
                return (now as f64 / 1e9, longest as f64 / 1e9);
            }
            let (end, begun, size) = at_work.remove(0);
            longest = longest.max(end - now);
            now = end;
            waves.learn(size, Duration::from_nanos(end - begun));
        }
    }

    #[test]
    fn executors_are_kept_busy_and_progress_is_seen() {
        for (reports, executors, each) in [
            (1_000, 1, 0.02),
            (1_000, 3, 0.02),
            (1_000, 64, 1.0),
            (10_000, 3_200, 10.0),
            (10_000, 3_200, 0.05),
            (100, 1, 60.0),
            (3, 8, 5.0),
        ] {
            let (took, longest) = simulated(reports, executors, each);
            let ideal = (reports as f64 / executors as f64).ceil() * each;
            assert!(took <= 2.5 * ideal + 4.0, "{reports} {executors} {each}: {took} of {ideal}");
            let at_best = each * (FIRST * GROWTH) as f64;
            assert!(longest <= at_best.max(8.0), "{reports} {executors} {each}: {longest}");
        }
    }
}
