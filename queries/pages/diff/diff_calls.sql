/*---
name: diff_calls
version: 2
title: API calls to compare
summary: Time of each function of the CUDA API, with the error of the total.
why: To compare what two runs spend in the CUDA API.
kind: sum
tags: [api, cuda]
internal: true
reads: [all_cuda_call, cuda_call, stalled_step, step_window]
requires: [cuda_call]
params:
  - {name: per_iteration, type: bool, default: true, doc: "Whether to count only work in steps, if the report has any."}
  - {name: skip, type: int, min: 0, doc: "Steps of each thread to leave out as warm-up; as step_window does if not set."}
columns:
  - {name: section, type: text, priority: 0, doc: "kernels, memory, layers, layers_cpu or api. layers is GPU time of NVTX ranges; layers_cpu is their CPU time, if no range launched GPU work."}
  - {name: name, type: text, priority: 0, doc: "Demangled kernel name; copy or fill with its kinds of memory; folded range name; API function."}
  - {name: shape, type: text, priority: 0, doc: "Grid / block of a kernel, size of a copy or fill, path of a range; empty for API functions."}
  - {name: path, type: text, priority: 2, doc: "Path of the innermost NVTX range around the launch of a kernel; empty if there is none, in other sections, and in reports with more than 1000 paths."}
  - {name: class, type: text, priority: 2, doc: "Class of a kernel; null in other sections."}
  - {name: collective, type: text, priority: 2, doc: "Collective of a communication kernel; null for all else."}
  - {name: calls, type: int, unit: count, priority: 1, doc: "Executions, ranges or calls."}
  - {name: total_ns, type: duration, unit: ns, priority: 1, doc: "Sum of their durations; overlapping ones count in full."}
  - {name: error_ns, type: duration, unit: ns, label: "error of the total", priority: 1, doc: "Standard error of total_ns: calls * error of the mean, which is mean_error() over steps if there are five or more, else over calls. A quarter of total_ns for a single value."}
  - {name: freedom_ns, type: duration, unit: ns, priority: 3, doc: "error_ns divided by the square root of its degrees of freedom, so that both add up over rows whose errors go in the same direction."}
  - {name: single_ns, type: duration, unit: ns, priority: 3, doc: "total_ns of what has a single value, so no known error."}
checks:
  - calls >= 1 AND error_ns >= 0
when_empty: "no CUDA API call was recorded"
limits: >-
  A call belongs to the step of its process in which it starts. A call that waits takes as long as the wait lasts,
  so a longer call is not always a slower one. A driver call inside a runtime call counts again.
  The steps of a stall that happened once, as in stalled_step, do not count.
see_also: [cuda_api_costs, diff_gpu_work]
---*/
WITH
counted AS MATERIALIZED (
  SELECT time_places(pid, cpu_start_ns, cpu_end_ns) AS places, count(*) AS iteration_count
  FROM step_window
  WHERE :per_iteration
    AND iif(:skip IS NULL, part IN ('median', 'steady'), step >= :skip)
    AND (global_tid, step) NOT IN (SELECT global_tid, step FROM stalled_step)
),
by_function AS (
  SELECT
    min(call.call_id) AS any_call_id,
    count(*) AS calls,
    sum(call.dur_ns) AS total_ns,
    mean_error(call.start_ns, call.dur_ns) AS mean_error_ns
  FROM cuda_call AS call
  WHERE (SELECT iteration_count FROM counted) = 0
    OR place_of((SELECT places FROM counted), call.pid, call.start_ns) IS NOT NULL
  GROUP BY call.name_id
),
work AS (
  SELECT
    'api' AS section,
    (SELECT api_name FROM all_cuda_call WHERE call_id = any_call_id) AS name,
    '' AS shape,
    '' AS path,
    NULL AS class,
    NULL AS collective,
    calls,
    total_ns,
    mean_error_ns,
    calls AS value_count
  FROM by_function
),
-- GPU timestamps are multiples of up to 32 ns, so a mean is at best as exact as that allows.
known AS (
  SELECT *, max(mean_error_ns, 32 / sqrt(12.0 * calls)) AS least_error_ns
  FROM work
)
SELECT
  section,
  name,
  shape,
  path,
  class,
  collective,
  sum(calls) AS calls,
  sum(total_ns) AS total_ns,
  sum(coalesce(calls * least_error_ns, 0.25 * total_ns)) AS error_ns,
  sum(coalesce(calls * least_error_ns / sqrt(mean_freedom(value_count)), 0)) AS freedom_ns,
  sum(iif(least_error_ns IS NULL, total_ns, 0)) AS single_ns
FROM known
GROUP BY section, name, shape, path
ORDER BY section, sum(total_ns) DESC, name, shape, path
