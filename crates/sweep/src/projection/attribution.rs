//! Finds the innermost range of each launch, and how ranges nest.

use super::groups::{order_in_groups, run_shared, split};
use super::nesting::Sweep;
use super::{Capture, NONE, Op, OpKind, Range, Ranges, Stop};
use crate::threads::Threads;
use std::cmp::Reverse;
use std::ops;
use std::sync::Arc;

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
#[derive(Debug, Default)]
pub struct Attribution {
    /// Ranges by (thread, start, end descending, row); launches by (thread or process, start).
    pub capture: Capture,
    /// Which threads' launches are attributed to a range.
    pub reach: Reach,
    /// The shortest range around each range, or [`NONE`].
    pub parent: Arc<Vec<u32>>,
    /// Number of ancestors of each range.
    pub depth: Arc<Vec<u32>>,
    /// The innermost range around each launch, or [`NONE`].
    innermost: Vec<u32>,
    /// For each launch without a range: whether another thread of the process had one open. Empty if none had.
    in_other_thread: Vec<bool>,
}

impl Attribution {
    /// Sorts the capture and finds the nesting of ranges and launches. `None` if it was stopped.
    pub fn new(mut capture: Capture, reach: Reach, stop: Stop<'_>) -> Option<Self> {
        let (threads, share) = (capture.threads.len(), stop.threads());
        let mut ranges = Arc::unwrap_or_clone(std::mem::take(&mut capture.ranges));
        let (bounds, launched) = share.both(
            || sort_ranges(&mut ranges, threads, share),
            || sort_launches(&mut capture, Reach::Thread, share).1,
        );
        capture.ranges = Arc::new(ranges);
        let (ranges, launches) = (&capture.ranges, &capture.launches);
        let (mut parent, mut innermost) = (vec![NONE; ranges.len()], vec![NONE; launches.len()]);
        let pieces = split(&mut parent, &bounds).into_iter().zip(split(&mut innermost, &launched));
        let pieces = pieces.zip(bounds.iter().zip(&launched)).collect();
        let size = ranges.len() + launches.len();
        run_shared(pieces, (size, share), |((parent, innermost), (&base, &first))| {
            if stop.is_over() {
                return;
            }
            let order = order_of(ranges, base..base + parent.len(), |_| true);
            let mut sweep = Sweep::new(ranges, &order, stop);
            let mut found = |index: u32, above: u32| parent[index as usize - base] = above;
            for (innermost, place) in innermost.iter_mut().zip(first..) {
                let launch = launches.at(place);
                sweep.advance(launch.start, &mut found);
                *innermost = sweep.innermost(launch.end);
            }
            sweep.advance(i64::MAX, &mut found);
        });
        if stop.is_over() {
            return None;
        }
        let mut in_other_thread = Vec::new();
        match reach {
            Reach::Thread => in_other_thread = other_threads(&capture, &parent, &innermost),
            Reach::Process => {
                let (order, _) = sort_launches(&mut capture, reach, share);
                innermost = order.iter().map(|&launch| innermost[launch as usize]).collect();
                attribute_by_process(&capture, &mut parent, &mut innermost, stop)?;
            }
        }
        let depth = Arc::new(depths(&capture, reach, &parent));
        let parent = Arc::new(parent);
        Some(Self { capture, reach, parent, depth, innermost, in_other_thread })
    }

    /// The same with only the operations for which `is_kept` is true, and their launches. The ranges are shared.
    pub fn within(&self, is_kept: impl Fn(&Op) -> bool) -> Self {
        let Capture { processes, threads, kernels, ops, launches, ranges } = &self.capture;
        let mut part = Self {
            capture: Capture {
                processes: processes.clone(),
                threads: threads.clone(),
                kernels: kernels.clone(),
                ops: ops.kept(is_kept),
                launches: launches.clone(),
                ranges: Arc::clone(ranges),
            },
            reach: self.reach,
            parent: Arc::clone(&self.parent),
            depth: Arc::clone(&self.depth),
            innermost: self.innermost.clone(),
            in_other_thread: self.in_other_thread.clone(),
        };
        part.drop_unused_launches();
        part
    }

