//! Reads the relations of a report into a projection.

use super::interner::{Interners, Known};
use super::names::{NameRules, Names};
use super::ranges::{place_at_creation, read_ranges, renumber};
use crate::execute::guard;
use crate::execute::limits::{self, Limits};
use crate::execute::native::ids::{NO_ID, PROCESS};
use crate::execute::native::natives::Sources;
use crate::execute::native::reader::Reader;
use crate::execute::native::store::Store;
use crate::normalize::{Attribute, Input, Scope};
use foldhash::{HashMap, HashMapExt};
use nsq_library::catalog::Rules;
use nsq_sweep::calls::Calls;
use nsq_sweep::projection::{
    Attribution, Capture, Failure, Keep, Kernel, Launch, Launches, Links, NONE, Op, OpKind, Ops,
    Projection, Reach,
};
use nsq_value::error::{Error, Result};
use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// A capture in reading order, with the names of its ranges.
#[derive(Clone)]
pub(super) struct Loaded {
    pub(super) capture: Capture,
    pub(super) names: Arc<Names>,
    /// Texts of kernel names by string id, if the names are needed.
    pub(super) kernel_names: Arc<HashMap<i64, String>>,
}

/// What was read of a report, for other sessions that read the same.
#[derive(Default)]
pub struct Loads {
    loaded: Mutex<Vec<(Input, Loaded)>>,
    /// To compile them takes longer than to ask a small report.
    rules: Mutex<Vec<Arc<NameRules>>>,
}

impl fmt::Debug for Loads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Loads").finish_non_exhaustive()
    }
}

