/*---
name: waiting_gpu
summary: Whether the GPUs wait for the host, in one row.
internal: true
present_if: [gpu_window]
reads: [gpu_window, unseen_work]
columns:
  - {name: is_waiting, type: bool, doc: "1 if the GPUs idle for 5 % of their time or more; null without GPU work."}
limits: Waits for work that is not in the report do not count as idle time.
---*/
SELECT 20 * (sum(idle_ns) - coalesce((SELECT sum(unseen_ns) FROM unseen_work), 0)) >= sum(window_ns) AS is_waiting
FROM gpu_window
