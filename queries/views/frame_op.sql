/*---
name: frame_op
summary: One row per GPU operation and Python call that launched it, by modules and by functions.
internal: true
stored: true
present_if: [python_frame]
scope: {time: [start_ns, end_ns], process: pid, op: [op_kind, op_id]}
reads: [all_python_frame, launch, launch_place]
columns:
  - {name: op_kind, type: text, doc: "Kind of operation: kernel, memcpy or memset."}
  - {name: op_id, type: id, doc: "Row ID in the raw table of this op_kind."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of the operation, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "End of the operation."}
  - {name: dur_ns, type: duration, unit: ns, doc: "end_ns - start_ns."}
  - {name: pid, type: id, doc: "Operating system process ID."}
  - {name: global_pid, type: id, doc: "Process ID, unique across hosts and VMs."}
  - {name: frame_kind, type: text, doc: "module or function: each operation has rows of both kinds."}
  - {name: frame_id, type: id, doc: "Call of the module or function, a frame of python_frame; null outside all of its kind."}
  - {name: place, type: text, doc: "Module, such as Linear_0, or function, as FILE(LINE): FUNCTION; null as frame_id is."}
  - {name: is_innermost, type: bool, doc: "1 for the module or function that launched the operation itself, and outside all: each operation has one of these rows of each kind."}
  - {name: is_backward, type: bool, doc: "1 if the operation is of a backward pass: its module or function is that of the forward operator."}
  - {name: outside, type: text, doc: "Why it is outside all modules or functions: no API row, or none was called; null if it is in one."}
limits: >-
  All modules around a launch have a row, from the outermost to the innermost; of the functions outside of PyTorch's own
  files, only the innermost has. Only calls on the thread that launched the operation count, or on the thread of its forward
  operator. Built-in functions have no file, so the function that calls them counts.
---*/
WITH
frame AS MATERIALIZED (
  SELECT
    frame_id,
    start_ns,
    end_ns,
    global_tid,
    iif(module_name IS NULL, 'function', 'module') AS frame_kind,
    coalesce(module_name, file_name || '(' || line || '): ' || function_name) AS place
  FROM all_python_frame
  WHERE end_ns > start_ns
    AND (module_name IS NOT NULL OR NOT is_torch)
),
called AS (
  SELECT
    asked.call_id,
    asked.is_forward,
    frame.frame_kind,
    frame.frame_id,
    frame.place,
    row_number() OVER (
      PARTITION BY asked.place_id, frame.frame_kind
      ORDER BY frame.start_ns DESC, frame.end_ns, frame.frame_id DESC
    ) AS nth,
    min(asked.is_forward) OVER (PARTITION BY asked.call_id, frame.frame_kind) AS first_kind
  FROM split_spans(
    (SELECT time_spans(global_tid, place_id, at_ns, at_ns + 1) FROM launch_place),
    (SELECT time_spans(global_tid, frame_id, start_ns, end_ns) FROM frame)
  ) AS span
  JOIN frame
    ON frame.frame_id = span.by_id
  JOIN launch_place AS asked
    ON asked.place_id = span.span_id
),
-- A module or function around the call itself is nearer than one of a forward operator.
chosen AS MATERIALIZED (
  SELECT call_id, is_forward, frame_kind, frame_id, place, nth
  FROM called
  WHERE is_forward = first_kind
    AND (nth = 1 OR frame_kind = 'module')
),
kind (frame_kind, reason) AS (
  VALUES ('module', 'no module was called'), ('function', 'no Python function was called')
)
SELECT
  launch.op_kind,
  launch.op_id,
  launch.start_ns,
  launch.end_ns,
  launch.dur_ns,
  launch.pid,
  launch.global_pid,
  kind.frame_kind,
  chosen.frame_id,
  chosen.place,
  coalesce(chosen.nth, 1) = 1 AS is_innermost,
  coalesce(chosen.is_forward, 0) AS is_backward,
  CASE
    WHEN launch.call_id IS NULL THEN 'no API row'
    WHEN chosen.call_id IS NULL THEN kind.reason
  END AS outside
FROM launch
CROSS JOIN kind
LEFT JOIN chosen
  ON chosen.call_id = launch.call_id
  AND chosen.frame_kind = kind.frame_kind
