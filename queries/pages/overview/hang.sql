/*---
name: hang
version: 1
title: Whether the program hangs
summary: What a program waits for until the capture ends, in one row if it hangs.
why: To check why the page calls the end of a capture a hang. The order of the verdicts is one list in the statement.
kind: info
internal: true
tags: [capture, gpu]
reads: []
asks:
  - {query: after_last_call, optional: true}
  - {query: after_last_operation, optional: true}
  - {query: launch_outcomes, optional: true}
columns:
  - {name: verdict, type: text, priority: 0, doc: "hang_missing: processes did not launch a collective that others did; hang_collective: a collective runs until the end; hang_wait: a call waits, or queries poll; hang_queued: launched work never ran; hang_lock: the main thread waits for a lock; long_wait: it waits for another thread for most of the capture."}
  - {name: pid, type: id, priority: 0, doc: "Process that waits; of hang_missing, the first one."}
  - {name: kind, type: text, priority: 1, doc: "call, polling or collective, as in after_last_operation; null for waits after the last call."}
  - {name: waits_in, type: text, label: "waits in", priority: 0, doc: "Function, or operation of the collective."}
  - {name: wait_ns, type: duration, unit: ns, label: "wait", priority: 0, doc: "Time in it."}
  - {name: wait_pct, type: percent, unit: percent, label: "% of capture", priority: 0, doc: "wait_ns as a share of the capture."}
  - {name: start_ns, type: timestamp, unit: ns, label: "since", priority: 1, doc: "When the wait begins, on the report's clock; null for waits after the last call."}
  - {name: after_ns, type: duration, unit: ns, label: "after the last call", priority: 2, doc: "Of hang_queued, from the last call to the end; else null."}
  - {name: range_name, type: text, label: "collective", priority: 1, doc: "NVTX range of NCCL with the collective that does not end; null without one."}
  - {name: place, type: int, label: "call", priority: 1, doc: "Place of this collective among those of its name, from 1; null without one."}
  - {name: range_count, type: int, unit: count, label: "collectives", priority: 2, doc: "Collectives of this name that the process launched, where another process launched fewer; else null."}
  - {name: other_count, type: int, unit: count, label: "fewest elsewhere", priority: 2, doc: "Those of the process with fewest; null as range_count."}
  - {name: missing, type: text, priority: 1, doc: "Of hang_missing, processes that did not launch it, with the GPU of each, at most four; else null."}
  - {name: missing_count, type: int, unit: count, label: "missing processes", priority: 2, doc: "Number of these processes; null as missing."}
  - {name: present, type: text, priority: 1, doc: "Of hang_missing, processes that launched it and wait the same way, with the GPU of each, at most four; else null."}
  - {name: present_count, type: int, unit: count, label: "present processes", priority: 2, doc: "Number of these processes; null as present."}
  - {name: launch_count, type: int, unit: count, label: "launches", priority: 1, doc: "Of hang_queued, launches that had not run when the capture ended; else null."}
  - {name: process_count, type: int, unit: count, label: "processes", priority: 1, doc: "Processes of these launches; null as launch_count."}
checks:
  - wait_ns > 0
  - (verdict = 'hang_missing') = (missing IS NOT NULL)
limits: See after_last_operation and after_last_call. A collective can also wait for a rank that is very late.
see_also: [after_last_call, after_last_operation, launch_outcomes]
---*/
WITH
-- A collective that some processes did not launch says most.
wait AS MATERIALIZED (
  SELECT *
  FROM after_last_operation
  ORDER BY coalesce(missing, '') <> '' DESC, rowid
  LIMIT 1
),
present AS MATERIALIZED (
  SELECT
    process.pid || coalesce(' (GPU ' || process.gpu_id || ')', '') AS name,
    row_number() OVER (ORDER BY process.rowid) AS nth
  FROM wait
  JOIN after_last_operation AS process
    ON process.range_name IS NOT DISTINCT FROM wait.range_name
    AND process.communicator IS NOT DISTINCT FROM wait.communicator
    AND process.place IS NOT DISTINCT FROM wait.place
    AND process.waits_in = wait.waits_in
  WHERE wait.missing <> ''
),
queued AS MATERIALIZED (
  SELECT coalesce(sum(launch_count), 0) AS launch_count, count(DISTINCT pid) AS process_count
  FROM launch_outcomes
  WHERE outcome = 'queued'
),
-- The main thread after the last call.
main AS MATERIALIZED (
  SELECT *
  FROM after_last_call
  WHERE rowid = 1
),
-- The first one that fits.
ended AS MATERIALIZED (
  SELECT
    CASE
      WHEN missing <> '' THEN 'hang_missing'
      WHEN kind = 'collective' THEN 'hang_collective'
      ELSE 'hang_wait'
    END AS verdict,
    pid,
    kind,
    waits_in,
    wait_ns,
    capture_ns,
    start_ns,
    NULL AS after_ns,
    range_name,
    place,
    range_name IS NOT NULL AND other_count < range_count AS is_ahead,
    range_count,
    other_count,
    nullif(missing, '') AS missing,
    missing_count
  FROM wait
  UNION ALL
  SELECT
    CASE
      -- The profiler alone can take some seconds when a program ends, but it leaves no launches.
      WHEN after_ns >= 5000000000 AND (SELECT launch_count FROM queued) >= 10 THEN 'hang_queued'
      WHEN waits = 'lock' THEN 'hang_lock'
      WHEN waits IS NOT NULL AND 2 * total_ns >= capture_ns THEN 'long_wait'
    END,
    pid,
    NULL,
    function_name,
    total_ns,
    capture_ns,
    NULL,
    after_ns,
    NULL,
    NULL,
    0,
    NULL,
    NULL,
    NULL,
    NULL
  FROM main
  WHERE NOT EXISTS (SELECT 1 FROM wait)
)
SELECT
  ended.verdict,
  ended.pid,
  ended.kind,
  ended.waits_in,
  ended.wait_ns,
  100.0 * ended.wait_ns / ended.capture_ns AS wait_pct,
  ended.start_ns,
  iif(ended.verdict = 'hang_queued', ended.after_ns, NULL) AS after_ns,
  ended.range_name,
  ended.place,
  iif(ended.is_ahead, ended.range_count, NULL) AS range_count,
  iif(ended.is_ahead, ended.other_count, NULL) AS other_count,
  ended.missing,
  iif(ended.missing IS NULL, NULL, ended.missing_count) AS missing_count,
  (SELECT group_concat(name, ', ') FROM (SELECT name FROM present WHERE nth <= 4 ORDER BY nth)) AS present,
  (SELECT nullif(count(*), 0) FROM present) AS present_count,
  iif(ended.verdict = 'hang_queued', queued.launch_count, NULL) AS launch_count,
  iif(ended.verdict = 'hang_queued', queued.process_count, NULL) AS process_count
FROM ended
CROSS JOIN queued
WHERE ended.verdict IS NOT NULL
ORDER BY ended.verdict
