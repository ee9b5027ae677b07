//! Events → rows: maps each Kineto category to a table of nsys.

use super::category::{Category, Domain, PUSHED};
use super::event::Event;
use super::ids::{Copy, ID_BITS, Ids, between_parentheses, global_pid, memory_kind, times};
use super::lenient::IdValue;
use super::merged::{Merged, rank_of};
use super::tables::{Batch, Row, Table, UNTIMED};
use super::{ImportOptions, Imported};
use foldhash::{HashMap, HashMapExt};
use nsq_sweep::classify::FunctionName;
use nsq_value::error::{Error, Result};
use std::collections::BTreeMap;
use std::sync::mpsc::SyncSender;

/// Rows in a batch.
const BATCH: usize = 4096;

/// A synchronization that names no stream, or no event.
const NONE: i64 = 4_294_967_295;

/// The number of events of a category, and of those that became rows.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Count {
    pub(super) events: u64,
    pub(super) rows: u64,
}

/// Maximum categories with a count of their own. A real trace has about twenty.
const CATEGORIES: usize = 256;

/// Turns events into rows, in the order of the trace.
pub(super) struct Recorder {
    pub(super) options: ImportOptions,
    pub(super) batches: SyncSender<Batch>,
    pub(super) batch: Batch,
    pub(super) texts: HashMap<Box<str>, i64>,
    /// Text id of a kernel's name → text id of its short name.
    pub(super) short_names: HashMap<i64, i64>,
    pub(super) ids: Ids,
    /// Names from metadata events. The trace also names GPUs and streams as processes and threads.
    pub(super) process_names: BTreeMap<i64, String>,
    pub(super) thread_names: BTreeMap<(i64, i64), String>,
    /// Processes with CPU events → whether they have API calls.
    pub(super) processes: BTreeMap<i64, bool>,
    /// The process that GPU rows are assigned to, once one is known.
    pub(super) owner: Option<i64>,
    /// Some GPU rows were written before `owner` was known.
    pub(super) has_unowned: bool,
    /// The devices of ranks, if the trace is made from several.
    pub(super) merged: Merged,
    /// Process and domain → a thread that uses the domain.
    pub(super) domains: BTreeMap<(i64, Domain), i64>,
    /// Context and stream of GPU work → the stream's priority.
    pub(super) streams: BTreeMap<(Option<i64>, i64), Option<i64>>,
    pub(super) counts: HashMap<Box<str>, Count>,
    /// Ranges so far. The table numbers its rows in this order, from 1.
    pub(super) ranges: i64,
    /// First start and last end of the rows and of the profiler's own span.
    pub(super) span_ns: Option<(i64, i64)>,
    pub(super) has_phases: bool,
    pub(super) imported: Imported,
}

impl Recorder {
    pub(super) fn new(options: ImportOptions, batches: SyncSender<Batch>) -> Self {
        Self {
            options,
            batches,
            batch: Batch::default(),
            texts: HashMap::new(),
            short_names: HashMap::new(),
            ids: Ids::default(),
            process_names: BTreeMap::new(),
            thread_names: BTreeMap::new(),
            processes: BTreeMap::new(),
            owner: None,
            has_unowned: false,
            merged: Merged::default(),
            domains: BTreeMap::new(),
            streams: BTreeMap::new(),
            counts: HashMap::new(),
            ranges: 0,
            span_ns: None,
            has_phases: false,
            imported: Imported::default(),
        }
    }

    /// Like [`Self::take`], for an event whose text was repaired.
    pub(super) fn take_repaired(&mut self, event: &Event<'_>) -> Result<()> {
        self.imported.repaired += 1;
        self.take(event)
    }

    /// Turns an event into a row if its category is imported.
    pub(super) fn take(&mut self, event: &Event<'_>) -> Result<()> {
        self.imported.events += 1;
        self.has_phases |= !event.phase.0.is_empty();
        let is_timed = event.phase.0 == "X";
        let category = match Category::of(&event.category.0, self.options) {
            category if is_timed => category,
            category => {
                let is_half = matches!(&*event.phase.0, "B" | "E") && category != Category::Other;
                self.imported.begin_end_events += u64::from(is_half);
                Category::Other
            }
        };
        let is_row = match (category, times(event)) {
            (Category::Other, _) => {
                if event.phase.0 == "M" {
                    self.name(event);
                }
                false
            }
            (_, None) => {
                self.imported.invalid_times += 1;
                false
            }
            (category, Some(times)) => {
                let is_untimed = times == UNTIMED && category.is_gpu_work();
                if !is_untimed {
                    let (start_ns, end_ns) = self.span_ns.unwrap_or(times);
                    self.span_ns = Some((start_ns.min(times.0), end_ns.max(times.1)));
                }
                self.row(category, times, event)
            }
        };
        self.count(event, is_row);
        if self.batch.rows.len() >= BATCH { self.send() } else { Ok(()) }
    }

