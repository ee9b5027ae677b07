//! An event of a known kind → its row.

use super::category::{Category, PUSHED};
use super::event::Event;
use super::ids::{Copy, ID_BITS, between_parentheses, global_pid, memory_kind};
use super::lenient::IdValue;
use super::merged::rank_of;
use super::places::{launch_shape, size};
use super::record::Recorder;
use super::tables::{Row, Table};

/// A synchronization that names no stream, or no event.
const NONE: i64 = 4_294_967_295;

/// Maximum Python calls of a trace that are imported without being asked for.
const FRAMES: u64 = 250_000;

impl Recorder {
    /// Whether Python calls become rows.
    pub(super) fn keeps_frames(&self) -> bool {
        self.options.python_functions || self.frames <= FRAMES
    }

    /// The global ID of a thread that may have no other events.
    fn idle_thread(&mut self, event: &Event<'_>) -> i64 {
        let process = self.process(event);
        global_pid(process) | self.ids.of(&event.tid.0)
    }

    pub(super) fn row(&mut self, category: Category, times: (i64, i64), event: &Event<'_>) -> bool {
        let args = &event.args;
        let row = match category {
            Category::Kernel => {
                let name = self.text(&event.name.0);
                let short_name = self.short_name(name, &event.name.0);
                let [process, device, context, stream, correlation] = self.place(event);
                self.collective([process, correlation], times, event);
                self.kernels += 1;
                self.hlo(times, event);
                let (registers, [x, y, z], [bx, by, bz]) = if args.details.0.is_empty() {
                    (args.registers.0, args.grid.map(|size| size.0), args.block.map(|size| size.0))
                } else {
                    launch_shape(&args.details.0)
                };
                let cells = [
                    process,
                    device,
                    context,
                    stream,
                    correlation,
                    Some(name),
                    Some(short_name),
                    registers,
                    x,
                    y,
                    z,
                    bx,
                    by,
                    bz,
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
                    args.bytes.0.or_else(|| size(&args.details.0)),
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
                    args.bytes.0.or_else(|| size(&args.details.0)),
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
                self.link_call(event);
                let cells = [Some(thread), Some(class), args.correlation.0, Some(name), None];
                Row::new(Table::Call, times, cells)
            }
            Category::Overhead => {
                let (name, thread) = (self.text(&event.name.0), self.thread(event, false));
                Row::new(Table::Overhead, times, [Some(thread), Some(name)])
            }
            Category::Range(domain) => {
                let name = &*event.name.0;
                // ONNX Runtime writes conv_0_kernel_time for the time of the node conv_0.
                let node = name.strip_suffix("_kernel_time").filter(|_| event.category.0 == "Node");
                let (name, thread) = (self.text(node.unwrap_or(name)), self.thread(event, false));
                self.domains.entry((thread >> ID_BITS, domain)).or_insert(thread);
                self.ranges += 1;
                self.inputs(thread, times, event);
                let sequence = args.sequence.0;
                let cells = [Some(thread), Some(PUSHED), Some(name), Some(domain as i64), sequence];
                Row::new(Table::Range, times, cells)
            }
            Category::Frame => {
                self.frames += 1;
                if !self.keeps_frames() {
                    return false;
                }
                let (name, thread) = (self.text(&event.name.0), self.idle_thread(event));
                Row::new(Table::Frame, times, [Some(thread), Some(name)])
            }
            Category::Memory => {
                let (thread, of) = (self.idle_thread(event), &args.memory);
                let cells = [
                    Some(thread),
                    of.device_type.0,
                    args.device.0,
                    of.address.0,
                    of.bytes.0,
                    of.allocated.0,
                    of.reserved.0,
                ];
                Row::new(Table::Memory, times, cells)
            }
            Category::Profiler | Category::Other => return false,
        };
        self.batch.rows.push(row);
        true
    }

    /// Adds what PyTorch says of a kernel that runs a collective.
    fn collective(
        &mut self,
        [process, correlation]: [Option<i64>; 2],
        times: (i64, i64),
        event: &Event<'_>,
    ) {
        let of = &event.args.collective;
        if of.name.0.is_empty() {
            return;
        }
        let [name, group, ranks, data_type] =
            [&of.name, &of.group, &of.group_ranks, &of.data_type].map(|text| self.text(&text.0));
        let description = (!of.description.0.is_empty()).then(|| self.text(&of.description.0));
        let cells = [
            process,
            correlation,
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
            description,
        ];
        self.batch.rows.push(Row::new(Table::Collective, times, cells));
    }

    /// Adds what XLA says of a kernel, which comes next.
    fn hlo(&mut self, times: (i64, i64), event: &Event<'_>) {
        let (of, name) = (&event.args.hlo, &event.args.name.0);
        let place = if name.is_empty() { &of.place.0 } else { name };
        // Where the program has no place, XLA writes `XlaModule:`.
        let place = Some(place.trim_end_matches(':')).filter(|place| *place != "XlaModule");
        let texts = [Some(&*of.module.0), Some(&*of.op.0), place];
        if of.module.0.is_empty() && of.op.0.is_empty() && of.place.0.is_empty() {
            return;
        }
        let [module, op, place] =
            texts.map(|text| text.filter(|text| !text.is_empty()).map(|text| self.text(text)));
        self.batch.rows.push(Row::new(Table::Hlo, times, [Some(self.kernels), module, op, place]));
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
        let (device, stream) = self.placed;
        let is_of_rank = rank_of(event).is_some();
        // ONNX Runtime knows no device, and writes -1.
        let device = device.or(args.device.0).or_else(|| number(&event.pid.0).map(|own| own.max(0)));
        let device = match (&event.pid.0, device) {
            (Some(IdValue::Number(own)), Some(device)) if self.placed.0.is_none() && !is_of_rank => {
                Some(self.numbered.of(*own, device))
            }
            (_, device) => device,
        };
        let stream = stream.or(args.stream.0).or_else(|| number(&event.tid.0));
        if let Some(stream) = stream {
            let priority = self.streams.entry((args.context.0, stream)).or_default();
            *priority = priority.or(args.priority.0);
        }
        let mut process = self.owner;
        if is_of_rank {
            let rank = self.process(event);
            process = Some(rank);
            self.merged.used.extend(device.map(|device| (rank, device)));
        }
        let correlation = self.correlation(event);
        [process.map(global_pid), device, args.context.0, stream, correlation]
    }
}
