/*---
name: reached_bandwidth
version: 2
title: What collectives reach of the links
summary: The bus bandwidth of the collectives that take the most time in one report.
why: To tell a slow link from too much to send.
kind: info
internal: true
tags: [communication, gpu]
reads: [collective_op, gpu_window]
requires: [collective_op]
rows_if: EXISTS (SELECT 1 FROM gpu_window WHERE communication_ns > 0)
columns:
  - {name: operation, type: text, priority: 0, doc: "AllReduce, Broadcast, Reduce, AllGather, ReduceScatter or AllToAll."}
  - {name: size_bytes, type: bytes, unit: bytes, label: "size", priority: 0, doc: "What each rank contributes, of a reduce-scatter what each rank gets; the mean if ranks differ."}
  - {name: rank_count, type: int, unit: count, label: "ranks", priority: 0, doc: "Ranks of the communicator."}
  - {name: seen_count, type: int, unit: count, label: "ranks seen", priority: 1, doc: "Ranks that the report has. If it is less than rank_count, the bandwidth is too low: waits for the others count."}
  - {name: transfer_ns, type: duration, unit: ns, label: "median transfer", priority: 1, doc: "Median of the time from the last rank's start to the last end; of the shortest kernel, if not all ranks are seen."}
  - {name: bus_bytes_per_s, type: real, unit: bytes_per_s, label: "bus bandwidth", priority: 1, doc: "As bus_bandwidth has it: data divided by transfer_ns, times the factor of NCCL's tests."}
limits: See bus_bandwidth, which compares all ranks and sizes.
see_also: [bus_bandwidth]
---*/
WITH
collective AS (
  SELECT
    operation,
    sum(size_bytes) / count(size_bytes) AS size_bytes,
    max(rank_count) AS rank_count,
    count(*) AS seen_count,
    iif(count(*) >= max(rank_count), max(end_ns) - max(start_ns), min(end_ns - start_ns)) AS transfer_ns
  FROM collective_op
  WHERE start_ns IS NOT NULL
    AND rank_count > 1
    AND operation IN ('AllReduce', 'Broadcast', 'Reduce', 'AllGather', 'ReduceScatter', 'AllToAll')
  GROUP BY
    communicator,
    sequence,
    operation,
    -- Only in these, sizes differ between ranks that are in step.
    iif(source = 'trace' AND operation IN ('AllToAll', 'AllGather'), NULL, size_bytes)
  HAVING max(size_bytes) > 0
),
timed AS (
  SELECT
    operation,
    size_bytes,
    rank_count,
    seen_count,
    median(transfer_ns) AS transfer_ns,
    sum(transfer_ns) AS total_ns
  FROM collective
  GROUP BY operation, size_bytes, rank_count, seen_count
)
SELECT
  operation,
  size_bytes,
  rank_count,
  seen_count,
  transfer_ns,
  1e9
    * size_bytes
    / nullif(transfer_ns, 0)
    * CASE
        WHEN operation = 'AllReduce' THEN 2.0 * (rank_count - 1) / rank_count
        WHEN operation IN ('AllGather', 'ReduceScatter') THEN rank_count - 1
        WHEN operation = 'AllToAll' THEN 1.0 * (rank_count - 1) / rank_count
        ELSE 1
      END AS bus_bytes_per_s
FROM timed
WHERE transfer_ns > 0
ORDER BY total_ns DESC, operation, size_bytes, rank_count, seen_count
LIMIT 1
