/*---
name: dataloader_wait
version: 1
title: The GPU waits for a data loader
summary: Idle time of a GPU while the launching thread waits for loading workers.
why: To see whether the workers of the input pipeline are too slow or too few.
kind: finding
tags: [gpu, nvtx, osrt]
reads: [idle_os_call, nvtx_name, nvtx_projection, os_stack]
requires: [idle_part, os_call]
finding:
  claim: "Data loading: the GPU idles while the launching thread waits in an OS call for data from another process, thread or file."
  ceiling: Idle time in OS calls that wait, in ranges that load data or called by Python's multiprocessing, before the next launch.
  remedy: >-
    Use more loading threads or processes, prefetch more, or make each sample cheaper.
  in_pytorch: >-
    DataLoader(num_workers=..., prefetch_factor=..., persistent_workers=True); DALI decodes on the GPU.
  link: https://docs.pytorch.org/docs/stable/data.html
  narrows: [data_loading, host_work, iteration_border, launch_bound]
  confidence: medium
  frees: idle
params:
  - {name: least, type: duration, default: 20us, min: 0, doc: "Shortest interval to return."}
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: start_ns, type: timestamp, unit: ns, priority: 1, doc: "Start of the interval, on the report's clock."}
  - {name: dur_ns, type: duration, unit: ns, priority: 1, doc: "Idle time in the call."}
  - {name: subject, type: text, label: "OS call", priority: 0, doc: "Function that the thread waited in, such as poll."}
  - {name: call_id, type: id, label: "call", priority: 3, doc: "Row ID of the call in the raw table; os_call has it."}
  - {name: tid, type: id, label: "thread", doc: "Operating system ID of the thread that launched the next operation."}
limits: >-
  A wait counts if a frame of its stack is in the Python modules select, _multiprocessing or _queue, or if it overlaps an
  NVTX range that loads data, found by its name as in data_loading. Waits for other processes that use the same modules
  count too. Short calls have no stack.
see_also: [data_loading, host_work, gpu_idle_host]
---*/
WITH
waited AS MATERIALIZED (
  SELECT gpu_id, start_ns, end_ns, dur_ns, function_name, call_id, stack_id, tid, global_tid
  FROM idle_os_call
  WHERE dur_ns >= :least
    AND role IN ('event', 'process', 'read', 'receive', 'thread')
),
loader AS MATERIALIZED (
  SELECT stack_id
  FROM os_stack
  WHERE module_name GLOB 'select.*'
    OR module_name GLOB '_multiprocessing.*'
    OR module_name GLOB '_queue.*'
),
-- The phase data also has names such as preprocess, h2d and batch_to_device, which do not load.
loading AS MATERIALIZED (
  SELECT name_id
  FROM nvtx_name
  WHERE phase = 'data'
    AND (
      lower(layer_name) GLOB '*load*'
      OR lower(layer_name) GLOB '*fetch*'
      OR lower(layer_name) GLOB '*iter*'
      OR lower(layer_name) GLOB '*generat*'
      OR lower(layer_name) GLOB '*read*'
      OR lower(layer_name) GLOB '*get[_ -]*'
      OR lower(layer_name) GLOB '*next[_ -]*'
    )
),
range AS MATERIALIZED (
  SELECT time_set(global_tid, start_ns, end_ns) AS times
  FROM nvtx_projection
  WHERE name_id IN (SELECT name_id FROM loading)
)
SELECT
  waited.gpu_id,
  waited.start_ns,
  waited.dur_ns,
  waited.function_name AS subject,
  waited.call_id,
  waited.tid
FROM waited
WHERE waited.stack_id IN (SELECT stack_id FROM loader)
  OR overlap_ns((SELECT times FROM range), waited.global_tid, waited.start_ns, waited.end_ns) > 0
ORDER BY waited.gpu_id, waited.start_ns, waited.call_id
