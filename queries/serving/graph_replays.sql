/*---
name: graph_replays
version: 2
title: CUDA graph replays
summary: Launches of CUDA and HIP graphs, with the GPU work of each.
why: To see how often graphs were replayed, how many nodes each ran, and how much GPU time they took.
kind: trace
tags: [cuda, gpu, kernel]
reads: [all_cuda_call, all_graph_trace, all_kernel, nvtx_op]
requires: [cuda_call, nvtx_op]
params:
  - {name: limit, type: int, default: -1, min: -1, doc: "Number of rows to return; -1 returns all rows."}
columns:
  - {name: start_ns, type: timestamp, unit: ns, priority: 1, doc: "Start of the graph launch on the CPU, on the report's clock."}
  - {name: dur_ns, type: duration, unit: ns, label: "CPU time", priority: 1, doc: "Duration of the call."}
  - {name: graph_exec_id, type: id, priority: 2, doc: "Executable graph that ran; null unless the graph was traced as a whole."}
  - {name: first_node_id, type: id, priority: 2, doc: "Smallest graph_node_id of its kernels: the same in all replays of a graph; null if not recorded."}
  - {name: replay, type: int, priority: 0, doc: "Position by start among the launches with the same graph_exec_id and first_node_id in the process, from 0; null if neither is known."}
  - {name: op_count, type: int, unit: count, label: "GPU operations", priority: 1, doc: "GPU operations that the launch ran; a graph traced as a whole counts as one. 0 if the report has no work of the launch."}
  - {name: kernel_count, type: int, unit: count, label: "kernels", priority: 1, doc: "Operations of op_count that are kernels."}
  - {name: proj_start_ns, type: timestamp, unit: ns, label: "GPU start", priority: 3, doc: "Start of the first operation; null without operations."}
  - {name: span_ns, type: duration, unit: ns, label: "GPU span", priority: 1, doc: "Time from the start of its first operation to the end of its last; null without operations."}
  - {name: busy_ns, type: duration, unit: ns, label: "GPU busy", priority: 1, doc: "Time in which at least one of its operations ran; null without operations."}
  - {name: gpu_ns, type: duration, unit: ns, label: "operations, summed", priority: 3, doc: "Sum of the durations of the operations; more than busy_ns if operations overlap, null without operations."}
  - {name: pid, type: id, priority: 3, doc: "Operating system process ID."}
  - {name: tid, type: id, priority: 3, doc: "Operating system ID of the launching thread."}
  - {name: call_id, type: id, priority: 3, doc: "Launching API call in cuda_call."}
checks:
  - kernel_count <= op_count AND op_count >= 0
  - busy_ns <= span_ns AND busy_ns <= gpu_ns
when_empty: "no call launched a graph"
limits: >-
  nsys records the nodes only with --cuda-graph-trace=node, and
  otherwise one operation per graph. Traces of PyTorch on AMD GPUs do not record which graph ran.
see_also: [serving_steps, cuda_gpu_sum, launch_outcomes]
---*/
WITH
graph_call AS MATERIALIZED (
  SELECT call_id, start_ns, dur_ns, pid, tid
  FROM all_cuda_call
  WHERE api_name GLOB '*GraphLaunch*'
),
launched AS MATERIALIZED (
  SELECT
    call_id,
    min(iif(op_kind = 'graph', (SELECT graph_exec_id FROM all_graph_trace WHERE graph_trace_id = op_id), NULL))
      AS graph_exec_id,
    min(
      nullif(iif(op_kind = 'kernel', (SELECT graph_node_id FROM all_kernel WHERE kernel_id = op_id), NULL), 0)
    ) AS first_node_id,
    count(*) AS op_count,
    sum(op_kind = 'kernel') AS kernel_count,
    min(start_ns) AS proj_start_ns,
    max(end_ns) - min(start_ns) AS span_ns,
    busy_ns(start_ns, end_ns) AS busy_ns,
    sum(dur_ns) AS gpu_ns
  FROM nvtx_op
  WHERE call_id IN (SELECT call_id FROM graph_call)
  GROUP BY call_id
)
SELECT
  graph_call.start_ns,
  graph_call.dur_ns,
  launched.graph_exec_id,
  launched.first_node_id,
  iif(
    coalesce(launched.graph_exec_id, launched.first_node_id) IS NULL,
    NULL,
    row_number() OVER (
      PARTITION BY graph_call.pid, launched.graph_exec_id, launched.first_node_id
      ORDER BY graph_call.start_ns, graph_call.call_id
    ) - 1
  ) AS replay,
  coalesce(launched.op_count, 0) AS op_count,
  coalesce(launched.kernel_count, 0) AS kernel_count,
  launched.proj_start_ns,
  launched.span_ns,
  launched.busy_ns,
  launched.gpu_ns,
  graph_call.pid,
  graph_call.tid,
  graph_call.call_id
FROM graph_call
LEFT JOIN launched
  ON launched.call_id = graph_call.call_id
ORDER BY graph_call.start_ns, graph_call.call_id
LIMIT :limit
