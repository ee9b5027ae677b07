//! The SQL function `gpu_times(gpu_id, start_ns, end_ns)`: intervals as the edits of a replay name them.

use super::arguments::flags;
use crate::execute::named_times::NamedTimes;
use nsq_sweep::replay::IntervalsByGpu;
use rusqlite::functions::{Aggregate, Context};
use rusqlite::{Connection, Result};
use std::sync::Arc;

/// `named`: where it keeps many intervals, to return a name. Without, it returns a text of any length.
pub(super) fn register(connection: &Connection, named: Option<Arc<NamedTimes>>) -> Result<()> {
    connection.create_aggregate_function("gpu_times", 3, flags(), GpuTimes { named })
}

/// `gpu_times(gpu_id, start_ns, end_ns)`.
struct GpuTimes {
    named: Option<Arc<NamedTimes>>,
}

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
        let intervals = intervals.unwrap_or_default();
        Ok(match &self.named {
            Some(named) => named.text_of(intervals),
            None => intervals.to_string(),
        })
    }
}
