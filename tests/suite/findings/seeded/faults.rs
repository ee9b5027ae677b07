//! Faults, each as an engineer would meet it: a change of a clean program, of a chosen size.

use super::program::{Action, Copy, Direction, Kernel, LOADER, Program, Random, Stream};
use super::training::{ADD, BATCH, GEMM, NORM, REDUCE, REDUCED, Shape};

const SGEMM: &str = "ampere_sgemm_128x128_tn";
const ADDCDIV: &str = "void at::native::vectorized_elementwise_kernel<(int)4, \
     at::native::addcdiv_cuda_kernel, std::array<char *, 4>>(int, T2, T3)";
const TRITON: &str = "triton_per_fused_native_layer_norm_7";

/// Bytes that a link moves in a nanosecond.
const PAGEABLE_RATE: f64 = 6.0;
const PINNED_RATE: f64 = 24.0;
const DEVICE_RATE: f64 = 700.0;

pub(super) struct Fault {
    pub(super) name: &'static str,
    /// The finding that names it.
    pub(super) finding: &'static str,
    /// Which program it is in.
    pub(super) shape: fn(&mut Shape, f64),
    /// Puts it into a program. The number is its size: 1 is usual.
    pub(super) inject: fn(&mut Program, f64, &mut Random),
}

pub(super) const FAULTS: [Fault; 23] = [
    fault("pageable_copies", "exposed_pageable_copies", pageable_copies),
    fault("copies_in_stream", "exposed_copies", copies_in_stream),
    fault("blocking_copies", "exposed_copies", blocking_copies),
    fault("sync_per_layer", "host_sync", sync_per_layer),
    Fault { shape: four_gpus, ..fault("uneven_batches", "rank_wait", uneven_batches) },
    Fault { shape: four_gpus, ..fault("slow_gpu", "rank_wait", slow_gpu) },
    Fault { shape: few_steps, ..fault("tiny_kernels", "tiny_kernels", tiny_kernels) },
    fault("allocation", "allocation", allocation),
    Fault { shape: by_size, ..fault("serialised_all_reduce", "exposed_communication", serialised_all_reduce) },
    fault("one_block", "few_blocks", one_block),
    fault("few_blocks", "few_blocks", few_blocks),
    fault("small_blocks", "small_blocks", small_blocks),
    Fault { shape: short_kernels, ..fault("slow_launches", "launch_bound", slow_launches) },
    fault("host_work", "host_work", host_work),
    fault("data_loading", "data_loading", data_loading),
    fault("iteration_border", "iteration_border", iteration_border),
    fault("fp32_matmul", "fp32_matmul", fp32_matmul),
    fault("module_load", "jit_and_module_load", module_load),
    fault("device_copies", "device_copies", device_copies),
    fault("gpu_page_faults", "um_migrations", gpu_page_faults),
    fault("host_page_faults", "um_migrations", host_page_faults),
    fault("profiler_stalls", "profiler_stalls", profiler_stalls),
    fault("host_functions", "queued_work", host_functions),
];

/// Faults that overlap in time, or take from each other.
pub(super) const PAIRS: [(&str, &str); 8] = [
    ("allocation", "host_work"),
    ("data_loading", "profiler_stalls"),
    ("pageable_copies", "iteration_border"),
    ("serialised_all_reduce", "uneven_batches"),
    ("sync_per_layer", "tiny_kernels"),
    ("one_block", "small_blocks"),
    ("fp32_matmul", "device_copies"),
    ("copies_in_stream", "host_functions"),
];

const fn fault(
    name: &'static str,
    finding: &'static str,
    inject: fn(&mut Program, f64, &mut Random),
) -> Fault {
    Fault { name, finding, shape: |_, _| {}, inject }
}

fn four_gpus(shape: &mut Shape, _: f64) {
    shape.gpus = 4;
    shape.steps = 4;
}

fn few_steps(shape: &mut Shape, _: f64) {
    shape.steps = 4;
}

