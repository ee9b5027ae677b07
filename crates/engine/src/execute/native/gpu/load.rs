//! Reads the GPU operations of a report into an [`Occupancy`].

use super::answers::Answers;
use super::idle::Source;
use super::labels::Labels;
use super::tables::Table;
use crate::execute::guard;
use crate::execute::limits;
use crate::execute::native::ids::{NO_ID, Numbered, pid};
use crate::execute::native::natives::Sources;
use crate::execute::native::nvtx::Selection;
use crate::execute::native::reader::Reader;
use crate::execute::native::texts::Texts;
use crate::normalize::{Input, Scope, UNSCOPED};
use foldhash::{HashMap, HashMapExt};
use nsq_sweep::classify::Activity;
use nsq_sweep::interval::TimeSet;
use nsq_sweep::occupancy::{Occupancy, Op, Stream, Window};
use nsq_sweep::projection::OpKind;
use nsq_value::error::Result;
use std::sync::Arc;

/// Shown for a CUDA graph that was traced as a whole.
const GRAPH: &str = "[CUDA graph]";

/// Reads the operations that an input asks for. `tables`: the relations on them.
pub(in crate::execute::native) fn occupy(
    from: &Sources<'_>,
    input: &Input,
    tables: &[Table],
    selection: Option<&Selection>,
) -> Result<Answers> {
    let &Sources { database, store, limits, .. } = from;
    let mut reader = Reader::new(database, &input.statements, &store.free, limits);
    let gpus = read_gpus(&mut reader, input)?;
    let mut ids = Ids { gpus, ..Ids::default() };
    let mut ops = Vec::new();
    for (relation, kind, name) in [
        ("kernel", OpKind::Kernel, "name_id"),
        ("memcpy", OpKind::Memcpy, "copy_kind, direction"),
        ("memset", OpKind::Memset, "NULL"),
        ("graph_trace", OpKind::Graph, "NULL"),
    ] {
        if input.reads(&format!("{UNSCOPED}{relation}")) {
            read_ops(&mut reader, relation, kind, name, &input.scope, &mut ids, &mut ops)?;
        }
    }
    // Only operations are removed. Streams stay, so a GPU without work in the window counts as idle.
    let windows = selection.and_then(|selection| selection.windows.as_ref());
    ops.retain(|op| {
        input.scope.has_time(op.start, op.end)
            && windows.is_none_or(|windows| overlaps(windows, op.start, op.end))
            && selection.is_none_or(|selection| selection.ops.contains(&(op.kind, op.id)))
    });
    if limits::is_over(limits) {
        return Err(guard::stopped(limits));
    }
    let occupancy = Occupancy::new(ops, ids.streams.values, window(&input.scope, selection));
    ids.green_contexts.sort_unstable();
    let (labels, green_contexts) = (Arc::new(ids.labels), Arc::new(ids.green_contexts));
    Ok(answers((occupancy, labels), green_contexts, from, input, tables))
}

/// The same for an input of which `whole` has all times.
pub(in crate::execute::native) fn part(
    whole: &Answers,
    from: &Sources<'_>,
    input: &Input,
    tables: &[Table],
) -> Answers {
    let scope = &input.scope;
    let is_kept = |op: &Op| scope.has_time(op.start, op.end);
    let occupancy = whole.occupancy.within(window(scope, None), is_kept);
    let (labels, green_contexts) = (Arc::clone(&whole.labels), Arc::clone(&whole.green_contexts));
    answers((occupancy, labels), green_contexts, from, input, tables)
}

fn answers(
    named: (Occupancy, Arc<Labels>),
    green_contexts: Arc<Vec<(OpKind, i64, i64)>>,
    &Sources { database, store, limits, .. }: &Sources<'_>,
    input: &Input,
    tables: &[Table],
) -> Answers {
    let calls = Source { database: database.to_owned(), input: input.clone(), store: Arc::clone(store) };
    let is_read = |any: &[Table]| any.iter().any(|table| tables.contains(table));
    let explained =
        [is_read(&[Table::Idle]), is_read(&[Table::ComputeGap, Table::Exposed, Table::Lead])];
    Answers::new(named, green_contexts, calls, explained, limits)
}

