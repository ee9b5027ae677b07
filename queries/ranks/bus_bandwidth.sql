/*---
name: bus_bandwidth
version: 2
title: Bandwidth of collectives
summary: Bandwidth of collectives by operation and size, without waits for late ranks.
why: To compare collectives with what the links can do.
kind: sum
tags: [communication, gpu, nvtx]
reads: []
asks: [collective_arrivals]
across: true
columns:
  - {name: operation, type: text, priority: 0, doc: "AllReduce, Broadcast, Reduce, AllGather, ReduceScatter, AllToAll or another."}
  - {name: size_bytes, type: bytes, unit: bytes, label: "size", priority: 0, doc: "What each rank contributes, of a reduce-scatter what each rank gets; the mean of ranks and collectives if is_uneven."}
  - {name: is_uneven, type: bool, label: "uneven", priority: 2, doc: "Whether the ranks of one collective contribute different sizes. These collectives share a row, whatever their sizes."}
  - {name: rank_count, type: int, unit: count, label: "ranks", priority: 0, doc: "Ranks of the communicator; those seen if unknown."}
  - {name: seen_count, type: int, unit: count, label: "ranks seen", priority: 1, doc: "Ranks that the reports show. If it is less than rank_count, the times include waits for the others, and the bandwidths are too low."}
  - {name: collective_count, type: int, unit: count, label: "collectives", priority: 1, doc: "Collectives of this operation and size, or uneven ones of this operation."}
  - {name: transfer_ns, type: duration, unit: ns, label: "median transfer", priority: 1, doc: "Median of the time from the last rank's start to the last end; of the shortest kernel, if not all ranks are seen."}
  - {name: total_ns, type: duration, unit: ns, label: "total transfer", priority: 2, doc: "Sum of these times."}
  - {name: algorithm_bytes_per_s, type: real, unit: bytes_per_s, label: "algorithm bandwidth", priority: 1, doc: "Data of the operation divided by transfer_ns: size_bytes, and times the ranks for all-gather and reduce-scatter. The mean transfer replaces transfer_ns if is_uneven."}
  - {name: bus_bytes_per_s, type: real, unit: bytes_per_s, label: "bus bandwidth", priority: 1, doc: "algorithm_bytes_per_s times the factor of NCCL's tests: 2(n-1)/n for all-reduce, (n-1)/n for all-gather, reduce-scatter and all-to-all, 1 for broadcast and reduce."}
when_empty: "no collective of two ranks or more could be matched: -q job says why"
limits: >-
  The time from the last start holds what the ranks do together; small sizes are bound by latency. Other traffic on the
  links counts too. Uneven collectives load some links more than the mean shows. Collectives of unknown size, or in which the ranks do not agree, are left out.
see_also: [collective_arrivals, stragglers]
---*/
-- LIMIT makes SQLite store the rows of a step. Otherwise it computes them again for every row that needs them.
WITH
collective AS (
  SELECT
    communicator,
    sequence,
    operation,
    sum(size_bytes) / nullif(count(size_bytes), 0) AS mean_bytes,
    min(size_bytes) <> max(size_bytes) AS is_uneven,
    coalesce(max(rank_count), max(seen_count)) AS rank_count,
    max(seen_count) AS seen_count,
    CASE
      WHEN max(seen_count) = coalesce(max(rank_count), max(seen_count)) THEN max(start_ns + dur_ns) - max(start_ns)
      ELSE min(dur_ns)
    END AS transfer_ns
  FROM collective_arrivals
  WHERE agrees
    AND coalesce(rank_count, seen_count) > 1
  GROUP BY
    communicator,
    sequence,
    operation,
    -- Only in these, sizes differ between ranks that agree.
    CASE WHEN source = 'trace' AND operation IN ('AllToAll', 'AllGather') THEN -1 ELSE size_bytes END
  HAVING max(size_bytes) > 0
),
sized AS (
  SELECT
    operation,
    CASE WHEN is_uneven THEN sum(mean_bytes) OVER same / count(*) OVER same ELSE mean_bytes END AS size_bytes,
    is_uneven,
    rank_count,
    seen_count,
    transfer_ns
  FROM collective
  WINDOW same AS (PARTITION BY operation, is_uneven, rank_count, seen_count)
),
timed AS (
  SELECT
    operation,
    size_bytes,
    is_uneven,
    rank_count,
    seen_count,
    count(*) AS collective_count,
    median(transfer_ns) AS transfer_ns,
    sum(transfer_ns) AS total_ns,
    CASE WHEN is_uneven THEN 1.0 * sum(transfer_ns) / count(*) ELSE median(transfer_ns) END AS data_ns,
    size_bytes * CASE WHEN operation IN ('AllGather', 'ReduceScatter') THEN rank_count ELSE 1 END AS data_bytes
  FROM sized
  GROUP BY operation, size_bytes, is_uneven, rank_count, seen_count
)
SELECT
  operation,
  size_bytes,
  is_uneven,
  rank_count,
  seen_count,
  collective_count,
  transfer_ns,
  total_ns,
  1e9 * data_bytes / nullif(data_ns, 0) AS algorithm_bytes_per_s,
  1e9
    * data_bytes
    / nullif(data_ns, 0)
    * CASE
        WHEN operation = 'AllReduce' THEN 2.0 * (rank_count - 1) / rank_count
        WHEN operation IN ('AllGather', 'ReduceScatter', 'AllToAll') THEN 1.0 * (rank_count - 1) / rank_count
        ELSE 1.0
      END AS bus_bytes_per_s
FROM timed
ORDER BY total_ns DESC, operation, size_bytes, rank_count, seen_count, is_uneven
