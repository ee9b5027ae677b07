//! Writes what a profiler saw as an export, with the columns and codes that nsys writes.

use super::program::Program;
use super::simulate::{Operation, Run, Span, ThreadId, Work};
use crate::support::{NEWEST_COMMON, drop_empty_tables, project};
use rusqlite::{Connection, Transaction};
use std::collections::BTreeMap;
use std::path::Path;

/// The GPU of all captures.
const NAME: &str = "NVIDIA A100-SXM4-80GB";
const MULTIPROCESSORS: i64 = 108;

/// The virtual machine of all IDs, and a context.
const MACHINE: i64 = 1 << 48;
const CONTEXT: i64 = 1;

/// Codes of unified memory: copies to device and host, memory kind, and the cause page fault.
const MIGRATED_TO_DEVICE: i64 = 11;
const MIGRATED_TO_HOST: i64 = 12;
const MANAGED: i64 = 4;
const PAGE_FAULT: i64 = 2;

fn pid(gpu: usize) -> i64 {
    4_100 + 100 * gpu as i64
}

fn process(gpu: usize) -> i64 {
    MACHINE | pid(gpu) << 24
}

fn thread((gpu, index): ThreadId) -> i64 {
    process(gpu) | (pid(gpu) + 10 * index as i64)
}

/// The short name of a kernel: its function without namespaces and arguments.
fn short_name(name: &str) -> &str {
    let name = name.strip_prefix("void ").unwrap_or(name);
    let name = name.rsplit_once("<unnamed>::").map_or(name, |(_, name)| name);
    let name = name.split(['<', '(']).next().unwrap_or(name);
    name.rsplit("::").next().unwrap_or(name)
}

/// IDs of strings, in the order of their first use.
#[derive(Default)]
struct Strings(BTreeMap<String, i64>);

impl Strings {
    fn id(&mut self, text: &str) -> i64 {
        let next = 1 + self.0.len() as i64;
        *self.0.entry(text.to_owned()).or_insert(next)
    }
}

/// Writes a new file.
pub(crate) fn write(program: &Program, run: &mut Run, path: &Path) {
    run.calls.sort_by_key(|call| (call.start, call.thread));
    run.operations.sort_by_key(|operation| (operation.start, operation.gpu, operation.stream));
    run.ranges.sort_by_key(|range| (range.start, range.thread, -range.end));
    let mut connection = Connection::open(path).unwrap();
    connection.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF").unwrap();
    let schema = project(&format!("fixtures/schema/{NEWEST_COMMON}.sql"));
    connection.execute_batch(&std::fs::read_to_string(schema).unwrap()).unwrap();
    let transaction = connection.transaction().unwrap();
    fill(&transaction, program, run).expect("the rows fit the schema");
    transaction.commit().unwrap();
    drop_empty_tables(&connection);
}

fn fill(transaction: &Transaction<'_>, program: &Program, run: &Run) -> rusqlite::Result<()> {
    let mut strings = Strings::default();
    machine(transaction, program, run, &mut strings)?;
    let mut call = transaction.prepare(
        "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME (start, end, eventClass, globalTid, correlationId, nameId,
           returnValue) VALUES (?1, ?2, ?3, ?4, ?5, ?6, 0)",
    )?;
    for row in &run.calls {
        // 0: runtime, 1: driver.
        let class = i64::from(!row.name.starts_with("cuda"));
        let name = strings.id(row.name);
        call.execute((row.start, row.end, class, thread(row.thread), row.correlation, name))?;
    }
    operations(transaction, &run.operations, &mut strings)?;
    let mut range = transaction.prepare(
        "INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid, domainId)
         VALUES (?1, ?2, 59, ?3, ?4, 0)",
    )?;
    for Span { thread: id, start, end, name } in &run.ranges {
        range.execute((start, end, name, thread(*id)))?;
    }
    let mut held = transaction.prepare(
        "INSERT INTO PROFILER_OVERHEAD (start, end, globalTid, nameId, overheadType) VALUES (?1, ?2, ?3, ?4, 3)",
    )?;
    for Span { thread: id, start, end, name } in &run.profiler {
        held.execute((start, end, thread(*id), strings.id(name)))?;
    }
    let mut string = transaction.prepare("INSERT INTO StringIds (id, value) VALUES (?1, ?2)")?;
    for (text, id) in strings.0 {
        string.execute((id, text))?;
    }
    Ok(())
}

