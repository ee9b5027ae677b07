//! What is read once of a report, for all its connections and for both families of native relations.

use super::ids::{NO_ID, Numbered};
use super::reader::{FreeConnections, Reader};
use crate::execute::named_times::NamedTimes;
use crate::normalize::Input;
use nsq_sweep::calls::{Call, Calls};
use nsq_value::error::Result;
use std::sync::{Arc, Mutex, PoisonError};

/// The columns that were read of a report so far, and the connections to read more.
#[derive(Debug, Default)]
pub(super) struct Store {
    calls: Mutex<Option<Arc<Calls>>>,
    /// The connections that read it.
    pub(super) free: Arc<FreeConnections>,
    /// The times that edits name.
    pub(super) times: Arc<NamedTimes>,
}

impl Store {
    /// Nothing is read yet.
    pub(super) fn knowing(times: Arc<NamedTimes>) -> Self {
        Self { times, ..Self::default() }
    }

    /// The CUDA API calls, read on first use; none if the input does not read them. Whoever comes second waits.
    pub(super) fn calls(&self, reader: &mut Reader, input: &Input) -> Result<Arc<Calls>> {
        if !input.reads("all_cuda_call") {
            return Ok(Arc::default());
        }
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(calls) = &*calls {
            return Ok(Arc::clone(calls));
        }
        Ok(Arc::clone(calls.insert(Arc::new(read_calls(reader)?))))
    }
}

/// What cudaEventQuery returns as long as something is not ready; 34 before CUDA 10.1.
const NOT_READY: [i64; 2] = [34, 600];

fn read_calls(reader: &mut Reader) -> Result<Calls> {
    #[derive(Default)]
    struct Part {
        calls: Calls,
        threads: Numbered<i64>,
        names: Numbered<i64>,
        /// The thread before and its number: consecutive rows often have the same.
        last_thread: Option<(i64, u32)>,
        /// Places of the calls that returned that something is not ready.
        not_ready: Vec<u32>,
    }
    let columns =
        "call_id, start_ns, end_ns, correlation_id, global_tid, event_class, name_id, return_value";
    let parts = reader.scan("all_cuda_call", "call_id", columns, |part: &mut Part, cells| {
        let (Some(id), Some(start), Some(end), Some(global_tid)) =
            (cells.int(0), cells.time(1)?, cells.time(2)?, cells.int(4))
        else {
            return Ok(());
        };
        let thread = match part.last_thread {
            Some((last, thread)) if last == global_tid => thread,
            _ => part.threads.place(global_tid),
        };
        part.last_thread = Some((global_tid, thread));
        if cells.int(7).is_some_and(|value| NOT_READY.contains(&value)) {
            part.not_ready.push(part.calls.len() as u32);
        }
        part.calls.push(Call {
            start,
            end,
            id,
            correlation: cells.int(3).unwrap_or_default(),
            thread,
            name: part.names.place(cells.int(6).unwrap_or(NO_ID)),
            is_runtime: cells.int(5) == Some(0),
        });
        Ok(())
    })?;
    let (mut calls, mut threads, mut names) =
        (Calls::default(), Numbered::default(), Numbered::default());
    let mut not_ready = Vec::new();
    for part in parts {
        let place_in = |all: &mut Numbered<i64>, of: &Numbered<i64>| -> Vec<u32> {
            of.values.iter().map(|&value| all.place(value)).collect()
        };
        let (thread_of, name_of) =
            (place_in(&mut threads, &part.threads), place_in(&mut names, &part.names));
        let before = calls.len() as u32;
        not_ready.extend(part.not_ready.iter().map(|place| before + place));
        calls.append(part.calls, &thread_of, &name_of);
    }
    (calls.global_tids, calls.name_ids) = (threads.values, names.values);
    if !not_ready.is_empty() {
        let mut asks = Vec::with_capacity(calls.name_ids.len());
        for &name in &calls.name_ids {
            let text = reader.text_of(name)?.unwrap_or_default();
            asks.push(String::from_utf8_lossy(&text).contains("Query"));
        }
        not_ready.retain(|&place| asks[calls.names()[place as usize] as usize]);
        calls.find_polls(&not_ready);
    }
    Ok(calls)
}
