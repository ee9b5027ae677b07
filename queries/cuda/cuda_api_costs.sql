/*---
name: cuda_api_costs
version: 1
title: Cost of CUDA API calls
summary: Mean duration of each CUDA API function, with its standard error.
why: To compare a function between two runs, or between two parts of a run.
kind: sum
tags: [api, cuda]
reads: [all_cuda_call, cuda_call]
requires: [cuda_call]
columns:
  - {name: calls, type: int, unit: count, priority: 1, doc: "Number of calls."}
  - {name: total_ns, type: duration, unit: ns, priority: 1, doc: "Sum of call durations; overlapping calls count in full."}
  - {name: mean_ns, type: duration, unit: ns, priority: 1, doc: "Mean duration of a call."}
  - {name: mean_error_ns, type: duration, unit: ns, priority: 1, doc: "Standard error of mean_ns, from mean_error(); null for one call."}
  - {name: stddev_ns, type: duration, unit: ns, doc: "Sample standard deviation of the durations; 0 for one call."}
  - {name: api_name, type: text, label: "API function", priority: 0, doc: "Function name without its ABI version, such as cudaLaunchKernel."}
  - {name: api_symbol, type: text, label: "API symbol", priority: 3, doc: "Function name as recorded, such as cudaLaunchKernel_v7000."}
checks:
  - calls >= 1 AND stddev_ns >= 0
  - (calls = 1) = (mean_error_ns IS NULL)
when_empty: "no CUDA API call was recorded"
limits: >-
  Sums cover all processes and threads. A call that waits, for the GPU or for room in a queue, takes as long as the wait
  lasts, so a longer call is not always a slower one. A driver call inside a runtime call counts again.
see_also: [cuda_api_sum, kernel_costs, memory_op_sizes]
---*/
WITH
by_function AS (
  SELECT
    name_id,
    min(call_id) AS any_call_id,
    count(*) AS calls,
    sum(dur_ns) AS total_ns,
    avg(dur_ns) AS mean_ns,
    mean_error(start_ns, dur_ns) AS mean_error_ns,
    stddev(dur_ns) AS stddev_ns
  FROM cuda_call
  GROUP BY name_id
)
SELECT
  calls,
  total_ns,
  mean_ns,
  mean_error_ns,
  stddev_ns,
  (SELECT api_name FROM all_cuda_call WHERE call_id = any_call_id) AS api_name,
  (SELECT api_symbol FROM all_cuda_call WHERE call_id = any_call_id) AS api_symbol
FROM by_function
ORDER BY total_ns DESC, calls DESC, api_symbol, name_id
