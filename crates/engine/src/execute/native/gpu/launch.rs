//! Reads the API calls that launched the operations.

use super::idle::Source;
use crate::execute::limits::Limits;
use crate::execute::native::ids::{NO_ID, Numbered, PROCESS};
use crate::execute::native::reader::Reader;
use crate::normalize::UNSCOPED;
use nsq_sweep::occupancy::{NONE, Occupancy};
use nsq_sweep::projection::{Call, Links, OpKind};
use nsq_value::error::Result;

/// A call that launched operations. There can be one for each operation, so it is kept small.
#[derive(Debug, Clone, Copy)]
pub(super) struct LaunchCall {
    pub(super) start: i64,
    pub(super) end: i64,
    pub(super) id: i64,
    /// Place in [`Launches::threads`].
    thread: u32,
    /// Place in [`Launches::names`].
    name: u32,
}

/// The launches of all operations.
#[derive(Debug, Default)]
pub(super) struct Launches {
    /// Indices of the operations that a call can have launched: all but graphs that were traced as a whole.
    pub(super) launched: Vec<u32>,
    /// Of each operation, the correlation ID as the export gives it, or [`NO_ID`].
    correlations: Vec<i64>,
    /// Of each operation, the green context; empty if there is none in the report.
    green_contexts: Vec<i64>,
    /// Of each operation, its call, or [`NONE`].
    of_op: Vec<u32>,
    calls: Vec<LaunchCall>,
    threads: Vec<i64>,
    /// String IDs of functions' names.
    names: Vec<i64>,
}

impl Launches {
    pub(super) fn call(&self, op: usize) -> Option<&LaunchCall> {
        self.calls.get(*self.of_op.get(op)? as usize)
    }

    pub(super) fn thread(&self, op: usize) -> Option<i64> {
        self.threads.get(self.call(op)?.thread as usize).copied()
    }

    /// String ID of the name of the function that launched an operation.
    pub(super) fn name(&self, op: usize) -> Option<i64> {
        self.names.get(self.call(op)?.name as usize).copied().filter(|id| *id != NO_ID)
    }

    /// The correlation ID of an operation, as the export gives it.
    pub(super) fn correlation(&self, op: usize) -> Option<i64> {
        self.correlations.get(op).copied().filter(|id| *id != NO_ID)
    }

    pub(super) fn green_context(&self, op: usize) -> Option<i64> {
        self.green_contexts.get(op).copied().filter(|id| *id != NO_ID)
    }
}

/// Finds the outermost call with the process and correlation ID of each operation. `by_row`: the operations
/// by kind and row.
pub(super) fn launches_of(
    source: &Source,
    occupancy: &Occupancy,
    by_row: &[u32],
    limits: &Limits,
) -> Result<Launches> {
    let mut reader = Reader::new(&source.database, &source.statements, limits);
    let ops = &occupancy.ops;
    let mut launches = Launches { correlations: vec![NO_ID; ops.len()], ..Launches::default() };
    for &(kind, relation) in source.relations.iter().filter(|(kind, _)| *kind != OpKind::Graph) {
        let first = by_row.partition_point(|&op| ops[op as usize].kind < kind);
        let of_kind = by_row[first..].partition_point(|&op| ops[op as usize].kind == kind);
        let of_kind = &by_row[first..first + of_kind];
        if !of_kind.is_empty() {
            read_correlations(&mut reader, relation, of_kind, occupancy, &mut launches)?;
        }
    }
    let mut processes = Numbered::<i64>::default();
    let of_stream: Vec<u32> =
        occupancy.streams.iter().map(|stream| processes.place(stream.global_pid)).collect();
    let ids = ops.iter().zip(&launches.correlations);
    // No call has the ID of an operation without one.
    let ids = ids.map(|(op, &id)| (of_stream[op.stream as usize], if id == NO_ID { 0 } else { id }));
    let mut links = Links::between(ids.clone(), processes.values.len());
    launches.of_op = ids.map(|(process, id)| links.slot_for(process, id)).collect();
    if source.has_calls {
        read_calls(&mut reader, links, &processes, &mut launches)?;
    } else {
        launches.of_op.fill(NONE);
    }
    let launched = (0u32..).zip(ops).filter(|(_, op)| op.kind != OpKind::Graph);
    launches.launched = launched.map(|(index, _)| index).collect();
    Ok(launches)
}

/// The correlation ID and the green context of one operation.
struct Given {
    op: u32,
    correlation: i64,
    green_context: i64,
}

