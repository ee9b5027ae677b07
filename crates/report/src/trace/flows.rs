//! Arrows between a call and the GPU work that it launched.

use super::category::RUNTIME;
use super::event::Event;
use super::ids::global_pid;
use super::lenient::IdValue;
use super::places::Writer;
use super::record::Recorder;
use super::tables::{Row, Table};
use foldhash::HashMap;

/// Maximum arrows that are kept while all GPU work names its call.
const KEPT: usize = 100_000;

/// An end of an arrow: process and thread as the import numbers them, and time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Corner {
    pub(super) process: i64,
    pub(super) thread: i64,
    pub(super) at_ns: i64,
}

/// A launch that only an arrow shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shown {
    pub(super) start_ns: i64,
    pub(super) thread: i64,
    pub(super) correlation: i64,
}

/// The arrows of a trace.
#[derive(Debug, Default)]
pub(super) struct Flows {
    /// Arrow → where it begins, and whether only the arrow shows the launch.
    begins: HashMap<i64, (Corner, bool)>,
    /// Where an arrow ends → the arrow.
    ends: HashMap<Corner, i64>,
    is_dropped: bool,
}

/// Correlation IDs of launches that only an arrow shows are numbered from here. They have 32 bits.
const SHOWN: i64 = 1 << 30;

impl Flows {
    pub(super) fn begin(&mut self, arrow: i64, at: Corner, only_shown: bool) {
        self.begins.entry(arrow).or_insert((at, only_shown));
    }

    pub(super) fn end(&mut self, arrow: i64, at: Corner) {
        self.ends.entry(at).or_insert(arrow);
    }

    /// The correlation ID for the work at the end of an arrow, and the launch if only the arrow shows it.
    pub(super) fn at_end(&self, end: Corner) -> Option<(i64, Option<Shown>)> {
        let arrow = *self.ends.get(&end)?;
        let (begin, only_shown) = self.begins.get(&arrow)?;
        if !only_shown {
            return Some((arrow, None));
        }
        let correlation = SHOWN + arrow;
        let thread = global_pid(begin.process) | begin.thread;
        Some((correlation, Some(Shown { start_ns: begin.at_ns, thread, correlation })))
    }

    /// Forgets the arrows of a trace whose GPU work names its calls.
    fn limit(&mut self, is_waited_for: bool) {
        if !is_waited_for && self.begins.len() + self.ends.len() > KEPT {
            *self = Self { is_dropped: true, ..Self::default() };
        }
    }
}

impl Recorder {
    /// Where an event lies.
    pub(super) fn corner(&mut self, event: &Event<'_>, at_ns: i64) -> Corner {
        Corner { process: self.ids.of(&event.pid.0), thread: self.ids.of(&event.tid.0), at_ns }
    }

    /// Takes an end of an arrow from a launch to its work. In Kineto, the arrow has the launch's correlation ID.
    pub(super) fn flow(&mut self, event: &Event<'_>) {
        let category = &*event.category.0;
        let is_launch = matches!(category, "ac2g" | "async_cpu_to_gpu" | "cpu_to_cuda" | "async_npu");
        if !is_launch || self.links.flows.is_dropped {
            return;
        }
        let (Some(IdValue::Number(arrow)), Some(at_ns)) = (&event.flow.0, event.start.0) else { return };
        let mut corner = self.corner(event, at_ns);
        if event.phase.0 == "s" {
            corner.process = self.places.whole(corner.process);
            let is_legacy = matches!(&event.pid.0, Some(IdValue::Word(word)) if word == "CPU functions");
            self.links.flows.begin(*arrow, corner, is_legacy || category == "async_npu");
        } else {
            self.links.flows.end(*arrow, corner);
        }
        self.links.flows.limit(self.links.is_waited_for());
    }

    /// Adds the launches that only arrows show, as calls of 1 ns: an event from 0 to 0 has impossible times.
    pub(super) fn show_launches(&mut self, launches: Vec<Shown>) {
        if launches.is_empty() {
            return;
        }
        let name = self.text("launch (arrow in the trace)");
        for launch in launches {
            let process = launch.thread >> 24 & 0xff_ffff;
            *self.processes.entry(process).or_default() = true;
            let cells = [Some(launch.thread), Some(RUNTIME), Some(launch.correlation), Some(name), None];
            self.batch.rows.push(Row::new(Table::Call, (launch.start_ns, launch.start_ns + 1), cells));
        }
    }

    /// What wrote the trace.
    pub(super) fn writer(&self) -> Writer {
        self.places.writer
    }
}
