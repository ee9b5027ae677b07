//! The SQL function `gpu_times(gpu_id, start_ns, end_ns)`: intervals as the edits of a replay name them.

use super::arguments::flags;
use nsq_sweep::replay::IntervalsByGpu;
use rusqlite::functions::{Aggregate, Context};
use rusqlite::{Connection, Result};

pub(super) fn register(connection: &Connection) -> Result<()> {
    connection.create_aggregate_function("gpu_times", 3, flags(), GpuTimes)
}

/// `gpu_times(gpu_id, start_ns, end_ns)`.
struct GpuTimes;

impl Aggregate<IntervalsByGpu, String> for GpuTimes {
    fn init(&self, _: &mut Context<'_>) -> Result<IntervalsByGpu> {
        Ok(IntervalsByGpu::default())
    }

    fn step(&self, context: &mut Context<'_>, intervals: &mut IntervalsByGpu) -> Result<()> {
        let [gpu, start, end]: [Option<i64>; 3] = [context.get(0)?, context.get(1)?, context.get(2)?];
        if let (Some(gpu), Some(start), Some(end)) = (gpu, start, end) {
            intervals.add(gpu, start, end);
        }
        Ok(())
    }

    fn finalize(&self, _: &mut Context<'_>, intervals: Option<IntervalsByGpu>) -> Result<String> {
        Ok(intervals.unwrap_or_default().to_string())
    }
}
