/*---
name: cuda_gpu_sum
version: 2
title: CUDA GPU summary
summary: GPU time per kernel, copy and fill, largest total first.
why: To see kernels, copies and fills in one list, and which take the most GPU time.
kind: sum
tags: [cuda, kernel, memory]
reads: [kernel, memcpy, memset, nvtx_op, string]
requires: [kernel | memcpy | memset]
params:
  - {name: name, type: enum, values: [demangled, short, mangled], default: demangled, doc: "Kernel name to group by."}
  - {name: nvtx_name, type: bool, default: false, doc: "Prefix the kernel name with the innermost NVTX range around its launch, and a slash."}
columns:
  - {name: time_pct, type: percent, unit: percent, label: "share of GPU time", priority: 1, doc: "total_ns as a share of the sum over all rows."}
  - {name: total_ns, type: duration, unit: ns, priority: 1, doc: "Sum of durations; overlaps count in full."}
  - {name: calls, type: int, unit: count, priority: 1, doc: "Number of executions."}
  - {name: mean_ns, type: duration, unit: ns, priority: 1, doc: "Mean duration."}
  - {name: median_ns, type: duration, unit: ns, priority: 1, doc: "Median duration; the mean of the two middle values if the count is even."}
  - {name: min_ns, type: duration, unit: ns, priority: 3, doc: "Shortest duration."}
  - {name: max_ns, type: duration, unit: ns, priority: 3, doc: "Longest duration."}
  - {name: stddev_ns, type: duration, unit: ns, priority: 3, doc: "Sample standard deviation of the durations; 0 for one value."}
  - {name: op_kind, type: text, label: "kind", priority: 3, doc: "Kind of operation: kernel, memcpy or memset."}
  - {name: op_name, type: text, label: "operation", priority: 0, doc: "Kernel name, a name such as [CUDA memcpy Host-to-Device], or [CUDA memset]."}
checks:
  - calls >= 1
  - time_pct BETWEEN 0 AND 100
  - median_ns BETWEEN min_ns AND max_ns
when_empty: "no kernel, copy or fill was recorded"
limits: >-
  Durations are added up over all devices, processes and streams, so the sum can exceed the length of the capture. Work
  in a CUDA graph traced as a whole is not included. NVIDIA's report leaves out copies of an unknown kind; nsq has a row
  for them.
see_also: [cuda_gpu_kern_sum, cuda_gpu_mem_time_sum, cuda_api_gpu_sum]
nsys:
  title: CUDA GPU Summary (Kernels/MemOps)
  aliases: [gpusum]
  args:
    - {name: base, set: {name: short}}
    - {name: mangled, set: {name: mangled}}
    - {name: nvtx-name, set: {nvtx_name: true}, requires: [nvtx_op, nvtx_range]}
  lacks:
    - {says: "GPU kernel/memory operations data"}
  columns:
    - {name: Time, unit: percent, sql: time_pct}
    - {name: Total Time, unit: ns, sql: total_ns}
    - {name: Instances, sql: calls}
    - {name: Avg, unit: ns, sql: mean_ns}
    - {name: Med, unit: ns, sql: median_ns}
    - {name: Min, unit: ns, sql: min_ns}
    - {name: Max, unit: ns, sql: max_ns}
    - {name: StdDev, unit: ns, sql: stddev_ns}
    - name: Category
      sql: "CASE op_kind WHEN 'kernel' THEN 'CUDA_KERNEL' ELSE 'MEMORY_OPER' END"
    - {name: Operation, sql: op_name}
---*/
WITH
-- Group by name ID, not text: it is many times faster.
timed AS (
  SELECT
    'kernel' AS op_kind,
    CASE :name WHEN 'demangled' THEN name_id WHEN 'short' THEN short_name_id ELSE mangled_name_id END AS group_id,
    CASE
      WHEN :nvtx_name THEN (SELECT range_text || '/' FROM nvtx_op WHERE op_kind = 'kernel' AND op_id = kernel_id)
    END AS range_prefix,
    NULL AS direction,
    dur_ns
  FROM kernel
  UNION ALL
  SELECT 'memcpy' AS op_kind, copy_kind AS group_id, NULL AS range_prefix, direction, dur_ns
  FROM memcpy
  UNION ALL
  SELECT 'memset' AS op_kind, NULL AS group_id, NULL AS range_prefix, NULL AS direction, dur_ns
  FROM memset
),
by_name AS (
  SELECT
    op_kind,
    group_id,
    range_prefix,
    min(direction) AS direction,
    sum(dur_ns) AS total_ns,
    count(*) AS calls,
    avg(dur_ns) AS mean_ns,
    median(dur_ns) AS median_ns,
    min(dur_ns) AS min_ns,
    max(dur_ns) AS max_ns,
    stddev(dur_ns) AS stddev_ns
  FROM timed
  GROUP BY op_kind, group_id, range_prefix
)
SELECT
  100.0 * total_ns / nullif(sum(total_ns) OVER (), 0) AS time_pct,
  total_ns,
  calls,
  mean_ns,
  median_ns,
  min_ns,
  max_ns,
  stddev_ns,
  op_kind,
  CASE op_kind
    WHEN 'kernel' THEN coalesce(range_prefix, '') || (SELECT text FROM string WHERE string_id = group_id)
    WHEN 'memcpy' THEN '[CUDA memcpy ' || direction || ']'
    ELSE '[CUDA memset]'
  END AS op_name
FROM by_name
ORDER BY total_ns DESC, calls DESC, op_kind, op_name, group_id, range_prefix
