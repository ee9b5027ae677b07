//! Counts in how many overlapping ranges each launch is, without visiting every pair.
//!
//! If a range is nested in itself a thousand times, each of its kernels is in a thousand ranges. The starts
//! and ends of the ranges tell how many ranges a launch is in, and in how many a kernel occurs.

use super::{Projection, StopCheck};

/// The ranges that are open at a launch. Ranges are numbered in order of their starts.
pub(super) struct Open {
    /// The number of the first range.
    first: u32,
    /// A Fenwick tree with the number of open ranges, by range number.
    counts: Vec<u32>,
    open: u32,
}

impl Open {
    fn new(first: u32, ranges: usize) -> Self {
        Self { first, counts: vec![0; ranges + 1], open: 0 }
    }

    fn begin(&mut self, number: u32) {
        self.add(number, 1);
    }

    fn end(&mut self, number: u32) {
        self.add(number, u32::MAX);
    }

    /// Adds `count` modulo 2^32, so `u32::MAX` subtracts one.
    fn add(&mut self, number: u32, count: u32) {
        self.open = self.open.wrapping_add(count);
        let mut at = (number - self.first) as usize + 1;
        while let Some(sum) = self.counts.get_mut(at) {
            *sum = sum.wrapping_add(count);
            at += at & at.wrapping_neg();
        }
    }

    /// The number of open ranges among those from `number` on.
    pub(super) fn since(&self, number: u32) -> u32 {
        let mut at = number.saturating_sub(self.first) as usize;
        let mut before = 0u32;
        while at > 0 {
            before = before.wrapping_add(self.counts[at]);
            at &= at - 1;
        }
        self.open.wrapping_sub(before)
    }
}

/// A launch inside at least one range.
pub(super) struct HeldLaunch<'a> {
    pub(super) launch: usize,
    /// The number of ranges around it.
    pub(super) times: u32,
    /// The open ranges.
    pub(super) open: &'a Open,
    /// The number of the next range to start.
    pub(super) begun: u32,
}

/// Calls `tell` for every launch inside at least one range, once and in order. Returns `true` if it was
/// stopped.
///
/// `ranges` are given in order of their starts and numbered from `first`. Ranges with holes are given in
/// `one_by_one`; they have no number. Together the ranges must cover one run of launches: time and memory
/// are proportional to its length.
pub(super) fn sweep(
    projection: &Projection,
    first: u32,
    ranges: &[u32],
    one_by_one: &[u32],
    check: &mut StopCheck<'_>,
    mut tell: impl FnMut(&HeldLaunch<'_>),
) -> bool {
    let spans = || ranges.iter().map(|&range| projection.span(range as usize));
    let all = || ranges.iter().chain(one_by_one).map(|&range| projection.span(range as usize));
    let from = all().map(|span| span.start).min().unwrap_or_default();
    let to = all().map(|span| span.end).max().unwrap_or_default();
    // The change in the number of ranges from one launch to the next, modulo 2^32.
    let mut more = vec![0u32; to - from + 1];
    let mut add = |from: usize, to: usize| {
        more[from] = more[from].wrapping_add(1);
        more[to] = more[to].wrapping_sub(1);
    };
    spans().for_each(|span| add(span.start - from, span.end - from));
    for &range in one_by_one {
        if check.must_stop_after(projection.cost(range as usize)) {
            return true;
        }
        for launch in projection.launches_in(range as usize) {
            if check.must_stop() {
                return true;
            }
            add(launch - from, launch - from + 1);
        }
    }
    let mut starts = (first..).zip(spans()).peekable();
    let mut ends: Vec<(usize, u32)> = spans().map(|span| span.end).zip(first..).collect();
    ends.sort_unstable();
    let mut ends = ends.into_iter().peekable();
    let mut open = Open::new(first, ranges.len());
    let (mut times, mut begun) = (0u32, first);
    for (launch, more) in (from..to).zip(more) {
        if check.must_stop() {
            return true;
        }
        while let Some((number, _)) = starts.next_if(|(_, span)| span.start <= launch) {
            open.begin(number);
            begun = number + 1;
        }
        while let Some((_, number)) = ends.next_if(|&(end, _)| end <= launch) {
            open.end(number);
        }
        times = times.wrapping_add(more);
        if times > 0 {
            tell(&HeldLaunch { launch, times, open: &open, begun });
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_ranges_are_counted_from_any_number() {
        const RANGES: u32 = 37;
        let mut seed = 5u64;
        let mut random = |below: u32| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as u32 % below
        };
        let (first, mut open) = (12, Open::new(12, RANGES as usize));
        let mut is_open = [false; RANGES as usize];
        for _ in 0..2_000 {
            let place = random(RANGES);
            let number = first + place;
            let was_open = &mut is_open[place as usize];
            if *was_open {
                open.end(number)
            } else {
                open.begin(number)
            }
            *was_open = !*was_open;
            for from in 0..first + RANGES + 1 {
                let counted =
                    (first..).zip(&is_open).filter(|&(n, &is_open)| n >= from && is_open).count();
                assert_eq!(open.since(from), counted as u32, "from {from}: {is_open:?}");
            }
        }
    }
}
