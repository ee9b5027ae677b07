/*---
name: timing_compare
version: 1
title: Program timings compared with the report
summary: Timings that a program measured itself, compared with the report.
why: To see whether a timer in the program agrees with the profile. The timings are given as rows in JSON.
kind: sum
tags: [cuda, nvtx]
internal: true
reads: []
params:
  - {name: timings, type: text, default: "[]", doc: "JSON array of objects with model_size, context_length, batch_size, forward_mean_ms and forward_std_ms."}
  - {name: model, type: text, doc: "Only rows of this model_size; null selects all rows."}
  - {name: context_length, type: int, doc: "Only rows of this context_length, or without one; null selects all rows."}
  - {name: batch_size, type: int, doc: "Only rows of this batch_size, or without one; null selects all rows."}
  - {name: cpu_ns, type: real, doc: "Mean duration of the range on the CPU, in ns."}
  - {name: elapsed_ns, type: real, doc: "Mean time from the start of the range until it and its GPU work have ended, in ns."}
  - {name: span_ns, type: real, doc: "Mean time from its first GPU operation to its last, in ns."}
  - {name: busy_ns, type: real, doc: "Mean time in which the GPU ran its operations, in ns."}
columns:
  - {name: model_size, type: text, priority: 0, doc: "Model size from the timings; null if they have none."}
  - {name: context_length, type: int, priority: 0, doc: "Context length from the timings; null if they have none."}
  - {name: batch_size, type: int, priority: 0, doc: "Batch size from the timings; null if they have none."}
  - {name: timed_ns, type: duration, unit: ns, label: "measured by program", priority: 1, doc: "Mean that the program measured."}
  - {name: timed_stddev_ns, type: duration, unit: ns, label: "measured stddev", priority: 3, doc: "Standard deviation that the program measured; null if it gives none."}
  - {name: cpu_ratio, type: real, label: "CPU time vs measured", priority: 1, doc: "cpu_ns divided by timed_ns; null without cpu_ns."}
  - {name: elapsed_ratio, type: real, label: "elapsed vs measured", priority: 1, doc: "elapsed_ns divided by timed_ns; null without elapsed_ns."}
  - {name: span_ratio, type: real, label: "GPU span vs measured", doc: "span_ns divided by timed_ns; null without span_ns."}
  - {name: busy_ratio, type: real, label: "GPU busy vs measured", priority: 1, doc: "busy_ns divided by timed_ns; null without busy_ns."}
  - {name: difference_ns, type: duration, unit: ns, label: "elapsed minus measured", priority: 1, doc: "elapsed_ns - timed_ns; null without elapsed_ns."}
checks:
  - timed_ns > 0
when_empty: "no timing is given, or none matches: pass timings with -p timings=JSON"
limits: >-
  Profiling adds CPU time to every range and launch. So a range takes longer than the same code without the profiler,
  and the more it launches, the longer it takes. If the range does not end with a synchronisation, elapsed_ns includes
  waiting for earlier work (queued_ns of range_time_sum), so it does not measure the range itself. Rows without a mean,
  or with a mean of 0 or less, are left out.
see_also: [range_time_sum]
---*/
WITH
timing AS (
  SELECT
    key AS rank,
    json_extract(value, '$.model_size') AS model_size,
    json_extract(value, '$.context_length') AS context_length,
    json_extract(value, '$.batch_size') AS batch_size,
    1e6 * json_extract(value, '$.forward_mean_ms') AS timed_ns,
    1e6 * json_extract(value, '$.forward_std_ms') AS timed_stddev_ns
  FROM json_each(:timings)
)
SELECT
  model_size,
  context_length,
  batch_size,
  timed_ns,
  timed_stddev_ns,
  :cpu_ns / timed_ns AS cpu_ratio,
  :elapsed_ns / timed_ns AS elapsed_ratio,
  :span_ns / timed_ns AS span_ratio,
  :busy_ns / timed_ns AS busy_ratio,
  :elapsed_ns - timed_ns AS difference_ns
FROM timing
WHERE timed_ns > 0
  AND (:model IS NULL OR model_size = :model)
  AND (:context_length IS NULL OR context_length IS NULL OR context_length = :context_length)
  AND (:batch_size IS NULL OR batch_size IS NULL OR batch_size = :batch_size)
ORDER BY rank
