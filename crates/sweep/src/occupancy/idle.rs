//! Why a GPU idled: its gaps, split by what the thread that launched the next operation did meanwhile.

use super::{Gap, NONE};
use crate::projection::{Stop, StopCheck};
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// What the launching thread did, in the order in which it counts: a wait inside another call is a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum IdleKind {
    /// A call that waits for the GPU.
    Sync,
    /// A call that allocates, frees, maps or pins memory.
    Allocation,
    /// Any other API call.
    OtherCall,
    /// No API call.
    OutsideApi,
    /// The call that launched the operation after the gap.
    LaunchCall,
    /// Nothing more: the operation was launched, and had not begun.
    Queued,
    /// The launching call was not recorded, or nothing follows the gap.
    Unknown,
}

impl IdleKind {
    /// The word for it in relations.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Sync => "host sync",
            Self::Allocation => "memory allocation",
            Self::OtherCall => "other API call",
            Self::OutsideApi => "outside CUDA API",
            Self::LaunchCall => "launch call",
            Self::Queued => "queued",
            Self::Unknown => "unknown",
        }
    }

    /// What a call of this function does before a launch: wait, allocate, or something else.
    pub fn of_call(function: &str) -> Self {
        let Some(rest) = function.strip_prefix("cu") else {
            return if function.contains("Synchronize") { Self::Sync } else { Self::OtherCall };
        };
        let has = |word: &str| rest.contains(word);
        // Calls that build a CUDA graph neither wait nor allocate.
        if has("Graph") {
            return Self::OtherCall;
        }
        if has("Synchronize") || (has("Memcpy") || has("Memset")) && !has("Async") {
            return Self::Sync;
        }
        let registers = rest.split_once("Host").is_some_and(|(_, after)| after.contains("egister"));
        let starts = |word: &str| rest.starts_with(word);
        let creates = rest.strip_prefix("Mem").is_some_and(|rest| {
            rest.contains("Create") || rest.contains("Map") || rest.starts_with("Release")
        });
        let allocates = ["Malloc", "Free", "MemAlloc", "HostAlloc", "MemPool"].into_iter().any(has);
        match allocates || registers || creates || starts("MemSetAccess") || starts("MemAddress") {
            true => Self::Allocation,
            false => Self::OtherCall,
        }
    }
}

/// An API call of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ApiCall {
    /// Start.
    pub start: i64,
    /// End.
    pub end: i64,
    /// The thread.
    pub thread: u32,
    /// The function.
    pub name: u32,
    /// [`IdleKind::Sync`], [`IdleKind::Allocation`] or [`IdleKind::OtherCall`].
    pub kind: IdleKind,
}

/// A part of a gap. The parts of a gap are disjoint and add up to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IdlePart {
    /// Index of the gap.
    pub gap: u32,
    /// Start.
    pub start: i64,
    /// End.
    pub end: i64,
    /// What the launching thread did.
    pub kind: IdleKind,
    /// The function of the call, if it was in one: the outermost of its kind. Otherwise [`NONE`].
    pub name: u32,
    /// The launching thread; [`NONE`] if unknown.
    pub thread: u32,
}

/// The calls of the launching threads, sorted by thread and start.
#[derive(Debug)]
pub struct ApiCalls {
    calls: Vec<ApiCall>,
    /// The latest end of the calls of a thread so far, to find the calls that reach into a time.
    reach: Vec<i64>,
}

impl ApiCalls {
    /// Sorts calls.
    pub fn new(mut calls: Vec<ApiCall>) -> Self {
        calls.sort_unstable_by_key(|call| (call.thread, call.start, Reverse(call.end), call.name));
        let mut reach: Vec<i64> = Vec::with_capacity(calls.len());
        for (index, call) in calls.iter().enumerate() {
            let before = index.checked_sub(1).filter(|&before| calls[before].thread == call.thread);
            reach.push(before.map_or(call.end, |before| reach[before].max(call.end)));
        }
        Self { calls, reach }
    }
}

/// Splits gaps. `launch_of` gives the call that launched the operation after a gap. `None` if it was stopped.
pub fn idle_parts(
    gaps: &[Gap],
    launch_of: impl Fn(&Gap) -> Option<ApiCall>,
    ApiCalls { calls, reach }: &ApiCalls,
    stop: Stop<'_>,
) -> Option<Vec<IdlePart>> {
    let mut check = StopCheck::new(stop);
    let mut parts = Vec::new();
    for (index, gap) in (0u32..).zip(gaps) {
        if check.must_stop() {
            return None;
        }
        let part =
            |start, end, kind, name, thread| IdlePart { gap: index, start, end, kind, name, thread };
        let Some(launch) = launch_of(gap) else {
            parts.push(part(gap.start, gap.end, IdleKind::Unknown, NONE, NONE));
            continue;
        };
        let begun = launch.start.clamp(gap.start, gap.end);
        let done = launch.end.clamp(begun, gap.end);
        let thread = launch.thread;
        let of_thread = |index: usize| calls[index].thread;
        let first = first_where(0, calls.len(), |at| of_thread(at) >= launch.thread);
        let end = first_where(first, calls.len(), |at| of_thread(at) > launch.thread);
        let from = first_where(first, end, |at| reach[at] > gap.start);
        let to = first_where(from, end, |at| calls[at].start >= begun);
        for (start, end, kind, name) in split(gap.start, begun, &calls[from..to]) {
            parts.push(part(start, end, kind, name, thread));
        }
        if begun < done {
            parts.push(part(begun, done, IdleKind::LaunchCall, launch.name, thread));
        }
        if done < gap.end {
            parts.push(part(done, gap.end, IdleKind::Queued, NONE, thread));
        }
    }
    Some(parts)
}

