//! How much time the kernels of launches take.

use super::{ALIKE, NEARLY_ALL, Repeat, Sequence};

/// The time of a part is usual if it differs from the middle one by at most this factor.
pub(super) const USUAL: i64 = 3;
/// The share of parts with a usual time in what is even.
const EVEN: f64 = 0.7;

/// Times that grow or shrink all the time, by this factor, are those of a sweep over sizes. They are compared by the middle
/// ones of so many stretches.
const DRIFT: i64 = 3;
const STRETCHES: usize = 8;

/// Sums over launches.
pub(super) struct Times {
    /// Time and number of the kernels before each launch, and of all.
    before: Vec<i64>,
    kernels_before: Vec<u64>,
}

impl Times {
    pub(super) fn of(sequence: &Sequence) -> Self {
        let (mut before, mut kernels_before) = (vec![0], vec![0]);
        let (mut time, mut kernels) = (0i64, 0u64);
        for (&ns, &count) in sequence.kernel_ns.iter().zip(&sequence.kernels) {
            time = time.saturating_add(ns.max(0));
            kernels += u64::from(count);
            before.push(time);
            kernels_before.push(kernels);
        }
        Self { before, kernels_before }
    }

    /// The time of all kernels.
    pub(super) fn all(&self) -> i64 {
        self.before[self.before.len() - 1]
    }

    pub(super) fn all_kernels(&self) -> u64 {
        self.kernels_before[self.kernels_before.len() - 1]
    }

    /// The time of the kernels of launches from one place to another.
    pub(super) fn between(&self, from: u32, to: u32) -> i64 {
        let at = |place: u32| self.before[(place as usize).min(self.before.len() - 1)];
        at(to) - at(from)
    }

    pub(super) fn kernels_between(&self, from: u32, to: u32) -> u64 {
        let at = |place: u32| self.kernels_before[(place as usize).min(self.kernels_before.len() - 1)];
        at(to) - at(from)
    }

    /// The parts of a repeat that are like the usual one.
    fn alike(repeat: &Repeat) -> impl Iterator<Item = (u32, u32)> + '_ {
        let parts = repeat.cuts.windows(2).zip(&repeat.likeness);
        parts.filter(|(_, like)| **like >= ALIKE).map(|(pair, _)| (pair[0], pair[1]))
    }

    /// The time of the kernels of a repeat.
    pub(super) fn time_of(&self, repeat: &Repeat) -> i64 {
        Self::alike(repeat).map(|(from, to)| self.between(from, to)).sum()
    }

    /// Their share of the time of all kernels; 0 without kernels.
    pub(super) fn share_of(&self, repeat: &Repeat) -> f64 {
        self.time_of(repeat) as f64 / (self.all() as f64).max(1.0)
    }

    pub(super) fn kernels_of(&self, repeat: &Repeat) -> u64 {
        Self::alike(repeat).map(|(from, to)| self.kernels_between(from, to)).sum()
    }

    /// Kernels of the usual part.
    pub(super) fn usual_kernels(&self, repeat: &Repeat) -> u32 {
        let counts = Self::alike(repeat).map(|(from, to)| self.kernels_between(from, to) as i64);
        middle(counts.collect()).unwrap_or(0) as u32
    }

    /// Whether nearly every part has kernels. Where no kernel runs, copies are what a program does.
    pub(super) fn has_kernels(&self, repeat: &Repeat) -> bool {
        let with = repeat.cuts.windows(2).filter(|pair| self.kernels_between(pair[0], pair[1]) > 0);
        self.all_kernels() == 0 || with.count() as f32 >= NEARLY_ALL * repeat.len() as f32
    }

    /// Whether the kernels of most parts take about the same time, and no longer from part to part.
    pub(super) fn is_even(&self, repeat: &Repeat) -> bool {
        let times: Vec<i64> =
            repeat.cuts.windows(2).map(|pair| self.between(pair[0], pair[1])).collect();
        let Some(usual) = middle(times.clone()) else { return true };
        let is_usual = |time: &&i64| **time <= USUAL * usual && **time * USUAL >= usual;
        times.iter().filter(is_usual).count() as f64 >= EVEN * times.len() as f64 && !drifts(&times)
    }
}

/// Whether times grow or shrink all the time.
pub(super) fn drifts(times: &[i64]) -> bool {
    if times.len() < 2 * STRETCHES {
        return false;
    }
    let stretches = times.chunks(times.len() / STRETCHES).take(STRETCHES);
    let usual: Vec<i64> = stretches.filter_map(|stretch| middle(stretch.to_vec())).collect();
    let (first, last) = (usual[0], usual[usual.len() - 1]);
    usual.is_sorted() && last >= DRIFT * first || usual.iter().rev().is_sorted() && first >= DRIFT * last
}

/// The middle one of some numbers.
pub(super) fn middle(mut numbers: Vec<i64>) -> Option<i64> {
    let place = numbers.len() / 2;
    (!numbers.is_empty()).then(|| *numbers.select_nth_unstable(place).1)
}
