/*---
name: event_counts
version: 5
title: Events of each kind
summary: Number of kernels, calls, ranges and other events of a report.
why: To see what a report holds, above all one without GPU work.
kind: sum
tags: [capture]
internal: true
reads: [cpu_sample, cuda_call, gpu_metric, graph_trace, import_count, memcpy, memset, mpi_event, nvtx_mark, nvtx_span, op_total, os_call]
requires: []
columns:
  - {name: kind_id, type: id, priority: 3, doc: "Number of the kind, which orders the rows."}
  - {name: event_kind, type: text, priority: 0, doc: "Kind of event. Runtime calls are those of a runtime that is neither CUDA nor HIP."}
  - {name: event_count, type: int, unit: count, label: "events", priority: 0, doc: "Number of events of this kind; kinds without events have no row."}
when_empty: "the report holds none of these events"
limits: "Other kinds of events, such as thread scheduling, are not counted; nsq schema lists all tables."
see_also: [captured, report_info]
---*/
SELECT kind_id, event_kind, event_count
FROM (
  SELECT 1 AS kind_id, 'kernels' AS event_kind, sum(kernel_count) AS event_count FROM op_total
  UNION ALL
  SELECT 2, 'copies', count(*) FROM memcpy
  UNION ALL
  SELECT 3, 'fills', count(*) FROM memset
  UNION ALL
  SELECT 4, 'CUDA graph executions', count(*) FROM graph_trace
  UNION ALL
  SELECT
    5,
    CASE
      WHEN EXISTS (SELECT 1 FROM cuda_call WHERE api_name GLOB 'cu*') THEN 'CUDA API calls'
      WHEN EXISTS (SELECT 1 FROM cuda_call WHERE api_name GLOB 'hip*') THEN 'HIP API calls'
      ELSE 'runtime calls'
    END,
    count(*)
  FROM cuda_call
  UNION ALL
  SELECT 6, 'NVTX ranges', count(*) FROM nvtx_span
  UNION ALL
  SELECT 7, 'NVTX marks', count(*) FROM nvtx_mark
  UNION ALL
  SELECT 8, 'MPI calls', count(*) FROM mpi_event
  UNION ALL
  SELECT 9, 'operating system calls', count(*) FROM os_call
  UNION ALL
  -- PyTorch names the events of other accelerators by the accelerator, such as mtia_ccp_events.
  SELECT 10, 'events of another accelerator', coalesce(sum(events), 0)
  FROM import_count
  WHERE category GLOB '*_ccp_events' OR category IN ('xpu_kernel', 'hpu_op', 'privateuse1_kernel')
  UNION ALL
  SELECT 11, 'GPU metric samples', count(*) FROM gpu_metric
  UNION ALL
  SELECT 12, 'CPU samples', count(*) FROM cpu_sample
)
WHERE event_count > 0
ORDER BY kind_id
