//! Why a GPU idled: its gaps, split by what the thread that launched the next operation did meanwhile.

use super::{Gap, NONE};
use crate::calls::Calls;
use crate::projection::{Stop, StopCheck};
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// What the launching thread did, in the order in which it counts: a wait inside another call is a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum IdleKind {
    /// A call that waits for the GPU, or a loop that polls.
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
    /// All kinds.
    pub const ALL: [Self; 7] = [
        Self::Sync,
        Self::Allocation,
        Self::OtherCall,
        Self::OutsideApi,
        Self::LaunchCall,
        Self::Queued,
        Self::Unknown,
    ];

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
    /// The place of the call, if it was in one: the outermost of its kind. Otherwise [`NONE`].
    pub call: u32,
    /// The launching thread; [`NONE`] if unknown.
    pub thread: u32,
}

/// The calls of each thread, sorted by start.
#[derive(Debug)]
pub struct ThreadCalls<'a> {
    calls: &'a Calls,
    /// What the calls of each function are.
    kinds: &'a [IdleKind],
    /// Places of the calls, thread by thread.
    order: Vec<u32>,
    /// For each thread, where its calls begin; then where the last ones end.
    bounds: Vec<usize>,
    /// The latest end of the calls of a thread so far, to find the calls that reach into a time.
    reach: Vec<i64>,
}

impl<'a> ThreadCalls<'a> {
    /// Sorts the calls of the threads that `is_wanted`. `kinds`: [`IdleKind::Sync`], [`IdleKind::Allocation`] or
    /// [`IdleKind::OtherCall`], for each function.
    pub fn new(calls: &'a Calls, kinds: &'a [IdleKind], is_wanted: &[bool]) -> Self {
        let mut bounds = vec![0; is_wanted.len() + 1];
        for &thread in calls.threads().iter().filter(|&&thread| is_wanted[thread as usize]) {
            bounds[thread as usize + 1] += 1;
        }
        for thread in 0..is_wanted.len() {
            bounds[thread + 1] += bounds[thread];
        }
        let mut next = bounds.clone();
        let mut order = vec![0; bounds.last().copied().unwrap_or_default()];
        for (place, &thread) in (0u32..).zip(calls.threads()) {
            if is_wanted[thread as usize] {
                order[next[thread as usize]] = place;
                next[thread as usize] += 1;
            }
        }
        let mut reach = Vec::with_capacity(order.len());
        for thread in 0..is_wanted.len() {
            let of_thread = &mut order[bounds[thread]..bounds[thread + 1]];
            // They mostly are in order, which the sort notices.
            of_thread.sort_by_key(|&place| {
                let (start, end) = calls.waited(place as usize);
                (start, Reverse(end.max(start)), calls.names()[place as usize])
            });
            let mut reached = i64::MIN;
            reach.extend(of_thread.iter().map(|&place| {
                let (start, end) = calls.waited(place as usize);
                reached = reached.max(end).max(start);
                reached
            }));
        }
        Self { calls, kinds, order, bounds, reach }
    }

    /// Start and end of a call.
    fn times(&self, place: u32) -> (i64, i64) {
        let (start, end) = self.calls.waited(place as usize);
        (start, end.max(start))
    }

    fn kind(&self, place: u32) -> IdleKind {
        if self.calls.is_poll(place) {
            return IdleKind::Sync;
        }
        self.kinds[self.calls.names()[place as usize] as usize]
    }

    /// Whether two calls, or none, are of one function.
    fn is_same(&self, one: u32, other: u32) -> bool {
        let name = |place: u32| self.calls.names().get(place as usize);
        name(one) == name(other)
    }

    /// The calls of a thread that overlap with the time from `from` to `to`, and some that do not.
    fn around(&self, thread: u32, from: i64, to: i64) -> &[u32] {
        let (first, end) = (self.bounds[thread as usize], self.bounds[thread as usize + 1]);
        let first = first + self.reach[first..end].partition_point(|&reach| reach <= from);
        let rest = &self.order[first..end];
        &rest[..rest.partition_point(|&place| self.calls.times(place as usize).0 < to)]
    }
}

