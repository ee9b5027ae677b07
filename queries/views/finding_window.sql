/*---
name: finding_window
summary: One row per GPU, with the window that findings are cut to.
internal: true
stored: true
present_if: [gpu_window]
reads: [gpu_window, judged_window, scope]
columns:
  - {name: gpu_id, type: id, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of the window, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "End of the window."}
  - {name: is_of_steps, type: bool, doc: "1 if the scope is from the first to the last of some steps, and the window is that of the GPU's own steps; else 0, and the window is that of gpu_window."}
limits: See gpu_window and judged_window.
---*/
WITH
own AS MATERIALIZED (
  SELECT gpu_id, start_ns, end_ns
  FROM judged_window
  WHERE step_count IS NOT NULL
    AND (SELECT min(start_ns) FROM judged_window) = (SELECT start_ns FROM scope)
    AND (SELECT max(end_ns) FROM judged_window) = (SELECT end_ns FROM scope)
)
SELECT gpu_id, start_ns, end_ns, 1 AS is_of_steps
FROM own
UNION ALL
SELECT gpu_id, start_ns, end_ns, 0
FROM gpu_window
WHERE gpu_id NOT IN (SELECT gpu_id FROM own)
