//! The relations of a report → a projection.

use super::names::{Name, Names};
use crate::error::{Error, Result};
use crate::execute::guard::{self, Limits};
use crate::execute::native::ids::{NOBODY, Numbered, PROCESS};
use crate::execute::native::reader::Reader;
use crate::execute::native::texts::Texts;
use crate::normalize::{Attribute, Input, Scope};
use crate::projection::{
    Attribution, Call, Capture, Failure, Keep, Kernel, Launch, Links, NONE, Op, OpKind, Projection,
    Range, Reach, Thread,
};
use crate::threads;
use foldhash::{HashMap, HashMapExt};
use std::hash::Hash;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, PoisonError};

/// A capture in the order in which it was read, with the names of its ranges.
pub(super) struct Loaded {
    pub(super) capture: Capture,
    pub(super) names: Names,
    /// What the numbers of kernels' names stand for, where the names are asked for.
    pub(super) kernel_names: HashMap<i64, String>,
}

/// Reads what an input asks for.
pub(super) fn load(database: &Path, input: &Input, limits: &Limits) -> Result<Loaded> {
    let given_up = AtomicBool::new(false);
    let loaded = load_by(database, input, limits, Some(&given_up));
    // What was told before pages were given up has left its processes and threads behind.
    if !given_up.into_inner() {
        return loaded;
    }
    drop(loaded);
    load_by(database, input, limits, None)
}

/// Reads ranges and what is launched side by side.
fn load_by(
    database: &Path,
    input: &Input,
    limits: &Limits,
    given_up: Option<&AtomicBool>,
) -> Result<Loaded> {
    let ids = Interners::default();
    let reader = || Reader::new(database, &input.statements, limits, given_up);
    let ranges = || read_ranges(&mut reader(), &ids);
    let launched = || read_launched(&mut reader(), input, &ids);
    let (named, launched) = threads::both(ranges, launched);
    if guard::is_over(limits) {
        return Err(guard::stopped(limits));
    }
    let ((mut capture, kernel_names), (mut ranges, names)) = (launched?, named?);
    close_open_ranges(&mut ranges);
    capture.ranges = ranges;
    number(&mut capture, &ids);
    Ok(Loaded { capture, names, kernel_names })
}

/// The operations and the calls that launched them, and the names of kernels.
fn read_launched(
    reader: &mut Reader<'_>,
    input: &Input,
    ids: &Interners,
) -> Result<(Capture, HashMap<i64, String>)> {
    let by_node = input.scope.attribute == Attribute::Capture;
    let more = Columns { names: input.kernel_names, nodes: by_node };
    let mut ops = Vec::new();
    for (relation, kind) in [
        ("kernel", OpKind::Kernel),
        ("memcpy", OpKind::Memcpy),
        ("memset", OpKind::Memset),
        ("graph_trace", OpKind::Graph),
    ] {
        if input.reads(relation) {
            ops = joined(ops, read_ops(reader, relation, kind, more, ids)?);
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
        is_elsewhere: false,
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
        place_at_creation(reader, &mut capture, ids)?;
    }
    Ok((capture, kernel_names))
}

/// Attributes what was loaded.
pub(super) fn attribute(capture: Capture, scope: &Scope, limits: &Limits) -> Result<Attribution> {
    let reach = match scope.attribute {
        Attribute::Process => Reach::Process,
        Attribute::Thread | Attribute::Capture => Reach::Thread,
    };
    Attribution::new(capture, reach, &|| guard::is_over(limits)).ok_or_else(|| guard::stopped(limits))
}

/// Adds up what was attributed.
pub(super) fn project(
    attribution: Attribution,
    keep: Option<Keep<'_>>,
    limits: &Limits,
    database: &Path,
) -> Result<Projection> {
    Projection::new(attribution, keep, &|| guard::is_over(limits)).map_err(|failure| match failure {
        Failure::Stopped => guard::stopped(limits),
        Failure::Overflow => out_of_time(database, "durations that add up to more than 64 bits hold"),
    })
}

fn out_of_time(database: &Path, what: &str) -> Error {
    Error::Report {
        path: database.to_owned(),
        reason: format!("has {what}"),
        help: "its times make no sense: export the report again".to_owned(),
    }
}

/// Distinct values, numbered in order of appearance, by readers that work side by side.
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
        // A reader that panicked takes the whole run with it: what it held is not looked at again.
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

/// What one reader already knows of an interner.
#[derive(Debug)]
struct Known<T> {
    places: HashMap<T, u32>,
    /// Neighbouring rows often hold the same.
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

/// Columns of operations that not everyone needs.
#[derive(Debug, Clone, Copy)]
struct Columns {
    names: bool,
    nodes: bool,
}

/// The operations of one relation.
fn read_ops(
    reader: &mut Reader<'_>,
    relation: &str,
    kind: OpKind,
    more: Columns,
    ids: &Interners,
) -> Result<Vec<Op>> {
    #[derive(Default)]
    struct Part {
        ops: Vec<Op>,
        processes: Known<i64>,
        kernels: Known<Kernel>,
    }
    let id = format!("{relation}_id");
    let mut columns = format!("{id}, start_ns, end_ns, global_pid, correlation_id");
    let has_names = more.names && kind == OpKind::Kernel;
    if has_names {
        columns.push_str(", name_id, short_name_id, mangled_name_id");
    }
    let node = (more.nodes && kind != OpKind::Graph).then(|| columns.matches(',').count() + 1);
    if node.is_some() {
        columns.push_str(", graph_node_id");
    }
    let parts = reader.scan(relation, &id, &columns, |part: &mut Part, cells| {
        let (Some(id), Some(start), Some(end)) = (cells.int(0), cells.time(1)?, cells.time(2)?) else {
            return Ok(());
        };
        let name = |column| cells.int(column).unwrap_or(NOBODY);
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
            process: part.processes.place(cells.int(3).unwrap_or(NOBODY), &ids.processes),
            launch: NONE,
            kernel,
            node: node.and_then(|column| cells.int(column)).unwrap_or_default(),
            kind,
        });
        Ok(())
    })?;
    Ok(parts.into_iter().map(|part| part.ops).reduce(joined).unwrap_or_default())
}

