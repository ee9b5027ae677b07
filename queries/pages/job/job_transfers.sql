/*---
name: job_transfers
version: 1
title: Collectives that transfer longer now and then
summary: How often a collective transfers twice as long as at its place in other steps.
why: To tell a slow network, which all ranks see together, from a slow rank.
kind: sum
tags: [communication, gpu]
internal: true
reads: []
asks: [collective_arrivals, collective_work]
across: true
columns:
  - {name: operation, type: text, priority: 0, doc: "AllReduce, Broadcast, Reduce, AllGather, ReduceScatter, AllToAll or another; SendRecv, as in collective_op."}
  - {name: communicator, type: text, priority: 2, doc: "Communicator, as in collective_arrivals."}
  - {name: collective_count, type: int, unit: count, label: "collectives", priority: 1, doc: "Matched collectives in steps."}
  - {name: slow_count, type: int, unit: count, label: "slow", priority: 0, doc: "Those whose transfer takes more than twice the median of their place, if at least four steps have one there."}
  - {name: median_ns, type: duration, unit: ns, label: "usually", priority: 0, doc: "Mean over the slow ones of the median transfer at their place in all steps; null without one. A transfer is the time of the collective on the rank that came last."}
  - {name: slow_ns, type: duration, unit: ns, label: "slow transfer", priority: 0, doc: "Mean transfer of the slow ones; null without one."}
  - {name: excess_ns, type: duration, unit: ns, label: "longer in all", priority: 0, doc: "By how much the slow ones take longer than these medians, in all."}
checks:
  - slow_count <= collective_count
  - slow_count = 0 OR slow_ns >= median_ns
when_empty: "no collective in a step is matched"
limits: >-
  A place is the number of the collective among those of its communicator and operation in the step. If captures have
  other sizes at the same place, as with batches of different length, their transfers differ for that reason.
see_also: [collective_arrivals, bus_bandwidth]
---*/
-- LIMIT makes SQLite store the rows of a step. Otherwise it computes them again for every row that needs them.
WITH
collective AS MATERIALIZED (
  SELECT
    arrival.communicator,
    arrival.operation,
    arrival.sequence,
    min(work.iteration) AS iteration,
    min(arrival.dur_ns) AS transfer_ns
  FROM collective_arrivals AS arrival
  JOIN collective_work AS work
    ON work.side = arrival.side
    AND work.kernel_id = arrival.kernel_id
    AND work.communicator = arrival.communicator
    AND work.sequence = arrival.own_sequence
  WHERE arrival.agrees
    AND arrival.seen_count > 1
  GROUP BY arrival.communicator, arrival.operation, arrival.sequence
),
placed AS MATERIALIZED (
  SELECT
    *,
    row_number() OVER (PARTITION BY communicator, operation, iteration ORDER BY sequence) AS place
  FROM collective
  WHERE iteration IS NOT NULL
),
usual AS MATERIALIZED (
  SELECT communicator, operation, place, median(transfer_ns) AS median_ns, count(*) AS step_count
  FROM placed
  GROUP BY communicator, operation, place
),
compared AS MATERIALIZED (
  SELECT
    placed.communicator,
    placed.operation,
    placed.transfer_ns,
    usual.median_ns,
    CASE WHEN usual.step_count >= 4 AND placed.transfer_ns > 2 * usual.median_ns THEN 1 ELSE 0 END AS is_slow
  FROM placed
  JOIN usual
    ON usual.communicator = placed.communicator
    AND usual.operation = placed.operation
    AND usual.place = placed.place
),
summed AS (
  SELECT
    operation,
    communicator,
    count(*) AS collective_count,
    sum(is_slow) AS slow_count,
    sum(is_slow * median_ns) AS usual_ns,
    sum(is_slow * transfer_ns) AS slow_ns
  FROM compared
  GROUP BY operation, communicator
)
SELECT
  operation,
  communicator,
  collective_count,
  slow_count,
  CAST(round(1.0 * usual_ns / nullif(slow_count, 0)) AS BIGINT) AS median_ns,
  CAST(round(1.0 * slow_ns / nullif(slow_count, 0)) AS BIGINT) AS slow_ns,
  CAST(round(slow_ns - usual_ns) AS BIGINT) AS excess_ns
FROM summed
ORDER BY excess_ns DESC, operation, communicator
