//! Some of the ranges, and what they hold.

use super::{Attribution, Reach};

/// Some of the ranges of a name, counted from 0 in order of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Instances {
    /// The first.
    pub first: usize,
    /// The last.
    pub last: usize,
    /// Each thread counts its own.
    pub by_thread: bool,
}

/// Ranges that are ready to be asked what they hold.
#[derive(Debug, Default)]
pub struct Selected {
    /// The ranges' times, in order.
    spans: Vec<(i64, i64)>,
    /// Ranges on the thread that has most of them.
    most_on_a_thread: usize,
    /// By (group, start): the group, the start, and the latest end so far in the group.
    reached: Vec<(u32, i64, i64)>,
}

impl Selected {
    /// The ranges whose name `is_named` holds for; of those, the wanted instances in order of time.
    pub fn new(
        attribution: &Attribution,
        instances: Option<Instances>,
        is_named: impl Fn(u32) -> bool,
    ) -> Self {
        let ranges = &attribution.capture.ranges;
        let mut found: Vec<usize> =
            (0..ranges.len()).filter(|&index| is_named(ranges[index].name)).collect();
        found.sort_by_key(|&index| (ranges[index].start, ranges[index].id));
        if let Some(wanted) = instances {
            let mut seen = vec![0; attribution.capture.threads.len()];
            found.retain(|&index| {
                let counter = if wanted.by_thread { ranges[index].thread as usize } else { 0 };
                seen[counter] += 1;
                (wanted.first..=wanted.last).contains(&(seen[counter] - 1))
            });
        }
        let mut on_thread = vec![0; attribution.capture.threads.len()];
        found.iter().for_each(|&index| on_thread[ranges[index].thread as usize] += 1);
        let most_on_a_thread = on_thread.into_iter().max().unwrap_or_default();
        let spans = found.iter().map(|&index| (ranges[index].start, ranges[index].end)).collect();
        // By thread, a range that another thread ended holds nothing.
        let holds =
            |index: &&usize| attribution.reach == Reach::Process || !ranges[**index].is_cross_thread;
        let reached = found.iter().filter(holds).map(|&index| {
            let range = &ranges[index];
            (attribution.group_of(range.thread), range.start, range.end)
        });
        Self { spans, most_on_a_thread, reached: reach(reached.collect()) }
    }

    /// The ranges of both.
    pub fn join(mut self, other: Self) -> Self {
        self.spans.extend(other.spans);
        self.reached.extend(other.reached);
        self.reached = reach(self.reached);
        self
    }

    /// How many of the ranges the thread has that has most of them.
    pub fn most_on_a_thread(&self) -> usize {
        self.most_on_a_thread
    }

    /// When each range began and ended.
    pub fn spans(&self) -> &[(i64, i64)] {
        &self.spans
    }

    /// One of the ranges of the group holds the stretch of time.
    pub fn holds(&self, group: u32, start: i64, end: i64) -> bool {
        let after = self.reached.partition_point(|&(g, s, _)| (g, s) <= (group, start));
        self.reached[..after].last().is_some_and(|&(g, _, reached)| g == group && reached >= end)
    }
}

/// Sorts, and lets each range reach as far as those of its group before it.
fn reach(mut spans: Vec<(u32, i64, i64)>) -> Vec<(u32, i64, i64)> {
    spans.sort_unstable();
    for place in 1..spans.len() {
        let (group, _, reached) = spans[place - 1];
        if spans[place].0 == group {
            spans[place].2 = spans[place].2.max(reached);
        }
    }
    spans
}