fn joined<T>(mut first: Vec<T>, mut second: Vec<T>) -> Vec<T> {
    if first.is_empty() {
        return second;
    }
    first.append(&mut second);
    first
}

/// The calls that launched something, each with the slot of what it launched.
fn read_calls(reader: &mut Reader<'_>, links: &Links, ids: &Interners) -> Result<Vec<(u32, Call)>> {
    #[derive(Default)]
    struct Part {
        calls: Vec<(u32, Call)>,
        threads: Known<i64>,
        /// Of each thread that was met, its process as the operations have it.
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

/// The end of a range that the export gives none.
const OPEN: i64 = i64::MAX;

/// A range's name before registered messages are looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct RawName {
    domain: Domain,
    text: RawText,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Domain {
    name: u32,
    is_nameless: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum RawText {
    None,
    Registered(i64),
    /// A place in the texts of the part that read it.
    Given(u32),
}

fn read_ranges(reader: &mut Reader<'_>, ids: &Interners) -> Result<(Vec<Range>, Names)> {
    #[derive(Default)]
    struct Part {
        ranges: Vec<Range>,
        threads: Known<i64>,
        names: Numbered<RawName>,
        texts: Texts,
        last_domain: Option<((i64, i64), Domain)>,
    }
    let mut names = Names::default();
    let mut domains: HashMap<(i64, i64), Domain> = HashMap::new();
    reader.rows("SELECT pid, domain_id, domain_name FROM all_nvtx_domain", |cells| {
        if let (Some(pid), Some(domain)) = (cells.int(0), cells.int(1)) {
            let name = cells.text(2).map(|name| names.place_text(name));
            let known = Domain { name: name.unwrap_or(NONE), is_nameless: name.is_none() };
            domains.insert((pid, domain), known);
        }
        Ok(())
    })?;
    let outside = Domain { name: NONE, is_nameless: false };
    let columns =
        "range_id, start_ns, end_ns, event_type, text_id, domain_id, global_tid, end_global_tid, text";
    let parts = reader.scan("all_nvtx_span", "range_id", columns, |part: &mut Part, cells| {
        let (Some(id), Some(start)) = (cells.int(0), cells.time(1)?) else { return Ok(()) };
        let thread = cells.int(6).unwrap_or(NOBODY);
        let domain = match cells.int(5).map(|domain| (thread >> 24 & 0xFF_FFFF, domain)) {
            None => outside,
            // Neighbouring rows often hold the same.
            Some(key) => match part.last_domain {
                Some((last, domain)) if last == key => domain,
                _ => {
                    let domain = domains.get(&key).copied().unwrap_or(outside);
                    part.last_domain = Some((key, domain));
                    domain
                }
            },
        };
        let text = match cells.int(4) {
            Some(id) => RawText::Registered(id),
            None => cells.text(8).map_or(RawText::None, |text| RawText::Given(part.texts.place(text))),
        };
        part.ranges.push(Range {
            start,
            end: cells.time(2)?.unwrap_or(OPEN),
            id,
            thread: part.threads.place(thread, &ids.threads),
            name: part.names.place(RawName { domain, text }),
            is_push_pop: matches!(cells.int(3), Some(59 | 70)),
            is_cross_thread: cells.int(7).is_some(),
        });
        Ok(())
    })?;
    let mut ranges = Vec::new();
    for mut part in parts {
        let mut name_of = Vec::with_capacity(part.names.values.len());
        for RawName { domain, text } in part.names.values {
            let text = match text {
                RawText::None => NONE,
                RawText::Given(place) => names.place_text(part.texts.bytes(place)),
                RawText::Registered(id) => {
                    reader.text_of(id)?.map_or(NONE, |text| names.place_text(&text))
                }
            };
            let name = Name { domain: domain.name, is_domain_nameless: domain.is_nameless, text };
            name_of.push(names.place(name));
        }
        part.ranges.iter_mut().for_each(|range| range.name = name_of[range.name as usize]);
        ranges = joined(ranges, part.ranges);
    }
    names.finish();
    Ok((ranges, names))
}

/// A range without an end lasts as long as anything does, as in NVIDIA's reports.
fn close_open_ranges(ranges: &mut [Range]) {
    let end_of =
        |range: &Range| if range.end == OPEN { range.start } else { range.end.max(range.start) };
    let last = ranges.iter().map(end_of).max().unwrap_or_default();
    ranges.iter_mut().filter(|range| range.end == OPEN).for_each(|range| range.end = last);
}

/// Clones of clones that are followed back: a graph is captured, instantiated, perhaps copied.
const MOST_CLONES: usize = 64;

/// Gives each node of a CUDA graph a launch of its own, at the time and on the thread of its creation.
fn place_at_creation(reader: &mut Reader<'_>, capture: &mut Capture, ids: &Interners) -> Result<()> {
    struct Node {
        original: Option<i64>,
        start: i64,
        end: i64,
        thread: Option<i64>,
    }
    let mut nodes: HashMap<(Option<i64>, i64), Node> = HashMap::new();
    let sql = "SELECT global_pid, node_id, original_node_id, start_ns, end_ns, global_tid \
               FROM all_graph_node ORDER BY start_ns DESC, end_ns DESC";
    reader.rows(sql, |cells| {
        if let (Some(node), Some(start), Some(end)) = (cells.int(1), cells.time(3)?, cells.time(4)?) {
            let original = cells.int(2).filter(|&original| original != 0 && original != node);
            nodes.insert((cells.int(0), node), Node { original, start, end, thread: cells.int(5) });
        }
        Ok(())
    })?;
    let process_of_thread: Vec<i64> = ids.threads.values().iter().map(|id| id & PROCESS).collect();
    let mut placed: HashMap<(u32, i64), u32> = HashMap::new();
    for op in capture.ops.iter_mut().filter(|op| op.node != 0 && op.launch != NONE) {
        let launch = capture.launches[op.launch as usize];
        let process = Some(process_of_thread[launch.thread as usize]);
        // A node of an executable graph is a clone of one that was captured: that is where its ranges were.
        let mut at = op.node;
        let mut found = nodes.get(&(process, at));
        for _ in 0..MOST_CLONES {
            let Some(original) = found.and_then(|node| node.original) else { break };
            let Some(above) = nodes.get(&(process, original)) else { break };
            (at, found) = (original, Some(above));
        }
        let Some(node) = found else { continue };
        let key = (op.launch, at);
        let fresh = capture.launches.len() as u32;
        op.launch = *placed.entry(key).or_insert(fresh);
        if op.launch == fresh {
            let thread = ids.threads.place(node.thread.unwrap_or(NOBODY));
            capture.launches.push(Launch { start: node.start, end: node.end, thread, ..launch });
        }
    }
    // A call whose operations have all found their own place launches nothing itself.
    capture.drop_idle_launches();
    Ok(())
}

/// Numbers processes and threads by their ids, those of a process together.
fn number(capture: &mut Capture, ids: &Interners) {
    let (processes, threads) = (ids.processes.values(), ids.threads.values());
    let process_of = |thread: i64| if thread == NOBODY { NOBODY } else { thread & PROCESS };
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
    let Capture { ops, calls, launches, ranges, .. } = capture;
    let number_threads = || {
        launches.iter_mut().for_each(|launch| launch.thread = thread_of[launch.thread as usize]);
        ranges.iter_mut().for_each(|range| range.thread = thread_of[range.thread as usize]);
    };
    let number_rest = || {
        ops.iter_mut().for_each(|op| op.process = process_of[op.process as usize]);
        calls.iter_mut().for_each(|call| call.thread = thread_of[call.thread as usize]);
    };
    threads::both(number_threads, number_rest);
    (capture.processes, capture.threads) = (all, sorted);
}
