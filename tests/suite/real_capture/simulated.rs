//! A simulated capture in the layout of a real one.
//!
//! A program and its GPU are simulated once per recorder. The writers of the export, the trace and the
//! truth share only the simulated events.

#![allow(unreachable_pub)]

use flate2::{Compression, write::GzEncoder};
use rusqlite::{Connection, params};
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

/// A single fault of a capture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The export lacks a kernel of a measured step.
    KernelMissing,
    /// The kernels of the export take 1.5 times as long.
    KernelsLonger,
    /// PyTorch's summary has a wrong number of calls.
    SummaryMiscounts,
    /// The CUDA events of the run under nsys show twice the time.
    EventsLonger,
    /// The `backward` ranges of the export end halfway.
    PhaseCutShort,
    /// The program reports twice the FLOPs of its shape.
    FlopsDoubled,
    /// The range of attention's first product is named `x`.
    RangeUnnamed,
    /// The trace lacks a step.
    StepMissing,
}

const PRODUCT: &str = "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1";
const SOFTMAX: &str =
    "void (anonymous namespace)::softmax_warp_forward<float, 10>(float*, float const*)";
const ADD: &str =
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>(int)";
const ADAM: &str = "void at::native::multi_tensor_apply_kernel<at::native::Adam>(float*)";

const LAYERS: i64 = 2;
const STEPS: usize = 3;
const PID: i64 = 100;
/// The thread ids of the program and of autograd.
const MAIN: i64 = 100;
const AUTOGRAD: i64 = 101;

struct Range {
    name: String,
    start: i64,
    end: i64,
}

struct Kernel {
    name: &'static str,
    thread: i64,
    /// Start and end of the call that launched it.
    call: (i64, i64),
    start: i64,
    end: i64,
}

/// One run of the program: the CPU runs the ranges and the GPU the kernels, both in order.
struct Simulated {
    now: i64,
    gpu_free: i64,
    thread: i64,
    /// Duration of the GPU work, in percent of the normal duration.
    pace: i64,
    ranges: Vec<Range>,
    kernels: Vec<Kernel>,
    times: Vec<Json>,
}

impl Simulated {
    fn run(pace: i64) -> Self {
        let mut run = Self {
            now: 5_000_000,
            gpu_free: 0,
            thread: MAIN,
            pace,
            ranges: Vec::new(),
            kernels: Vec::new(),
            times: Vec::new(),
        };
        run.range("warm-up", |run| {
            run.phases();
            run.synchronize();
        });
        for step in 0..STEPS {
            run.range(&format!("step {step}"), |run| {
                let marks = run.phases();
                run.synchronize();
                let phases: Vec<i64> = marks.windows(2).map(|pair| pair[1] - pair[0]).collect();
                run.times.push(json!({
                    "step": phases.iter().sum::<i64>(), "forward": phases[0], "loss": phases[1],
                    "backward": phases[2], "optimizer": phases[3],
                }));
            });
        }
        run
    }

    fn range(&mut self, name: &str, inside: impl FnOnce(&mut Self)) {
        self.now += 1_000;
        let (place, start) = (self.ranges.len(), self.now);
        self.ranges.push(Range { name: name.to_owned(), start, end: 0 });
        inside(self);
        self.now += 1_000;
        self.ranges[place].end = self.now;
    }

    fn launch(&mut self, name: &'static str, micros: i64) {
        let call = (self.now + 2_000, self.now + 6_000);
        self.now = call.1;
        let start = self.gpu_free.max(call.1) + 1_000;
        let end = start + micros * 10 * self.pace;
        self.kernels.push(Kernel { name, thread: self.thread, call, start, end });
        self.gpu_free = end;
    }

    /// The time at which the GPU reaches an event recorded now.
    fn mark(&mut self) -> i64 {
        self.now += 1_000;
        self.gpu_free.max(self.now)
    }

    fn synchronize(&mut self) {
        self.now = self.now.max(self.gpu_free) + 5_000;
    }

