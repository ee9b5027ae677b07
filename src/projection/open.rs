//! Ranges of one kind that hold the same launches: counted, not gone through one by one.
//!
//! A range nested in itself a thousand times holds each of its kernels a thousand times. How often that is,
//! and in how many ranges a kernel was met, is known from where the ranges begin and end.

use super::{Pace, Projection};

/// Ranges that are open at a launch, by their number in order of their starts.
pub(super) struct Open {
    /// The number of the first range that can be open.
    first: u32,
    /// A Fenwick tree: how many ranges are open, by number.
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

    /// Adds a count, or with the greatest of all takes one away.
    fn add(&mut self, number: u32, count: u32) {
        self.open = self.open.wrapping_add(count);
        let mut at = (number - self.first) as usize + 1;
        while let Some(sum) = self.counts.get_mut(at) {
            *sum = sum.wrapping_add(count);
            at += at & at.wrapping_neg();
        }
    }

    /// How many of the ranges from this number on are open.
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

/// A launch that ranges hold.
pub(super) struct Held<'a> {
    pub(super) launch: usize,
    /// How many of them hold it.
    pub(super) times: u32,
    /// Those that are open, and the number of the next one to begin.
    pub(super) open: &'a Open,
    pub(super) begun: u32,
}

/// Tells every launch that ranges hold, once and in order. The ranges, in order of their starts, are numbered
/// from `first`; those in `one_by_one` are not, and hold launches here and there. `true`: it was stopped.
///
/// They must cover one stretch of launches: time and memory go by its length.
pub(super) fn sweep(
    projection: &Projection,
    first: u32,
    ranges: &[u32],
    one_by_one: &[u32],
    pace: &mut Pace<'_>,
    mut tell: impl FnMut(&Held<'_>),
) -> bool {
    let spans = || ranges.iter().map(|&range| projection.span(range as usize));
    let all = || ranges.iter().chain(one_by_one).map(|&range| projection.span(range as usize));
    let from = all().map(|span| span.start).min().unwrap_or_default();
    let to = all().map(|span| span.end).max().unwrap_or_default();
    // How many more ranges hold a launch than the one before it, modulo 2^32.
    let mut more = vec![0u32; to - from + 1];
    let mut add = |from: usize, to: usize| {
        more[from] = more[from].wrapping_add(1);
        more[to] = more[to].wrapping_sub(1);
    };
    spans().for_each(|span| add(span.start - from, span.end - from));
    for &range in one_by_one {
        if pace.is_over_after(projection.effort(range as usize)) {
            return true;
        }
        for launch in projection.launches_in(range as usize) {
            if pace.is_over() {
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
        if pace.is_over() {
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
            tell(&Held { launch, times, open: &open, begun });
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_ranges_are_counted_from_any_number_on() {
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
