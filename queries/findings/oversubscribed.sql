/*---
name: oversubscribed
version: 1
title: The launching thread has no CPU
summary: Idle time of a GPU while the launching thread waits for a CPU.
why: To see whether more threads want to run than there are CPUs.
kind: finding
tags: [gpu, osrt]
reads: [all_thread_state, host_segment, idle_part]
requires: [host_segment, thread_state, os_call]
finding:
  claim: "Oversubscribed CPUs: the GPU idles while the launching thread waits for a CPU, because other threads of the program use all CPUs."
  ceiling: Idle time in which the thread was ready to run, or off its CPU in no recorded call while every CPU of the capture ran one of its threads.
  remedy: >-
    Give the job more CPUs (--cpus-per-task, taskset, container limits), or start fewer threads (OMP_NUM_THREADS).
  in_pytorch: >-
    torch.set_num_threads and DataLoader(num_workers=...).
  link: https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html
  narrows: [host_work, iteration_border, launch_bound]
  confidence: medium
  frees: idle
  known_by:
    relation: thread_state
    needs: context switches
    help: record with --cpuctxsw=process-tree
params:
  - {name: least, type: duration, default: 20us, min: 0, doc: "Shortest interval to return."}
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: start_ns, type: timestamp, unit: ns, priority: 1, doc: "Start of the interval, on the report's clock."}
  - {name: dur_ns, type: duration, unit: ns, priority: 1, doc: "Idle time in which the thread waited for a CPU."}
  - {name: subject, type: text, label: "evidence", priority: 0, doc: "runnable, if the export records it; otherwise all CPUs busy."}
  - {name: cpu_count, type: int, unit: count, label: "CPUs", doc: "CPUs that threads of the capture ran on; null if no thread is off its CPU without a known state."}
  - {name: tid, type: id, label: "thread", doc: "Operating system ID of the thread that launched the next operation."}
limits: >-
  Captures on Linux do not say whether a thread was ready to run. There, a thread off its CPU counts only in no recorded OS
  call, and only while each CPU that any thread of the capture ever used runs a captured thread. CPU time of other programs
  does not show, unless the capture is system-wide.
see_also: [host_work, thread_time, gpu_idle_host]
---*/
WITH
waited AS MATERIALIZED (
  SELECT
    row_number() OVER (ORDER BY part.gpu_id, segment.start_ns) AS wait_id,
    part.gpu_id,
    segment.start_ns,
    segment.end_ns,
    segment.cause,
    part.tid
  FROM host_segment AS segment
  JOIN idle_part AS part
    ON part.part_id = segment.part_id
  WHERE segment.cause IN ('runnable', 'off CPU')
    AND segment.end_ns - segment.start_ns >= :least
),
running AS MATERIALIZED (
  SELECT cpu, start_ns, end_ns
  FROM (SELECT 1 FROM waited WHERE cause = 'off CPU' LIMIT 1)
  CROSS JOIN all_thread_state
  WHERE state = 'running'
),
machine AS MATERIALIZED (
  SELECT count(DISTINCT cpu) AS cpu_count
  FROM running
),
edge (sign) AS (
  VALUES (1), (-1)
),
event AS (
  SELECT iif(edge.sign = 1, start_ns, end_ns) AS at_ns, edge.sign AS running
  FROM running
  CROSS JOIN edge
),
swept AS (
  SELECT
    at_ns AS start_ns,
    lead(at_ns) OVER (ORDER BY at_ns) AS end_ns,
    sum(running) OVER (ORDER BY at_ns RANGE UNBOUNDED PRECEDING) AS running
  FROM event
),
-- Times in which every CPU is busy: disjoint, and the neighbours of equal ends are one.
full AS MATERIALIZED (
  SELECT start_ns, end_ns
  FROM swept
  WHERE running >= (SELECT cpu_count FROM machine)
    AND end_ns > start_ns
),
met AS MATERIALIZED (
  SELECT span_id AS wait_id, start_ns, end_ns
  FROM split_spans(
    (SELECT time_spans(0, wait_id, start_ns, end_ns) FROM waited WHERE cause = 'off CPU'),
    (SELECT time_spans(0, 1, start_ns, end_ns) FROM full)
  )
  WHERE by_id IS NOT NULL
),
part AS (
  SELECT wait_id, start_ns, end_ns, 'all CPUs busy' AS subject
  FROM met
  WHERE end_ns - start_ns >= :least
  UNION ALL
  SELECT wait_id, start_ns, end_ns, 'runnable'
  FROM waited
  WHERE cause = 'runnable'
)
SELECT
  waited.gpu_id,
  part.start_ns,
  part.end_ns - part.start_ns AS dur_ns,
  part.subject,
  nullif((SELECT cpu_count FROM machine), 0) AS cpu_count,
  waited.tid
FROM part
JOIN waited
  ON waited.wait_id = part.wait_id
ORDER BY waited.gpu_id, part.start_ns, part.wait_id
