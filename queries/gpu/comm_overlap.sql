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
SELECT
  gpu_id,
  coalesce(collective(op_name), 'unknown') AS collective,
  count(*) AS calls,
  sum(in_window_ns) AS total_ns,
  sum(in_window_ns - exposed_ns) AS hidden_ns,
  sum(exposed_ns) AS exposed_ns,
  100.0 * sum(exposed_ns) / nullif(sum(in_window_ns), 0) AS exposed_pct,
  max(exposed_ns) AS longest_exposed_ns,
  100.0 * sum(exposed_ns) / nullif(sum(sum(exposed_ns)) OVER (PARTITION BY gpu_id), 0) AS share_pct
FROM gpu_overlap
WHERE activity = 'communication'
GROUP BY gpu_id, coalesce(collective(op_name), 'unknown')
ORDER BY gpu_id, exposed_ns DESC, collective
