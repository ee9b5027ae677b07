/*---
name: cuda_api_costs
version: 1
title: Cost of CUDA API calls
summary: What a call of each CUDA API function costs, and how sure that is.
why: To compare a function with itself, in another run or at another time.
kind: sum
tags: [api, cuda]
reads: [all_cuda_call, cuda_call]
requires: [cuda_call]
columns:
  - {name: calls, type: int, unit: count, doc: "Calls of the function."}
  - {name: total_ns, type: duration, unit: ns, doc: "Sum of the calls' times; calls that overlap count in full."}
  - {name: mean_ns, type: duration, unit: ns, doc: "Mean time of a call."}
  - {name: mean_error_ns, type: duration, unit: ns, doc: "Standard error of mean_ns, by mean_error(); null for one."}
  - {name: stddev_ns, type: duration, unit: ns, doc: "Sample standard deviation of the times; 0 for one."}
  - {name: api_name, type: text, doc: "Name of the function without its ABI version, such as cudaLaunchKernel."}
  - {name: api_symbol, type: text, doc: "Name as recorded, such as cudaLaunchKernel_v7000."}
checks:
  - calls >= 1 AND stddev_ns >= 0
  - (calls = 1) = (mean_error_ns IS NULL)
limits: >-
  Adds up all processes and threads. A call that waits - for the GPU, for room in a queue - takes as long as there is to
  wait for, so a longer one need not be a slower one. A driver call inside a runtime call counts again.
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
