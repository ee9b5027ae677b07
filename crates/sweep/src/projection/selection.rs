//! Selects ranges by name and instance, and tells what is inside them.

use super::{Attribution, Reach};

/// The instances of a range to select, counted from 0 in order of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Instances {
    /// The first instance.
    pub first: usize,
    /// The last instance, inclusive.
    pub last: usize,
    /// Count separately on each thread.
    pub by_thread: bool,
}

/// Selected ranges, indexed so that [`Selected::holds`] is fast.
#[derive(Debug, Default)]
pub struct Selected {
    /// The ranges' times, in order.
    spans: Vec<(i64, i64)>,
    /// The largest number of ranges on one thread.
    most_on_a_thread: usize,
    /// Group, start, and the latest end so far in the group; sorted by group and start.
    reached: Vec<(u32, i64, i64)>,
    /// The same by process.
    reached_in_process: Vec<(u32, i64, i64)>,
}

impl Selected {
    /// Selects the ranges for whose name `is_named` is true, and of these the wanted instances.
    pub fn new(
        attribution: &Attribution,
        instances: Option<Instances>,
        is_named: impl Fn(u32) -> bool,
    ) -> Self {
        let ranges = &attribution.capture.ranges;
        let mut found: Vec<usize> =
            (0..ranges.len()).filter(|&index| is_named(ranges.at(index).name)).collect();
        found.sort_by_key(|&index| (ranges.at(index).start, ranges.at(index).id));
        if let Some(wanted) = instances {
            let mut seen = vec![0; attribution.capture.threads.len()];
            found.retain(|&index| {
                let counter = if wanted.by_thread { ranges.at(index).thread as usize } else { 0 };
                seen[counter] += 1;
                (wanted.first..=wanted.last).contains(&(seen[counter] - 1))
            });
        }
        let mut on_thread = vec![0; attribution.capture.threads.len()];
        found.iter().for_each(|&index| on_thread[ranges.at(index).thread as usize] += 1);
        let most_on_a_thread = on_thread.into_iter().max().unwrap_or_default();
        let spans = found.iter().map(|&index| (ranges.at(index).start, ranges.at(index).end)).collect();
        let reached = |by: Reach| {
            // With attribution by thread, a range that another thread ended contains nothing.
            let holds = |index: &&usize| by == Reach::Process || !ranges.at(**index).is_cross_thread;
            let spans = found.iter().filter(holds).map(|&index| {
                let range = ranges.at(index);
                (attribution.group_by(by, range.thread), range.start, range.end)
            });
            reach(spans.collect())
        };
        Self {
            spans,
            most_on_a_thread,
            reached: reached(attribution.reach),
            reached_in_process: reached(Reach::Process),
        }
    }

    /// The ranges of both selections.
    pub fn join(mut self, other: Self) -> Self {
        self.spans.extend(other.spans);
        self.reached.extend(other.reached);
        self.reached = reach(self.reached);
        self.reached_in_process.extend(other.reached_in_process);
        self.reached_in_process = reach(self.reached_in_process);
        self
    }

    /// The largest number of ranges on one thread.
    pub fn most_on_a_thread(&self) -> usize {
        self.most_on_a_thread
    }

    /// The start and end of each range.
    pub fn spans(&self) -> &[(i64, i64)] {
        &self.spans
    }

    /// Whether one of the ranges of the group contains the time from `start` to `end`.
    pub fn holds(&self, group: u32, start: i64, end: i64) -> bool {
        holds(&self.reached, group, start, end)
    }

    /// Whether one of the ranges of the process, on any thread, contains the time from `start` to `end`.
    pub fn holds_in_process(&self, process: u32, start: i64, end: i64) -> bool {
        holds(&self.reached_in_process, process, start, end)
    }
}

fn holds(reached: &[(u32, i64, i64)], group: u32, start: i64, end: i64) -> bool {
    let after = reached.partition_point(|&(g, s, _)| (g, s) <= (group, start));
    reached[..after].last().is_some_and(|&(g, _, reached)| g == group && reached >= end)
}

/// Sorts the spans, and replaces each end by the latest end so far in its group.
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
