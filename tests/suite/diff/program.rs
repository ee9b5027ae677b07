//! Generated exports for comparisons: a program with steps, kernels and copies, whose times vary in a known way.

use crate::support::{NEWEST_COMMON, drop_empty_tables, project};
use rusqlite::{Connection, Transaction};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A kernel of a step.
#[derive(Clone)]
pub struct Kernel {
    pub name: &'static str,
    /// NVTX range below the step; none if empty.
    pub range: &'static str,
    /// Blocks, and threads of a block.
    pub shape: (i64, i64),
    /// Launches in a step.
    pub count: usize,
    pub mean_ns: f64,
}

/// Each step copies its input, runs the kernels one after the other, and idles.
#[derive(Clone)]
pub struct Program {
    pub gpu: &'static str,
    pub kernels: Vec<Kernel>,
    pub steps: usize,
    /// Whether the steps are NVTX ranges.
    pub has_ranges: bool,
    pub copy_ns: f64,
    /// Idle time after each kernel.
    pub gap_ns: f64,
    /// Spread of each call, as a share of its mean.
    pub noise: f64,
    /// Spread of the clock, and how many steps it takes to forget.
    pub drift: (f64, f64),
    /// The clock of the whole run: all of its work takes so many times longer.
    pub clock: f64,
    /// How much longer a step takes in the other mode of the program, and how many steps it stays in one.
    pub modes: (f64, f64),
    /// Share of the steps that take much longer, and how many times.
    pub outliers: (f64, f64),
    /// The step before which the program pauses for five steps' time, then less from step to step; none if 0.
    pub stalls_at: usize,
    /// Whether all operations of a step are launched at its begin, and the host waits for the GPU at its end.
    pub is_ahead: bool,
    /// Whether the clock of the GPU was sampled.
    pub has_clocks: bool,
    pub seed: u64,
}

/// A kernel or copy of a step, and its launch.
pub struct Op<'p> {
    /// None for the copy.
    pub kernel: Option<&'p Kernel>,
    pub called_ns: i64,
    pub start_ns: i64,
    pub end_ns: i64,
    /// When the thread goes on with the next one.
    pub next_ns: i64,
}

/// A step, on the thread that launches.
pub struct Step<'p> {
    pub ops: Vec<Op<'p>>,
    pub begun_ns: i64,
    pub ended_ns: i64,
}

/// The time of a step on the GPU, and its parts; the rest is idle.
#[derive(Debug, Clone)]
pub struct Window {
    pub step: usize,
    pub time_ns: i64,
    pub compute_ns: i64,
    pub copies_ns: i64,
}

/// A small generator of random numbers, so that a seed always gives the same export.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x2545_f491_4f6c_dd1d)
    }

    /// Evenly between 0 and 1.
    pub fn even(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Normal, with mean 0 and spread 1.
    pub fn normal(&mut self) -> f64 {
        (-2.0 * (1.0 - self.even()).ln()).sqrt() * (std::f64::consts::TAU * self.even()).cos()
    }
}

pub fn kernel(name: &'static str, count: usize, mean_us: f64) -> Kernel {
    Kernel { name, range: "", shape: (264, 256), count, mean_ns: mean_us * 1e3 }
}

impl Program {
    /// 20 steps of a matrix product, a softmax and an optimizer, 1 % noise.
    pub fn training(seed: u64) -> Self {
        Self {
            gpu: "NVIDIA H100 80GB HBM3",
            kernels: vec![
                Kernel { range: "forward", ..kernel("gemm_128x128_tn", 8, 200.0) },
                Kernel { range: "forward", ..kernel("void softmax_kernel<float>(float *)", 8, 20.0) },
                Kernel { range: "optimizer", ..kernel("void adam_kernel<float>(float *)", 4, 60.0) },
            ],
            steps: 20,
            has_ranges: true,
            copy_ns: 50e3,
            gap_ns: 2e3,
            noise: 0.01,
            drift: (0.0, 1.0),
            clock: 1.0,
            modes: (1.0, 1.0),
            outliers: (0.0, 1.0),
            stalls_at: 0,
            is_ahead: false,
            has_clocks: false,
            seed,
        }
    }

