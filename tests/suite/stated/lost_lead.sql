SELECT gpu_id, global_tid, lead_id, is_gap, is_other, start_ns, at_ns, lost_ns, gap_ns, wait_ns, api_name, after_id
FROM lost_lead
ORDER BY gpu_id, global_tid, at_ns, is_gap, start_ns, wait_ns, api_name;

WITH
sync AS MATERIALIZED (
  SELECT global_tid, end_ns, dur_ns, api_name
  FROM all_cuda_call
  WHERE name_id IN (SELECT string_id FROM string WHERE text GLOB '*Synchronize*')
),
-- Each gap of a thread that waits, up to the end of the next launch call.
late AS MATERIALIZED (
  SELECT
    gpu_id,
    -- All intervals of a gap have the same thread.
    max(global_tid) AS global_tid,
    gap_start_ns AS start_ns,
    max(end_ns) AS launched_ns,
    max(gap_ns) AS gap_ns,
    min(after_id) AS after_id
  FROM compute_gap_part
  WHERE part IN ('host sync', 'launch call', 'memory allocation', 'other API call', 'outside CUDA API')
    AND global_tid IN (SELECT global_tid FROM sync)
  GROUP BY gpu_id, gap_start_ns
),
-- Gaps that have a row of their own in host_sync, or another cause.
other AS MATERIALIZED (
  SELECT DISTINCT gpu_id, gap_start_ns
  FROM compute_gap_part
  WHERE part IN ('host sync', 'memory allocation')
),
thread AS MATERIALIZED (
  SELECT global_tid, gpu_id, min(start_ns) AS from_ns
  FROM late
  GROUP BY global_tid, gpu_id
),
-- The waits in the scope, and the last one before it, unless steps repeat: a wait before them gives no lead that lasts.
wait AS MATERIALIZED (
  SELECT *
  FROM (
    SELECT
      thread.gpu_id,
      thread.global_tid,
      call.end_ns,
      call.dur_ns,
      call.api_name,
      lead(call.end_ns, 1, thread.from_ns) OVER (PARTITION BY thread.gpu_id, thread.global_tid ORDER BY call.end_ns)
      >= thread.from_ns AS is_near,
      thread.from_ns
    FROM thread
    JOIN sync AS call
      ON call.global_tid = thread.global_tid
  ) AS near
  WHERE is_near
    AND (
      end_ns >= from_ns
      OR NOT EXISTS (SELECT 1 FROM step_window WHERE step_window.gpu_id = near.gpu_id AND part IN ('median', 'steady'))
    )
),
-- Without its waits, a thread is as far ahead as it waited. Late launches use that up.
event AS (
  SELECT
    gpu_id,
    global_tid,
    end_ns AS at_ns,
    0 AS is_gap,
    dur_ns AS gains_ns,
    end_ns - 1 AS start_ns,
    api_name,
    NULL AS gap_ns,
    0 AS after_id
  FROM wait
  UNION ALL
  SELECT gpu_id, global_tid, launched_ns, 1, start_ns - launched_ns, start_ns, NULL, gap_ns, after_id
  FROM late
),
summed AS (
  SELECT
    *,
    sum(gains_ns) OVER so_far AS sum_ns,
    row_number() OVER so_far AS nth
  FROM event
  WINDOW so_far AS (PARTITION BY gpu_id, global_tid ORDER BY at_ns, is_gap, start_ns ROWS UNBOUNDED PRECEDING)
),
-- A thread is never behind: what goes below the least sum so far is not lost.
lowest AS (
  SELECT
    *,
    min(
      0,
      coalesce(
        min(sum_ns) OVER (
          PARTITION BY gpu_id, global_tid
          ORDER BY at_ns, is_gap, start_ns
          ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ),
        0
      )
    ) AS least_ns
  FROM summed
),
ahead AS (
  SELECT
    *,
    max(0, sum_ns - least_ns) AS ahead_ns,
    sum_ns - gains_ns - least_ns AS before_ns
  FROM lowest
),
-- All other gaps end a lead, or are before one. Few are not.
kept AS (
  SELECT
    *,
    coalesce(
      sum(ahead_ns > 0) OVER (
        PARTITION BY gpu_id, global_tid
        ORDER BY nth
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
      ),
      0
    ) AS ahead_count
  FROM ahead
  WHERE NOT is_gap
    OR ahead_ns > 0
    OR before_ns > ahead_ns
)
SELECT
  gpu_id,
  global_tid,
  nth - 1 - ahead_count AS lead_id,
  is_gap,
  NOT is_gap OR (gpu_id, start_ns) IN (SELECT gpu_id, gap_start_ns FROM other) AS is_other,
  start_ns,
  at_ns,
  iif(is_gap, before_ns - ahead_ns, 0) AS lost_ns,
  gap_ns,
  iif(is_gap, NULL, gains_ns) AS wait_ns,
  api_name,
  after_id
FROM kept
WHERE NOT is_gap
  OR before_ns > ahead_ns
ORDER BY gpu_id, global_tid, at_ns, is_gap, start_ns, wait_ns, api_name;
