//! A clean training program: data-parallel steps of a transformer, whose host is ahead of the GPUs.
//!
//! Each process uses one GPU and has two threads. The main thread launches forward pass, backward pass
//! and optimizer. Each layer's gradients are reduced on a stream of their own while the backward pass
//! goes on. The loader thread prepares batches in pinned memory. The main thread copies the next one at
//! the beginning of each step, also on a stream of its own.

use crate::made::program::{
    Action, Copy, Direction, Kernel, LOADER, MAIN, Process, Program, Random, Stream, Thread,
};

pub(super) const GEMM: &str = "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn";
pub(super) const NORM: &str =
    "void at::native::<unnamed>::vectorized_layer_norm_kernel<float, float>(int, float)";
pub(super) const ADD: &str = "void at::native::vectorized_elementwise_kernel<(int)4, \
     at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char *, 3>>(int, T2, T3)";
pub(super) const REDUCE: &str = "void at::native::reduce_kernel<(int)512, (int)1, \
     at::native::ReduceOp<c10::BFloat16, at::native::sum_functor>>(T3)";
const GELU: &str = "void at::native::vectorized_elementwise_kernel<(int)4, \
     at::native::GeluCUDAKernelImpl, std::array<char *, 2>>(int, T2, T3)";
const FLASH: &str =
    "void flash::flash_fwd_kernel<Flash_fwd_kernel_traits<(int)128, (int)128>>(Flash_fwd_params)";
const FLASH_BACKWARD: &str = "void flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<\
     Flash_bwd_kernel_traits<(int)128>>(Flash_bwd_params)";
const LOSS: &str =
    "void at::native::<unnamed>::cunn_SoftMaxForward<(int)8, float, float>(T4 *, const T2 *, int)";
const ADAM: &str = "void at::native::<unnamed>::multi_tensor_apply_kernel<\
     at::native::<unnamed>::FusedOptimizerTensorListMetadata<(int)4>>(T1, T2, T3...)";
const ALL_REDUCE: &str =
    "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<(unsigned long)4096>)";

/// Kernels of a layer: name, blocks, threads of a block, length.
const FORWARD: [(&str, i64, i64, i64); 9] = [
    (NORM, 4096, 128, 24_000),
    (GEMM, 768, 128, 150_000),
    (FLASH, 512, 128, 170_000),
    (GEMM, 256, 128, 62_000),
    (ADD, 8192, 128, 19_000),
    (NORM, 4096, 128, 24_000),
    (GEMM, 1024, 128, 195_000),
    (GELU, 32768, 128, 41_000),
    (GEMM, 256, 128, 190_000),
];
const BACKWARD: [(&str, i64, i64, i64); 14] = [
    (ADD, 8192, 128, 19_000),
    (GEMM, 1024, 128, 192_000),
    (GEMM, 1024, 128, 196_000),
    (REDUCE, 1024, 512, 22_000),
    (GELU, 32768, 128, 58_000),
    (GEMM, 256, 128, 190_000),
    (GEMM, 256, 128, 201_000),
    (NORM, 4096, 128, 44_000),
    (GEMM, 256, 128, 61_000),
    (GEMM, 256, 128, 64_000),
    (FLASH_BACKWARD, 512, 256, 420_000),
    (GEMM, 768, 128, 149_000),
    (GEMM, 768, 128, 153_000),
    (REDUCE, 1024, 512, 24_000),
];

/// Size and habits of a program.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    pub(super) seed: u64,
    pub(super) gpus: usize,
    pub(super) steps: u32,
    pub(super) layers: u32,
    /// Length of the kernels, as a multiple of those above.
    pub(super) scale: f64,
    /// Whether the host reads the loss after each step, and so waits for the GPU.
    pub(super) reads_loss: bool,
    /// Whether the loader copies the batches, instead of the main thread.
    pub(super) loader_copies: bool,
}

impl Shape {
    pub(super) fn new(seed: u64) -> Self {
        Self { seed, gpus: 2, steps: 4, layers: 12, scale: 1.0, reads_loss: true, loader_copies: false }
    }
}

/// The clean program of a shape.
pub(super) fn train(shape: &Shape) -> Program {
    let process = |gpu: usize| {
        let mut random = Random::new(shape.seed * 64 + gpu as u64);
        // GPUs of one kind differ a little.
        let speed = shape.scale * random.between(0.999, 1.001);
        let mut writer = Writer { shape, random, speed, actions: Vec::new() };
        let main = Thread { name: MAIN, actions: writer.main() };
        let loader = Thread { name: LOADER, actions: writer.loader() };
        Process { gpu, gpus: shape.gpus, threads: vec![main, loader] }
    };
    (0..shape.gpus).map(process).collect()
}

/// Batches that the loader keeps ready.
const AHEAD: u32 = 2;

/// The event of this kind in a step. Events and signals of a step have numbers from `1000 * step`.
pub(super) fn event(step: u32, kind: u32) -> u32 {
    1000 * step + kind
}
/// The batch of the step is on the GPU.
pub(super) const BATCH: u32 = 900;
/// The batch of the step is ready on the host.
const LOADED: u32 = 901;
const BEGUN: u32 = 902;
/// All gradients are reduced.
pub(super) const REDUCED: u32 = 903;

struct Writer<'a> {
    shape: &'a Shape,
    random: Random,
    /// Length of kernels on this GPU, as a multiple.
    speed: f64,
    actions: Vec<Action>,
}

