/*---
name: gap_pairs
version: 1
title: Gaps by the kernels around them
summary: Gaps between the operations of a stream, per pair of kernels around the gap.
why: To find the transitions at which streams wait, and those at which the GPU idles.
kind: sum
tags: [cuda, gpu, kernel]
reads: [all_gpu_window, kernel, memcpy, process_device, stream_gap, string]
requires: [kernel, gpu_window]
params:
  - {name: sort, type: enum, values: [count, avg, max, stdev, total, idle], default: avg, doc: "Sort order, largest first: count by gap_count, avg by mean_ns, max by max_ns, stdev by stddev_ns, total by total_ns, idle by idle_ns."}
  - {name: limit, type: int, default: 20, min: -1, doc: "Number of rows to return; -1 returns all rows."}
  - {name: name, type: enum, values: [simple, demangled], default: simple, doc: "Kernel name that makes a pair: simple is the name of the function alone, demangled the whole name."}
  - {name: memory, type: bool, default: false, doc: "Let copies and fills end gaps as well; false uses kernels only."}
columns:
  - {name: rank, type: int, priority: 3, doc: "Rank in the chosen order, from 1."}
  - {name: gap_count, type: int, unit: count, label: "gaps", priority: 1, doc: "Gaps between the two operations, on any stream."}
  - {name: mean_ns, type: duration, unit: ns, priority: 1, doc: "Mean gap."}
  - {name: max_ns, type: duration, unit: ns, doc: "Longest gap."}
  - {name: min_ns, type: duration, unit: ns, priority: 3, doc: "Shortest gap; always greater than 0."}
  - {name: stddev_ns, type: duration, unit: ns, priority: 3, doc: "Sample standard deviation of the gaps; 0 for one gap."}
  - {name: total_ns, type: duration, unit: ns, priority: 1, doc: "Sum of the gaps. The stream waited; other streams may have run work."}
  - {name: idle_ns, type: duration, unit: ns, label: "GPU idle", priority: 1, doc: "Part of total_ns in which nothing ran on the GPU, from any stream or process."}
  - {name: before_name, type: text, label: "before", priority: 0, doc: "Last operation to end before the gap: a kernel name of the kind chosen by the parameter name, a name such as [CUDA memcpy Host-to-Device], or (no name)."}
  - {name: after_name, type: text, label: "after", priority: 0, doc: "Operation that starts at the end of the gap, named like before_name."}
checks:
  - gap_count >= 1 AND min_ns > 0
  - mean_ns BETWEEN min_ns AND max_ns AND total_ns >= max_ns
  - idle_ns BETWEEN 0 AND total_ns
when_empty: "no stream has a gap between two kernels; -p memory=true also counts gaps at copies and fills"
limits: >-
  These are gaps of streams, not of the GPU: during a gap of one stream, other streams may run work. idle_ns is the part
  in which none did. If several streams wait at once, idle time counts in each of their gaps. A pair shows what ran
  before and after, not which of the two caused the gap. With --device, --stream, --process or --nvtx, operations
  outside the scope are ignored; only idle_ns counts them as work. CUDA graphs traced as a whole are not included.
see_also: [stream_gaps, gap_histogram, gpu_idle_causes, kernel_stats]
---*/
WITH
used AS MATERIALIZED (
  SELECT global_pid, device_id, gpu_id
  FROM process_device
),
gap AS (
  SELECT
    gap.before_kind,
    gap.before_name_id,
    gap.after_kind,
    gap.after_name_id,
    gap.dur_ns,
    gpu.idle_ns
  FROM stream_gap AS gap
  CROSS JOIN used
  LEFT JOIN all_gpu_window AS gpu
    ON gpu.start_ns = gap.start_ns
    AND gpu.end_ns = gap.end_ns
    AND gpu.gpu_id = used.gpu_id
  WHERE gap.among = iif(:memory, 'op', 'kernel')
    AND used.device_id IS NOT DISTINCT FROM gap.device_id
    AND used.global_pid IS NOT DISTINCT FROM gap.global_pid
),
-- Process each name once, by its ID, instead of once per gap.
id AS (
  SELECT DISTINCT 'kernel' AS op_kind, name_id FROM kernel
  UNION ALL
  SELECT DISTINCT 'memcpy', copy_kind FROM memcpy WHERE :memory
  UNION ALL
  SELECT 'memset', 0 WHERE :memory
),
direction AS (
  SELECT copy_kind, min(direction) AS direction
  FROM memcpy
  WHERE :memory
  GROUP BY copy_kind
),
named AS (
  SELECT
    op_kind,
    name_id,
    CASE op_kind
      WHEN 'kernel' THEN (SELECT text FROM string WHERE string_id = name_id)
      WHEN 'memcpy' THEN
        '[CUDA memcpy ' || (SELECT direction FROM direction WHERE copy_kind IS NOT DISTINCT FROM name_id) || ']'
      ELSE '[CUDA memset]'
    END AS op_name
  FROM id
),
simplified AS MATERIALIZED (
  SELECT
    op_kind,
    name_id,
    coalesce(iif(:name = 'simple' AND op_kind = 'kernel', simple_name(op_name), op_name), '(no name)') AS simple_name
  FROM named
),
numbered AS MATERIALIZED (
  SELECT *, dense_rank() OVER (ORDER BY simple_name) AS name_number
  FROM simplified
),
pair AS (
  SELECT
    count(*) AS gap_count,
    avg(gap.dur_ns) AS mean_ns,
    max(gap.dur_ns) AS max_ns,
    min(gap.dur_ns) AS min_ns,
    stddev(gap.dur_ns) AS stddev_ns,
    sum(gap.dur_ns) AS total_ns,
    sum(gap.idle_ns) AS idle_ns,
    min(before.simple_name) AS before_name,
    min(after.simple_name) AS after_name
  FROM gap
  JOIN numbered AS before
    ON before.name_id IS NOT DISTINCT FROM gap.before_name_id
    AND before.op_kind = gap.before_kind
  JOIN numbered AS after
    ON after.name_id IS NOT DISTINCT FROM gap.after_name_id
    AND after.op_kind = gap.after_kind
  GROUP BY before.name_number, after.name_number
)
SELECT
  row_number() OVER (
    ORDER BY
      CASE :sort
        WHEN 'count' THEN gap_count
        WHEN 'avg' THEN mean_ns
        WHEN 'max' THEN max_ns
        WHEN 'stdev' THEN stddev_ns
        WHEN 'total' THEN total_ns
        ELSE idle_ns
      END DESC,
      total_ns DESC,
      gap_count DESC,
      before_name,
      after_name
  ) AS rank,
  gap_count,
  mean_ns,
  max_ns,
  min_ns,
  stddev_ns,
  total_ns,
  idle_ns,
  before_name,
  after_name
FROM pair
ORDER BY rank
LIMIT :limit
