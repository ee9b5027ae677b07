/*---
name: off_cpu_part
summary: One row per interval in which a GPU idled and the launching thread was off its CPU, with the thread that had it.
internal: true
present_if: [thread_state]
reads: [all_thread_state, host_segment, idle_part]
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
    row_number() OVER (ORDER BY part.gpu_id, segment.start_ns) AS part_id,
    part.gpu_id,
    segment.start_ns,
    segment.end_ns,
    segment.cause,
    part.pid,
    part.tid,
    part.global_tid,
    part.gap_start_ns
  FROM host_segment AS segment
  JOIN idle_part AS part
    ON part.part_id = segment.part_id
  WHERE segment.cause IN ('runnable', 'blocked', 'off CPU')
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
    AND cpu IN (SELECT cpu FROM part)
  WINDOW earlier AS (
    PARTITION BY cpu
    ORDER BY start_ns, end_ns, global_tid
    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
  )
),
met AS MATERIALIZED (
  SELECT span_id AS part_id, by_id AS run_id, start_ns, end_ns
  FROM split_spans(
    -- The CPU of a part can be unknown.
    (SELECT time_spans(coalesce(cpu, -1), part_id, start_ns, end_ns) FROM part),
    (SELECT time_spans(cpu, run_id, start_ns, end_ns) FROM run)
  )
)
SELECT
  part.gpu_id,
  met.start_ns,
  met.end_ns,
  met.end_ns - met.start_ns AS dur_ns,
  part.cause,
  part.cpu,
  part.pid,
  part.tid,
  part.global_tid,
  run.global_tid AS taker_global_tid,
  part.gap_start_ns
FROM met
JOIN part
  ON part.part_id = met.part_id
LEFT JOIN run
  ON run.run_id = met.run_id
