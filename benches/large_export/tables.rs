//! The rows of an export, which are written in the order of their start, as nsys does.

use super::strings::{KERNELS, Strings};
use rusqlite::{Statement, Transaction};

pub(super) struct Call {
    pub(super) start: i64,
    pub(super) end: i64,
    /// 0: runtime, 1: driver.
    pub(super) class: i64,
    pub(super) thread: i64,
    pub(super) correlation: i64,
    pub(super) name: i64,
}

/// GPU work that a call launched.
pub(super) struct Operation {
    pub(super) start: i64,
    pub(super) end: i64,
    pub(super) device: i64,
    pub(super) stream: i64,
    pub(super) correlation: i64,
    pub(super) process: i64,
    pub(super) work: Work,
}

#[derive(Clone, Copy)]
pub(super) enum Work {
    Kernel { name: i64, blocks: i64, node: Option<i64> },
    Copy { bytes: i64, kind: CopyKind },
    Fill { bytes: i64 },
}

#[derive(Clone, Copy)]
pub(super) enum CopyKind {
    ToDevice = 1,
    ToHost = 2,
    OnDevice = 8,
}

#[derive(Default)]
pub(super) struct Range {
    pub(super) start: i64,
    pub(super) end: Option<i64>,
    /// NVTX event type: 59 push/pop, 60 start/end, 75 domain creation.
    pub(super) kind: i64,
    pub(super) handle: Option<i64>,
    pub(super) text: Option<String>,
    pub(super) text_id: Option<i64>,
    pub(super) thread: i64,
    /// The thread that ended it, if it is another thread.
    pub(super) end_thread: Option<i64>,
    pub(super) domain: i64,
}

/// Rows of one time span, in any order.
#[derive(Default)]
pub(super) struct Rows {
    pub(super) calls: Vec<Call>,
    pub(super) operations: Vec<Operation>,
    pub(super) ranges: Vec<Range>,
}

/// The tables of the export, with prepared INSERT statements.
pub(super) struct Tables<'a> {
    transaction: &'a Transaction<'a>,
    call: Statement<'a>,
    kernel: Statement<'a>,
    copy: Statement<'a>,
    fill: Statement<'a>,
    range: Statement<'a>,
}

impl<'a> Tables<'a> {
    pub(super) fn new(transaction: &'a Transaction<'a>) -> rusqlite::Result<Self> {
        Ok(Self {
            transaction,
            call: transaction.prepare(
                "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME (start, end, eventClass, globalTid, correlationId,
                   nameId, returnValue) VALUES (?1, ?2, ?3, ?4, ?5, ?6, 0)",
            )?,
            kernel: transaction.prepare(
                "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, contextId, streamId,
                   correlationId, globalPid, demangledName, shortName, mangledName, launchType, cacheConfig,
                   registersPerThread, gridX, gridY, gridZ, blockX, blockY, blockZ, staticSharedMemory,
                   dynamicSharedMemory, localMemoryPerThread, localMemoryTotal, gridId, sharedMemoryExecuted,
                   graphNodeId, tensorSizeMinusOneElements)
                 VALUES (?1, ?2, ?3, 1, ?4, ?5, ?6, ?7, ?8, ?7, 1, 0, 32, ?9, 1, 1, 128, 1, 1, 0, 0, 0,
                   250871808, ?5, 16384, ?10, '[]')",
            )?,
            copy: transaction.prepare(
                "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY (start, end, deviceId, contextId, streamId,
                   correlationId, globalPid, bytes, copyKind, srcKind, dstKind)
                 VALUES (?1, ?2, ?3, 1, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            )?,
            fill: transaction.prepare(
                "INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET (start, end, deviceId, contextId, streamId,
                   correlationId, globalPid, value, bytes, memKind) VALUES (?1, ?2, ?3, 1, ?4, ?5, ?6, 0, ?7, 2)",
            )?,
            range: transaction.prepare(
                "INSERT INTO NVTX_EVENTS (start, end, eventType, rangeId, text, globalTid, endGlobalTid, textId,
                   domainId) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            )?,
        })
    }

    /// Writes `rows` and empties them.
    pub(super) fn write(&mut self, rows: &mut Rows) -> rusqlite::Result<()> {
        rows.calls.sort_by_key(|call| call.start);
        for call in rows.calls.drain(..) {
            let Call { start, end, class, thread, correlation, name } = call;
            self.call.execute((start, end, class, thread, correlation, name))?;
        }
        rows.operations.sort_by_key(|operation| operation.start);
        for operation in rows.operations.drain(..) {
            self.operation(&operation)?;
        }
        rows.ranges.sort_by_key(|range| range.start);
        for range in rows.ranges.drain(..) {
            let Range { start, end, kind, handle, text, text_id, thread, end_thread, domain } = range;
            self.range.execute((start, end, kind, handle, text, thread, end_thread, text_id, domain))?;
        }
        Ok(())
    }

    fn operation(&mut self, operation: &Operation) -> rusqlite::Result<usize> {
        let Operation { start, end, device, stream, correlation, process, work } = *operation;
        match work {
            Work::Kernel { name, blocks, node } => self.kernel.execute((
                start,
                end,
                device,
                stream,
                correlation,
                process,
                name,
                KERNELS + name,
                blocks,
                node,
            )),
            Work::Copy { bytes, kind } => {
                let (from, to) = match kind {
                    CopyKind::ToDevice => (1, 2),
                    CopyKind::ToHost => (2, 1),
                    CopyKind::OnDevice => (2, 2),
                };
                self.copy.execute((
                    start,
                    end,
                    device,
                    stream,
                    correlation,
                    process,
                    bytes,
                    kind as i64,
                    from,
                    to,
                ))
            }
            Work::Fill { bytes } => {
                self.fill.execute((start, end, device, stream, correlation, process, bytes))
            }
        }
    }

    pub(super) fn process(&mut self, global_pid: i64, pid: i64) -> rusqlite::Result<usize> {
        self.transaction.execute(
            "INSERT INTO PROCESSES (globalPid, pid, name) VALUES (?1, ?2, 'python')",
            (global_pid, pid),
        )
    }

    pub(super) fn thread(&mut self, global_tid: i64, name: i64) -> rusqlite::Result<usize> {
        self.transaction
            .execute("INSERT INTO ThreadNames (nameId, globalTid) VALUES (?1, ?2)", (name, global_tid))
    }

    /// Writes the strings and the end of the capture, after all other rows.
    pub(super) fn close(&mut self, strings: Strings, end: i64) -> rusqlite::Result<()> {
        let mut insert =
            self.transaction.prepare("INSERT INTO StringIds (id, value) VALUES (?1, ?2)")?;
        for row in strings.in_order() {
            insert.execute(row)?;
        }
        self.transaction.execute(
            "INSERT INTO ANALYSIS_DETAILS (globalVid, duration, startTime, stopTime)
             VALUES (?1, ?2, 0, ?2)",
            (1_i64 << 48, end),
        )?;
        Ok(())
    }
}
