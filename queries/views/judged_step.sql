/*---
name: judged_step
summary: One row per step after the warm-up on each GPU; of a GPU without steps, one for its window.
internal: true
present_if: [gpu_window]
reads: [gpu_window, step_window]
columns:
  - {name: gpu_id, type: id, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of the step, as in step_window, or of the GPU's window, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "End of the step or of the window."}
  - {name: dur_ns, type: duration, unit: ns, doc: "end_ns - start_ns."}
  - {name: pid, type: id, doc: "Operating system process ID of the step; null for a window."}
  - {name: tid, type: id, doc: "Operating system thread ID of the step; null for a window."}
  - {name: is_step, type: bool, doc: "1 for a step, 0 for a window."}
limits: >-
  Several threads can have steps on one GPU, which overlap. judged_window has one row per GPU.
---*/
WITH
stepped AS (
  SELECT gpu_id, start_ns, end_ns, dur_ns, pid, tid
  FROM step_window
  WHERE part IN ('median', 'steady')
    AND dur_ns > 0
)
SELECT *, 1 AS is_step
FROM stepped
UNION ALL
SELECT gpu_id, start_ns, end_ns, window_ns, NULL, NULL, 0
FROM gpu_window
WHERE gpu_id NOT IN (SELECT gpu_id FROM stepped)
  AND window_ns > 0
