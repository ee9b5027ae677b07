/*---
name: what_if
version: 3
title: What if
summary: One row per GPU, with its mean step as captured and after changes.
why: >-
  To know what a change gains before it is made. The capture is replayed with it: what else binds, such as the host, stays.
kind: sum
tags: [cuda, gpu, kernel, latency]
reads: [all_critical_part, all_kernel, all_nvtx_name, all_replayed_window, judged_step]
requires: [gpu_window]
params:
  - {name: faster, type: list, doc: "KERNEL:TIMES, such as flash_fwd*:2: kernels run that many times faster. KERNEL is a GLOB pattern for the name, whole or simple, or of the launching function; memcpy stands for all copies and memset for all fills."}
  - {name: fused, type: list, doc: "KERNEL:COUNT, such as *elementwise*:2: this number of kernels run as one, in the time of one kernel: with 2, these kernels, their launching calls and the host code before these calls take half their time. Host code that is much longer than usual stays."}
  - {name: without, type: list, doc: "KERNEL, memcpy or memset: these operations are left out, and calls that launch nothing else. The host code between calls stays."}
  - {name: host, type: list, doc: "RANGE:SHARE, such as dataloader:0: host code between CUDA calls in these NVTX ranges takes this share of its time. * is all host code, - what is in no range, and >5ms code of at least this length."}
  - {name: launch, type: list, doc: "graph: what a thread launches in a row, without waiting or allocating, is one CUDA graph, whose kernels follow each other after 0.3 µs. free: launching calls take no time."}
  - {name: balance, type: list, doc: "collectives: before each collective, all GPUs of the report have as much work."}
  - {name: overlap, type: list, doc: "KERNEL, copies or memset: these operations overlap all others, one after the other for each kind and GPU, as soon as they are launched. No other operation and no call waits for them."}
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: step_count, type: int, unit: count, label: "steps", priority: 1, doc: "Steps after the warm-up; null for the whole report, if it has no steps."}
  - {name: now_ns, type: duration, unit: ns, label: "now", priority: 0, doc: "Mean time of a step on the GPU in the capture, or the time of the whole report."}
  - {name: then_ns, type: duration, unit: ns, label: "then", priority: 0, doc: "The same after the changes."}
  - {name: speedup, type: real, priority: 1, doc: "now_ns divided by then_ns; null if nothing is left."}
  - {name: bound, type: text, label: "bound now", priority: 1, doc: "The largest part of what binds now, as in what_bounds."}
  - {name: then_bound, type: text, label: "bound then", priority: 1, doc: "The same after the changes; null if nothing is left."}
  - {name: then_bound_ns, type: duration, unit: ns, label: "bound time then", priority: 2, doc: "Mean time of that part in a step; null if nothing is left."}
  - {name: unexplained_ns, type: duration, unit: ns, label: "unexplained then", priority: 2, doc: "Delay per step after the changes that nothing recorded explains. The changes do not touch it."}
  - {name: unexplained_pct, type: percent, unit: percent, label: "unexplained share then", priority: 1, doc: "unexplained_ns as a share of then_ns."}
  - {name: pid, type: id, priority: 3, doc: "Operating system process ID; null for the whole report."}
  - {name: tid, type: id, priority: 3, doc: "Operating system thread ID; null for the whole report, or if launches were not recorded."}
checks:
  - then_ns >= 0 AND now_ns > 0
when_empty: "there is no GPU work to replay"
limits: >-
  See the relation critical_part. For programs made at random, the median error of then_ns is below 1 %, and 95 % are within 5 %; real
  programs also share memory bandwidth and cores, which is not modelled. Launching as a graph removes the host code between
  launches: it assumes that this code only prepares launches. Several changes act together.
see_also: [critical_path, what_bounds]
---*/
WITH
edit AS MATERIALIZED (
  SELECT coalesce(group_concat(line, char(10)), '') AS edits
  FROM (
    SELECT 'faster=' || value AS line FROM json_each(:faster)
    UNION ALL
    SELECT 'without=' || value FROM json_each(:without)
    UNION ALL
    SELECT 'fused=' || value FROM json_each(:fused)
    UNION ALL
    SELECT 'host=' || value FROM json_each(:host)
    UNION ALL
    SELECT 'balance=' || value FROM json_each(:balance)
    UNION ALL
    SELECT 'overlap=' || value FROM json_each(:overlap)
    UNION ALL
    SELECT 'launch=' || value FROM json_each(:launch)
  )
),
-- What is before the last colon, or the whole text.
named AS (
  SELECT is_range, substr(value, 1, length(rtrim(value, replace(value, ':', ''))) - 1) AS pattern
  FROM (
    SELECT 0 AS is_range, value FROM json_each(:faster)
    UNION ALL
    SELECT 0, value FROM json_each(:fused)
    UNION ALL
    SELECT 1, value FROM json_each(:host)
  )
  UNION ALL
  SELECT 0, value FROM json_each(:without)
  UNION ALL
  SELECT 0, value FROM json_each(:overlap)
),
-- A change of kernels or ranges that are not there would look like one that gains nothing.
unmatched AS (
  SELECT 'kernel' AS what, 'top_kernels' AS list, pattern
  FROM named
  WHERE NOT is_range
    AND pattern NOT IN ('', 'memcpy', 'copies', 'memset', 'communication', 'compute')
    -- Times and launching functions may be named, too.
    AND NOT pattern GLOB '*@*'
    AND NOT pattern GLOB 'cu*'
    AND NOT pattern GLOB 'hip*'
    AND NOT EXISTS (
      SELECT 1
      FROM all_kernel
      WHERE all_kernel.kernel_name GLOB named.pattern OR all_kernel.short_name GLOB named.pattern
    )
  UNION ALL
  SELECT 'NVTX range', 'range_names', pattern
  FROM named
  WHERE is_range
    AND pattern NOT IN ('*', '-')
    AND NOT pattern GLOB '>*'
    AND NOT EXISTS (SELECT 1 FROM all_nvtx_name WHERE all_nvtx_name.range_text GLOB named.pattern)
),
refused AS (
  SELECT refuse(
    printf('no %s matches ''%s''', what, pattern),
    iif(
      instr(pattern, '*') > 0,
      printf('the query %s lists them', list),
      printf('a part of a name needs stars, such as ''*%s*''; the query %s lists them', pattern, list)
    )
  ) AS refusal
  FROM unmatched
),
win AS MATERIALIZED (
  SELECT *
  FROM judged_step
),
timed AS MATERIALIZED (
  SELECT gpu_id, pid, tid, sum(is_step) AS step_count, count(*) AS window_count, sum(dur_ns) AS dur_ns
  FROM win
  GROUP BY gpu_id, pid, tid
),
-- What runs ahead shortens single steps, not the mean of many.
floor AS MATERIALIZED (
  SELECT win.gpu_id, win.pid, win.tid, sum(part.busiest_ns) AS busiest_ns
  FROM win
  CROSS JOIN edit
  CROSS JOIN all_replayed_window AS part
  WHERE part.edits = edit.edits
    AND part.gpu_id = win.gpu_id
    AND part.start_ns = win.start_ns
    AND part.end_ns = win.end_ns
  GROUP BY win.gpu_id, win.pid, win.tid
),
-- As captured, and with the changes.
asked AS MATERIALIZED (
  SELECT 0 AS is_then, '' AS edits
  UNION ALL
  SELECT 1, edits
  FROM edit
),
bound AS MATERIALIZED (
  SELECT
    win.gpu_id,
    win.pid,
    win.tid,
    asked.is_then,
    CASE
      WHEN part.part IN ('host code', 'allocation call', 'other call') THEN 'host'
      WHEN part.part IN ('launch call', 'launch latency') THEN 'launch'
      WHEN part.part IN ('stream gap', 'handover', 'return from wait') THEN 'waiting'
      WHEN part.part IN ('unexplained', 'before', 'after') THEN 'unexplained'
      ELSE part.part
    END AS bound,
    sum(part.dur_ns) AS dur_ns
  FROM win
  CROSS JOIN asked
  CROSS JOIN all_critical_part AS part
  WHERE part.edits = asked.edits
    AND part.gpu_id = win.gpu_id
    AND part.start_ns = win.start_ns
    AND part.end_ns = win.end_ns
  GROUP BY win.gpu_id, win.pid, win.tid, asked.is_then, 5
),
ranked AS MATERIALIZED (
  SELECT
    *,
    sum(dur_ns) OVER (PARTITION BY gpu_id, pid, tid, is_then) AS total_ns,
    row_number() OVER (PARTITION BY gpu_id, pid, tid, is_then ORDER BY dur_ns DESC, bound) AS rank
  FROM bound
),
compared AS (
  SELECT
    timed.gpu_id,
    timed.pid,
    timed.tid,
    timed.step_count,
    timed.window_count,
    timed.dur_ns,
    max(coalesce(max(iif(ranked.is_then, ranked.total_ns, NULL)), 0), coalesce(floor.busiest_ns, 0)) AS then_ns,
    max(iif(NOT ranked.is_then AND ranked.rank = 1, ranked.bound, NULL)) AS bound,
    max(iif(ranked.is_then AND ranked.rank = 1, ranked.bound, NULL)) AS then_bound,
    max(iif(ranked.is_then AND ranked.rank = 1, ranked.dur_ns, NULL)) AS then_bound_ns,
    coalesce(max(iif(ranked.is_then AND ranked.bound = 'unexplained', ranked.dur_ns, NULL)), 0) AS unexplained_ns
  FROM timed
  LEFT JOIN ranked
    ON ranked.gpu_id = timed.gpu_id
    AND ranked.pid IS NOT DISTINCT FROM timed.pid
    AND ranked.tid IS NOT DISTINCT FROM timed.tid
  LEFT JOIN floor
    ON floor.gpu_id = timed.gpu_id
    AND floor.pid IS NOT DISTINCT FROM timed.pid
    AND floor.tid IS NOT DISTINCT FROM timed.tid
  GROUP BY timed.gpu_id, timed.pid, timed.tid
)
SELECT
  gpu_id,
  nullif(step_count, 0) AS step_count,
  dur_ns / window_count AS now_ns,
  then_ns / window_count AS then_ns,
  1.0 * dur_ns / nullif(then_ns, 0) AS speedup,
  bound,
  then_bound,
  then_bound_ns / window_count AS then_bound_ns,
  unexplained_ns / window_count AS unexplained_ns,
  100.0 * unexplained_ns / nullif(then_ns, 0) AS unexplained_pct,
  pid,
  tid
FROM compared
WHERE (SELECT refusal FROM refused) IS NULL
ORDER BY gpu_id, pid, tid
