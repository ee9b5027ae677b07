//! Synthetic traces: one list of events, written as a PyTorch trace and as an nsys export.
//!
//! The two writers share only the list, so equal answers show that the import maps events correctly.

#![allow(unreachable_pub)]

use rusqlite::{Connection, params};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

/// A small random number generator (SplitMix64): equal seeds give equal traces.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u64) as usize]
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
}

/// The full and the short names of kernels.
const KERNELS: [(&str, &str); 6] = [
    (
        "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>(int)",
        "vectorized_elementwise_kernel",
    ),
    (
        "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize64x64x64",
        "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize64x64x64",
    ),
    (
        "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
        "ncclDevKernel_AllReduce_Sum_f32_RING_LL",
    ),
    (
        "void (anonymous namespace)::softmax_warp_forward<float, 10>(float*, float const*)",
        "softmax_warp_forward",
    ),
    ("void \"quoted\\backslash\"<1>(int)", "void \"quoted\\backslash\"<1>(int)"),
    ("kernel_é_😀", "kernel_é_😀"),
];
const OPS: [&str; 6] = [
    "aten::addmm",
    "aten::conv2d",
    "autograd::engine::evaluate_function: AddmmBackward0",
    "AddmmBackward0",
    "torch::autograd::AccumulateGrad",
    "aten::copy_",
];
const ANNOTATIONS: [&str; 4] =
    ["ProfilerStep#1", "ProfilerStep#2", "forward", "Optimizer.step#SGD.step"];

#[derive(Debug, Clone, Copy)]
enum What {
    Kernel {
        name: usize,
        grid: [i64; 3],
        block: [i64; 3],
        registers: i64,
        graph_node: Option<i64>,
    },
    /// HtoD, DtoH or DtoD, by nsys's number (1, 2 or 8).
    Memcpy {
        kind: i64,
        bytes: i64,
    },
    Memset {
        bytes: i64,
    },
    /// A wait for a stream (3) or for the context (4).
    Sync {
        kind: i64,
    },
    Call {
        is_driver: bool,
        name: &'static str,
    },
    Range {
        is_annotation: bool,
        name: &'static str,
        sequence: Option<i64>,
    },
}

#[derive(Debug, Clone, Copy)]
struct Event {
    what: What,
    start_ns: i64,
    dur_ns: i64,
    /// The thread of a CPU event, or the stream of GPU work.
    lane: i64,
    device: i64,
    correlation: Option<i64>,
}

pub struct SyntheticTrace {
    events: Vec<Event>,
    pid: i64,
    /// The start of the profiler's own span.
    begin_ns: i64,
}

impl SyntheticTrace {
    /// Threads that run operators with CUDA calls inside, and the GPU work that the calls launch.
    pub fn random(seed: u64) -> Self {
        let mut random = Random(seed);
        let begin_ns = random.pick(&[1_700_000_000_123_456_000, 4_458_676_388_068_751, 0]);
        let mut trace = Self { events: Vec::new(), pid: 1000 + random.below(1000) as i64, begin_ns };
        let mut correlation = 100;
        let devices = 1 + random.below(2);
        for thread in 0..1 + random.below(3) as i64 {
            let mut now_ns = begin_ns + 1_000 + random.below(5_000) as i64;
            for _ in 0..random.below(25) {
                trace.operator(&mut random, thread, &mut now_ns, devices, &mut correlation);
            }
        }
        // The profiler writes events in no particular order.
        for place in (1..trace.events.len()).rev() {
            trace.events.swap(place, random.below(place as u64 + 1) as usize);
        }
        trace
    }

    fn operator(
        &mut self,
        random: &mut Random,
        thread: i64,
        now_ns: &mut i64,
        devices: u64,
        correlation: &mut i64,
    ) {
        let depth = random.below(4);
        let start_ns = *now_ns;
        *now_ns += random.below(3) as i64 * 500;
        for _ in 0..random.below(3) {
            self.call(random, thread, now_ns, devices, correlation);
        }
        *now_ns += random.below(1_000) as i64;
        for level in 0..depth as i64 {
            let is_annotation = random.chance(25);
            let name = if is_annotation { random.pick(&ANNOTATIONS) } else { random.pick(&OPS) };
            let sequence = (!is_annotation && random.chance(50)).then(|| random.below(6) as i64);
            self.events.push(Event {
                what: What::Range { is_annotation, name, sequence },
                start_ns: start_ns - level * 7,
                dur_ns: *now_ns - start_ns + level * 14,
                lane: self.pid + thread,
                device: 0,
                correlation: None,
            });
        }
        *now_ns += 100 + random.below(10_000) as i64;
    }