    fn row(&mut self, category: Category, times: (i64, i64), event: &Event<'_>) -> bool {
        let args = &event.args;
        let row = match category {
            Category::Kernel => {
                let name = self.text(&event.name.0);
                let short_name = self.short_name(name, &event.name.0);
                let [process, device, context, stream, correlation] = self.place(event);
                self.collective(process, times, event);
                let ([x, y, z], [bx, by, bz]) = (args.grid, args.block);
                let cells = [
                    process,
                    device,
                    context,
                    stream,
                    correlation,
                    Some(name),
                    Some(short_name),
                    args.registers.0,
                    x.0,
                    y.0,
                    z.0,
                    bx.0,
                    by.0,
                    bz.0,
                    args.graph_node.0,
                    args.graph.0,
                ];
                Row::new(Table::Kernel, times, cells)
            }
            Category::Memcpy => {
                let [process, device, context, stream, correlation] = self.place(event);
                let copy = Copy::of(&event.name.0, &args.kind.0);
                let cells = [
                    process,
                    device,
                    context,
                    stream,
                    correlation,
                    args.bytes.0,
                    Some(copy.direction),
                    copy.from,
                    copy.to,
                    args.from_device.0,
                    args.to_device.0,
                    args.graph_node.0,
                ];
                Row::new(Table::Memcpy, times, cells)
            }
            Category::Memset => {
                let [process, device, context, stream, correlation] = self.place(event);
                let memory = between_parentheses(&event.name.0).and_then(memory_kind);
                let cells = [
                    process,
                    device,
                    context,
                    stream,
                    correlation,
                    args.bytes.0,
                    memory,
                    args.graph_node.0,
                ];
                Row::new(Table::Memset, times, cells)
            }
            Category::Sync => {
                let [process, device, context, stream, correlation] = self.place(event);
                let kind = if args.kind.0.is_empty() { &event.name.0 } else { &args.kind.0 };
                let event_id = args.event.0.or(Some(0));
                // The codes are those of schema 3.25. In every schema, the type also follows from which
                // of stream and event is set.
                let (code, stream, event_id) = match &**kind {
                    "Event Sync" => (1, Some(NONE), event_id),
                    "Stream Wait Event" => (2, stream, event_id),
                    "Stream Sync" => (3, stream, Some(NONE)),
                    _ => (4, Some(NONE), Some(NONE)),
                };
                let cells = [process, device, context, stream, correlation, Some(code), event_id];
                Row::new(Table::Sync, times, cells)
            }
            Category::Call { class } => {
                let name = self.text(&event.name.0);
                let thread = self.thread(event, true);
                let cells = [Some(thread), Some(class), args.correlation.0, Some(name), None];
                Row::new(Table::Call, times, cells)
            }
            Category::Overhead => {
                let (name, thread) = (self.text(&event.name.0), self.thread(event, false));
                Row::new(Table::Overhead, times, [Some(thread), Some(name)])
            }
            Category::Range(domain) => {
                let (name, thread) = (self.text(&event.name.0), self.thread(event, false));
                self.domains.entry((thread >> ID_BITS, domain)).or_insert(thread);
                self.ranges += 1;
                self.inputs(thread, times, event);
                let sequence = args.sequence.0;
                let cells = [Some(thread), Some(PUSHED), Some(name), Some(domain as i64), sequence];
                Row::new(Table::Range, times, cells)
            }
            Category::Profiler | Category::Other => return false,
        };
        self.batch.rows.push(row);
        true
    }

    /// Adds what PyTorch says of a kernel that runs a collective.
    fn collective(&mut self, process: Option<i64>, times: (i64, i64), event: &Event<'_>) {
        let of = &event.args.collective;
        if of.name.0.is_empty() {
            return;
        }
        let [name, group, ranks, data_type] =
            [&of.name, &of.group, &of.group_ranks, &of.data_type].map(|text| self.text(&text.0));
        let cells = [
            process,
            event.args.correlation.0,
            Some(name),
            Some(group),
            Some(ranks),
            of.group_size.0,
            Some(data_type),
            of.in_elements.0,
            of.out_elements.0,
            of.source.0,
            of.destination.0,
            of.sequence.0,
        ];
        self.batch.rows.push(Row::new(Table::Collective, times, cells));
    }

    /// Adds the inputs of an operator, which belong to the range that comes next.
    fn inputs(&mut self, thread: i64, times: (i64, i64), event: &Event<'_>) {
        if let Some(text) = event.args.inputs.to_json() {
            let cells = [Some(thread), Some(self.ranges), Some(self.text(&text))];
            self.batch.rows.push(Row::new(Table::Input, times, cells));
        }
    }

