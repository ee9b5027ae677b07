/*---
name: second_call_row
summary: One row per second row of a CUDA call, which exports of 2022 have with --cudabacktrace.
present_if: [src_cuda_api]
reads: [src_cuda_api]
columns:
  - {name: call_id, type: id, doc: "Row ID in the raw table. The call itself has another row, as in cuda_call."}
  - {name: correlation_id, type: id, doc: "Correlation ID of the call, which both rows have."}
limits: >-
  None is looked for where the first 10,000 rows of the raw table have none: calls at the start of a program are long
  enough for a backtrace.
---*/
SELECT row_id AS call_id, correlationId AS correlation_id
-- All calls are read only if some of the first have a second row.
FROM (SELECT 1 FROM (SELECT eventClass FROM src_cuda_api LIMIT 10000) WHERE eventClass = 67 LIMIT 1)
CROSS JOIN src_cuda_api
WHERE eventClass = 67