fn overlaps(windows: &TimeSet, start: i64, end: i64) -> bool {
    let windows = windows.intervals();
    let after = windows.partition_point(|&(_, to)| to <= start);
    windows.get(after).is_some_and(|&(from, _)| from < end || from <= start)
}

/// The time window of the scope.
fn window(scope: &Scope, selection: Option<&Selection>) -> Window {
    let (from, to) = (scope.start_ns, scope.end_ns);
    match selection.and_then(|selection| selection.windows.as_ref()) {
        Some(windows) => {
            let timed = vec![(from.unwrap_or(i64::MIN), to.unwrap_or(i64::MAX))];
            Window::Pieces(windows.intersection(&TimeSet::union_of(timed)))
        }
        None if from.is_some() || to.is_some() => Window::Time { from, to },
        None => Window::Whole,
    }
}

/// The GPUs, streams and names that operations refer to.
#[derive(Default)]
struct Ids {
    /// GPU ids by process (`None`: any process) and device ordinal.
    gpus: HashMap<(Option<i64>, i64), i64>,
    streams: Numbered<Stream>,
    labels: Labels,
    /// The kind, row and green context of each operation in one.
    green_contexts: Vec<(OpKind, i64, i64)>,
}

impl Ids {
    /// The GPU behind a process's device ordinal.
    fn gpu(&self, global_pid: i64, device_id: i64) -> i64 {
        let of = |pid| self.gpus.get(&(pid, device_id)).copied();
        let own = pid(global_pid).and_then(|pid| of(Some(pid)));
        own.or_else(|| of(None)).unwrap_or(device_id)
    }
}

fn read_gpus(reader: &mut Reader, input: &Input) -> Result<HashMap<(Option<i64>, i64), i64>> {
    let mut gpus = HashMap::new();
    if input.reads("device") {
        reader.rows("SELECT pid, device_id, gpu_id FROM device", |cells| {
            if let (Some(device), Some(gpu)) = (cells.int(1), cells.int(2)) {
                gpus.insert((cells.int(0), device), gpu);
            }
            Ok(())
        })?;
    }
    Ok(gpus)
}

/// Operations moved in one step. The memory they came from is freed after each step.
const MOVED: usize = 1 << 18;

/// The operations that one connection read. `stream` and `name` are places in this part's own lists until
/// the parts are merged.
#[derive(Default)]
struct Part {
    ops: Vec<Op>,
    streams: Numbered<Stream>,
    last: Option<(Stream, u32)>,
    /// IDs of names, each with the place of its direction if it is a kind of copy.
    names: Numbered<(i64, u32)>,
    /// Directions of memory copies.
    directions: Texts,
    green_contexts: Vec<(OpKind, i64, i64)>,
}