impl Loads {
    #[cfg(test)]
    pub(in crate::execute) fn count(&self) -> usize {
        self.loaded.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    fn find(&self, input: &Input) -> Option<Loaded> {
        let loads = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        loads.iter().find(|(known, _)| known.reads_same(input)).map(|(_, loaded)| loaded.clone())
    }

    fn keep(&self, input: &Input, loaded: &Loaded) {
        let mut loads = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        loads.push((input.clone(), loaded.clone()));
    }

    /// The rules of these files, which are compiled once.
    pub(in crate::execute::native) fn rules(&self, files: &[Vec<Rules>; 3]) -> Arc<NameRules> {
        let mut rules = self.rules.lock().unwrap_or_else(PoisonError::into_inner);
        let known = rules.iter().find(|known| known.are_of(files)).map(Arc::clone);
        known.unwrap_or_else(|| {
            let fresh = Arc::new(NameRules::new(files.clone()));
            rules.push(Arc::clone(&fresh));
            fresh
        })
    }
}

/// The relations of an input, as another session read them, or read now.
pub(super) fn load(from: &Sources<'_>, input: &Input) -> Result<Loaded> {
    let loads = from.loads;
    if let Some(loaded) = loads.and_then(|loads| loads.find(input)) {
        return Ok(loaded);
    }
    let loaded = read(from, input)?;
    if let Some(loads) = loads {
        loads.keep(input, &loaded);
    }
    Ok(loaded)
}

/// Reads the relations of an input: ranges and launched work in parallel.
fn read(&Sources { database, store, limits, .. }: &Sources<'_>, input: &Input) -> Result<Loaded> {
    let ids = Interners::default();
    let reader = || Reader::new(database, &input.statements, &store.free, limits);
    let ranges = || read_ranges(&mut reader(), input, &ids);
    let launched = || read_launched(&mut reader(), store, input, &ids);
    let (named, launched) = limits.threads.both(ranges, launched);
    if limits::is_over(limits) {
        return Err(guard::stopped(limits));
    }
    let ((mut capture, kernel_names), (ranges, names)) = (launched?, named?);
    renumber(&mut capture, ranges, &ids, limits.threads);
    Ok(Loaded { capture, names: Arc::new(names), kernel_names: Arc::new(kernel_names) })
}

/// Reads the operations, the calls that launched them, and the names of kernels.
fn read_launched(
    reader: &mut Reader,
    store: &Store,
    input: &Input,
    ids: &Interners,
) -> Result<(Capture, HashMap<i64, String>)> {
    let by_node = input.scope.attribute == Attribute::Capture;
    let more = Columns { names: input.kernel_names, nodes: by_node };
    let (mut ops, mut nodes) = (Ops::default(), Vec::new());
    for (relation, kind) in [
        ("kernel", OpKind::Kernel),
        ("memcpy", OpKind::Memcpy),
        ("memset", OpKind::Memset),
        ("graph_trace", OpKind::Graph),
    ] {
        if input.reads(relation) {
            let (found, of_found) = read_ops(reader, relation, kind, more, ids)?;
            ops.append(found);
            nodes = joined(nodes, of_found);
        }
    }
    let links = Links::of(&mut ops, ids.processes.len());
    let calls = store.calls(reader, input)?;
    let launches = launches_of(&mut ops, &links, &calls, ids);
    let kernels = ids.kernels.values();
    let mut capture = Capture { kernels, ops, launches, ..Capture::default() };
    let mut kernel_names = HashMap::new();
    for kernel in &capture.kernels {
        for id in [kernel.name, kernel.short, kernel.mangled] {
            if !kernel_names.contains_key(&id)
                && let Some(text) = reader.text_of(id)?
            {
                kernel_names.insert(id, String::from_utf8_lossy(&text).into_owned());
            }
        }
    }
    if by_node && input.reads("all_graph_node") {
        place_at_creation(reader, &mut capture, &nodes, ids)?;
    }
    Ok((capture, kernel_names))
}

/// Attributes the operations of a capture to ranges.
pub(super) fn attribute(capture: Capture, scope: &Scope, limits: &Limits) -> Result<Attribution> {
    let reach = match scope.attribute {
        Attribute::Process => Reach::Process,
        Attribute::Thread | Attribute::Capture => Reach::Thread,
    };
    Attribution::new(capture, reach, limits).ok_or_else(|| guard::stopped(limits))
}

/// Computes the projection of an attribution.
pub(super) fn project(
    attribution: Attribution,
    keep: Option<Keep<'_>>,
    limits: &Limits,
    database: &Path,
) -> Result<Projection> {
    Projection::new(attribution, keep, limits).map_err(|failure| match failure {
        Failure::Stopped => guard::stopped(limits),
        Failure::Overflow => Error::Report {
            path: database.to_owned(),
            reason: "has durations whose sum exceeds 64 bits".to_owned(),
            help: "its times make no sense: export the report again".to_owned(),
        },
    })
}

/// Which optional columns of operations to read.
#[derive(Debug, Clone, Copy)]
struct Columns {
    names: bool,
    nodes: bool,
}

/// Reads the operations of one relation. With `more.nodes`, also returns the CUDA graph node of each
/// operation, 0 outside graphs.
fn read_ops(
    reader: &mut Reader,
    relation: &str,
    kind: OpKind,
    more: Columns,
    ids: &Interners,
) -> Result<(Ops, Vec<i64>)> {
    #[derive(Default)]
    struct Part {
        ops: Ops,
        nodes: Vec<i64>,
        processes: Known<i64>,
        kernels: Known<Kernel>,
    }
    let id = format!("{relation}_id");
    let mut columns = format!("{id}, start_ns, end_ns, global_pid, correlation_id");
    let has_names = more.names && kind == OpKind::Kernel;
    if has_names {
        columns.push_str(", name_id, short_name_id, mangled_name_id");
    }
    let node = more.nodes.then(|| columns.matches(',').count() + 1);
    if node.is_some() {
        columns.push_str(if kind == OpKind::Graph { ", NULL" } else { ", graph_node_id" });
    }
    let parts = reader.scan(relation, &id, &columns, |part: &mut Part, cells| {
        let (Some(id), Some(start), Some(end)) = (cells.int(0), cells.time(1)?, cells.time(2)?) else {
            return Ok(());
        };
        let name = |column| cells.int(column).unwrap_or(NO_ID);
        let kernel = if has_names {
            let kernel = Kernel { name: name(5), short: name(6), mangled: name(7) };
            part.kernels.place(kernel, &ids.kernels)
        } else {
            NONE
        };
        part.ops.push(Op {
            start,
            end,
            id,
            correlation: cells.int(4).unwrap_or_default(),
            process: part.processes.place(cells.int(3).unwrap_or(NO_ID), &ids.processes),
            launch: NONE,
            kernel,
            kind,
        });
        if let Some(column) = node {
            part.nodes.push(cells.int(column).unwrap_or_default());
        }
        Ok(())
    })?;
    let (mut ops, mut nodes) = (Ops::default(), Vec::new());
    for part in parts {
        ops.append(part.ops);
        nodes = joined(nodes, part.nodes);
    }
    Ok((ops, nodes))
}

fn joined<T>(mut first: Vec<T>, mut second: Vec<T>) -> Vec<T> {
    if first.is_empty() {
        return second;
    }
    first.append(&mut second);
    first
}

/// The calls that launched operations, in the order in which they were read. Replaces the slots of operations in
/// [`Links`] by the places of these launches.
fn launches_of(ops: &mut Ops, links: &Links, calls: &Calls, ids: &Interners) -> Launches {
    let callers = links.callers(calls, |global_tid| ids.processes.find(global_tid & PROCESS));
    let starts: Vec<i64> = ops.iter().map(|op| op.start).collect();
    for (launch, start) in ops.launches_mut().iter_mut().zip(starts) {
        *launch = callers.of(*launch, start, calls);
    }
    let mut is_launch = vec![false; calls.len()];
    for op in ops.iter().filter(|op| op.launch != NONE) {
        is_launch[op.launch as usize] = true;
    }
    let launching: Vec<u32> = (0..calls.len() as u32).filter(|&call| is_launch[call as usize]).collect();
    let mut place_of = vec![NONE; calls.len()];
    (0u32..).zip(&launching).for_each(|(place, &call)| place_of[call as usize] = place);
    for launch in ops.launches_mut().iter_mut().filter(|launch| **launch != NONE) {
        *launch = place_of[*launch as usize];
    }
    let mut threads = Known::default();
    let launch = |&call: &u32| {
        let call = calls.at(call as usize);
        let thread = threads.place(calls.global_tids[call.thread as usize], &ids.threads);
        Launch { start: call.start, end: call.end, thread, call: call.id }
    };
    launching.iter().map(launch).collect()
}
