/*---
name: off_cpu_part
summary: One row per interval in which a GPU idled and the launching thread was off its CPU, with the thread that had it.
internal: true
present_if: [thread_state]
reads: [all_thread_state, host_part]
columns:
  - {name: gpu_id, type: id, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of the interval, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "End of the interval."}
  - {name: dur_ns, type: duration, unit: ns, doc: "end_ns - start_ns. The intervals of a row of host_part add up to it."}
  - {name: cause, type: text, doc: "What host_part calls it: runnable, blocked or off CPU."}
  - {name: cpu, type: int, doc: "Logical CPU that the thread left."}
  - {name: pid, type: id, doc: "Operating system process ID of the launching thread."}
  - {name: tid, type: id, doc: "Operating system thread ID of the launching thread."}
  - {name: global_tid, type: id, doc: "The launching thread, unique across hosts and VMs."}
  - {name: taker_global_tid, type: id, doc: "Thread that ran on this CPU meanwhile, unique across hosts and VMs; null if no recorded thread did."}
  - {name: gap_start_ns, type: timestamp, unit: ns, doc: "Start of the GPU's gap."}
limits: >-
  nsys records the switches of the profiled processes, unless it traces the whole system. So a CPU without a recorded
  thread was idle or ran another program. A thread may return to another CPU than the one it left.
---*/
WITH
off AS MATERIALIZED (
  SELECT
    row_number() OVER (ORDER BY gpu_id, start_ns) AS part_id,
    gpu_id,
    start_ns,
    end_ns,
    cause,
    pid,
    tid,
    global_tid,
    gap_start_ns
  FROM host_part
  WHERE cause IN ('runnable', 'blocked', 'off CPU')
),
state AS MATERIALIZED (
  SELECT global_tid, start_ns, cpu
  FROM all_thread_state
  WHERE global_tid IN (SELECT global_tid FROM off)
),
-- The states of a thread never overlap, so an interval is in the last one that began.
begun AS (
  SELECT
    part_id,
    global_tid,
    max(state_ns) OVER (PARTITION BY global_tid ORDER BY at_ns RANGE UNBOUNDED PRECEDING) AS state_ns
  FROM (
    SELECT NULL AS part_id, global_tid, start_ns AS at_ns, start_ns AS state_ns
    FROM state
    UNION ALL
    SELECT part_id, global_tid, start_ns, NULL
    FROM off
  )
),
part AS MATERIALIZED (
  SELECT off.*, state.cpu
  FROM off
  JOIN begun
    ON begun.part_id = off.part_id
  JOIN state
    ON state.global_tid = begun.global_tid
    AND state.start_ns = begun.state_ns
),
place AS MATERIALIZED (
  SELECT gpu_id, cpu, time_set(start_ns, end_ns) AS times
  FROM part
  GROUP BY gpu_id, cpu
),
-- What is left of each run after the earlier ones on its CPU: no two overlap, even if a switch was lost.
run AS MATERIALIZED (
  SELECT
    row_number() OVER (ORDER BY cpu, start_ns, end_ns, global_tid) AS run_id,
    cpu,
    global_tid,
    max(start_ns, coalesce(max(end_ns) OVER earlier, start_ns)) AS start_ns,
    end_ns
  FROM all_thread_state
  WHERE state = 'running'
    AND cpu IN (SELECT cpu FROM place)
  WINDOW earlier AS (
    PARTITION BY cpu
    ORDER BY start_ns, end_ns, global_tid
    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
  )
),
taken AS MATERIALIZED (
  SELECT place.gpu_id, run.run_id, run.cpu, run.start_ns, run.end_ns
  FROM run
  JOIN place
    ON place.cpu = run.cpu
  WHERE run.end_ns > run.start_ns
    AND overlap_ns(place.times, run.start_ns, run.end_ns) > 0
),
event AS (
  SELECT gpu_id, cpu, start_ns AS at_ns, part_id, 0 AS run_id
  FROM part
  UNION ALL
  SELECT gpu_id, cpu, end_ns, -part_id, 0
  FROM part
  UNION ALL
  SELECT gpu_id, cpu, start_ns, 0, run_id
  FROM taken
  UNION ALL
  SELECT gpu_id, cpu, end_ns, 0, -run_id
  FROM taken
),
-- At most one interval of each kind is open at a time, so that the sums of IDs are IDs.
swept AS (
  SELECT
    at_ns AS start_ns,
    lead(at_ns) OVER (PARTITION BY gpu_id, cpu ORDER BY at_ns) AS end_ns,
    sum(part_id) OVER so_far AS part_id,
    sum(run_id) OVER so_far AS run_id
  FROM event
  WINDOW so_far AS (PARTITION BY gpu_id, cpu ORDER BY at_ns RANGE UNBOUNDED PRECEDING)
)
SELECT
  part.gpu_id,
  swept.start_ns,
  swept.end_ns,
  swept.end_ns - swept.start_ns AS dur_ns,
  part.cause,
  part.cpu,
  part.pid,
  part.tid,
  part.global_tid,
  run.global_tid AS taker_global_tid,
  part.gap_start_ns
FROM swept
JOIN part
  ON part.part_id = swept.part_id
LEFT JOIN run
  ON run.run_id = swept.run_id
WHERE swept.end_ns > swept.start_ns
