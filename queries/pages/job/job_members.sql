/*---
name: job_members
version: 2
title: GPUs of the reports, by rank
summary: Each GPU of each report, with the rank that it is of, by name.
why: To compare ranks that have several reports, and ranks that nothing numbers.
kind: info
tags: [communication, gpu]
internal: true
reads: []
asks: [job_processes, rank_measures, ranks]
across: true
columns:
  - {name: place, type: int, priority: 0, doc: "Place of the rank, from 0: by rank, host, report and GPU, with numbers in names in their order."}
  - {name: rank, type: int, priority: 0, doc: "Rank in the whole program; null if it is unknown."}
  - {name: name, type: text, priority: 0, doc: "Name of the rank: rank 3; host node2 or GPU 1 if the rank is unknown; process 4644 if several reports are captures of that process; else the name of the report."}
  - {name: pid, type: id, priority: 2, doc: "Process whose captures, one after the other, are several reports without a rank; null if the report is the only one, or has a rank."}
  - {name: cycle, type: int, priority: 1, doc: "Place of the report among those of the rank, from 0, such as one for each cycle of the profiler."}
  - {name: rank_count, type: int, unit: count, label: "ranks", priority: 1, doc: "Ranks of the whole program; null if it is unknown."}
  - {name: host, type: text, priority: 1, doc: "Host in the name of the report; null if the name has none."}
  - {name: gpu_name, type: text, label: "GPU name", priority: 1, doc: "Marketing name of the GPU; null if unknown."}
  - {name: gpu_id, type: id, label: "GPU", priority: 1, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: report, type: text, priority: 1, doc: "Name of the report."}
  - {name: side, type: int, priority: 3, doc: "Position of the report, from 0."}
when_empty: "no GPU operation was recorded"
limits: >-
  A GPU that several processes share has no rank. Reports without a rank are captures of one process if process ID, GPU
  and PCI address agree, and none overlaps another one by the wall clock.
see_also: [ranks, rank_measures]
---*/
-- LIMIT makes SQLite store the rows of a step. Otherwise it computes them again for every row that needs them.
WITH
gpu AS MATERIALIZED (
  SELECT side, report, gpu_id, max(rank) AS rank
  FROM rank_measures
  GROUP BY side, report, gpu_id
),
owner AS MATERIALIZED (
  SELECT
    side,
    gpu_id,
    max(host) AS host,
    max(host_order) AS host_order,
    max(gpu_name) AS gpu_name,
    max(rank_count) AS rank_count
  FROM ranks
  GROUP BY side, gpu_id
),
-- Reports without a rank, by process and GPU: whether each begins after those before have ended.
process AS MATERIALIZED (
  SELECT
    owned.side,
    owned.gpu_id,
    owned.pid,
    coalesce(owned.bus_location, '') AS bus_location,
    coalesce(owner.host, '') AS host,
    CASE
      WHEN owned.from_utc_ns > max(owned.to_utc_ns) OVER (
        PARTITION BY owned.pid, owned.gpu_id, owned.bus_location, owner.host
        ORDER BY owned.from_utc_ns, owned.side
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
      ) THEN 1
      ELSE 0
    END AS is_later
  FROM job_processes AS owned
  JOIN gpu
    ON gpu.side = owned.side
    AND gpu.gpu_id = owned.gpu_id
  LEFT JOIN owner
    ON owner.side = owned.side
    AND owner.gpu_id = owned.gpu_id
  WHERE gpu.rank IS NULL
    AND owned.pid IS NOT NULL
    AND owned.from_utc_ns IS NOT NULL
),
again AS MATERIALIZED (
  SELECT pid, gpu_id, bus_location, host, min(side) AS side
  FROM process
  GROUP BY pid, gpu_id, bus_location, host
  HAVING count(*) > 1
    AND sum(is_later) = count(*) - 1
),
seen AS MATERIALIZED (
  SELECT
    gpu.side,
    gpu.report,
    gpu.gpu_id,
    gpu.rank,
    again.pid,
    coalesce(again.side, gpu.side) AS first_side,
    owner.host,
    owner.host_order,
    owner.gpu_name,
    owner.rank_count,
    count(*) OVER (PARTITION BY gpu.side) AS gpu_count,
    count(*) OVER (PARTITION BY owner.host) AS host_count,
    max(gpu.side) OVER () AS last_side
  FROM gpu
  LEFT JOIN owner
    ON owner.side = gpu.side
    AND owner.gpu_id = gpu.gpu_id
  LEFT JOIN process
    ON process.side = gpu.side
    AND process.gpu_id = gpu.gpu_id
  LEFT JOIN again
    ON again.pid = process.pid
    AND again.gpu_id = process.gpu_id
    AND again.bus_location = process.bus_location
    AND again.host = process.host
)
SELECT
  -- All reports of a known rank have its place, and all captures of one process.
  dense_rank() OVER (
    ORDER BY
      CASE WHEN rank IS NULL THEN 1 ELSE 0 END,
      coalesce(rank, 0),
      CASE WHEN rank IS NULL THEN coalesce(host_order, '') ELSE '' END,
      CASE WHEN rank IS NULL THEN first_side ELSE 0 END,
      CASE WHEN rank IS NULL THEN gpu_id ELSE 0 END
  ) - 1 AS place,
  rank,
  CASE
    WHEN rank IS NOT NULL THEN 'rank ' || rank
    WHEN host IS NOT NULL AND host_count = 1 THEN 'host ' || host
    WHEN last_side = 0 THEN 'GPU ' || gpu_id
    WHEN pid IS NOT NULL AND gpu_count = 1 THEN 'process ' || pid
    WHEN pid IS NOT NULL THEN 'GPU ' || gpu_id || ' of process ' || pid
    WHEN gpu_count = 1 THEN report
    ELSE 'GPU ' || gpu_id || ' of ' || report
  END AS name,
  pid,
  row_number() OVER (
    PARTITION BY rank, CASE WHEN rank IS NULL THEN first_side END, CASE WHEN rank IS NULL THEN gpu_id END
    ORDER BY side, gpu_id
  ) - 1 AS cycle,
  rank_count,
  host,
  gpu_name,
  gpu_id,
  report,
  side
FROM seen
ORDER BY side, gpu_id