/// Reads the correlation IDs of the operations of a kind, `of_kind`, which are sorted by row.
fn read_correlations(
    reader: &mut Reader,
    relation: &str,
    of_kind: &[u32],
    occupancy: &Occupancy,
    launches: &mut Launches,
) -> Result<()> {
    /// The rows come in order: the next operation is rarely far.
    #[derive(Default)]
    struct Part {
        next: usize,
        found: Vec<Given>,
    }
    let (id, ops) = (format!("{relation}_id"), &occupancy.ops);
    let columns = format!("{id}, correlation_id, green_context_id");
    let relation = format!("{UNSCOPED}{relation}");
    let row_of = |op: &u32| ops[*op as usize].id;
    let parts = reader.scan(&relation, &id, &columns, |part: &mut Part, cells| {
        let Some(row) = cells.int(0) else { return Ok(()) };
        if of_kind.get(part.next).is_none_or(|op| row_of(op) != row) {
            part.next = of_kind.partition_point(|op| row_of(op) < row);
        }
        if let Some(&op) = of_kind.get(part.next).filter(|op| row_of(op) == row) {
            let [correlation, green_context] = [1, 2].map(|column| cells.int(column).unwrap_or(NO_ID));
            part.found.push(Given { op, correlation, green_context });
            part.next += 1;
        }
        Ok(())
    })?;
    for Given { op, correlation, green_context } in parts.into_iter().flat_map(|part| part.found) {
        launches.correlations[op as usize] = correlation;
        if green_context != NO_ID {
            launches.green_contexts.resize(ops.len(), NO_ID);
            launches.green_contexts[op as usize] = green_context;
        }
    }
    Ok(())
}

/// Reads the calls, and finds those of the launches in `links`.
fn read_calls(
    reader: &mut Reader,
    links: Links,
    processes: &Numbered<i64>,
    launches: &mut Launches,
) -> Result<()> {
    #[derive(Default)]
    struct Part {
        calls: Vec<(u32, (Call, u32))>,
        threads: Numbered<i64>,
        names: Numbered<i64>,
    }
    let columns = "call_id, start_ns, end_ns, correlation_id, global_tid, event_class, name_id";
    let parts = reader.scan("all_cuda_call", "call_id", columns, |part: &mut Part, cells| {
        let (Some(id), Some(correlation), Some(thread)) = (cells.int(0), cells.int(3), cells.int(4))
        else {
            return Ok(());
        };
        let process = processes.known(thread & PROCESS);
        let Some(slot) = process.and_then(|process| links.slot(process, correlation)) else {
            return Ok(());
        };
        let (Some(start), Some(end)) = (cells.time(1)?, cells.time(2)?) else { return Ok(()) };
        let thread = part.threads.place(thread);
        let call = Call { start, end, id, thread, is_runtime: cells.int(5) == Some(0) };
        let name = part.names.place(cells.int(6).unwrap_or(NO_ID));
        part.calls.push((slot, (call, name)));
        Ok(())
    })?;
    let (mut threads, mut names) = (Numbered::<i64>::default(), Numbered::<i64>::default());
    let mut found = Vec::with_capacity(parts.iter().map(|part| part.calls.len()).sum());
    for part in parts {
        let of_thread: Vec<u32> = part.threads.values.iter().map(|&id| threads.place(id)).collect();
        let of_name: Vec<u32> = part.names.values.iter().map(|&id| names.place(id)).collect();
        found.extend(part.calls.into_iter().map(|(slot, (call, name))| {
            let call = Call { thread: of_thread[call.thread as usize], ..call };
            (slot, (call, of_name[name as usize]))
        }));
    }
    let (places, calls) = links.outermost(found, |(call, _)| call);
    for launch in launches.of_op.iter_mut().filter(|launch| **launch != NONE) {
        *launch = places[*launch as usize];
    }
    let kept = |(call, name): (Call, u32)| {
        let Call { start, end, id, thread, .. } = call;
        LaunchCall { start, end, id, thread, name }
    };
    launches.calls = calls.into_iter().map(kept).collect();
    launches.calls.shrink_to_fit();
    (launches.threads, launches.names) = (threads.values, names.values);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_read_is_unknown() {
        // Rows are looked up by key before a stopped read is noticed.
        let none = Launches::default();
        assert!(none.call(3).is_none());
        assert_eq!(
            [none.correlation(3), none.thread(3), none.name(3), none.green_context(3)],
            [None; 4]
        );
    }
}
