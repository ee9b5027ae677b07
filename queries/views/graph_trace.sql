/*---
name: graph_trace
summary: One row per CUDA graph execution that was traced as a whole.
present_if: [src_cuda_graph_trace]
scope: {time: [start_ns, end_ns], device: device_id, stream: stream_id, process: pid, op: [graph, graph_trace_id]}
reads: [src_cuda_graph_trace]
columns:
  - {name: graph_trace_id, type: id, doc: "Row of the raw table."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Graph execution began, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "Graph execution ended."}
  - {name: dur_ns, type: duration, unit: ns, doc: "end_ns - start_ns."}
  - {name: graph_id, type: id, doc: "Graph that was instantiated."}
  - {name: graph_exec_id, type: id, doc: "Executable graph that ran."}
  - {name: device_id, type: id, doc: "CUDA ordinal of the GPU inside its process, which CUDA_VISIBLE_DEVICES may renumber."}
  - {name: context_id, type: id, doc: "CUDA context."}
  - {name: green_context_id, type: id, doc: "Green context; null outside one and before schema 3.7."}
  - {name: stream_id, type: id, doc: "CUDA stream, unique within its context."}
  - {name: correlation_id, type: id, doc: "Number of the API call that launched it, unique within a process at best; 0 or null if none did."}
  - {name: pid, type: id, doc: "Operating system's process id."}
  - {name: global_pid, type: id, doc: "Process across hosts and VMs; with correlation_id the key to the launching call."}
limits: The kernels inside are in no table; capture with --cuda-graph-trace=node to see them.
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