/// The first place in `from..to` where `holds`, which is true from there on.
fn first_where(from: usize, to: usize, holds: impl Fn(usize) -> bool) -> usize {
    let (mut from, mut to) = (from, to);
    while from < to {
        let middle = from + (to - from) / 2;
        if holds(middle) { to = middle } else { from = middle + 1 }
    }
    from
}

type Segment = (i64, i64, IdleKind, u32);

/// Splits the time from `from` to `to` by the calls of one thread, which are sorted by start.
fn split(from: i64, to: i64, calls: &[ApiCall]) -> Vec<Segment> {
    let mut edges: Vec<(i64, bool, usize)> = Vec::new();
    for (index, call) in calls.iter().enumerate() {
        let (start, end) = (call.start.max(from), call.end.min(to));
        if start < end {
            edges.push((start, true, index));
            edges.push((end, false, index));
        }
    }
    edges.sort_unstable();
    let mut segments: Vec<Segment> = Vec::new();
    // The open calls: those that count first, of the same kind the earliest.
    let mut open: BTreeSet<(IdleKind, usize)> = BTreeSet::new();
    let mut reached = from;
    let mut add = |start: i64, end: i64, open: &BTreeSet<(IdleKind, usize)>| {
        if start >= end {
            return;
        }
        let counts = open.first().map(|&(kind, index)| (kind, calls[index].name));
        let (kind, name) = counts.unwrap_or((IdleKind::OutsideApi, NONE));
        match segments.last_mut() {
            Some(last) if (last.1, last.2, last.3) == (start, kind, name) => last.1 = end,
            _ => segments.push((start, end, kind, name)),
        }
    };
    for (at, opens, index) in edges {
        add(reached, at, &open);
        reached = at;
        let entry = (calls[index].kind, index);
        match opens {
            true => open.insert(entry),
            false => open.remove(&entry),
        };
    }
    add(reached, to, &open);
    segments
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(start: i64, end: i64, kind: IdleKind) -> ApiCall {
        ApiCall { start, end, thread: 0, name: kind as u32, kind }
    }

    #[test]
    fn a_gap_is_split_by_what_counts_first() {
        use IdleKind::{Allocation, LaunchCall, OtherCall, OutsideApi, Queued, Sync};
        let gap = Gap { lane: 0, start: 0, end: 100, before: 0, after: 1 };
        let launch = ApiCall { name: 9, ..call(70, 80, OtherCall) };
        // An allocation with a wait inside, and a call that began before the gap.
        let calls = vec![call(-50, 10, OtherCall), call(20, 50, Allocation), call(30, 40, Sync), launch];
        let parts = idle_parts(&[gap], |_| Some(launch), &ApiCalls::new(calls), &|| false).unwrap();
        let seen: Vec<_> = parts.iter().map(|part| (part.start, part.end, part.kind)).collect();
        assert_eq!(
            seen,
            [
                (0, 10, OtherCall),
                (10, 20, OutsideApi),
                (20, 30, Allocation),
                (30, 40, Sync),
                (40, 50, Allocation),
                (50, 70, OutsideApi),
                (70, 80, LaunchCall),
                (80, 100, Queued),
            ]
        );
        let late = idle_parts(&[gap], |_| None, &ApiCalls::new(Vec::new()), &|| false).unwrap();
        assert_eq!((late[0].kind, late[0].end), (IdleKind::Unknown, 100));
    }

    #[test]
    fn functions_are_told_by_their_names() {
        for (name, kind) in [
            ("cudaStreamSynchronize", IdleKind::Sync),
            ("cudaMemcpy_v3020", IdleKind::Sync),
            ("cudaMemcpyAsync", IdleKind::OtherCall),
            ("cudaMallocAsync", IdleKind::Allocation),
            ("cudaHostRegister", IdleKind::Allocation),
            ("cuMemCreate", IdleKind::Allocation),
            ("cuMemSetAccess", IdleKind::Allocation),
            ("cudaGraphAddMemcpyNode", IdleKind::OtherCall),
            ("cudaLaunchKernel", IdleKind::OtherCall),
        ] {
            assert_eq!(IdleKind::of_call(name), kind, "{name}");
        }
    }
}
