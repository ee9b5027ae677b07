/*---
name: idle_os_call
summary: One row per interval in which a GPU idled and the launching thread was in an operating system call.
internal: true
present_if: [os_call]
stored: true
reads: [all_os_call, idle_part]
columns:
  - {name: gpu_id, type: id, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of the interval, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "End of the interval."}
  - {name: dur_ns, type: duration, unit: ns, doc: "end_ns - start_ns."}
  - {name: function_name, type: text, doc: "Function of the call."}
  - {name: call_id, type: id, doc: "Row ID of the call in the raw table."}
  - {name: stack_id, type: id, doc: "Stack of the call, in os_stack; null if none was recorded."}
  - {name: tid, type: id, doc: "Operating system ID of the thread, which launched the operation after the gap."}
  - {name: global_tid, type: id, doc: "The thread, unique across hosts and VMs."}
limits: >-
  The rows of host_part with the cause OS call, without the states of threads, which take longer to find. Of nested
  calls, the outermost counts.
---*/
WITH
thread AS MATERIALIZED (
  SELECT DISTINCT global_tid, gpu_id
  FROM idle_part
  WHERE part = 'outside CUDA API'
),
-- What is left of each call after the earlier ones of its thread: no two overlap.
call AS MATERIALIZED (
  SELECT *
  FROM (
    SELECT
      call_id,
      global_tid,
      max(start_ns, coalesce(max(end_ns) OVER earlier, start_ns)) AS start_ns,
      end_ns
    FROM all_os_call
    WHERE event_class = 27
      AND global_tid IN (SELECT global_tid FROM thread)
    WINDOW earlier AS (
      PARTITION BY global_tid
      ORDER BY start_ns, end_ns DESC, call_id
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    )
  )
  WHERE end_ns > start_ns
),
idle AS MATERIALIZED (
  SELECT row_number() OVER (ORDER BY gpu_id, start_ns) AS idle_id, gpu_id, start_ns, end_ns, tid, global_tid
  FROM idle_part
  WHERE part = 'outside CUDA API'
    AND overlap_ns((SELECT time_set(start_ns, end_ns) FROM call), start_ns, end_ns) > 0
),
event AS (
  SELECT global_tid, gpu_id, start_ns AS at_ns, idle_id, 0 AS call_id
  FROM idle
  UNION ALL
  SELECT global_tid, gpu_id, end_ns, -idle_id, 0
  FROM idle
  UNION ALL
  SELECT thread.global_tid, thread.gpu_id, call.start_ns, 0, call.call_id
  FROM thread
  JOIN call
    ON call.global_tid = thread.global_tid
  UNION ALL
  SELECT thread.global_tid, thread.gpu_id, call.end_ns, 0, -call.call_id
  FROM thread
  JOIN call
    ON call.global_tid = thread.global_tid
),
-- At most one interval of each kind is open at a time, so that the sums of IDs are IDs.
swept AS (
  SELECT
    at_ns AS start_ns,
    lead(at_ns) OVER (PARTITION BY global_tid, gpu_id ORDER BY at_ns) AS end_ns,
    sum(idle_id) OVER so_far AS idle_id,
    sum(call_id) OVER so_far AS call_id
  FROM event
  WINDOW so_far AS (PARTITION BY global_tid, gpu_id ORDER BY at_ns RANGE UNBOUNDED PRECEDING)
)
SELECT
  idle.gpu_id,
  swept.start_ns,
  swept.end_ns,
  swept.end_ns - swept.start_ns AS dur_ns,
  os_call.function_name,
  os_call.call_id,
  os_call.stack_id,
  idle.tid,
  idle.global_tid
FROM swept
JOIN idle
  ON idle.idle_id = swept.idle_id
JOIN all_os_call AS os_call
  ON os_call.call_id = swept.call_id
WHERE swept.end_ns > swept.start_ns
