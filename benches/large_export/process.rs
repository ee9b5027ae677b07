//! A process and its threads: the actions of a thread, and the rows that they produce.

use super::strings::Strings;
use super::tables::{Call, CopyKind, Operation, Range, Rows, Work};

pub(super) const MAIN: usize = 0;
pub(super) const AUTOGRAD: usize = 1;
pub(super) const LOADER: usize = 2;

/// NVTX event types.
pub(super) const PUSHED: i64 = 59;
pub(super) const STARTED: i64 = 60;
pub(super) const DOMAIN_CREATED: i64 = 75;

/// Indexes in `STREAMS`.
pub(super) const COMPUTE: usize = 0;
const GRAPH: usize = 1;
pub(super) const COPY: usize = 2;
pub(super) const COLLECTIVE: usize = 3;
const STREAMS: [i64; 4] = [7, 9, 13, 21];

/// Event classes of API calls.
pub(super) const RUNTIME: i64 = 0;
const DRIVER: i64 = 1;

/// Number of kernels per operator. Kernels outside operators follow those of all operators.
const FAMILY: i64 = 16;

/// API calls without GPU work.
const BOOKKEEPING: [(i64, &str); 8] = [
    (RUNTIME, "cudaStreamIsCapturing_v10000"),
    (RUNTIME, "cudaEventRecord_v3020"),
    (RUNTIME, "cudaStreamWaitEvent_v3020"),
    (RUNTIME, "cudaEventQuery_v3020"),
    (RUNTIME, "cudaEventCreateWithFlags_v3020"),
    (RUNTIME, "cudaEventDestroy_v3020"),
    (DRIVER, "cuKernelGetFunction"),
    (DRIVER, "cuKernelGetName"),
];

/// The state that all processes share.
pub(super) struct World {
    pub(super) random: u64,
    pub(super) kernels_left: i64,
    pub(super) rows: Rows,
    pub(super) strings: Strings,
    /// Range names with numbers, if there is a limit to them.
    pub(super) numbered: Vec<String>,
    pub(super) most_numbered: Option<usize>,
}

impl World {
    /// Knuth's MMIX generator: the same numbers on every machine.
    pub(super) fn below(&mut self, n: i64) -> i64 {
        self.random = self.random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.random >> 33) as i64 % n
    }

    /// True once in `n` times.
    pub(super) fn once_in(&mut self, n: i64) -> bool {
        self.below(n) == 0
    }

    /// Returns small numbers more often than large ones: as in real captures, a few names have most
    /// launches.
    pub(super) fn skewed(&mut self, n: i64) -> i64 {
        let most = 1 + self.below(n);
        self.below(most)
    }

    /// A range name with numbers: a new one, or one from before if there are enough of them.
    fn numbered(&mut self, id: i64, fresh: impl FnOnce() -> String) -> String {
        let Some(most) = self.most_numbered else { return fresh() };
        if self.numbered.len() < most.max(1) {
            self.numbered.push(fresh());
        }
        self.numbered[id as usize / 6 % self.numbered.len()].clone()
    }

    pub(super) fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as i64) as usize]
    }
}

pub(super) struct Process {
    pub(super) index: i64,
    pub(super) global: i64,
    pub(super) threads: [Thread; 3],
    /// The time at which each stream becomes idle.
    pub(super) streams: [i64; 4],
    pub(super) correlation: i64,
    pub(super) handle: i64,
    pub(super) operators: i64,
}

pub(super) struct Thread {
    pub(super) global: i64,
    pub(super) clock: i64,
    pub(super) depth: usize,
}

impl Process {
    pub(super) fn new(index: i64) -> Self {
        let pid = 1000 + index;
        let global = (1 << 48) | (pid << 24);
        let thread = |n: i64| Thread { global: global | (pid + 10 * n), clock: 0, depth: 0 };
        Self {
            index,
            global,
            threads: [thread(0), thread(1), thread(2)],
            streams: [0; 4],
            correlation: 0,
            handle: 1,
            operators: 0,
        }
    }

    pub(super) fn pid(&self) -> i64 {
        1000 + self.index
    }
}

/// A step of one process. Its methods act on a thread and advance the thread's clock.
pub(super) struct Step<'a> {
    pub(super) world: &'a mut World,
    pub(super) process: &'a mut Process,
}

/// Index of an open range in the rows.
pub(super) type Open = usize;

