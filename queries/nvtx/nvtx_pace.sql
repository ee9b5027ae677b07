/*---
name: nvtx_pace
version: 1
title: Pace of NVTX ranges
summary: Each instance of the matching ranges, with the time since the one before it.
why: To see whether a range becomes slower, or comes less often, in the course of a run.
kind: trace
tags: [nvtx]
reads: [nvtx_name, nvtx_projection, nvtx_range]
requires: [nvtx_projection, nvtx_range]
params:
  - {name: range, type: text, default: "*", doc: "GLOB pattern for the range name, with or without its domain, or for its folded name, such as 'step *'."}
columns:
  - {name: instance, type: int, priority: 0, doc: "Number of the range among those of this folded name and thread, from 1, by start."}
  - {name: start_ns, type: timestamp, unit: ns, priority: 1, doc: "Start of the range on the CPU, on the report's clock."}
  - {name: dur_ns, type: duration, unit: ns, priority: 1, doc: "Duration of the range on the CPU."}
  - {name: since_start_ns, type: duration, unit: ns, label: "start to start", priority: 1, doc: "Time from the start of the instance before to this start; null for the first one."}
  - {name: since_end_ns, type: duration, unit: ns, label: "end to start", priority: 1, doc: "Time from the end of the instance before to this start; negative if they overlap; null for the first one."}
  - {name: so_far_ns, type: duration, unit: ns, label: "total so far", priority: 2, doc: "Sum of the durations up to and with this instance."}
  - {name: dur_change_pct, type: percent, unit: percent, label: "change from first instance", priority: 2, doc: "dur_ns compared with the first instance: 100 is twice as long; null if the first one has no length."}
  - {name: pid, type: id, priority: 3, doc: "Operating system process ID."}
  - {name: tid, type: id, priority: 2, doc: "Operating system thread ID."}
  - {name: range_id, type: id, priority: 3, doc: "Row ID in the raw table."}
  - {name: range_name, type: text, label: "range", priority: 0, doc: "Message, with the prefix DOMAIN: outside the default domain; null if empty."}
checks:
  - instance >= 1 AND dur_ns >= 0 AND so_far_ns >= dur_ns
  - (instance = 1) = (since_start_ns IS NULL)
when_empty: "no range that ended matches -p range=GLOB; range_names lists the names, and a part of a name needs stars: *step*"
limits: >-
  Ranges whose names differ in numbers only, such as step 1 and step 2, are one sequence, by the rules in
  queries/names/layers.yml; --fold none keeps them apart. Ranges that never ended are left out.
see_also: [nvtx_gpu_proj_pace, range_time, iterations, cuda_gpu_kern_pace]
---*/
WITH
named AS MATERIALIZED (
  SELECT name_id, range_name, min(name_id) OVER (PARTITION BY layer_name) AS layer_id
  FROM nvtx_name
  WHERE layer_name GLOB :range
    OR range_name GLOB :range
    OR range_text GLOB :range
    OR range_text IS NULL AND :range = '*'
),
open AS MATERIALIZED (
  SELECT range_id
  FROM nvtx_range
  WHERE is_open
),
paced AS (
  SELECT
    row_number() OVER sequence AS instance,
    range.start_ns,
    range.dur_ns,
    range.start_ns - lag(range.start_ns) OVER sequence AS since_start_ns,
    range.start_ns - lag(range.end_ns) OVER sequence AS since_end_ns,
    sum(range.dur_ns) OVER sequence AS so_far_ns,
    first_value(range.dur_ns) OVER sequence AS first_ns,
    range.pid,
    range.tid,
    range.global_tid,
    range.range_id,
    named.range_name,
    named.layer_id
  FROM nvtx_projection AS range
  JOIN named
    ON named.name_id = range.name_id
  LEFT JOIN open
    ON open.range_id = range.range_id
  WHERE open.range_id IS NULL
  WINDOW sequence AS (
    PARTITION BY named.layer_id, range.global_tid
    ORDER BY range.start_ns, range.end_ns DESC, range.range_id
  )
)
SELECT
  instance,
  start_ns,
  dur_ns,
  since_start_ns,
  since_end_ns,
  so_far_ns,
  100.0 * (dur_ns - first_ns) / nullif(first_ns, 0) AS dur_change_pct,
  pid,
  tid,
  range_id,
  range_name
FROM paced
ORDER BY layer_id, global_tid, instance, range_id
