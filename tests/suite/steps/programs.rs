//! Steps of made programs: NVTX ranges, of names that mark no steps, say where each begins.

use super::rows;
use crate::made::export;
use crate::made::program::{Action, Copy, Direction, Kernel, Process, Program, Random, Stream, Thread};
use crate::made::simulate::simulate;
use rusqlite::Connection;
use std::path::{Path, PathBuf};

/// What one thread does.
pub(super) struct Writer {
    thread: &'static str,
    stream: Stream,
    pub(super) random: Random,
    /// Lengths of kernels, as a multiple of the usual one.
    scale: f64,
    passes: usize,
    pub(super) actions: Vec<Action>,
}

impl Writer {
    fn new(thread: &'static str, stream: Stream, seed: u64) -> Self {
        Self { thread, stream, random: Random::new(seed), scale: 1.0, passes: 0, actions: Vec::new() }
    }

    /// A number from 0 to `below`, without `below`.
    fn below(&mut self, below: u32) -> u32 {
        self.random.between(0.0, f64::from(below)) as u32
    }

    fn launch(&mut self, name: &'static str, grid: i64) {
        let ns = self.random.about((5_000.0 * self.scale) as i64, 0.1);
        let kernel = Kernel { name, grid, block: 128, ns, collective: None, absent_bytes: 0 };
        let call = self.random.about(3_000, 0.3);
        self.actions.push(Action::Launch(self.stream, kernel, call));
    }

    pub(super) fn launch_all(&mut self, kernels: impl IntoIterator<Item = u32>) {
        kernels.into_iter().for_each(|kernel| self.launch(name(kernel), 64));
    }

    pub(super) fn read_back(&mut self) {
        let copy =
            Copy { direction: Direction::ToHost, bytes: 4, ns: 1_500, pageable: true, blocking: true };
        self.actions.push(Action::Copy(self.stream, copy));
    }

    pub(super) fn upload(&mut self) {
        let copy = Copy {
            direction: Direction::ToDevice,
            bytes: 1 << 20,
            ns: 7_000,
            pageable: true,
            blocking: true,
        };
        self.actions.push(Action::Copy(self.stream, copy));
    }

    /// A pass of the loop, after some time of the host.
    pub(super) fn pass(&mut self, write: impl FnOnce(&mut Self)) {
        let pause = self.random.about(40_000, 0.3);
        self.actions.push(Action::Work(pause));
        self.actions.push(Action::Push(format!("part {}", self.passes)));
        write(self);
        self.actions.push(Action::Pop);
        self.passes += 1;
    }

    pub(super) fn thread(self) -> Thread {
        Thread { name: self.thread, actions: self.actions }
    }
}

/// The name of a kernel.
pub(super) fn name(kernel: u32) -> &'static str {
    static NAMES: std::sync::LazyLock<Vec<String>> =
        std::sync::LazyLock::new(|| (0..2_000).map(|kernel| format!("kernel_{kernel:04}")).collect());
    &NAMES[kernel as usize]
}

fn forward(layers: u32) -> Vec<u32> {
    [10, 11].into_iter().chain((0..layers).flat_map(|_| [20, 21, 22, 21, 23, 24])).chain([12]).collect()
}

fn backward(layers: u32) -> Vec<u32> {
    [13].into_iter().chain((0..layers).flat_map(|_| [34, 33, 31, 32, 31, 30, 35])).chain([14]).collect()
}

pub(super) fn main_thread(seed: u64) -> Writer {
    Writer::new("python", Stream::Compute, seed)
}

pub(super) fn of_threads(threads: Vec<Thread>) -> Program {
    vec![Process { gpu: 0, gpus: 1, threads }]
}

pub(super) fn exported(program: &Program, folder: &Path, name: &str) -> PathBuf {
    let path = folder.join(format!("{name}.sqlite"));
    export::write(program, &mut simulate(program), &path);
    path
}

/// For each process: the passes that the ranges of the main thread mark, the steps that nsq finds, and those of them
/// that begin within one call of their pass.
fn found(report: &Path) -> Vec<(i64, i64, i64)> {
    let found = rows(
        report,
        "WITH
         launched AS MATERIALIZED (
           SELECT global_tid, start_ns AS at, row_number() OVER (PARTITION BY global_tid ORDER BY start_ns) AS nth
           FROM cuda_call
         ),
         pass AS MATERIALIZED (
           SELECT pid, global_tid, (
             SELECT min(nth) FROM launched WHERE launched.global_tid = span.global_tid AND at >= span.start_ns
           ) AS nth
           FROM nvtx_span AS span
           WHERE text GLOB 'part *'
         ),
         found AS MATERIALIZED (
           SELECT step.pid, launched.global_tid, launched.nth
           FROM step
           JOIN launched ON launched.global_tid = step.global_tid AND launched.at = step.cpu_start_ns
           WHERE found = 'repeated' AND step_count > 1
         )
         SELECT
           pid,
           count(*),
           (SELECT count(*) FROM found WHERE found.pid = pass.pid),
           (
             SELECT count(*) FROM found
             WHERE found.pid = pass.pid AND EXISTS (
               SELECT 1 FROM pass AS own WHERE own.global_tid = found.global_tid AND abs(own.nth - found.nth) <= 1
             )
           )
         FROM pass
         GROUP BY pid
         ORDER BY pid",
    );
    let int = |text: &String| text.parse().unwrap();
    found.iter().map(|row| (int(&row[1]), int(&row[2]), int(&row[3]))).collect()
}

