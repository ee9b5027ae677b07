//! Runs a program: one clock for each host thread, and streams that work in order.
//!
//! Threads and streams share no resource, so each goes on as soon as what it waits for is known, and the
//! order in which they are tried does not matter. Not modelled: kernels that slow each other down, and
//! copies that share a link.

use super::program::{Action, Copy, Direction, Kernel, Program, Stream};
use std::collections::BTreeMap;

/// Work that a stream may have before a launch waits.
const QUEUE: usize = 1024;
/// From the end of a call to the start of its operation on an idle GPU.
const LATENCY: i64 = 900;
/// More than this much pageable memory is staged in parts while the host waits.
const STAGED_BYTES: i64 = 64 * 1024;
/// Time to stage the first part, before the copy begins.
const FIRST_STAGE: i64 = 100_000;
/// The last part is staged so long before the copy ends.
const LAST_STAGE: i64 = 30_000;
/// Time in which a thread sees that the GPU, or another thread, is done.
const WAKE: i64 = 4_000;
/// Time in which a host function begins.
const HOST_FUNCTION: i64 = 6_000;
/// Unified memory moves in pieces of at most this size, and this many bytes in a nanosecond.
const PIECE_BYTES: i64 = 2 * 1024 * 1024;
const MIGRATION_RATE: i64 = 11;

/// A thread of a process: the GPU of the process, and the index of the thread.
pub(crate) type ThreadId = (usize, usize);

pub(crate) struct Call {
    pub(crate) thread: ThreadId,
    pub(crate) start: i64,
    pub(crate) end: i64,
    pub(crate) name: &'static str,
    pub(crate) correlation: i64,
}

#[derive(Clone, Debug)]
pub(crate) enum Work {
    Kernel(Kernel),
    Copy(Copy),
    /// Bytes.
    Fill(i64),
    /// Unified memory: bytes, and whether they move to the host.
    Migration(i64, bool),
}

pub(crate) struct Operation {
    pub(crate) gpu: usize,
    pub(crate) start: i64,
    pub(crate) end: i64,
    pub(crate) stream: Stream,
    /// That of the call, unique in its process; 0 without a call.
    pub(crate) correlation: i64,
    pub(crate) work: Work,
}

/// Time of a thread in a range, or in the profiler.
pub(crate) struct Span {
    pub(crate) thread: ThreadId,
    pub(crate) start: i64,
    pub(crate) end: i64,
    pub(crate) name: String,
}

/// What a profiler saw of a program.
#[derive(Default)]
pub(crate) struct Run {
    pub(crate) calls: Vec<Call>,
    pub(crate) operations: Vec<Operation>,
    pub(crate) ranges: Vec<Span>,
    pub(crate) profiler: Vec<Span>,
}

impl Run {
    /// Time from the first operation of each GPU to its last, added up.
    pub(crate) fn windows_ns(&self) -> i64 {
        let mut windows = BTreeMap::new();
        for operation in &self.operations {
            let window = windows.entry(operation.gpu).or_insert((operation.start, operation.end));
            *window = (window.0.min(operation.start), window.1.max(operation.end));
        }
        windows.values().map(|(start, end)| end - start).sum()
    }
}

/// Runs the program. Panics if threads wait for each other.
pub(crate) fn simulate(program: &Program) -> Run {
    let mut machine = Machine {
        gpus: program.iter().map(|_| Gpu::default()).collect(),
        collectives: BTreeMap::new(),
        run: Run::default(),
    };
    let mut hosts = Vec::new();
    for (gpu, process) in program.iter().enumerate() {
        for (index, thread) in process.threads.iter().enumerate() {
            // Processes and threads start one after the other.
            let clock = 20_000_000 + 3_000 * gpu as i64 + 700 * index as i64;
            let actions = &thread.actions;
            hosts.push(Host { id: (gpu, index), clock, actions, next: 0, open: Vec::new(), sent: None });
        }
    }
    loop {
        let mut goes_on = false;
        for host in &mut hosts {
            while host.next < host.actions.len() && machine.act(host).is_some() {
                host.next += 1;
                goes_on = true;
            }
        }
        for gpu in 0..machine.gpus.len() {
            for stream in Stream::ALL {
                while machine.work(gpu, stream).is_some() {
                    goes_on = true;
                }
            }
        }
        if !goes_on {
            break;
        }
    }
    for host in &hosts {
        let next = host.actions.get(host.next);
        assert!(next.is_none(), "thread {:?} waits for ever: {next:?}", host.id);
    }
    machine.run
}

struct Host<'a> {
    id: ThreadId,
    clock: i64,
    actions: &'a [Action],
    /// Index of the next action.
    next: usize,
    /// Starts and names of the open ranges.
    open: Vec<(i64, &'a str)>,
    /// Correlation of the copy that this thread has launched and waits for.
    sent: Option<i64>,
}

#[derive(Default)]
struct Gpu {
    streams: [Queue; 3],
    /// When each event was recorded, and what it waits for: the first items of a stream.
    events: BTreeMap<u32, (i64, Stream, usize)>,
    signals: BTreeMap<u32, i64>,
    correlation: i64,
}