    fn phases(&mut self) -> [i64; 5] {
        let begin = self.mark();
        self.range("forward", |run| {
            for layer in 0..LAYERS {
                run.range(&format!("layer {layer}"), Self::layer);
            }
            run.launch(PRODUCT, 400);
        });
        let forward = self.mark();
        self.range("loss", |run| run.launch(SOFTMAX, 90));
        let loss = self.mark();
        self.range("backward", |run| {
            run.thread = AUTOGRAD;
            for _ in 0..LAYERS {
                for product in 0..14 {
                    run.launch(PRODUCT, 300);
                    if product % 2 == 0 {
                        run.launch(ADD, 40);
                    }
                }
            }
            run.thread = MAIN;
        });
        let backward = self.mark();
        self.range("optimizer", |run| run.launch(ADAM, 800));
        [begin, forward, loss, backward, self.mark()]
    }

    fn layer(&mut self) {
        self.range("attention", |run| {
            run.launch(PRODUCT, 300);
            run.range("QK^T", |run| run.launch(PRODUCT, 120));
            run.range("causal mask", |run| run.launch(ADD, 60));
            run.range("softmax", |run| run.launch(SOFTMAX, 150));
            run.range("A V", |run| run.launch(PRODUCT, 110));
            run.launch(PRODUCT, 100);
        });
        self.range("feed-forward", |run| {
            for _ in 0..3 {
                run.launch(PRODUCT, 400);
            }
        });
    }

    fn truth(&self) -> Json {
        let (batch, context, width, d_ff, heads, vocabulary) = (4, 512, 768, 3072, 12, 10_000);
        let product = 2 * batch * heads * context * context * (width / heads);
        let linear = batch * context * (8 * width * width + 6 * width * d_ff);
        let forward = LAYERS * (linear + 2 * product) + 2 * batch * context * width * vocabulary;
        json!({
            "clock": "cuda events", "times_ns": self.times, "kernels": null, "flop_counted": 3 * forward,
            "options": {"mode": "train", "batch": batch, "context": context, "vocabulary": vocabulary, "graph": false},
            "shape": {"d_model": width, "d_ff": d_ff, "layers": LAYERS, "heads": heads, "d_head": width / heads},
            "flop": {
                "attention_scores": product, "attention_values": product,
                "attention_softmax": 5 * batch * heads * context * context,
                "forward": forward, "backward": 2 * forward, "step": 3 * forward,
            },
        })
    }

    /// Calls and time of the kernels, by name.
    fn summary(&self) -> Json {
        let mut sums: BTreeMap<&str, (i64, i64)> = BTreeMap::new();
        for kernel in &self.kernels {
            let sum = sums.entry(kernel.name).or_default();
            *sum = (sum.0 + 1, sum.1 + kernel.end - kernel.start);
        }
        sums.iter()
            .map(|(name, (calls, total))| json!({"name": name, "calls": calls, "total_ns": total}))
            .collect()
    }

