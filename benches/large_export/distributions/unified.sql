-- Unified memory: a page fault on the GPU, one on the CPU, and a migration each way, for every fourth kernel.
INSERT INTO CUDA_UM_CPU_PAGE_FAULT_EVENTS (start, globalPid, address, CpuInstruction, module)
SELECT start, globalPid, 139637976727552 + 65536 * (rowid % 1000), 0, 0
FROM CUPTI_ACTIVITY_KIND_KERNEL
WHERE rowid % 4 = 0;

INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY
  (start, end, deviceId, contextId, streamId, correlationId, globalPid, bytes, copyKind, migrationCause, virtualAddress)
SELECT start, start + 2000, deviceId, contextId, 0, 0, globalPid, 65536, 11, 2, 139637976727552 + 65536 * (rowid % 1000)
FROM CUPTI_ACTIVITY_KIND_KERNEL
WHERE rowid % 4 = 0
UNION ALL
SELECT start, start + 3000, deviceId, contextId, 0, 0, globalPid, 65536, 12, 1, 139637976727552 + 65536 * (rowid % 1000)
FROM CUPTI_ACTIVITY_KIND_KERNEL
WHERE rowid % 4 = 2;
