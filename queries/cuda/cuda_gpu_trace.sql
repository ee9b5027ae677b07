/*---
name: cuda_gpu_trace
version: 2
title: CUDA GPU trace
summary: Every kernel, copy and fill on a GPU, sorted by start.
why: To read the GPU's work line by line, with shapes, sizes, bandwidths and places.
kind: trace
tags: [cuda, kernel, memory]
reads: [device, gpu, kernel, memcpy, memset, nvtx_op]
requires: [kernel | memcpy | memset]
params:
  - {name: name, type: enum, values: [demangled, short, mangled], default: demangled, doc: "Kernel name to show."}
  - {name: nvtx_name, type: bool, default: false, doc: "Prefix the kernel name with the innermost NVTX range around its launch, and a slash."}
columns:
  - {name: start_ns, type: timestamp, unit: ns, priority: 1, doc: "Start of the operation, on the report's clock."}
  - {name: dur_ns, type: duration, unit: ns, label: "duration", priority: 1, doc: "Duration of the operation."}
  - {name: op_kind, type: text, label: "kind", priority: 3, doc: "Kind of operation: kernel, memcpy or memset."}
  - {name: correlation_id, type: id, label: "correlation ID", priority: 3, doc: "Correlation ID of the launching API call, at best unique within a process; 0 or null if there is none."}
  - {name: grid_x, type: int, unit: count, doc: "Blocks in the grid along x; null except for a kernel."}
  - {name: grid_y, type: int, unit: count, doc: "Blocks in the grid along y; null except for a kernel."}
  - {name: grid_z, type: int, unit: count, doc: "Blocks in the grid along z; null except for a kernel."}
  - {name: block_x, type: int, unit: count, doc: "Threads in a block along x; null except for a kernel."}
  - {name: block_y, type: int, unit: count, doc: "Threads in a block along y; null except for a kernel."}
  - {name: block_z, type: int, unit: count, doc: "Threads in a block along z; null except for a kernel."}
  - {name: registers_per_thread, type: int, unit: count, priority: 3, doc: "Registers per thread; null except for a kernel."}
  - {name: static_shared_bytes, type: bytes, unit: bytes, label: "static shared memory", priority: 3, doc: "Shared memory per block, fixed at compile time; null except for a kernel."}
  - {name: dynamic_shared_bytes, type: bytes, unit: bytes, label: "dynamic shared memory", priority: 3, doc: "Shared memory per block, requested at launch; null except for a kernel."}
  - {name: size_bytes, type: bytes, unit: bytes, priority: 1, doc: "Bytes copied or written; null for a kernel."}
  - {name: rate_bytes_per_s, type: real, unit: bytes_per_s, label: "bandwidth", priority: 1, doc: "size_bytes divided by dur_ns; null for a kernel or if dur_ns is 0."}
  - {name: src_memory, type: text, label: "source memory", doc: "Kind of source memory, such as Pinned; null except for a copy."}
  - {name: dst_memory, type: text, label: "destination memory", doc: "Kind of memory written, such as Device; null for a kernel."}
  - {name: pid, type: id, priority: 3, doc: "Operating system process ID."}
  - {name: device_id, type: id, label: "CUDA device", priority: 0, doc: "CUDA device ordinal within its process; CUDA_VISIBLE_DEVICES may renumber it."}
  - {name: gpu_name, type: text, label: "GPU name", priority: 3, doc: "Marketing name of the GPU behind device_id; null if unknown."}
  - {name: context_id, type: id, label: "context", priority: 3, doc: "CUDA context."}
  - {name: green_context_id, type: id, label: "green context", priority: 3, doc: "CUDA green context; null outside a green context and before schema 3.7."}
  - {name: stream_id, type: id, label: "stream", priority: 0, doc: "CUDA stream ID, unique within its context."}
  - {name: op_name, type: text, label: "operation", priority: 0, doc: "Kernel name of the kind chosen by the parameter name, a name such as [CUDA memcpy Host-to-Device], or [CUDA memset]."}
checks:
  - dur_ns >= 0
  - op_kind <> 'kernel' OR size_bytes IS NULL
when_empty: "no kernel, copy or fill was recorded"
limits: >-
  Work in a CUDA graph traced as a whole is not included. gpu_name comes from the process's own list of GPUs. Exports
  before schema 3.17 lack that list, so there it comes from the list that the profiler saw without CUDA_VISIBLE_DEVICES.
  NVIDIA's layout instead names the GPU whose number equals device_id, which can be the wrong GPU. NVIDIA's throughput
  drops digits and is 0 for operations longer than a second; rate_bytes_per_s is exact.
see_also: [cuda_gpu_sum, memcpy_bandwidth, cuda_kern_exec_trace]
nsys:
  title: CUDA GPU Trace
  aliases: [gputrace]
  args:
    - {name: base, set: {name: short}}
    - {name: mangled, set: {name: mangled}}
    - {name: nvtx-name, set: {nvtx_name: true}, requires: [nvtx_op, nvtx_range]}
  lacks:
    - {says: "GPU trace data"}
  columns:
    - {name: Start, unit: ns, sql: start_ns}
    - {name: Duration, unit: ns, sql: dur_ns}
    - {name: CorrId, sql: correlation_id}
    - {name: GrdX, sql: grid_x}
    - {name: GrdY, sql: grid_y}
    - {name: GrdZ, sql: grid_z}
    - {name: BlkX, sql: block_x}
    - {name: BlkY, sql: block_y}
    - {name: BlkZ, sql: block_z}
    - {name: Reg/Trd, sql: registers_per_thread}
    - {name: StcSMem, unit: mb, sql: static_shared_bytes}
    - {name: DymSMem, unit: mb, sql: dynamic_shared_bytes}
    - {name: Bytes, unit: mb, sql: size_bytes}
    - {name: Throughput, unit: mb/s, sql: "size_bytes * (1000000000 / dur_ns)"}
    - {name: SrcMemKd, sql: "CASE op_kind WHEN 'memset' THEN dst_memory ELSE src_memory END"}
    - {name: DstMemKd, sql: "CASE op_kind WHEN 'memcpy' THEN dst_memory END"}
    - name: Device
      sql: "(SELECT min(gpu.gpu_name) || ' (' || device_id || ')' FROM gpu WHERE gpu.gpu_id = device_id)"
    - {name: Ctx, sql: context_id}
    - {name: GreenCtx, sql: green_context_id}
    - {name: Strm, sql: stream_id}
    - {name: Name, sql: op_name}
---*/
WITH
process_gpu AS (
  SELECT device.device_id, device.pid, min(gpu.gpu_name) AS gpu_name
  FROM device
  JOIN gpu
    ON gpu.gpu_id = device.gpu_id
  GROUP BY device.device_id, device.pid
),
op AS (
  SELECT
    'kernel' AS op_kind,
    kernel_id AS op_id,
    start_ns,
    dur_ns,
    correlation_id,
    grid_x,
    grid_y,
    grid_z,
    block_x,
    block_y,
    block_z,
    registers_per_thread,
    static_shared_bytes,
    dynamic_shared_bytes,
    NULL AS size_bytes,
    NULL AS src_memory,
    NULL AS dst_memory,
    pid,
    device_id,
    context_id,
    green_context_id,
    stream_id,
    coalesce(
      CASE
        WHEN :nvtx_name THEN (SELECT range_text || '/' FROM nvtx_op WHERE op_kind = 'kernel' AND op_id = kernel_id)
      END,
      ''
    ) || CASE :name WHEN 'demangled' THEN kernel_name WHEN 'short' THEN short_name ELSE mangled_name END AS op_name
  FROM kernel
  UNION ALL
  SELECT
    'memcpy' AS op_kind,
    memcpy_id AS op_id,
    start_ns,
    dur_ns,
    correlation_id,
    NULL AS grid_x,
    NULL AS grid_y,
    NULL AS grid_z,
    NULL AS block_x,
    NULL AS block_y,
    NULL AS block_z,
    NULL AS registers_per_thread,
    NULL AS static_shared_bytes,
    NULL AS dynamic_shared_bytes,
    size_bytes,
    src_memory,
    dst_memory,
    pid,
    device_id,
    context_id,
    green_context_id,
    stream_id,
    '[CUDA memcpy ' || direction || ']' AS op_name
  FROM memcpy
  UNION ALL
  SELECT
    'memset' AS op_kind,
    memset_id AS op_id,
    start_ns,
    dur_ns,
    correlation_id,
    NULL AS grid_x,
    NULL AS grid_y,
    NULL AS grid_z,
    NULL AS block_x,
    NULL AS block_y,
    NULL AS block_z,
    NULL AS registers_per_thread,
    NULL AS static_shared_bytes,
    NULL AS dynamic_shared_bytes,
    size_bytes,
    NULL AS src_memory,
    memory AS dst_memory,
    pid,
    device_id,
    context_id,
    green_context_id,
    stream_id,
    '[CUDA memset]' AS op_name
  FROM memset
)
SELECT
  op.start_ns,
  op.dur_ns,
  op.op_kind,
  op.correlation_id,
  op.grid_x,
  op.grid_y,
  op.grid_z,
  op.block_x,
  op.block_y,
  op.block_z,
  op.registers_per_thread,
  op.static_shared_bytes,
  op.dynamic_shared_bytes,
  op.size_bytes,
  1e9 * op.size_bytes / nullif(op.dur_ns, 0) AS rate_bytes_per_s,
  op.src_memory,
  op.dst_memory,
  op.pid,
  op.device_id,
  process_gpu.gpu_name,
  op.context_id,
  op.green_context_id,
  op.stream_id,
  op.op_name
FROM op
LEFT JOIN process_gpu
  ON process_gpu.device_id = op.device_id
  AND coalesce(process_gpu.pid, op.pid) = op.pid
ORDER BY op.start_ns, op.dur_ns, op.op_kind, op.op_id