#[test]
fn thousands_of_short_steps_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = main_thread(1);
    writer.launch_all(100..130);
    for _ in 0..5_000 {
        writer.pass(|writer| {
            writer.launch_all([1, 2, 3]);
            writer.read_back();
        });
    }
    let report = exported(&of_threads(vec![writer.thread()]), folder.path(), "short");
    assert_eq!(found(&report), [(5_000, 5_000, 5_000)]);
}

#[test]
fn a_few_long_steps_are_found() {
    let folder = tempfile::tempdir().unwrap();
    for steps in [2, 3] {
        let mut writer = main_thread(2);
        let kernels: Vec<u32> = (0..20_000).map(|_| 200 + writer.below(600)).collect();
        for _ in 0..steps {
            writer.pass(|writer| {
                writer.launch_all([1, 2]);
                writer.launch_all(kernels.iter().copied());
                writer.read_back();
            });
        }
        let report =
            exported(&of_threads(vec![writer.thread()]), folder.path(), &format!("long{steps}"));
        assert_eq!(found(&report), [(steps, steps, steps)]);
    }
}

/// A training run with all that varies in one: tuning at first, longer batches, logs, evaluation, kernels that slow down.
#[test]
fn steps_of_a_run_that_varies_are_found() {
    let folder = tempfile::tempdir().unwrap();
    for seed in 1..=8 {
        let mut writer = main_thread(seed);
        let (layers, steps) = (2 + writer.below(10), 30 + writer.below(60) as usize);
        writer.launch_all(100..160);
        for step in 0..steps {
            writer.scale = 1.01f64.powi(step as i32);
            writer.pass(|writer| {
                if step < 2 {
                    // The library tries kernels.
                    writer.launch_all((0..40).flat_map(|_| [300, 301, 302]));
                }
                let grid = 16 << writer.below(4);
                for kernel in forward(layers).into_iter().chain(backward(layers)) {
                    let kernel = if grid == 128 && kernel == 22 { 25 } else { kernel };
                    writer.launch(name(kernel), grid);
                }
                if writer.below(15) > 0 {
                    writer.launch_all((0..12).map(|_| 50));
                }
                writer.read_back();
                if step % 10 == 9 {
                    writer.launch_all([80, 81, 82]);
                    writer.read_back();
                }
                if step % 20 == 15 {
                    writer.launch_all((0..3).flat_map(|_| forward(layers)));
                }
            });
        }
        let report =
            exported(&of_threads(vec![writer.thread()]), folder.path(), &format!("varied{seed}"));
        let [(passes, steps, right)] = found(&report)[..] else { panic!("one process") };
        // A pass of the warm-up may be another thing than a step.
        assert!(steps + 2 >= passes && steps <= passes, "{seed}: {steps} of {passes}");
        assert!(right + 2 >= steps, "{seed}: {right} of {steps} borders");
    }
}

/// The backward pass comes from another thread, as PyTorch's does.
#[test]
fn steps_of_two_threads_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let (mut main, mut autograd) = (main_thread(3), Writer::new("autograd", Stream::Compute, 4));
    for step in 0..40 {
        main.pass(|main| {
            main.launch_all(forward(6));
            main.actions.extend([Action::Signal(2 * step), Action::Await(2 * step + 1)]);
            main.launch_all((0..10).map(|_| 50));
            main.read_back();
        });
        autograd.actions.push(Action::Await(2 * step));
        autograd.launch_all(backward(6));
        autograd.actions.push(Action::Signal(2 * step + 1));
    }
    let program = of_threads(vec![main.thread(), autograd.thread()]);
    let report = exported(&program, folder.path(), "autograd");
    assert_eq!(found(&report), [(40, 40, 40)]);
}

/// Two threads run loops of their own on one GPU. The steps are those of the thread that launches most.
#[test]
fn threads_that_launch_side_by_side_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let (mut main, mut server) = (main_thread(5), Writer::new("server", Stream::Load, 6));
    for _ in 0..60 {
        main.pass(|main| {
            main.launch_all(forward(8).into_iter().chain(backward(8)));
            main.read_back();
        });
    }
    for _ in 0..500 {
        let pause = server.random.about(30_000, 0.9);
        server.actions.push(Action::Work(pause));
        server.launch_all([400, 401, 402]);
        server.read_back();
    }
    let report = exported(&of_threads(vec![main.thread(), server.thread()]), folder.path(), "beside");
    assert_eq!(found(&report), [(60, 60, 60)]);
}

