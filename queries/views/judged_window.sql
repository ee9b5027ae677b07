/*---
name: judged_window
summary: One row per GPU, with the time that conclusions are about, its steps after the warm-up or the whole capture.
internal: true
present_if: [gpu_window]
reads: [judged_step]
columns:
  - {name: gpu_id, type: id, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of the first step after the warm-up, on the report's clock; without steps, of the GPU's window."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "End of the last step before the tail; without steps, of the GPU's window."}
  - {name: step_count, type: int, unit: count, doc: "Steps from start to end; null without steps."}
  - {name: count, type: int, unit: count, doc: "The same, 1 without steps: what to divide by for a mean step."}
limits: >-
  Steps follow each other from end to end, so they are one window. If several threads have steps on a GPU, the one counts
  whose steps take longest.
---*/
SELECT gpu_id, start_ns, end_ns, nullif(step_count, 0) AS step_count, count
FROM (
  SELECT
    gpu_id,
    min(start_ns) AS start_ns,
    max(end_ns) AS end_ns,
    sum(is_step) AS step_count,
    count(*) AS count,
    row_number() OVER (PARTITION BY gpu_id ORDER BY max(end_ns) - min(start_ns) DESC, pid, tid) AS nth
  FROM judged_step
  GROUP BY gpu_id, pid, tid
)
WHERE nth = 1