    fn export(&self, path: &Path) {
        let connection = Connection::open(path).unwrap();
        connection
            .execute_batch(
                "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, end INT, deviceId INT, contextId INT,
                   streamId INT, correlationId INT, globalPid INT, demangledName INT, shortName INT);
                 CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INT, end INT, eventClass INT, globalTid INT,
                   correlationId INT, nameId INT);
                 CREATE TABLE NVTX_EVENTS (start INT, end INT, eventType INT, text TEXT, globalTid INT, domainId INT);
                 CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
                 INSERT INTO StringIds VALUES (1, 'cudaLaunchKernel_v7000');",
            )
            .unwrap();
        let of_process = (1 << 48) + (PID << 24);
        let insert = |sql: &str, values: &[&dyn rusqlite::ToSql]| {
            connection.prepare_cached(sql).unwrap().execute(values).unwrap();
        };
        for (place, name) in [PRODUCT, SOFTMAX, ADD, ADAM].iter().enumerate() {
            insert("INSERT INTO StringIds VALUES (?, ?)", params![place as i64 + 10, name]);
        }
        for (number, kernel) in self.kernels.iter().enumerate() {
            let number = number as i64 + 1;
            insert(
                "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL
                 SELECT ?, ?, 0, 1, 7, ?, ?, id, id FROM StringIds WHERE value = ?",
                params![kernel.start, kernel.end, number, of_process, kernel.name],
            );
            insert(
                "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?, ?, 0, ?, ?, 1)",
                params![kernel.call.0, kernel.call.1, of_process + kernel.thread, number],
            );
        }
        for range in &self.ranges {
            insert(
                "INSERT INTO NVTX_EVENTS VALUES (?, ?, 59, ?, ?, 0)",
                params![range.start, range.end, range.name, of_process + MAIN],
            );
        }
    }

    fn trace(&self) -> Json {
        let micros = |ns: i64| ns as f64 / 1000.0;
        let event = |category: &str, name: &str, lane: (i64, i64), times: (i64, i64), args: Json| {
            json!({"ph": "X", "cat": category, "name": name, "pid": lane.0, "tid": lane.1,
                   "ts": micros(times.0), "dur": micros(times.1 - times.0), "args": args})
        };
        let mut events = Vec::new();
        for range in &self.ranges {
            let times = (range.start, range.end);
            events.push(event("user_annotation", &range.name, (PID, MAIN), times, json!({})));
        }
        for (number, kernel) in self.kernels.iter().enumerate() {
            let link = json!({"correlation": number + 1});
            events.push(event(
                "cuda_runtime",
                "cudaLaunchKernel",
                (PID, kernel.thread),
                kernel.call,
                link,
            ));
            let place = json!({"device": 0, "context": 1, "stream": 7, "correlation": number + 1});
            events.push(event("kernel", kernel.name, (0, 7), (kernel.start, kernel.end), place));
        }
        json!({"schemaVersion": 1, "traceEvents": events})
    }
}

fn pack(path: &Path, content: &[u8]) {
    let mut file = GzEncoder::new(std::fs::File::create(path).unwrap(), Compression::fast());
    file.write_all(content).unwrap();
    file.finish().unwrap();
}

/// Writes `nsys.sqlite.gz`, `torch.json.gz` and `truth.json`, with at most one fault.
pub fn make(folder: &Path, fault: Option<Fault>) {
    let (mut nsys, mut torch) = (Simulated::run(100), Simulated::run(102));
    let mut truth =
        json!({"bare": Simulated::run(99).truth(), "nsys": nsys.truth(), "torch": torch.truth()});
    truth["torch"]["kernels"] = torch.summary();
    match fault {
        None => {}
        Some(Fault::KernelMissing) => drop(nsys.kernels.pop()),
        Some(Fault::KernelsLonger) => {
            let mut longer = Simulated::run(150);
            truth["nsys"] = longer.truth();
            std::mem::swap(&mut nsys, &mut longer);
        }
        Some(Fault::SummaryMiscounts) => truth["torch"]["kernels"][0]["calls"] = json!(1),
        Some(Fault::EventsLonger) => {
            for step in truth["nsys"]["times_ns"].as_array_mut().unwrap() {
                step["step"] = json!(2 * step["step"].as_i64().unwrap());
            }
        }
        Some(Fault::PhaseCutShort) => {
            let backward = nsys.ranges.iter_mut().filter(|range| range.name == "backward");
            backward.for_each(|range| range.end = (range.start + range.end) / 2);
        }
        Some(Fault::FlopsDoubled) => {
            let forward = truth["nsys"]["flop"]["forward"].as_i64().unwrap();
            truth["nsys"]["flop"]["forward"] = json!(2 * forward);
        }
        Some(Fault::RangeUnnamed) => {
            nsys.ranges
                .iter_mut()
                .filter(|range| range.name == "QK^T")
                .for_each(|range| range.name = "x".to_owned());
        }
        Some(Fault::StepMissing) => {
            torch.ranges.retain(|range| range.name != "step 1");
        }
    }
    let work = tempfile::tempdir().unwrap();
    let export = work.path().join("nsys.sqlite");
    nsys.export(&export);
    pack(&folder.join("nsys.sqlite.gz"), &std::fs::read(export).unwrap());
    pack(&folder.join("torch.json.gz"), torch.trace().to_string().as_bytes());
    std::fs::write(folder.join("truth.json"), truth.to_string()).unwrap();
}
