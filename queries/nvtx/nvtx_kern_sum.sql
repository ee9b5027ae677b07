/*---
name: nvtx_kern_sum
version: 1
title: NVTX range kernel summary
summary: Kernel times per NVTX range name, thread and kernel, by range.
why: To see which kernels ran on behalf of a range, and how long each of them took.
kind: sum
tags: [cuda, kernel, nvtx]
reads: [nvtx_range_kernel]
requires: [nvtx_range, nvtx_range_kernel]
params:
  - {name: name, type: enum, values: [demangled, short, mangled], default: demangled, doc: "Which name of a kernel to group by."}
columns:
  - {name: range_kind, type: text, doc: "PushPop or StartEnd; null outside any range."}
  - {name: pid, type: id, doc: "Operating system's process id."}
  - {name: tid, type: id, doc: "Launching thread; null where no call was recorded."}
  - {name: range_count, type: int, unit: count, doc: "Ranges of this name in which the kernel was launched; 0 outside any range."}
  - {name: calls, type: int, unit: count, doc: "Executions."}
  - {name: total_ns, type: duration, unit: ns, doc: "Sum of execution times; kernels that overlap count in full."}
  - {name: mean_ns, type: duration, unit: ns, doc: "Mean execution time."}
  - {name: median_ns, type: duration, unit: ns, doc: "Median execution time; the mean of the two middle ones for an even count."}
  - {name: min_ns, type: duration, unit: ns, doc: "Shortest execution."}
  - {name: max_ns, type: duration, unit: ns, doc: "Longest execution."}
  - {name: stddev_ns, type: duration, unit: ns, doc: "Sample standard deviation of execution times; 0 for one."}
  - {name: range_name, type: text, doc: "Message, behind its domain and a colon outside the default domain; null if empty or outside any range."}
  - {name: kernel_name, type: text, doc: "Name of the kernel, of the kind asked for."}
checks:
  - calls >= 1 AND range_count >= 0
  - (range_kind IS NULL) = (range_count = 0)
  - median_ns BETWEEN min_ns AND max_ns
limits: >-
  A kernel counts for every range around its launch, so rows of nested ranges must not be added up; nvtx_kernels has each
  kernel once. Inside two ranges of one name its time counts twice and calls once. Where a runtime call and the driver
  call inside it carry one number, NVIDIA adds the time twice, here once. Kernels of a CUDA graph that was traced as a
  whole are not in it.
see_also: [nvtx_kernels, nvtx_gpu_proj_sum, cuda_gpu_kern_sum]
nsys:
  title: NVTX Range Kernel Summary
  aliases: [nvtxkernsum]
  args:
    - {name: base, set: {name: short}}
    - {name: mangled, set: {name: mangled}}
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
-- The order in which nsq makes the rows: nothing has to be sorted again.
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
