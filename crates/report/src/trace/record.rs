//! Events → rows: maps each Kineto category to a table of nsys.

use super::category::{Category, Domain};
use super::event::Event;
use super::ids::{Ids, global_pid, times, unfinished};
use super::links::Links;
use super::merged::{Merged, Numbered, rank_of};
use super::places::{Place, Places, Writer};
use super::tables::{Batch, OPEN, UNTIMED};
use super::{ImportOptions, Imported};
use foldhash::HashMap;
use nsq_sweep::classify::FunctionName;
use nsq_value::error::{Error, Result};
use std::collections::BTreeMap;
use std::sync::mpsc::SyncSender;

/// Rows in a batch.
const BATCH: usize = 4096;

/// The number of events of a category, and of those that became rows.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Count {
    pub(super) events: u64,
    pub(super) rows: u64,
}

/// Maximum categories with a count of their own. A real trace has about twenty.
const CATEGORIES: usize = 256;

/// Turns events into rows, in the order of the trace.
#[derive(Default)]
pub(super) struct Recorder {
    pub(super) options: ImportOptions,
    batches: Option<SyncSender<Batch>>,
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
    pub(super) numbered: Numbered,
    /// GPU work that names no call.
    pub(super) links: Links,
    /// What processes and threads stand for, where events have no category.
    pub(super) places: Places,
    /// Device and stream of the event, if its place tells.
    pub(super) placed: (Option<i64>, Option<i64>),
    /// Python calls so far.
    pub(super) frames: u64,
    /// Process and domain → a thread that uses the domain.
    pub(super) domains: BTreeMap<(i64, Domain), i64>,
    /// Context and stream of GPU work → the stream's priority.
    pub(super) streams: BTreeMap<(Option<i64>, i64), Option<i64>>,
    pub(super) counts: HashMap<Box<str>, Count>,
    /// Ranges so far. The table numbers its rows in this order, from 1.
    pub(super) ranges: i64,
    /// Kernels so far, numbered like ranges.
    pub(super) kernels: i64,
    /// First start and last end of the rows and of the profiler's own span.
    pub(super) span_ns: Option<(i64, i64)>,
    pub(super) has_phases: bool,
    pub(super) imported: Imported,
}

impl Recorder {
    pub(super) fn new(options: ImportOptions, batches: SyncSender<Batch>) -> Self {
        Self { options, batches: Some(batches), ..Self::default() }
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
        let (category, times) = match &*event.phase.0 {
            "X" => match self.category(event) {
                of if of.can_be_open() => (of, times(event).or_else(|| unfinished(event))),
                of => (of, times(event)),
            },
            "i" | "I" if event.name.0 == "[memory]" => {
                (Category::Memory, event.start.0.map(|start_ns| (start_ns, start_ns)))
            }
            phase => {
                let is_half = matches!(phase, "B" | "E") && self.category(event) != Category::Other;
                self.imported.begin_end_events += u64::from(is_half);
                match phase {
                    "M" => self.name(event),
                    "s" | "f" => self.flow(event),
                    _ => {}
                }
                (Category::Other, None)
            }
        };
        let is_row = match (category, times) {
            (Category::Other, _) => false,
            (_, None) => {
                self.imported.invalid_times += 1;
                false
            }
            (category, Some(times)) => {
                let is_untimed = times == UNTIMED && category.is_gpu_work();
                let is_open = times.1 == OPEN;
                self.imported.unfinished += u64::from(is_open);
                if !is_untimed && category.spans() {
                    let (start_ns, end_ns) = self.span_ns.unwrap_or((times.0, times.0));
                    let last_ns = if is_open { times.0 } else { times.1 };
                    self.span_ns = Some((start_ns.min(times.0), end_ns.max(last_ns)));
                }
                self.row(category, times, event)
            }
        };
        self.count(event, is_row);
        if self.batch.rows.len() >= BATCH { self.send() } else { Ok(()) }
    }

    /// What an event is: by its category, else by where it lies.
    fn category(&mut self, event: &Event<'_>) -> Category {
        self.placed = (None, None);
        if !event.category.0.is_empty() {
            match &*event.category.0 {
                "Session" => self.places.writer = Writer::Onnx,
                "xpu_runtime" => self.places.writer = Writer::Xpu,
                _ => {}
            }
            return Category::of(&event.category.0);
        }
        let (process, thread) = (self.ids.of(&event.pid.0), self.ids.of(&event.tid.0));
        match self.places.of(event, process, thread) {
            Some(Place { category, device, stream }) => {
                self.placed = (device, stream);
                category
            }
            None => Category::Other,
        }
    }

    /// The process of an event. In a merged trace, each rank is one.
    pub(super) fn process(&mut self, event: &Event<'_>) -> i64 {
        match rank_of(event) {
            Some(rank) => self.merged.process(&rank, event, &mut self.ids),
            None => {
                let process = self.ids.of(&event.pid.0);
                self.places.whole(process)
            }
        }
    }

    /// The global thread id of a CPU event.
    pub(super) fn thread(&mut self, event: &Event<'_>, is_call: bool) -> i64 {
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
        let (own, process, thread) =
            (self.ids.of(&event.pid.0), self.process(event), self.ids.of(&event.tid.0));
        let name = event.args.name.0.trim();
        match &*event.name.0 {
            // A rank has several processes and devices, each with a name.
            "process_name" if !name.is_empty() && rank_of(event).is_none() => {
                self.places.name_process(own, name);
                // Ascend's runtime is a part of the Python process.
                if own == process {
                    self.process_names.insert(process, name.to_owned());
                }
            }
            "thread_name" if !name.is_empty() => {
                self.places.name_thread(own, thread, name);
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

    pub(super) fn short_name(&mut self, number: i64, name: &str) -> i64 {
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
        let sent = self.batches.as_ref().map_or(Ok(()), |batches| batches.send(batch));
        sent.map_err(|_| Error::Interrupted)
    }

    /// The trace has objects, but no object is an event.
    pub(super) fn saw_no_events(&self) -> bool {
        self.imported.events > 0 && !self.has_phases
    }
}