    fn call(
        &mut self,
        random: &mut Random,
        thread: i64,
        now_ns: &mut i64,
        devices: u64,
        correlation: &mut i64,
    ) {
        *correlation += 1;
        let start_ns = *now_ns;
        *now_ns += 1 + random.below(2_000) as i64;
        let (what, call) = match random.below(10) {
            0 => (
                Some(What::Memcpy {
                    kind: random.pick(&[1, 2, 8]),
                    bytes: random.below(1 << 20) as i64,
                }),
                "cudaMemcpyAsync",
            ),
            1 => (Some(What::Memset { bytes: random.below(4096) as i64 }), "cudaMemsetAsync"),
            2 => (Some(What::Sync { kind: random.pick(&[3, 4]) }), "cudaStreamSynchronize"),
            3 => (None, "cudaEventRecord"),
            _ => {
                let kernel = What::Kernel {
                    name: random.below(KERNELS.len() as u64) as usize,
                    grid: [1 + random.below(64) as i64, 1, 1],
                    block: [32 << random.below(4), 1, 1],
                    registers: random.below(256) as i64,
                    graph_node: random.chance(10).then(|| random.below(5) as i64 + 1),
                };
                (Some(kernel), "cudaLaunchKernel")
            }
        };
        let is_driver = what.is_none() && random.chance(50);
        let has_call = random.chance(95);
        if has_call {
            self.events.push(Event {
                what: What::Call { is_driver, name: call },
                start_ns,
                dur_ns: *now_ns - start_ns,
                lane: self.pid + thread,
                device: 0,
                correlation: Some(*correlation),
            });
        }
        let Some(what) = what else { return };
        // Some operations overlap on a stream, some start together, and some take no time.
        self.events.push(Event {
            what,
            start_ns: start_ns + random.below(8) as i64 * 700,
            dur_ns: random.below(6) as i64 * 450,
            lane: random.pick(&[7, 7, 7, 20]),
            device: random.below(devices) as i64,
            correlation: Some(*correlation),
        });
    }

    /// The trace as Kineto would write it, with random spacing, member order and extra events.
    pub fn json(&self, seed: u64) -> String {
        let mut random = Random(seed);
        let mut text = String::from(
            "{\"schemaVersion\": 1, \"distributedInfo\": {\"rank\": 3},\n\"traceEvents\": [\n",
        );
        let micros = |ns: i64| match ns % 1000 {
            0 => format!("{}", ns / 1000),
            rest => format!("{}.{rest:03}", ns / 1000),
        };
        let mut pieces = vec![
            format!(
                "{{\"name\": \"process_name\", \"ph\": \"M\", \"ts\": 1.5, \"pid\": {}, \"tid\": 0, \"args\": {{\"name\": \"python3\"}}}}",
                self.pid
            ),
            format!(
                "{{\"ph\": \"X\", \"cat\": \"Trace\", \"ts\": {}, \"dur\": 0.5, \"pid\": \"Spans\", \"tid\": \"PyTorch Profiler\", \"name\": \"PyTorch Profiler (0)\", \"args\": {{\"Op count\": 0}}}}",
                micros(self.begin_ns)
            ),
        ];
        for event in &self.events {
            let (category, name, args) = event.kineto(&mut random);
            let pid = if event.is_gpu() { event.device } else { self.pid };
            let times = format!("\"ts\": {}, \"dur\": {}", micros(event.start_ns), micros(event.dur_ns));
            let who = format!("\"pid\": {pid}, \"tid\": {}", event.lane);
            let name = format!("\"name\": {}", serde_json::Value::from(name));
            let mut members = [
                "\"ph\": \"X\"".to_owned(),
                format!("\"cat\": \"{category}\""),
                name,
                who,
                times,
                format!("\"args\": {{{args}}}"),
            ];
            if random.chance(20) {
                members.reverse();
            }
            let joint = if random.chance(20) { ",\n    " } else { ", " };
            pieces.push(format!("{{{}}}", members.join(joint)));
            if random.chance(20) {
                pieces.push(format!("{{\"ph\": \"s\", \"id\": 1, \"pid\": 1, \"tid\": 1, \"ts\": {}, \"cat\": \"ac2g\", \"name\": \"ac2g\"}}", micros(event.start_ns)));
                pieces.push(format!("{{\"ph\": \"X\", \"cat\": \"python_function\", \"name\": \"f\", \"pid\": 0, \"tid\": 0, \"ts\": 0, \"dur\": 9, \"args\": {{\"Python id\": {}}}}}", random.below(9)));
            }
        }
        text.push_str(&pieces.join(",\n"));
        let _ = write!(text, "\n], \"traceName\": \"/tmp/x.json\"}}");
        text
    }

