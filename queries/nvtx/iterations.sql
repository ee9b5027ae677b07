/*---
name: iterations
version: 2
title: Iterations
summary: One row per iteration of an NVTX range, with its GPU time.
why: To see whether iterations take the same time, which ones are slow, and how long the gaps in their GPU work are.
kind: sum
tags: [cuda, nvtx]
reads: [all_nvtx_projection, all_nvtx_span, iteration, nvtx_name, nvtx_projection, scope]
requires: [nvtx_projection, nvtx_op]
params:
  - {name: tag, type: text, doc: "GLOB pattern for the range name, with or without its domain, or for its folded name. Default: the range that looks most like an iteration."}
  - {name: skip, type: int, default: 0, min: 0, doc: "Instances to leave out at the start of each sequence, as warm-up."}
columns:
  - {name: iteration, type: int, priority: 0, doc: "Position by start among the outermost ranges of the same folded name and thread, from 0. Instances left out by skip count."}
  - {name: span_ns, type: duration, unit: ns, label: "GPU span", priority: 1, doc: "proj_end_ns - proj_start_ns; null without GPU work."}
  - {name: busy_ns, type: duration, unit: ns, label: "GPU busy", priority: 1, doc: "Time in which at least one of its operations ran, on any device; null without GPU work."}
  - {name: idle_ns, type: duration, unit: ns, label: "gaps in own work", priority: 1, doc: "span_ns - busy_ns: in these gaps no operation of the range ran, but other work may have run; null without GPU work."}
  - {name: gpu_ns, type: duration, unit: ns, label: "GPU time", doc: "Sum of the durations of its operations; 0 without GPU work."}
  - {name: cpu_ns, type: duration, unit: ns, label: "CPU time", priority: 1, doc: "Duration of the range on the CPU."}
  - {name: slowest, type: int, label: "rank by GPU span", priority: 3, doc: "Rank by span_ns in its sequence; 1 is the longest. Instances without GPU work come last."}
  - {name: span_mean_ns, type: duration, unit: ns, label: "mean GPU span", priority: 3, doc: "Mean of span_ns in its sequence; null if no instance has GPU work."}
  - {name: span_stddev_ns, type: duration, unit: ns, label: "GPU span stddev", priority: 3, doc: "Sample standard deviation of span_ns in its sequence; 0 for one instance; null if no instance has GPU work."}
  - {name: op_count, type: int, unit: count, label: "GPU operations", priority: 1, doc: "GPU operations launched inside the range."}
  - {name: launch_count, type: int, unit: count, label: "launches", priority: 3, doc: "API calls that launched these operations. A graph launch counts once."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of the range on the CPU, on the report's clock."}
  - {name: proj_start_ns, type: timestamp, unit: ns, label: "GPU start", priority: 3, doc: "Start of the first operation on the GPU; null without GPU work."}
  - {name: proj_end_ns, type: timestamp, unit: ns, label: "GPU end", priority: 3, doc: "End of the last operation on the GPU; null without GPU work."}
  - {name: pid, type: id, priority: 0, doc: "Operating system process ID."}
  - {name: tid, type: id, priority: 3, doc: "Operating system thread ID."}
  - {name: range_id, type: id, priority: 3, doc: "Row ID in the raw table."}
  - {name: range_name, type: text, label: "range", priority: 0, doc: "Message, with the prefix DOMAIN: outside the default domain; null if empty."}
  - {name: layer_name, type: text, label: "folded name", priority: 3, doc: "range_name with each number replaced by *. Together with the thread it defines a sequence."}
  - {name: attribution, type: text, priority: 3, doc: "How launches are attributed to ranges: thread, process or capture."}
checks:
  - iteration >= 0 AND slowest >= 1
  - span_ns IS NULL OR span_ns = busy_ns + idle_ns AND idle_ns >= 0
  - (op_count = 0) = (span_ns IS NULL)
when_empty: >-
  no range looks like an iteration or matches the tag, or skip leaves none; steps finds what repeats, range_names lists names
limits: >-
  Without tag, nsq picks a folded name that occurs at least twice and contains iteration or iter, else step, else batch,
  else epoch, else a word that ends in Iteration or Step, else level. A name that occurs three times comes first, then
  the outermost. Names of a phase, such as optimizer step, names with warm-up, and C++ names (with ::) are never picked,
  and levels only where no range around them occurs twice. Ranges inside a warm-up are left out if others remain. If no
  name fits, there are no rows. A range inside another one of the same folded name and thread is a part of that
  iteration, not an iteration of its own; only the numbers of --iter count it too. Instances left out by skip do not
  count in the mean or in slowest. Spans of neighbouring iterations overlap if the CPU runs ahead of the GPU. In the
  gaps of an iteration's own work, work of other ranges may run; gpu_time_by_range has the time in which nothing ran.
  Work that other threads launch, such as PyTorch's backward pass, is not counted in ranges of the main thread. Give
  --attribute process to count it.
see_also: [steps, phases, nvtx_layers, gpu_time_by_range, nvtx_gpu_proj_trace]
---*/
WITH
-- Names and paths of the ranges that nsq picks.
picked AS MATERIALIZED (
  SELECT DISTINCT range.name_id, range.path_id
  FROM iteration
  JOIN all_nvtx_projection AS range
    ON range.range_id = iteration.range_id
  WHERE :tag IS NULL
),
wanted AS (
  SELECT name_id, layer_name
  FROM nvtx_name
  WHERE layer_name GLOB :tag
    OR range_name GLOB :tag
    OR range_text GLOB :tag
    OR name_id IN (SELECT name_id FROM picked)
),
-- reached_ns shows which ranges lie inside another range of their sequence. A range that never ended contains none.
reached AS (
  SELECT
    wanted.layer_name,
    range.*,
    max(
      iif(range.range_id IN (SELECT range_id FROM all_nvtx_span WHERE end_ns IS NULL), NULL, range.end_ns)
    ) OVER (
      PARTITION BY wanted.layer_name, range.global_tid
      ORDER BY range.start_ns, range.end_ns DESC, range.range_id
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS reached_ns
  FROM wanted
  JOIN nvtx_projection AS range
    ON range.name_id = wanted.name_id
),
instance AS (
  SELECT
    *,
    dur_ns AS cpu_ns,
    proj_end_ns - proj_start_ns AS span_ns,
    row_number() OVER (
      PARTITION BY layer_name, global_tid
      ORDER BY start_ns, end_ns DESC, range_id
    ) - 1 AS iteration
  FROM reached
  WHERE reached_ns IS NULL
    OR end_ns > reached_ns
),
kept AS (
  SELECT *
  FROM instance
  WHERE iteration >= :skip
    AND (:tag IS NOT NULL OR path_id IN (SELECT path_id FROM picked))
),
sequence AS (
  SELECT layer_name, global_tid, avg(span_ns) AS span_mean_ns, stddev(span_ns) AS span_stddev_ns
  FROM kept
  GROUP BY layer_name, global_tid
)
SELECT
  kept.iteration,
  kept.span_ns,
  kept.busy_ns,
  kept.span_ns - kept.busy_ns AS idle_ns,
  kept.gpu_ns,
  kept.cpu_ns,
  row_number() OVER (
    PARTITION BY kept.layer_name, kept.global_tid
    ORDER BY kept.span_ns DESC, kept.iteration
  ) AS slowest,
  sequence.span_mean_ns,
  sequence.span_stddev_ns,
  kept.op_count,
  kept.launch_count,
  kept.start_ns,
  kept.proj_start_ns,
  kept.proj_end_ns,
  kept.pid,
  kept.tid,
  kept.range_id,
  kept.range_name,
  kept.layer_name,
  (SELECT attribution FROM scope) AS attribution
FROM kept
JOIN sequence
  ON sequence.layer_name = kept.layer_name
  AND sequence.global_tid = kept.global_tid
ORDER BY kept.layer_name, kept.global_tid, kept.iteration, kept.range_id
