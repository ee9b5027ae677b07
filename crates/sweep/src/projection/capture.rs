//! What a capture holds.

use super::{Kernel, Launches, NONE, Ops, Ranges, Thread};
use std::sync::Arc;

/// The ranges, calls and operations of a report.
#[derive(Debug, Clone, Default)]
pub struct Capture {
    /// Global process ids, unique across hosts and VMs, ascending.
    pub processes: Vec<i64>,
    /// Threads, ascending, so that the threads of a process are consecutive.
    pub threads: Vec<Thread>,
    /// Distinct names of kernels.
    pub kernels: Vec<Kernel>,
    /// GPU operations.
    pub ops: Ops,
    /// The launches of the operations: one for each call. With `--attribute capture`, one for each graph node at
    /// its creation instead.
    pub launches: Launches,
    /// NVTX ranges.
    pub ranges: Arc<Ranges>,
}

impl Capture {
    /// Removes launches that no operation points to. Returns the former places of those that remain.
    pub fn drop_unused_launches(&mut self) -> Vec<u32> {
        let mut is_used = vec![false; self.launches.len()];
        for &mut launch in self.ops.launches_mut() {
            if let Some(is_used) = is_used.get_mut(launch as usize) {
                *is_used = true;
            }
        }
        let used = (0u32..).zip(&is_used).filter(|(_, is_used)| **is_used);
        let used: Vec<u32> = used.map(|(launch, _)| launch).collect();
        let mut places = vec![NONE; is_used.len()];
        (0u32..).zip(&used).for_each(|(place, &launch)| places[launch as usize] = place);
        for launch in self.ops.launches_mut() {
            *launch = places.get(*launch as usize).copied().unwrap_or(NONE);
        }
        if used.len() < is_used.len() {
            self.launches = self.launches.gather(&used);
        }
        used
    }
}
