//! What the waits of a thread for a GPU cost: without them it would be ahead of the GPU, and later launches in time.

use super::{Gap, IdleKind, IdlePart};
use crate::calls::Calls;

/// A wait of a thread for the GPU, or a gap that its waits made longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lead {
    /// The lane of the GPU.
    pub lane: u32,
    /// The thread that waits and launches.
    pub thread: u32,
    /// The number of the lead: waits and gaps until the time of the waits is used up.
    pub number: u32,
    /// The end of the wait, or when the operation after the gap had been launched.
    pub at: i64,
    /// Which of the two it is.
    pub of: LeadOf,
}

/// What a [`Lead`] is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeadOf {
    /// The place of the call that waits.
    Wait(u32),
    /// A gap.
    Gap {
        /// Its index.
        gap: u32,
        /// Time of the gap that the lead would have closed.
        lost: i64,
        /// Whether a wait or an allocation is inside.
        has_other_cause: bool,
    },
}

/// A gap, up to the end of the call that launched the operation after it.
struct Late {
    lane: u32,
    thread: u32,
    launched: i64,
    start: i64,
    gap: u32,
    has_other_cause: bool,
}

/// The waits of threads, and the gaps that these made longer, by lane, thread and time. `parts`: those of the gaps, gap by
/// gap. `is_wait`: for each function, whether its calls wait. `starts_ahead`: the last wait before the first gap counts.
///
/// Without its waits, a thread would be as far ahead of the GPU as it waited, and gaps use that up. It is never behind.
pub fn leads(
    (gaps, parts): (&[Gap], &[IdlePart]),
    calls: &Calls,
    is_wait: &[bool],
    starts_ahead: bool,
) -> Vec<Lead> {
    let end = |call: u32| calls.times(call as usize).1;
    let thread = |call: u32| calls.threads()[call as usize];
    let of_function = |call: &u32| is_wait[calls.names()[*call as usize] as usize];
    let mut waits: Vec<u32> = (0..calls.len() as u32).filter(of_function).collect();
    waits.sort_by_key(|&call| (thread(call), end(call)));
    let waits_of = |of: u32| {
        let from = waits.partition_point(|&call| thread(call) < of);
        &waits[from..from + waits[from..].partition_point(|&call| thread(call) == of)]
    };
    let late = |parts: &[IdlePart]| {
        let is_launching = |part: &&IdlePart| !matches!(part.kind, IdleKind::Queued | IdleKind::Unknown);
        let last = parts.iter().filter(is_launching).max_by_key(|part| part.end)?;
        let has_other_cause =
            parts.iter().any(|part| matches!(part.kind, IdleKind::Sync | IdleKind::Allocation));
        let Gap { lane, start, .. } = gaps[last.gap as usize];
        let &IdlePart { gap, thread, end: launched, .. } = last;
        Some(Late { lane, thread, launched, start, gap, has_other_cause })
    };
    let mut late: Vec<Late> = parts.chunk_by(|a, b| a.gap == b.gap).filter_map(late).collect();
    late.sort_by_key(|late| (late.lane, late.thread, late.launched, late.start));
    let mut found = Vec::new();
    for late in late.chunk_by(|a, b| (a.lane, a.thread) == (b.lane, b.thread)) {
        let (lane, thread) = (late[0].lane, late[0].thread);
        let mut waits = waits_of(thread);
        if waits.is_empty() {
            continue;
        }
        let from = late.iter().map(|late| late.start).min().unwrap_or_default();
        let first = waits.partition_point(|&call| end(call) < from);
        waits = &waits[first.saturating_sub(usize::from(starts_ahead))..];
        let mut late = late;
        let (mut sum, mut least, mut number) = (0i64, 0i64, 0u32);
        loop {
            let next = late.first();
            // Of a wait and a launch that end together, the wait comes first.
            let is_first = |call: &u32| next.is_none_or(|late| end(*call) <= late.launched);
            let wait = waits.first().copied().filter(is_first);
            let (at, gains) = match (wait, next) {
                (Some(call), _) => {
                    let (start, end) = calls.times(call as usize);
                    (end, end.saturating_sub(start))
                }
                (None, Some(late)) => (late.launched, late.start.saturating_sub(late.launched)),
                (None, None) => break,
            };
            let before = sum.saturating_sub(least);
            sum = sum.saturating_add(gains);
            let ahead = sum.saturating_sub(least).max(0);
            let of = match (wait, next) {
                (Some(call), _) => {
                    waits = &waits[1..];
                    Some(LeadOf::Wait(call))
                }
                (None, Some(&Late { gap, has_other_cause, .. })) => {
                    late = &late[1..];
                    let lost = before.saturating_sub(ahead);
                    (lost > 0).then_some(LeadOf::Gap { gap, lost, has_other_cause })
                }
                (None, None) => None,
            };
            found.extend(of.map(|of| Lead { lane, thread, number, at, of }));
            // What comes after a time that is not ahead is of the next lead.
            number += u32::from(ahead == 0);
            least = least.min(sum);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calls::Call;
    use crate::occupancy::NONE;

    fn found(waits: &[(i64, i64)], late: &[(i64, i64, IdleKind)], starts_ahead: bool) -> Vec<Lead> {
        let mut calls = Calls::default();
        calls.global_tids.push(0);
        for (id, &(start, end)) in (0..).zip(waits) {
            calls.push(Call { start, end, id, correlation: 0, thread: 0, name: 0, is_runtime: true });
        }
        let gap = |&(start, end, _): &(i64, i64, IdleKind)| Gap {
            lane: 0,
            start,
            end,
            before: NONE,
            after: NONE,
        };
        let part = |(gap, &(start, end, kind)): (u32, &(i64, i64, IdleKind))| IdlePart {
            gap,
            start,
            end,
            kind,
            call: NONE,
            thread: 0,
        };
        let gaps: Vec<Gap> = late.iter().map(gap).collect();
        let parts: Vec<IdlePart> = (0..).zip(late).map(part).collect();
        leads((&gaps, &parts), &calls, &[true], starts_ahead)
    }

    #[test]
    fn gaps_use_up_what_the_waits_before_them_gave() {
        use IdleKind::{Allocation, LaunchCall, OutsideApi, Queued};
        let late = [
            (0, 5, OutsideApi),   // before any wait
            (40, 46, LaunchCall), // 6 of 10
            (50, 53, Queued),     // launched in time
            (60, 67, Allocation), // the last 4, and 3 more
            (80, 90, OutsideApi), // nothing is left
        ];
        let gap = |gap, lost, has_other_cause| LeadOf::Gap { gap, lost, has_other_cause };
        let lead = |number, at, of| Lead { lane: 0, thread: 0, number, at, of };
        let expected =
            [lead(1, 30, LeadOf::Wait(1)), lead(1, 46, gap(1, 6, false)), lead(1, 67, gap(3, 4, true))];
        assert_eq!(found(&[(-9, -2), (20, 30)], &late, false), expected);
        // The wait before the first gap closes that one, and leaves 2.
        let expected = [
            lead(0, -2, LeadOf::Wait(0)),
            lead(0, 5, gap(0, 5, false)),
            lead(0, 30, LeadOf::Wait(1)),
            lead(0, 46, gap(1, 6, false)),
            lead(0, 67, gap(3, 6, true)),
        ];
        assert_eq!(found(&[(-9, -2), (20, 30)], &late, true), expected);
        assert_eq!(found(&[], &late, true), []);
    }
}
