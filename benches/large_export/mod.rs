//! Large exports, the same for everyone: a deterministic generator.
//!
//! A training-like capture: four processes that reuse correlation ids, each with a main, an autograd
//! and a loader thread; nested NVTX ranges; mostly plain launches, some graph launches that run
//! several kernels, copies and fills between them.

use rusqlite::{Connection, Transaction};
use std::path::{Path, PathBuf};

/// The DDL that the export is written in.
const SCHEMA: &str = include_str!("../../fixtures/schema/3.25.0.sql");
const PROCESSES: i64 = 4;
/// Distinct kernel names: what a large training run has.
const NAMES: i64 = 400;

/// An export with `kernels` kernels under `target/`, made when it is not there yet.
pub(crate) fn export(kernels: i64) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("large-{kernels}.sqlite"));
    if !path.exists() {
        let fresh = path.with_extension("part");
        let _ = std::fs::remove_file(&fresh);
        write(&fresh, kernels).expect("the generator's SQL fits the schema");
        std::fs::rename(&fresh, &path).expect("the target folder can be written");
    }
    path
}

fn write(path: &Path, kernels: i64) -> rusqlite::Result<()> {
    let mut connection = Connection::open(path)?;
    connection.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;")?;
    connection.execute_batch(SCHEMA)?;
    let transaction = connection.transaction()?;
    names(&transaction)?;
    Writer { random: 1, transaction: &transaction }.events(kernels)?;
    transaction.commit()
}

fn names(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    let mut insert = transaction.prepare("INSERT INTO StringIds (id, value) VALUES (?1, ?2)")?;
    for n in 0..NAMES {
        let long = "at::native::BinaryFunctor<float, float, float>, ".repeat(1 + (n % 4) as usize);
        insert.execute((n, format!("void kernel_{n}<{long}{n}>(int, T{n})")))?;
        insert.execute((NAMES + n, format!("kernel_{n}")))?;
    }
    for (n, name) in [
        "cudaLaunchKernel_v7000",
        "cudaGraphLaunch_v10000",
        "cudaMemcpyAsync_v3020",
        "cudaMemsetAsync_v3020",
    ]
    .iter()
    .enumerate()
    {
        insert.execute((2 * NAMES + n as i64, name))?;
    }
    for n in 0..64 {
        insert.execute((2 * NAMES + 10 + n, format!("layer_{n}")))?;
    }
    for process in 0..PROCESSES {
        transaction.execute(
            "INSERT INTO PROCESSES (globalPid, pid, name) VALUES (?1, ?2, 'python')",
            (global_pid(process), 1000 + process),
        )?;
    }
    transaction.execute(
        "INSERT INTO ANALYSIS_DETAILS (globalVid, duration, startTime, stopTime) VALUES (0, 1000000000000, 0, 0)",
        [],
    )?;
    Ok(())
}

fn global_pid(process: i64) -> i64 {
    (1 << 48) | ((1000 + process) << 24)
}

struct Writer<'a> {
    random: u64,
    transaction: &'a Transaction<'a>,
}

impl Writer<'_> {
    /// Knuth's MMIX generator: the same numbers on every machine.
    fn below(&mut self, n: i64) -> i64 {
        self.random = self.random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.random >> 33) as i64 % n
    }

    fn events(&mut self, kernels: i64) -> rusqlite::Result<()> {
        let mut kernel = self.transaction.prepare(
            "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, contextId, streamId, correlationId,
               globalPid, demangledName, shortName, mangledName, launchType, cacheConfig, registersPerThread,
               gridX, gridY, gridZ, blockX, blockY, blockZ, staticSharedMemory, dynamicSharedMemory,
               localMemoryPerThread, localMemoryTotal, gridId, sharedMemoryExecuted, graphNodeId,
               tensorSizeMinusOneElements)
             VALUES (?1, ?2, ?3, 1, ?4, ?5, ?6, ?7, ?8, ?7, 1, 0, 32, ?9, 1, 1, 128, 1, 1, 0, 0, 0, 0, ?10, 0, 0, '')",
        )?;
        let mut call = self.transaction.prepare(
            "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME (start, end, eventClass, globalTid, correlationId, nameId,
               returnValue) VALUES (?1, ?2, 0, ?3, ?4, ?5, 0)",
        )?;
        let mut memcpy = self.transaction.prepare(
            "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY (start, end, deviceId, contextId, streamId, correlationId,
               globalPid, bytes, copyKind, srcKind, dstKind) VALUES (?1, ?2, ?3, 1, 13, ?4, ?5, ?6, ?7, ?8, 2)",
        )?;
        let mut range = self.transaction.prepare(
            "INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid, textId, domainId)
             VALUES (?1, ?2, 59, NULL, ?3, ?4, 0)",
        )?;
        let mut cpu = [0i64; PROCESSES as usize];
        let mut gpu = [0i64; PROCESSES as usize];
        let mut correlation = [0i64; PROCESSES as usize];
        let mut done = 0;
        while done < kernels {
            let process = self.below(PROCESSES);
            let p = process as usize;
            // 0 main, 1 autograd: both launch. The loader only copies.
            let thread = global_pid(process) | (1000 + process + 10 * self.below(2));
            let layer_start = cpu[p];
            for _ in 0..8 {
                correlation[p] += 1;
                let (start, length) = (cpu[p] + 500 + self.below(2_000), 3_000 + self.below(4_000));
                let fan_out = if self.below(200) == 0 { 20 } else { 1 };
                call.execute((
                    start,
                    start + length,
                    thread,
                    correlation[p],
                    2 * NAMES + i64::from(fan_out > 1),
                ))?;
                cpu[p] = start + length;
                for _ in 0..fan_out {
                    // A few names take most launches, as in life.
                    let name = self.below(NAMES) * self.below(NAMES) / NAMES;
                    let from = gpu[p].max(start + length) + 200 + self.below(800);
                    let to = from + 1_000 + name * 37 + self.below(5_000);
                    let (stream, grid) = (7 + self.below(3), 1 + self.below(1024));
                    kernel.execute((
                        from,
                        to,
                        process,
                        stream,
                        correlation[p],
                        global_pid(process),
                        name,
                        NAMES + name,
                        grid,
                        done,
                    ))?;
                    gpu[p] = to;
                    done += 1;
                }
            }
            let layer = 2 * NAMES + 10 + self.below(64);
            range.execute((layer_start, cpu[p], thread, layer))?;
            range.execute((
                layer_start + 1,
                cpu[p] - 1,
                thread,
                layer + 1 - i64::from(layer > 2 * NAMES + 70),
            ))?;
            if self.below(4) == 0 {
                correlation[p] += 1;
                let (start, bytes) = (cpu[p] + 500, 1 + self.below(1 << 24));
                call.execute((start, start + 4_000, thread, correlation[p], 2 * NAMES + 2))?;
                cpu[p] = start + 4_000;
                let from = cpu[p] + 1_000;
                let kind = 1 + self.below(2);
                memcpy.execute((
                    from,
                    from + bytes / 20 + 800,
                    process,
                    correlation[p],
                    global_pid(process),
                    bytes,
                    kind,
                    kind - 1,
                ))?;
            }
        }
        Ok(())
    }
}
