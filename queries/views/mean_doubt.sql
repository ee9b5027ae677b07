/*---
name: mean_doubt
summary: One row per reason why means say little.
internal: true
present_if: [gpu_op]
reads: [gpu_op, graph_trace, op_total, step_window]
columns:
  - {name: priority, type: int, doc: "Order in capture_trust, lowest first; the hundreds are explained there."}
  - {name: severity, type: text, doc: "partial, distorted or note, as in capture_trust."}
  - {name: problem, type: text, doc: "What is missing or distorted."}
  - {name: detail, type: text, doc: "What that means here, with the numbers of this report."}
  - {name: remedy, type: text, doc: "How to record it better."}
limits: >-
  A capture is short with less than 100 kernels or 20 ms, if no steps repeat in it. Steps are doubtful if their is_sure is
  0; one that takes twice the median or more is evidence against them.
---*/
WITH
outlier AS (
  SELECT gpu_op.op_name, gpu_op.dur_ns, work.total_ns, work.op_count
  FROM op_total AS work
  JOIN gpu_op
    ON work.longest_ns > 0.95 * work.total_ns
    AND work.op_count >= 20
    AND gpu_op.dur_ns = work.longest_ns
  LIMIT 1
),
-- Steps without an end of their own: one with a pause before it may begin a longer step.
doubtful_step AS (
  SELECT
    max(step_count) AS step_count,
    1.0 * max(dur_ns) / max(iif(part = 'median', dur_ns, NULL)) AS times
  FROM step_window
  WHERE NOT is_sure
    AND part IN ('median', 'steady')
  GROUP BY global_tid, gpu_id
  ORDER BY times DESC, global_tid, gpu_id
  LIMIT 1
),
span AS (
  SELECT
    kernel_count AS kernels,
    (SELECT count(*) FROM graph_trace) AS graphs,
    end_ns - start_ns AS span_ns
  FROM op_total
)
SELECT
  165 AS priority,
  'partial' AS severity,
  'one operation has nearly all GPU time' AS problem,
  printf(
    'One execution of `%s` takes %.1f ms of %.1f ms of GPU time; the other %d operations take %.1f ms. '
      || 'Means and shares are not reliable.',
    op_name,
    dur_ns / 1e6,
    total_ns / 1e6,
    op_count - 1,
    (total_ns - dur_ns) / 1e6
  ) AS detail,
  'look at this execution in a timeline, and record again' AS remedy
FROM outlier
UNION ALL
SELECT
  430,
  'note',
  'short capture',
  printf(
    'Short: %d %s%s in %s. %s',
    kernels,
    iif(kernels = 1, 'kernel', 'kernels'),
    CASE
      WHEN graphs > 1 THEN printf(' and %d CUDA graphs', graphs)
      WHEN graphs = 1 THEN ' and a CUDA graph'
      ELSE ''
    END,
    iif(span_ns < 1000000, printf('%.1f µs', span_ns / 1e3), printf('%.1f ms', span_ns / 1e6)),
    iif(kernels = 1 AND graphs = 0, 'One time says little.', 'Averages are unreliable.')
  ),
  'record some tens of steps after the warm-up'
FROM span
WHERE kernels > 0
  AND (kernels < 100 OR span_ns < 20000000)
  -- The first steps are apart where some repeat.
  AND NOT EXISTS (SELECT 1 FROM step_window WHERE step_count > 2)
UNION ALL
SELECT
  435,
  'note',
  'steps may be layers of longer steps',
  printf(
    'The %d steps may be layers of longer steps, because the host waits after few or none%s.',
    step_count,
    iif(times >= 2, printf(', and the longest takes %.1f times the median', times), '')
  ),
  'mark each step with an NVTX range'
FROM doubtful_step
