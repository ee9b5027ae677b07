/*---
name: graph_trace
summary: One row per execution of a CUDA graph traced as a whole.
present_if: [src_cuda_graph_trace]
scope: {time: [start_ns, end_ns], device: device_id, stream: stream_id, process: pid, op: [graph, graph_trace_id]}
reads: [scope, src_cuda_graph_trace]
columns:
  - {name: graph_trace_id, type: id, doc: "Row ID in the raw table."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of the graph execution, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "End of the graph execution."}
  - {name: dur_ns, type: duration, unit: ns, doc: "end_ns - start_ns."}
  - {name: graph_id, type: id, doc: "Graph that was instantiated."}
  - {name: graph_exec_id, type: id, doc: "Executable graph that ran."}
  - {name: device_id, type: id, doc: "CUDA device ordinal within its process; CUDA_VISIBLE_DEVICES may renumber it."}
  - {name: context_id, type: id, doc: "CUDA context."}
  - {name: green_context_id, type: id, doc: "CUDA green context; null outside a green context and before schema 3.7."}
  - {name: stream_id, type: id, doc: "CUDA stream ID, unique within its context."}
  - {name: correlation_id, type: id, doc: "Correlation ID of the launching API call, at best unique within a process; 0 or null if there is none."}
  - {name: pid, type: id, doc: "Operating system process ID."}
  - {name: global_pid, type: id, doc: "Process ID, unique across hosts and VMs; together with correlation_id it identifies the launching call."}
limits: The kernels inside the graph are not recorded. Capture with --cuda-graph-trace=node to see them.
---*/
SELECT
  row_id AS graph_trace_id,
  start AS start_ns,
  "end" AS end_ns,
  "end" - start AS dur_ns,
  graphId AS graph_id,
  graphExecId AS graph_exec_id,
  deviceId AS device_id,
  contextId AS context_id,
  nullif(greenContextId, 0) AS green_context_id,
  streamId AS stream_id,
  correlationId AS correlation_id,
  globalPid >> 24 & 16777215 AS pid,
  globalPid AS global_pid
FROM src_cuda_graph_trace
WHERE
  (
    "end" - start BETWEEN 0 AND 1000000000000000
    AND start BETWEEN -4000000000000000000 AND 4000000000000000000
    AND ("end" > start OR start > 0)
  )
  OR (SELECT as_recorded FROM scope)
