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
  ceiling: Gaps in which an iteration begins or ends on the launching thread, up to the end of the next launch call. The first beginning and the last end do not count.
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
  SELECT layer_name, global_tid, cpu_start_ns, cpu_end_ns, step, step_count
  FROM step
  WHERE step_count >= 3
    AND found = 'marked'
),
border AS (
  SELECT global_tid, cpu_start_ns AS at_ns
  FROM steady
  WHERE step > 0
  UNION
  SELECT global_tid, cpu_end_ns
  FROM steady
  WHERE step < step_count - 1
),
gap AS MATERIALIZED (
  SELECT
    row_number() OVER (ORDER BY gpu_id, gap_start_ns) AS gap_number,
    gpu_id,
    gap_start_ns AS start_ns,
    max(iif(part = 'queued', gap_start_ns, end_ns)) AS end_ns,
    max(global_tid) AS global_tid,
    max(after_name) AS after_name
  FROM idle_part
  WHERE gap_ns >= :least
    AND global_tid IN (SELECT global_tid FROM border)
  GROUP BY gpu_id, gap_start_ns
),
-- The number of borders up to both ends of each gap.
event AS (
  SELECT global_tid, at_ns, 1 AS borders, NULL AS gap_number
  FROM border
  UNION ALL
  SELECT global_tid, start_ns, 0, gap_number
  FROM gap
  UNION ALL
  SELECT global_tid, end_ns, 0, gap_number
  FROM gap
),
counted AS (
  SELECT gap_number, sum(borders) OVER (PARTITION BY global_tid ORDER BY at_ns) AS borders
  FROM event
),
crossed AS (
  SELECT gap_number
  FROM counted
  WHERE gap_number IS NOT NULL
  GROUP BY gap_number
  HAVING max(borders) > min(borders)
)
SELECT
  gap.gpu_id,
  gap.start_ns,
  gap.end_ns - gap.start_ns AS dur_ns,
  (SELECT layer_name FROM steady LIMIT 1) AS subject,
  gap.after_name
FROM gap
JOIN crossed
  ON crossed.gap_number = gap.gap_number
WHERE gap.end_ns - gap.start_ns >= :least
ORDER BY gap.gpu_id, gap.start_ns, gap.gap_number
