//! The simulated training: a sequence of steps that all processes execute in parallel.
//!
//! Threads of a process in each step:
//!
//! - main     iteration ( forward ( layer ( block ( module ( operators ))), backward, optimizer )
//! - autograd operators of the backward pass and NCCL's all-reduce, while main waits
//! - loader   reads and copies a batch, in parallel with the others
//!
//! An operator is a chain of nested ranges with launches in the innermost one; ranges nest up to ten
//! deep. The export also has a few of each: graph launches, launches outside all ranges, kernels whose
//! call is missing, and ranges that cross others, end on another thread, or never end.

use super::Shape;
use super::process::{
    AUTOGRAD, COLLECTIVE, COMPUTE, COPY, DOMAIN_CREATED, LOADER, MAIN, PUSHED, Process, RUNTIME,
    STARTED, Step, World,
};
use super::strings::Strings;
use super::tables::{CopyKind, Range, Rows, Tables};

const PROCESSES: i64 = 4;
const LAYERS: i64 = 8;
const DEEPEST: usize = 10;

const NCCL: i64 = 1;

const BLOCKS: [(&str, [&str; 3]); 2] =
    [("attention", ["ln_1", "c_attn", "c_proj"]), ("mlp", ["ln_2", "c_fc", "act"])];
const OPERATORS: [&str; 24] = [
    "aten::linear",
    "aten::addmm",
    "aten::matmul",
    "aten::mm",
    "aten::bmm",
    "aten::layer_norm",
    "aten::native_layer_norm",
    "aten::gelu",
    "aten::softmax",
    "aten::_softmax",
    "aten::dropout",
    "aten::native_dropout",
    "aten::add_",
    "aten::mul",
    "aten::div",
    "aten::sum",
    "aten::copy_",
    "aten::_to_copy",
    "aten::contiguous",
    "aten::clone",
    "aten::fill_",
    "aten::zero_",
    "aten::cat",
    "aten::embedding",
];
const VIEWS: [&str; 6] = [
    "aten::view",
    "aten::t",
    "aten::transpose",
    "aten::empty",
    "aten::as_strided",
    "aten::_unsafe_view",
];
const GRADIENTS: [&str; 8] = [
    "AddmmBackward0",
    "MmBackward0",
    "BmmBackward0",
    "NativeLayerNormBackward0",
    "GeluBackward0",
    "SoftmaxBackward0",
    "NativeDropoutBackward0",
    "torch::autograd::AccumulateGrad",
];
/// The index after the operators, for kernels that no operator launches.
const OTHERS: usize = OPERATORS.len();

/// Writes a training run.
pub(super) fn train(shape: &Shape, tables: &mut Tables<'_>) -> rusqlite::Result<()> {
    let kernels = shape.kernels;
    let mut world = World {
        random: shape.seed,
        kernels_left: kernels,
        rows: Rows::default(),
        strings: Strings::new(),
        numbered: Vec::new(),
        most_numbered: shape.distinct_names,
    };
    let mut processes: Vec<Process> = (0..PROCESSES).map(Process::new).collect();
    for process in &processes {
        tables.process(process.global, process.pid())?;
        for (thread, name) in process.threads.iter().zip(["python", "pt_autograd_0", "pt_data_worker"]) {
            tables.thread(thread.global, world.strings.id(name))?;
        }
    }
    let mut now = 20_000_000_000;
    for process in &processes {
        world.rows.ranges.push(Range {
            start: now - 1_000_000 + process.index,
            kind: DOMAIN_CREATED,
            text: Some("NCCL".to_owned()),
            thread: process.threads[MAIN].global,
            domain: NCCL,
            ..Range::default()
        });
    }
    let mut endless = false;
    for number in 0.. {
        if world.kernels_left == 0 {
            break;
        }
        let mut end = now;
        for process in &mut processes {
            end = end.max(Step { world: &mut world, process }.run(now, number));
        }
        if !endless && world.kernels_left < kernels / 4 {
            endless = true;
            for process in &processes {
                never_ended(&mut world, process, end);
            }
        }
        tables.write(&mut world.rows)?;
        now = end + 10_000;
    }
    tables.close(world.strings, now)
}

/// Adds ranges without an end in the last quarter. They are on few threads, since they contain all later
/// launches of their thread.
fn never_ended(world: &mut World, process: &Process, start: i64) {
    let thread = [MAIN, AUTOGRAD, LOADER, LOADER][process.index as usize];
    for (kind, name) in [(STARTED, "profiled"), (PUSHED, "until the end")] {
        let text_id = Some(world.strings.id(name));
        world.rows.ranges.push(Range {
            start: start + kind,
            kind,
            handle: (kind == STARTED).then_some(1),
            text_id,
            thread: process.threads[thread].global,
            ..Range::default()
        });
    }
}

