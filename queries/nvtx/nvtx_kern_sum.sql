/*---
name: nvtx_kern_sum
version: 1
title: NVTX range kernel summary
summary: Kernel time per NVTX range name, thread and kernel, sorted by range.
why: To see which kernels a range launched, and how long each took.
kind: sum
tags: [cuda, kernel, nvtx]
reads: [nvtx_range_kernel]
requires: [nvtx_range, nvtx_range_kernel]
params:
  - {name: name, type: enum, values: [demangled, short, mangled], default: demangled, doc: "Kernel name to group by."}
columns:
  - {name: range_kind, type: text, label: "kind", priority: 3, doc: "Kind of range: PushPop or StartEnd; null outside any range."}
  - {name: pid, type: id, priority: 3, doc: "Operating system process ID."}
  - {name: tid, type: id, doc: "Operating system ID of the launching thread; null if the call was not recorded."}
  - {name: range_count, type: int, unit: count, label: "ranges", doc: "Ranges of this name that launched the kernel; 0 outside any range."}
  - {name: calls, type: int, unit: count, priority: 1, doc: "Number of executions."}
  - {name: total_ns, type: duration, unit: ns, priority: 1, doc: "Sum of execution times; overlapping kernels count in full."}
  - {name: mean_ns, type: duration, unit: ns, priority: 1, doc: "Mean execution time."}
  - {name: median_ns, type: duration, unit: ns, doc: "Median execution time; the mean of the two middle values if the count is even."}
  - {name: min_ns, type: duration, unit: ns, priority: 3, doc: "Shortest execution."}
  - {name: max_ns, type: duration, unit: ns, priority: 3, doc: "Longest execution."}
  - {name: stddev_ns, type: duration, unit: ns, priority: 3, doc: "Sample standard deviation of the execution times; 0 for one execution."}
  - {name: range_name, type: text, label: "range", priority: 0, doc: "Message, with the prefix DOMAIN: outside the default domain; null if empty or outside any range."}
  - {name: kernel_name, type: text, label: "kernel", priority: 0, doc: "Kernel name of the kind chosen by the parameter name."}
checks:
  - calls >= 1 AND range_count >= 0
  - (range_kind IS NULL) = (range_count = 0)
  - median_ns BETWEEN min_ns AND max_ns
when_empty: "no kernel was recorded"
limits: >-
  A kernel counts in every range around its launch, so do not add up rows of nested ranges; nvtx_kernels counts each
  kernel once. Inside two nested ranges of one name, the time of a kernel counts twice and the call once. If a runtime
  call and the driver call inside it have the same correlation ID, NVIDIA counts the time twice; nsq counts it once.
  Kernels of a CUDA graph traced as a whole are not included.
see_also: [nvtx_kernels, nvtx_gpu_proj_sum, cuda_gpu_kern_sum]
nsys:
  title: NVTX Range Kernel Summary
  aliases: [nvtxkernsum]
  args:
    - {name: base, set: {name: short}}
    - {name: mangled, set: {name: mangled}}
  lacks:
    - {without: nvtx_range, says: "NV Tools Extension (NVTX) data"}
    - {says: "CUDA kernel data"}
  columns:
    - {name: NVTX Range, sql: range_name}
    - {name: Style, sql: range_kind}
    - {name: PID, sql: "CASE WHEN tid IS NOT NULL THEN pid END"}
    - {name: TID, sql: tid}
    - {name: NVTX Inst, sql: range_count}
    - {name: Kern Inst, sql: calls}
    - {name: Total Time, unit: ns, sql: total_ns}
    - {name: Avg, unit: ns, sql: mean_ns}
    - {name: Med, unit: ns, sql: median_ns}
    - {name: Min, unit: ns, sql: min_ns}
    - {name: Max, unit: ns, sql: max_ns}
    - {name: StdDev, unit: ns, sql: stddev_ns}
    - {name: Kernel Name, sql: kernel_name}
---*/
SELECT
  range_kind,
  pid,
  tid,
  range_count,
  calls,
  total_ns,
  mean_ns,
  median_ns,
  min_ns,
  max_ns,
  stddev_ns,
  range_name,
  kernel_name
FROM nvtx_range_kernel
WHERE naming = :name
-- nsq computes the rows in this order, so SQLite does not sort them again.
ORDER BY
  range_name,
  pid,
  tid,
  total_ns DESC,
  calls DESC,
  range_kind,
  global_tid,
  range_name_id,
  kernel_name_id
