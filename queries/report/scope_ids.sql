/*---
name: scope_ids
version: 2
title: IDs for --device, --stream and --process
summary: One row per device, stream and process ID, with its number of GPU operations.
why: To choose what to look at, and to see what an option would leave out.
kind: sum
tags: [capture, gpu]
reads: [all_gpu_op, all_graph_trace, device, process]
requires: []
params:
  - {name: option, type: enum, values: [all, device, stream, process], default: all, doc: "The option to list IDs for."}
columns:
  - {name: scope_option, type: text, label: "option", priority: 0, doc: "The option that takes the ID: device, stream or process."}
  - {name: id, type: id, label: "ID", priority: 0, doc: "CUDA device ordinal, CUDA stream ID or process ID."}
  - {name: op_count, type: int, unit: count, label: "GPU operations", priority: 1, doc: "Kernels, copies, fills and CUDA graphs traced as a whole with this ID; 0 for a device or process without any."}
checks:
  - op_count >= 0
when_empty: "the report names no such device, stream or process"
limits: Scope options leave out nothing here. The same stream ID may exist in several contexts and processes.
see_also: [report_info, gpu_span]
---*/
WITH
found AS (
  SELECT 'device' AS scope_option, device_id AS id, count(*) AS op_count
  FROM all_gpu_op
  WHERE :option IN ('all', 'device')
  GROUP BY device_id
  UNION ALL
  SELECT 'device', device_id, count(*)
  FROM all_graph_trace
  WHERE :option IN ('all', 'device')
  GROUP BY device_id
  UNION ALL
  SELECT 'device', device_id, 0
  FROM device
  WHERE :option IN ('all', 'device')
  UNION ALL
  SELECT 'stream', stream_id, count(*)
  FROM all_gpu_op
  WHERE :option IN ('all', 'stream')
  GROUP BY stream_id
  UNION ALL
  SELECT 'stream', stream_id, count(*)
  FROM all_graph_trace
  WHERE :option IN ('all', 'stream')
  GROUP BY stream_id
  UNION ALL
  SELECT 'process', pid, count(*)
  FROM all_gpu_op
  WHERE :option IN ('all', 'process')
  GROUP BY pid
  UNION ALL
  SELECT 'process', pid, count(*)
  FROM all_graph_trace
  WHERE :option IN ('all', 'process')
  GROUP BY pid
  UNION ALL
  SELECT 'process', pid, 0
  FROM process
  WHERE :option IN ('all', 'process')
)
SELECT
  scope_option,
  id,
  sum(op_count) AS op_count
FROM found
WHERE id IS NOT NULL
GROUP BY scope_option, id
ORDER BY scope_option, op_count DESC, id
