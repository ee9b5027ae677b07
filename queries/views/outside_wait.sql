/*---
name: outside_wait
summary: One row per interval in which a GPU idled and the launching thread waited for something outside.
internal: true
present_if: [os_call, python_frame]
stored: true
reads: [all_os_call, all_python_frame, idle_os_call, idle_part]
rows_if: "EXISTS (SELECT 1 FROM all_os_call) OR EXISTS (SELECT 1 FROM all_python_frame)"
columns:
  - {name: gpu_id, type: id, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of the interval, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "End of the interval."}
  - {name: dur_ns, type: duration, unit: ns, doc: "end_ns - start_ns."}
  - {name: function_name, type: text, doc: "Function that the thread waited in, such as epoll_wait; of Python, FILE(LINE): FUNCTION."}
  - {name: call_id, type: id, doc: "Row ID of the call in the raw table; of a Python function, -1 minus its ID."}
  - {name: global_tid, type: id, doc: "The thread, unique across hosts and VMs."}
limits: >-
  What the thread waited for is not recorded: a request, another process, or a time. Waits for other threads of the
  process, such as pthread_cond_wait, are not here, nor are reads, which may be slow files, and receives right after
  sends of a quarter of their time, which are exchanges. Of Python, functions that
  poll, select, accept, receive messages of ZeroMQ or sleep count where no OS calls were recorded, but not within
  multiprocessing and PyTorch, whose workers load data.
---*/
WITH
-- What is received right after much was sent is the other half of an exchange.
called AS (
  SELECT
    *,
    lag(function_name IN ('send', 'sendto', 'sendmsg', 'sendmmsg', 'write', 'writev')) OVER earlier AS sends_before,
    lag(dur_ns) OVER earlier AS before_dur_ns,
    lag(end_ns) OVER earlier AS before_end_ns
  FROM idle_os_call
  WINDOW earlier AS (PARTITION BY gpu_id, global_tid ORDER BY start_ns, call_id)
),
idle AS MATERIALIZED (
  SELECT part_id, gpu_id, start_ns, end_ns, global_tid
  FROM idle_part
  WHERE part = 'outside CUDA API'
    AND EXISTS (SELECT 1 FROM all_python_frame)
    AND NOT EXISTS (SELECT 1 FROM all_os_call)
),
frame AS MATERIALIZED (
  SELECT
    global_tid,
    frame_id,
    start_ns,
    end_ns,
    coalesce(file_name GLOB '*multiprocessing/*' OR is_torch, 0) AS is_own,
    coalesce(file_name || '(' || line || '): ', '') || function_name AS place
  FROM all_python_frame
  WHERE EXISTS (SELECT 1 FROM idle)
    AND (
      file_name GLOB '*multiprocessing/*'
      OR file_name GLOB '*torch/utils/data/*'
      OR file_name GLOB '*selectors.py' AND function_name = 'select'
      OR file_name GLOB '*zmq/*' AND (function_name = 'poll' OR function_name GLOB 'recv*')
      OR file_name GLOB '*socket.py' AND function_name IN ('accept', 'readinto')
      OR function_name GLOB '<built-in * sleep*'
      OR function_name GLOB '<built-in method poll of select.*'
    )
),
apart AS (
  SELECT span_id AS part_id, by_id AS frame_id, start_ns, end_ns
  FROM split_spans(
    (SELECT time_spans(global_tid, part_id, start_ns, end_ns) FROM idle),
    (SELECT time_spans_apart(global_tid, frame_id, start_ns, end_ns) FROM frame)
  )
  WHERE by_id IS NOT NULL
)
SELECT gpu_id, start_ns, end_ns, dur_ns, function_name, call_id, global_tid
FROM called
WHERE role IN ('event', 'receive', 'sleep')
  AND NOT coalesce(
    role = 'receive'
      AND sends_before
      AND 4 * before_dur_ns >= dur_ns
      AND start_ns - before_end_ns < 1000000,
    0
  )
UNION ALL
SELECT
  idle.gpu_id,
  apart.start_ns,
  apart.end_ns,
  apart.end_ns - apart.start_ns AS dur_ns,
  frame.place AS function_name,
  -1 - frame.frame_id AS call_id,
  idle.global_tid
FROM apart
JOIN idle
  ON idle.part_id = apart.part_id
JOIN frame
  ON frame.frame_id = apart.frame_id
WHERE NOT frame.is_own
