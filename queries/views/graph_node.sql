/*---
name: graph_node
summary: One row per CUDA graph node that was created or cloned.
present_if: [src_cuda_graph_node_event, src_cuda_graph_event]
reads: [src_cuda_graph_event, src_cuda_graph_node_event]
columns:
  - {name: node_id, type: id, doc: "Node ID, which kernels, copies and fills have as graph_node_id."}
  - {name: original_node_id, type: id, doc: "Node that it was cloned from; null or 0 if it is not a clone."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of the creation on the CPU, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "End of the creation."}
  - {name: global_pid, type: id, doc: "Process ID, unique across hosts and VMs."}
  - {name: global_tid, type: id, doc: "Creating thread, unique across hosts and VMs."}
limits: Recorded only with --cuda-graph-trace=node.
---*/
SELECT
  graphNodeId AS node_id,
  originalGraphNodeId AS original_node_id,
  start AS start_ns,
  "end" AS end_ns,
  globalTid & -16777216 AS global_pid,
  globalTid AS global_tid
FROM src_cuda_graph_node_event
UNION ALL
SELECT
  graphNodeId AS node_id,
  originalGraphNodeId AS original_node_id,
  start AS start_ns,
  "end" AS end_ns,
  globalTid & -16777216 AS global_pid,
  globalTid AS global_tid
FROM src_cuda_graph_event
WHERE graphNodeId IS NOT NULL
