//! The SQL function `gpu_times(gpu_id, start_ns, end_ns)`: intervals as the edits of a replay name them.

use super::aggregate::{aggregate, ints};
use crate::execute::named_times::NamedTimes;
use nsq_sweep::replay::IntervalsByGpu;
use rusqlite::functions::Context;
use rusqlite::{Connection, Result};
use std::sync::Arc;

/// `named`: where it keeps many intervals, to return a name. Without, it returns a text of any length.
pub(super) fn register(connection: &Connection, named: Option<Arc<NamedTimes>>) -> Result<()> {
    let add = |context: &mut Context<'_>, intervals: &mut IntervalsByGpu| {
        if let Some([gpu, start, end]) = ints(context, 0)? {
            intervals.add(gpu, start, end);
        }
        Ok(())
    };
    aggregate(connection, "gpu_times", 3, add, move |intervals| {
        Ok(match &named {
            Some(named) => named.text_of(intervals),
            None => intervals.to_string(),
        })
    })
}
