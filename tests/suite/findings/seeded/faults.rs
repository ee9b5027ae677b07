//! Faults, each as an engineer would meet it: a change of a clean program, of a chosen size.

use super::training::{ADD, BATCH, GEMM, NORM, REDUCE, REDUCED, Shape};
use crate::made::program::{Action, Copy, Direction, Kernel, LOADER, Process, Random, Stream};

const SGEMM: &str = "ampere_sgemm_128x128_tn";
const ADDCDIV: &str = "void at::native::vectorized_elementwise_kernel<(int)4, \
     at::native::addcdiv_cuda_kernel, std::array<char *, 4>>(int, T2, T3)";
const TRITON: &str = "triton_per_fused_native_layer_norm_7";

/// Bytes that a link moves in a nanosecond.
const PAGEABLE_RATE: f64 = 6.0;
const PINNED_RATE: f64 = 24.0;
const DEVICE_RATE: f64 = 700.0;

/// Smallest ceiling, as a multiple of the time that the fix saves. Findings drop the shortest intervals.
const EXACT: f64 = 0.995;
/// The same for faults that hold the host: the GPU then also waits for the next launch, which is idle time of
/// another finding.
const LAUNCHED: f64 = 0.97;

pub(super) struct Fault {
    pub(super) name: &'static str,
    /// The finding that names it.
    pub(super) finding: &'static str,
    /// Changes the program that the fault is in. The number is the size of the fault: 1 is usual.
    pub(super) shape: fn(&mut Shape, f64),
    /// Smallest ceiling of the finding, as a multiple of the time that the fix saves.
    pub(super) least: f64,
    /// Puts the fault into the process of a GPU.
    pub(super) inject: fn(&mut Process, f64, &mut Random),
}

pub(super) const FAULTS: [Fault; 29] = [
    Fault { least: LAUNCHED, ..fault("pageable_copies", "exposed_pageable_copies", pageable_copies) },
    fault("copies_in_stream", "exposed_copies", copies_in_stream),
    Fault { least: LAUNCHED, ..fault("blocking_copies", "exposed_copies", blocking_copies) },
    Fault { shape: small_model, ..fault("sync_per_layer", "host_sync", sync_per_layer) },
    Fault {
        shape: small_parallel_model,
        ..fault("sync_beside_collectives", "host_sync", sync_per_layer)
    },
    Fault { shape: four_gpus, ..fault("uneven_batches", "rank_wait", uneven_batches) },
    Fault { shape: four_gpus, ..fault("slow_gpu", "rank_wait", slow_gpu) },
    fault("tiny_kernels", "tiny_kernels", tiny_kernels),
    Fault { least: LAUNCHED, ..fault("allocation", "allocation", allocation) },
    Fault {
        shape: by_size,
        ..fault("serialised_all_reduce", "exposed_communication", serialised_all_reduce)
    },
    fault("one_block", "few_blocks", one_block),
    Fault { shape: one_gpu, ..fault("few_blocks", "few_blocks", few_blocks) },
    Fault { shape: one_gpu, ..fault("small_blocks", "small_blocks", small_blocks) },
    fault("small_blocks_beside_collectives", "small_blocks", small_blocks),
    Fault { shape: small_model, ..fault("slow_launches", "launch_bound", slow_launches) },
    Fault {
        shape: small_parallel_model,
        ..fault("slow_launches_beside_collectives", "launch_bound", slow_launches)
    },
    fault("host_work", "host_work", host_work),
    fault("data_loading", "data_loading", data_loading),
    Fault { shape: loader_copies, ..fault("data_loading_by_thread", "data_loading", data_loading) },
    fault("iteration_border", "iteration_border", iteration_border),
    fault("fp32_matmul", "fp32_matmul", fp32_matmul),
    fault("module_load", "jit_and_module_load", module_load),
    fault("device_copies", "device_copies", device_copies),
    fault("device_copies_beside_collectives", "device_copies", device_copies_in_backward),
    fault("gpu_page_faults", "um_migrations", gpu_page_faults),
    Fault { least: LAUNCHED, ..fault("host_page_faults", "um_migrations", host_page_faults) },
    fault("profiler_stalls", "profiler_stalls", profiler_stalls),
    fault("profiler_stalls_in_step", "profiler_stalls", profiler_stalls_in_step),
    fault("host_functions", "queued_work", host_functions),
];