/// The rows about GPUs, processes and the session.
fn machine(
    transaction: &Transaction<'_>,
    program: &Program,
    run: &Run,
    strings: &mut Strings,
) -> rusqlite::Result<()> {
    for (gpu, about) in program.iter().enumerate() {
        let (number, pid) = (gpu as i64, pid(gpu));
        transaction.execute(
            "INSERT INTO TARGET_INFO_GPU (vmId, id, name, busLocation, totalMemory, memoryBandwidth, smCount,
               chipName, cuDevice, threadsPerWarp, computeMajor, computeMinor, smMajor, smMinor)
             VALUES (?1, ?2, ?3, ?4, 85899345920, 2039000000000, ?5, 'GA100', ?2, 32, 8, 0, 8, 0)",
            (MACHINE, number, NAME, format!("0000:{gpu:02x}:00.0"), MULTIPROCESSORS),
        )?;
        transaction.execute(
            "INSERT INTO TARGET_INFO_CUDA_DEVICE (gpuId, cudaId, pid, numMultiprocessors)
             VALUES (?1, ?1, ?2, ?3)",
            (number, pid, MULTIPROCESSORS),
        )?;
        transaction.execute(
            "INSERT INTO PROCESSES (globalPid, pid, name) VALUES (?1, ?2, 'python')",
            (process(gpu), pid),
        )?;
        for (index, about) in about.threads.iter().enumerate() {
            transaction.execute(
                "INSERT INTO ThreadNames (nameId, priority, globalTid) VALUES (?1, 20, ?2)",
                (strings.id(about.name), thread((gpu, index))),
            )?;
        }
    }
    let end = run.calls.iter().map(|call| call.end).max().unwrap_or(0);
    let end =
        run.operations.iter().map(|operation| operation.end).max().unwrap_or(0).max(end) + 1_000_000;
    transaction.execute(
        "INSERT INTO ANALYSIS_DETAILS (globalVid, duration, startTime, stopTime) VALUES (?1, ?2, 0, ?2)",
        (MACHINE, end),
    )?;
    Ok(())
}

fn operations(
    transaction: &Transaction<'_>,
    operations: &[Operation],
    strings: &mut Strings,
) -> rusqlite::Result<()> {
    let mut launch = transaction.prepare(
        "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, contextId, streamId, correlationId,
           globalPid, demangledName, shortName, mangledName, launchType, cacheConfig, registersPerThread,
           gridX, gridY, gridZ, blockX, blockY, blockZ, staticSharedMemory, dynamicSharedMemory,
           localMemoryPerThread, localMemoryTotal, gridId, sharedMemoryExecuted, graphNodeId,
           tensorSizeMinusOneElements)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?8, 1, 0, 32, ?10, 1, 1, ?11, 1, 1, 0, 0, 0, 0, ?6, 16384,
           0, '[]')",
    )?;
    let mut copy = transaction.prepare(
        "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY (start, end, deviceId, contextId, streamId, correlationId,
           globalPid, bytes, copyKind, srcKind, dstKind, migrationCause, virtualAddress, copyCount)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, 1)",
    )?;
    let mut fill = transaction.prepare(
        "INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET (start, end, deviceId, contextId, streamId, correlationId,
           globalPid, value, bytes, memKind) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 0, ?8, 2)",
    )?;
    for Operation { gpu, start, end, stream, correlation, work } in operations {
        let (process, gpu, stream) = (process(*gpu), *gpu as i64, stream.id());
        match work {
            Work::Kernel(kernel) => launch.execute((
                start,
                end,
                gpu,
                CONTEXT,
                stream,
                correlation,
                process,
                strings.id(kernel.name),
                strings.id(short_name(kernel.name)),
                kernel.grid,
                kernel.block,
            ))?,
            Work::Copy(about) => {
                let (kind, from, to) = about.codes();
                let none = None::<i64>;
                copy.execute((
                    start,
                    end,
                    gpu,
                    CONTEXT,
                    stream,
                    correlation,
                    process,
                    about.bytes,
                    kind,
                    from,
                    to,
                    none,
                    none,
                ))?
            }
            Work::Migration(bytes, to_host) => {
                let kind = if *to_host { MIGRATED_TO_HOST } else { MIGRATED_TO_DEVICE };
                let address = 0x7f00_0000_0000_i64 + (start & 0xff_ffff) * 4096;
                copy.execute((
                    start,
                    end,
                    gpu,
                    CONTEXT,
                    stream,
                    correlation,
                    process,
                    bytes,
                    kind,
                    MANAGED,
                    MANAGED,
                    PAGE_FAULT,
                    address,
                ))?
            }
            Work::Fill(bytes) => {
                fill.execute((start, end, gpu, CONTEXT, stream, correlation, process, bytes))?
            }
        };
    }
    Ok(())
}
