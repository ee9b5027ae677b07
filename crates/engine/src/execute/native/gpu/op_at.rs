//! Which operation of a GPU a time belongs to.

use super::answers::Answers;
use nsq_sweep::occupancy::Level;
use std::ops::Range;

impl Answers {
    /// The row of the operation that started last at or before `at`, if it still runs; else of the next one.
    pub(super) fn op_at(&self, gpu_id: i64, at: i64) -> Range<usize> {
        let mut lanes = 0..self.occupancy.lane_count(Level::Gpu) as u32;
        let of_gpu = |&lane: &u32| self.occupancy.first_stream(Level::Gpu, lane).gpu_id == gpu_id;
        let Some(lane) = lanes.find(of_gpu) else { return 0..0 };
        let by_start = &self.by_gpu()[lane as usize];
        let op = |place: usize| by_start.get(place).map(|&index| index as usize);
        let next = by_start.partition_point(|&index| self.occupancy.ops[index as usize].start <= at);
        let last = next.checked_sub(1).and_then(op).filter(|&index| self.occupancy.ops[index].end > at);
        last.or_else(|| op(next)).map_or(0..0, |index| index..index + 1)
    }

    /// For each GPU: the indices of its operations, by start.
    fn by_gpu(&self) -> &[Vec<u32>] {
        self.by_gpu.get_or_init(|| {
            let mut by_gpu = vec![Vec::new(); self.occupancy.lane_count(Level::Gpu)];
            for (index, op) in (0u32..).zip(&self.occupancy.ops) {
                by_gpu[self.occupancy.lane(Level::Gpu, op.stream) as usize].push(index);
            }
            by_gpu
        })
    }
}