impl Step<'_> {
    /// Runs the step and returns the time at which all threads have finished.
    fn run(&mut self, begin: i64, number: i64) -> i64 {
        for thread in &mut self.process.threads {
            thread.clock = begin;
        }
        self.load();
        self.outside();
        let text = format!("iteration {number}");
        let iteration = self.push_text(MAIN, text);
        self.forward();
        self.backward();
        self.optimize();
        self.pop(MAIN, iteration);
        self.process.threads.iter().map(|thread| thread.clock).max().unwrap_or(begin)
    }

    /// Launches kernels outside all ranges, such as counters and averages.
    fn outside(&mut self) {
        for _ in 0..4 {
            self.launch(MAIN, COMPUTE, OTHERS);
        }
    }

    fn load(&mut self) {
        let batch = self.push(LOADER, "load batch");
        for _ in 0..4 {
            self.pass(LOADER, 50_000);
            let to = self.push(LOADER, "aten::to");
            let copy = self.push(LOADER, "aten::copy_");
            self.copy(LOADER, COPY, CopyKind::ToDevice);
            self.bookkeeping(LOADER);
            self.pop(LOADER, copy);
            self.pop(LOADER, to);
        }
        self.pop(LOADER, batch);
    }

    fn forward(&mut self) {
        let forward = self.push(MAIN, "forward");
        let mut crossing = None;
        for layer in 0..LAYERS {
            let range = self.push(MAIN, &format!("layer_{layer}"));
            for (block, modules) in BLOCKS {
                let range = self.push(MAIN, block);
                for module in modules {
                    let range = self.push(MAIN, module);
                    self.operators(MAIN, 2);
                    self.pop(MAIN, range);
                }
                // A range that starts in one block and ends in a later one crosses both.
                match crossing.take() {
                    Some(open) => self.end(MAIN, open, None),
                    None => crossing = Some(self.start(MAIN, "prefetch weights")),
                }
                self.pop(MAIN, range);
            }
            self.pop(MAIN, range);
            if layer % 2 == 0 {
                crossing = crossing.or_else(|| Some(self.start(MAIN, "activations in flight")));
            }
        }
        if let Some(open) = crossing {
            self.end(MAIN, open, None);
        }
        self.pop(MAIN, forward);
    }

    /// The backward pass: the autograd thread launches, main waits.
    fn backward(&mut self) {
        let waiting = self.push(MAIN, "backward");
        self.process.threads[AUTOGRAD].clock = self.process.threads[MAIN].clock + 5_000;
        for _ in 0..LAYERS {
            let bucket = self.start(AUTOGRAD, "gradient bucket");
            for _ in 0..6 {
                let gradient = self.world.one_of(&GRADIENTS);
                let name = format!("autograd::engine::evaluate_function: {gradient}");
                let evaluate = self.push(AUTOGRAD, &name);
                let gradient = self.push(AUTOGRAD, gradient);
                self.operators(AUTOGRAD, 2);
                self.pop(AUTOGRAD, gradient);
                self.pop(AUTOGRAD, evaluate);
            }
            if self.world.once_in(2) {
                self.launch(AUTOGRAD, COMPUTE, OTHERS);
            }
            self.all_reduce();
            // Main ends the range, since it takes over the reduced gradients.
            let main = self.process.threads[MAIN].global;
            self.end(AUTOGRAD, bucket, Some(main));
        }
        self.process.threads[MAIN].clock = self.process.threads[AUTOGRAD].clock + 3_000;
        self.pop(MAIN, waiting);
    }

    fn all_reduce(&mut self) {
        let range = self.push(AUTOGRAD, "ncclAllReduce");
        self.world.rows.ranges[range].domain = NCCL;
        self.call(AUTOGRAD, RUNTIME, "cudaStreamWaitEvent_v3020");
        self.launch(AUTOGRAD, COLLECTIVE, OTHERS);
        self.pop(AUTOGRAD, range);
    }

    fn optimize(&mut self) {
        let optimizer = self.push(MAIN, "optimizer.step");
        for _ in 0..2 {
            self.fill(MAIN);
        }
        for _ in 0..3 {
            let replay = self.push(MAIN, "graph replay");
            self.launch_graph(MAIN, OTHERS);
            self.pop(MAIN, replay);
        }
        let item = self.push(MAIN, "aten::item");
        self.copy(MAIN, COMPUTE, CopyKind::ToHost);
        self.synchronize(MAIN);
        self.pop(MAIN, item);
        self.pop(MAIN, optimizer);
    }

    fn operators(&mut self, thread: usize, count: usize) {
        for _ in 0..count {
            self.operator(thread);
            if self.world.below(9) < 2 {
                let name = self.world.one_of(&VIEWS);
                let view = self.push_operator(thread, name);
                self.pop(thread, view);
            }
        }
    }

    /// An operator that calls another operator or launches kernels.
    fn operator(&mut self, thread: usize) {
        let operator = self.world.skewed(OPERATORS.len() as i64) as usize;
        let range = self.push_operator(thread, OPERATORS[operator]);
        if self.process.threads[thread].depth < DEEPEST && self.world.below(5) < 2 {
            self.operator(thread);
        } else {
            for _ in 0..1 + self.world.below(2) {
                self.launch(thread, COMPUTE, operator);
            }
            if self.world.below(5) < 2 {
                self.bookkeeping(thread);
            }
            match self.world.below(30) {
                0 => self.fill(thread),
                1 => self.copy(thread, COMPUTE, CopyKind::OnDevice),
                _ => {}
            }
        }
        self.pop(thread, range);
    }
}
