/*---
name: nvtx_gpu_proj_pace
version: 1
title: Pace of NVTX ranges on the GPU
summary: Each instance of the matching ranges on the GPU, with the time since the last.
why: To see whether the GPU's work of a range becomes slower, or comes less often, in a run.
kind: trace
tags: [gpu, nvtx]
reads: [nvtx_name, nvtx_projection]
params:
  - {name: range, type: text, default: "*", doc: "GLOB pattern for the range name, with or without its domain, or for its folded name, such as 'step *'."}
columns:
  - {name: instance, type: int, priority: 0, doc: "Number of the range among those of this folded name and thread that launched GPU work, from 1, by the start of this work."}
  - {name: start_ns, type: timestamp, unit: ns, priority: 1, doc: "Start of its first operation on the GPU, on the report's clock."}
  - {name: dur_ns, type: duration, unit: ns, label: "GPU span", priority: 1, doc: "Time from the start of its first operation to the end of its last."}
  - {name: since_start_ns, type: duration, unit: ns, label: "start to start", priority: 1, doc: "Time from the start of the instance before to this start; null for the first one."}
  - {name: since_end_ns, type: duration, unit: ns, label: "end to start", priority: 1, doc: "Time from the end of the instance before to this start; negative if they overlap; null for the first one."}
  - {name: so_far_ns, type: duration, unit: ns, label: "total so far", priority: 2, doc: "Sum of dur_ns up to and with this instance."}
  - {name: dur_change_pct, type: percent, unit: percent, label: "change from first instance", priority: 2, doc: "dur_ns compared with the first instance: 100 is twice as long; null if the first one has no length."}
  - {name: busy_ns, type: duration, unit: ns, label: "GPU busy", priority: 1, doc: "Time in which at least one of its operations ran, on any device."}
  - {name: op_count, type: int, unit: count, label: "GPU operations", priority: 2, doc: "GPU operations launched inside the range, including nested ranges."}
  - {name: cpu_start_ns, type: timestamp, unit: ns, label: "CPU start", priority: 3, doc: "Start of the range on the CPU."}
  - {name: cpu_ns, type: duration, unit: ns, label: "CPU time", priority: 2, doc: "Duration of the range on the CPU."}
  - {name: pid, type: id, priority: 3, doc: "Operating system process ID."}
  - {name: tid, type: id, priority: 2, doc: "Operating system thread ID."}
  - {name: range_id, type: id, priority: 3, doc: "Row ID in the raw table."}
  - {name: range_name, type: text, label: "range", priority: 0, doc: "Message, with the prefix DOMAIN: outside the default domain; null if empty."}
checks:
  - instance >= 1 AND dur_ns >= busy_ns AND so_far_ns >= dur_ns
  - (instance = 1) = (since_start_ns IS NULL)
when_empty: "no matching range launched GPU work; range_names lists the names, and nvtx_pace has their times on the CPU"
limits: >-
  Ranges that launched no GPU work have no row. Ranges whose names differ in numbers only are one sequence; --fold none
  keeps them apart. Work that other threads launch counts with --attribute process only.
see_also: [nvtx_pace, range_time, nvtx_gpu_proj_trace, cuda_gpu_kern_pace]
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
paced AS (
  SELECT
    row_number() OVER sequence AS instance,
    range.proj_start_ns,
    range.proj_end_ns - range.proj_start_ns AS dur_ns,
    range.proj_start_ns - lag(range.proj_start_ns) OVER sequence AS since_start_ns,
    range.proj_start_ns - lag(range.proj_end_ns) OVER sequence AS since_end_ns,
    sum(range.proj_end_ns - range.proj_start_ns) OVER sequence AS so_far_ns,
    first_value(range.proj_end_ns - range.proj_start_ns) OVER sequence AS first_ns,
    range.busy_ns,
    range.op_count,
    range.start_ns,
    range.dur_ns AS cpu_ns,
    range.pid,
    range.tid,
    range.global_tid,
    range.range_id,
    named.range_name,
    named.layer_id
  FROM nvtx_projection AS range
  JOIN named
    ON named.name_id = range.name_id
  WHERE range.op_count > 0
  WINDOW sequence AS (
    PARTITION BY named.layer_id, range.global_tid
    ORDER BY range.proj_start_ns, range.start_ns, range.end_ns DESC, range.range_id
  )
)
SELECT
  instance,
  proj_start_ns AS start_ns,
  dur_ns,
  since_start_ns,
  since_end_ns,
  so_far_ns,
  100.0 * (dur_ns - first_ns) / nullif(first_ns, 0) AS dur_change_pct,
  busy_ns,
  op_count,
  start_ns AS cpu_start_ns,
  cpu_ns,
  pid,
  tid,
  range_id,
  range_name
FROM paced
ORDER BY layer_id, global_tid, instance, range_id
