/*---
name: cpu_hot
version: 1
title: Functions with the most CPU samples
summary: CPU samples of each function, in the function itself and with what it calls.
why: To see what the CPU runs, for example while the GPU idles.
kind: sum
tags: [gpu, nvtx, osrt]
reads: [all_gpu_gap, cpu_sample, cpu_stack, module, nvtx_name, nvtx_projection, string, thread]
requires: [cpu_sample]
params:
  - {name: by, type: enum, values: [capture, thread, range], default: capture, doc: "Groups: the whole capture, each thread, or each innermost NVTX range of the sampled thread."}
  - {name: idle, type: bool, default: false, doc: "Count only samples taken while at least one GPU idled."}
  - {name: tid, type: int, doc: "Count only samples of the thread with this operating system thread ID."}
  - {name: limit, type: int, default: 30, min: -1, doc: "Number of rows to return; -1 returns all rows."}
columns:
  - {name: thread_name, type: text, label: "thread", priority: 2, doc: "Name of the thread; null unless by=thread, or if it has none."}
  - {name: tid, type: id, label: "TID", priority: 2, doc: "Operating system thread ID; null unless by=thread."}
  - {name: pid, type: id, label: "PID", priority: 3, doc: "Operating system process ID; null unless by=thread."}
  - {name: range_name, type: text, label: "NVTX range", priority: 2, doc: "Innermost push/pop range, each number replaced by *; (no NVTX range) if none was open; null unless by=range."}
  - {name: function_name, type: text, label: "function", priority: 0, doc: "Function; its address if its name is unknown; (no stack) for samples without a stack; [broken stack] or a similar mark if the profiler found no frame."}
  - {name: module_name, type: text, label: "module", priority: 2, doc: "File name of the binary that contains the function; null if unknown."}
  - {name: is_kernel, type: bool, label: "in OS kernel", priority: 3, doc: "Whether the function is inside the operating system kernel."}
  - {name: self_count, type: int, unit: count, label: "self samples", priority: 1, doc: "Samples in the function itself. Over all functions of a group, they add up to sample_count."}
  - {name: self_pct, type: percent, unit: percent, label: "self % of group", priority: 1, doc: "self_count as a share of sample_count."}
  - {name: total_count, type: int, unit: count, label: "samples with callees", priority: 1, doc: "Samples with the function anywhere in the stack; a sample counts once, even if the function calls itself."}
  - {name: total_pct, type: percent, unit: percent, label: "with callees % of group", priority: 1, doc: "total_count as a share of sample_count."}
  - {name: sample_count, type: int, unit: count, label: "samples of group", priority: 3, doc: "Samples of the group."}
checks:
  - self_count BETWEEN 0 AND total_count AND total_count BETWEEN 1 AND sample_count
when_empty: "no CPU sample matches; -p idle=false counts all samples"
limits: >-
  Only running threads are sampled, so waits do not show: see thread_time and osrt_sum. Samples are native code: Python
  and other interpreters show their own functions. Callers beyond a broken stack are missing from total_count. For idle, a
  GPU idles between its first and last operation when nothing runs on it, whatever the scope. --nvtx counts the samples
  inside ranges of the sampled thread.
see_also: [thread_time, gpu_idle_host_sum, osrt_sum]
---*/
WITH
idle AS MATERIALIZED (
  SELECT time_set(start_ns, end_ns) AS times
  FROM all_gpu_gap
  WHERE level = 'gpu'
    AND :idle
),
sample AS MATERIALIZED (
  SELECT sample_id, at_ns, coalesce(global_tid, -1) AS global_tid
  FROM cpu_sample
  WHERE (:tid IS NULL OR tid = :tid)
    AND (NOT :idle OR overlap_ns((SELECT times FROM idle), at_ns, at_ns + 1) > 0)
),
range AS MATERIALIZED (
  SELECT range_id, parent_id, depth, start_ns, end_ns, global_tid, name_id
  FROM nvtx_projection
  WHERE range_kind = 'PushPop'
    AND end_ns > start_ns
    AND :by = 'range'
    AND global_tid IN (SELECT global_tid FROM sample)
),
-- At the end of a range, the thread is in its parent again.
event AS (
  SELECT global_tid, at_ns, 2 AS place, 0 AS nesting, sample_id, 0 AS is_range, NULL AS name_id
  FROM sample
  WHERE :by = 'range'
  UNION ALL
  SELECT global_tid, start_ns, 1, depth, NULL, 1, name_id
  FROM range
  UNION ALL
  SELECT range.global_tid, range.end_ns, 0, -range.depth, NULL, 1, parent.name_id
  FROM range
  LEFT JOIN range AS parent
    ON parent.range_id = range.parent_id
),
counted AS (
  SELECT
    *,
    sum(is_range) OVER (
      PARTITION BY global_tid
      ORDER BY at_ns, place, nesting, sample_id
      ROWS UNBOUNDED PRECEDING
    ) AS range_events
  FROM event
),
-- The first row of each number of range events is itself an event, unless that number is 0.
placed AS (
  SELECT
    sample_id,
    first_value(name_id) OVER (
      PARTITION BY global_tid, range_events
      ORDER BY at_ns, place, nesting, sample_id
      ROWS UNBOUNDED PRECEDING
    ) AS name_id
  FROM counted
),
layer AS MATERIALIZED (
  SELECT name_id, min(name_id) OVER (PARTITION BY layer_name) AS layer_id
  FROM nvtx_name
),
member AS MATERIALIZED (
  SELECT sample_id, iif(:by = 'thread', global_tid, 0) AS group_id
  FROM sample
  WHERE :by <> 'range'
  UNION ALL
  SELECT placed.sample_id, coalesce(layer.layer_id, -1)
  FROM placed
  LEFT JOIN layer
    ON layer.name_id = placed.name_id
  WHERE placed.sample_id IS NOT NULL
),
size AS (
  SELECT group_id, count(*) AS sample_count
  FROM member
  GROUP BY group_id
),
hit AS (
  SELECT
    cpu_stack.sample_id,
    cpu_stack.name_id,
    cpu_stack.module_id,
    min(cpu_stack.from_leaf) = 0 AS is_self,
    max(cpu_stack.is_kernel) AS is_kernel,
    max(cpu_stack.is_mark) AS is_mark,
    min(cpu_stack.address) AS address
  FROM cpu_stack
  WHERE NOT cpu_stack.is_mark
    OR cpu_stack.from_leaf = 0
  GROUP BY cpu_stack.sample_id, cpu_stack.name_id, cpu_stack.module_id
),
summed AS (
  SELECT
    member.group_id,
    hit.name_id,
    hit.module_id,
    count(*) AS total_count,
    sum(coalesce(hit.is_self, 1)) AS self_count,
    max(hit.is_kernel) AS is_kernel,
    max(hit.is_mark) AS is_mark,
    min(hit.address) AS address
  FROM member
  LEFT JOIN hit
    ON hit.sample_id = member.sample_id
  GROUP BY member.group_id, hit.name_id, hit.module_id
),
top AS (
  SELECT summed.*, size.sample_count
  FROM summed
  JOIN size
    ON size.group_id = summed.group_id
  ORDER BY summed.self_count DESC, summed.total_count DESC, summed.name_id, summed.module_id, summed.group_id
  LIMIT :limit
)
SELECT
  iif(:by = 'thread', (SELECT thread_name FROM thread WHERE thread.global_tid = top.group_id), NULL) AS thread_name,
  iif(:by = 'thread', group_id & 16777215, NULL) AS tid,
  iif(:by = 'thread', group_id >> 24 & 16777215, NULL) AS pid,
  iif(
    :by = 'range',
    coalesce(
      (SELECT layer_name FROM nvtx_name WHERE nvtx_name.name_id = top.group_id),
      '(no NVTX range)'
    ),
    NULL
  ) AS range_name,
  CASE
    WHEN name_id IS NULL THEN '(no stack)'
    ELSE coalesce(
      nullif((SELECT text FROM string WHERE string_id = name_id), ''),
      iif(is_mark, '[broken stack]', printf('0x%x', address))
    )
  END AS function_name,
  (SELECT module_name FROM module WHERE module.module_id = top.module_id) AS module_name,
  coalesce(is_kernel, 0) AS is_kernel,
  self_count,
  100.0 * self_count / sample_count AS self_pct,
  total_count,
  100.0 * total_count / sample_count AS total_pct,
  sample_count
FROM top
ORDER BY self_count DESC, total_count DESC, name_id, module_id, group_id
