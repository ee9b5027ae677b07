/*---
name: cuda_api_sum
version: 1
title: CUDA API summary
summary: Time per CUDA API function, largest total first.
why: To see how much CPU time goes into launching, copying, allocating and waiting.
kind: sum
tags: [api, cuda]
reads: [all_cuda_call, cuda_call]
requires: [cuda_call]
columns:
  - {name: time_pct, type: percent, unit: percent, label: "share of API time", priority: 1, doc: "total_ns as a share of the sum over all rows."}
  - {name: total_ns, type: duration, unit: ns, priority: 1, doc: "Sum of call durations; overlapping calls count in full."}
  - {name: calls, type: int, unit: count, priority: 1, doc: "Number of calls."}
  - {name: mean_ns, type: duration, unit: ns, priority: 1, doc: "Mean duration of a call."}
  - {name: median_ns, type: duration, unit: ns, priority: 1, doc: "Median duration; the mean of the two middle values if the count is even."}
  - {name: min_ns, type: duration, unit: ns, priority: 3, doc: "Shortest call."}
  - {name: max_ns, type: duration, unit: ns, priority: 3, doc: "Longest call."}
  - {name: stddev_ns, type: duration, unit: ns, priority: 3, doc: "Sample standard deviation of the durations; 0 for one value."}
  - {name: api_name, type: text, label: "API function", priority: 0, doc: "Function name without its ABI version, such as cudaLaunchKernel."}
  - {name: api_symbol, type: text, label: "API symbol", priority: 3, doc: "Function name as recorded, such as cudaLaunchKernel_v7000."}
checks:
  - calls >= 1
  - time_pct BETWEEN 0 AND 100
  - median_ns BETWEEN min_ns AND max_ns
when_empty: "no CUDA API call was recorded"
limits: >-
  A driver call inside a runtime call counts again. Threads that wait at the same time count in full. Two ABI versions
  of one function are two rows with the same api_name. With --cudabacktrace, exports of 2022 have two rows for a call:
  both count, as in the report of NVIDIA; cuda_api_costs counts each call once.
see_also: [cuda_api_costs, cuda_api_trace, cuda_api_gpu_sum, api_errors, launch_latency]
nsys:
  title: CUDA API Summary
  aliases: [cudaapisum]
  lacks:
    - {says: "CUDA trace data"}
  columns:
    - {name: Time, unit: percent, sql: time_pct}
    - {name: Total Time, unit: ns, sql: total_ns}
    - {name: Num Calls, sql: calls}
    - {name: Avg, unit: ns, sql: mean_ns}
    - {name: Med, unit: ns, sql: median_ns}
    - {name: Min, unit: ns, sql: min_ns}
    - {name: Max, unit: ns, sql: max_ns}
    - {name: StdDev, unit: ns, sql: stddev_ns}
    - name: Name
      sql: >-
        CASE WHEN api_symbol GLOB '*_v[0-9][0-9][0-9][0-9]'
        THEN substr(api_symbol, 1, length(api_symbol) - 6) ELSE api_symbol END
---*/
WITH
by_function AS (
  SELECT
    name_id,
    min(call_id) AS any_call_id,
    sum(dur_ns) AS total_ns,
    count(*) AS calls,
    avg(dur_ns) AS mean_ns,
    median(dur_ns) AS median_ns,
    min(dur_ns) AS min_ns,
    max(dur_ns) AS max_ns,
    stddev(dur_ns) AS stddev_ns
  FROM cuda_call
  GROUP BY name_id
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
  (SELECT api_name FROM all_cuda_call WHERE call_id = any_call_id) AS api_name,
  (SELECT api_symbol FROM all_cuda_call WHERE call_id = any_call_id) AS api_symbol
FROM by_function
ORDER BY total_ns DESC, calls DESC, api_symbol, name_id
