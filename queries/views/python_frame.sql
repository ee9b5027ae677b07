/*---
name: python_frame
summary: One row per call of a Python function that PyTorch's profiler recorded.
present_if: [src_nvtx_event]
scope: {time: [start_ns, end_ns], process: pid, thread: global_tid}
reads: [all_nvtx_range]
columns:
  - {name: frame_id, type: id, doc: "Row ID of the range in the raw table."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of the call, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "End of the call."}
  - {name: dur_ns, type: duration, unit: ns, doc: "end_ns - start_ns, with the functions that it calls."}
  - {name: function_name, type: text, doc: "Function, such as forward; the whole text for built-in functions and modules, such as nn.Module: Linear_0."}
  - {name: file_name, type: text, doc: "Source file as recorded; null for built-in functions and modules."}
  - {name: line, type: int, doc: "Line of the function in file_name; null as file_name is."}
  - {name: pid, type: id, doc: "Operating system process ID."}
  - {name: tid, type: id, doc: "Operating system thread ID."}
  - {name: global_pid, type: id, doc: "Process ID, unique across hosts and VMs."}
  - {name: global_tid, type: id, doc: "Thread ID, unique across hosts and VMs."}
limits: >-
  Only PyTorch traces that were recorded with_stack=True and imported with --python-functions have rows. The Python
  samples of nsys (--python-sampling) are not read: its exports hold them as NVTX marks without their frames.
---*/
SELECT
  frame_id,
  start_ns,
  end_ns,
  end_ns - start_ns AS dur_ns,
  iif(is_source, substr(label, place + 3), label) AS function_name,
  iif(is_source, substr(rtrim(head, '0123456789'), 1, length(rtrim(head, '0123456789')) - 1), NULL) AS file_name,
  iif(is_source, cast(substr(head, length(rtrim(head, '0123456789')) + 1) AS INTEGER), NULL) AS line,
  global_tid >> 24 & 16777215 AS pid,
  global_tid & 16777215 AS tid,
  global_tid & -16777216 AS global_pid,
  global_tid
FROM (
  SELECT
    *,
    -- A name of Python code is FILE(LINE): FUNCTION.
    NOT label GLOB '<built-in *' AND head GLOB '*([0-9]*' AND rtrim(head, '0123456789') GLOB '*(' AS is_source
  FROM (
    SELECT
      range_id AS frame_id,
      start_ns,
      end_ns,
      global_tid,
      range_text AS label,
      instr(range_text, '): ') AS place,
      substr(range_text, 1, max(instr(range_text, '): '), 1) - 1) AS head
    FROM all_nvtx_range
    WHERE domain_name = 'python_function'
  )
)
