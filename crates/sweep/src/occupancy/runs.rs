//! Runs of short kernels on a GPU, and what each stream did in all.

use super::{Gap, Occupancy};
use crate::classify::Activity;
use crate::projection::OpKind;

/// Gaps between short kernels.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Runs {
    /// Each gap, in order, and its run.
    pub gaps: Vec<(u32, u32)>,
    /// The number of kernels in each run: one more than gaps.
    pub kernels: Vec<u32>,
}

/// The operations of a stream.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StreamSum {
    /// Their number.
    pub ops: u64,
    /// The sum of the durations of compute kernels.
    pub compute: i64,
    /// That of communication kernels.
    pub communication: i64,
    /// That of copies and fills.
    pub memory: i64,
}

impl Occupancy {
    /// The gaps shorter than `below` between two kernels of one stream that are shorter than `longest`, among gaps that
    /// come lane by lane in order of time. A gap continues the run of the gap before if the kernel between them is the
    /// same.
    pub fn runs(&self, gaps: &[Gap], longest: i64, below: i64) -> Runs {
        let mut runs = Runs::default();
        let mut last_after = None;
        for (place, gap) in (0u32..).zip(gaps) {
            let (Some(before), Some(after)) =
                (self.ops.get(gap.before as usize), self.ops.get(gap.after as usize))
            else {
                continue;
            };
            let is_short = [before, after]
                .into_iter()
                .all(|op| op.kind == OpKind::Kernel && op.end.saturating_sub(op.start) < longest);
            if !is_short || before.stream != after.stream || gap.end.saturating_sub(gap.start) >= below {
                continue;
            }
            if last_after != Some(gap.before) {
                runs.kernels.push(1);
            }
            last_after = Some(gap.after);
            runs.gaps.push((place, runs.kernels.len() as u32 - 1));
            if let Some(kernels) = runs.kernels.last_mut() {
                *kernels += 1;
            }
        }
        runs
    }

    /// The operations of each stream.
    pub fn stream_sums(&self) -> Vec<StreamSum> {
        let mut sums = vec![StreamSum::default(); self.streams.len()];
        for op in &self.ops {
            let sum = &mut sums[op.stream as usize];
            sum.ops += 1;
            let time = match op.activity {
                Activity::Compute => &mut sum.compute,
                Activity::Communication => &mut sum.communication,
                Activity::Memory => &mut sum.memory,
            };
            *time = time.saturating_add(op.end.saturating_sub(op.start));
        }
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::occupancy::{Level, Op, Stream, Window, Work};

    fn occupancy(ops: &[(i64, i64, u32, OpKind)]) -> Occupancy {
        let stream = |stream| Stream {
            gpu_id: 0,
            global_pid: 1,
            device_id: 0,
            context_id: None,
            stream_id: Some(stream),
        };
        let op = |(id, &(start, end, stream, kind)): (i64, &(i64, i64, u32, OpKind))| {
            let activity = if kind == OpKind::Kernel { Activity::Compute } else { Activity::Memory };
            Op { start, end, kind, id, stream, name: 0, activity, correlation: 0 }
        };
        let ops = (0..).zip(ops).map(op).collect();
        Occupancy::new(ops, vec![stream(7), stream(8)], Window::Whole)
    }

    #[test]
    fn a_run_ends_at_a_long_gap_a_long_kernel_a_copy_or_another_stream() {
        use OpKind::{Kernel, Memcpy};
        let of = occupancy(&[
            (0, 2, 0, Kernel),
            (3, 5, 0, Kernel),
            (6, 8, 0, Kernel),
            (20, 22, 0, Kernel), // after a long gap
            (23, 24, 0, Kernel),
            (25, 40, 0, Kernel), // long
            (41, 43, 0, Kernel),
            (44, 46, 0, Memcpy),
            (47, 49, 1, Kernel),
            (50, 52, 1, Kernel),
            (53, 55, 0, Kernel),
        ]);
        let gaps = of.gaps(Level::Gpu, Work::Any, &|| false).unwrap();
        let runs = of.runs(&gaps, 10, 5);
        assert_eq!(runs, Runs { gaps: vec![(0, 0), (1, 0), (3, 1), (8, 2)], kernels: vec![3, 2, 2] });
        assert_eq!(of.runs(&gaps, 1, 5), Runs::default());
    }

    #[test]
    fn times_are_summed_by_stream_and_kind_of_work() {
        let of = occupancy(&[
            (0, 2, 1, OpKind::Kernel),
            (1, 4, 1, OpKind::Kernel),
            (2, 9, 1, OpKind::Memset),
        ]);
        let second = StreamSum { ops: 3, compute: 5, communication: 0, memory: 7 };
        assert_eq!(of.stream_sums(), [StreamSum::default(), second]);
    }
}
