/*---
name: comm_overlap
version: 1
title: Communication, hidden and exposed
summary: Time of each collective that ran behind compute, and that did not.
why: To see what overlapping communication with compute would still gain, and which collective costs most.
kind: sum
tags: [cuda, gpu, communication]
reads: [gpu_overlap]
requires: [kernel, gpu_overlap]
columns:
  - {name: gpu_id, type: id, doc: "Number of the GPU on its machine; its CUDA ordinal where the export knows no better."}
  - {name: device_id, type: id, doc: "CUDA ordinal of the GPU in a process that used it, the lowest: what --device takes."}
  - {name: collective, type: text, doc: "What the kernel does, such as AllReduce, by its own name; unknown if that does not say."}
  - {name: calls, type: int, unit: count, doc: "Kernels."}
  - {name: total_ns, type: duration, unit: ns, doc: "Sum of their lengths in the window that is looked at."}
  - {name: hidden_ns, type: duration, unit: ns, doc: "Part of total_ns in which a kernel that computes ran on the same GPU."}
  - {name: exposed_ns, type: duration, unit: ns, doc: "The rest of total_ns."}
  - {name: exposed_pct, type: percent, unit: percent, doc: "exposed_ns in total_ns."}
  - {name: longest_exposed_ns, type: duration, unit: ns, doc: "Most that one of them ran exposed."}
  - {name: share_pct, type: percent, unit: percent, doc: "exposed_ns in the exposed_ns of all communication on this GPU."}
checks:
  - hidden_ns + exposed_ns = total_ns
  - longest_exposed_ns <= exposed_ns
limits: >-
  A collective's kernel also runs while it waits for other ranks: exposed time is not all transfer. Collectives that run
  together add up in exposed_ns; gpu_time has the time of all of them, counted once.
see_also: [gpu_time, nccl_sum, gpu_time_by_range]
---*/
WITH
-- Numbers stand for names here: grouping by them is many times cheaper than by the text.
by_name AS (
  SELECT
    gpu_id,
    op_kind,
    name_id,
    min(op_id) AS any_op_id,
    min(device_id) AS device_id,
    count(*) AS calls,
    sum(in_window_ns) AS total_ns,
    sum(exposed_ns) AS exposed_ns,
    max(exposed_ns) AS longest_exposed_ns
  FROM gpu_overlap
  WHERE activity = 'communication'
  GROUP BY gpu_id, op_kind, name_id
),
named AS (
  SELECT
    *,
    coalesce(
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
  LIMIT -1
)
SELECT
  gpu_id,
  min(device_id) AS device_id,
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
