/*---
name: graph_node
summary: One row per node of a CUDA graph that was created or cloned.
present_if: [src_cuda_graph_node_event, src_cuda_graph_event]
reads: [src_cuda_graph_event, src_cuda_graph_node_event]
columns:
  - {name: node_id, type: id, doc: "Node; GPU work names it as graph_node_id."}
  - {name: original_node_id, type: id, doc: "Node it was cloned from; null or 0 for a first node."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Creation began on the CPU, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "Creation ended."}
  - {name: global_pid, type: id, doc: "Process across hosts and VMs."}
  - {name: global_tid, type: id, doc: "Creating thread across hosts and VMs."}
limits: Needs --cuda-graph-trace=node.
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
