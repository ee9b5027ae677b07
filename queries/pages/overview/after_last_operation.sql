/*---
name: after_last_operation
version: 1
title: Waits after the last GPU operation
summary: One row per process that waits for a GPU on which nothing runs anymore.
why: To name what hangs when most of a capture has no GPU work.
kind: info
internal: true
tags: [communication, cuda, gpu]
reads: [all_cuda_call, all_gpu_busy, all_nvtx_name, all_nvtx_projection, capture_phase]
requires: [cuda_call, gpu_busy]
params:
  - {name: at_least_pct, type: real, default: 1, min: 0, max: 100, doc: "Smallest share of the time from the first CUDA call to the last, in percent. The first screen asks for 50."}
  - {name: at_least, type: duration, default: 0, min: 0, doc: "Shortest wait. The first screen asks for a second."}
columns:
  - {name: pid, type: id, priority: 0, doc: "Operating system process ID."}
  - {name: api_name, type: text, label: "call", priority: 0, doc: "CUDA call that waits longest after the last GPU operation of the process."}
  - {name: wait_ns, type: duration, unit: ns, label: "wait", priority: 0, doc: "Its time after that operation."}
  - {name: capture_ns, type: duration, unit: ns, label: "of", priority: 1, doc: "From the first CUDA call or GPU operation of any process to the last."}
  - {name: range_name, type: text, label: "collective", priority: 0, doc: "NVTX range of NCCL in which the process launched last, if none of its GPU work is recorded; else null."}
  - {name: range_count, type: int, unit: count, label: "collectives", priority: 1, doc: "Ranges of that name in the process; null without one."}
  - {name: other_count, type: int, unit: count, label: "fewest elsewhere", priority: 1, doc: "Ranges of that name in the process that has fewest; null without one."}
checks:
  - wait_ns > 0
limits: A wait that ends before the capture does counts, too. NVTX ranges of NCCL have the names of its functions, such as ncclAllReduce.
see_also: [cuda_api_sync, launch_outcomes]
---*/
WITH
capture AS MATERIALIZED (
  SELECT min(start_ns) AS start_ns, max(end_ns) AS end_ns, max(end_ns) - min(start_ns) AS capture_ns
  FROM capture_phase
),
last AS MATERIALIZED (
  SELECT pid, max(end_ns) AS end_ns
  FROM all_gpu_busy
  WHERE level = 'process'
    AND activity = 'any'
  GROUP BY pid
),
-- Calls are read only if a wait can be long enough.
quiet AS MATERIALIZED (
  SELECT last.pid, last.end_ns, capture.capture_ns
  FROM last
  CROSS JOIN capture
  WHERE capture.end_ns - last.end_ns >= max(:at_least, capture.capture_ns * :at_least_pct / 100)
),
waiting AS (
  SELECT
    quiet.pid,
    quiet.end_ns AS quiet_ns,
    quiet.capture_ns,
    call.api_name,
    call.end_ns - max(call.start_ns, quiet.end_ns) AS wait_ns,
    row_number() OVER (
      PARTITION BY quiet.pid
      ORDER BY call.end_ns - max(call.start_ns, quiet.end_ns) DESC, call.call_id
    ) AS nth
  FROM quiet
  JOIN all_cuda_call AS call
    ON call.pid = quiet.pid
  WHERE call.end_ns > quiet.end_ns
),
hung AS MATERIALIZED (
  SELECT *
  FROM waiting
  WHERE nth = 1
    AND (api_name GLOB '*Synchronize*' OR api_name GLOB '*Memcpy*')
    AND wait_ns >= max(:at_least, capture_ns * :at_least_pct / 100)
),
called AS MATERIALIZED (
  SELECT name_id, replace(range_name, 'NCCL:', '') AS range_text
  -- Nothing is read if nothing hangs.
  FROM (SELECT 1 FROM hung LIMIT 1)
  CROSS JOIN all_nvtx_name
  WHERE (range_name GLOB 'NCCL:nccl[A-Z]*' OR range_name GLOB 'nccl[A-Z]*')
    AND NOT (range_name GLOB '*ncclGroup*')
),
collective AS MATERIALIZED (
  SELECT
    range.pid,
    called.range_text,
    range.op_count,
    row_number() OVER (PARTITION BY range.pid ORDER BY range.start_ns DESC, range.range_id) AS nth
  FROM called
  JOIN all_nvtx_projection AS range
    ON range.name_id = called.name_id
),
counted AS MATERIALIZED (
  SELECT pid, range_text, count(*) AS range_count
  FROM collective
  GROUP BY pid, range_text
)
SELECT
  hung.pid,
  hung.api_name,
  hung.wait_ns,
  hung.capture_ns,
  collective.range_text AS range_name,
  (SELECT range_count FROM counted WHERE counted.pid = hung.pid AND counted.range_text = collective.range_text)
    AS range_count,
  (SELECT min(range_count) FROM counted WHERE counted.range_text = collective.range_text) AS other_count
FROM hung
LEFT JOIN collective
  ON collective.pid = hung.pid
  AND collective.nth = 1
  AND collective.op_count = 0
ORDER BY hung.wait_ns DESC, hung.pid
