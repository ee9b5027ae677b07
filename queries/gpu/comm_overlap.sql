/*---
name: comm_overlap
version: 2
title: Communication, hidden and exposed
summary: Hidden and exposed time of each collective.
why: To see how much time more overlap with compute could save, and which collective costs most.
kind: sum
tags: [cuda, gpu, communication]
reads: [gpu_overlap, gpu_window, torch_collective]
requires: [kernel, gpu_overlap]
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: device_id, type: id, label: "CUDA device", priority: 3, doc: "CUDA device ordinal within the first process that uses the GPU; the number that --device takes."}
  - {name: collective, type: text, priority: 0, doc: "Collective, such as AllReduce, as PyTorch recorded it, else from the kernel name; unknown if the name does not show it."}
  - {name: calls, type: int, unit: count, doc: "Number of kernels."}
  - {name: total_ns, type: duration, unit: ns, priority: 1, doc: "Sum of their durations inside the window."}
  - {name: hidden_ns, type: duration, unit: ns, priority: 1, doc: "Part of total_ns in which a compute kernel ran on the same GPU."}
  - {name: exposed_ns, type: duration, unit: ns, label: "exposed time", priority: 1, doc: "Part of total_ns in which no compute kernel ran on the same GPU."}
  - {name: exposed_pct, type: percent, unit: percent, label: "exposed % of collective", priority: 1, doc: "exposed_ns as a share of total_ns."}
  - {name: longest_exposed_ns, type: duration, unit: ns, priority: 3, doc: "Longest exposed time of one kernel."}
  - {name: share_pct, type: percent, unit: percent, label: "share of GPU's exposed time", priority: 1, doc: "exposed_ns as a share of the exposed_ns of all communication on this GPU."}
checks:
  - hidden_ns + exposed_ns = total_ns
  - longest_exposed_ns <= exposed_ns
when_empty: "no kernel is a collective: there is no communication to overlap"
limits: >-
  A collective's kernel also runs while it waits for other ranks, so exposed time is not all transfer. If collectives
  run at the same time, exposed_ns counts each; gpu_time counts their exposed time once.
see_also: [comm_overlap_by_group, gpu_time, nccl_sum, gpu_time_by_range]
---*/
WITH
recorded AS MATERIALIZED (
  SELECT kernel_id, operation
  FROM torch_collective
  WHERE operation IS NOT NULL
),
-- Group by name ID, not text: it is many times faster.
by_name AS (
  SELECT
    op.gpu_id,
    op.op_kind,
    op.name_id,
    recorded.operation,
    min(op.op_id) AS any_op_id,
    count(*) AS calls,
    sum(op.in_window_ns) AS total_ns,
    sum(op.exposed_ns) AS exposed_ns,
    max(op.exposed_ns) AS longest_exposed_ns
  FROM gpu_overlap AS op
  LEFT JOIN recorded
    ON op.op_kind = 'kernel'
    AND recorded.kernel_id = op.op_id
  WHERE op.activity = 'communication'
  GROUP BY op.gpu_id, op.op_kind, op.name_id, recorded.operation
),
named AS MATERIALIZED (
  SELECT
    *,
    coalesce(
      operation,
      collective(
        (
          SELECT op_name
          FROM gpu_overlap
          WHERE gpu_overlap.op_kind = by_name.op_kind
            AND gpu_overlap.op_id = by_name.any_op_id
        )
      ),
      'unknown'
    ) AS collective
  FROM by_name
)
SELECT
  gpu_id,
  (SELECT device_id FROM gpu_window WHERE gpu_window.gpu_id = named.gpu_id) AS device_id,
  collective,
  sum(calls) AS calls,
  sum(total_ns) AS total_ns,
  sum(total_ns - exposed_ns) AS hidden_ns,
  sum(exposed_ns) AS exposed_ns,
  100.0 * sum(exposed_ns) / nullif(sum(total_ns), 0) AS exposed_pct,
  max(longest_exposed_ns) AS longest_exposed_ns,
  100.0 * sum(exposed_ns) / nullif(sum(sum(exposed_ns)) OVER (PARTITION BY gpu_id), 0) AS share_pct
FROM named
GROUP BY gpu_id, collective
ORDER BY gpu_id, exposed_ns DESC, collective
