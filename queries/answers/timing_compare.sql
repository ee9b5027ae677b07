/*---
name: timing_compare
version: 1
title: Timings of a program against those of a report
summary: Timings that a program took itself, beside what the report says.
why: To see whether a timer in the program agrees with the profile. The timings are given as rows in JSON.
kind: sum
tags: [cuda, nvtx]
reads: []
params:
  - {name: timings, type: text, default: "[]", doc: "A JSON array of objects with model_size, context_length, batch_size, forward_mean_ms and forward_std_ms."}
  - {name: model, type: text, doc: "Only rows of this model_size; null for all."}
  - {name: context_length, type: int, doc: "Only rows of this context_length, or without one; null for all."}
  - {name: batch_size, type: int, doc: "Only rows of this batch_size, or without one; null for all."}
  - {name: cpu_ns, type: real, doc: "Mean time of the range on the CPU."}
  - {name: elapsed_ns, type: real, doc: "Mean time until its GPU work was done, too."}
  - {name: span_ns, type: real, doc: "Mean time from its first GPU operation to its last."}
  - {name: busy_ns, type: real, doc: "Mean time that the GPU worked for it."}
columns:
  - {name: model_size, type: text, doc: "As the program wrote it; null if it did not."}
  - {name: context_length, type: int, doc: "As the program wrote it; null if it did not."}
  - {name: batch_size, type: int, doc: "As the program wrote it; null if it did not."}
  - {name: timed_ns, type: duration, unit: ns, doc: "Mean that the program measured."}
  - {name: timed_stddev_ns, type: duration, unit: ns, doc: "Its standard deviation; null if it did not say."}
  - {name: cpu_ratio, type: real, doc: "Range on the CPU over timed_ns; null if not given."}
  - {name: elapsed_ratio, type: real, doc: "The same of the time until its GPU work was done."}
  - {name: span_ratio, type: real, doc: "The same from its first GPU operation to its last."}
  - {name: busy_ratio, type: real, doc: "The same of the GPU's work."}
  - {name: difference_ns, type: duration, unit: ns, doc: "Time until its GPU work was done, less timed_ns; null if not given."}
checks:
  - timed_ns > 0
limits: >-
  Profiling itself takes time on the CPU for every range and launch, so that a range is longer than the same code
  unprofiled, the more so the more it launches. Where nothing synchronises, the time until its GPU work was done holds
  waiting for earlier work (queued of range_time_sum), and is no measure of the range. Rows without a mean, or with one that is not above 0, are left out.
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
