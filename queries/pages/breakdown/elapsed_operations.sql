/*---
name: elapsed_operations
version: 1
title: Elapsed time by operation
summary: Elapsed time of all GPUs or of one, split among operations and the rest.
why: To account for the whole elapsed time of a run, operation by operation.
kind: sum
tags: [cuda, gpu, kernel, memory]
internal: true
reads: []
asks:
  - {query: gpu_elapsed, as: on_all_gpus, params: {per_gpu: false}}
  - {query: gpu_elapsed, as: on_each_gpu, params: {per_gpu: true, several_gpus: true}}
  - run_time
across: true
params:
  - {name: elapsed, type: duration, doc: "How long the run took without the profiler; the span of the capture if not set."}
  - {name: idle_counts, type: bool, default: true, doc: "Count the time without GPU work up to the span of the capture, if elapsed is not set."}
  - {name: merge_devices, type: bool, default: false, doc: "Leave out the bars of single GPUs."}
  - {name: graphs, type: bool, default: true, doc: "Count CUDA graphs traced as a whole; false leaves them out."}
columns:
  - {name: bar, type: text, priority: 0, doc: "The report; with :gpuN for one of several GPUs, else for all of its GPUs together."}
  - {name: class, type: text, priority: 0, doc: "Class of op_name from the class map; cuda_graph for a CUDA graph traced as a whole; CPU(non-GPU) for the time without GPU work."}
  - {name: calls, type: int, unit: count, priority: 1, doc: "Number of executions; 1 for the time without GPU work."}
  - {name: op_name, type: text, label: "operation", priority: 0, doc: "Name of the operations, as in gpu_elapsed; CPU(non-GPU) for the time without GPU work."}
  - {name: elapsed_text, type: text, label: "elapsed (s)", priority: 3, doc: "elapsed_ns as exact seconds, with as many decimals as needed."}
  - {name: elapsed_ns, type: duration, unit: ns, priority: 1, doc: "Part of the elapsed time that the operations add: overlap counts once, for the operation that started first."}
  - {name: total_ns, type: duration, unit: ns, priority: 1, doc: "Sum of execution times; elapsed_ns for the time without GPU work."}
  - {name: gpu_id, type: id, label: "GPU", priority: 3, doc: "GPU number; null for all GPUs."}
  - {name: device_id, type: id, label: "CUDA device", priority: 3, doc: "CUDA device ordinal, as in gpu_elapsed; null for all GPUs."}
  - {name: op_kind, type: text, label: "kind", priority: 3, doc: "Kind of operation: kernel, memcpy, memset or graph; null for the time without GPU work."}
  - {name: size_bytes, type: bytes, unit: bytes, doc: "Bytes copied or written; null for other operations."}
  - {name: class_rule, type: text, label: "rule", priority: 3, doc: "Rule of the class map that decided; null if no rule did."}
  - {name: class_also, type: text, label: "other matches", priority: 3, doc: "Other classes, from later rules that match too; null if there are none."}
  - {name: class_others, type: text, label: "other classes", priority: 3, doc: "The classes of class_also without their rules, as in gpu_elapsed; null if there are none."}
  - {name: report, type: text, priority: 3, doc: "Name of the report."}
  - {name: report_rank, type: int, priority: 3, doc: "Position of the report, from 1."}
  - {name: bar_rank, type: int, priority: 3, doc: "Position of the bar, from 1."}
  - {name: class_rank, type: int, priority: 3, doc: "Rank of the class by its time in all reports, from 1; CPU(non-GPU) is last."}
  - {name: rank, type: int, priority: 3, doc: "Rank by elapsed_ns within the class and bar, from 1."}
  - {name: is_gpu, type: bool, priority: 3, doc: "Whether it is GPU work, not the time without any."}
  - {name: bar_elapsed_ns, type: duration, unit: ns, priority: 3, doc: "Elapsed time of the bar: the rows of a bar add up to it. At least its busy time."}
  - {name: bar_busy_ns, type: duration, unit: ns, priority: 3, doc: "Busy time of the bar: its GPU work adds up to it."}
checks:
  - elapsed_ns >= 0
  - bar_busy_ns <= bar_elapsed_ns
limits: >-
  See gpu_elapsed for how overlap is counted. If the elapsed time of run_time is shorter than the busy time, the busy time
  counts, and there is no time without GPU work.
see_also: [gpu_elapsed, elapsed_classes, elapsed_bars, run_time]
---*/
WITH
operation AS (
  SELECT 0 AS is_one_gpu, rowid AS position, * FROM on_all_gpus
  UNION ALL
  SELECT 1 AS is_one_gpu, rowid AS position, * FROM on_each_gpu WHERE NOT :merge_devices
),
bar AS (
  SELECT
    side,
    report,
    is_one_gpu,
    gpu_id,
    max(device_id) AS device_id,
    report || iif(is_one_gpu, ':gpu' || gpu_id, '') AS bar,
    row_number() OVER (ORDER BY side, is_one_gpu, gpu_id) AS bar_rank,
    sum(elapsed_ns) AS busy_ns
  FROM operation
  GROUP BY side, is_one_gpu, gpu_id
),
timed AS (
  SELECT bar.*, max(bar.busy_ns, run_time.elapsed_ns) AS whole_ns
  FROM bar
  JOIN run_time USING (side)
),
class_rank AS (
  SELECT class, row_number() OVER (ORDER BY sum(elapsed_ns) DESC, class) AS class_rank
  FROM on_all_gpus
  GROUP BY class
),
part AS (
  SELECT
    timed.*,
    operation.class,
    operation.calls,
    operation.op_name,
    operation.elapsed_ns,
    operation.total_ns,
    operation.op_kind,
    operation.size_bytes,
    operation.class_rule,
    operation.class_also,
    operation.class_others,
    class_rank.class_rank,
    operation.position,
    1 AS is_gpu
  FROM operation
  JOIN timed
    ON timed.side = operation.side
    AND timed.is_one_gpu = operation.is_one_gpu
    AND timed.gpu_id IS NOT DISTINCT FROM operation.gpu_id
  JOIN class_rank USING (class)
  UNION ALL
  SELECT
    timed.*,
    'CPU(non-GPU)',
    1,
    'CPU(non-GPU)',
    whole_ns - busy_ns,
    whole_ns - busy_ns,
    NULL,
    NULL,
    NULL,
    NULL,
    NULL,
    (SELECT count(*) + 1 FROM class_rank),
    NULL,
    0
  FROM timed
)
SELECT
  bar,
  class,
  calls,
  op_name,
  -- At least one decimal, so that every reader takes it for a floating-point number.
  rtrim(printf('%d.%09d', elapsed_ns / 1000000000, elapsed_ns % 1000000000), '0')
    || iif(elapsed_ns % 1000000000 = 0, '0', '') AS elapsed_text,
  elapsed_ns,
  total_ns,
  gpu_id,
  device_id,
  op_kind,
  size_bytes,
  class_rule,
  class_also,
  class_others,
  report,
  side + 1 AS report_rank,
  bar_rank,
  class_rank,
  row_number() OVER (PARTITION BY bar_rank, class_rank ORDER BY position) AS rank,
  is_gpu,
  whole_ns AS bar_elapsed_ns,
  busy_ns AS bar_busy_ns
FROM part
ORDER BY bar_rank, class_rank, rank
