/*---
name: sampled_call
summary: One row if the trace is a sample, with how far its calls are apart.
internal: true
present_if: [cuda_call]
reads: [all_cuda_call, all_gpu_op, export_fact]
columns:
  - {name: call_count, type: int, unit: count, doc: "CUDA calls in the trace."}
  - {name: id_distance, type: real, doc: "Mean distance of their correlation IDs."}
limits: >-
  Only of PyTorch traces with GPU work: other accelerators number calls in their own way. PyTorch numbers operators and
  calls together: in complete traces, calls are 1 to 20 numbers
  apart. From 50 on, with 100 calls or more, most calls are missing.
---*/
SELECT count(*) AS call_count, 1.0 * (max(correlation_id) - min(correlation_id)) / count(*) AS id_distance
-- Calls are not read if the report is of nsys.
FROM (SELECT 1 FROM export_fact WHERE fact = 'NSQ_IMPORT_OF' LIMIT 1)
CROSS JOIN (SELECT 1 FROM all_gpu_op LIMIT 1)
CROSS JOIN all_cuda_call
WHERE correlation_id > 0
HAVING count(*) >= 100
  AND max(correlation_id) - min(correlation_id) >= 50 * count(*)
