/*---
name: iteration_border
version: 1
title: The GPU idles between iterations
summary: Gaps of a GPU in which the launching thread begins or ends an iteration.
why: To see what data loading, logging and other work between iterations cost.
kind: finding
tags: [cuda, gpu, nvtx]
reads: [idle_part, step]
finding:
  claim: "Between iterations: the GPU idles while the launching thread goes from one iteration to the next."
  ceiling: Gaps in which an iteration begins or ends on the launching thread, up to the end of the next launch call. Gaps that are mostly an allocation or a wait for the GPU do not count. The first beginning and the last end do not count.
  remedy: >-
    Prepare the next iteration while the GPU runs. Log and save checkpoints rarely, or in another thread.
  in_pytorch: >-
    DataLoader workers, non_blocking copies, and loss.item() only every few steps.
  link: https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html
  confidence: medium
  frees: idle
params:
  - {name: least, type: duration, default: 20us, min: 0, doc: "Shortest interval to return."}
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: start_ns, type: timestamp, unit: ns, priority: 1, doc: "Start of the gap, on the report's clock."}
  - {name: dur_ns, type: duration, unit: ns, priority: 1, doc: "Time until the launch call of the next operation returned, or until the operation started if that was earlier."}
  - {name: subject, type: text, label: "iteration", priority: 0, doc: "Name of the iterations, each number replaced by *."}
  - {name: after_name, type: text, label: "next operation", doc: "Operation that the GPU ran after the gap."}
limits: >-
  Iterations are the marked ones of the relation step, if a thread has at least three: what the host does between repeated steps is unknown.
  Without them there are no rows. Gaps that begin after the host is already in the next iteration do not count.
see_also: [iterations, data_loading, host_work]
---*/
WITH
steady AS MATERIALIZED (
  SELECT
    layer_name,
    global_tid,
    cpu_start_ns,
    cpu_end_ns,
    step = min(step) OVER (PARTITION BY global_tid) AS is_first,
    step = max(step) OVER (PARTITION BY global_tid) AS is_last
  FROM step
  WHERE step_count >= 3
    AND found = 'marked'
),
border AS (
  SELECT global_tid, cpu_start_ns AS at_ns
  FROM steady
  WHERE NOT is_first
  UNION
  SELECT global_tid, cpu_end_ns
  FROM steady
  WHERE NOT is_last
),
-- From each border to the next: a gap that begins in another one than it ends in crosses a border.
part AS MATERIALIZED (
  SELECT time_places(global_tid, at_ns, next_ns) AS places
  FROM (
    SELECT global_tid, at_ns, lead(at_ns, 1, 1 << 62) OVER (PARTITION BY global_tid ORDER BY at_ns) AS next_ns
    FROM border
  )
),
gap AS MATERIALIZED (
  SELECT
    min(part_id) AS part_id,
    gpu_id,
    gap_start_ns AS start_ns,
    max(iif(part = 'queued', gap_start_ns, end_ns)) AS end_ns,
    max(global_tid) AS global_tid,
    max(after_name) AS after_name
  FROM idle_part
  WHERE gap_ns >= :least
    AND coalesce(place_of((SELECT places FROM part), global_tid, gap_start_ns), -1)
      <> coalesce(place_of((SELECT places FROM part), global_tid, gap_start_ns + gap_ns), -1)
  GROUP BY gpu_id, gap_start_ns
  -- A gap that is mostly an allocation or a wait has that cause.
  HAVING 2 * sum(iif(part IN ('memory allocation', 'host sync'), dur_ns, 0)) <= max(gap_ns)
)
SELECT
  gpu_id,
  start_ns,
  end_ns - start_ns AS dur_ns,
  (SELECT layer_name FROM steady LIMIT 1) AS subject,
  after_name
FROM gap
WHERE end_ns - start_ns >= :least
  AND coalesce(place_of((SELECT places FROM part), global_tid, start_ns), -1)
    <> coalesce(place_of((SELECT places FROM part), global_tid, end_ns), -1)
ORDER BY gpu_id, start_ns, part_id
