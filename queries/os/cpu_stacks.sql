/*---
name: cpu_stacks
version: 1
title: Stacks of CPU samples
summary: CPU samples of each distinct stack, as a flame graph draws them.
why: To see which calls lead to the CPU time. `nsq flame` writes the rows for flame graph viewers.
kind: sum
tags: [gpu, nvtx, osrt]
reads: [all_gpu_gap, cpu_sample, cpu_stack, thread]
requires: [cpu_sample]
params:
  - {name: by, type: enum, values: [capture, thread], default: capture, doc: "Count stacks over the whole capture, or for each thread."}
  - {name: idle, type: bool, default: false, doc: "Count only samples taken while at least one GPU idled."}
  - {name: tid, type: int, doc: "Count only samples of the thread with this operating system thread ID."}
  - {name: limit, type: int, default: 100, min: -1, doc: "Number of rows to return; -1 returns all rows."}
columns:
  - {name: thread_name, type: text, label: "thread", priority: 1, doc: "Name of the thread; null unless by=thread, or if it has none."}
  - {name: tid, type: id, label: "TID", priority: 2, doc: "Operating system thread ID; null unless by=thread."}
  - {name: sample_count, type: int, unit: count, label: "samples", priority: 0, doc: "Samples with this stack."}
  - {name: time_pct, type: percent, unit: percent, label: "share of samples", priority: 1, doc: "sample_count as a share of all rows, also of those beyond the limit."}
  - {name: depth, type: int, unit: count, label: "frames", priority: 3, doc: "Number of frames."}
  - {name: stack, type: text, priority: 0, doc: "Functions from the outermost to the innermost, with ; between them. Kernel functions end in _[k], and a ; in a name is a colon. (no stack) for samples without a stack."}
checks:
  - sample_count >= 1 AND time_pct > 0 AND time_pct <= 100
when_empty: "no CPU sample matches; -p idle=false counts all samples"
limits: >-
  Only running threads are sampled, so waits do not show. Samples are native code: Python and other interpreters show
  their own functions. A stack that begins with a mark such as [Broken backtraces] has unknown callers. For idle, a
  GPU idles between its first and last operation when nothing runs on it, whatever the scope. --nvtx counts the samples
  inside ranges of the sampled thread.
see_also: [cpu_hot, gpu_idle_host_sum]
---*/
WITH
idle AS MATERIALIZED (
  SELECT time_set(start_ns, end_ns) AS times
  FROM all_gpu_gap
  WHERE level = 'gpu'
    AND :idle
),
sample AS MATERIALIZED (
  SELECT sample_id, iif(:by = 'thread', coalesce(global_tid, -1), 0) AS group_id
  FROM cpu_sample
  WHERE (:tid IS NULL OR tid = :tid)
    AND (NOT :idle OR overlap_ns((SELECT times FROM idle), at_ns, at_ns + 1) > 0)
),
-- Stacks are compared by IDs: names are looked up for one sample of each.
path AS (
  SELECT
    sample_id,
    count(*) AS depth,
    group_concat(name_id || iif(is_kernel, 'k', ''), ';') AS path
  FROM (SELECT sample_id, name_id, is_kernel FROM cpu_stack ORDER BY sample_id, from_leaf DESC)
  GROUP BY sample_id
),
counted AS (
  SELECT
    sample.group_id,
    path.path,
    min(path.depth) AS depth,
    min(sample.sample_id) AS example_id,
    count(*) AS sample_count
  FROM sample
  LEFT JOIN path
    ON path.sample_id = sample.sample_id
  GROUP BY sample.group_id, path.path
),
top AS (
  SELECT *, 100.0 * sample_count / sum(sample_count) OVER () AS time_pct
  FROM counted
  ORDER BY sample_count DESC, example_id
  LIMIT :limit
),
named AS (
  SELECT sample_id, group_concat(name, ';') AS stack
  FROM (
    SELECT sample_id, replace(function_name, ';', ':') || iif(is_kernel, '_[k]', '') AS name
    FROM cpu_stack
    WHERE sample_id IN (SELECT example_id FROM top)
    ORDER BY sample_id, from_leaf DESC
  )
  GROUP BY sample_id
)
SELECT
  (SELECT thread_name FROM thread WHERE thread.global_tid = top.group_id) AS thread_name,
  iif(:by = 'thread', top.group_id & 16777215, NULL) AS tid,
  top.sample_count,
  top.time_pct,
  coalesce(top.depth, 0) AS depth,
  coalesce(named.stack, '(no stack)') AS stack
FROM top
LEFT JOIN named
  ON named.sample_id = top.example_id
ORDER BY top.sample_count DESC, top.example_id