/// Faults that are in one program. Most overlap in time, or change the cost of each other.
pub(super) const PAIRS: [(&str, &str); 8] = [
    ("allocation", "host_work"),
    ("data_loading", "device_copies"),
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
    inject: fn(&mut Process, f64, &mut Random),
) -> Fault {
    Fault { name, finding, shape: |_, _| {}, least: EXACT, inject }
}

fn four_gpus(shape: &mut Shape, _: f64) {
    shape.gpus = 4;
}

fn by_size(shape: &mut Shape, size: f64) {
    shape.layers = (10.0 + 4.0 * size) as u32;
    shape.gpus = if size > 1.0 { 4 } else { 2 };
}

fn loader_copies(shape: &mut Shape, _: f64) {
    shape.loader_copies = true;
}

fn one_gpu(shape: &mut Shape, _: f64) {
    shape.gpus = 1;
}

fn small_model(shape: &mut Shape, _: f64) {
    shape.gpus = 1;
    shape.scale = 0.2;
}

fn small_parallel_model(shape: &mut Shape, _: f64) {
    shape.scale = 0.2;
}

fn work(random: &mut Random, ns: i64) -> Action {
    Action::Work(random.about(ns, 0.25))
}

fn copy(direction: Direction, ns: i64, rate: f64) -> Copy {
    Copy { direction, bytes: (ns as f64 * rate) as i64, ns, pageable: false, blocking: false }
}

/// Each step copies its own batch on the compute stream, instead of the next one on another stream.
fn main_copies(process: &mut Process, mut batch: impl FnMut() -> Copy) {
    process.rewrite(|_, action, actions| match action {
        Action::Copy(Stream::Load, _) | Action::Record(Stream::Load, _) => {}
        Action::WaitEvent(_, event) if event % 1000 == BATCH => {
            actions.push(Action::Copy(Stream::Compute, batch()));
        }
        action => actions.push(action),
    });
}

/// The batch is in pageable memory, and `to(device)` is in the step.
fn pageable_copies(process: &mut Process, size: f64, random: &mut Random) {
    main_copies(process, || Copy {
        pageable: true,
        ..copy(Direction::ToDevice, random.about((size * 6_800_000.0) as i64, 0.05), PAGEABLE_RATE)
    });
}

/// The batch is in pinned memory and copied with `non_blocking=True`, but on the stream of the kernels.
fn copies_in_stream(process: &mut Process, size: f64, random: &mut Random) {
    main_copies(process, || {
        copy(Direction::ToDevice, random.about((size * 3_400_000.0) as i64, 0.05), PINNED_RATE)
    });
}

/// `cudaMemcpy` reads activations back into pinned memory after the forward pass.
fn blocking_copies(process: &mut Process, size: f64, random: &mut Random) {
    process.before("backward", |actions| {
        let ns = random.about((size * 2_800_000.0) as i64, 0.05);
        let copy = Copy { blocking: true, ..copy(Direction::ToHost, ns, PINNED_RATE) };
        actions.extend([Action::Copy(Stream::Compute, copy), work(random, 40_000)]);
    });
}

/// A check of the activations after each layer waits for the GPU.
fn sync_per_layer(process: &mut Process, size: f64, random: &mut Random) {
    process.rewrite(|place, action, actions| {
        let checks = place.is_in("forward") || size > 1.0;
        if matches!(action, Action::Pop) && place.is_directly_in("layer_") && checks {
            actions.push(Action::Synchronize(Stream::Compute));
            actions.push(work(random, (20_000.0 * size) as i64));
        }
        actions.push(action);
    });
}

/// One GPU gets longer sequences than the others. The total is the same.
fn uneven_batches(process: &mut Process, size: f64, _: &mut Random) {
    let more = 0.08 * size;
    let others = (process.gpus - 1) as f64;
    let factor = if process.gpu == 1 { 1.0 + more } else { 1.0 - more / others };
    process.change_kernels(|_, kernel| {
        kernel.ns = (kernel.ns as f64 * factor) as i64;
    });
}

/// One GPU is hot and lowers its clock.
fn slow_gpu(process: &mut Process, size: f64, _: &mut Random) {
    let factor = if process.gpu == 1 { 1.0 + 0.08 * size } else { 1.0 };
    process.change_kernels(|_, kernel| kernel.ns = (kernel.ns as f64 * factor) as i64);
}