    /// The innermost range around each launch, or [`NONE`].
    pub fn innermost_of(&self) -> &[u32] {
        &self.innermost
    }

    /// Whether a launch is in no range of its own thread, while another thread of the process had one open.
    pub fn is_in_other_thread(&self, launch: u32) -> bool {
        self.in_other_thread.get(launch as usize) == Some(&true)
    }

    /// Removes launches that no operation points to. The projection needs every launch to have operations.
    pub(super) fn drop_unused_launches(&mut self) {
        let used = self.capture.drop_unused_launches();
        self.innermost = used.iter().map(|&launch| self.innermost[launch as usize]).collect();
        if !self.in_other_thread.is_empty() {
            self.in_other_thread = used.iter().map(|&launch| self.is_in_other_thread(launch)).collect();
        }
    }

    /// Parents and depths among the ranges for which `takes_part` is true, thread by thread. `None` if it
    /// was stopped.
    pub fn nesting_of(&self, takes_part: impl Fn(&Range) -> bool, stop: Stop<'_>) -> Option<Nesting> {
        let ranges = &self.capture.ranges;
        let mut parent = vec![NONE; ranges.len()];
        for thread in 0..self.capture.threads.len() as u32 {
            let order = order_of(ranges, slice_of(ranges.threads(), thread), &takes_part);
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

    /// The launches that can be in ranges of this thread: its own, or those of its process by [`Reach::Process`].
    pub(super) fn launches_of(&self, thread: u32) -> ops::Range<usize> {
        let (capture, group) = (&self.capture, self.group_of(thread));
        match self.reach {
            Reach::Thread => slice_of(capture.launches.threads(), group),
            Reach::Process => slice_of_process(capture, capture.launches.threads(), group),
        }
    }

    /// Why the operation is not in a range; `None` if it is in one.
    pub fn unattributed(&self, op: &Op) -> Option<Unattributed> {
        match self.innermost.get(op.launch as usize) {
            Some(&innermost) if innermost != NONE => None,
            _ if op.kind == OpKind::Graph => Some(Unattributed::GraphLevel),
            None => Some(Unattributed::NoCall),
            Some(_) if self.is_in_other_thread(op.launch) => Some(Unattributed::OtherThread),
            Some(_) => Some(Unattributed::NoRange),
        }
    }

    /// The innermost range around the operation's launch, or [`NONE`].
    pub fn innermost(&self, op: &Op) -> u32 {
        self.innermost.get(op.launch as usize).copied().unwrap_or(NONE)
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
    ranges: &Ranges,
    indices: ops::Range<usize>,
    takes_part: impl Fn(&Range) -> bool,
) -> Vec<u32> {
    let nests = |range: Range| !range.is_cross_thread && takes_part(&range);
    indices.filter(|&index| nests(ranges.at(index))).map(|index| index as u32).collect()
}

/// Sorts ranges by (thread, start, end descending, row). Returns the bounds of the threads.
fn sort_ranges(ranges: &mut Ranges, threads: usize, share: Threads) -> Vec<usize> {
    let key = |range: Range| (range.start, Reverse(range.end), range.id);
    if ranges.iter().is_sorted_by_key(|range| (range.thread, key(range))) {
        let begin = |group| ranges.threads().partition_point(|&thread| thread < group);
        return (0..=threads as u32).map(begin).collect();
    }
    let key_at = |index: u32| key(ranges.at(index as usize));
    let (order, bounds) = order_in_groups(ranges.threads(), threads, key_at, share);
    ranges.reorder(&order);
    bounds
}

/// Sorts launches by (group, start, end descending, call), and updates the operations' indices. Returns the former places
/// of the launches, and the bounds of the groups.
fn sort_launches(capture: &mut Capture, reach: Reach, share: Threads) -> (Vec<u32>, Vec<usize>) {
    let launches = &capture.launches;
    let key_at = |index: u32| {
        let launch = launches.at(index as usize);
        (launch.start, Reverse(launch.end), launch.call)
    };
    let (order, bounds) = match reach {
        Reach::Thread => order_in_groups(launches.threads(), capture.threads.len(), key_at, share),
        Reach::Process => {
            let process_of = |&thread: &u32| group_of(capture, reach, thread);
            let processes: Vec<u32> = launches.threads().iter().map(process_of).collect();
            order_in_groups(&processes, capture.processes.len(), key_at, share)
        }
    };
    capture.launches = launches.gather(&order);
    let mut places = vec![NONE; order.len()];
    for (place, &index) in (0u32..).zip(&order) {
        places[index as usize] = place;
    }
    for launch in capture.ops.launches_mut().iter_mut().filter(|launch| **launch != NONE) {
        *launch = places[*launch as usize];
    }
    (order, bounds)
}

/// The places of a group, in a sequence of groups in order.
pub(super) fn slice_of(sorted: &[u32], group: u32) -> ops::Range<usize> {
    let from = sorted.partition_point(|&of| of < group);
    from..from + sorted[from..].partition_point(|&of| of == group)
}

/// The places of a process, in a sequence of threads in order: the threads of a process are consecutive.
fn slice_of_process(capture: &Capture, sorted: &[u32], process: u32) -> ops::Range<usize> {
    let process_of = |&thread: &u32| capture.threads[thread as usize].process;
    let from = sorted.partition_point(|thread| process_of(thread) < process);
    from..from + sorted[from..].partition_point(|thread| process_of(thread) == process)
}

/// For each launch: whether it is in no range, and another thread of the process had one open. Empty if none is.
fn other_threads(capture: &Capture, parent: &[u32], innermost: &[u32]) -> Vec<bool> {
    let Capture { ranges, threads, launches, .. } = capture;
    let process_of = |thread: u32| threads[thread as usize].process;
    let without_range = (0u32..).zip(innermost).filter(|(_, innermost)| **innermost == NONE);
    let mut alone: Vec<u32> = without_range.map(|(launch, _)| launch).collect();
    if alone.is_empty() {
        return Vec::new();
    }
    alone.sort_by_key(|&launch| {
        let launch = launches.at(launch as usize);
        (process_of(launch.thread), launch.start)
    });
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
    let mut found = Vec::new();
    for place in alone {
        let launch = launches.at(place as usize);
        let process = process_of(launch.thread);
        while let Some((of, _, end)) =
            ahead.next_if(|&(of, start, _)| (of, start) <= (process, launch.start))
        {
            reached = if reached.0 == of { (of, reached.1.max(end)) } else { (of, end) };
        }
        if reached.0 == process && reached.1 >= launch.end {
            found.resize(launches.len(), false);
            found[place as usize] = true;
        }
    }
    found
}

/// Attributes launches and ranges that are in no range on their own thread to ranges on other threads of
/// the process.
fn attribute_by_process(
    capture: &Capture,
    parent: &mut [u32],
    innermost: &mut [u32],
    stop: Stop<'_>,
) -> Option<()> {
    let (ranges, launches) = (&capture.ranges, &capture.launches);
    for process in 0..capture.processes.len() as u32 {
        if stop.is_over() {
            return None;
        }
        let of_process = slice_of_process(capture, ranges.threads(), process);
        let mut order: Vec<u32> = of_process.map(|index| index as u32).collect();
        order.sort_by_key(|&index| {
            let range = ranges.at(index as usize);
            (range.start, Reverse(range.end), range.id)
        });
        let mut sweep = Sweep::new(ranges, &order, stop);
        let mut adopt = |index: u32, above: u32| {
            let parent = &mut parent[index as usize];
            *parent = if *parent == NONE { above } else { *parent };
        };
        for place in slice_of_process(capture, launches.threads(), process) {
            if innermost[place] == NONE {
                let launch = launches.at(place);
                sweep.advance(launch.start, &mut adopt);
                innermost[place] = sweep.innermost(launch.end);
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
                let range = capture.ranges.at(index);
                let process = capture.threads[range.thread as usize].process;
                (process, range.start, Reverse(range.end), range.id)
            });
            order.into_iter().for_each(&mut deepen);
        }
    }
    depth
}
