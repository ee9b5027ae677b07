/*---
name: cuda_api_gpu_sum
version: 2
title: CUDA API and GPU summary
summary: Time per CUDA API function, kernel, copy and fill, largest total first.
why: Sets the time in API calls beside the work they started, in one list.
kind: sum
tags: [api, cuda, kernel, memory]
reads: [all_cuda_call, cuda_call, kernel, memcpy, memset, nvtx_op, string]
requires: [cuda_call | kernel | memcpy | memset]
params:
  - {name: name, type: enum, values: [demangled, short, mangled], default: demangled, doc: "Which name of a kernel to group by."}
  - {name: nvtx_name, type: bool, default: false, doc: "Put the innermost NVTX range of the launch before the name, and a slash."}
columns:
  - {name: time_pct, type: percent, unit: percent, doc: "Share of total_ns in the total of all rows."}
  - {name: total_ns, type: duration, unit: ns, doc: "Sum of the times; what overlaps counts in full."}
  - {name: calls, type: int, unit: count, doc: "Calls of a function, or executions of an operation."}
  - {name: mean_ns, type: duration, unit: ns, doc: "Mean time."}
  - {name: median_ns, type: duration, unit: ns, doc: "Median time; the mean of the two middle ones for an even count."}
  - {name: min_ns, type: duration, unit: ns, doc: "Shortest time."}
  - {name: max_ns, type: duration, unit: ns, doc: "Longest time."}
  - {name: stddev_ns, type: duration, unit: ns, doc: "Sample standard deviation of the times; 0 for one."}
  - {name: op_kind, type: text, doc: "api, kernel, memcpy or memset."}
  - {name: api_symbol, type: text, doc: "Function as recorded, such as cudaLaunchKernel_v7000; null for an operation."}
  - {name: op_name, type: text, doc: "Function without ABI version, kernel, [CUDA memcpy …] or [CUDA memset]."}
checks:
  - calls >= 1
  - time_pct BETWEEN 0 AND 100
  - median_ns BETWEEN min_ns AND max_ns
limits: >-
  Times of threads and of GPUs are added up in one total, so shares tell only what is large and what is small. A driver
  call inside a runtime call counts again. Two versions of one function are two rows. Work of a CUDA graph that was
  traced as a whole is not in it. NVIDIA's report leaves out copies of an unknown kind; here they are a row.
see_also: [cuda_api_sum, cuda_gpu_sum, cuda_kern_exec_sum]
nsys:
  title: CUDA Summary (API/Kernels/MemOps)
  aliases: [apigpusum]
  args:
    - {name: base, set: {name: short}}
    - {name: mangled, set: {name: mangled}}
    - {name: nvtx-name, set: {nvtx_name: true}, requires: [nvtx_op, nvtx_range]}
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
      sql: "CASE op_kind WHEN 'api' THEN 'CUDA_API' WHEN 'kernel' THEN 'CUDA_KERNEL' ELSE 'MEMORY_OPER' END"
    - name: Operation
      sql: >-
        CASE WHEN api_symbol IS NULL THEN op_name WHEN api_symbol GLOB '*_v[0-9][0-9][0-9][0-9]'
        THEN substr(api_symbol, 1, length(api_symbol) - 6) ELSE api_symbol END
---*/
WITH
-- Numbers stand for names here: grouping by them is many times cheaper than by the text.
timed AS (
  SELECT 'api' AS op_kind, name_id AS group_id, NULL AS range_prefix, NULL AS direction, call_id, dur_ns
  FROM cuda_call
  UNION ALL
  SELECT
    'kernel' AS op_kind,
    CASE :name WHEN 'demangled' THEN name_id WHEN 'short' THEN short_name_id ELSE mangled_name_id END AS group_id,
    CASE
      WHEN :nvtx_name THEN (SELECT range_text || '/' FROM nvtx_op WHERE op_kind = 'kernel' AND op_id = kernel_id)
    END AS range_prefix,
    NULL AS direction,
    NULL AS call_id,
    dur_ns
  FROM kernel
  UNION ALL
  SELECT 'memcpy' AS op_kind, copy_kind AS group_id, NULL AS range_prefix, direction, NULL AS call_id, dur_ns
  FROM memcpy
  UNION ALL
  SELECT 'memset' AS op_kind, NULL AS group_id, NULL AS range_prefix, NULL AS direction, NULL AS call_id, dur_ns
  FROM memset
),
by_name AS (
  SELECT
    op_kind,
    group_id,
    range_prefix,
    min(direction) AS direction,
    min(call_id) AS any_call_id,
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
  (SELECT api_symbol FROM all_cuda_call WHERE call_id = any_call_id) AS api_symbol,
  CASE op_kind
    WHEN 'api' THEN (SELECT api_name FROM all_cuda_call WHERE call_id = any_call_id)
    WHEN 'kernel' THEN coalesce(range_prefix, '') || (SELECT text FROM string WHERE string_id = group_id)
    WHEN 'memcpy' THEN '[CUDA memcpy ' || direction || ']'
    ELSE '[CUDA memset]'
  END AS op_name
FROM by_name
ORDER BY total_ns DESC, calls DESC, op_kind, op_name, group_id, range_prefix