impl Step<'_> {
    // NVTX ranges.

    /// Pushes an operator's range. Every sixth one has numbers in its text, as PyTorch writes them.
    pub(super) fn push_operator(&mut self, thread: usize, name: &str) -> Open {
        self.process.operators += 1;
        let id = self.process.operators;
        if id % 6 == 0 {
            let text = self.world.numbered(id, || format!("{name}, seq = {}, op_id = {id}", id / 4));
            self.push_text(thread, text)
        } else {
            self.push(thread, name)
        }
    }

    pub(super) fn push(&mut self, thread: usize, name: &str) -> Open {
        let text_id = Some(self.world.strings.id(name));
        self.process.threads[thread].depth += 1;
        self.open(thread, Range { kind: PUSHED, text_id, ..Range::default() })
    }

    pub(super) fn push_text(&mut self, thread: usize, text: String) -> Open {
        self.process.threads[thread].depth += 1;
        self.open(thread, Range { kind: PUSHED, text: Some(text), ..Range::default() })
    }

    pub(super) fn start(&mut self, thread: usize, name: &str) -> Open {
        let text_id = Some(self.world.strings.id(name));
        self.process.handle += 1;
        let handle = Some(self.process.handle);
        self.open(thread, Range { kind: STARTED, handle, text_id, ..Range::default() })
    }

    fn open(&mut self, thread: usize, range: Range) -> Open {
        let start = self.pass(thread, 300);
        let thread = self.process.threads[thread].global;
        self.world.rows.ranges.push(Range { start, thread, ..range });
        self.world.rows.ranges.len() - 1
    }

    pub(super) fn pop(&mut self, thread: usize, open: Open) {
        self.process.threads[thread].depth -= 1;
        self.end(thread, open, None);
    }

    pub(super) fn end(&mut self, thread: usize, open: Open, end_thread: Option<i64>) {
        let end = self.pass(thread, 200);
        let range = &mut self.world.rows.ranges[open];
        range.end = Some(end);
        range.end_thread = end_thread;
    }

    /// Advances the thread's clock by about `ns` and returns it.
    pub(super) fn pass(&mut self, thread: usize, ns: i64) -> i64 {
        let spent = 1 + ns / 2 + self.world.below(ns);
        let clock = &mut self.process.threads[thread].clock;
        *clock += spent;
        *clock
    }

    // API calls and GPU work.

    /// Adds an API call and returns its correlation id.
    pub(super) fn call(&mut self, thread: usize, class: i64, name: &str) -> i64 {
        let start = self.pass(thread, 400);
        let end = self.pass(thread, if class == DRIVER { 600 } else { 3_000 });
        self.process.correlation += 1;
        let correlation = self.process.correlation;
        let name = self.world.strings.id(name);
        let thread = self.process.threads[thread].global;
        self.world.rows.calls.push(Call { start, end, class, thread, correlation, name });
        correlation
    }

    pub(super) fn bookkeeping(&mut self, thread: usize) {
        let (class, name) = self.world.one_of(&BOOKKEEPING);
        self.call(thread, class, name);
    }

    pub(super) fn launch(&mut self, thread: usize, stream: usize, operator: usize) {
        let (class, name) = match self.world.below(20) {
            0 => (DRIVER, "cuLaunchKernelEx"),
            1 => (RUNTIME, "cudaLaunchKernelExC_v11060"),
            _ => (RUNTIME, "cudaLaunchKernel_v7000"),
        };
        let correlation = self.call(thread, class, name);
        self.kernel(thread, stream, correlation, operator, None);
        if self.world.once_in(300) {
            self.world.rows.calls.pop();
        }
    }

    pub(super) fn launch_graph(&mut self, thread: usize, operator: usize) {
        let correlation = self.call(thread, RUNTIME, "cudaGraphLaunch_v10000");
        for node in 0..20 {
            let stream = if node % 4 == 3 { GRAPH } else { COMPUTE };
            self.kernel(thread, stream, correlation, operator, Some(node));
        }
    }

    /// Adds a kernel, unless there are enough.
    fn kernel(
        &mut self,
        thread: usize,
        stream: usize,
        correlation: i64,
        operator: usize,
        node: Option<i64>,
    ) {
        if self.world.kernels_left == 0 {
            return;
        }
        self.world.kernels_left -= 1;
        let name = operator as i64 * FAMILY + self.world.skewed(FAMILY);
        let duration = 1_000 + name * 37 + self.world.below(5_000);
        let blocks = 1 + self.world.below(1024);
        self.run_on(thread, stream, correlation, duration, Work::Kernel { name, blocks, node });
    }

    pub(super) fn copy(&mut self, thread: usize, stream: usize, kind: CopyKind) {
        let correlation = self.call(thread, RUNTIME, "cudaMemcpyAsync_v3020");
        let bytes = match kind {
            CopyKind::ToHost => 4,
            CopyKind::ToDevice | CopyKind::OnDevice => 1 + self.world.below(1 << 20),
        };
        self.run_on(thread, stream, correlation, bytes / 20 + 800, Work::Copy { bytes, kind });
    }

    pub(super) fn fill(&mut self, thread: usize) {
        let correlation = self.call(thread, RUNTIME, "cudaMemsetAsync_v3020");
        let bytes = 4 << self.world.below(12);
        self.run_on(thread, COMPUTE, correlation, bytes / 200 + 700, Work::Fill { bytes });
    }

    /// Appends work to a stream.
    fn run_on(&mut self, thread: usize, stream: usize, correlation: i64, duration: i64, work: Work) {
        let launched = self.process.threads[thread].clock;
        let start = self.process.streams[stream].max(launched) + 200 + self.world.below(800);
        let end = start + duration;
        self.process.streams[stream] = end;
        self.world.rows.operations.push(Operation {
            start,
            end,
            device: self.process.index,
            stream: STREAMS[stream],
            correlation,
            process: self.process.global,
            work,
        });
    }

    /// Waits until every stream is idle.
    pub(super) fn synchronize(&mut self, thread: usize) {
        self.call(thread, RUNTIME, "cudaStreamSynchronize_v3020");
        let done = self.process.streams.iter().copied().max().unwrap_or(0);
        let clock = &mut self.process.threads[thread].clock;
        *clock = (*clock).max(done + 1_000);
        if let Some(call) = self.world.rows.calls.last_mut() {
            call.end = *clock;
        }
    }
}