    /// Process, device, context, stream and correlation id of GPU work.
    fn place(&mut self, event: &Event<'_>) -> [Option<i64>; 5] {
        let args = &event.args;
        if self.owner.is_none() {
            let caller = self.processes.iter().find(|(_, has_calls)| **has_calls);
            self.owner = caller.or_else(|| self.processes.iter().next()).map(|(process, _)| *process);
            self.has_unowned |= self.owner.is_none();
        }
        let number = |id: &Option<IdValue<'_>>| match id {
            Some(IdValue::Number(number)) => Some(*number),
            // Before PyTorch 1.12, traces have `stream 7` here.
            Some(IdValue::Word(word)) => word.rsplit(' ').next().and_then(|last| last.parse().ok()),
            None => None,
        };
        let device = args.device.0.or_else(|| number(&event.pid.0));
        let stream = args.stream.0.or_else(|| number(&event.tid.0));
        if let Some(stream) = stream {
            let priority = self.streams.entry((args.context.0, stream)).or_default();
            *priority = priority.or(args.priority.0);
        }
        let mut process = self.owner;
        if rank_of(&event.pid.0).is_some() {
            let rank = self.process(event);
            process = Some(rank);
            self.merged.used.extend(device.map(|device| (rank, device)));
        }
        [process.map(global_pid), device, args.context.0, stream, args.correlation.0]
    }

    /// The process of an event. In a merged trace, each rank is one.
    fn process(&mut self, event: &Event<'_>) -> i64 {
        match rank_of(&event.pid.0) {
            Some(rank) => self.ids.of(&Some(IdValue::Word(rank.into()))),
            None => self.ids.of(&event.pid.0),
        }
    }

    /// The global thread id of a CPU event.
    fn thread(&mut self, event: &Event<'_>, is_call: bool) -> i64 {
        let process = self.process(event);
        let thread = self.ids.of(&event.tid.0);
        if let Some(name) = self.ids.original(thread) {
            self.thread_names.entry((process, thread)).or_insert_with(|| format!("thread {name}"));
        }
        *self.processes.entry(process).or_default() |= is_call;
        global_pid(process) | thread
    }

    /// Stores the process or thread name of a metadata event.
    fn name(&mut self, event: &Event<'_>) {
        let (process, thread) = (self.process(event), self.ids.of(&event.tid.0));
        let name = event.args.name.0.trim();
        match &*event.name.0 {
            // A rank has several processes and devices, each with a name.
            "process_name" if !name.is_empty() && rank_of(&event.pid.0).is_none() => {
                self.process_names.insert(process, name.to_owned());
            }
            "thread_name" if !name.is_empty() => {
                self.thread_names.insert((process, thread), name.to_owned());
            }
            _ => {}
        }
    }

    /// The id of a text in `StringIds`.
    pub(super) fn text(&mut self, text: &str) -> i64 {
        if let Some(number) = self.texts.get(text) {
            return *number;
        }
        let number = self.texts.len() as i64 + 1;
        self.texts.insert(text.into(), number);
        self.batch.texts.push((number, text.into()));
        number
    }

    fn short_name(&mut self, number: i64, name: &str) -> i64 {
        if let Some(short) = self.short_names.get(&number) {
            return *short;
        }
        let short = self.text(FunctionName::of(name).own);
        self.short_names.insert(number, short);
        short
    }

    fn count(&mut self, event: &Event<'_>, is_row: bool) {
        let category = &*event.category.0;
        let category = match (category.is_empty(), &*event.phase.0) {
            (true, "M") => "(metadata)",
            (true, _) => "(none)",
            _ if self.counts.len() >= CATEGORIES && !self.counts.contains_key(category) => "(further)",
            _ => category,
        };
        let count = match self.counts.get_mut(category) {
            Some(count) => count,
            None => self.counts.entry(category.into()).or_default(),
        };
        count.events += 1;
        count.rows += u64::from(is_row);
        self.imported.rows += u64::from(is_row);
    }

    /// Sends the batch to the writer. If that fails, the writer has failed and reports the reason.
    pub(super) fn send(&mut self) -> Result<()> {
        let fresh = Batch { texts: Vec::new(), rows: Vec::with_capacity(BATCH) };
        let batch = std::mem::replace(&mut self.batch, fresh);
        self.batches.send(batch).map_err(|_| Error::Interrupted)
    }

    /// The trace has objects, but no object is an event.
    pub(super) fn saw_no_events(&self) -> bool {
        self.imported.events > 0 && !self.has_phases
    }
}
