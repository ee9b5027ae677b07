/*---
name: iteration_times
version: 1
title: Iterations
summary: One row per iteration and GPU, with what the GPU did in that time.
why: To see whether iterations take the same time, what the median one is made of, and which ones are slow.
kind: trace
tags: [cuda, gpu, nvtx]
reads: [gpu_busy, gpu_op, gpu_window, iteration]
requires: [iteration, gpu_window]
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: iteration, type: int, priority: 0, doc: "Position by start among the iterations of the thread, from 0."}
  - {name: start_ns, type: timestamp, unit: ns, priority: 2, doc: "Start of its first GPU operation, on the report's clock."}
  - {name: dur_ns, type: duration, unit: ns, label: "time", priority: 1, doc: "Time until the next iteration's first GPU operation starts. The last iteration ends with its last operation, or with its range if that ends later."}
  - {name: part, type: text, priority: 1, doc: "warm-up, median or steady. The median iteration is the one in the middle of the steady ones by dur_ns."}
  - {name: busy_ns, type: duration, unit: ns, priority: 1, doc: "Time in which at least one operation ran on the GPU, from any range or process."}
  - {name: compute_ns, type: duration, unit: ns, doc: "Time in which a compute kernel ran."}
  - {name: exposed_communication_ns, type: duration, unit: ns, doc: "Time in which a communication kernel ran and no compute kernel did."}
  - {name: exposed_memory_ns, type: duration, unit: ns, label: "exposed copies", doc: "Time in which a copy or fill ran and no kernel did."}
  - {name: idle_ns, type: duration, unit: ns, priority: 1, doc: "Time in which nothing ran: dur_ns - busy_ns."}
  - {name: op_count, type: int, unit: count, label: "operations", doc: "GPU operations launched inside the range, on all GPUs."}
  - {name: cpu_ns, type: duration, unit: ns, label: "CPU time", priority: 3, doc: "Duration of the range on the CPU."}
  - {name: pid, type: id, priority: 3, doc: "Operating system process ID."}
  - {name: tid, type: id, priority: 3, doc: "Operating system thread ID."}
  - {name: range_id, type: id, priority: 3, doc: "Row ID of the range in the raw table."}
  - {name: range_name, type: text, label: "range", priority: 2, doc: "Message, with the prefix DOMAIN: outside the default domain."}
  - {name: layer_name, type: text, label: "folded name", priority: 3, doc: "range_name with each number replaced by *."}
checks:
  - dur_ns > 0 AND iteration >= 0
  - compute_ns + exposed_communication_ns + exposed_memory_ns + idle_ns = dur_ns
  - part IN ('warm-up', 'median', 'steady')
when_empty: no NVTX range looks like an iteration; range_names lists the names
limits: >-
  Iterations are those of the relation iteration, found by the names of NVTX ranges, if a thread has at least two with
  GPU work. The first iterations are warm-up as long as each takes more than 1.5 times the median of the last half. Time
  between two iterations belongs to the earlier one, such as validation after it. Iterations of several threads, such
  as one per GPU, have numbers of their own. A thread that shares its process with other threads that have iterations
  has rows for the GPUs on which its iterations begin; else it has rows for all GPUs of its process.
see_also: [iterations, iteration_sum, gpu_time_by_range]
---*/
-- LIMIT -1 makes SQLite store the rows of a step. Otherwise it computes them again for every row that needs them.
WITH
found AS (
  SELECT
    *,
    max(proj_start_ns) OVER (
      PARTITION BY global_tid
      ORDER BY iteration
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS from_ns
  FROM iteration
  WHERE op_count > 0
  LIMIT -1
),
timed AS (
  SELECT
    *,
    row_number() OVER by_start AS nth,
    count(*) OVER (PARTITION BY global_tid) AS timed_count,
    coalesce(lead(from_ns) OVER by_start, max(proj_end_ns, end_ns, from_ns)) AS to_ns
  FROM found
  WINDOW by_start AS (PARTITION BY global_tid ORDER BY iteration)
  LIMIT -1
),
usual AS (
  SELECT global_tid, median(to_ns - from_ns) AS usual_ns
  FROM timed
  WHERE nth > timed_count / 2
  GROUP BY global_tid
  LIMIT -1
),
-- The first iteration that is not longer than usual ends the warm-up.
warm AS (
  SELECT timed.global_tid, min(timed.nth) AS first_nth
  FROM timed
  JOIN usual
    ON usual.global_tid = timed.global_tid
  WHERE timed.to_ns - timed.from_ns <= 1.5 * usual.usual_ns
  GROUP BY timed.global_tid
  LIMIT -1
),
ranked AS (
  SELECT
    timed.global_tid,
    timed.nth,
    row_number() OVER (PARTITION BY timed.global_tid ORDER BY timed.to_ns - timed.from_ns, timed.nth) AS rank,
    count(*) OVER (PARTITION BY timed.global_tid) AS steady_count
  FROM timed
  JOIN warm
    ON warm.global_tid = timed.global_tid
  WHERE timed.nth >= warm.first_nth
),
middle AS (
  SELECT global_tid, nth
  FROM ranked
  WHERE rank = (steady_count + 1) / 2
  LIMIT -1
),
thread AS (
  SELECT global_tid, pid, count(*) OVER (PARTITION BY pid) AS threads
  FROM (SELECT DISTINCT global_tid, pid FROM timed)
  LIMIT -1
),
-- Only processes with several threads need a look at the operations themselves.
first_op AS (
  SELECT DISTINCT op.pid, op.device_id, timed.global_tid
  FROM (
    SELECT pid, device_id, start_ns
    FROM gpu_op
    WHERE (SELECT max(threads) FROM thread) > 1
      AND start_ns IN (SELECT proj_start_ns FROM timed)
    LIMIT -1
  ) AS op
  JOIN timed
    ON timed.proj_start_ns = op.start_ns
    AND timed.pid = op.pid
  LIMIT -1
),
process_gpu AS (
  SELECT DISTINCT pid, device_id, gpu_id
  FROM gpu_busy
  WHERE level = 'process'
    AND activity = 'any'
  LIMIT -1
),
used AS (
  SELECT DISTINCT thread.global_tid, process_gpu.gpu_id
  FROM thread
  JOIN process_gpu
    ON process_gpu.pid = thread.pid
  WHERE thread.threads = 1
    OR thread.global_tid NOT IN (SELECT global_tid FROM first_op)
    OR EXISTS (
      SELECT 1
      FROM first_op
      WHERE first_op.global_tid = thread.global_tid
        AND first_op.device_id = process_gpu.device_id
    )
  LIMIT -1
)
SELECT
  gpu.gpu_id,
  timed.iteration,
  gpu.start_ns,
  gpu.window_ns AS dur_ns,
  CASE
    WHEN timed.nth < warm.first_nth THEN 'warm-up'
    WHEN timed.nth = middle.nth THEN 'median'
    ELSE 'steady'
  END AS part,
  gpu.busy_ns,
  gpu.compute_ns,
  gpu.exposed_communication_ns,
  gpu.exposed_memory_ns,
  gpu.idle_ns,
  timed.op_count,
  timed.dur_ns AS cpu_ns,
  timed.pid,
  timed.tid,
  timed.range_id,
  timed.range_name,
  timed.layer_name
FROM timed
JOIN warm
  ON warm.global_tid = timed.global_tid
JOIN middle
  ON middle.global_tid = timed.global_tid
CROSS JOIN gpu_window AS gpu
JOIN used
  ON used.global_tid = timed.global_tid
  AND used.gpu_id = gpu.gpu_id
WHERE gpu.start_ns = timed.from_ns
  AND gpu.end_ns = timed.to_ns
  AND gpu.window_ns > 0
  AND timed.timed_count > 1
ORDER BY gpu.gpu_id, timed.global_tid, timed.iteration