    /// Changes the first kernel whose name contains a text.
    pub fn with(mut self, name: &str, change: impl FnOnce(&mut Kernel)) -> Self {
        change(self.kernels.iter_mut().find(|kernel| kernel.name.contains(name)).unwrap());
        self
    }

    /// Makes each step longer by a share of its time, by longer kernels and copies.
    pub fn slower(self, share: f64) -> Self {
        let kernels =
            self.kernels.iter().map(|kernel| (kernel.count, kernel.count as f64 * kernel.mean_ns));
        let (calls, busy) =
            kernels.fold((1, self.copy_ns), |sum, kernel| (sum.0 + kernel.0, sum.1 + kernel.1));
        // Each operation starts 1 µs after its call, and 3 µs are between two steps.
        let step = busy + calls as f64 * (1e3 + self.gap_ns) + 3e3;
        Self { clock: self.clock * (1.0 + share * step / busy), ..self }
    }

    /// Writes the export, and returns its path.
    pub fn write(&self, folder: &Path, name: &str) -> String {
        let path: PathBuf = folder.join(format!("{name}.sqlite"));
        let mut connection = Connection::open(&path).unwrap();
        connection.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF").unwrap();
        let schema = project(&format!("fixtures/schema/{NEWEST_COMMON}.sql"));
        connection.execute_batch(&std::fs::read_to_string(schema).unwrap()).unwrap();
        let transaction = connection.transaction().unwrap();
        self.fill(&transaction).unwrap();
        transaction.commit().unwrap();
        drop_empty_tables(&connection);
        path.to_str().unwrap().to_owned()
    }