/// The work of a stream, in order.
#[derive(Default)]
struct Queue {
    items: Vec<Item>,
    /// Ends of the items, as far as they are known.
    ends: Vec<i64>,
}

struct Item {
    /// Earliest start.
    ready: i64,
    ns: i64,
    /// The event before it.
    event: Option<u32>,
    correlation: i64,
    /// What the profiler sees of it.
    work: Option<Work>,
}

struct Machine {
    gpus: Vec<Gpu>,
    /// The start of each collective on each GPU.
    collectives: BTreeMap<u32, BTreeMap<usize, i64>>,
    run: Run,
}

impl Machine {
    /// Does the next action of a thread, or returns `None` if it must wait for one of another thread or GPU.
    fn act<'a>(&mut self, host: &mut Host<'a>) -> Option<()> {
        let gpu = host.id.0;
        let action: &'a Action = &host.actions[host.next];
        match action {
            Action::Push(name) => {
                host.open.push((host.clock, name));
                host.clock += 300;
            }
            Action::Pop => {
                host.clock += 300;
                let (start, name) = host.open.pop().expect("each end has a range");
                let (thread, end, name) = (host.id, host.clock, name.to_owned());
                self.run.ranges.push(Span { thread, start, end, name });
            }
            Action::Work(ns) => host.clock += ns,
            Action::Launch(stream, kernel, ns) => {
                let name = match kernel.collective {
                    Some(_) => "cudaLaunchKernelExC_v11060",
                    None => "cudaLaunchKernel_v7000",
                };
                self.launch(host, *stream, name, *ns, kernel.ns, Some(Work::Kernel(kernel.clone())))?;
            }
            Action::Copy(stream, copy) => self.copy(host, *stream, copy)?,
            Action::Fill(stream, bytes, ns) => {
                self.launch(
                    host,
                    *stream,
                    "cudaMemsetAsync_v3020",
                    4_200,
                    *ns,
                    Some(Work::Fill(*bytes)),
                )?;
            }
            Action::HostFunction(stream, ns) => {
                let ns = HOST_FUNCTION + ns;
                self.launch(host, *stream, "cudaLaunchHostFunc_v10000", 3_100, ns, None)?;
            }
            Action::Record(stream, event) => {
                self.call(host, "cudaEventRecord_v3020", 1_200);
                let state = &mut self.gpus[gpu];
                let items = state.streams[*stream as usize].items.len();
                state.events.insert(*event, (host.clock, *stream, items));
            }
            Action::WaitEvent(stream, event) => {
                self.call(host, "cudaStreamWaitEvent_v3020", 1_100);
                let (ready, event) = (host.clock, Some(*event));
                let item = Item { ready, ns: 0, event, correlation: 0, work: None };
                self.gpus[gpu].streams[*stream as usize].items.push(item);
            }
            Action::Synchronize(stream) => {
                let done = self.gpus[gpu].streams[*stream as usize].done()?;
                let ns = (done + WAKE - host.clock).max(2_500);
                self.call(host, "cudaStreamSynchronize_v3020", ns);
            }
            Action::Allocate(ns) => _ = self.call(host, "cudaMalloc_v3020", *ns),
            Action::Free(ns) => {
                let mut done = host.clock;
                for stream in [Stream::Compute, Stream::Collective] {
                    done = done.max(self.gpus[gpu].streams[stream as usize].done()?);
                }
                self.call(host, "cudaFree_v3020", done - host.clock + ns);
            }
            Action::LoadModule(ns) => _ = self.call(host, "cuLibraryLoadData", *ns),
            Action::Profiler(ns) => {
                let (thread, start, end) = (host.id, host.clock, host.clock + ns);
                self.run.profiler.push(Span {
                    thread,
                    start,
                    end,
                    name: "CUPTI Buffer flush".to_owned(),
                });
                host.clock = end;
            }
            Action::ReadManaged(bytes, ns) => {
                self.migrate(gpu, host.clock + 6_000, *bytes, *ns, true);
                host.clock += ns + 10_000;
            }
            Action::Signal(signal) => _ = self.gpus[gpu].signals.insert(*signal, host.clock),
            Action::Await(signal) => {
                let signalled = *self.gpus[gpu].signals.get(signal)?;
                if signalled > host.clock {
                    host.clock = signalled + WAKE;
                }
            }
        }
        Some(())
    }

    fn call(&mut self, host: &mut Host<'_>, name: &'static str, ns: i64) -> i64 {
        let gpu = &mut self.gpus[host.id.0];
        gpu.correlation += 1;
        let (start, end, correlation) = (host.clock, host.clock + ns, gpu.correlation);
        self.run.calls.push(Call { thread: host.id, start, end, name, correlation });
        host.clock = end;
        correlation
    }

    /// Launches work of `ns` on a stream with a call of `call_ns`.
    fn launch(
        &mut self,
        host: &mut Host<'_>,
        stream: Stream,
        name: &'static str,
        call_ns: i64,
        ns: i64,
        work: Option<Work>,
    ) -> Option<i64> {
        let gpu = host.id.0;
        let queue = &self.gpus[gpu].streams[stream as usize];
        let mut waits = 0;
        if let Some(before) = queue.items.len().checked_sub(QUEUE) {
            waits = (queue.ends.get(before)? - host.clock).max(0);
        }
        let correlation = self.call(host, name, waits + call_ns);
        let item = Item { ready: host.clock + LATENCY, ns, event: None, correlation, work };
        self.gpus[gpu].streams[stream as usize].items.push(item);
        Some(correlation)
    }

    fn copy(&mut self, host: &mut Host<'_>, stream: Stream, copy: &Copy) -> Option<()> {
        let gpu = host.id.0;
        let staged = copy.pageable && copy.bytes > STAGED_BYTES;
        if !staged && !copy.blocking {
            let work = Some(Work::Copy(copy.clone()));
            return self.launch(host, stream, "cudaMemcpyAsync_v3020", 6_200, copy.ns, work).map(|_| ());
        }
        if host.sent.is_none() {
            let state = &mut self.gpus[gpu];
            state.correlation += 1;
            let ready = host.clock + if staged { FIRST_STAGE } else { 6_000 };
            let (ns, correlation, work) = (copy.ns, state.correlation, Some(Work::Copy(copy.clone())));
            state.streams[stream as usize].items.push(Item {
                ready,
                ns,
                event: None,
                correlation,
                work,
            });
            host.sent = Some(correlation);
        }
        let done = self.gpus[gpu].streams[stream as usize].done()?;
        let end = if copy.blocking { done + WAKE } else { done - LAST_STAGE };
        let correlation = host.sent.take()?;
        let name = if copy.blocking { "cudaMemcpy_v3020" } else { "cudaMemcpyAsync_v3020" };
        self.run.calls.push(Call { thread: host.id, start: host.clock, end, name, correlation });
        host.clock = end;
        Some(())
    }

    /// Moves unified memory during `ns`.
    fn migrate(&mut self, gpu: usize, from: i64, bytes: i64, ns: i64, to_host: bool) {
        let pieces = (bytes + PIECE_BYTES - 1) / PIECE_BYTES;
        for piece in 0..pieces {
            let (start, end) = (from + ns * piece / pieces, from + ns * (piece + 1) / pieces);
            let work = Work::Migration(bytes / pieces, to_host);
            let (stream, correlation) = (Stream::Compute, 0);
            self.run.operations.push(Operation { gpu, start, end, stream, correlation, work });
        }
    }

    /// Finds the times of the next item of a stream, if all that it waits for is known.
    fn work(&mut self, gpu: usize, stream: Stream) -> Option<()> {
        let state = &self.gpus[gpu];
        let queue = &state.streams[stream as usize];
        let item = queue.items.get(queue.ends.len())?;
        let (ns, correlation, work) = (item.ns, item.correlation, item.work.clone());
        let before = queue.ends.last().copied().unwrap_or(0);
        // The hardware takes about a microsecond from one operation of a stream to the next.
        let mut start = item.ready.max(if work.is_some() { before + 800 + ns % 400 } else { before });
        if let Some(event) = item.event
            && let Some((recorded, stream, items)) = state.events.get(&event)
        {
            let done = match items.checked_sub(1) {
                Some(last) => *state.streams[*stream as usize].ends.get(last)?,
                None => 0,
            };
            start = start.max(done.max(*recorded) + 600);
        } else if item.event.is_some() {
            // Another thread records it.
            return None;
        }
        let mut end = start + ns;
        if let Some(Work::Kernel(kernel)) = &work {
            if let Some(nth) = kernel.collective {
                let starts = self.collectives.entry(nth).or_default();
                starts.insert(gpu, start);
                if starts.len() < self.gpus.len() {
                    return None;
                }
                end = starts.values().max()? + ns;
            }
            if kernel.absent_bytes > 0 {
                let bytes = kernel.absent_bytes;
                let moves = bytes / MIGRATION_RATE;
                end += moves;
                self.migrate(gpu, start + 20_000, bytes, moves - 20_000, false);
            }
        }
        if let Some(work) = work {
            self.run.operations.push(Operation { gpu, start, end, stream, correlation, work });
        }
        self.gpus[gpu].streams[stream as usize].ends.push(end);
        Some(())
    }
}

impl Queue {
    /// When all its items have ended, if that is known.
    fn done(&self) -> Option<i64> {
        (self.ends.len() == self.items.len()).then(|| self.ends.last().copied().unwrap_or(0))
    }
}

impl Copy {
    /// The code of the direction, and of the memory it reads and writes.
    pub(crate) fn codes(&self) -> (i64, i64, i64) {
        let host = i64::from(!self.pageable);
        match self.direction {
            Direction::ToDevice => (1, host, 2),
            Direction::ToHost => (2, 2, host),
            Direction::OnDevice => (8, 2, 2),
        }
    }
}
