/*---
name: cuda_kern_exec_trace
version: 2
title: CUDA kernel launch and execution trace
summary: Every kernel with its launching call and the wait in between, sorted by start.
why: To see for a single launch whether its time went into the call, the queue or the GPU.
kind: trace
tags: [api, cuda, kernel, latency]
reads: [all_cuda_call, all_kernel, launch, nvtx_op]
requires: [kernel]
params:
  - {name: name, type: enum, values: [demangled, short, mangled], default: demangled, doc: "Kernel name to show."}
  - {name: nvtx_name, type: bool, default: false, doc: "Prefix the kernel name with the innermost NVTX range around its launch, and a slash."}
columns:
  - {name: start_ns, type: timestamp, unit: ns, priority: 1, doc: "Start of the launching call; start of the kernel if the call was not recorded."}
  - {name: dur_ns, type: duration, unit: ns, label: "duration", priority: 1, doc: "Time from start_ns until both call and kernel have ended."}
  - {name: api_dur_ns, type: duration, unit: ns, label: "API call time", priority: 1, doc: "Duration of the launching call; null if the call was not recorded."}
  - {name: queue_start_ns, type: timestamp, unit: ns, priority: 3, doc: "Return of the call, if the kernel had not started yet; null otherwise."}
  - {name: queue_dur_ns, type: duration, unit: ns, label: "queue time", priority: 1, doc: "Wait from the return of the call to the start of the kernel; null if there is none."}
  - {name: kernel_start_ns, type: timestamp, unit: ns, priority: 3, doc: "Start of the kernel on the GPU."}
  - {name: kernel_dur_ns, type: duration, unit: ns, label: "kernel time", priority: 1, doc: "Execution time of the kernel."}
  - {name: pid, type: id, priority: 3, doc: "Operating system process ID."}
  - {name: tid, type: id, doc: "Operating system ID of the launching thread; null if the call was not recorded."}
  - {name: device_id, type: id, label: "CUDA device", priority: 0, doc: "CUDA device ordinal within its process; CUDA_VISIBLE_DEVICES may renumber it."}
  - {name: stream_id, type: id, label: "stream", priority: 0, doc: "CUDA stream ID, unique within its context."}
  - {name: correlation_id, type: id, label: "correlation ID", priority: 3, doc: "Correlation ID of the kernel and its call, at best unique within a process."}
  - {name: grid_x, type: int, unit: count, priority: 3, doc: "Blocks in the grid along x."}
  - {name: grid_y, type: int, unit: count, priority: 3, doc: "Blocks in the grid along y."}
  - {name: grid_z, type: int, unit: count, priority: 3, doc: "Blocks in the grid along z."}
  - {name: block_x, type: int, unit: count, priority: 3, doc: "Threads in a block along x."}
  - {name: block_y, type: int, unit: count, priority: 3, doc: "Threads in a block along y."}
  - {name: block_z, type: int, unit: count, priority: 3, doc: "Threads in a block along z."}
  - {name: api_name, type: text, label: "API function", doc: "Launching function without its ABI version; null if the call was not recorded."}
  - {name: api_symbol, type: text, label: "API symbol", priority: 3, doc: "Launching function as recorded; null if the call was not recorded."}
  - {name: kernel_name, type: text, label: "kernel", priority: 0, doc: "Kernel name of the kind chosen by the parameter name, after the NVTX range if nvtx_name is true."}
checks:
  - dur_ns >= kernel_dur_ns
  - queue_dur_ns IS NULL OR queue_dur_ns >= 0
when_empty: "no kernel was recorded"
limits: >-
  NVIDIA's report drops kernels whose launching call was not recorded; nsq keeps them as rows without a call. If a
  runtime call and the driver call inside it have the same correlation ID, NVIDIA prints the kernel twice; nsq prints it
  once, with the outer call. All kernels of a graph launch share one call, so the wait of a later kernel includes the
  earlier kernels. Kernels of a CUDA graph traced as a whole are not included.
see_also: [cuda_kern_exec_sum, launch_latency, cuda_gpu_trace]
nsys:
  title: CUDA Kernel Launch & Exec Time Trace
  aliases: [kernexectrace]
  args:
    - {name: base, set: {name: short}}
    - {name: mangled, set: {name: mangled}}
    - {name: nvtx-name, set: {nvtx_name: true}, requires: [nvtx_op, nvtx_range]}
  lacks:
    - {without: kernel, says: "CUDA kernel data"}
    - {says: "CUDA API data"}
  columns:
    - {name: API Start, unit: ts, sql: "CASE WHEN api_symbol IS NOT NULL THEN start_ns END"}
    - {name: API Dur, unit: ns, sql: api_dur_ns}
    - {name: Queue Start, unit: ns, sql: queue_start_ns}
    - {name: Queue Dur, unit: ns, sql: queue_dur_ns}
    - {name: Kernel Start, unit: ns, sql: kernel_start_ns}
    - {name: Kernel Dur, unit: ns, sql: kernel_dur_ns}
    - {name: Total Dur, unit: ns, sql: "CASE WHEN api_symbol IS NOT NULL THEN dur_ns END"}
    - {name: PID, sql: pid}
    - {name: TID, sql: tid}
    - {name: DevId, sql: device_id}
    - name: API Function
      sql: >-
        CASE WHEN api_symbol GLOB '*_v[0-9][0-9][0-9][0-9]'
        THEN substr(api_symbol, 1, length(api_symbol) - 6) ELSE api_symbol END
    - {name: GridXYZ, sql: "printf('%4d %4d %4d', grid_x, grid_y, grid_z)"}
    - {name: BlockXYZ, sql: "printf('%4d %4d %4d', block_x, block_y, block_z)"}
    - {name: Kernel Name, sql: kernel_name}
---*/
SELECT
  coalesce(launch.call_start_ns, launch.start_ns) AS start_ns,
  max(launch.end_ns, coalesce(launch.call_end_ns, launch.end_ns))
    - coalesce(launch.call_start_ns, launch.start_ns) AS dur_ns,
  launch.call_end_ns - launch.call_start_ns AS api_dur_ns,
  CASE WHEN launch.start_ns >= launch.call_end_ns THEN launch.call_end_ns END AS queue_start_ns,
  CASE WHEN launch.start_ns >= launch.call_end_ns THEN launch.start_ns - launch.call_end_ns END AS queue_dur_ns,
  launch.start_ns AS kernel_start_ns,
  launch.dur_ns AS kernel_dur_ns,
  launch.pid,
  launch.tid,
  launch.device_id,
  launch.stream_id,
  launch.correlation_id,
  kernel.grid_x,
  kernel.grid_y,
  kernel.grid_z,
  kernel.block_x,
  kernel.block_y,
  kernel.block_z,
  call.api_name,
  call.api_symbol,
  coalesce(
    CASE
      WHEN :nvtx_name THEN (SELECT range_text || '/' FROM nvtx_op WHERE op_kind = 'kernel' AND op_id = kernel_id)
    END,
    ''
  )
    || CASE :name
      WHEN 'demangled' THEN kernel.kernel_name
      WHEN 'short' THEN kernel.short_name
      ELSE kernel.mangled_name
    END AS kernel_name
FROM launch
JOIN all_kernel AS kernel
  ON kernel.kernel_id = launch.op_id
LEFT JOIN all_cuda_call AS call
  ON call.call_id = launch.call_id
WHERE launch.op_kind = 'kernel'
ORDER BY start_ns, kernel_start_ns, launch.op_id
