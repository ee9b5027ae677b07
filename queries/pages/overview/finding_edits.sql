/*---
name: finding_edits
version: 3
title: Fixes to replay
summary: What a perfect fix of each finding would change, where it could matter.
why: To replay the capture with each fix, and with all fixes together.
kind: info
internal: true
tags: [gpu]
reads: []
asks: [{kind: finding}, captured, gpu_parts, idle_doubt, {query: paced_idle, optional: true}, pinned_rate]
params:
  - {name: at_least_pct, type: real, default: 0.5, min: 0, max: 100, doc: "Smallest time in a finding's intervals, as a share of the GPUs' windows in percent."}
columns:
  - {name: rank, type: int, priority: 1, doc: "Place of the finding by name, from 1."}
  - {name: edits, type: text, priority: 0, doc: "A JSON array: name of the finding, those that it narrows, the edits of its fix, as in the relation replayed_window, those of a program without the operations, if any, and by how much its gain is divided to rank it: 3 if its confidence is low, 1.75 for code of the host without a place, 1.1 if only perfect overlap gains it, else 1; and the time of its intervals, if what the host does meanwhile is another fix's, else null; and the same again, if its gain is at most that, because the program waits for what comes from outside, else null."}
limits: >-
  Nothing is replayed if launches failed, or if much work is missing. PINNED in an edit is how many times as fast large
  copies would be from and to pinned memory, from pinned_rate.
---*/
WITH
-- Most idle time is waiting for requests or for a time, which come when they come: a host that is earlier waits longer.
paced AS MATERIALIZED (
  SELECT 2 * coalesce(sum(total_ns), 0) >= (SELECT sum(idle_ns) FROM gpu_parts) AS is_paced
  FROM paced_idle
),
-- A statement for each finding: grouping would sort the intervals of all.
found AS MATERIALIZED (
  SELECT
    query,
    (
      SELECT
        json_array(
          sum(to_ns - from_ns),
          gpu_times(gpu_id, from_ns, to_ns),
          -- Waits before the window that delay launches in it.
          (
            SELECT gpu_times(earlier.gpu_id, earlier.start_ns, earlier.start_ns + earlier.dur_ns)
            FROM finding AS earlier
            JOIN gpu_parts AS gpu
              ON gpu.gpu_id = earlier.gpu_id
            WHERE earlier.query = finding_about.query
              AND finding_about.edit = 'wait=@'
              AND earlier.start_ns + earlier.dur_ns <= gpu.start_ns
          )
        )
      FROM finding
      WHERE finding.query = finding_about.query
    ) AS sums,
    narrows,
    edit,
    avoid,
    confidence
  FROM finding_about
),
-- Whether nearly all of the host's work is in no range, and in long intervals.
host_code AS MATERIALIZED (
  SELECT
    sum(iif(subject = '(no NVTX range)', dur_ns, 0)) > 0.9 * sum(dur_ns) AS has_no_range,
    sum(iif(dur_ns >= 5000000, dur_ns, 0)) > 0.9 * sum(dur_ns) AS is_long
  FROM finding
  WHERE query = 'host_work'
    AND from_ns IS NOT NULL
),
-- Whether launched work mostly waits for functions of the host, or for nodes of its graph, which is certain.
host_function AS MATERIALIZED (
  SELECT
    2 * sum(iif(subject GLOB 'host function before *' OR subject GLOB 'graph node before *', dur_ns, 0))
      >= sum(dur_ns) AS is_most
  FROM finding
  WHERE query = 'queued_work'
    AND from_ns IS NOT NULL
),
-- Code of the host, and MPI, after a wait: another fix's. What reads a scalar can read it later.
other_work AS (
  SELECT
    coalesce(
      sum(
        overlap_ns(
          (
            SELECT time_set(gpu_id, start_ns, start_ns + dur_ns)
            FROM finding
            WHERE query IN ('host_work', 'mpi_wait')
          ),
          gpu_id,
          start_ns,
          start_ns + dur_ns
        )
      ),
      0
    ) AS overlap_ns
  FROM finding
  WHERE query = 'host_sync'
    AND NOT subject GLOB '* in aten::item*'
    AND NOT subject GLOB '* in aten::_local_scalar_dense*'
    AND NOT subject GLOB '* in aten::is_nonzero*'
),
own AS MATERIALIZED (
  SELECT
    query,
    CASE
      WHEN query IN ('exposed_copies', 'exposed_pageable_copies') THEN sums ->> 0
      WHEN query = 'host_sync' THEN max((sums ->> 0) - (SELECT overlap_ns FROM other_work), 0)
    END AS own_ns
  FROM found
)
SELECT
  row_number() OVER (ORDER BY query) AS rank,
  json_array(
    query,
    narrows,
    replace(
      CASE
        WHEN edit GLOB '*:PINNED*' THEN replace(edit, ':PINNED', printf(':%.2f', (SELECT times FROM pinned_rate)))
        -- A graph launches kernels without the operators of PyTorch, such as aten::mm.
        WHEN (SELECT max(is_pytorch) FROM captured) THEN replace(edit, 'launch=graph', 'launch=graph:*::*')
        ELSE edit
      END,
      '@',
      '@' || coalesce((sums ->> 1) || ';' || (sums ->> 2), sums ->> 1, sums ->> 2, '')
    ),
    replace(avoid, '@', '@' || (sums ->> 1)),
    CASE
      WHEN query = 'queued_work' AND (SELECT is_most FROM host_function) THEN 1
      WHEN confidence = 'low' THEN 3
      -- Code in no range may be what launches need, unless it takes far longer. What says more comes first.
      WHEN query = 'host_work' AND (SELECT has_no_range FROM host_code)
        THEN iif((SELECT is_long FROM host_code), 1.02, 1.75)
      -- No program overlaps perfectly.
      WHEN edit GLOB 'overlap=*' AND NOT edit GLOB '*PINNED*' THEN 1.1
      ELSE 1
    END,
    own.own_ns,
    iif((SELECT is_paced FROM paced), own.own_ns, NULL)
  ) AS edits
FROM found
JOIN own USING (query)
WHERE 100.0 * (sums ->> 0) >= :at_least_pct * (SELECT sum(window_ns) FROM gpu_parts)
  AND NOT EXISTS (SELECT 1 FROM idle_doubt WHERE reason IS NOT NULL)
ORDER BY rank
