/*---
name: kernel_trend
version: 3
title: Trend of the kernel with the most time
summary: How the grid and the time of the largest kernel change over the capture.
why: A grid that stays while the time falls may launch blocks that have nothing to do.
kind: info
internal: true
tags: [gpu, kernel]
reads: [kernel]
requires: [kernel]
params:
  - {name: least, type: int, default: 100, min: 10, doc: "Fewest launches."}
columns:
  - {name: kernel_name, type: text, label: "kernel", priority: 0, doc: "Function name of the kernel with the most time."}
  - {name: call_count, type: int, unit: count, label: "calls", priority: 1, doc: "Its launches."}
  - {name: grid_count, type: int, unit: count, label: "grids", priority: 0, doc: "Different numbers of blocks."}
  - {name: block_count, type: int, unit: count, label: "blocks", priority: 0, doc: "Most blocks of a launch."}
  - {name: first_ns, type: duration, unit: ns, label: "at first", priority: 0, doc: "Mean time of the first tenth of the launches."}
  - {name: middle_ns, type: duration, unit: ns, label: "in the middle", priority: 1, doc: "Mean time of the sixth tenth."}
  - {name: last_ns, type: duration, unit: ns, label: "at last", priority: 0, doc: "Mean time of the last tenth."}
  - {name: least_ns, type: duration, unit: ns, label: "shortest", priority: 1, doc: "Time of the shortest launch: what a launch of these blocks takes with the least work."}
  - {name: total_ns, type: duration, unit: ns, label: "total", priority: 1, doc: "Time of all launches."}
  - {name: is_falling, type: bool, priority: 1, doc: "1 if no tenth of the launches takes more than 1.05 times as long as the one before; 0 where they get longer again, as of a kernel that each step uses for several sizes."}
limits: That the work shrinks is a guess from the time. Clocks that rise shorten kernels, too, but little.
---*/
WITH
-- GROUP BY would sort all kernels.
total AS MATERIALIZED (
  SELECT v0 AS name_id, v2 AS total_ns
  FROM json_rows((SELECT sums_by(dur_ns, name_id) FROM kernel))
),
largest AS MATERIALIZED (
  SELECT name_id
  FROM total
  WHERE 2 * total_ns >= (SELECT sum(total_ns) FROM total)
  ORDER BY total_ns DESC, name_id
  LIMIT 1
),
launched AS MATERIALIZED (
  SELECT
    coalesce(short_name, kernel_name) AS kernel_name,
    dur_ns,
    grid_x * grid_y * grid_z AS block_count,
    ntile(10) OVER (ORDER BY start_ns, kernel_id) AS part
  -- Kernels are not read again if none has most of the time.
  FROM largest
  CROSS JOIN kernel
  WHERE kernel.name_id = largest.name_id
),
tenth AS (
  SELECT part, avg(dur_ns) AS mean_ns
  FROM launched
  GROUP BY part
),
compared AS (
  SELECT max(mean_ns > 1.05 * lag_ns) AS rises
  FROM (SELECT mean_ns, lag(mean_ns) OVER (ORDER BY part) AS lag_ns FROM tenth)
)
SELECT
  min(kernel_name) AS kernel_name,
  count(*) AS call_count,
  count(DISTINCT block_count) AS grid_count,
  max(block_count) AS block_count,
  CAST(avg(iif(part = 1, dur_ns, NULL)) AS INTEGER) AS first_ns,
  CAST(avg(iif(part = 6, dur_ns, NULL)) AS INTEGER) AS middle_ns,
  CAST(avg(iif(part = 10, dur_ns, NULL)) AS INTEGER) AS last_ns,
  min(dur_ns) AS least_ns,
  sum(dur_ns) AS total_ns,
  NOT (SELECT coalesce(rises, 0) FROM compared) AS is_falling
FROM launched
HAVING count(*) >= :least
ORDER BY kernel_name
