//! Finds the innermost range of each launch, and how ranges nest.

use super::groups::{gather, order_in_groups, run_shared, sort_in_groups, split};
use super::nesting::Sweep;
use super::{Capture, Launch, NONE, Op, OpKind, Range, Stop};
use crate::threads::Threads;
use std::cmp::Reverse;
use std::ops;

/// Which threads' launches are attributed to a range.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Reach {
    /// Those of the range's own thread: NVIDIA's rule.
    #[default]
    Thread,
    /// Those of any thread of the process, while the range is open.
    Process,
}

/// Why an operation is not attributed to a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Unattributed {
    /// Its launching call is not in the capture.
    NoCall,
    /// No range was open.
    NoRange,
    /// No range was open on the launching thread, but one was on another thread of the process.
    OtherThread,
    /// A CUDA graph that was traced as a whole, outside all ranges.
    GraphLevel,
}

impl Unattributed {
    /// The text for this reason in the relation `nvtx_op`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NoCall => "no API row",
            Self::NoRange => "no open range",
            Self::OtherThread => "other thread",
            Self::GraphLevel => "graph-level trace",
        }
    }
}

/// How some of the ranges nest.
#[derive(Debug)]
pub struct Nesting {
    /// The shortest range around each range, or [`NONE`].
    pub parent: Vec<u32>,
    /// Number of ancestors of each range.
    pub depth: Vec<u32>,
}

/// A sorted capture, with parents, depths and innermost ranges.
#[derive(Debug)]
pub struct Attribution {
    /// Ranges by (thread, start, end descending, row); launches by (thread or process, start).
    pub capture: Capture,
    /// Which threads' launches are attributed to a range.
    pub reach: Reach,
    /// The shortest range around each range, or [`NONE`].
    pub parent: Vec<u32>,
    /// Number of ancestors of each range.
    pub depth: Vec<u32>,
}

impl Attribution {
    /// Sorts the capture and finds the nesting of ranges and launches. `None` if it was stopped.
    pub fn new(mut capture: Capture, reach: Reach, stop: Stop<'_>) -> Option<Self> {
        let (threads, share) = (capture.threads.len(), stop.threads());
        let order = |range: &Range| (range.start, Reverse(range.end), range.id);
        let ranges = std::mem::take(&mut capture.ranges);
        let ((ranges, bounds), launched) = share.both(
            || sort_in_groups(ranges, threads, |range| range.thread, order, share),
            || sort_launches(&mut capture, Reach::Thread, share),
        );
        capture.ranges = ranges;
        let mut parent = vec![NONE; capture.ranges.len()];
        let (ranges, launches) = (&capture.ranges, &mut capture.launches);
        let size = ranges.len() + launches.len();
        let pieces = split(&mut parent, &bounds).into_iter().zip(split(launches, &launched));
        run_shared(pieces.zip(&bounds).collect(), (size, share), |((parent, launches), &base)| {
            if stop.is_over() {
                return;
            }
            let order = order_of(ranges, base..base + parent.len(), |_| true);
            let mut sweep = Sweep::new(ranges, &order, stop);
            let mut found = |index: u32, above: u32| parent[index as usize - base] = above;
            for launch in launches {
                sweep.advance(launch.start, &mut found);
                launch.innermost = sweep.innermost(launch.end);
            }
            sweep.advance(i64::MAX, &mut found);
        });
        if stop.is_over() {
            return None;
        }
        match reach {
            Reach::Thread => mark_other_threads(&mut capture, &parent),
            Reach::Process => {
                sort_launches(&mut capture, reach, share);
                attribute_by_process(&mut capture, &mut parent, stop)?;
            }
        }
        let depth = depths(&capture, reach, &parent);
        Some(Self { capture, reach, parent, depth })
    }

    /// Parents and depths among the ranges for which `takes_part` is true, thread by thread. `None` if it
    /// was stopped.
    pub fn nesting_of(&self, takes_part: impl Fn(&Range) -> bool, stop: Stop<'_>) -> Option<Nesting> {
        let ranges = &self.capture.ranges;
        let mut parent = vec![NONE; ranges.len()];
        for thread in 0..self.capture.threads.len() as u32 {
            let order = order_of(ranges, slice_of(ranges, thread, |range| range.thread), &takes_part);
            let mut sweep = Sweep::new(ranges, &order, stop);
            sweep.advance(i64::MAX, |index, above| parent[index as usize] = above);
            if stop.is_over() {
                return None;
            }
        }
        let depth = depths(&self.capture, Reach::Thread, &parent);
        Some(Nesting { parent, depth })
    }

    /// The group of a thread: its own number, or its process by [`Reach::Process`]. Ranges are matched with
    /// launches of the same group.
    pub fn group_of(&self, thread: u32) -> u32 {
        self.group_by(self.reach, thread)
    }

    /// The group of a thread with another reach.
    pub fn group_by(&self, reach: Reach, thread: u32) -> u32 {
        group_of(&self.capture, reach, thread)
    }

    /// Why the operation is not in a range; `None` if it is in one.
    pub fn unattributed(&self, op: &Op) -> Option<Unattributed> {
        let launch = self.capture.launches.get(op.launch as usize);
        match launch {
            Some(launch) if launch.innermost != NONE => None,
            _ if op.kind == OpKind::Graph => Some(Unattributed::GraphLevel),
            None => Some(Unattributed::NoCall),
            Some(launch) if launch.is_in_other_thread => Some(Unattributed::OtherThread),
            Some(_) => Some(Unattributed::NoRange),
        }
    }

    /// The innermost range around the operation's launch, or [`NONE`].
    pub fn innermost(&self, op: &Op) -> u32 {
        self.capture.launches.get(op.launch as usize).map_or(NONE, |launch| launch.innermost)
    }
}

