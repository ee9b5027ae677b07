/*---
name: gap_pairs
version: 1
title: Gaps by the kernels around them
summary: One row per pair of kernels that gaps of a stream lie between.
why: To find the transitions that streams wait at, and those at which the GPU idles.
kind: sum
tags: [cuda, gpu, kernel]
reads: [all_gpu_window, memcpy, process_device, stream_gap, string]
requires: [kernel, gpu_window]
params:
  - {name: sort, type: enum, values: [count, avg, max, stdev, total, idle], default: avg, doc: "Order: by gap_count, mean_ns, max_ns, stddev_ns, total_ns or idle_ns, the largest first."}
  - {name: limit, type: int, default: 20, min: -1, doc: "Rows to return; -1 returns all."}
  - {name: name, type: enum, values: [simple, demangled], default: simple, doc: "Which name of a kernel makes a pair: its function's alone, or the whole."}
  - {name: memory, type: bool, default: false, doc: "Copies and fills end gaps too; false goes by kernels alone."}
columns:
  - {name: rank, type: int, doc: "Place in the order asked for, from 1."}
  - {name: gap_count, type: int, unit: count, doc: "Gaps between the two, on any stream."}
  - {name: mean_ns, type: duration, unit: ns, doc: "Mean gap."}
  - {name: max_ns, type: duration, unit: ns, doc: "Longest gap."}
  - {name: min_ns, type: duration, unit: ns, doc: "Shortest gap; always above 0."}
  - {name: stddev_ns, type: duration, unit: ns, doc: "Sample standard deviation of the gaps; 0 for one."}
  - {name: total_ns, type: duration, unit: ns, doc: "Sum of the gaps: streams waited, though others may have been at work."}
  - {name: idle_ns, type: duration, unit: ns, doc: "Part of total_ns in which nothing at all ran on the GPU, of any stream or process."}
  - {name: before_name, type: text, doc: "Kernel that ended last before the gaps, by the name asked for; [CUDA memcpy Host-to-Device] and its like; (no name)."}
  - {name: after_name, type: text, doc: "Kernel that began after the gaps, likewise."}
checks:
  - gap_count >= 1 AND min_ns > 0
  - mean_ns BETWEEN min_ns AND max_ns AND total_ns >= max_ns
  - idle_ns BETWEEN 0 AND total_ns
limits: >-
  Gaps of the streams, not of the GPU: while one lasts, other streams may work, and idle_ns says how long none did. Where
  several streams wait at once, idle time counts in each of their gaps. A pair says what stood before and after, not
  which of them is to blame. With --device, --stream, --process or --nvtx what is out of the scope did not run; idle_ns
  alone knows of it. CUDA graphs traced as a whole are not seen.
see_also: [stream_gaps, gap_histogram, gpu_idle_causes, kernel_stats]
---*/
WITH
gap AS (
  SELECT
    gap.before_kind,
    gap.before_name_id,
    gap.after_kind,
    gap.after_name_id,
    gap.dur_ns,
    gpu.idle_ns
  FROM stream_gap AS gap
  JOIN (SELECT global_pid, device_id, gpu_id FROM process_device LIMIT -1) AS used
    ON used.device_id IS NOT DISTINCT FROM gap.device_id
    AND used.global_pid IS NOT DISTINCT FROM gap.global_pid
  LEFT JOIN all_gpu_window AS gpu
    ON gpu.start_ns = gap.start_ns
    AND gpu.end_ns = gap.end_ns
    AND gpu.gpu_id = used.gpu_id
  WHERE gap.among = iif(:memory, 'op', 'kernel')
  LIMIT -1
),
-- Numbers stand for names here: each name is looked at once, and not for every gap.
id AS (
  SELECT before_kind AS op_kind, before_name_id AS name_id FROM gap
  UNION
  SELECT after_kind, after_name_id FROM gap
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
simplified AS (
  SELECT
    op_kind,
    name_id,
    coalesce(iif(:name = 'simple' AND op_kind = 'kernel', simple_name(op_name), op_name), '(no name)') AS simple_name
  FROM named
  LIMIT -1
),
numbered AS (
  SELECT *, dense_rank() OVER (ORDER BY simple_name) AS name_number
  FROM simplified
  LIMIT -1
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