/// Reads the operations of one relation. Filters by device, stream and process, but not by time.
fn read_ops(
    reader: &mut Reader,
    relation: &str,
    kind: OpKind,
    name: &str,
    scope: &Scope,
    ids: &mut Ids,
    into: &mut Vec<Op>,
) -> Result<()> {
    let id = format!("{relation}_id");
    let launch = match kind {
        OpKind::Graph => "correlation_id, NULL",
        _ => "correlation_id, green_context_id",
    };
    let columns = format!(
        "{id}, start_ns, end_ns, global_pid, device_id, context_id, stream_id, {launch}, {name}"
    );
    let is_wanted = |wanted: &[i64], number: Option<i64>| {
        wanted.is_empty() || number.is_some_and(|number| wanted.contains(&number))
    };
    // Its label says it later.
    let activity = Activity::Compute;
    let parts =
        reader.scan(&format!("{UNSCOPED}{relation}"), &id, &columns, |part: &mut Part, cells| {
            let (Some(id), Some(start), Some(end)) = (cells.int(0), cells.time(1)?, cells.time(2)?)
            else {
                return Ok(());
            };
            let stream = Stream {
                gpu_id: 0,
                global_pid: cells.int(3).unwrap_or(NO_ID),
                device_id: cells.int(4).unwrap_or_default(),
                context_id: cells.int(5),
                stream_id: cells.int(6),
            };
            let is_in_scope = scope.has_gpu_of(pid(stream.global_pid), cells.int(4))
                && is_wanted(&scope.devices, cells.int(4))
                && is_wanted(&scope.streams, stream.stream_id)
                && is_wanted(&scope.processes, pid(stream.global_pid));
            if !is_in_scope {
                return Ok(());
            }
            // Consecutive rows often belong to the same stream.
            let place = match part.last {
                Some((last, place)) if last == stream => place,
                _ => part.streams.place(stream),
            };
            part.last = Some((stream, place));
            let name = match kind {
                OpKind::Kernel => (cells.int(9).unwrap_or(NO_ID), 0),
                OpKind::Memcpy => {
                    let direction = part.directions.place(cells.text(10).unwrap_or_default());
                    (cells.int(9).unwrap_or(NO_ID), direction)
                }
                OpKind::Memset | OpKind::Graph => (0, 0),
            };
            let name = part.names.place(name);
            // An operation that ends before it starts counts as 0 ns.
            let (end, correlation) = (end.max(start), cells.int(7).unwrap_or(NO_ID));
            part.green_contexts.extend(cells.int(8).map(|context| (kind, id, context)));
            part.ops.push(Op { start, end, kind, id, stream: place, name, activity, correlation });
            Ok(())
        })?;
    for mut part in parts {
        if part.ops.is_empty() {
            continue;
        }
        ids.green_contexts.append(&mut part.green_contexts);
        let place =
            |stream: &Stream| Stream { gpu_id: ids.gpu(stream.global_pid, stream.device_id), ..*stream };
        let streams: Vec<Stream> = part.streams.values.iter().map(place).collect();
        let streams: Vec<u32> = streams.into_iter().map(|stream| ids.streams.place(stream)).collect();
        let label = |&(id, direction): &(i64, u32)| match kind {
            OpKind::Kernel => ids.labels.kernel(reader, id),
            OpKind::Memcpy => {
                let direction = part.directions.text(direction).unwrap_or_default();
                Ok(ids.labels.add(id, &format!("[CUDA memcpy {direction}]"), Activity::Memory))
            }
            OpKind::Memset => Ok(ids.labels.add(id, "[CUDA memset]", Activity::Memory)),
            OpKind::Graph => Ok(ids.labels.add(id, GRAPH, Activity::Compute)),
        };
        let labels = part.names.values.iter().map(label).collect::<Result<Vec<u32>>>()?;
        for op in &mut part.ops {
            op.stream = streams[op.stream as usize];
            op.name = labels[op.name as usize];
            op.activity = ids.labels.values[op.name as usize].activity;
        }
        append(part.ops, into);
    }
    Ok(())
}

/// Moves `ops` to the end of `into`, step by step, so that peak memory stays close to one copy. The order
/// changes.
fn append(mut ops: Vec<Op>, into: &mut Vec<Op>) {
    if into.is_empty() {
        *into = ops;
        return;
    }
    into.reserve_exact(ops.len());
    while !ops.is_empty() {
        into.extend(ops.drain(ops.len().saturating_sub(MOVED)..));
        ops.shrink_to_fit();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_any_length_are_joined() {
        let ops = |from: i64, count: usize| -> Vec<Op> {
            let activity = Activity::Compute;
            let kind = OpKind::Kernel;
            let op =
                |id| Op { start: 0, end: 0, kind, id, stream: 0, name: 0, activity, correlation: 0 };
            (from..).take(count).map(op).collect()
        };
        for count in [0, 1, MOVED - 1, MOVED, MOVED + 1, 2 * MOVED + 1] {
            let mut joined = ops(0, 3);
            append(ops(3, count), &mut joined);
            let mut ids: Vec<i64> = joined.iter().map(|op| op.id).collect();
            ids.sort_unstable();
            assert!(ids.into_iter().eq(0..count as i64 + 3), "{count}");
        }
    }
}