fn by_size(shape: &mut Shape, size: f64) {
    shape.layers = (10.0 + 4.0 * size) as u32;
    shape.gpus = if size > 1.0 { 4 } else { 2 };
    shape.steps = 4;
}

fn short_kernels(shape: &mut Shape, _: f64) {
    shape.scale = 0.15;
}

fn work(random: &mut Random, ns: i64) -> Action {
    Action::Work(random.about(ns, 0.25))
}

fn copy(direction: Direction, ns: i64, rate: f64) -> Copy {
    Copy { direction, bytes: (ns as f64 * rate) as i64, ns, pageable: false, blocking: false }
}

/// The main thread copies the batch on the compute stream, instead of the loader on its own.
fn main_copies(program: &mut Program, mut batch: impl FnMut() -> Copy) {
    program.rewrite(|place, action, actions| match action {
        Action::Copy(..) | Action::Record(..) if place.thread == LOADER => {}
        Action::WaitEvent(_, event) if event % 1000 == BATCH => {
            actions.push(Action::Copy(Stream::Compute, batch()));
        }
        action => actions.push(action),
    });
}

/// The batch is in pageable memory, and `to(device)` is in the step.
fn pageable_copies(program: &mut Program, size: f64, random: &mut Random) {
    main_copies(program, || Copy {
        pageable: true,
        ..copy(Direction::ToDevice, random.about((size * 6_800_000.0) as i64, 0.05), PAGEABLE_RATE)
    });
}

/// The batch is in pinned memory and copied with `non_blocking=True`, but on the stream of the kernels.
fn copies_in_stream(program: &mut Program, size: f64, random: &mut Random) {
    main_copies(program, || {
        copy(Direction::ToDevice, random.about((size * 3_400_000.0) as i64, 0.05), PINNED_RATE)
    });
}

/// `cudaMemcpy` reads activations back into pinned memory after the forward pass.
fn blocking_copies(program: &mut Program, size: f64, random: &mut Random) {
    before(program, "backward", |actions| {
        let ns = random.about((size * 2_800_000.0) as i64, 0.05);
        let copy = Copy { blocking: true, ..copy(Direction::ToHost, ns, PINNED_RATE) };
        actions.extend([Action::Copy(Stream::Compute, copy), work(random, 40_000)]);
    });
}

/// Adds actions before each range of the main thread whose name begins so.
fn before(program: &mut Program, range: &str, mut add: impl FnMut(&mut Vec<Action>)) {
    program.rewrite(|place, action, actions| {
        if matches!(action, Action::Push(_)) && place.is_directly_in(range) {
            add(actions);
        }
        actions.push(action);
    });
}

/// A check of the activations after each layer waits for the GPU.
fn sync_per_layer(program: &mut Program, size: f64, random: &mut Random) {
    program.rewrite(|place, action, actions| {
        let checks = place.is_in("forward") || size > 1.0;
        if matches!(action, Action::Pop) && place.is_directly_in("layer_") && checks {
            actions.push(Action::Synchronize(Stream::Compute));
            actions.push(work(random, (20_000.0 * size) as i64));
        }
        actions.push(action);
    });
}

/// One GPU gets longer sequences than the others. The total is the same.
fn uneven_batches(program: &mut Program, size: f64, _: &mut Random) {
    let more = 0.08 * size;
    let others = (program.processes.len() - 1) as f64;
    program.change_kernels(|place, kernel| {
        let factor = if place.gpu == 1 { 1.0 + more } else { 1.0 - more / others };
        kernel.ns = (kernel.ns as f64 * factor) as i64;
    });
}

/// One GPU is hot and lowers its clock.
fn slow_gpu(program: &mut Program, size: f64, _: &mut Random) {
    program.change_kernels(|place, kernel| {
        if place.gpu == 1 {
            kernel.ns = (kernel.ns as f64 * (1.0 + 0.08 * size)) as i64;
        }
    });
}

