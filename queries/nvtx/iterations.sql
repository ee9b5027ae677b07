/*---
name: iterations
version: 1
title: Iterations
summary: Instances of an NVTX range one by one, with the GPU time of each.
why: To see whether steps take the same time, which are slow, and how much of each the GPU idles.
kind: sum
tags: [cuda, nvtx]
reads: [nvtx_name, nvtx_path, nvtx_projection, scope]
requires: [nvtx_projection, nvtx_op]
params:
  - {name: tag, type: text, doc: "GLOB over the range's name, its text or its folded name; by default the likeliest iteration is taken."}
  - {name: skip, type: int, default: 0, min: 0, doc: "Instances to leave out at the head of each sequence, for warm-up."}
columns:
  - {name: iteration, type: int, doc: "Place among the ranges of its folded name and thread, by start, from 0; counts those left out."}
  - {name: span_ns, type: duration, unit: ns, doc: "From proj_start_ns to proj_end_ns; null without GPU work."}
  - {name: busy_ns, type: duration, unit: ns, doc: "Length of the union of its operations, whatever the device; null without GPU work."}
  - {name: idle_ns, type: duration, unit: ns, doc: "span_ns less busy_ns: none of its operations ran; null without GPU work."}
  - {name: gpu_ns, type: duration, unit: ns, doc: "Sum of its operations' lengths; 0 without any."}
  - {name: cpu_ns, type: duration, unit: ns, doc: "Length of the range on the CPU."}
  - {name: slowest, type: int, doc: "Place in its sequence by span_ns, 1 for the longest; instances without GPU work come last."}
  - {name: span_mean_ns, type: duration, unit: ns, doc: "Mean of span_ns in its sequence; null if no instance has GPU work."}
  - {name: span_stddev_ns, type: duration, unit: ns, doc: "Sample standard deviation of span_ns in its sequence; 0 for one, null as the mean."}
  - {name: op_count, type: int, unit: count, doc: "GPU operations launched inside it."}
  - {name: launch_count, type: int, unit: count, doc: "API calls that launched them: a graph launch is one, whatever it runs."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Range began on the CPU, on the report's clock."}
  - {name: proj_start_ns, type: timestamp, unit: ns, doc: "First of its operations began on the GPU; null without GPU work."}
  - {name: proj_end_ns, type: timestamp, unit: ns, doc: "Last of its operations ended on the GPU; null without GPU work."}
  - {name: pid, type: id, doc: "Operating system's process id."}
  - {name: tid, type: id, doc: "Operating system's thread id."}
  - {name: range_id, type: id, doc: "Row of the raw table."}
  - {name: range_name, type: text, doc: "Name of the range, behind its domain and a colon outside the default domain; null if empty."}
  - {name: layer_name, type: text, doc: "The same with numbers folded to *: what makes a sequence with the thread."}
  - {name: attribution, type: text, doc: "How launches were attributed to ranges: thread, process or capture."}
checks:
  - iteration >= 0 AND slowest >= 1
  - span_ns IS NULL OR span_ns = busy_ns + idle_ns AND idle_ns >= 0
  - (op_count = 0) = (span_ns IS NULL)
limits: >-
  Without tag it takes the folded name that occurs at least twice, says iteration, iter, step, batch or epoch (in that
  order, the outermost first) and neither looks like an optimizer step nor like a C++ function; if there is none, there
  are no rows. Instances left out by skip count neither in the mean nor in slowest. Spans of neighbours overlap where the
  CPU runs ahead. What other threads launch, as PyTorch does in the backward pass, is in no iteration of the main
  thread and missing in all its times, unless --attribute process says so.
see_also: [phases, nvtx_layers, nvtx_gpu_proj_trace]
---*/
WITH
word (word, place) AS (
  VALUES ('iteration', 1), ('iter', 1), ('step', 2), ('profilerstep', 2), ('trainstep', 2), ('batch', 3), ('epoch', 4)
),
worded AS (
  SELECT
    layer_name,
    range_count,
    cpu_ns,
    op_count,
    depth,
    (
      SELECT min(place)
      FROM word
      WHERE ' ' || lower(layer_name) || ' ' GLOB '*[^a-z]' || word || '[^a-z]*'
    ) AS place
  FROM nvtx_path
  WHERE instr(layer_name, '::') = 0
),
likeliest AS (
  SELECT layer_name
  FROM worded
  WHERE place IS NOT NULL
    AND layer_name NOT IN (SELECT layer_name FROM nvtx_name WHERE phase IS NOT NULL)
  GROUP BY layer_name
  HAVING sum(range_count) >= 2
  ORDER BY min(place), min(depth), sum(op_count) = 0, sum(cpu_ns) DESC, layer_name
  LIMIT 1
),
wanted AS (
  SELECT name_id, layer_name
  FROM nvtx_name
  WHERE layer_name GLOB :tag
    OR range_name GLOB :tag
    OR range_text GLOB :tag
    OR :tag IS NULL AND layer_name = (SELECT layer_name FROM likeliest)
),
instance AS (
  SELECT
    wanted.layer_name,
    range.range_id,
    range.range_name,
    range.pid,
    range.tid,
    range.global_tid,
    range.start_ns,
    range.dur_ns AS cpu_ns,
    range.op_count,
    range.launch_count,
    range.gpu_ns,
    range.busy_ns,
    range.proj_start_ns,
    range.proj_end_ns,
    range.proj_end_ns - range.proj_start_ns AS span_ns,
    row_number() OVER (
      PARTITION BY wanted.layer_name, range.global_tid
      ORDER BY range.start_ns, range.end_ns DESC, range.range_id
    ) - 1 AS iteration
  FROM wanted
  JOIN nvtx_projection AS range
    ON range.name_id = wanted.name_id
),
kept AS (
  SELECT *
  FROM instance
  WHERE iteration >= :skip
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
