/*---
name: scope_ids
version: 3
title: IDs for --gpu, --device, --stream and --process
summary: One row per GPU, device, stream and process, with its GPU operations.
why: To choose what to look at, and to see what an option would leave out.
kind: sum
tags: [capture, gpu]
reads: [all_gpu_op, all_graph_trace, device, gpu_metric_name, process, process_device]
requires: []
params:
  - {name: option, type: enum, values: [all, gpu, device, stream, process], default: all, doc: "The option to list IDs for."}
columns:
  - {name: scope_option, type: text, label: "option", priority: 0, doc: "The option that takes the ID: gpu, device, stream or process."}
  - {name: id, type: id, label: "ID", priority: 0, doc: "GPU number, CUDA device ordinal, CUDA stream ID or process ID."}
  - {name: op_count, type: int, unit: count, label: "GPU operations", priority: 1, doc: "Kernels, copies, fills and CUDA graphs traced as a whole with this ID; 0 for a GPU, device or process without any."}
checks:
  - op_count >= 0
when_empty: "the report names no such GPU, device, stream or process"
limits: Scope options leave out nothing here. The same stream ID may exist in several contexts and processes.
see_also: [gpu_devices, report_info, gpu_span]
---*/
WITH
op AS (
  SELECT global_pid, device_id, count(*) AS op_count
  FROM all_gpu_op
  WHERE :option IN ('all', 'gpu')
  GROUP BY global_pid, device_id
  UNION ALL
  SELECT global_pid, device_id, count(*)
  FROM all_graph_trace
  WHERE :option IN ('all', 'gpu')
  GROUP BY global_pid, device_id
),
found AS (
  SELECT 'gpu' AS scope_option, process_device.gpu_id AS id, op.op_count
  FROM op
  JOIN process_device
    ON process_device.global_pid IS NOT DISTINCT FROM op.global_pid
    AND process_device.device_id IS NOT DISTINCT FROM op.device_id
  UNION ALL
  SELECT 'gpu', gpu_id, 0
  FROM device
  WHERE :option IN ('all', 'gpu')
  UNION ALL
  SELECT 'gpu', gpu_id, 0
  FROM gpu_metric_name
  WHERE :option IN ('all', 'gpu')
  UNION ALL
  SELECT 'device', device_id, count(*)
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
