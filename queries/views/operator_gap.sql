/*---
name: operator_gap
summary: One row per long gap between compute kernels that operators of a framework fill, which launch GPU work.
internal: true
stored: true
present_if: [gpu_op, graph_trace]
reads: [compute_gap_part, nvtx_path, nvtx_projection]
columns:
  - {name: gpu_id, type: id, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: gap_start_ns, type: timestamp, unit: ns, doc: "Start of the gap, as in compute_gap_part."}
  - {name: gap_ns, type: duration, unit: ns, doc: "Length of the gap: half a millisecond to five."}
  - {name: global_tid, type: id, doc: "Thread that launched the operation after the gap, unique across hosts and VMs."}
limits: >-
  Operators are ranges such as aten::addmm or cpu_op:vllm::all_reduce, in which something was launched. They fill a gap if
  they take more than half of its time. Gaps with a wait, an allocation or another call of 50 µs or more have no row.
---*/
WITH
-- By path, because there are far fewer paths than names.
operator_path AS MATERIALIZED (
  SELECT path_id
  FROM nvtx_path
  WHERE layer_name GLOB 'cpu_op:*::*'
    OR layer_name GLOB 'aten::*'
),
gap AS MATERIALIZED (
  SELECT gpu_id, gap_start_ns, max(global_tid) AS global_tid, max(gap_ns) AS gap_ns
  -- Nothing is read without an operator, and no range without a gap.
  FROM (SELECT 1 FROM operator_path LIMIT 1)
  CROSS JOIN compute_gap_part
  WHERE gap_ns BETWEEN 500000 AND 5000000
    AND part <> 'queued'
  GROUP BY gpu_id, gap_start_ns
  HAVING max(part IN ('host sync', 'memory allocation', 'unknown') OR dur_ns >= 50000 AND part = 'other API call') = 0
),
operator AS MATERIALIZED (
  SELECT time_set(global_tid, start_ns, end_ns) AS times
  FROM (SELECT 1 FROM gap LIMIT 1)
  CROSS JOIN nvtx_projection
  WHERE path_id IN (SELECT path_id FROM operator_path)
    AND op_count > 0
    -- Few ranges meet one of the gaps.
    AND overlap_ns((SELECT time_set(gap_start_ns, gap_start_ns + gap_ns) FROM gap), start_ns, end_ns) > 0
)
SELECT gpu_id, gap_start_ns, gap_ns, global_tid
FROM gap
WHERE 2 * overlap_ns((SELECT times FROM operator), global_tid, gap_start_ns, gap_start_ns + gap_ns) > gap_ns