/// The optimizer launches kernels for each parameter instead of a fused one for all.
fn tiny_kernels(process: &mut Process, size: f64, random: &mut Random) {
    process.rewrite(|place, action, actions| match action {
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

/// `torch.cuda.empty_cache()` after the forward pass: memory is freed, and allocated again for the first
/// kernels of the backward pass. Not in the first step, which allocates anyway.
fn allocation(process: &mut Process, size: f64, random: &mut Random) {
    let (mut empties, mut missing) = (false, 0);
    process.rewrite(|place, action, actions| {
        if place.step() == Some(0) || !place.is_in("backward") {
            empties = true;
        } else if std::mem::take(&mut empties) {
            missing = (8.0 * size) as usize;
            for _ in 0..missing {
                actions.push(work(random, 2_000));
                actions.push(Action::Free(random.about(190_000, 0.3)));
            }
        }
        if missing > 0 && matches!(action, Action::Launch(Stream::Compute, ..)) {
            missing -= 1;
            actions.push(Action::Allocate(random.about(260_000, 0.3)));
        }
        actions.push(action);
    });
}

/// Gradients are reduced after the backward pass instead of beside it.
fn serialised_all_reduce(process: &mut Process, _: f64, _: &mut Random) {
    let mut late = Vec::new();
    process.rewrite(|_, action, actions| match action {
        Action::Launch(Stream::Collective, ..)
        | Action::WaitEvent(Stream::Collective, _)
        | Action::Record(Stream::Compute, _) => late.push(action),
        Action::Record(_, event) if event % 1000 == REDUCED => {
            actions.append(&mut late);
            actions.push(action);
        }
        action => actions.push(action),
    });
}

/// The loss is computed by a single block.
fn one_block(process: &mut Process, size: f64, random: &mut Random) {
    process.change_kernels(|place, kernel| {
        if place.is_directly_in("forward") {
            kernel.grid = 1;
            kernel.block = 1024;
            kernel.ns = (kernel.ns as f64 * size * random.between(18.0, 25.0)) as i64;
        }
    });
}

/// Reductions have 16, 8 or 4 blocks, so most multiprocessors idle.
fn few_blocks(process: &mut Process, size: f64, random: &mut Random) {
    let blocks = (8.0 / size) as i64;
    process.change_kernels(|_, kernel| {
        if kernel.name == REDUCE {
            kernel.grid = blocks;
            kernel.ns = (kernel.ns as f64 * 108.0 / blocks as f64 * random.between(0.75, 0.95)) as i64;
        }
    });
}

/// Normalization kernels have blocks of 16, 8 or 4 threads, so most lanes of their warps are empty.
fn small_blocks(process: &mut Process, size: f64, random: &mut Random) {
    let threads = (8.0 / size) as i64;
    process.change_kernels(|_, kernel| {
        if kernel.name == NORM {
            kernel.grid *= kernel.block / threads;
            kernel.block = threads;
            kernel.ns = (kernel.ns as f64 * 32.0 / threads as f64 * random.between(0.8, 0.95)) as i64;
        }
    });
}

/// Python takes long between the launches of short kernels.
fn slow_launches(process: &mut Process, size: f64, _: &mut Random) {
    process.rewrite(|place, action, actions| {
        actions.push(match action {
            Action::Work(ns) if place.is_in("forward") || place.is_in("backward") => {
                Action::Work((ns as f64 * (2.0 + 4.0 * size)) as i64)
            }
            action => action,
        });
    });
}

/// A metric is computed on the host in the middle of the step.
fn host_work(process: &mut Process, size: f64, random: &mut Random) {
    process.before("backward", |actions| {
        actions.push(Action::Push("metrics".to_owned()));
        actions.push(Action::Work(random.about(12_000_000 + (size * 8_000_000.0) as i64, 0.1)));
        actions.push(Action::Pop);
    });
}

/// The loader takes longer for a batch than the GPUs for a step.
fn data_loading(process: &mut Process, size: f64, random: &mut Random) {
    process.rewrite(|place, action, actions| {
        actions.push(match action {
            Action::Work(_) if place.thread == LOADER => {
                Action::Work(random.about(38_000_000 + (size * 12_000_000.0) as i64, 0.05))
            }
            action => action,
        });
    });
}

/// The program logs between two steps, when it has read the loss.
fn iteration_border(process: &mut Process, size: f64, random: &mut Random) {
    process.after("step", |_, actions| {
        actions.push(Action::Work(random.about((size * 3_000_000.0) as i64, 0.2)));
    });
}

/// Matrix products are in FP32: in the forward pass only, or in both.
fn fp32_matmul(process: &mut Process, size: f64, random: &mut Random) {
    process.change_kernels(|place, kernel| {
        if kernel.name == GEMM && (size >= 1.0 || place.is_in("forward")) {
            kernel.name = SGEMM;
            // Tensor cores reach less of their peak than CUDA cores do.
            kernel.ns = (kernel.ns as f64 * random.between(4.8, 7.0)) as i64;
        }
    });
}

/// A new shape in the middle of the run: code is loaded, and a kernel launched for the first time.
fn module_load(process: &mut Process, size: f64, random: &mut Random) {
    let mut is_loaded = false;
    process.rewrite(|place, mut action, actions| {
        let is_here =
            place.step() == Some(2) && place.is_in("forward") && place.is_directly_in("layer_6");
        if let Action::Launch(_, kernel, ns) = &mut action
            && is_here
            && !std::mem::replace(&mut is_loaded, true)
        {
            actions.push(Action::LoadModule(random.about((size * 30_000_000.0) as i64, 0.1)));
            kernel.name = TRITON;
            *ns = 1_200_000;
        }
        actions.push(action);
    });
}

/// `.contiguous()` after each addition of the forward pass.
fn device_copies(process: &mut Process, size: f64, random: &mut Random) {
    copies_after(process, ADD, "forward", size, random);
}

/// `.contiguous()` before each product of a backward pass that also reduces gradients.
fn device_copies_in_backward(process: &mut Process, size: f64, random: &mut Random) {
    copies_after(process, ADD, "backward", size, random);
}

fn copies_after(process: &mut Process, kernel: &str, range: &str, size: f64, random: &mut Random) {
    process.rewrite(|place, action, actions| {
        let is_it = matches!(&action, Action::Launch(_, launched, _) if launched.name == kernel);
        actions.push(action);
        if is_it && place.is_in(range) {
            let ns = random.about((size * 180_000.0) as i64, 0.1);
            actions.push(work(random, 5_000));
            actions.push(Action::Copy(Stream::Compute, copy(Direction::OnDevice, ns, DEVICE_RATE)));
        }
    });
}

/// The weights of a product are in unified memory, on the host.
fn gpu_page_faults(process: &mut Process, size: f64, _: &mut Random) {
    process.change_kernels(|place, kernel| {
        if kernel.name == GEMM && kernel.grid == 768 && place.is_in("forward") {
            kernel.absent_bytes = (size * 6_000_000.0) as i64;
        }
    });
}

/// The host reads results in unified memory after each step.
fn host_page_faults(process: &mut Process, size: f64, random: &mut Random) {
    process.after("loss.item()", |_, actions| {
        let ns = random.about((size * 2_500_000.0) as i64, 0.1);
        actions.push(Action::ReadManaged(ns * 11, ns));
    });
}

/// The profiler writes out its buffers after each step.
fn profiler_stalls(process: &mut Process, size: f64, random: &mut Random) {
    process.after("loss.item()", |_, actions| {
        actions.push(Action::Profiler(random.about((size * 3_000_000.0) as i64, 0.1)));
    });
}

/// The profiler writes out its buffers while the host has little lead.
fn profiler_stalls_in_step(process: &mut Process, size: f64, random: &mut Random) {
    process.after("layer_0", |place, actions| {
        if place.is_in("forward") {
            actions.push(Action::Profiler(random.about((size * 4_000_000.0) as i64, 0.1)));
        }
    });
}

/// A callback of the host between layers, on the stream of the kernels.
fn host_functions(process: &mut Process, size: f64, random: &mut Random) {
    process.after("layer_", |place, actions| {
        if place.is_in("forward") {
            let ns = random.about((size * 160_000.0) as i64, 0.2);
            actions.push(Action::HostFunction(Stream::Compute, ns));
        }
    });
}
