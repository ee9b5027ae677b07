/*---
name: peer_wait
version: 1
title: Sends and receives that wait for the other GPU
summary: Time in which a GPU waits in a send or receive because its peer is still busy.
why: To see the bubbles of pipeline parallelism, which look like communication.
kind: finding
tags: [gpu, communication]
reads: [exposed_part, gpu_busy, gpu_overlap, gpu_window, p2p_op, torch_collective]
requires: [exposed_part]
rows_if: "EXISTS (SELECT 1 FROM exposed_part WHERE activity = 'communication' AND collective(op_name) = 'SendRecv')"
finding:
  claim: "Peer not ready: sends and receives mostly wait while the other GPU is busy."
  ceiling: From the start of a send or receive on a GPU to its start on the peer, without the time in which the waiting GPU computes. Where the peer is not in the report, what a call takes beyond the shortest tenth of those with its size.
  remedy: >-
    In a pipeline, use more and smaller microbatches, an interleaved schedule, or balanced stages. In an exchange of all
    ranks, give them equal work.
  link: https://docs.pytorch.org/docs/stable/distributed.pipelining.html
  narrows: [exposed_communication, rank_wait]
  confidence: medium
  edit: overlap=communication@
  frees: communication
params:
  - {name: least, type: duration, default: 10us, min: 0, doc: "Shortest wait to return."}
  - {name: least_pct, type: real, default: 0.5, min: 0, doc: "Smallest share of the GPU's window, in percent, that the waits of a GPU must take."}
  - {name: apart, type: duration, default: 20us, min: 1, doc: "Longest time between the ends of two kernels that are the two sides of an exchange."}
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU that waits: its number on its machine."}
  - {name: start_ns, type: timestamp, unit: ns, priority: 1, doc: "Start of the wait, on the report's clock."}
  - {name: dur_ns, type: duration, unit: ns, priority: 1, doc: "Length of the wait, or of a part without compute."}
  - {name: subject, type: text, label: "exchange", priority: 0, doc: "Who waits for whom: SendRecv, GPU 1 waits for GPU 0; SendRecv, GPU 1 waits for its peer, where that is not in the report."}
  - {name: peer_gpu_id, type: id, label: "peer", priority: 1, doc: "GPU that joined later; null if it is not in the report."}
  - {name: transfer_ns, type: duration, unit: ns, label: "transfer", priority: 1, doc: "Time after both GPUs had joined; without the peer, the time that a tenth of the calls with its size do not exceed."}
  - {name: op_id, type: id, label: "row of the kernel", priority: 3, doc: "Row ID of the waiting kernel in the raw table."}
checks:
  - dur_ns > 0
  - transfer_ns >= 0
when_empty: "no send or receive waits longer than it transfers, or all are exchanges of all ranks"
limits: >-
  Two kernels of different GPUs are the two sides of an exchange if they overlap and end closest to each other. Pairs of
  GPUs count that wait longer than they transfer, most of that time while the other one is busy, and of which one sometimes runs 1.5 times as many different kernels
  before an exchange as the other: the rest are exchanges of all ranks, such as an all-to-all, see rank_wait.
  Without the peer, only calls whose size is known count, and calls of equal size are the same. If another GPU waits in
  turn, its delay can have an earlier cause.
see_also: [rank_wait, exposed_communication, comm_overlap]
---*/
WITH
other_kind AS MATERIALIZED (
  SELECT kernel_id
  FROM torch_collective
  WHERE operation NOT IN ('Send', 'Recv')
),
call AS MATERIALIZED (
  SELECT
    op.gpu_id,
    op.op_id,
    op.name_id,
    op.start_ns,
    op.end_ns,
    op.dur_ns,
    op.end_ns / :apart AS bucket
  FROM gpu_overlap AS op
  WHERE op.op_kind = 'kernel'
    AND op.activity = 'communication'
    AND collective(op.op_name) = 'SendRecv'
    AND op.op_id NOT IN (SELECT kernel_id FROM other_kind)
),
side AS (
  SELECT value AS offset
  FROM json_each('[-1, 0, 1]')
),
near AS MATERIALIZED (
  SELECT
    call.op_id,
    call.gpu_id,
    call.start_ns,
    call.end_ns,
    other.op_id AS other_id,
    other.gpu_id AS other_gpu_id,
    other.start_ns AS other_start_ns,
    row_number() OVER (PARTITION BY call.op_id ORDER BY abs(other.end_ns - call.end_ns), other.op_id) AS choice
  FROM call
  CROSS JOIN side
  JOIN call AS other
    ON other.bucket = call.bucket + side.offset
    AND other.gpu_id <> call.gpu_id
  WHERE abs(other.end_ns - call.end_ns) <= :apart
    AND other.start_ns < call.end_ns
    AND call.start_ns < other.end_ns
),
exchange AS MATERIALIZED (
  SELECT
    own.op_id,
    own.gpu_id,
    own.start_ns,
    own.other_id,
    own.other_gpu_id,
    own.other_start_ns AS until_ns,
    own.end_ns - max(own.start_ns, own.other_start_ns) AS transfer_ns
  FROM near AS own
  JOIN near AS other
    ON other.op_id = own.other_id
    AND other.choice = 1
    AND other.other_id = own.op_id
  WHERE own.choice = 1
),
working AS MATERIALIZED (
  SELECT time_set(gpu_id, start_ns, end_ns) AS times
  FROM gpu_busy
  WHERE level = 'gpu'
    AND activity = 'any'
),
-- Pairs of GPUs that wait longer than they transfer, while the other one works: a peer that idles has a late host.
waiting AS MATERIALIZED (
  SELECT min(gpu_id, other_gpu_id) AS gpu_id, max(gpu_id, other_gpu_id) AS other_gpu_id
  FROM exchange
  GROUP BY 1, 2
  HAVING sum(max(until_ns - start_ns, 0)) >= sum(transfer_ns) / 2
    AND 10 * sum(
      iif(until_ns > start_ns, overlap_ns((SELECT times FROM working), other_gpu_id, start_ns, until_ns), 0)
    ) >= 7 * sum(max(until_ns - start_ns, 0))
),
-- Before an exchange of all ranks, GPUs run the same kernels, if not as often. Stages of a pipeline do not: where it
-- fills and drains, one runs forward only, and the other backward, too.
event AS (
  SELECT gpu_id, start_ns, op_id, NULL AS name_id
  FROM call
  UNION ALL
  SELECT gpu_id, start_ns, NULL, name_id
  FROM gpu_overlap
  WHERE op_kind = 'kernel'
    AND activity = 'compute'
),
counted AS (
  SELECT
    gpu_id,
    op_id,
    name_id,
    count(op_id) OVER (
      PARTITION BY gpu_id
      ORDER BY start_ns, op_id
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS place
  FROM event
),
before AS MATERIALIZED (
  SELECT max(op_id) AS op_id, count(DISTINCT name_id) AS kernels
  FROM counted
  GROUP BY gpu_id, place
),
-- Exchanges of all ranks end on all GPUs together, too.
reached AS MATERIALIZED (
  SELECT op_id, count(DISTINCT other_gpu_id) AS gpu_count
  FROM near
  GROUP BY op_id
),
gpus AS MATERIALIZED (
  SELECT count(DISTINCT gpu_id) AS gpu_count, count(*) AS calls
  FROM call
),
staged AS MATERIALIZED (
  SELECT waiting.gpu_id, waiting.other_gpu_id
  FROM waiting
  JOIN exchange
    ON exchange.gpu_id = waiting.gpu_id
    AND exchange.other_gpu_id = waiting.other_gpu_id
  JOIN before AS own
    ON own.op_id = exchange.op_id
  JOIN before AS other
    ON other.op_id = exchange.other_id
  WHERE (
      SELECT gpus.gpu_count = 2 OR 2 * count(*) < gpus.calls
      FROM gpus
      LEFT JOIN reached
        ON reached.gpu_count = gpus.gpu_count - 1
    )
  GROUP BY waiting.gpu_id, waiting.other_gpu_id
  HAVING sum(3 * abs(own.kernels - other.kernels) >= max(own.kernels, other.kernels, 1))
    >= max(2, 0.02 * count(*))
),
-- Where the peer is not in the report, only a recorded size shows which call waits and which one transfers more.
sized AS MATERIALIZED (
  SELECT kernel_id, sum(size_bytes) AS size_bytes
  FROM p2p_op
  WHERE kernel_id IS NOT NULL
  GROUP BY kernel_id
  HAVING count(size_bytes) = count(*)
    AND count(DISTINCT peer) <= 2
),
single AS MATERIALIZED (
  SELECT call.gpu_id, call.op_id, call.end_ns, call.dur_ns, call.name_id, sized.size_bytes
  FROM call
  JOIN sized
    ON sized.kernel_id = call.op_id
  WHERE call.gpu_id NOT IN (SELECT gpu_id FROM near)
),
usual AS MATERIALIZED (
  SELECT gpu_id, name_id, size_bytes, CAST(percentile(dur_ns, 10) AS INTEGER) AS transfer_ns
  FROM single
  GROUP BY gpu_id, name_id, size_bytes
  HAVING count(*) >= 10
    AND percentile(dur_ns, 90) >= 5 * percentile(dur_ns, 10)
    AND avg(dur_ns) >= 2 * percentile(dur_ns, 10)
),
wait AS MATERIALIZED (
  SELECT exchange.op_id, exchange.other_gpu_id AS peer_gpu_id, exchange.until_ns, exchange.transfer_ns
  FROM exchange
  JOIN staged
    ON staged.gpu_id = min(exchange.gpu_id, exchange.other_gpu_id)
    AND staged.other_gpu_id = max(exchange.gpu_id, exchange.other_gpu_id)
  WHERE exchange.until_ns - exchange.start_ns >= :least
  UNION ALL
  SELECT single.op_id, NULL, single.end_ns - usual.transfer_ns, usual.transfer_ns
  FROM single
  JOIN usual
    ON usual.gpu_id = single.gpu_id
    AND usual.name_id = single.name_id
    AND usual.size_bytes = single.size_bytes
  WHERE single.dur_ns - usual.transfer_ns >= :least
),
exposed AS MATERIALIZED (
  SELECT
    part.gpu_id,
    part.start_ns,
    min(part.end_ns, wait.until_ns) - part.start_ns AS dur_ns,
    wait.peer_gpu_id,
    wait.transfer_ns,
    wait.op_id
  FROM exposed_part AS part
  JOIN wait
    ON wait.op_id = part.op_id
  WHERE part.activity = 'communication'
    AND part.op_kind = 'kernel'
    AND EXISTS (SELECT 1 FROM wait)
    AND part.start_ns < wait.until_ns
),
total AS MATERIALIZED (
  SELECT gpu_id, sum(dur_ns) AS total_ns
  FROM exposed
  GROUP BY gpu_id
)
SELECT
  exposed.gpu_id,
  exposed.start_ns,
  exposed.dur_ns,
  'SendRecv, GPU ' || exposed.gpu_id || ' waits for ' || coalesce('GPU ' || exposed.peer_gpu_id, 'its peer') AS subject,
  exposed.peer_gpu_id,
  exposed.transfer_ns,
  exposed.op_id
FROM exposed
JOIN total
  ON total.gpu_id = exposed.gpu_id
JOIN gpu_window
  ON gpu_window.gpu_id = exposed.gpu_id
WHERE 100.0 * total.total_ns >= :least_pct * gpu_window.window_ns
ORDER BY exposed.gpu_id, exposed.start_ns, exposed.op_id
