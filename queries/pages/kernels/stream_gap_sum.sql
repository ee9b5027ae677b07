/*---
name: stream_gap_sum
version: 1
title: Gaps of each stream
summary: Time between the kernels of each stream; streams are named by what differs.
why: To see which streams wait, and for how much of that time the GPU had nothing to do.
kind: sum
tags: [cuda, gpu, kernel]
internal: true
reads: []
asks: [stream_gaps]
params:
  - {name: memory, type: bool, default: false, doc: "Let copies and fills end gaps as well; false uses kernels only."}
columns:
  - {name: rank, type: int, priority: 3, doc: "Rank by gap_count, from 1."}
  - {name: stream_name, type: text, label: "stream", priority: 0, doc: "Stream, with the process and device if the report has several, and the context if streams share their number."}
  - {name: gap_count, type: int, unit: count, label: "gaps", priority: 1, doc: "Number of gaps between the operations of the stream."}
  - {name: gap_ns, type: duration, unit: ns, label: "gap time", priority: 1, doc: "Sum of the gaps. The stream waited; other streams may have run work."}
  - {name: gap_idle_ns, type: duration, unit: ns, label: "GPU idle in gaps", priority: 1, doc: "Part of gap_ns in which nothing ran on the GPU, from any stream or process."}
  - {name: median_ns, type: duration, unit: ns, label: "median gap", priority: 1, doc: "Median gap; null if there are no gaps."}
  - {name: max_ns, type: duration, unit: ns, label: "longest gap", priority: 1, doc: "Longest gap; null if there are no gaps."}
  - {name: busy_ns, type: duration, unit: ns, doc: "Time in which at least one operation of the stream ran."}
  - {name: span_ns, type: duration, unit: ns, doc: "Time from the start of its first operation to the end of its last: busy_ns + gap_ns."}
checks:
  - busy_ns + gap_ns = span_ns
  - gap_idle_ns BETWEEN 0 AND gap_ns
limits: >-
  See stream_gaps, which has the same streams with all numbers that identify them.
see_also: [stream_gaps, gap_sum, gpu_gap_sum, gap_pairs]
---*/
WITH
-- What distinguishes the streams.
differs AS (
  SELECT
    count(DISTINCT ifnull(pid, 'none')) > 1 OR count(DISTINCT ifnull(device_id, 'none')) > 1 AS by_device,
    count(DISTINCT printf('%s,%s,%s', ifnull(pid, '-'), ifnull(device_id, '-'), ifnull(stream_id, '-'))) < count(*)
      AS by_context
  FROM stream_gaps
),
named AS (
  SELECT
    stream_gaps.*,
    stream_gaps.rowid AS position,
    -- A device alone does not say which process a stream belongs to, so both are shown together.
    iif(by_device, 'process ' || ifnull(pid, 'unknown') || ', device ' || ifnull(device_id, 'unknown') || ', ', '')
    || iif(by_context, 'context ' || ifnull(context_id, 'unknown') || ', ', '')
    || 'stream ' || ifnull(stream_id, 'unknown') AS parts
  FROM stream_gaps
  CROSS JOIN differs
)
SELECT
  row_number() OVER (ORDER BY position) AS rank,
  upper(substr(parts, 1, 1)) || substr(parts, 2) AS stream_name,
  gap_count,
  gap_ns,
  gap_idle_ns,
  median_ns,
  max_ns,
  busy_ns,
  span_ns
FROM named
ORDER BY rank
