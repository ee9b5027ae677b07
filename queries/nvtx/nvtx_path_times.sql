/*---
name: nvtx_path_times
version: 1
title: Times of NVTX ranges by path
summary: GPU and CPU time per path of NVTX ranges, with mean and spread.
why: To see whether a layer takes the same time each time it runs, and to compare it with the same path in another run.
kind: sum
tags: [cuda, nvtx]
reads: [nvtx_path, nvtx_projection, scope]
requires: [nvtx_path]
params:
  - {name: layer, type: text, default: "*", doc: "GLOB pattern for layer_name."}
columns:
  - {name: layer_name, type: text, label: "layer", priority: 3, doc: "Last name of the path, each number replaced by * and PyTorch's suffixes removed; (unnamed) if empty."}
  - {name: range_count, type: int, unit: count, label: "ranges", priority: 1, doc: "Ranges with this path."}
  - {name: gpu_ns, type: duration, unit: ns, label: "total GPU time", priority: 1, doc: "Sum of the durations of the operations launched inside the ranges."}
  - {name: gpu_mean_ns, type: duration, unit: ns, label: "mean GPU time", priority: 1, doc: "Mean GPU time per range."}
  - {name: gpu_stddev_ns, type: duration, unit: ns, label: "GPU time stddev", priority: 1, doc: "Sample standard deviation of the GPU time per range; 0 for one range."}
  - {name: gpu_mean_error_ns, type: duration, unit: ns, label: "GPU mean error", doc: "Standard error of gpu_mean_ns, computed by mean_error(); null for one range."}
  - {name: cpu_ns, type: duration, unit: ns, label: "total CPU time", doc: "Sum of the CPU durations of the ranges."}
  - {name: cpu_mean_ns, type: duration, unit: ns, label: "mean CPU time", priority: 1, doc: "Mean CPU duration of a range."}
  - {name: cpu_stddev_ns, type: duration, unit: ns, label: "CPU time stddev", priority: 3, doc: "Sample standard deviation of the CPU durations; 0 for one range."}
  - {name: cpu_mean_error_ns, type: duration, unit: ns, label: "CPU mean error", priority: 3, doc: "Standard error of cpu_mean_ns, computed by mean_error(); null for one range."}
  - {name: op_count, type: int, unit: count, label: "GPU operations", doc: "GPU operations launched inside the ranges, summed over the ranges."}
  - {name: path, type: text, priority: 0, doc: "Range names from the outermost to the innermost, joined by ' / '."}
  - {name: attribution, type: text, priority: 3, doc: "How launches are attributed to ranges: thread, process or capture."}
checks:
  - range_count >= 1 AND gpu_ns >= 0 AND gpu_stddev_ns >= 0
  - (op_count > 0) OR gpu_ns = 0
when_empty: "no layer matches: range_names lists the folded names, and -p layer=GLOB takes one"
limits: >-
  Do not add up rows: nested ranges hold the same work. If a path covers different work, such as an operator called with
  several shapes, the spread includes that. Work that other threads launch, such as PyTorch's backward pass, is not
  counted in ranges of the main thread. Give --attribute process to count it.
see_also: [nvtx_layers, iterations, nvtx_gpu_proj_sum]
---*/
WITH
by_path AS MATERIALIZED (
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
