/*---
name: iteration_window
summary: One row per iteration and GPU, with the time that belongs to the iteration on the GPU.
present_if: [src_nvtx_event]
stored: true
reads: [gpu_busy, gpu_op, iteration]
columns:
  - {name: gpu_id, type: id, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: device_id, type: id, doc: "CUDA device ordinal within its process."}
  - {name: iteration, type: int, doc: "Position by start among the iterations of the thread, from 0."}
  - {name: part, type: text, doc: "warm-up, median or steady. The median iteration is the one in the middle of the steady ones by dur_ns."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of its first GPU operation, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "Start of the next iteration's first GPU operation. The last iteration ends with its last operation, or with its range if that ends later."}
  - {name: dur_ns, type: duration, unit: ns, doc: "end_ns - start_ns."}
  - {name: cpu_start_ns, type: timestamp, unit: ns, doc: "Start of the range on the CPU."}
  - {name: cpu_end_ns, type: timestamp, unit: ns, doc: "End of the range on the CPU."}
  - {name: op_count, type: int, unit: count, doc: "GPU operations launched inside the range, on all GPUs."}
  - {name: iteration_count, type: int, unit: count, doc: "Iterations of the thread that have GPU work."}
  - {name: pid, type: id, doc: "Operating system process ID."}
  - {name: tid, type: id, doc: "Operating system thread ID."}
  - {name: global_tid, type: id, doc: "Thread ID, unique across hosts and VMs."}
  - {name: range_id, type: id, doc: "Row ID of the range in the raw table."}
  - {name: range_name, type: text, doc: "Message, with the prefix DOMAIN: outside the default domain."}
  - {name: layer_name, type: text, doc: "range_name with each number replaced by *."}
limits: >-
  Iterations with GPU work only. The first iterations are warm-up as long as each takes more than 1.5 times the median of
  the last half. Time between two iterations belongs to the earlier one, such as validation after it. A thread that
  shares its process with other threads that have iterations has rows for the GPUs on which its iterations begin; else it
  has rows for all GPUs of its process.
---*/
WITH
begun AS (
  SELECT
    *,
    max(proj_start_ns) OVER (
      PARTITION BY global_tid
      ORDER BY iteration
      ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW
    ) AS from_ns
  FROM iteration
  WHERE op_count > 0
),
timed AS (
  SELECT
    *,
    row_number() OVER by_start AS nth,
    count(*) OVER (PARTITION BY global_tid) AS timed_count,
    coalesce(lead(from_ns) OVER by_start, max(proj_end_ns, end_ns, from_ns)) - from_ns AS from_to_ns
  FROM begun
  WINDOW by_start AS (PARTITION BY global_tid ORDER BY iteration)
),
halved AS (
  SELECT
    *,
    nth > timed_count / 2 AS is_late,
    row_number() OVER (PARTITION BY global_tid, nth > timed_count / 2 ORDER BY from_to_ns, nth) AS rank,
    count(*) OVER (PARTITION BY global_tid, nth > timed_count / 2) AS ranked_count,
    -- Each thread has one first iteration.
    count(*) FILTER (WHERE nth = 1) OVER (PARTITION BY pid) AS thread_count
  FROM timed
),
usual AS (
  SELECT
    *,
    avg(iif(is_late AND rank IN ((ranked_count + 1) / 2, ranked_count / 2 + 1), from_to_ns, NULL))
      OVER (PARTITION BY global_tid) AS usual_ns
  FROM halved
),
-- The first iteration that is not longer than usual ends the warm-up.
warm AS (
  SELECT
    *,
    nth < min(iif(from_to_ns <= 1.5 * usual_ns, nth, NULL)) OVER (PARTITION BY global_tid) AS is_warm_up
  FROM usual
),
placed AS MATERIALIZED (
  SELECT
    *,
    row_number() OVER (PARTITION BY global_tid, is_warm_up ORDER BY from_to_ns, nth) AS steady_rank,
    count(*) OVER (PARTITION BY global_tid, is_warm_up) AS steady_count
  FROM warm
),
process_gpu AS MATERIALIZED (
  SELECT DISTINCT pid, device_id, gpu_id
  FROM gpu_busy
  WHERE level = 'process'
    AND activity = 'any'
),
-- Where the iterations of processes with several threads begin.
first_op AS MATERIALIZED (
  SELECT DISTINCT pid, device_id, start_ns
  FROM gpu_op
  WHERE start_ns IN (SELECT proj_start_ns FROM placed WHERE thread_count > 1)
),
on_gpu AS (
  SELECT
    placed.*,
    process_gpu.gpu_id,
    process_gpu.device_id,
    placed.thread_count = 1 OR first_op.start_ns IS NOT NULL AS begins_here
  FROM placed
  JOIN process_gpu
    ON process_gpu.pid = placed.pid
  LEFT JOIN first_op
    ON first_op.pid = placed.pid
    AND first_op.device_id = process_gpu.device_id
    AND first_op.start_ns = placed.proj_start_ns
),
used AS (
  SELECT
    *,
    max(begins_here) OVER (PARTITION BY global_tid) AS begins_somewhere,
    max(begins_here) OVER (PARTITION BY global_tid, device_id) AS uses_gpu
  FROM on_gpu
)
SELECT
  gpu_id,
  device_id,
  iteration,
  CASE
    WHEN is_warm_up THEN 'warm-up'
    WHEN steady_rank = (steady_count + 1) / 2 THEN 'median'
    ELSE 'steady'
  END AS part,
  from_ns AS start_ns,
  from_ns + from_to_ns AS end_ns,
  from_to_ns AS dur_ns,
  start_ns AS cpu_start_ns,
  end_ns AS cpu_end_ns,
  op_count,
  timed_count AS iteration_count,
  pid,
  tid,
  global_tid,
  range_id,
  range_name,
  layer_name
FROM used
WHERE uses_gpu
  OR NOT begins_somewhere