/// The optimizer launches kernels for each parameter instead of a fused one for all.
fn tiny_kernels(program: &mut Program, size: f64, random: &mut Random) {
    program.rewrite(|place, action, actions| match action {
        Action::Launch(stream, kernel, _) if place.is_in("optimizer") => {
            for _ in 0..(160.0 * size) as usize {
                let ns = random.about(2_900, 0.3);
                let kernel = Kernel { name: ADDCDIV, grid: 64, block: 128, ns, ..kernel.clone() };
                actions.push(work(random, 3_000));
                actions.push(Action::Launch(stream, kernel, random.about(4_600, 0.2)));
            }
        }
        action => actions.push(action),
    });
}

/// `torch.cuda.empty_cache()` in each step: memory is freed, and allocated again.
fn allocation(program: &mut Program, size: f64, random: &mut Random) {
    before(program, "backward", |actions| {
        for ns in [160_000, 280_000] {
            for _ in 0..(6.0 * size) as usize {
                let ns = random.about(ns, 0.3);
                actions.push(work(random, 6_000));
                actions.push(if ns < 210_000 { Action::Free(ns) } else { Action::Allocate(ns) });
            }
        }
    });
}

/// Gradients are reduced after the backward pass instead of beside it.
fn serialised_all_reduce(program: &mut Program, _: f64, _: &mut Random) {
    let mut late = Vec::new();
    program.rewrite(|place, action, actions| match action {
        Action::Launch(Stream::Collective, ..) | Action::WaitEvent(Stream::Collective, _) => late.push(action),
        Action::Record(Stream::Collective, event) if place.is_in("backward") && event % 1000 == REDUCED => {
            actions.append(&mut late);
            actions.push(action);
        }
        action => actions.push(action),
    });
}

/// The loss is computed by a single block.
fn one_block(program: &mut Program, size: f64, random: &mut Random) {
    program.change_kernels(|place, kernel| {
        if place.is_directly_in("forward") {
            kernel.grid = 1;
            kernel.block = 1024;
            kernel.ns = (kernel.ns as f64 * size * random.between(18.0, 25.0)) as i64;
        }
    });
}

/// Reductions have one block for each of a few rows.
fn few_blocks(program: &mut Program, size: f64, random: &mut Random) {
    program.change_kernels(|_, kernel| {
        if kernel.name == REDUCE {
            kernel.grid = 8;
            kernel.ns = (kernel.ns as f64 * size * random.between(8.0, 11.0)) as i64;
        }
    });
}

/// Normalization kernels of our own have blocks of 16, 8 or 4 threads, and are nearly so much slower.
fn small_blocks(program: &mut Program, size: f64, random: &mut Random) {
    let threads = (8.0 / size) as i64;
    program.change_kernels(|_, kernel| {
        if kernel.name == NORM {
            kernel.grid *= kernel.block / threads;
            kernel.block = threads;
            kernel.ns = (kernel.ns as f64 * 32.0 / threads as f64 * random.between(0.8, 0.95)) as i64;
        }
    });
}

/// Python takes long between the launches of short kernels.
fn slow_launches(program: &mut Program, size: f64, _: &mut Random) {
    program.rewrite(|place, action, actions| {
        actions.push(match action {
            Action::Work(ns) if place.is_in("forward") || place.is_in("backward") => {
                Action::Work((ns as f64 * (2.0 + 4.0 * size)) as i64)
            }
            action => action,
        });
    });
}

/// A metric is computed on the host in the middle of the step.
fn host_work(program: &mut Program, size: f64, random: &mut Random) {
    before(program, "backward", |actions| {
        actions.push(Action::Push("metrics".to_owned()));
        actions.push(work(random, 12_000_000 + (size * 8_000_000.0) as i64));
        actions.push(Action::Pop);
    });
}

/// The loader takes longer for a batch than the GPUs for a step.
fn data_loading(program: &mut Program, size: f64, random: &mut Random) {
    program.rewrite(|place, action, actions| {
        actions.push(match action {
            Action::Work(_) if place.thread == LOADER => {
                Action::Work(random.about(38_000_000 + (size * 12_000_000.0) as i64, 0.05))
            }
            action => action,
        });
    });
}