    /// Writes the same events as an nsys export.
    pub fn export(&self, path: &Path) {
        let connection = Connection::open(path).unwrap();
        connection.execute_batch("PRAGMA synchronous = OFF; BEGIN").unwrap();
        let gpu = "start INT, end INT, deviceId INT, contextId INT, streamId INT, correlationId INT, globalPid INT";
        let tables = [
            format!("CUPTI_ACTIVITY_KIND_KERNEL ({gpu}, demangledName INT, shortName INT, registersPerThread INT, gridX INT, gridY INT, gridZ INT, blockX INT, blockY INT, blockZ INT, graphNodeId INT)"),
            format!("CUPTI_ACTIVITY_KIND_MEMCPY ({gpu}, bytes INT, copyKind INT, srcKind INT, dstKind INT)"),
            format!("CUPTI_ACTIVITY_KIND_MEMSET ({gpu}, bytes INT, memKind INT)"),
            format!("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION ({gpu}, syncType INT, eventId INT)"),
            "CUPTI_ACTIVITY_KIND_RUNTIME (start INT, end INT, eventClass INT, globalTid INT, correlationId INT, nameId INT)".to_owned(),
            "NVTX_EVENTS (start INT, end INT, eventType INT, text TEXT, globalTid INT, domainId INT, int64Value INT)".to_owned(),
            "StringIds (id INTEGER PRIMARY KEY, value TEXT)".to_owned(),
            "PROCESSES (globalPid INT, pid INT, name TEXT)".to_owned(),
            "TARGET_INFO_CUDA_STREAM (streamId INT, contextId INT, processId INT)".to_owned(),
            "ANALYSIS_DETAILS (duration INT)".to_owned(),
            "TARGET_INFO_SESSION_START_TIME (utcEpochNs INT)".to_owned(),
        ];
        for table in tables {
            connection.execute_batch(&format!("CREATE TABLE {table}")).unwrap();
        }
        let global_pid = (1 << 48) + self.pid * (1 << 24);
        let mut ids: BTreeMap<&str, i64> = BTreeMap::new();
        // Ids that no import would give. Their order is that of first use, because it decides ties.
        let mut id = |text: &'static str| {
            let next = 5000 + ids.len() as i64;
            *ids.entry(text).or_insert(next)
        };
        let mut domains = BTreeMap::new();
        let mut streams = std::collections::BTreeSet::new();
        let insert = |sql: &str, values: &[&dyn rusqlite::ToSql]| {
            connection.prepare_cached(sql).unwrap().execute(values).unwrap();
        };
        for event in &self.events {
            let (start, end) =
                (event.start_ns - self.begin_ns, event.start_ns - self.begin_ns + event.dur_ns);
            let (device, lane, correlation) = (event.device, event.lane, event.correlation);
            let global_tid = global_pid + lane;
            if event.is_gpu() {
                streams.insert(lane);
            }
            match event.what {
                What::Kernel {
                    name,
                    grid: [gx, gy, gz],
                    block: [bx, by, bz],
                    registers,
                    graph_node,
                } => insert(
                    "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?, ?, ?, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    params![
                        start,
                        end,
                        device,
                        lane,
                        correlation,
                        global_pid,
                        id(KERNELS[name].0),
                        id(KERNELS[name].1),
                        registers,
                        gx,
                        gy,
                        gz,
                        bx,
                        by,
                        bz,
                        graph_node
                    ],
                ),
                What::Memcpy { kind, bytes } => {
                    let (from, to) = match kind {
                        1 => (0, 2),
                        2 => (2, 1),
                        _ => (2, 2),
                    };
                    insert(
                        "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (?, ?, ?, 1, ?, ?, ?, ?, ?, ?, ?)",
                        params![
                            start,
                            end,
                            device,
                            lane,
                            correlation,
                            global_pid,
                            bytes,
                            kind,
                            from,
                            to
                        ],
                    );
                }
                What::Memset { bytes } => insert(
                    "INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (?, ?, ?, 1, ?, ?, ?, ?, 2)",
                    params![start, end, device, lane, correlation, global_pid, bytes],
                ),
                What::Sync { kind } => insert(
                    "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES (?, ?, ?, 1, ?, ?, ?, ?, 4294967295)",
                    params![
                        start,
                        end,
                        device,
                        if kind == 3 { lane } else { 4294967295 },
                        correlation,
                        global_pid,
                        kind
                    ],
                ),
                What::Call { is_driver, name } => insert(
                    "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?, ?, ?, ?, ?, ?)",
                    params![start, end, i64::from(is_driver), global_tid, correlation, id(name)],
                ),
                What::Range { is_annotation, name, sequence } => {
                    let domain = if is_annotation { 1 } else { 2 };
                    domains.entry(domain).or_insert(global_tid);
                    insert(
                        "INSERT INTO NVTX_EVENTS VALUES (?, ?, 59, ?, ?, ?, ?)",
                        params![start, end, name, global_tid, domain, sequence],
                    );
                }
            }
        }
        for (domain, global_tid) in &domains {
            let name = if *domain == 1 { "user_annotation" } else { "cpu_op" };
            insert(
                "INSERT INTO NVTX_EVENTS VALUES (0, NULL, 75, ?, ?, ?, NULL)",
                params![name, global_tid, domain],
            );
        }
        for stream in &streams {
            insert("INSERT INTO TARGET_INFO_CUDA_STREAM VALUES (?, 1, ?)", params![stream, self.pid]);
        }
        for (text, id) in &ids {
            insert("INSERT INTO StringIds VALUES (?, ?)", params![id, text]);
        }
        if self.events.iter().any(|event| !event.is_gpu()) {
            insert("INSERT INTO PROCESSES VALUES (?, ?, 'python3')", params![global_pid, self.pid]);
        }
        let ends = self.events.iter().map(|event| event.start_ns + event.dur_ns).max();
        let last_ns = ends.unwrap_or(0).max(self.begin_ns + 500);
        insert("INSERT INTO ANALYSIS_DETAILS VALUES (?)", params![last_ns - self.begin_ns]);
        if self.begin_ns > 1_000_000_000_000_000_000 {
            insert("INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (?)", params![self.begin_ns]);
        }
        connection.execute_batch("COMMIT").unwrap();
        let empty = "SELECT name FROM sqlite_master WHERE type = 'table'";
        let names: Vec<String> = connection
            .prepare(empty)
            .unwrap()
            .query_map([], |row| row.get(0))
            .unwrap()
            .map(Result::unwrap)
            .collect();
        for name in names {
            let rows: i64 = connection
                .query_row(&format!("SELECT count(*) FROM {name}"), [], |row| row.get(0))
                .unwrap();
            if rows == 0 && name != "StringIds" {
                connection.execute_batch(&format!("DROP TABLE {name}")).unwrap();
            }
        }
    }
}

