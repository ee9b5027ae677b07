//! A deterministic generator of the reports of a training job, one for each rank.
//!
//! Each rank runs 20,000 kernels in 50 iterations with 20 all-reduces each, and NCCL records its payloads. Clocks of the
//! reports are apart by up to hours and 50 ppm. Rank 3 computes 10 % longer, so the others wait for it.

use rusqlite::{Connection, params};
use std::path::{Path, PathBuf};

/// The schema of the reports.
const SCHEMA: &str = include_str!("../../fixtures/schema/3.25.0.sql");

const ITERATIONS: i64 = 50;
const COLLECTIVES: i64 = 20;
/// Compute kernels before each collective.
const KERNELS: i64 = 19;
/// The rank that makes the others wait.
pub(crate) const STRAGGLER: i64 = 3;

/// The reports of a job of `ranks` ranks under `target/`, which are created if they are missing.
///
/// The folder's name contains a version. Increase it whenever the content of the reports changes.
pub(crate) fn reports(ranks: i64) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("rank-job-v1-{ranks}"));
    if !folder.exists() {
        let fresh = folder.with_extension("part");
        let _ = std::fs::remove_dir_all(&fresh);
        std::fs::create_dir_all(&fresh).expect("the target folder can be written");
        for rank in 0..ranks {
            let path = fresh.join(format!("rank{rank:04}.sqlite"));
            write(&path, rank, ranks).expect("the generator's SQL fits the schema");
        }
        std::fs::rename(&fresh, &folder).expect("the target folder can be written");
    }
    folder
}

/// A number from 0 to 999 that depends on all three.
fn noise(rank: i64, n: i64, salt: i64) -> i64 {
    let mixed = (rank.wrapping_mul(6_364_136_223_846_793_005)
        ^ n.wrapping_mul(1_442_695_040_888_963_407))
    .wrapping_add(salt.wrapping_mul(2_862_933_555_777_941_757));
    ((mixed ^ mixed >> 29).wrapping_mul(0x5851_f42d_4c95_7f2d) >> 33).rem_euclid(1000)
}

fn write(path: &Path, rank: i64, ranks: i64) -> rusqlite::Result<()> {
    let mut connection = Connection::open(path)?;
    connection.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;")?;
    connection.execute_batch(SCHEMA)?;
    let transaction = connection.transaction()?;
    transaction.execute_batch(
        "INSERT INTO StringIds (id, value) VALUES (1, 'cudaLaunchKernelExC_v11060'), (2, 'cudaLaunchKernel_v7000'),
           (3, 'ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)'),
           (10, 'gemm_bf16'), (11, 'softmax'), (12, 'layer_norm'), (13, 'flash_fwd'), (14, 'gelu')",
    )?;
    let process = 1i64 << 48 | (1000 + rank) << 24;
    let (offset, drift) = (noise(rank, 1, 7) * 7_200_000_000, 1e-7 * (noise(rank, 2, 7) - 500) as f64);
    let clock = |time: i64| (time as f64 * (1.0 + drift)) as i64 + offset;
    {
        let mut range = transaction.prepare(
            "INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid, domainId, jsonText) VALUES (?, ?, 59, ?, ?, 1, ?)",
        )?;
        let mut call = transaction.prepare(
            "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME (start, end, eventClass, globalTid, correlationId, nameId, returnValue)
             VALUES (?, ?, 0, ?, ?, ?, 0)",
        )?;
        let mut kernel = transaction.prepare(
            "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, contextId, streamId, correlationId, globalPid,
               demangledName, shortName, mangledName, gridX, gridY, gridZ, blockX, blockY, blockZ, registersPerThread,
               staticSharedMemory, dynamicSharedMemory, localMemoryPerThread, localMemoryTotal, gridId,
               tensorSizeMinusOneElements)
             VALUES (?, ?, 0, 1, ?, ?, ?, ?4 % 5 + 10, ?4 % 5 + 10, ?4 % 5 + 10, 24, 1, 1, 512, 1, 1, 96, 0, 0, 0, 0, 0, '')",
        )?;
        let thread = process | 1;
        let communicator = format!("\"NCCL communicator ID\":{}", u64::MAX - 5);
        let made =
            format!("{{{communicator},\"No. of ranks\":{ranks},\"Rank\":{rank},\"CUDA device\":0}}");
        range.execute(params![clock(1000), clock(2000), "ncclCommInitRank", thread, made])?;
        let sent = format!(
            "{{{communicator},\"Message size [bytes]\":25165824,\"Reduction operation\":\"Sum\"}}"
        );
        let mut correlation = 0;
        // All ranks leave a collective together, so the time of the slowest one is that of the job.
        let compute = |rank: i64, n: i64, k: i64| {
            let usual = 20_000 + noise(rank, n, k);
            if rank == STRAGGLER { usual + usual / 10 } else { usual }
        };
        let mut now = 1_000_000;
        for iteration in 0..ITERATIONS {
            let from = now;
            for n in iteration * COLLECTIVES..(iteration + 1) * COLLECTIVES {
                let mut at = now;
                for k in 0..KERNELS {
                    correlation += 1;
                    call.execute(params![clock(at - 9_000), clock(at - 6_000), thread, correlation, 2])?;
                    let end = at + compute(rank, n, k);
                    kernel.execute(params![clock(at), clock(end), 7, correlation, process])?;
                    at = end + 1_500;
                }
                correlation += 1;
                let last = if ranks > STRAGGLER {
                    now + (0..KERNELS).map(|k| compute(STRAGGLER, n, k) + 1_500).sum::<i64>()
                } else {
                    at
                };
                let end = last.max(at) + 60_000 + noise(rank, n, 99);
                range.execute(params![
                    clock(at - 12_000),
                    clock(at - 4_000),
                    "ncclAllReduce",
                    thread,
                    sent
                ])?;
                call.execute(params![clock(at - 9_000), clock(at - 6_000), thread, correlation, 1])?;
                kernel.execute(params![clock(at), clock(end), 16, correlation, process])?;
                now = last.max(at) + 62_000;
            }
            range.execute(params![
                clock(from - 10_000),
                clock(now - 20_000),
                format!("step {iteration}"),
                thread,
                None::<String>
            ])?;
        }
        transaction.execute(
            "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET demangledName = 3, shortName = 3, mangledName = 3 WHERE streamId = 16",
            (),
        )?;
    }
    transaction.commit()
}