fn group_of(capture: &Capture, reach: Reach, thread: u32) -> u32 {
    match reach {
        Reach::Thread => thread,
        Reach::Process => capture.threads[thread as usize].process,
    }
}

/// The ranges among `indices` that take part in the nesting of their thread, as indices.
fn order_of(
    ranges: &[Range],
    indices: ops::Range<usize>,
    takes_part: impl Fn(&Range) -> bool,
) -> Vec<u32> {
    let nests = |index: &usize| !ranges[*index].is_cross_thread && takes_part(&ranges[*index]);
    indices.filter(nests).map(|index| index as u32).collect()
}

/// Sorts launches by (group, start, end descending, call), and updates the operations' indices. Returns the
/// bounds of the groups.
fn sort_launches(capture: &mut Capture, reach: Reach, share: Threads) -> Vec<usize> {
    let groups = match reach {
        Reach::Thread => capture.threads.len(),
        Reach::Process => capture.processes.len(),
    };
    let (order, bounds) = order_in_groups(
        &capture.launches,
        groups,
        |launch| group_of(capture, reach, launch.thread),
        |launch| (launch.start, Reverse(launch.end), launch.call),
        share,
    );
    capture.launches = gather(&capture.launches, &order);
    let mut places = vec![NONE; order.len()];
    for (place, index) in (0u32..).zip(order) {
        places[index as usize] = place;
    }
    for op in capture.ops.iter_mut().filter(|op| op.launch != NONE) {
        op.launch = places[op.launch as usize];
    }
    bounds
}

/// The indices of a group's elements, in a sequence that is sorted by group.
pub(super) fn slice_of<T>(sorted: &[T], group: u32, of: impl Fn(&T) -> u32) -> ops::Range<usize> {
    let from = sorted.partition_point(|element| of(element) < group);
    from..from + sorted[from..].partition_point(|element| of(element) == group)
}

/// Sets `is_in_other_thread` for launches without a range, if another thread of the process had one open.
fn mark_other_threads(capture: &mut Capture, parent: &[u32]) {
    let (ranges, threads) = (&capture.ranges, &capture.threads);
    let process_of = |thread: u32| threads[thread as usize].process;
    let mut alone: Vec<&mut Launch> =
        capture.launches.iter_mut().filter(|launch| launch.innermost == NONE).collect();
    if alone.is_empty() {
        return;
    }
    alone.sort_by_key(|launch| (process_of(launch.thread), launch.start));
    // A launch inside a range is also inside its outermost range, so only those need checking.
    let mut outermost: Vec<(u32, i64, i64)> = ranges
        .iter()
        .zip(parent)
        .filter(|&(_, &parent)| parent == NONE)
        .map(|(range, _)| (process_of(range.thread), range.start, range.end))
        .collect();
    outermost.sort_unstable();
    let mut ahead = outermost.into_iter().peekable();
    let mut reached = (0, i64::MIN);
    for launch in alone {
        let process = process_of(launch.thread);
        while let Some((of, _, end)) =
            ahead.next_if(|&(of, start, _)| (of, start) <= (process, launch.start))
        {
            reached = if reached.0 == of { (of, reached.1.max(end)) } else { (of, end) };
        }
        launch.is_in_other_thread = reached.0 == process && reached.1 >= launch.end;
    }
}

/// Attributes launches and ranges that are in no range on their own thread to ranges on other threads of
/// the process.
fn attribute_by_process(capture: &mut Capture, parent: &mut [u32], stop: Stop<'_>) -> Option<()> {
    let (ranges, launches, threads) = (&capture.ranges, &mut capture.launches, &capture.threads);
    let process_of = |thread: u32| threads[thread as usize].process;
    for process in 0..capture.processes.len() as u32 {
        if stop.is_over() {
            return None;
        }
        let mut order: Vec<u32> = slice_of(ranges, process, |range| process_of(range.thread))
            .map(|index| index as u32)
            .collect();
        order.sort_by_key(|&index| {
            let range = &ranges[index as usize];
            (range.start, Reverse(range.end), range.id)
        });
        let mut sweep = Sweep::new(ranges, &order, stop);
        let mut adopt = |index: u32, above: u32| {
            let parent = &mut parent[index as usize];
            *parent = if *parent == NONE { above } else { *parent };
        };
        for index in slice_of(launches, process, |launch| process_of(launch.thread)) {
            let launch = &mut launches[index];
            if launch.innermost == NONE {
                sweep.advance(launch.start, &mut adopt);
                launch.innermost = sweep.innermost(launch.end);
            }
        }
        sweep.advance(i64::MAX, &mut adopt);
    }
    (!stop.is_over()).then_some(())
}

/// The number of ancestors of each range. With [`Reach::Process`], a parent comes before its children in
/// time but not always in the array, so the ranges are visited in order of time.
fn depths(capture: &Capture, reach: Reach, parent: &[u32]) -> Vec<u32> {
    let mut depth = vec![0; parent.len()];
    let mut deepen = |index: usize| {
        if parent[index] != NONE {
            depth[index] = depth[parent[index] as usize] + 1;
        }
    };
    match reach {
        Reach::Thread => (0..parent.len()).for_each(deepen),
        Reach::Process => {
            let mut order: Vec<usize> = (0..parent.len()).collect();
            order.sort_by_key(|&index| {
                let range = &capture.ranges[index];
                let process = capture.threads[range.thread as usize].process;
                (process, range.start, Reverse(range.end), range.id)
            });
            order.into_iter().for_each(&mut deepen);
        }
    }
    depth
}
