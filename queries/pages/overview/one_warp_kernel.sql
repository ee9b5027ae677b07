/*---
name: one_warp_kernel
version: 2
title: Kernel of one warp
summary: The kernel of up to 32 threads with the longest launches, and what runs next.
why: A kernel of one thread costs a launch. Another kernel can do its work.
kind: info
internal: true
tags: [gpu, kernel]
reads: [kernel, launch]
requires: [kernel, launch]
params:
  - {name: least, type: int, default: 100, min: 2, doc: "Fewest launches."}
columns:
  - {name: kernel_name, type: text, label: "kernel", priority: 0, doc: "Function name."}
  - {name: call_count, type: int, unit: count, label: "calls", priority: 0, doc: "Its launches."}
  - {name: thread_count, type: int, unit: count, label: "threads", priority: 0, doc: "Most threads of a launch: those of a block times the blocks."}
  - {name: launch_ns, type: duration, unit: ns, label: "launch calls", priority: 0, doc: "Time of the calls that launch it."}
  - {name: total_ns, type: duration, unit: ns, label: "total", priority: 1, doc: "Its GPU time."}
  - {name: next_name, type: text, label: "next kernel", priority: 0, doc: "Function that follows most of its launches in their stream; null if none does."}
limits: Kernels of graphs have no launch of their own, and no row.
---*/
WITH
-- Nothing else is read without one.
narrow_name AS MATERIALIZED (
  SELECT DISTINCT name_id
  FROM kernel
  WHERE grid_x * block_x <= 32
),
narrow AS (
  SELECT
    kernel.name_id,
    count(*) AS call_count,
    max(
      kernel.grid_x * kernel.grid_y * kernel.grid_z * kernel.block_x * kernel.block_y * kernel.block_z
    ) AS thread_count,
    sum(launch.call_end_ns - launch.call_start_ns) AS launch_ns,
    sum(kernel.dur_ns) AS total_ns
  FROM (SELECT 1 FROM narrow_name LIMIT 1)
  CROSS JOIN kernel
  JOIN launch
    ON launch.op_kind = 'kernel'
    AND launch.op_id = kernel.kernel_id
  WHERE launch.call_id IS NOT NULL
    AND coalesce(kernel.graph_node_id, 0) = 0
    AND kernel.name_id IN (SELECT name_id FROM narrow_name)
  GROUP BY kernel.name_id
  HAVING thread_count <= 32
    AND count(*) >= :least
),
largest AS MATERIALIZED (
  SELECT *
  FROM narrow
  ORDER BY launch_ns DESC, name_id
  LIMIT 1
),
follower AS (
  SELECT next_id, count(*) AS call_count
  FROM (
    SELECT
      kernel.name_id,
      lead(kernel.name_id) OVER (PARTITION BY device_id, pid, context_id, stream_id ORDER BY start_ns, kernel_id)
        AS next_id
    FROM largest
    CROSS JOIN kernel
  )
  WHERE name_id = (SELECT name_id FROM largest)
  GROUP BY next_id
  ORDER BY call_count DESC, next_id
  LIMIT 1
)
SELECT
  (
    SELECT coalesce(min(short_name), min(kernel_name))
    FROM kernel
    WHERE kernel.name_id = largest.name_id
  ) AS kernel_name,
  largest.call_count,
  largest.thread_count,
  largest.launch_ns,
  largest.total_ns,
  (
    SELECT coalesce(min(short_name), min(kernel_name))
    FROM kernel
    WHERE kernel.name_id = follower.next_id
      AND kernel.name_id <> largest.name_id
      AND 2 * follower.call_count >= largest.call_count
  ) AS next_name
FROM largest
LEFT JOIN follower
ORDER BY largest.name_id
