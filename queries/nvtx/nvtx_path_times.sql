/*---
name: nvtx_path_times
version: 1
title: Times of ranges by path
summary: GPU and CPU time per path of NVTX range names, with the spread over its ranges.
why: To see whether a layer takes the same time whenever it runs, and to compare it with the same place in another run.
kind: sum
tags: [cuda, nvtx]
reads: [nvtx_path, nvtx_projection, scope]
requires: [nvtx_path]
params:
  - {name: layer, type: text, default: "*", doc: "GLOB over layer_name."}
columns:
  - {name: layer_name, type: text, doc: "Last name of the path, numbers folded to *, PyTorch's attachments cut off; (unnamed) if empty."}
  - {name: range_count, type: int, unit: count, doc: "Ranges that have this path."}
  - {name: gpu_ns, type: duration, unit: ns, doc: "Sum over the ranges of the lengths of operations launched inside."}
  - {name: gpu_mean_ns, type: duration, unit: ns, doc: "Mean of that time of a range."}
  - {name: gpu_stddev_ns, type: duration, unit: ns, doc: "Its sample standard deviation over the ranges; 0 for one."}
  - {name: gpu_mean_error_ns, type: duration, unit: ns, doc: "Standard error of gpu_mean_ns, by mean_error(); null for one."}
  - {name: cpu_ns, type: duration, unit: ns, doc: "Sum of the ranges' lengths on the CPU."}
  - {name: cpu_mean_ns, type: duration, unit: ns, doc: "Mean length of a range on the CPU."}
  - {name: cpu_stddev_ns, type: duration, unit: ns, doc: "Its sample standard deviation; 0 for one."}
  - {name: cpu_mean_error_ns, type: duration, unit: ns, doc: "Standard error of cpu_mean_ns, likewise."}
  - {name: op_count, type: int, unit: count, doc: "GPU operations launched inside, summed over the ranges."}
  - {name: path, type: text, doc: "Names from the outermost in, joined by slashes in blanks."}
  - {name: attribution, type: text, doc: "How launches were attributed to ranges: thread, process or capture."}
checks:
  - range_count >= 1 AND gpu_ns >= 0 AND gpu_stddev_ns >= 0
  - (op_count > 0) OR gpu_ns = 0
limits: >-
  Ranges within others hold the same work: rows do not add up. A path that covers different work, such as an operator
  that is called at several shapes, has the spread of the work. What other threads launch, as PyTorch does in the
  backward pass, is in the ranges of those threads, unless --attribute process says otherwise.
see_also: [nvtx_layers, iterations, nvtx_gpu_proj_sum]
---*/
WITH
by_path AS (
  SELECT
    path_id,
    count(*) AS range_count,
    sum(gpu_ns) AS gpu_ns,
    avg(gpu_ns) AS gpu_mean_ns,
    stddev(gpu_ns) AS gpu_stddev_ns,
    mean_error(start_ns, gpu_ns) AS gpu_mean_error_ns,
    sum(dur_ns) AS cpu_ns,
    avg(dur_ns) AS cpu_mean_ns,
    stddev(dur_ns) AS cpu_stddev_ns,
    mean_error(start_ns, dur_ns) AS cpu_mean_error_ns,
    sum(op_count) AS op_count
  FROM nvtx_projection
  GROUP BY path_id
  LIMIT -1
)
SELECT
  path.layer_name,
  by_path.range_count,
  by_path.gpu_ns,
  by_path.gpu_mean_ns,
  by_path.gpu_stddev_ns,
  by_path.gpu_mean_error_ns,
  by_path.cpu_ns,
  by_path.cpu_mean_ns,
  by_path.cpu_stddev_ns,
  by_path.cpu_mean_error_ns,
  by_path.op_count,
  path.path,
  (SELECT attribution FROM scope) AS attribution
FROM by_path
JOIN nvtx_path AS path
  ON path.path_id = by_path.path_id
WHERE path.layer_name GLOB :layer
ORDER BY by_path.gpu_ns DESC, by_path.cpu_ns DESC, path.path, path.path_id
