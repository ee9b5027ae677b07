/*---
name: op_total
summary: "One row for all GPU operations: how many there are, from when to when, and their time."
stored: true
internal: true
present_if: [gpu_op]
reads: [graph_trace, kernel, memcpy, memset]
columns:
  - {name: op_count, type: int, unit: count, doc: "GPU operations: kernels, copies and fills."}
  - {name: kernel_count, type: int, unit: count, doc: "Kernels."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of the first operation or graph, on the report's clock; null without operations."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "End of the last operation or graph; null without operations."}
  - {name: total_ns, type: duration, unit: ns, doc: "Sum of their times; null without operations."}
  - {name: longest_ns, type: duration, unit: ns, doc: "The longest of their times; null without operations."}
limits: Work in a CUDA graph traced as a whole is not counted, and its time is in no sum; see graph_trace.
---*/
WITH
-- By kind: SQLite sums up the rows of one table faster than those of a union.
kind AS (
  SELECT
    count(*) AS op_count,
    count(*) AS kernel_count,
    min(start_ns) AS start_ns,
    max(end_ns) AS end_ns,
    sum(dur_ns) AS total_ns,
    max(dur_ns) AS longest_ns
  FROM kernel
  UNION ALL
  SELECT count(*), 0, min(start_ns), max(end_ns), sum(dur_ns), max(dur_ns)
  FROM memcpy
  UNION ALL
  SELECT count(*), 0, min(start_ns), max(end_ns), sum(dur_ns), max(dur_ns)
  FROM memset
)
SELECT
  sum(op_count) AS op_count,
  sum(kernel_count) AS kernel_count,
  min(min(start_ns), coalesce((SELECT min(start_ns) FROM graph_trace), min(start_ns))) AS start_ns,
  max(max(end_ns), coalesce((SELECT max(end_ns) FROM graph_trace), max(end_ns))) AS end_ns,
  sum(total_ns) AS total_ns,
  max(longest_ns) AS longest_ns
FROM kind