/// The program logs between two steps, after it has read the loss.
fn iteration_border(program: &mut Program, size: f64, random: &mut Random) {
    program.rewrite(|place, action, actions| {
        let ends = matches!(action, Action::Pop) && place.is_directly_in("step");
        actions.push(action);
        if ends {
            actions.push(work(random, (size * 3_000_000.0) as i64));
        }
    });
}

/// Matrix products are in FP32: in the forward pass only, or in both.
fn fp32_matmul(program: &mut Program, size: f64, random: &mut Random) {
    program.change_kernels(|place, kernel| {
        if kernel.name == GEMM && (size >= 1.0 || place.is_in("forward")) {
            kernel.name = SGEMM;
            // Tensor cores reach less of their peak than CUDA cores do.
            kernel.ns = (kernel.ns as f64 * random.between(4.8, 7.0)) as i64;
        }
    });
}

/// A new shape in the middle of the run: code is loaded, and a kernel launched for the first time.
fn module_load(program: &mut Program, size: f64, random: &mut Random) {
    let mut loaded = [false; 64];
    program.rewrite(|place, mut action, actions| {
        let is_here = place.step() == Some(3) && place.is_in("forward") && place.is_directly_in("layer_6");
        if let Action::Launch(_, kernel, ns) = &mut action
            && is_here
            && !std::mem::replace(&mut loaded[place.gpu], true)
        {
            actions.push(Action::LoadModule(random.about((size * 30_000_000.0) as i64, 0.1)));
            kernel.name = TRITON;
            *ns = 1_200_000;
        }
        actions.push(action);
    });
}

/// `.contiguous()` after each addition.
fn device_copies(program: &mut Program, size: f64, random: &mut Random) {
    program.rewrite(|_, action, actions| {
        let adds = matches!(&action, Action::Launch(_, kernel, _) if kernel.name == ADD);
        actions.push(action);
        if adds {
            let ns = random.about((size * 130_000.0) as i64, 0.1);
            actions.push(work(random, 5_000));
            actions.push(Action::Copy(Stream::Compute, copy(Direction::OnDevice, ns, DEVICE_RATE)));
        }
    });
}

/// The weights of a product are in unified memory, on the host.
fn gpu_page_faults(program: &mut Program, size: f64, _: &mut Random) {
    program.change_kernels(|place, kernel| {
        if kernel.name == GEMM && kernel.grid == 768 && place.is_in("forward") {
            kernel.absent_bytes = (size * 6_000_000.0) as i64;
        }
    });
}

/// The host reads results in unified memory after each step.
fn host_page_faults(program: &mut Program, size: f64, random: &mut Random) {
    program.rewrite(|place, action, actions| {
        let ends = matches!(action, Action::Pop) && place.is_directly_in("loss.item()");
        actions.push(action);
        if ends {
            let ns = random.about((size * 2_500_000.0) as i64, 0.1);
            actions.push(Action::ReadManaged(ns * 11, ns));
        }
    });
}

/// The profiler writes out its buffers after each step.
fn profiler_stalls(program: &mut Program, size: f64, random: &mut Random) {
    program.rewrite(|place, action, actions| {
        let begins = matches!(action, Action::Push(_)) && place.is_directly_in("forward");
        actions.push(action);
        if begins && place.step() > Some(0) {
            actions.push(Action::Profiler(random.about((size * 3_000_000.0) as i64, 0.1)));
        }
    });
}

/// A callback of the host between layers, on the stream of the kernels.
fn host_functions(program: &mut Program, size: f64, random: &mut Random) {
    program.rewrite(|place, action, actions| {
        let ends = matches!(action, Action::Pop) && place.is_directly_in("layer_");
        actions.push(action);
        if ends && place.is_in("forward") {
            actions.push(Action::HostFunction(Stream::Compute, random.about((size * 160_000.0) as i64, 0.2)));
        }
    });
}
