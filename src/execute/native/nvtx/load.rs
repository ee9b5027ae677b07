//! Reads the relations of a report into a projection.

use super::names::{Name, Names};
use crate::error::{Error, Result};
use crate::execute::guard::{self, Limits};
use crate::execute::native::ids::{NO_ID, Numbered, PROCESS};
use crate::execute::native::reader::Reader;
use crate::execute::native::texts::Texts;
use crate::normalize::{Attribute, Input, Scope};
use crate::projection::{
    Attribution, Call, Capture, Failure, Keep, Kernel, Launch, Links, NONE, Op, OpKind, Projection,
    Range, Reach, Thread,
};
use crate::threads;
use foldhash::{HashMap, HashMapExt};
use std::collections::hash_map::Entry;
use std::hash::Hash;
use std::mem;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// A capture in reading order, with the names of its ranges.
pub(super) struct Loaded {
    pub(super) capture: Capture,
    pub(super) names: Names,
    /// Texts of kernel names by string id, if the names are needed.
    pub(super) kernel_names: HashMap<i64, String>,
}

/// Reads the relations of an input: ranges and launched work in parallel.
pub(super) fn load(database: &Path, input: &Input, limits: &Limits) -> Result<Loaded> {
    let ids = Interners::default();
    let reader = || Reader::new(database, &input.statements, limits);
    let ranges = || read_ranges(&mut reader(), &ids);
    let launched = || read_launched(&mut reader(), input, &ids);
    let (named, launched) = threads::both(ranges, launched);
    if guard::is_over(limits) {
        return Err(guard::stopped(limits));
    }
    let ((mut capture, kernel_names), (ranges, names)) = (launched?, named?);
    renumber(&mut capture, ranges, &ids);
    Ok(Loaded { capture, names, kernel_names })
}

/// Reads the operations, the calls that launched them, and the names of kernels.
fn read_launched(
    reader: &mut Reader,
    input: &Input,
    ids: &Interners,
) -> Result<(Capture, HashMap<i64, String>)> {
    let by_node = input.scope.attribute == Attribute::Capture;
    let more = Columns { names: input.kernel_names, nodes: by_node };
    let (mut ops, mut nodes) = (Vec::new(), Vec::new());
    for (relation, kind) in [
        ("kernel", OpKind::Kernel),
        ("memcpy", OpKind::Memcpy),
        ("memset", OpKind::Memset),
        ("graph_trace", OpKind::Graph),
    ] {
        if input.reads(relation) {
            let (found, of_found) = read_ops(reader, relation, kind, more, ids)?;
            (ops, nodes) = (joined(ops, found), joined(nodes, of_found));
        }
    }
    let links = Links::of(&mut ops, ids.processes.len());
    let found = match input.reads("all_cuda_call") {
        true => read_calls(reader, &links, ids)?,
        false => Vec::new(),
    };
    let calls = links.resolve(found, &mut ops);
    let launches = calls.iter().zip(0u32..).map(|(call, index)| Launch {
        start: call.start,
        end: call.end,
        thread: call.thread,
        call: index,
        innermost: NONE,
        is_in_other_thread: false,
    });
    let launches = launches.collect();
    let kernels = ids.kernels.values();
    let mut capture = Capture { kernels, ops, calls, launches, ..Capture::default() };
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
    Attribution::new(capture, reach, &|| guard::is_over(limits)).ok_or_else(|| guard::stopped(limits))
}

/// Computes the projection of an attribution.
pub(super) fn project(
    attribution: Attribution,
    keep: Option<Keep<'_>>,
    limits: &Limits,
    database: &Path,
) -> Result<Projection> {
    Projection::new(attribution, keep, &|| guard::is_over(limits)).map_err(|failure| match failure {
        Failure::Stopped => guard::stopped(limits),
        Failure::Overflow => Error::Report {
            path: database.to_owned(),
            reason: "has durations whose sum exceeds 64 bits".to_owned(),
            help: "its times make no sense: export the report again".to_owned(),
        },
    })
}

/// Numbers distinct values in order of appearance. Shared by readers that run in parallel.
#[derive(Debug)]
struct Interner<T> {
    shared: Mutex<HashMap<T, u32>>,
}

impl<T> Default for Interner<T> {
    fn default() -> Self {
        Self { shared: Mutex::default() }
    }
}

impl<T: Copy + Eq + Hash> Interner<T> {
    fn place(&self, value: T) -> u32 {
        // Ignoring the poison is fine: a panic in one reader ends the whole run.
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        let fresh = shared.len() as u32;
        *shared.entry(value).or_insert(fresh)
    }

