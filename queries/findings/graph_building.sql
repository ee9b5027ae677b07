/*---
name: graph_building
version: 2
title: The GPU waits for graphs to be built
summary: Idle time of a GPU while its thread captures, builds or updates graphs.
why: To see the cost of a CUDA graph that is built in each step instead of once.
kind: finding
tags: [api, cuda, gpu]
reads: [compute_gap_part, gpu_overlap, string]
requires: [compute_gap_part]
rows_if: EXISTS (SELECT 1 FROM string WHERE text GLOB '*GraphInstantiate*' OR text GLOB '*GraphExec*Set*' OR text GLOB '*GraphExecUpdate*')
finding:
  claim: "Graphs built anew: the GPU idles while the launching thread captures and instantiates CUDA graphs, again and again."
  ceiling: Time without a compute kernel in calls that create, instantiate, update or destroy graphs, and from the begin to the end of a capture, before the next launch.
  remedy: >-
    Instantiate each graph once and launch it again. Where only arguments change, read them from memory that stays in place, or use cudaGraphExecUpdate.
  in_pytorch: >-
    capture once with torch.cuda.graph, copy each input into the captured tensor, and replay(); with torch.compile, mark_dynamic for sizes that vary.
  link: https://docs.nvidia.com/cuda/cuda-programming-guide/04-special-topics/cuda-graphs.html
  narrows: [host_work, launch_bound]
  confidence: high
  frees: idle
params:
  - {name: least, type: duration, default: 5us, min: 0, doc: "Shortest interval to return."}
  - {name: least_count, type: int, default: 3, min: 1, doc: "Fewest instantiations and updates while the GPU idles."}
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: start_ns, type: timestamp, unit: ns, priority: 1, doc: "Start of the idle time, on the report's clock."}
  - {name: dur_ns, type: duration, unit: ns, priority: 1, doc: "Idle time in the call or the capture."}
  - {name: subject, type: text, label: "call", priority: 0, doc: "Function, or stream capture from the begin to the end of a capture."}
  - {name: after_name, type: text, label: "next operation", doc: "Operation that the GPU ran after the gap."}
limits: >-
  Graphs that are built once, such as at the start of a server, have no rows: instantiations or updates must span half of the time
  from the first kernel to the last one, and go on after half of the kernels. Code of the host between calls that add nodes to a graph does not count.
see_also: [jit_and_module_load, host_work, cuda_api_sum]
---*/
WITH
op AS (
  SELECT start_ns
  FROM gpu_overlap
  WHERE op_kind IN ('kernel', 'graph')
),
-- When half of the kernels have begun.
half AS MATERIALIZED (
  SELECT start_ns, (SELECT max(start_ns) - min(start_ns) FROM op) AS all_ns
  FROM op
  ORDER BY start_ns
  LIMIT 1 OFFSET (SELECT count(*) / 2 FROM op)
),
call AS MATERIALIZED (
  SELECT gpu_id, start_ns, end_ns, dur_ns, api_name, gap_start_ns, after_id, after_name
  FROM compute_gap_part
  WHERE part = 'other API call'
    AND (
      api_name GLOB '*GraphInstantiate*'
      OR api_name GLOB '*GraphCreate*'
      OR api_name GLOB '*GraphAdd*'
      OR api_name GLOB '*GraphClone*'
      OR api_name GLOB '*Graph*Destroy*'
      OR api_name GLOB '*Stream*Capture*'
      OR api_name GLOB '*GraphExec*Set*'
      OR api_name GLOB '*GraphExecUpdate*'
    )
),
is_rebuilt AS MATERIALIZED (
  SELECT
    coalesce(
      count(*) >= :least_count
      AND 2 * (max(start_ns) - min(start_ns)) >= (SELECT all_ns FROM half)
      AND max(start_ns) > (SELECT start_ns FROM half),
      false
    ) AS is_so
  FROM call
  WHERE api_name GLOB '*GraphInstantiate*'
    OR api_name GLOB '*GraphExec*Set*'
    OR api_name GLOB '*GraphExecUpdate*'
),
-- What a thread launches while it captures runs later. The gap may begin in the capture.
capture AS MATERIALIZED (
  SELECT
    gpu_id,
    gap_start_ns,
    iif(begin_ns < end_ns, begin_ns, gap_start_ns) AS start_ns,
    end_ns,
    after_id,
    after_name
  FROM (
    SELECT
      gpu_id,
      gap_start_ns,
      min(iif(api_name GLOB '*Stream*BeginCapture*', start_ns, NULL)) AS begin_ns,
      max(iif(api_name GLOB '*Stream*EndCapture*', end_ns, NULL)) AS end_ns,
      max(after_id) AS after_id,
      max(after_name) AS after_name
    FROM call
    GROUP BY gpu_id, gap_start_ns
  )
  WHERE end_ns IS NOT NULL
),
-- A call for each node of a graph, one after the other.
updates AS MATERIALIZED (
  SELECT
    gpu_id,
    gap_start_ns,
    min(start_ns) AS start_ns,
    max(end_ns) AS end_ns,
    max(api_name) AS api_name,
    max(after_id) AS after_id,
    max(after_name) AS after_name
  FROM call
  WHERE api_name GLOB '*GraphExec*Set*'
    OR api_name GLOB '*GraphExecUpdate*'
  GROUP BY gpu_id, gap_start_ns
),
found AS (
  SELECT gpu_id, start_ns, end_ns - start_ns AS dur_ns, api_name AS subject, after_name, after_id
  FROM updates
  UNION ALL
  SELECT gpu_id, start_ns, end_ns - start_ns, 'stream capture', after_name, after_id
  FROM capture
  UNION ALL
  SELECT call.gpu_id, call.start_ns, call.dur_ns, call.api_name, call.after_name, call.after_id
  FROM call
  LEFT JOIN capture
    ON capture.gpu_id = call.gpu_id
    AND capture.gap_start_ns = call.gap_start_ns
  WHERE NOT (call.api_name GLOB '*GraphExec*Set*' OR call.api_name GLOB '*GraphExecUpdate*')
    AND (capture.end_ns IS NULL OR call.start_ns >= capture.end_ns OR call.end_ns <= capture.start_ns)
)
SELECT gpu_id, start_ns, dur_ns, subject, after_name
FROM found
WHERE dur_ns >= :least
  AND (SELECT is_so FROM is_rebuilt)
ORDER BY gpu_id, start_ns, after_id