/// Splits gaps. `launch_of` gives the place of the call that launched the operation after a gap. `None` if it was
/// stopped.
pub fn idle_parts(
    gaps: &[Gap],
    launch_of: impl Fn(&Gap) -> Option<u32>,
    calls: &ThreadCalls<'_>,
    stop: Stop<'_>,
) -> Option<Vec<IdlePart>> {
    let mut check = StopCheck::new(stop);
    let (mut parts, mut segments) = (Vec::new(), Vec::new());
    for (index, gap) in (0u32..).zip(gaps) {
        if check.must_stop() {
            return None;
        }
        let part =
            |start, end, kind, call, thread| IdlePart { gap: index, start, end, kind, call, thread };
        let Some(launch) = launch_of(gap) else {
            parts.push(part(gap.start, gap.end, IdleKind::Unknown, NONE, NONE));
            continue;
        };
        let (launch_start, launch_end) = calls.times(launch);
        let begun = launch_start.clamp(gap.start, gap.end);
        let done = launch_end.clamp(begun, gap.end);
        let thread = calls.calls.threads()[launch as usize];
        if gap.start < begun {
            split(gap.start, begun, calls, calls.around(thread, gap.start, begun), &mut segments);
            let before = segments.drain(..);
            parts.extend(before.map(|(start, end, kind, call)| part(start, end, kind, call, thread)));
        }
        if begun < done {
            parts.push(part(begun, done, IdleKind::LaunchCall, launch, thread));
        }
        if done < gap.end {
            parts.push(part(done, gap.end, IdleKind::Queued, NONE, thread));
        }
    }
    Some(parts)
}

/// For each of these parts, which come gap by gap: whether it stands for its gap. That is the first part of the kind that
/// takes most of the gap; if several kinds take as much, of the one that counts first.
pub fn largest_of_gaps(parts: &[IdlePart]) -> Vec<bool> {
    let mut largest = Vec::with_capacity(parts.len());
    for of_gap in parts.chunk_by(|one, next| one.gap == next.gap) {
        let mut times = [0i64; IdleKind::ALL.len()];
        for part in of_gap {
            let time = &mut times[part.kind as usize];
            *time = time.saturating_add(part.end.saturating_sub(part.start));
        }
        let first = (0..of_gap.len()).min_by_key(|&place| {
            (Reverse(times[of_gap[place].kind as usize]), of_gap[place].kind, place)
        });
        largest.extend((0..of_gap.len()).map(|place| first == Some(place)));
    }
    largest
}

type Segment = (i64, i64, IdleKind, u32);

