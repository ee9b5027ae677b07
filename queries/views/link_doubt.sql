/*---
name: link_doubt
summary: One row per reason why GPU operations have no launching call, or a guessed one.
internal: true
present_if: [gpu_op]
reads: [cuda_call, launch, launch_link, launch_outcome, op_total, report_source]
columns:
  - {name: priority, type: int, doc: "Order in capture_trust, lowest first; the hundreds are explained there."}
  - {name: severity, type: text, doc: "partial, distorted or note, as in capture_trust."}
  - {name: problem, type: text, doc: "What is missing or distorted."}
  - {name: detail, type: text, doc: "What that means here, with the numbers of this report."}
  - {name: remedy, type: text, doc: "How to record it better."}
limits: >-
  Operations of earlier launches are a row if they are 10 or more, or 1 % of all.
---*/
WITH
unlinked AS (
  SELECT sum(launch_count) AS launches
  FROM launch_outcome
  WHERE outcome = 'unlinked'
),
guessed AS (
  SELECT count(*) AS ops
  FROM launch_link
  WHERE rule GLOB '*guess*'
),
-- Operations of calls that the report does not have, and launches that had not run at the end.
early AS (
  SELECT
    count(*) AS ops,
    sum(dur_ns) AS total_ns,
    (SELECT sum(launch_count) FROM launch_outcome WHERE outcome = 'queued') AS waiting
  FROM launch
  WHERE call_id IS NULL
    AND correlation_id <> 0
    AND EXISTS (SELECT 1 FROM cuda_call)
)
SELECT
  135 AS priority,
  iif(10 * launches >= op_count, 'partial', 'note') AS severity,
  'operations without a link to their launch' AS problem,
  printf(
    '%d of %d GPU operations have no correlation ID that leads to their launch: '
      || 'the recorder lost the link. Idle time before them has no cause, and they are in no range.',
    launches,
    op_count
  ) AS detail,
  iif(recorder = 'PyTorch', 'a newer PyTorch, ROCm or driver', 'a newer ' || recorder || ' and driver') AS remedy
FROM unlinked
CROSS JOIN op_total
CROSS JOIN report_source
WHERE launches > 0 AND op_count > 0
UNION ALL
SELECT
  135,
  iif(10 * guessed.ops >= op_count, 'partial', 'note'),
  'guessed links to launches',
  printf(
    '%d of %d GPU operations have no correlation ID: the recorder lost the link to their launch. '
      || 'They are linked by time and order, which is a guess.',
    guessed.ops,
    op_count
  ),
  iif(recorder = 'PyTorch', 'a newer PyTorch, ROCm or driver', 'a newer ' || recorder || ' and driver')
FROM guessed
CROSS JOIN op_total
CROSS JOIN report_source
WHERE guessed.ops > 0
UNION ALL
SELECT
  210,
  'partial',
  'no CUDA API calls',
  printf('%d GPU operations without the calls that launched them: idle time has no cause, and no range.', op_count),
  call_remedy
FROM op_total
CROSS JOIN report_source
WHERE op_count > 0 AND NOT EXISTS (SELECT 1 FROM cuda_call)
UNION ALL
SELECT
  420,
  'note',
  iif(waiting >= 10, 'cut capture', 'operations of earlier launches'),
  printf(
    '%d of %d GPU operations (%.1f ms) were launched before the capture began, '
      || 'or their calls are missing%s.',
    early.ops,
    op_count,
    early.total_ns / 1e6,
    iif(
      waiting >= 10,
      printf(', and %d launches had not run when it ended: the first and the last step are cut', waiting),
      ''
    )
  ),
  wait_call || iif(is_trace, ' before the profiler starts', ' before the capture starts')
FROM early
CROSS JOIN op_total
CROSS JOIN report_source
WHERE early.ops > 0 AND (100 * early.ops >= op_count OR early.ops >= 10)
