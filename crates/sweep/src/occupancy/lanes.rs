//! Busy stretches and gaps of a lane.

use super::{Level, NONE, Occupancy};
use crate::classify::Activity;
use crate::interval::TimeSet;
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

/// Which operations make a lane busy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// All.
    Any,
    /// Those of an activity.
    Of(Activity),
    /// Kernels that compute. After the last of a lane, and on a lane without one: all.
    Main,
}

impl Work {
    /// The start from which all operations of a lane count.
    fn all_from(self, occupancy: &Occupancy, ops: &[u32]) -> i64 {
        let ops = ops.iter().map(|&op| &occupancy.ops[op as usize]);
        match self {
            Self::Any => i64::MIN,
            Self::Of(_) => i64::MAX,
            Self::Main => {
                let ends = ops.filter(|op| op.activity == Activity::Compute).map(|op| op.end);
                ends.max().unwrap_or(i64::MIN)
            }
        }
    }

    fn is(self, activity: Activity) -> bool {
        match self {
            Self::Any => true,
            Self::Of(wanted) => wanted == activity,
            Self::Main => activity == Activity::Compute,
        }
    }
}

impl Occupancy {
    /// The busy stretches of all lanes on a level. Sorted by lane and time. `None` if it was stopped.
    pub fn stretches(&self, level: Level, work: Work, stop: Stop<'_>) -> Option<Vec<Stretch>> {
        let mut check = StopCheck::new(stop);
        let mut all: Vec<Stretch> = Vec::new();
        for (lane, ops) in (0u32..).zip(self.ops_by_lane(level)) {
            let first = all.len();
            let all_from = work.all_from(self, &ops);
            for &index in &ops {
                if check.must_stop() {
                    return None;
                }
                let op = &self.ops[index as usize];
                if !work.is(op.activity) && op.start < all_from {
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
            if let Some(window) = self.window_of_work(work, &ops) {
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

    /// The window in which work is looked for; `None`: from the first to the last of it.
    fn window_of_work(&self, work: Work, ops: &[u32]) -> Option<TimeSet> {
        let window = self.window_of(ops);
        match work {
            // The time from the first operation to the first kernel is a gap too.
            Work::Main => window.or_else(|| Some(TimeSet::union_of(vec![self.extent_of(ops)]))),
            _ => window,
        }
    }

    /// The gaps of all lanes on a level: between operations, and to the ends of the window if there is one.
    /// `None` if it was stopped.
    pub fn gaps(&self, level: Level, work: Work, stop: Stop<'_>) -> Option<Vec<Gap>> {
        let stretches = self.stretches(level, work, stop)?;
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
            let Some(window) = self.window_of_work(work, &ops) else {
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
