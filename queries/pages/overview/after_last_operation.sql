/*---
name: after_last_operation
version: 3
title: Waits after the last GPU operation
summary: One row per process that waits for a GPU on which nothing runs anymore.
why: To name what hangs when the end of a capture has no GPU work.
kind: info
internal: true
tags: [communication, cuda, gpu]
reads:
  - all_call_without_work
  - all_cuda_call
  - all_gpu_busy
  - all_kernel
  - all_nccl_call
  - all_nvtx_name
  - all_nvtx_projection
  - capture_phase
  - process_device
  - string
requires: [cuda_call, gpu_busy]
params:
  - {name: at_least, type: duration, default: 1s, min: 0, doc: "Shortest wait."}
  - {name: at_least_pct, type: real, default: 50, min: 0, max: 100, doc: "A wait is a hang from this share of the capture on, in percent, wherever it ends."}
  - {name: times, type: real, default: 10, min: 1, doc: "A shorter wait is a hang from this multiple of the longest wait before it on, if it lasts until the capture ends."}
columns:
  - {name: pid, type: id, priority: 0, doc: "Operating system process ID."}
  - {name: kind, type: text, priority: 0, doc: "call: one call waits. polling: one query follows another. collective: a collective runs on the GPU until the end."}
  - {name: waits_in, type: text, label: "waits in", priority: 0, doc: "CUDA function, or operation of the collective."}
  - {name: wait_ns, type: duration, unit: ns, label: "wait", priority: 0, doc: "Its time after the last GPU operation of the process; of a collective, after the one before."}
  - {name: capture_ns, type: duration, unit: ns, label: "of", priority: 1, doc: "From the first CUDA call or GPU operation of any process to the last."}
  - {name: before_ns, type: duration, unit: ns, label: "longest before", priority: 1, doc: "Longest wait before in the process: in the same function, or another that synchronizes or copies; of a collective, the longest time of collectives. Null without one."}
  - {name: range_name, type: text, label: "collective", priority: 0, doc: "NVTX range of NCCL in which the process launched last, if none of its GPU work is recorded, or if it is the collective that runs; else null."}
  - {name: range_count, type: int, unit: count, label: "collectives", priority: 1, doc: "Ranges of that name and communicator in the process; null without one."}
  - {name: other_count, type: int, unit: count, label: "fewest elsewhere", priority: 1, doc: "Ranges of that name and communicator in the process that has fewest; null without one."}
  - {name: start_ns, type: timestamp, unit: ns, label: "since", priority: 1, doc: "When the wait begins, on the report's clock."}
  - {name: gpu_id, type: id, label: "GPU", priority: 1, doc: "GPU of the process; null if it uses several."}
  - {name: communicator, type: text, priority: 2, doc: "Communicator ID of the collective; null without a payload of NCCL."}
  - {name: place, type: int, label: "call", priority: 1, doc: "Place of the collective that waits, from 1, among the ranges of its name and communicator in the process: the first without GPU work, or the one that runs. Null without one."}
  - {name: missing, type: text, priority: 1, doc: "Processes that launched every call before it and not this one, with the GPU of each, at most four; null if there are none."}
  - {name: missing_count, type: int, unit: count, label: "missing processes", priority: 1, doc: "Number of these processes."}
checks:
  - wait_ns > 0
  - kind IN ('call', 'polling', 'collective')
limits: >-
  A wait lasts until the capture ends if at most a tenth of its length follows. Calls that neither synchronize nor copy,
  such as cudaFree, count only after a launch that never ran, because the profiler can delay them when a program ends.
  A collective needs at_least_pct, or another process that launched fewer, because it may only wait for a late rank.
  Calls that work on the CPU do not count: those that pin memory, allocate, load code or control the profiler. A query
  that returns 0, in a process in which others return 600, finds that the work is done, and does not count. NVTX ranges
  of NCCL have the names of its functions. A process counts as missing only if it launched all calls that have GPU work,
  and no more: so processes of another communicator do not count. No process is missing at the first call, or if the calls
  are in a group of NCCL.
see_also: [cuda_api_sync, launch_outcomes]
---*/
WITH
capture AS MATERIALIZED (
  SELECT min(start_ns) AS start_ns, max(end_ns) AS end_ns, max(end_ns) - min(start_ns) AS capture_ns
  FROM capture_phase
),
-- GROUP BY would sort all times.
last AS MATERIALIZED (
  SELECT v0 AS pid, v3 AS end_ns
  FROM json_rows(
    (
      SELECT extents(pid, start_ns, end_ns)
      FROM all_gpu_busy
      WHERE level = 'process'
        AND activity = 'any'
    )
  )
),
-- Calls are read only if a wait can be long enough.
quiet AS MATERIALIZED (
  SELECT last.pid, last.end_ns AS quiet_ns
  FROM last
  CROSS JOIN capture
  WHERE capture.end_ns - last.end_ns >= :at_least
),
later AS MATERIALIZED (
  SELECT
    quiet.pid,
    quiet.quiet_ns,
    call.call_id,
    call.name_id,
    call.api_name,
    call.return_value,
    call.start_ns,
    call.end_ns,
    call.global_tid
  FROM quiet
  JOIN all_cuda_call AS call
    ON call.pid = quiet.pid
  WHERE call.end_ns > quiet.quiet_ns
),
blocked AS (
  SELECT 'call' AS kind, pid, api_name, name_id, start_ns, max(start_ns, quiet_ns) AS from_ns, end_ns
  FROM later
  WHERE end_ns - max(start_ns, quiet_ns) >= :at_least
    AND NOT (api_name GLOB '*Host*' OR api_name GLOB '*Alloc*' OR api_name GLOB '*Malloc*')
    AND NOT (api_name GLOB '*Load*' OR api_name GLOB '*Profiler*')
),
query AS MATERIALIZED (
  SELECT *, start_ns - lag(end_ns) OVER (PARTITION BY global_tid, name_id ORDER BY start_ns, call_id) AS pause_ns
  FROM later
  WHERE api_name IN ('cudaEventQuery', 'cudaStreamQuery', 'cuEventQuery', 'cuStreamQuery')
    AND (
      return_value = 600
      OR NOT EXISTS (
        SELECT 1
        FROM all_cuda_call AS call
        WHERE call.pid = later.pid
          AND call.name_id = later.name_id
          AND call.return_value = 600
      )
    )
),
polled AS (
  SELECT
    'polling' AS kind,
    pid,
    api_name,
    name_id,
    min(start_ns) AS start_ns,
    max(min(start_ns), quiet_ns) AS from_ns,
    max(end_ns) AS end_ns
  FROM query
  GROUP BY pid, global_tid, name_id
  HAVING count(*) >= 10
    AND max(end_ns) - min(start_ns) >= max(:at_least, 4 * max(pause_ns))
),
-- Functions whose time is a wait for the GPU.
waiting AS MATERIALIZED (
  SELECT string_id AS name_id
  FROM (SELECT 1 FROM later LIMIT 1)
  CROSS JOIN string
  WHERE text GLOB 'cu*Synchronize*'
    OR text GLOB 'cu*Memcpy*'
),
-- Processes whose last launch never ran. Graphs that are traced as a whole have no work of their own.
unrun AS MATERIALIZED (
  SELECT DISTINCT call.global_tid >> 24 & 16777215 AS pid
  FROM (SELECT 1 FROM later LIMIT 1)
  CROSS JOIN all_call_without_work AS call
  JOIN string
    ON string.string_id = call.name_id
  WHERE call.start_ns > call.last_work_ns
    AND string.text GLOB '*Launch*'
    AND NOT (string.text GLOB '*HostFunc*' OR string.text GLOB '*GraphLaunch*')
),
by_call AS (
  SELECT
    kind,
    pid,
    api_name AS waits_in,
    start_ns,
    from_ns,
    end_ns,
    end_ns - from_ns AS wait_ns,
    (
      SELECT max(call.dur_ns)
      FROM all_cuda_call AS call
      WHERE call.pid = wait.pid
        AND call.start_ns < wait.start_ns
        AND (call.name_id = wait.name_id OR call.name_id IN (SELECT name_id FROM waiting))
    ) AS before_ns,
    kind = 'polling' OR name_id IN (SELECT name_id FROM waiting) OR pid IN (SELECT pid FROM unrun) AS is_sure
  FROM (
    SELECT *
    FROM blocked
    UNION ALL
    SELECT *
    FROM polled
  ) AS wait
),
-- A collective that runs until the end waits on the GPU.
communication AS MATERIALIZED (
  SELECT pid, start_ns, end_ns, dur_ns
  FROM all_gpu_busy
  WHERE level = 'process'
    AND activity = 'communication'
),
last_communication AS MATERIALIZED (
  SELECT communication.*
  FROM last
  JOIN communication
    ON communication.pid = last.pid
  WHERE communication.dur_ns >= :at_least
    AND last.end_ns - communication.end_ns <= communication.dur_ns / 10
),
by_collective AS (
  SELECT
    'collective' AS kind,
    pid,
    (
      SELECT collective(kernel.kernel_name)
      FROM all_kernel AS kernel
      WHERE kernel.pid = last_communication.pid
        AND kernel.start_ns >= last_communication.start_ns
        AND kernel.end_ns <= last_communication.end_ns
      ORDER BY collective(kernel.kernel_name) IS NULL, kernel.dur_ns DESC, kernel.kernel_id
      LIMIT 1
    ) AS waits_in,
    start_ns,
    start_ns AS from_ns,
    end_ns,
    dur_ns AS wait_ns,
    (
      SELECT max(communication.dur_ns)
      FROM communication
      WHERE communication.pid = last_communication.pid
        AND communication.end_ns < last_communication.start_ns
    ) AS before_ns,
    0 AS is_sure
  FROM last_communication
),
wait AS MATERIALIZED (
  SELECT *
  FROM by_call
  UNION ALL
  SELECT *
  FROM by_collective
  WHERE waits_in IS NOT NULL
),
called AS MATERIALIZED (
  SELECT name_id, replace(range_name, 'NCCL:', '') AS range_text
  -- Nothing is read if nothing waits.
  FROM (SELECT 1 FROM wait LIMIT 1)
  CROSS JOIN all_nvtx_name
  WHERE (range_name GLOB 'NCCL:nccl[A-Z]*' OR range_name GLOB 'nccl[A-Z]*')
    AND NOT (range_name GLOB '*ncclGroup*')
),
collective AS MATERIALIZED (
  SELECT
    range.pid,
    called.range_text,
    call.communicator,
    range.op_count,
    row_number() OVER (PARTITION BY range.pid ORDER BY range.start_ns DESC, range.range_id) AS nth
  FROM called
  JOIN all_nvtx_projection AS range
    ON range.name_id = called.name_id
  LEFT JOIN all_nccl_call AS call
    ON call.range_id = range.range_id
),
counted AS MATERIALIZED (
  SELECT
    pid,
    range_text,
    communicator,
    count(*) AS range_count,
    sum(op_count > 0) AS done_count,
    min(count(*)) OVER (PARTITION BY range_text, communicator) AS least_count
  FROM collective
  GROUP BY pid, range_text, communicator
),
used AS MATERIALIZED (
  SELECT pid, iif(min(gpu_id) = max(gpu_id), min(gpu_id), NULL) AS gpu_id
  FROM process_device
  GROUP BY pid
),
judged AS (
  SELECT
    wait.*,
    capture.capture_ns,
    capture.end_ns - wait.end_ns <= wait.wait_ns / 10 AS lasts,
    100.0 * wait.wait_ns >= :at_least_pct * capture.capture_ns AS is_most,
    collective.range_text AS range_name,
    collective.communicator,
    own.range_count,
    -- The one that runs has GPU work.
    own.done_count + (wait.kind <> 'collective') AS place,
    own.least_count AS other_count
  FROM wait
  CROSS JOIN capture
  LEFT JOIN collective
    ON collective.pid = wait.pid
    AND collective.nth = 1
    AND (collective.op_count = 0 OR wait.kind = 'collective')
  LEFT JOIN counted AS own
    ON own.pid = collective.pid
    AND own.range_text = collective.range_text
    AND own.communicator IS NOT DISTINCT FROM collective.communicator
),
hung AS (
  SELECT
    *,
    row_number() OVER (PARTITION BY pid ORDER BY kind = 'collective', wait_ns DESC, start_ns, waits_in) AS nth
  FROM judged
  WHERE CASE kind
      WHEN 'collective' THEN
        lasts
        AND (is_most OR other_count < range_count)
        AND wait_ns >= :times * coalesce(before_ns, 0)
      ELSE
        is_sure
        AND (is_most OR lasts AND wait_ns >= :times * before_ns)
    END
)
SELECT
  pid,
  kind,
  waits_in,
  wait_ns,
  capture_ns,
  before_ns,
  range_name,
  range_count,
  other_count,
  from_ns AS start_ns,
  (SELECT used.gpu_id FROM used WHERE used.pid = hung.pid) AS gpu_id,
  communicator,
  place,
  (
    SELECT group_concat(process, ', ')
    FROM (
      SELECT counted.pid || coalesce(' (GPU ' || used.gpu_id || ')', '') AS process
      FROM counted
      LEFT JOIN used
        ON used.pid = counted.pid
      WHERE counted.range_text = hung.range_name
        AND counted.communicator IS NOT DISTINCT FROM hung.communicator
        AND counted.range_count = hung.place - 1
      ORDER BY counted.pid
      LIMIT 4
    )
  ) AS missing,
  (
    SELECT count(*)
    FROM counted
    WHERE counted.range_text = hung.range_name
      AND counted.communicator IS NOT DISTINCT FROM hung.communicator
      AND counted.range_count = hung.place - 1
  ) AS missing_count
FROM hung
WHERE nth = 1
ORDER BY range_name IS NULL, wait_ns DESC, pid
