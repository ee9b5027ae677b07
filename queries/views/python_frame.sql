/*---
name: python_frame
summary: One row per call of a Python function that the profiler of PyTorch or JAX recorded.
present_if: [src_python_frame]
scope: {time: [start_ns, end_ns], process: pid, thread: global_tid}
reads: [src_python_frame, src_string_id]
columns:
  - {name: frame_id, type: id, doc: "Row ID of the call in the raw table."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of the call, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "End of the call."}
  - {name: dur_ns, type: duration, unit: ns, doc: "end_ns - start_ns, with the functions that it calls."}
  - {name: function_name, type: text, doc: "Function, such as forward; the whole text for built-in functions and modules, such as nn.Module: Linear_0."}
  - {name: file_name, type: text, doc: "Source file as recorded; null for built-in functions and modules."}
  - {name: line, type: int, doc: "Line of the function in file_name; null as file_name is."}
  - {name: module_name, type: text, doc: "Module of PyTorch that is called, such as Linear_0; null for other functions."}
  - {name: is_torch, type: bool, doc: "Whether file_name belongs to PyTorch; null as file_name is."}
  - {name: is_program, type: bool, doc: "Whether it may be work of the program: not where is_torch, except in torch/cuda, torch/optim, torch/utils/data and collectives of objects, and not where Python waits for another thread or process (multiprocessing, queue.py, selectors.py, threading.py); null as file_name is."}
  - {name: pid, type: id, doc: "Operating system process ID; 0 for threads that the profiler does not know."}
  - {name: tid, type: id, doc: "Operating system thread ID; 0 as pid is."}
  - {name: global_pid, type: id, doc: "Process ID, unique across hosts and VMs."}
  - {name: global_tid, type: id, doc: "Thread ID, unique across hosts and VMs."}
limits: >-
  Only traces that were recorded with with_stack=True have rows. Of more than 250,000 calls, only nsq import
  --python-functions imports any. The Python samples of nsys (--python-sampling) are not read: its exports hold them as
  NVTX marks without their frames.
---*/
WITH
-- PyTorch writes FILE(LINE): FUNCTION, and JAX $FILE:LINE FUNCTION.
named AS (
  SELECT
    id,
    value AS label,
    instr(value, '): ') AS place,
    substr(value, 1, max(instr(value, '): '), 1) - 1) AS head,
    instr(value, ' ') AS space
  FROM src_string_id
  WHERE id IN (SELECT nameId FROM src_python_frame)
),
split AS (
  SELECT
    *,
    NOT label GLOB '<built-in *' AND head GLOB '*([0-9]*' AND rtrim(head, '0123456789') GLOB '*(' AS is_torch_style,
    label GLOB '$*:[0-9]* *' AS is_jax_style
  FROM named
),
name AS (
  SELECT
    id,
    CASE
      WHEN is_torch_style THEN substr(label, place + 3)
      WHEN is_jax_style THEN substr(label, space + 1)
      ELSE label
    END AS function_name,
    CASE
      WHEN is_torch_style
        THEN substr(rtrim(head, '0123456789'), 1, length(rtrim(head, '0123456789')) - 1)
      WHEN is_jax_style
        THEN rtrim(rtrim(substr(label, 2, space - 2), '0123456789'), ':')
    END AS file_name,
    CASE
      WHEN is_torch_style THEN cast(substr(head, length(rtrim(head, '0123456789')) + 1) AS INTEGER)
      WHEN is_jax_style
        THEN cast(substr(label, length(rtrim(substr(label, 1, space - 1), '0123456789')) + 1, 9) AS INTEGER)
    END AS line,
    iif(label GLOB 'nn.Module: ?*', substr(label, 12), NULL) AS module_name
  FROM split
),
file AS (
  SELECT
    *,
    '/' || file_name AS path,
    -- Files are relative to the packages, or absolute. Other packages have folders of this name, too.
    CASE
      WHEN file_name GLOB '/*' OR file_name GLOB '*packages/*' THEN file_name GLOB '*/torch/*'
      ELSE file_name GLOB 'torch/*'
    END AS is_torch
  FROM name
),
owned AS MATERIALIZED (
  SELECT
    *,
    (
      NOT is_torch
      OR file_name GLOB '*torch/cuda/*'
      OR file_name GLOB '*torch/optim/*'
      OR file_name GLOB '*torch/utils/data/*'
      -- Objects of Python are pickled and sent by the CPU.
      OR file_name GLOB '*torch/distributed/distributed_c10d.py' AND function_name GLOB '*_object*'
    )
    AND NOT file_name GLOB '*multiprocessing/*'
    AND NOT path GLOB '*/queue.py'
    AND NOT path GLOB '*/selectors.py'
    AND NOT path GLOB '*/threading.py' AS is_program
  FROM file
)
SELECT
  frame.row_id AS frame_id,
  frame.start AS start_ns,
  frame."end" AS end_ns,
  frame."end" - frame.start AS dur_ns,
  owned.function_name,
  owned.file_name,
  owned.line,
  owned.module_name,
  owned.is_torch,
  owned.is_program,
  frame.globalTid >> 24 & 16777215 AS pid,
  frame.globalTid & 16777215 AS tid,
  frame.globalTid & -16777216 AS global_pid,
  frame.globalTid AS global_tid
FROM src_python_frame AS frame
JOIN owned
  ON owned.id = frame.nameId
