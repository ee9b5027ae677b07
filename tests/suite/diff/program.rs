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
    /// The clock of the whole run.
    pub clock: f64,
    pub seed: u64,
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
            seed,
        }
    }

    /// Changes the first kernel whose name contains a text.
    pub fn with(mut self, name: &str, change: impl FnOnce(&mut Kernel)) -> Self {
        change(self.kernels.iter_mut().find(|kernel| kernel.name.contains(name)).unwrap());
        self
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
        let mut random = Random::new(self.seed);
        let (spread, steps_to_forget) = self.drift;
        let mut drift = spread * random.normal();
        let keep = (-1.0 / steps_to_forget).exp();
        let (mut now, mut correlation) = (1_000_000.0f64, 0i64);
        for step in 0..self.steps {
            drift = keep * drift + (1.0 - keep * keep).sqrt() * spread * random.normal();
            let clock = self.clock * (1.0 + drift);
            let begun = now;
            let mut open: Option<(&str, f64)> = None;
            let mut works = vec![(None, self.copy_ns)];
            for kernel in &self.kernels {
                works.extend((0..kernel.count).map(|_| (Some(kernel), kernel.mean_ns)));
            }
            for (kernel, mean) in works {
                let inner = kernel.map_or("", |kernel| kernel.range);
                if open.is_none_or(|(name, _)| name != inner) {
                    if let Some((name, since)) =
                        open.filter(|(name, _)| !name.is_empty() && self.has_ranges)
                    {
                        range.execute((since as i64, now as i64 - 1, name, THREAD))?;
                    }
                    open = Some((inner, now));
                }
                correlation += 1;
                // The call ends where its operation starts.
                let name =
                    if kernel.is_some() { "cudaLaunchKernel_v7000" } else { "cudaMemcpyAsync_v3020" };
                call.execute((now as i64 + 100, now as i64 + 600, THREAD, correlation, id(name)))?;
                let start = now + 1000.0;
                let length = mean * clock * (1.0 + self.noise * random.normal()).max(0.1);
                now = start + length.max(1.0);
                match kernel {
                    Some(kernel) => run.execute((
                        start as i64,
                        now as i64,
                        correlation,
                        PROCESS,
                        id(kernel.name),
                        kernel.shape.0,
                        kernel.shape.1,
                    ))?,
                    None => copy.execute((start as i64, now as i64, correlation, PROCESS))?,
                };
                now += self.gap_ns * (1.0 + 0.1 * random.normal());
            }
            if self.has_ranges {
                if let Some((name, since)) = open.filter(|(name, _)| !name.is_empty()) {
                    range.execute((since as i64, now as i64 - 1, name, THREAD))?;
                }
                range.execute((begun as i64, now as i64, format!("step {step}"), THREAD))?;
            }
            now += 3000.0;
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
