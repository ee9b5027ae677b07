/*---
name: idle_os_call
summary: One row per interval in which a GPU idled and the launching thread was in an operating system call.
internal: true
present_if: [os_call]
stored: true
reads: [all_os_call, idle_part, os_function]
rows_if: "EXISTS (SELECT 1 FROM all_os_call)"
columns:
  - {name: gpu_id, type: id, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of the interval, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "End of the interval."}
  - {name: dur_ns, type: duration, unit: ns, doc: "end_ns - start_ns."}
  - {name: function_name, type: text, doc: "Function of the call."}
  - {name: role, type: text, doc: "What the function waits for, as in os_function; null if for nothing that is known."}
  - {name: call_id, type: id, doc: "Row ID of the call in the raw table."}
  - {name: stack_id, type: id, doc: "Stack of the call, in os_stack; null if none was recorded."}
  - {name: tid, type: id, doc: "Operating system ID of the thread, which launched the operation after the gap."}
  - {name: global_tid, type: id, doc: "The thread, unique across hosts and VMs."}
limits: >-
  The rows of host_part with the cause OS call, without the states of threads, which take longer to find. Of nested
  calls, the outermost counts. Calls that wait for nothing, such as munmap, have rows for intervals of 10 µs or more:
  there can be millions of short ones.
---*/
WITH
idle AS MATERIALIZED (
  SELECT row_number() OVER (ORDER BY gpu_id, start_ns) AS idle_id, gpu_id, start_ns, end_ns, tid, global_tid
  FROM idle_part
  WHERE part = 'outside CUDA API'
    AND EXISTS (SELECT 1 FROM all_os_call)
),
waiting AS MATERIALIZED (
  SELECT name_id, role
  FROM os_function
  WHERE role NOT IN ('open', 'write')
),
-- Those that cannot wait have a negative ID.
call AS (
  SELECT global_tid, iif(name_id IN (SELECT name_id FROM waiting), call_id, -1 - call_id) AS call_id, start_ns, end_ns
  FROM all_os_call
  WHERE event_class = 27
    AND global_tid IN (SELECT global_tid FROM idle)
),
met AS MATERIALIZED (
  SELECT span_id AS idle_id, iif(by_id < 0, -1 - by_id, by_id) AS call_id, start_ns, end_ns
  FROM split_spans(
    (SELECT time_spans(global_tid, idle_id, start_ns, end_ns) FROM idle),
    (SELECT time_spans_apart(global_tid, call_id, start_ns, end_ns) FROM call)
  )
  WHERE by_id >= 0
    OR end_ns - start_ns >= 10000
)
SELECT
  idle.gpu_id,
  met.start_ns,
  met.end_ns,
  met.end_ns - met.start_ns AS dur_ns,
  os_call.function_name,
  waiting.role,
  os_call.call_id,
  os_call.stack_id,
  idle.tid,
  idle.global_tid
FROM met
JOIN idle
  ON idle.idle_id = met.idle_id
JOIN all_os_call AS os_call
  ON os_call.call_id = met.call_id
LEFT JOIN waiting
  ON waiting.name_id = os_call.name_id