    fn find(&self, value: T) -> Option<u32> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner).get(&value).copied()
    }

    fn len(&self) -> usize {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// The values in the order of their numbers.
    fn values(&self) -> Vec<T> {
        let shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        let mut values: Vec<(u32, T)> = shared.iter().map(|(&value, &place)| (place, value)).collect();
        values.sort_unstable_by_key(|&(place, _)| place);
        values.into_iter().map(|(_, value)| value).collect()
    }
}

/// One reader's local cache of an [`Interner`].
#[derive(Debug)]
struct Known<T> {
    places: HashMap<T, u32>,
    /// The value before: consecutive rows often have the same.
    last: Option<(T, u32)>,
}

impl<T> Default for Known<T> {
    fn default() -> Self {
        Self { places: HashMap::default(), last: None }
    }
}

impl<T: Copy + Eq + Hash> Known<T> {
    fn place(&mut self, value: T, shared: &Interner<T>) -> u32 {
        match self.last {
            Some((last, place)) if last == value => return place,
            _ => {}
        }
        let place = match self.places.get(&value) {
            Some(&place) => place,
            None => {
                let place = shared.place(value);
                self.places.insert(value, place);
                place
            }
        };
        self.last = Some((value, place));
        place
    }
}

/// The processes, threads and kernels of a report.
#[derive(Debug, Default)]
struct Interners {
    processes: Interner<i64>,
    threads: Interner<i64>,
    kernels: Interner<Kernel>,
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
) -> Result<(Vec<Op>, Vec<i64>)> {
    #[derive(Default)]
    struct Part {
        ops: Vec<Op>,
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
    let (mut ops, mut nodes) = (Vec::new(), Vec::new());
    for part in parts {
        (ops, nodes) = (joined(ops, part.ops), joined(nodes, part.nodes));
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

/// Reads the calls that launched operations, each with the slot of its operations in [`Links`].
fn read_calls(reader: &mut Reader, links: &Links, ids: &Interners) -> Result<Vec<(u32, Call)>> {
    #[derive(Default)]
    struct Part {
        calls: Vec<(u32, Call)>,
        threads: Known<i64>,
        /// For each thread: its process, as numbered by the operations.
        processes: HashMap<i64, Option<u32>>,
    }
    let columns = "call_id, start_ns, end_ns, correlation_id, global_tid, event_class";
    let parts = reader.scan("all_cuda_call", "call_id", columns, |part: &mut Part, cells| {
        let (Some(id), Some(correlation), Some(thread)) = (cells.int(0), cells.int(3), cells.int(4))
        else {
            return Ok(());
        };
        let process_of = |thread| ids.processes.find(thread & PROCESS);
        let process = *part.processes.entry(thread).or_insert_with(|| process_of(thread));
        let Some(slot) = process.and_then(|process| links.slot(process, correlation)) else {
            return Ok(());
        };
        let (Some(start), Some(end)) = (cells.time(1)?, cells.time(2)?) else { return Ok(()) };
        let thread = part.threads.place(thread, &ids.threads);
        part.calls.push((slot, Call { start, end, id, thread, is_runtime: cells.int(5) == Some(0) }));
        Ok(())
    })?;
    Ok(parts.into_iter().map(|part| part.calls).reduce(joined).unwrap_or_default())
}

/// The event type of a domain's creation.
const DOMAIN_CREATED: i64 = 75;

/// Stands for the end of a range that has none in the export.
const NO_END: i64 = i64::MAX;

/// A range's name before registered messages are looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct RawName {
    /// A place in the part's domains; [`NONE`] outside any domain.
    domain: u32,
    text: RawText,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum RawText {
    None,
    Registered(i64),
    /// A place in the part's texts.
    Given(u32),
}

/// Ranges in reading order.
struct Ranges {
    /// For each part: its ranges by thread, and its names as places in all names.
    parts: Vec<(Vec<Vec<Range>>, Vec<u32>)>,
    /// The last start or end of any range.
    last: i64,
}

/// Buckets of ranges by thread. All threads above this number share the last bucket.
const BUCKETS: usize = 1024;

impl Ranges {
    /// All ranges with their final thread and name numbers, bucket by bucket in order of thread.
    ///
    /// A range without an end lasts until the last time of any range, as in NVIDIA's reports.
    fn renumbered(mut self, thread_of: &[u32]) -> Vec<Range> {
        let all = self.parts.iter().flat_map(|(threads, _)| threads);
        let mut ranges = Vec::with_capacity(all.map(Vec::len).sum());
        let mut order: Vec<usize> = (0..thread_of.len().min(BUCKETS)).collect();
        order.sort_unstable_by_key(|&thread| thread_of[thread]);
        for thread in order {
            for (threads, name_of) in &mut self.parts {
                let here = threads.get_mut(thread).map(mem::take).unwrap_or_default();
                ranges.extend(here.into_iter().map(|range| Range {
                    thread: thread_of[range.thread as usize],
                    name: name_of[range.name as usize],
                    end: if range.end == NO_END { self.last } else { range.end },
                    ..range
                }));
            }
        }
        ranges
    }
}

/// The process and id of a domain.
type DomainKey = (i64, i64);

fn read_ranges(reader: &mut Reader, ids: &Interners) -> Result<(Ranges, Names)> {
    #[derive(Default)]
    struct Part {
        /// By thread.
        ranges: Vec<Vec<Range>>,
        threads: Known<i64>,
        names: Numbered<RawName>,
        texts: Texts,
        /// The last start or end of any range.
        last: Option<i64>,
        /// Domains of ranges.
        domains: Numbered<DomainKey>,
        /// The domain before: consecutive rows often have the same.
        last_domain: Option<(DomainKey, u32)>,
        /// Created domains: row, domain and name.
        created: Vec<(i64, DomainKey, RawText)>,
    }
    let columns =
        "record_id, start_ns, end_ns, event_type, text_id, domain_id, global_tid, end_global_tid, text";
    let parts = reader.scan("all_nvtx_record", "record_id", columns, |part: &mut Part, cells| {
        let (event_type, thread) = (cells.int(3), cells.int(6).unwrap_or(NO_ID));
        let domain = cells.int(5).map(|domain| (thread >> 24 & 0xFF_FFFF, domain));
        let registered = cells.int(4).map(RawText::Registered);
        let mut given = || cells.text(8).map(|text| RawText::Given(part.texts.place(text)));
        if event_type == Some(DOMAIN_CREATED) {
            let name = match given() {
                // A value in the text column that is not text hides the registered name. The domain then
                // has no name.
                None if cells.int(8).is_none() => registered,
                given => given,
            };
            let (id, thread) = (cells.int(0), cells.int(6));
            if let (Some(id), Some(domain), Some(_)) = (id, domain, thread) {
                part.created.push((id, domain, name.unwrap_or(RawText::None)));
            }
            return Ok(());
        }
        let text = registered.or_else(given).unwrap_or(RawText::None);
        let (Some(id), Some(start)) = (cells.int(0), cells.time(1)?) else { return Ok(()) };
        let domain = domain.map(|key| match part.last_domain {
            Some((last, place)) if last == key => place,
            _ => {
                let place = part.domains.place(key);
                part.last_domain = Some((key, place));
                place
            }
        });
        let end = cells.time(2)?;
        part.last = part.last.max(Some(end.map_or(start, |end| end.max(start))));
        let thread = part.threads.place(thread, &ids.threads);
        let place = (thread as usize).min(BUCKETS - 1);
        if part.ranges.len() <= place {
            part.ranges.resize_with(place + 1, Vec::new);
        }
        part.ranges[place].push(Range {
            start,
            end: end.unwrap_or(NO_END),
            id,
            thread,
            name: part.names.place(RawName { domain: domain.unwrap_or(NONE), text }),
            is_push_pop: matches!(event_type, Some(59 | 70)),
            is_cross_thread: cells.int(7).is_some(),
        });
        Ok(())
    })?;
    let mut names = Names::default();
    let mut place_of = |names: &mut Names, texts: &Texts, text| match text {
        RawText::None => Ok(NONE),
        RawText::Given(place) => Ok(names.place_text(texts.bytes(place))),
        RawText::Registered(id) => {
            Ok::<_, Error>(reader.text_of(id)?.map_or(NONE, |text| names.place_text(&text)))
        }
    };
    let mut domains: HashMap<DomainKey, u32> = HashMap::new();
    let mut created: Vec<(&Part, (i64, DomainKey, RawText))> = Vec::new();
    parts.iter().for_each(|part| created.extend(part.created.iter().map(|&row| (part, row))));
    // A domain that was created twice keeps its first name.
    created.sort_by_key(|&(_, (id, ..))| id);
    for (part, (_, domain, name)) in created {
        if let Entry::Vacant(unknown) = domains.entry(domain) {
            unknown.insert(place_of(&mut names, &part.texts, name)?);
        }
    }
    let last = parts.iter().filter_map(|part| part.last).max().unwrap_or_default();
    let mut ranges = Ranges { parts: Vec::new(), last };
    for part in parts {
        let mut name_of = Vec::with_capacity(part.names.values.len());
        for RawName { domain, text } in part.names.values {
            let domain = part.domains.values.get(domain as usize).and_then(|key| domains.get(key));
            let name = Name {
                domain: domain.copied().unwrap_or(NONE),
                is_domain_nameless: domain == Some(&NONE),
                text: place_of(&mut names, &part.texts, text)?,
            };
            name_of.push(names.place(name));
        }
        ranges.parts.push((part.ranges, name_of));
    }
    names.finish();
    Ok((ranges, names))
}

/// The longest chain of clones to follow. A graph is captured, instantiated, and sometimes copied.
const MAX_CLONES: usize = 64;

/// Gives each node of a CUDA graph its own launch, at the time and on the thread of the node's creation.
///
/// `nodes` has the graph node of each operation.
fn place_at_creation(
    reader: &mut Reader,
    capture: &mut Capture,
    nodes: &[i64],
    ids: &Interners,
) -> Result<()> {
    struct Node {
        original: Option<i64>,
        start: i64,
        end: i64,
        thread: Option<i64>,
    }
    let mut known: HashMap<(Option<i64>, i64), Node> = HashMap::new();
    let sql = "SELECT global_pid, node_id, original_node_id, start_ns, end_ns, global_tid \
               FROM all_graph_node ORDER BY start_ns DESC, end_ns DESC";
    reader.rows(sql, |cells| {
        if let (Some(node), Some(start), Some(end)) = (cells.int(1), cells.time(3)?, cells.time(4)?) {
            let original = cells.int(2).filter(|&original| original != 0 && original != node);
            known.insert((cells.int(0), node), Node { original, start, end, thread: cells.int(5) });
        }
        Ok(())
    })?;
    let process_of_thread: Vec<i64> = ids.threads.values().iter().map(|id| id & PROCESS).collect();
    let mut placed: HashMap<(u32, i64), u32> = HashMap::new();
    let of_graphs = |&(&mut Op { launch, .. }, &node): &(&mut Op, &i64)| node != 0 && launch != NONE;
    for (op, &node) in capture.ops.iter_mut().zip(nodes).filter(of_graphs) {
        let launch = capture.launches[op.launch as usize];
        let process = Some(process_of_thread[launch.thread as usize]);
        // A node of an executable graph is a clone. Follow it to the node that was captured: its ranges
        // were open then.
        let mut at = node;
        let mut found = known.get(&(process, at));
        for _ in 0..MAX_CLONES {
            let Some(original) = found.and_then(|node| node.original) else { break };
            let Some(above) = known.get(&(process, original)) else { break };
            (at, found) = (original, Some(above));
        }
        let Some(node) = found else { continue };
        let key = (op.launch, at);
        let fresh = capture.launches.len() as u32;
        op.launch = *placed.entry(key).or_insert(fresh);
        if op.launch == fresh {
            let thread = ids.threads.place(node.thread.unwrap_or(NO_ID));
            capture.launches.push(Launch { start: node.start, end: node.end, thread, ..launch });
        }
    }
    // Calls whose operations all moved to their nodes launch nothing themselves.
    capture.drop_unused_launches();
    Ok(())
}

/// Numbers processes and threads by their ids, so that the threads of a process are consecutive.
fn renumber(capture: &mut Capture, ranges: Ranges, ids: &Interners) {
    let (processes, threads) = (ids.processes.values(), ids.threads.values());
    let process_of = |thread: i64| if thread == NO_ID { NO_ID } else { thread & PROCESS };
    let mut all: Vec<i64> = processes.clone();
    all.extend(threads.iter().map(|&thread| process_of(thread)));
    all.sort_unstable();
    all.dedup();
    let process_at = |id: i64| all.partition_point(|&known| known < id) as u32;
    let unsorted: Vec<Thread> = threads
        .iter()
        .map(|&global_tid| Thread { process: process_at(process_of(global_tid)), global_tid })
        .collect();
    let mut sorted = unsorted.clone();
    sorted.sort_unstable();
    let process_of: Vec<u32> = processes.iter().map(|&id| process_at(id)).collect();
    let thread_of: Vec<u32> =
        unsorted.iter().map(|thread| sorted.partition_point(|known| known < thread) as u32).collect();
    let Capture { ops, calls, launches, .. } = capture;
    let renumber_rest = || {
        ops.iter_mut().for_each(|op| op.process = process_of[op.process as usize]);
        calls.iter_mut().for_each(|call| call.thread = thread_of[call.thread as usize]);
        launches.iter_mut().for_each(|launch| launch.thread = thread_of[launch.thread as usize]);
    };
    (capture.ranges, ()) = threads::both(|| ranges.renumbered(&thread_of), renumber_rest);
    (capture.processes, capture.threads) = (all, sorted);
}
