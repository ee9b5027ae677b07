//! Busy stretches and gaps of a lane.

use super::{Level, NONE, Occupancy};
use crate::classify::Activity;
use crate::projection::{Stop, StopCheck};

/// A time in which a lane was busy without interruption.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stretch {
    /// The lane, on the requested level.
    pub lane: u32,
    /// Start, clipped to the window.
    pub start: i64,
    /// End, clipped to the window. An operation of length 0 alone makes a stretch of length 0.
    pub end: i64,
    /// Number of operations in it.
    pub ops: u32,
    /// The operation that started it: index into [`Occupancy::ops`].
    first: u32,
    /// The operation that ended it.
    last: u32,
    /// The piece of the window that it lies in.
    piece: u32,
}

/// A time in which a lane was idle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gap {
    /// The lane, on the requested level.
    pub lane: u32,
    /// Start.
    pub start: i64,
    /// End.
    pub end: i64,
    /// The last operation before it: index into [`Occupancy::ops`]; [`NONE`] at the start of the window.
    pub before: u32,
    /// The first operation after it; [`NONE`] at the end of the window.
    pub after: u32,
}

impl Occupancy {
    /// The busy stretches of all lanes on a level, of one activity or of any. Sorted by lane and time.
    /// `None` if it was stopped.
    pub fn stretches(
        &self,
        level: Level,
        activity: Option<Activity>,
        stop: Stop<'_>,
    ) -> Option<Vec<Stretch>> {
        let mut check = StopCheck::new(stop);
        let mut all: Vec<Stretch> = Vec::new();
        for (lane, ops) in (0u32..).zip(self.ops_by_lane(level)) {
            let first = all.len();
            for &index in &ops {
                if check.must_stop() {
                    return None;
                }
                let op = &self.ops[index as usize];
                if activity.is_some_and(|wanted| wanted != op.activity) {
                    continue;
                }
                match all[first..].last_mut() {
                    Some(last) if op.start < last.end || (op.start == last.end && op.start < op.end) => {
                        last.ops += 1;
                        // If several end at the same time, the gap after it waited for the one that started
                        // last.
                        if op.end >= last.end {
                            (last.end, last.last) = (op.end, index);
                        }
                    }
                    Some(last) if op.start == last.end => last.ops += 1,
                    _ => all.push(Stretch {
                        lane,
                        start: op.start,
                        end: op.end,
                        ops: 1,
                        first: index,
                        last: index,
                        piece: 0,
                    }),
                }
            }
            if let Some(window) = self.window_of(&ops) {
                if check.must_stop_after(window.intervals().len()) {
                    return None;
                }
                let clipped = clip(&all[first..], window.intervals());
                all.truncate(first);
                all.extend(clipped);
            }
        }
        Some(all)
    }

    /// The gaps of all lanes on a level: between operations, and to the ends of the window if there is one.
    /// `None` if it was stopped.
    pub fn gaps(&self, level: Level, stop: Stop<'_>) -> Option<Vec<Gap>> {
        let stretches = self.stretches(level, None, stop)?;
        let mut check = StopCheck::new(stop);
        let mut gaps = Vec::new();
        let mut add = |gap: Gap| {
            if gap.start < gap.end {
                gaps.push(gap);
            }
        };
        let mut stretches = stretches.as_slice();
        for (lane, ops) in (0u32..).zip(self.ops_by_lane(level)) {
            let busy;
            (busy, stretches) = stretches.split_at(stretches.partition_point(|s| s.lane <= lane));
            let Some(window) = self.window_of(&ops) else {
                for pair in busy.windows(2) {
                    let (before, after) = (pair[0].last, pair[1].first);
                    add(Gap { lane, start: pair[0].end, end: pair[1].start, before, after });
                }
                continue;
            };
            let mut rest = busy;
            for (piece, &(from, to)) in (0u32..).zip(window.intervals()) {
                if check.must_stop() {
                    return None;
                }
                let (inside, after) = rest.split_at(rest.partition_point(|s| s.piece <= piece));
                rest = after;
                let (mut reached, mut before) = (from, NONE);
                for stretch in inside {
                    add(Gap { lane, start: reached, end: stretch.start, before, after: stretch.first });
                    (reached, before) = (stretch.end, stretch.last);
                }
                add(Gap { lane, start: reached, end: to, before, after: NONE });
            }
        }
        Some(gaps)
    }
}

/// The parts of the stretches that lie in the pieces of a window.
fn clip(stretches: &[Stretch], pieces: &[(i64, i64)]) -> Vec<Stretch> {
    let mut clipped = Vec::new();
    for stretch in stretches {
        let first = pieces.partition_point(|&(_, to)| to <= stretch.start);
        for (piece, &(from, to)) in pieces.iter().enumerate().skip(first) {
            if from >= stretch.end && from > stretch.start {
                break;
            }
            let (start, end) = (stretch.start.max(from), stretch.end.min(to));
            if start < end || (stretch.start == stretch.end && start == end) {
                clipped.push(Stretch { start, end, piece: piece as u32, ..*stretch });
            }
        }
    }
    clipped
}
