//! Reads NVTX ranges, and places those of autograd.

use super::interner::{Interners, Known};
use super::names::{Name, Names};
use crate::execute::native::ids::{NO_ID, Numbered, PROCESS};
use crate::execute::native::reader::Reader;
use crate::execute::native::texts::Texts;
use crate::normalize::Input;
use foldhash::{HashMap, HashMapExt};
use nsq_sweep::projection::{Capture, Launch, NONE, Range, Ranges as Columns, Thread};
use nsq_sweep::threads::Threads;
use nsq_value::error::{Error, Result};
use std::collections::hash_map::Entry;
use std::hash::Hash;
use std::mem;
use std::sync::Arc;

/// The event type of a domain's creation.
const DOMAIN_CREATED: i64 = 75;

/// A range's name before registered messages are looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct RawName {
    /// A place in the part's domains; [`NONE`] outside any domain.
    pub(super) domain: u32,
    pub(super) text: RawText,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum RawText {
    None,
    /// A place in the part's string IDs.
    Registered(u32),
    /// A place in the part's texts.
    Given(u32),
}

/// Ranges in reading order.
pub(super) struct Ranges {
    /// For each part: its ranges by thread, and its names as places in all names.
    pub(super) parts: Vec<(Vec<Columns>, Vec<u32>)>,
    /// The end of ranges without an end.
    pub(super) last: i64,
}

/// Buckets of ranges by thread. All threads above this number share the last bucket.
const BUCKETS: usize = 1024;

impl Ranges {
    /// All ranges with their final thread and name numbers, bucket by bucket in order of thread.
    ///
    /// A range without an end lasts until the last range or CUDA call.
    pub(super) fn renumbered(mut self, thread_of: &[u32]) -> Columns {
        let all = self.parts.iter().flat_map(|(threads, _)| threads);
        let mut ranges = Columns::with_capacity(all.map(Columns::len).sum());
        let mut order: Vec<usize> = (0..thread_of.len().min(BUCKETS)).collect();
        order.sort_unstable_by_key(|&thread| thread_of[thread]);
        for thread in order {
            for (threads, name_of) in &mut self.parts {
                let here = threads.get_mut(thread).map(mem::take).unwrap_or_default();
                for (place, range) in here.iter().enumerate() {
                    ranges.push(Range {
                        thread: thread_of[range.thread as usize],
                        name: name_of[range.name as usize],
                        end: if here.is_endless(place) { self.last } else { range.end },
                        ..range
                    });
                }
            }
        }
        ranges
    }
}

/// The process and id of a domain.
type DomainKey = (i64, i64);