impl Event {
    fn is_gpu(&self) -> bool {
        !matches!(self.what, What::Call { .. } | What::Range { .. })
    }

    /// Category, name and arguments.
    fn kineto(&self, random: &mut Random) -> (&'static str, String, String) {
        let is_old = random.chance(10);
        let old = |old: &'static str, new: &'static str| if is_old { old } else { new };
        let link = match self.correlation {
            Some(number) => format!("\"External id\": 9, \"correlation\": {number}"),
            None => "\"Ev Idx\": 3".to_owned(),
        };
        let place =
            format!("\"device\": {}, \"context\": 1, \"stream\": {}, {link}", self.device, self.lane);
        match self.what {
            What::Kernel { name, grid, block, registers, graph_node } => {
                let node =
                    graph_node.map_or(String::new(), |node| format!(", \"graph node id\": {node}"));
                let args = format!(
                    "\"queued\": 0, {place}, \"registers per thread\": {registers}, \"grid\": {grid:?}, \"block\": {block:?}, \"warps per SM\": 1.5{node}"
                );
                (old("Kernel", "kernel"), KERNELS[name].0.to_owned(), args)
            }
            What::Memcpy { kind, bytes } => {
                let name = match kind {
                    1 => "Memcpy HtoD (Pageable -> Device)",
                    2 => "Memcpy DtoH (Device -> Pinned)",
                    _ => "Memcpy DtoD (Device -> Device)",
                };
                let args = format!("{place}, \"bytes\": {bytes}, \"memory bandwidth (GB/s)\": 0.5");
                (old("Memcpy", "gpu_memcpy"), name.to_owned(), args)
            }
            What::Memset { bytes } => (
                old("Memset", "gpu_memset"),
                "Memset (Device)".to_owned(),
                format!("{place}, \"bytes\": {bytes}"),
            ),
            What::Sync { kind } => {
                let name = if kind == 3 { "Stream Sync" } else { "Context Sync" };
                ("cuda_sync", name.to_owned(), format!("{place}, \"cuda_sync_kind\": \"{name}\""))
            }
            What::Call { is_driver: true, name } => {
                ("cuda_driver", name.to_owned(), format!("\"cbid\": 1, {link}"))
            }
            What::Call { name, .. } => {
                (old("Runtime", "cuda_runtime"), name.to_owned(), format!("\"cbid\": 211, {link}"))
            }
            What::Range { is_annotation, name, sequence } => {
                let sequence = sequence.map_or(String::new(), |number| {
                    format!(", \"Sequence number\": {number}, \"Fwd thread id\": 0")
                });
                let category = if is_annotation { "user_annotation" } else { old("Operator", "cpu_op") };
                (
                    category,
                    name.to_owned(),
                    format!(
                        "{link}{sequence}, \"Input Dims\": [[4, 512], []], \"Concrete Inputs\": [\"\", \"]}}\"]"
                    ),
                )
            }
        }
    }
}
