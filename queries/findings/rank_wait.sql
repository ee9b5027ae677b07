/*---
name: rank_wait
version: 4
title: Collectives that wait for a slower GPU
summary: Time in which a GPU waits inside a collective until the last GPU joins it.
why: To see how much time GPUs lose because the work of ranks is not balanced.
kind: finding
tags: [gpu, communication]
reads: [exposed_part, gpu, gpu_overlap, gpu_window, kernel]
requires: [exposed_part, kernel]
rows_if: (SELECT count(*) FROM gpu_window WHERE communication_ns > 0) > 1
finding:
  claim: "Late ranks: GPUs start the same collective at different times, and the early ones compute nothing while they wait."
  ceiling: From the start of the collective on a GPU to its start on the last GPU, without the time in which the waiting GPU computes.
  remedy: >-
    Give all ranks equal work, and keep logging, checkpoints and slow loading of one rank away from the collective. If the
    last GPU runs the same kernels slower, check its clocks, power and temperature, and what else runs there.
  link: https://docs.pytorch.org/docs/stable/notes/ddp.html
  narrows: [exposed_communication]
  confidence: medium
  edit: balance=collectives
  frees: communication
params:
  - {name: least, type: duration, default: 10us, min: 0, doc: "Shortest wait to return."}
  - {name: least_pct, type: real, default: 0.5, min: 0, doc: "Smallest share of the GPU's window, in percent, that the waits of a GPU must take."}
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU that waits: its number on its machine."}
  - {name: start_ns, type: timestamp, unit: ns, priority: 1, doc: "Start of the wait, on the report's clock."}
  - {name: dur_ns, type: duration, unit: ns, priority: 1, doc: "Length of the wait, or of a part without compute."}
  - {name: subject, type: text, label: "collective", priority: 0, doc: "Collective, and the GPU that starts it last: AllReduce, GPU 2 last. With slower_pct, also that: AllReduce, GPU 2 last, 15 % slower kernels. AllReduce, changing GPUs last, if each GPU comes last now and then."}
  - {name: last_gpu_id, type: id, label: "last GPU", priority: 1, doc: "GPU that joined last."}
  - {name: slower_pct, type: percent, unit: percent, label: "% slower than other GPUs", priority: 2, doc: "How much longer the compute kernels of the last GPU take than the same kernels on the other GPUs; null below 3 %, and unless the GPUs run the same kernels, as often and with the same blocks, and most kernels and calls take longer."}
  - {name: nth, type: int, label: "call", doc: "Number of the call among those of its kernel and stream, counted from 1."}
  - {name: op_id, type: id, label: "row of the kernel", priority: 3, doc: "Row ID of the waiting kernel in the raw table."}
checks:
  - dur_ns > 0
  - last_gpu_id <> gpu_id
when_empty: "no collective could be matched between GPUs, or all GPUs start them at the same time"
limits: >-
  Only GPUs of this report. The calls of a kernel are matched by their order on each GPU, and only if the numbers of
  calls are equal and every matched call ran at the same time on all GPUs; otherwise the kernel has no rows. So collectives
  among some of the GPUs, and captures that begin during a step, often have no rows. Sends and receives count if all GPUs
  take part in each. A rank can leave a Broadcast or Reduce before the last one joins: it has waited if its kernel took at
  least twice the time of the last one. If another GPU waits in turn, its delay can have an earlier cause.
see_also: [exposed_communication, comm_overlap, nccl_sum]
---*/
WITH
call AS MATERIALIZED (
  SELECT
    gpu_id,
    op_id,
    name_id,
    pid,
    context_id,
    stream_id,
    start_ns,
    end_ns,
    collective(op_name) AS operation,
    row_number() OVER (PARTITION BY gpu_id, name_id, pid, context_id, stream_id ORDER BY start_ns, op_id) AS nth
  FROM gpu_overlap
  WHERE op_kind = 'kernel'
    AND activity = 'communication'
    AND collective(op_name) IN (
      'AllReduce',
      'AllGather',
      'ReduceScatter',
      'AllToAll',
      'SendRecv',
      'Broadcast',
      'Reduce'
    )
),
-- IDs of streams differ between processes, their order does not.
stream AS MATERIALIZED (
  SELECT
    gpu_id,
    name_id,
    pid,
    context_id,
    stream_id,
    count(*) AS calls,
    row_number() OVER (PARTITION BY gpu_id, name_id ORDER BY min(start_ns), pid, context_id, stream_id) AS stream_number
  FROM call
  GROUP BY gpu_id, name_id, pid, context_id, stream_id
),
placed AS MATERIALIZED (
  SELECT call.*, stream.stream_number, stream.calls
  FROM call
  JOIN stream
    ON stream.gpu_id = call.gpu_id
    AND stream.name_id = call.name_id
    AND stream.pid = call.pid
    AND stream.context_id = call.context_id
    AND stream.stream_id = call.stream_id
),
collective_call AS MATERIALIZED (
  SELECT
    name_id,
    stream_number,
    nth,
    min(operation) AS operation,
    count(*) AS gpus,
    min(calls) AS fewest_calls,
    max(calls) AS most_calls,
    max(start_ns) AS last_start_ns,
    min(end_ns) AS first_end_ns
  FROM placed
  GROUP BY name_id, stream_number, nth
),
-- A rank cannot finish these collectives before the last one joins, so matched calls overlap. It can leave broadcasts
-- and reductions early, so these count if calls of others match.
counted_alike AS MATERIALIZED (
  SELECT
    name_id,
    stream_number,
    min(operation) AS operation,
    min(first_end_ns - last_start_ns) > 0 AS overlaps
  FROM collective_call
  GROUP BY name_id, stream_number
  HAVING min(gpus) >= 2
    AND min(gpus) = max(gpus)
    AND min(fewest_calls) = max(most_calls)
),
matched AS MATERIALIZED (
  SELECT name_id, stream_number
  FROM counted_alike
  WHERE overlaps
    OR (
      operation IN ('Broadcast', 'Reduce')
      AND EXISTS (SELECT 1 FROM counted_alike WHERE overlaps AND operation NOT IN ('Broadcast', 'Reduce'))
    )
),
last AS MATERIALIZED (
  SELECT name_id, stream_number, nth, start_ns, min(gpu_id) AS gpu_id, min(end_ns) AS end_ns
  FROM placed
  GROUP BY name_id, stream_number, nth, start_ns
),
wait AS MATERIALIZED (
  SELECT
    placed.gpu_id,
    placed.op_id,
    placed.nth,
    collective_call.last_start_ns,
    last.gpu_id AS last_gpu_id
  FROM placed
  JOIN matched
    ON matched.name_id = placed.name_id
    AND matched.stream_number = placed.stream_number
  JOIN collective_call
    ON collective_call.name_id = placed.name_id
    AND collective_call.stream_number = placed.stream_number
    AND collective_call.nth = placed.nth
  JOIN last
    ON last.name_id = placed.name_id
    AND last.stream_number = placed.stream_number
    AND last.nth = placed.nth
    AND last.start_ns = collective_call.last_start_ns
  WHERE collective_call.last_start_ns - placed.start_ns >= :least
    AND (
      placed.end_ns > collective_call.last_start_ns
      OR placed.end_ns - placed.start_ns >= 2 * (last.end_ns - last.start_ns)
    )
),
exposed AS (
  SELECT
    part.gpu_id,
    part.start_ns,
    min(part.end_ns, wait.last_start_ns) - part.start_ns AS dur_ns,
    wait.last_gpu_id,
    wait.nth,
    wait.op_id
  FROM exposed_part AS part
  JOIN wait
    ON wait.op_id = part.op_id
  WHERE part.activity = 'communication'
    AND part.op_kind = 'kernel'
    AND EXISTS (SELECT 1 FROM wait)
    AND part.start_ns < wait.last_start_ns
),
counted AS MATERIALIZED (
  SELECT *, sum(dur_ns) OVER (PARTITION BY gpu_id) AS total_ns
  FROM exposed
),
-- Of batches of unequal length, each GPU has the longest now and then.
changing AS MATERIALIZED (
  SELECT count(*) AS gpus
  FROM (
    SELECT last_gpu_id, sum(dur_ns) AS late_ns, sum(sum(dur_ns)) OVER () AS all_ns
    FROM counted
    GROUP BY last_gpu_id
  )
  CROSS JOIN (SELECT count(*) AS all_gpus FROM gpu_window)
  WHERE late_ns * all_gpus >= 0.4 * all_ns
  HAVING count(*) >= 0.7 * max(all_gpus)
    AND max(late_ns) < 0.6 * max(all_ns)
),
work AS MATERIALIZED (
  SELECT
    op.gpu_id,
    op.name_id,
    coalesce(kernel.grid_x * kernel.grid_y * kernel.grid_z, 0) AS blocks,
    coalesce(kernel.block_x * kernel.block_y * kernel.block_z, 0) AS threads,
    count(*) AS calls,
    sum(op.dur_ns) AS total_ns
  FROM gpu_overlap AS op
  JOIN kernel
    ON kernel.kernel_id = op.op_id
  WHERE op.op_kind = 'kernel'
    AND op.activity = 'compute'
    AND EXISTS (SELECT 1 FROM wait)
  GROUP BY 1, 2, 3, 4
),
-- Work of another amount shows in the number of kernels or blocks. The window can cut a step of one GPU.
same_work AS MATERIALIZED (
  SELECT name_id, blocks, threads, count(*) AS gpus, sum(1.0 * total_ns / calls) AS mean_ns
  FROM work
  GROUP BY name_id, blocks, threads
  HAVING count(*) = (SELECT count(DISTINCT gpu_id) FROM work)
    AND count(*) >= 2
    AND 20 * (max(calls) - min(calls)) <= max(calls)
),
compared AS MATERIALIZED (
  SELECT
    work.gpu_id,
    work.total_ns,
    -- What the other GPUs would take.
    work.calls * (same_work.mean_ns - 1.0 * work.total_ns / work.calls) / (same_work.gpus - 1) AS other_ns
  FROM work
  LEFT JOIN same_work
    ON same_work.name_id = work.name_id
    AND same_work.blocks = work.blocks
    AND same_work.threads = work.threads
),
pace AS MATERIALIZED (
  SELECT
    paced.*,
    sum(paced.times >= 1.02) OVER () AS slow_count,
    min(gpu.gpu_name) OVER () AS first_name,
    max(gpu.gpu_name) OVER () AS last_name
  FROM (
    SELECT
      gpu_id,
      sum(total_ns) AS total_ns,
      sum(iif(other_ns IS NULL, 0, total_ns)) AS same_ns,
      sum(iif(other_ns IS NULL, 0, total_ns)) / sum(other_ns) AS times
    FROM compared
    GROUP BY gpu_id
  ) AS paced
  LEFT JOIN gpu
    ON gpu.gpu_id = paced.gpu_id
),
-- A GPU that is slow is slow in most kernels, and the others are equal: alone among GPUs of one model.
slow_kernels AS MATERIALIZED (
  SELECT pace.gpu_id, pace.times
  FROM pace
  JOIN compared
    ON compared.gpu_id = pace.gpu_id
  WHERE pace.times >= 1.03
    AND pace.same_ns >= 0.9 * pace.total_ns
    AND pace.slow_count = 1
    AND coalesce(pace.first_name = pace.last_name, true)
  GROUP BY pace.gpu_id
  HAVING sum(iif(compared.total_ns >= (1 + pace.times) / 2 * compared.other_ns, compared.total_ns, 0))
    >= 0.8 * max(pace.same_ns)
    AND sum(compared.total_ns >= (1 + pace.times) / 2 * compared.other_ns) >= 0.8 * count(compared.other_ns)
),
-- Input of another length makes kernels longer with the same blocks, too, but not in every call.
main_kernel AS MATERIALIZED (
  SELECT slow_kernels.gpu_id, slow_kernels.times, work.name_id, work.blocks, work.threads
  FROM slow_kernels
  JOIN work
    ON work.gpu_id = slow_kernels.gpu_id
  JOIN same_work
    ON same_work.name_id = work.name_id
    AND same_work.blocks = work.blocks
    AND same_work.threads = work.threads
  ORDER BY work.total_ns DESC, work.name_id, work.blocks, work.threads
  LIMIT 1
),
main_call AS (
  SELECT
    main.gpu_id,
    main.times,
    op.dur_ns,
    op.gpu_id = main.gpu_id AS is_own,
    row_number() OVER (PARTITION BY op.gpu_id ORDER BY op.start_ns, op.op_id) AS nth
  FROM main_kernel AS main
  JOIN gpu_overlap AS op
    ON op.name_id = main.name_id
  JOIN kernel
    ON kernel.kernel_id = op.op_id
  WHERE op.op_kind = 'kernel'
    AND coalesce(kernel.grid_x * kernel.grid_y * kernel.grid_z, 0) = main.blocks
    AND coalesce(kernel.block_x * kernel.block_y * kernel.block_z, 0) = main.threads
),
slow AS MATERIALIZED (
  SELECT gpu_id, 100 * (times - 1) AS slower_pct
  FROM (
    SELECT
      gpu_id,
      times,
      max(iif(is_own, dur_ns, NULL)) AS own_ns,
      avg(iif(is_own, NULL, dur_ns)) AS other_ns
    FROM main_call
    GROUP BY gpu_id, times, nth
  )
  GROUP BY gpu_id, times
  HAVING sum(own_ns >= (1 + times) / 2 * other_ns) >= 0.8 * sum(own_ns + other_ns > 0)
)
SELECT
  counted.gpu_id,
  counted.start_ns,
  counted.dur_ns,
  (
    SELECT collective(op_name)
    FROM gpu_overlap
    WHERE gpu_overlap.op_kind = 'kernel'
      AND gpu_overlap.op_id = counted.op_id
  ) || iif((SELECT gpus FROM changing), ', changing GPUs', ', GPU ' || counted.last_gpu_id) || ' last' || coalesce(
    ', ' || CAST(round(slow.slower_pct) AS INTEGER) || ' % slower kernels',
    ''
  ) AS subject,
  counted.last_gpu_id,
  slow.slower_pct,
  counted.nth,
  counted.op_id
FROM counted
JOIN gpu_window
  ON gpu_window.gpu_id = counted.gpu_id
LEFT JOIN slow
  ON slow.gpu_id = counted.last_gpu_id
WHERE 100.0 * counted.total_ns >= :least_pct * gpu_window.window_ns
ORDER BY counted.gpu_id, counted.start_ns, counted.op_id