pub(super) fn read_ranges(
    reader: &mut Reader,
    input: &Input,
    ids: &Interners,
) -> Result<(Ranges, Names)> {
    #[derive(Default)]
    struct Part {
        /// By thread.
        ranges: Vec<Columns>,
        threads: Known<i64>,
        names: Numbered<RawName>,
        texts: Texts,
        /// String IDs of registered names.
        registered: Numbered<i64>,
        /// The last start or end of any range.
        last: Option<i64>,
        /// Whether a range has no end.
        has_open: bool,
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
        let registered = cells.int(4).map(|id| RawText::Registered(part.registered.place(id)));
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
            part.ranges.resize_with(place + 1, Columns::default);
        }
        let range = Range {
            start,
            end: end.unwrap_or(start),
            id,
            thread,
            name: part.names.place(RawName { domain: domain.unwrap_or(NONE), text }),
            is_push_pop: matches!(event_type, Some(59 | 70)),
            is_cross_thread: cells.int(7).is_some(),
        };
        match end {
            Some(_) => part.ranges[place].push(range),
            None => {
                part.has_open = true;
                part.ranges[place].push_endless(range);
            }
        }
        Ok(())
    })?;
    let mut names = Names::default();
    let mut place_of = |names: &mut Names, part: &Part, text| match text {
        RawText::None => Ok(NONE),
        RawText::Given(place) => Ok(names.place_text(part.texts.bytes(place))),
        RawText::Registered(place) => {
            let text = reader.text_of(part.registered.values[place as usize])?;
            Ok::<_, Error>(text.map_or(NONE, |text| names.place_text(&text)))
        }
    };
    let mut domains: HashMap<DomainKey, u32> = HashMap::new();
    let mut created: Vec<(&Part, (i64, DomainKey, RawText))> = Vec::new();
    parts.iter().for_each(|part| created.extend(part.created.iter().map(|&row| (part, row))));
    // A domain that was created twice keeps its first name.
    created.sort_by_key(|&(_, (id, ..))| id);
    for (part, (_, domain, name)) in created {
        if let Entry::Vacant(unknown) = domains.entry(domain) {
            unknown.insert(place_of(&mut names, part, name)?);
        }
    }
    let last = parts.iter().filter_map(|part| part.last).max().unwrap_or_default();
    let has_open = parts.iter().any(|part| part.has_open);
    let mut ranges = Ranges { parts: Vec::new(), last };
    for part in parts {
        let mut name_of = Vec::with_capacity(part.names.values.len());
        for &RawName { domain, text } in &part.names.values {
            let domain = part.domains.values.get(domain as usize).and_then(|key| domains.get(key));
            let name = Name {
                domain: domain.copied().unwrap_or(NONE),
                is_domain_nameless: domain == Some(&NONE),
                text: place_of(&mut names, &part, text)?,
            };
            name_of.push(names.place(name));
        }
        ranges.parts.push((part.ranges, name_of));
    }
    names.finish();
    // In NVIDIA's reports, open ranges last until the last range.
    if has_open
        && !input.scope.as_recorded
        && input.reads("all_cuda_call")
        && let Some(call) = last_call(reader)?
    {
        ranges.last = last.max(call);
    }
    Ok((ranges, names))
}

/// The end of the last CUDA call.
fn last_call(reader: &mut Reader) -> Result<Option<i64>> {
    let mut last = None;
    reader.rows("SELECT max(end_ns) FROM all_cuda_call", |cells| {
        last = cells.time(0)?;
        Ok(())
    })?;
    Ok(last)
}

/// The longest chain of clones to follow. A graph is captured, instantiated, and sometimes copied.
const MAX_CLONES: usize = 64;

/// Gives each node of a CUDA graph its own launch, at the time and on the thread of the node's creation.
///
/// `nodes` has the graph node of each operation.
pub(super) fn place_at_creation(
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
    let Capture { ops, launches, .. } = capture;
    let of_graphs = |(of_op, node): &(&mut u32, &i64)| **node != 0 && **of_op != NONE;
    for (of_op, &node) in ops.launches_mut().iter_mut().zip(nodes).filter(of_graphs) {
        let launch = launches.at(*of_op as usize);
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
        let fresh = launches.len() as u32;
        let place = *placed.entry((*of_op, at)).or_insert(fresh);
        if place == fresh {
            let thread = ids.threads.place(node.thread.unwrap_or(NO_ID));
            launches.push_of(*of_op, Launch { start: node.start, end: node.end, thread, ..launch });
        }
        *of_op = place;
    }
    // Calls whose operations all moved to their nodes launch nothing themselves.
    capture.drop_unused_launches();
    Ok(())
}

/// Numbers processes and threads by their ids, so that the threads of a process are consecutive.
pub(super) fn renumber(capture: &mut Capture, ranges: Ranges, ids: &Interners, share: Threads) {
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
    let Capture { ops, launches, .. } = capture;
    let renumber_rest = || {
        ops.processes_mut().iter_mut().for_each(|process| *process = process_of[*process as usize]);
        launches.threads_mut().for_each(|thread| *thread = thread_of[*thread as usize]);
    };
    let (ranges, ()) = share.both(|| ranges.renumbered(&thread_of), renumber_rest);
    capture.ranges = Arc::new(ranges);
    (capture.processes, capture.threads) = (all, sorted);
}