/// Splits the time from `from` to `to` by these calls of one thread, which are sorted by start.
fn split(from: i64, to: i64, calls: &ThreadCalls<'_>, places: &[u32], segments: &mut Vec<Segment>) {
    let clipped = |place: u32| {
        let (start, end) = calls.times(place);
        (start.max(from), end.min(to))
    };
    let mut add = |start: i64, end: i64, kind: IdleKind, call: u32| {
        if start >= end {
            return;
        }
        match segments.last_mut() {
            // Calls of one function, one after the other, are one segment.
            Some(last) if (last.1, last.2) == (start, kind) && calls.is_same(last.3, call) => {
                last.1 = end;
            }
            _ => segments.push((start, end, kind, call)),
        }
    };
    let mut reached = from;
    let are_apart = places.iter().map(|&place| clipped(place)).is_sorted_by(|one, next| one.1 <= next.0);
    if are_apart {
        // Most calls have no other calls inside.
        for &place in places {
            let (start, end) = clipped(place);
            if start < end {
                add(reached, start, IdleKind::OutsideApi, NONE);
                add(start, end, calls.kind(place), place);
                reached = end;
            }
        }
        add(reached, to, IdleKind::OutsideApi, NONE);
        return;
    }
    let mut edges: Vec<(i64, bool, usize)> = Vec::new();
    for (index, &place) in places.iter().enumerate() {
        let (start, end) = clipped(place);
        if start < end {
            edges.push((start, true, index));
            edges.push((end, false, index));
        }
    }
    edges.sort_unstable();
    // The open calls: those that count first, of the same kind the earliest.
    let mut open: BTreeSet<(IdleKind, usize)> = BTreeSet::new();
    let first = |open: &BTreeSet<(IdleKind, usize)>| {
        let counts = open.first().map(|&(kind, index)| (kind, places[index]));
        counts.unwrap_or((IdleKind::OutsideApi, NONE))
    };
    for (at, opens, index) in edges {
        let (kind, call) = first(&open);
        add(reached, at, kind, call);
        reached = at;
        let entry = (calls.kind(places[index]), index);
        match opens {
            true => open.insert(entry),
            false => open.remove(&entry),
        };
    }
    let (kind, call) = first(&open);
    add(reached, to, kind, call);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calls::Call;

    const KINDS: [IdleKind; 3] = [IdleKind::Sync, IdleKind::Allocation, IdleKind::OtherCall];

    /// Calls of one thread, each with a kind of [`KINDS`].
    fn calls(of: &[(i64, i64, IdleKind)]) -> Calls {
        let mut calls = Calls::default();
        calls.global_tids.push(0);
        for (id, &(start, end, kind)) in (0..).zip(of) {
            let name = kind as u32;
            calls.push(Call { start, end, id, correlation: 0, thread: 0, name, is_runtime: true });
        }
        calls
    }

    fn parts_of(calls: &Calls, gap: Gap, launch: Option<u32>) -> Vec<(i64, i64, IdleKind)> {
        let of_threads = ThreadCalls::new(calls, &KINDS, &[true]);
        let parts = idle_parts(&[gap], |_| launch, &of_threads, &|| false).unwrap();
        parts.iter().map(|part| (part.start, part.end, part.kind)).collect()
    }

    const GAP: Gap = Gap { lane: 0, start: 0, end: 100, before: 0, after: 1 };

    #[test]
    fn a_gap_is_split_by_what_counts_first() {
        use IdleKind::{Allocation, LaunchCall, OtherCall, OutsideApi, Queued, Sync, Unknown};
        // An allocation with a wait inside, and a call that began before the gap. The last one launches.
        let of = [(-50, 10, OtherCall), (30, 40, Sync), (20, 50, Allocation), (70, 80, OtherCall)];
        assert_eq!(
            parts_of(&calls(&of), GAP, Some(3)),
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
        assert_eq!(parts_of(&calls(&[]), GAP, None), [(0, 100, Unknown)]);
    }

    #[test]
    fn calls_that_lie_apart_are_split_like_others() {
        use IdleKind::{Allocation, LaunchCall, OtherCall, OutsideApi, Queued, Sync};
        let apart = [(0, 5, Sync), (5, 9, Sync), (20, 30, Allocation), (40, 45, OtherCall)];
        let expected = [
            (0, 9, Sync),
            (9, 20, OutsideApi),
            (20, 30, Allocation),
            (30, 40, OutsideApi),
            (40, 45, LaunchCall),
            (45, 100, Queued),
        ];
        assert_eq!(parts_of(&calls(&apart), GAP, Some(3)), expected);
        // A call that is over before the gap, but not before the one after it, changes the way and not the answer.
        let mut nested = apart.to_vec();
        nested.extend([(-30, -10, OtherCall), (-20, -15, OtherCall)]);
        assert_eq!(parts_of(&calls(&nested), GAP, Some(3)), expected);
        nested.push((21, 22, OtherCall));
        assert_eq!(parts_of(&calls(&nested), GAP, Some(3)), expected);
    }

    #[test]
    fn the_kind_with_most_time_stands_for_a_gap() {
        use IdleKind::{OutsideApi, Queued, Sync};
        let part = |gap, start, end, kind| IdlePart { gap, start, end, kind, call: NONE, thread: NONE };
        let parts = [
            part(0, 0, 4, Sync),
            part(0, 4, 9, OutsideApi),
            part(0, 9, 12, Sync), // waits have 7 ns of 12
            part(1, 20, 25, Queued),
            part(2, 30, 35, Queued),
            part(2, 35, 40, Sync), // as much, and counts first
        ];
        assert_eq!(largest_of_gaps(&parts), [true, false, false, true, false, true]);
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
