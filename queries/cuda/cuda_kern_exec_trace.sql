/*---
name: cuda_kern_exec_trace
version: 2
title: CUDA kernel launch and execution trace
summary: Every kernel with the call that launched it and its wait between, by time.
why: To see for a single launch where its time went - in the call, in the queue or on the GPU.
kind: trace
tags: [api, cuda, kernel, latency]
reads: [all_cuda_call, all_kernel, launch, nvtx_op]
requires: [kernel]
params:
  - {name: name, type: enum, values: [demangled, short, mangled], default: demangled, doc: "Which name of a kernel to show."}
  - {name: nvtx_name, type: bool, default: false, doc: "Put the innermost NVTX range of the launch before the name, and a slash."}
columns:
  - {name: start_ns, type: timestamp, unit: ns, doc: "Launching call began; where none was recorded, the kernel began."}
  - {name: dur_ns, type: duration, unit: ns, doc: "From start_ns until both the call and the kernel have ended."}
  - {name: api_dur_ns, type: duration, unit: ns, doc: "Time of the launching call; null where none was recorded."}
  - {name: queue_start_ns, type: timestamp, unit: ns, doc: "Call returned before the kernel began; null where it did not."}
  - {name: queue_dur_ns, type: duration, unit: ns, doc: "From the return of the call to the start of the kernel, or null."}
  - {name: kernel_start_ns, type: timestamp, unit: ns, doc: "Kernel began on the GPU."}
  - {name: kernel_dur_ns, type: duration, unit: ns, doc: "Execution time of the kernel."}
  - {name: pid, type: id, doc: "Operating system's process id."}
  - {name: tid, type: id, doc: "Launching thread; null where no call was recorded."}
  - {name: device_id, type: id, doc: "CUDA ordinal of the GPU inside its process, which CUDA_VISIBLE_DEVICES may renumber."}
  - {name: stream_id, type: id, doc: "CUDA stream, unique within its context."}
  - {name: correlation_id, type: id, doc: "Number that ties the kernel to its call, unique within a process at best."}
  - {name: grid_x, type: int, unit: count, doc: "Blocks in the grid along x."}
  - {name: grid_y, type: int, unit: count, doc: "Blocks in the grid along y."}
  - {name: grid_z, type: int, unit: count, doc: "Blocks in the grid along z."}
  - {name: block_x, type: int, unit: count, doc: "Threads in a block along x."}
  - {name: block_y, type: int, unit: count, doc: "Threads in a block along y."}
  - {name: block_z, type: int, unit: count, doc: "Threads in a block along z."}
  - {name: api_name, type: text, doc: "Launching function without its ABI version; null where none was recorded."}
  - {name: api_symbol, type: text, doc: "Launching function as recorded; null where none was."}
  - {name: kernel_name, type: text, doc: "Name of the kernel, of the kind asked for, behind the NVTX range if that was."}
checks:
  - dur_ns >= kernel_dur_ns
  - queue_dur_ns IS NULL OR queue_dur_ns >= 0
limits: >-
  Kernels whose launching call was not recorded are lost in NVIDIA's report and kept here without a call. Where two
  calls, one inside the other, carry one number, NVIDIA prints the kernel twice; here it is printed once, with the outer
  call. All kernels of a graph launch share one call, so the wait of a later one holds the earlier ones. Kernels of a
  graph that was traced as a whole are not in it.
see_also: [cuda_kern_exec_sum, launch_latency, cuda_gpu_trace]
nsys:
  title: CUDA Kernel Launch & Exec Time Trace
  aliases: [kernexectrace]
  args:
    - {name: base, set: {name: short}}
    - {name: mangled, set: {name: mangled}}
    - {name: nvtx-name, set: {nvtx_name: true}, requires: [nvtx_op, nvtx_range]}
  columns:
    - {name: API Start, unit: ns, sql: "CASE WHEN api_symbol IS NOT NULL THEN start_ns END"}
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
