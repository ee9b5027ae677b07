//! Kernels that cannot have run as long as recorded: later kernels of their stream began within them.

use super::{Level, Occupancy};
use crate::projection::{OpKind, Stop, StopCheck};

/// Kernels of other launches that must begin within a kernel. Programmatic launch lets the next kernel begin early, and
/// the one after it only when the first has ended.
const MUST_BEGIN: usize = 3;
/// Kernels of the stream, after a kernel, among which they are looked for. The branches of a graph can be many.
const AHEAD: usize = 64;

impl Occupancy {
    /// The kernels within which at least three later kernels of their stream began that other calls launched, with the
    /// third of these. `launch`: the ID that an operation shares with its call, if it has one. In order of their starts;
    /// `None` if it was stopped.
    pub fn stream_overlaps(
        &self,
        launch: impl Fn(u32) -> Option<i64>,
        stop: Stop<'_>,
    ) -> Option<Vec<(u32, u32)>> {
        let mut check = StopCheck::new(stop);
        let mut found = Vec::new();
        for ops in self.ops_by_lane(Level::Stream) {
            let is_kernel = |op: &u32| self.ops[*op as usize].kind == OpKind::Kernel;
            let kernels: Vec<u32> = ops.into_iter().filter(is_kernel).collect();
            for (place, &kernel) in kernels.iter().enumerate() {
                if check.must_stop() {
                    return None;
                }
                let (end, own) = (self.ops[kernel as usize].end, launch(kernel));
                let within = kernels[place + 1..].iter().take(AHEAD);
                let within = within.take_while(|other| self.ops[**other as usize].start < end);
                let mut others = within.filter(|other| own.is_none() || launch(**other) != own);
                found.extend(others.nth(MUST_BEGIN - 1).map(|&third| (kernel, third)));
            }
        }
        found.sort_unstable();
        Some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Op, Stream, Window};
    use super::*;
    use crate::classify::Activity;

    fn kernels(times: &[(i64, i64, u32)]) -> Occupancy {
        let streams = [0, 1].map(|stream| Stream {
            gpu_id: 0,
            global_pid: 1,
            device_id: 0,
            context_id: None,
            stream_id: Some(stream),
        });
        let op = |(&(start, end, stream), id): (&(i64, i64, u32), i64)| Op {
            start,
            end,
            kind: OpKind::Kernel,
            id,
            stream,
            name: 0,
            activity: Activity::Compute,
            correlation: id,
        };
        let ops = times.iter().zip(0..).map(op).collect();
        Occupancy::new(ops, streams.to_vec(), Window::Whole)
    }

    fn ids(occupancy: &Occupancy, launches: &[i64]) -> Vec<i64> {
        let launch = |op: u32| launches.get(op as usize).copied();
        let found = occupancy.stream_overlaps(launch, &|| false).unwrap();
        found.into_iter().map(|(kernel, _)| occupancy.ops[kernel as usize].id).collect()
    }

    #[test]
    fn an_overlong_kernel_has_three_others_inside() {
        let long = kernels(&[(0, 100, 0), (10, 20, 0), (30, 40, 0), (50, 60, 0)]);
        assert_eq!(ids(&long, &[]), [0]);
        // The third begins as the kernel ends; another stream; programmatic launch of two.
        for times in [
            [(0, 50, 0), (10, 20, 0), (30, 40, 0), (50, 60, 0)],
            [(0, 100, 0), (10, 20, 1), (30, 40, 1), (50, 60, 1)],
            [(0, 100, 0), (90, 190, 0), (95, 290, 0), (289, 300, 0)],
        ] {
            assert_eq!(ids(&kernels(&times), &[]), [0; 0]);
        }
    }

    #[test]
    fn the_branches_of_one_graph_may_overlap() {
        let branches = kernels(&[(0, 100, 0), (10, 20, 0), (30, 40, 0), (50, 60, 0)]);
        assert_eq!(ids(&branches, &[7, 7, 7, 7]), [0; 0]);
        assert_eq!(ids(&branches, &[7, 8, 9, 9]), [0]);
    }
}