#[test]
fn steps_of_ranks_have_the_same_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let process = |gpu: usize| {
        let mut writer = main_thread(7 + gpu as u64);
        writer.launch_all(100..120 + 10 * gpu as u32);
        for step in 0..30 {
            writer.pass(|writer| {
                writer.launch_all(forward(4).into_iter().chain(backward(4)));
                let kernel = Kernel {
                    name: "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<(unsigned long)4096>)",
                    grid: 16,
                    block: 512,
                    ns: 20_000,
                    collective: Some(step),
                    absent_bytes: 0,
                };
                writer.actions.push(Action::Launch(Stream::Collective, kernel, 3_000));
                writer.launch_all((0..10).map(|_| 50));
                writer.read_back();
            });
        }
        Process { gpu, gpus: 2, threads: vec![writer.thread()] }
    };
    let report = exported(&(0..2).map(process).collect(), folder.path(), "ranks");
    assert_eq!(found(&report), [(30, 30, 30), (30, 30, 30)]);
    // The same number is the same time: collectives hold the ranks together.
    let apart = rows(
        &report,
        "SELECT count(*) FROM step AS a JOIN step AS b ON b.step = a.step AND b.pid > a.pid
         WHERE b.start_ns BETWEEN a.start_ns - 100000 AND a.end_ns",
    );
    assert_eq!(apart[0][0], "30");
}

/// Each step is one launch of a CUDA graph, traced node by node or as a whole.
#[test]
fn steps_in_graphs_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = main_thread(9);
    writer.launch_all(100..140);
    for _ in 0..25 {
        writer.pass(|writer| {
            writer.launch_all(forward(6));
            writer.read_back();
        });
    }
    let report = exported(&of_threads(vec![writer.thread()]), folder.path(), "graphs");
    let connection = Connection::open(&report).unwrap();
    // Of the launches of a pass, the first becomes the launch of the graph.
    let graphs = "
        CREATE TEMP TABLE part AS
        SELECT call.correlationId AS id, first_value(call.correlationId) OVER (PARTITION BY pass.start ORDER BY call.start) AS graph
        FROM NVTX_EVENTS AS pass
        JOIN CUPTI_ACTIVITY_KIND_RUNTIME AS call ON call.start >= pass.start AND call.end <= pass.end
        JOIN CUPTI_ACTIVITY_KIND_KERNEL AS kernel ON kernel.correlationId = call.correlationId;
        DELETE FROM CUPTI_ACTIVITY_KIND_RUNTIME
        WHERE correlationId IN (SELECT id FROM part WHERE id <> graph);
        INSERT INTO StringIds (id, value) SELECT max(id) + 1, 'cudaGraphLaunch_v10000' FROM StringIds;
        UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET nameId = (SELECT max(id) FROM StringIds)
        WHERE correlationId IN (SELECT graph FROM part);
        UPDATE CUPTI_ACTIVITY_KIND_KERNEL
        SET graphNodeId = correlationId, correlationId = (SELECT graph FROM part WHERE id = correlationId)
        WHERE correlationId IN (SELECT id FROM part);";
    connection.execute_batch(graphs).unwrap();
    assert_eq!(found(&report), [(25, 25, 25)]);
    let whole = "
        CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (
          start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, graphId INTEGER NOT NULL,
          contextId INTEGER NOT NULL, greenContextId INTEGER, streamId INTEGER NOT NULL, correlationId INTEGER,
          globalPid INTEGER, graphExecId INTEGER
        );
        INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE
        SELECT min(start), max(end), deviceId, 1, contextId, NULL, streamId, correlationId, globalPid, 2
        FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE graphNodeId > 0 GROUP BY correlationId;
        DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE graphNodeId > 0;";
    connection.execute_batch(whole).unwrap();
    assert_eq!(found(&report), [(25, 25, 25)]);
}

#[test]
fn launches_in_any_order_are_no_steps() {
    let folder = tempfile::tempdir().unwrap();
    for seed in 20..26 {
        let mut writer = main_thread(seed);
        writer.pass(|writer| {
            for _ in 0..2_000 {
                let kernel = writer.below(40);
                writer.launch_all([kernel]);
                if writer.below(20) == 0 {
                    writer.read_back();
                }
            }
        });
        let report =
            exported(&of_threads(vec![writer.thread()]), folder.path(), &format!("random{seed}"));
        assert_eq!(found(&report), [(1, 0, 0)], "{seed}");
    }
}
