/*---
name: serialised_communication
version: 1
title: Collectives on the stream of compute kernels
summary: Time in which collectives ran alone on a stream that also runs compute kernels.
why: To find communication that cannot overlap compute because both use one stream.
kind: finding
tags: [communication, gpu]
reads: [exposed_part, gpu_overlap, gpu_stream, gpu_window, torch_collective]
requires: [gpu_overlap]
finding:
  claim: "Serialized communication: collectives and compute kernels share a stream, so they cannot overlap."
  ceiling: Time in which these collectives ran and no compute kernel did, at most the time of all compute kernels of the GPU. Collectives before the first tenth of the compute kernels do not count.
  remedy: >-
    Start collectives early on a stream of their own. If the next kernel needs the result, split the batch and overlap the halves.
  in_pytorch: >-
    DDP, FSDP, or async_op=True with wait() where the result is needed.
  link: https://docs.pytorch.org/docs/stable/distributed.html
  confidence: medium
  edit: overlap=communication@
  frees: communication
params:
  - {name: collectives, type: int, default: 3, min: 1, doc: "Smallest number of collectives on a GPU: one alone is not part of a step."}
  - {name: stream_pct, type: real, default: 10, min: 0, max: 100, doc: "Smallest share of the GPU's compute time, in percent, that makes a stream one of compute kernels."}
  - {name: least_pct, type: real, default: 0.5, min: 0, doc: "Smallest share of the GPU's window, in percent, that all rows of a GPU must save."}
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: start_ns, type: timestamp, unit: ns, priority: 1, doc: "Start of the time that a fix would free, on the report's clock."}
  - {name: dur_ns, type: duration, unit: ns, priority: 1, doc: "Length of that time."}
  - {name: subject, type: text, label: "collective", priority: 0, doc: "The collective, such as AllReduce; the kernel name if it is none."}
  - {name: stream_id, type: id, label: "stream", doc: "CUDA stream ID of the collective, unique within its context."}
  - {name: op_id, type: id, label: "row of the kernel", priority: 3, doc: "Row ID of the kernel in the raw table."}
checks:
  - dur_ns > 0
when_empty: "collectives have streams of their own, or take little time without compute"
limits: >-
  Waiting for a late rank inside a collective counts too.
  The report does not say whether the next kernel needs the result: then only a change of the algorithm helps. A stream of
  collectives that compute waits for through events has no rows. The time is also in exposed_communication.
see_also: [exposed_communication, comm_overlap, stream_concurrency]
---*/
WITH
compute AS NOT MATERIALIZED (
  SELECT start_ns
  FROM gpu_overlap
  WHERE activity = 'compute'
),
-- When a tenth of the compute kernels have begun.
steady AS (
  SELECT start_ns
  FROM compute
  ORDER BY start_ns
  LIMIT 1 OFFSET (SELECT count(*) / 10 FROM compute)
),
-- Streams that communicate and also compute a good part of what their GPU computes.
shared AS MATERIALIZED (
  SELECT gpu_id, coalesce(pid, -1) AS pid, coalesce(context_id, -1) AS context_id, stream_id, total_ns
  FROM (SELECT *, sum(compute_ns) OVER (PARTITION BY gpu_id) AS total_ns FROM gpu_stream)
  WHERE compute_ns > 0
    AND 100.0 * compute_ns >= :stream_pct * total_ns
),
recorded AS MATERIALIZED (
  SELECT kernel_id, operation
  FROM torch_collective
),
exposed AS (
  SELECT
    part.gpu_id,
    part.start_ns,
    part.dur_ns,
    shared.total_ns AS compute_ns,
    coalesce(recorded.operation, collective(part.op_name), part.op_name) AS subject,
    part.stream_id,
    part.op_id
  FROM exposed_part AS part
  JOIN shared
    ON shared.gpu_id = part.gpu_id
    AND shared.pid = coalesce(part.pid, -1)
    AND shared.context_id = coalesce(part.context_id, -1)
    AND shared.stream_id = part.stream_id
  LEFT JOIN recorded
    ON recorded.kernel_id = part.op_id
  WHERE part.activity = 'communication'
    AND part.start_ns >= (SELECT start_ns FROM steady)
),
-- Overlap cannot hide more communication than there is compute.
hidden AS (
  SELECT
    *,
    min(dur_ns, compute_ns - coalesce(sum(dur_ns) OVER longer, 0)) AS hidden_ns
  FROM exposed
  WINDOW longer AS (
    PARTITION BY gpu_id
    ORDER BY dur_ns DESC, start_ns, op_id
    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
  )
),
counted AS (
  SELECT *, sum(hidden_ns) OVER (PARTITION BY gpu_id) AS total_ns, count(*) OVER (PARTITION BY gpu_id) AS collectives
  FROM hidden
  WHERE hidden_ns > 0
)
SELECT counted.gpu_id, counted.start_ns, counted.hidden_ns AS dur_ns, counted.subject, counted.stream_id, counted.op_id
FROM counted
JOIN gpu_window
  ON gpu_window.gpu_id = counted.gpu_id
WHERE counted.collectives >= :collectives
  AND 100.0 * counted.total_ns >= :least_pct * gpu_window.window_ns
ORDER BY counted.gpu_id, counted.start_ns, counted.op_id