    /// What the program does, step by step: the same at every call.
    pub fn timeline(&self) -> Vec<Step<'_>> {
        let mut works = vec![(None, self.copy_ns)];
        for kernel in &self.kernels {
            works.extend((0..kernel.count).map(|_| (Some(kernel), kernel.mean_ns)));
        }
        let mut random = Random::new(self.seed);
        let (spread, steps_to_forget) = self.drift;
        let mut drift = spread * random.normal();
        let keep = (-1.0 / steps_to_forget).exp();
        let mut now = 1_000_000.0f64;
        let (slow, steps_of_mode) = self.modes;
        let mut is_slow = slow > 1.0 && random.even() < 0.5;
        let mut steps = Vec::new();
        let step_ns: f64 = works.iter().map(|(_, mean)| mean).sum();
        for number in 0..self.steps {
            drift = keep * drift + (1.0 - keep * keep).sqrt() * spread * random.normal();
            is_slow ^= slow > 1.0 && random.even() * steps_of_mode < 1.0;
            let is_outlier = self.outliers.0 > 0.0 && random.even() < self.outliers.0;
            let clock = self.clock
                * (1.0 + drift)
                * if is_slow { slow } else { 1.0 }
                * if is_outlier { self.outliers.1 } else { 1.0 };
            if let Some(since) = number.checked_sub(self.stalls_at).filter(|_| self.stalls_at > 0) {
                now += 5.0 * step_ns * 0.5f64.powi(since as i32);
            }
            let begun_ns = now as i64;
            let mut ops = Vec::with_capacity(works.len());
            for (place, (kernel, mean)) in works.iter().enumerate() {
                // The call ends where its operation starts.
                let called_ns = if self.is_ahead { begun_ns + 2000 * place as i64 } else { now as i64 };
                let start = now + 1000.0;
                let length = mean * clock * (1.0 + self.noise * random.normal()).max(0.1);
                let end = start + length.max(1.0);
                now = end + self.gap_ns * (1.0 + 0.1 * random.normal());
                let (start_ns, end_ns) = (start as i64, end as i64);
                ops.push(Op { kernel: *kernel, called_ns, start_ns, end_ns, next_ns: now as i64 });
            }
            steps.push(Step { ops, begun_ns, ended_ns: now as i64 });
            now += 3000.0;
        }
        steps
    }

    /// The steps on the GPU without the warm-up: from the end of one step's work to that of the next.
    pub fn windows(&self) -> Vec<Window> {
        let steps = self.timeline();
        let ends: Vec<i64> = steps.iter().map(|step| step.ops[step.ops.len() - 1].end_ns).collect();
        let windows = steps.iter().enumerate().map(|(place, step)| {
            let from = if place == 0 { step.ops[0].start_ns } else { ends[place - 1] };
            let busy = |is_copy: bool| {
                let ops = step.ops.iter().filter(|op| op.kernel.is_none() == is_copy);
                ops.map(|op| op.end_ns - op.start_ns).sum()
            };
            let time_ns = ends[place] - from;
            Window { step: place, time_ns, compute_ns: busy(false), copies_ns: busy(true) }
        });
        let windows: Vec<Window> = windows.collect();
        // As step_window: the first, and those after it that take much longer than the last half.
        let mut late: Vec<i64> =
            windows[windows.len() / 2..].iter().map(|window| window.time_ns).collect();
        late.sort_unstable();
        let usual = (late[(late.len() - 1) / 2] + late[late.len() / 2]) as f64 / 2.0;
        let is_warm = |window: &Window| window.step == 0 || window.time_ns as f64 > 1.5 * usual;
        let warm = windows.iter().take_while(|window| is_warm(window)).count();
        without_stall(&windows[warm..])
    }

    fn fill(&self, transaction: &Transaction<'_>) -> rusqlite::Result<()> {
        const PROCESS: i64 = (1 << 48) | (4242 << 24);
        const THREAD: i64 = PROCESS | 4242;
        let mut strings: BTreeMap<String, i64> = BTreeMap::new();
        let mut id = |text: &str| {
            let next = 1 + strings.len() as i64;
            *strings.entry(text.to_owned()).or_insert(next)
        };
        let mut call = transaction.prepare(
            "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME (start, end, eventClass, globalTid, correlationId, nameId, returnValue)
             VALUES (?1, ?2, 0, ?3, ?4, ?5, 0)",
        )?;
        let mut run = transaction.prepare(
            "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, contextId, streamId, correlationId, globalPid,
               demangledName, shortName, mangledName, gridX, gridY, gridZ, blockX, blockY, blockZ,
               registersPerThread, staticSharedMemory, dynamicSharedMemory, localMemoryPerThread, localMemoryTotal, gridId,
               tensorSizeMinusOneElements)
             VALUES (?1, ?2, 0, 1, 7, ?3, ?4, ?5, ?5, ?5, ?6, 1, 1, ?7, 1, 1, 32, 0, 0, 0, 0, 0, '')",
        )?;
        let mut copy = transaction.prepare(
            "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY (start, end, deviceId, contextId, streamId, correlationId, globalPid, bytes,
               copyKind, srcKind, dstKind) VALUES (?1, ?2, 0, 1, 7, ?3, ?4, 1000000, 1, 1, 2)",
        )?;
        let mut range = transaction.prepare(
            "INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid, domainId) VALUES (?1, ?2, 59, ?3, ?4, 0)",
        )?;
        let steps = self.timeline();
        let mut correlation = 0i64;
        for (number, step) in steps.iter().enumerate() {
            let mut open: Option<(&str, i64)> = None;
            let mut now = step.begun_ns;
            for op in &step.ops {
                let inner = op.kernel.map_or("", |kernel| kernel.range);
                if open.is_none_or(|(name, _)| name != inner) {
                    if let Some((name, since)) =
                        open.filter(|(name, _)| !name.is_empty() && self.has_ranges)
                    {
                        range.execute((since, now - 1, name, THREAD))?;
                    }
                    open = Some((inner, now));
                }
                correlation += 1;
                let name = match op.kernel {
                    Some(_) => "cudaLaunchKernel_v7000",
                    None => "cudaMemcpyAsync_v3020",
                };
                call.execute((op.called_ns + 100, op.called_ns + 600, THREAD, correlation, id(name)))?;
                match op.kernel {
                    Some(kernel) => run.execute((
                        op.start_ns,
                        op.end_ns,
                        correlation,
                        PROCESS,
                        id(kernel.name),
                        kernel.shape.0,
                        kernel.shape.1,
                    ))?,
                    None => copy.execute((op.start_ns, op.end_ns, correlation, PROCESS))?,
                };
                now = op.next_ns;
            }
            if self.has_ranges {
                if let Some((name, since)) = open.filter(|(name, _)| !name.is_empty()) {
                    range.execute((since, now - 1, name, THREAD))?;
                }
                range.execute((step.begun_ns, step.ended_ns, format!("step {number}"), THREAD))?;
            }
            if self.is_ahead {
                correlation += 1;
                let waits = step.begun_ns + 2000 * step.ops.len() as i64;
                let name = id("cudaDeviceSynchronize_v3020");
                call.execute((waits, step.ended_ns, THREAD, correlation, name))?;
            }
        }
        let end_ns = steps.last().map_or(0, |step| step.ended_ns + 3000);
        for (metric, name) in
            ["GPC Clock Frequency [MHz]", "GR Active [Throughput %]"].into_iter().enumerate()
        {
            for sample in 0..if self.has_clocks { end_ns / 100_000 } else { 0 } {
                let value = if metric == 0 { 1.98e9 / self.clock } else { 50.0 };
                transaction.execute(
                    "INSERT INTO GPU_METRICS (timestamp, typeId, metricId, value) VALUES (?1, 256, ?2, ?3)",
                    (100_000 * sample, metric as i64, value as i64),
                )?;
            }
            if self.has_clocks {
                transaction.execute(
                    "INSERT INTO TARGET_INFO_GPU_METRICS (typeId, sourceId, typeName, metricId, metricName)
                     VALUES (256, 0, 'x', ?1, ?2)",
                    (metric as i64, name),
                )?;
            }
        }
        transaction.execute(
            "INSERT INTO TARGET_INFO_GPU (vmId, id, name, busLocation, isDiscrete, l2CacheSize, totalMemory, memoryBandwidth,
               clockRate, smCount, uuid, chipName, cuDevice, computeMajor, computeMinor)
             VALUES (?1, 0, ?2, '0000:1b:00.0', 1, 52428800, 85030600704, 3352320000000, 1980000000, 132, 'x', 'GH100', 0, 9, 0)",
            (1i64 << 48, self.gpu),
        )?;
        transaction.execute(
            "INSERT INTO TARGET_INFO_CUDA_DEVICE (gpuId, cudaId, pid, uuid, numMultiprocessors) VALUES (0, 0, 4242, 'x', 132)",
            (),
        )?;
        for (text, id) in strings {
            transaction.execute("INSERT INTO StringIds (id, value) VALUES (?1, ?2)", (id, text))?;
        }
        Ok(())
    }
}

/// The steps without those of the only stall, as stalled_step: neighbours that are long, one of them twice the median.
fn without_stall(windows: &[Window]) -> Vec<Window> {
    let mut times: Vec<i64> = windows.iter().map(|window| window.time_ns).collect();
    times.sort_unstable();
    let median = times[(times.len() - 1) / 2] as f64;
    let quarter = times[times.len().div_ceil(4) - 1] as f64;
    let more = (0.05 * median).max(6.0 * (median - quarter));
    let runs = windows
        .chunk_by(|a, b| [a, b].iter().all(|window| window.time_ns as f64 - median > more))
        .filter(|run| run.iter().any(|window| window.time_ns as f64 > 2.0 * median));
    match runs.collect::<Vec<_>>()[..] {
        [stall] if windows.len() >= 10 && 2 * stall.len() < windows.len() => {
            let is_out = |step: usize| (stall[0].step..=stall[stall.len() - 1].step).contains(&step);
            windows.iter().filter(|window| !is_out(window.step)).cloned().collect()
        }
        _ => windows.to_vec(),
    }
}
