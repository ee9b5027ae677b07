/*---
name: message_doubt
summary: One row per subject of the warnings and errors of nsys about the capture.
internal: true
present_if: [diagnostic]
stored: true
reads: [all_cuda_call, diagnostic, nvtx_range, process_device]
rows_if: "EXISTS (SELECT 1 FROM diagnostic WHERE severity IN ('Warning', 'Error'))"
columns:
  - {name: priority, type: int, doc: "Order in capture_trust, lowest first; the hundreds are explained there."}
  - {name: severity, type: text, doc: "partial, distorted or note, as in capture_trust."}
  - {name: problem, type: text, doc: "What is missing or distorted."}
  - {name: detail, type: text, doc: "What that means here, with the numbers of this report."}
  - {name: remedy, type: text, doc: "How to record it better."}
limits: >-
  nsys often warns that events may be missing although none are. Warnings about processes that do not use CUDA are one
  row. The relation diagnostic hides texts that nsq does not know.
---*/
WITH
message AS (
  SELECT
    severity,
    message,
    global_pid,
    CASE
      WHEN message GLOB 'Installed CUDA driver version*' THEN 'driver'
      WHEN message GLOB '*CUDA events*' OR message GLOB 'CUDA profiling*' THEN 'cuda'
      WHEN message GLOB '*NVTX events*' THEN 'nvtx'
      ELSE 'other'
    END AS about
  FROM diagnostic
  WHERE severity IN ('Warning', 'Error')
),
cuda_process AS (
  SELECT global_pid
  FROM process_device
  WHERE global_pid IS NOT NULL
  UNION
  SELECT global_pid
  FROM all_cuda_call
  WHERE global_pid IS NOT NULL
    AND EXISTS (SELECT 1 FROM message)
),
subject AS (
  SELECT
    CASE
      WHEN about = 'driver' OR severity = 'Error' THEN about
      WHEN global_pid NOT IN (SELECT global_pid FROM cuda_process) THEN 'helper'
      ELSE about
    END AS about,
    count(*) AS messages,
    count(DISTINCT global_pid) AS processes,
    count(*) FILTER (WHERE severity = 'Error') AS errors,
    min(message) AS first_message
  FROM message
  GROUP BY 1
)
SELECT
  220 AS priority,
  'partial' AS severity,
  'CUDA events may be missing' AS problem,
  printf(
    'nsys warns about %s: "%s"',
    iif(processes = 0, 'the capture', printf('%d of the processes that use CUDA', processes)),
    first_message
  ) AS detail,
  'let the program end by itself after cudaDeviceSynchronize(), or nsys profile --cuda-flush-interval=1000' AS remedy
FROM subject
WHERE about = 'cuda'
UNION ALL
SELECT
  230,
  'partial',
  'nsys is older than the driver',
  printf(
    'Kernels and calls may be missing: "%s"',
    -- The first sentence says it.
    substr(first_message, 1, iif(instr(first_message, '. '), instr(first_message, '. '), length(first_message)))
  ),
  'a version of nsys that is as new as the driver'
FROM subject
WHERE about = 'driver'
UNION ALL
SELECT
  420,
  'note',
  'NVTX ranges may be missing',
  printf(
    'nsys warns about %s: "%s"',
    iif(processes = 0, 'the capture', printf('%d of the processes that use CUDA', processes)),
    first_message
  ),
  'let the program end by itself, after its last range'
FROM subject
WHERE about = 'nvtx'
  AND EXISTS (SELECT 1 FROM nvtx_range)
UNION ALL
SELECT
  440,
  'note',
  'other messages of nsys',
  printf(
    '%s%s%s. nsq hides their texts, because they may name files and commands.',
    iif(errors > 0, printf('%d %s', errors, iif(errors = 1, 'error', 'errors')), ''),
    iif(errors BETWEEN 1 AND messages - 1, ' and ', ''),
    iif(
      messages > errors,
      printf('%d %s', messages - errors, iif(messages - errors = 1, 'warning', 'warnings')),
      ''
    )
  ),
  'open the report in Nsight Systems to read them'
FROM subject
WHERE about = 'other'
UNION ALL
SELECT
  450,
  'note',
  'processes without CUDA work',
  printf(
    '%d %s about %d %s without CUDA work%s. Normal for launcher processes. '
      || 'If one is a worker, its GPU work was not recorded.',
    messages,
    iif(messages = 1, 'warning', 'warnings'),
    processes,
    iif(processes = 1, 'process', 'processes'),
    coalesce(' ("' || first_message || '")', '')
  ),
  'nsq run REPORT -q process_activity shows whether a worker is among them'
FROM subject
WHERE about = 'helper'