impl Writer<'_> {
    fn main(&mut self) -> Vec<Action> {
        for ns in [180_000, 240_000, 150_000] {
            self.actions.push(Action::Allocate(ns));
        }
        self.actions.push(Action::LoadModule(2_400_000));
        for step in 0..self.shape.steps {
            self.push(&format!("step {step}"));
            self.actions.push(Action::Signal(event(step, BEGUN)));
            self.fetch(step + 1);
            // The first batch was on the GPU when the capture began.
            if step > 0 {
                self.actions.push(Action::WaitEvent(Stream::Compute, event(step, BATCH)));
            }
            self.forward();
            self.backward(step);
            self.optimize();
            if self.shape.reads_loss {
                self.read_loss();
            }
            self.pop();
        }
        std::mem::take(&mut self.actions)
    }

    /// Fetches the batch of a step from the loader, if there is one.
    fn fetch(&mut self, step: u32) {
        if step == self.shape.steps {
            return;
        }
        self.push("data_loading: next batch");
        self.work(9_000);
        self.actions.push(Action::Await(event(step, LOADED)));
        self.pop();
        if !self.shape.loader_copies {
            self.copy(step);
        }
    }

    fn copy(&mut self, step: u32) {
        let ns = self.random.about((1_700_000.0 * self.shape.scale) as i64, 0.01);
        let direction = Direction::ToDevice;
        let copy = Copy { direction, bytes: ns * 24, ns, pageable: false, blocking: false };
        self.actions.push(Action::Copy(Stream::Load, copy));
        self.actions.push(Action::Record(Stream::Load, event(step, BATCH)));
    }

    fn forward(&mut self) {
        self.push("forward");
        for layer in 0..self.shape.layers {
            self.push(&format!("layer_{layer}"));
            for kernel in FORWARD {
                self.work(7_000);
                self.launch(kernel);
            }
            self.pop();
        }
        self.work(8_000);
        self.launch((LOSS, 2048, 256, 120_000));
        self.pop();
    }

    fn backward(&mut self, step: u32) {
        self.push("backward");
        for layer in (0..self.shape.layers).rev() {
            self.push(&format!("layer_{layer} backward"));
            for kernel in BACKWARD {
                self.work(4_000);
                self.launch(kernel);
            }
            if self.shape.gpus > 1 {
                self.all_reduce(event(step, layer));
            }
            self.pop();
        }
        self.actions.push(Action::Record(Stream::Collective, event(step, REDUCED)));
        self.actions.push(Action::WaitEvent(Stream::Compute, event(step, REDUCED)));
        self.pop();
    }

    /// Reduces the gradients that are ready, beside the backward pass.
    fn all_reduce(&mut self, nth: u32) {
        self.work(12_000);
        let ns = (240_000.0 * self.shape.scale) as i64;
        self.actions.push(Action::Record(Stream::Compute, nth));
        self.actions.push(Action::WaitEvent(Stream::Collective, nth));
        let kernel = Kernel {
            name: ALL_REDUCE,
            grid: 16,
            block: 544,
            ns,
            collective: Some(nth),
            absent_bytes: 0,
        };
        self.actions.push(Action::Launch(Stream::Collective, kernel, 7_000));
    }

    fn optimize(&mut self) {
        self.push("optimizer");
        for _ in 0..6 {
            self.work(20_000);
            self.launch((ADAM, 640, 512, 190_000));
        }
        let ns = self.random.about((60_000.0 * self.speed) as i64, 0.02);
        self.actions.push(Action::Fill(Stream::Compute, 80_000_000, ns));
        self.pop();
    }

    fn read_loss(&mut self) {
        self.push("loss.item()");
        let copy =
            Copy { direction: Direction::ToHost, bytes: 4, ns: 1_400, pageable: true, blocking: false };
        self.actions.push(Action::Copy(Stream::Compute, copy));
        self.actions.push(Action::Synchronize(Stream::Compute));
        self.work(11_000);
        self.pop();
    }

    fn loader(&mut self) -> Vec<Action> {
        for step in 1..self.shape.steps {
            if let Some(before) = step.checked_sub(AHEAD) {
                self.actions.push(Action::Await(event(before, BEGUN)));
            }
            // The loader was ahead when the capture began.
            self.work(if step <= AHEAD { 5_000 } else { (9_000_000.0 * self.shape.scale) as i64 });
            if self.shape.loader_copies {
                self.copy(step);
            }
            self.actions.push(Action::Signal(event(step, LOADED)));
        }
        std::mem::take(&mut self.actions)
    }

    fn push(&mut self, range: &str) {
        self.actions.push(Action::Push(range.to_owned()));
    }

    fn pop(&mut self) {
        self.actions.push(Action::Pop);
    }

    fn work(&mut self, ns: i64) {
        let ns = self.random.about((ns as f64) as i64, 0.25);
        self.actions.push(Action::Work(ns));
    }

    fn launch(&mut self, (name, grid, block, ns): (&'static str, i64, i64, i64)) {
        let ns = self.random.about((ns as f64 * self.speed) as i64, 0.02);
        let call = self.random.about(4_600, 0.2);
        let kernel = Kernel { name, grid, block, ns, collective: None, absent_bytes: 0 };
        self.actions.push(Action::Launch(Stream::Compute, kernel, call));
    }
}
