/*---
name: nvtx_gpu_proj_sum
version: 1
title: NVTX GPU projection summary
summary: GPU extent of NVTX ranges per name and style, largest total first.
why: To see which annotated phases keep the GPU, rather than the CPU, occupied.
kind: sum
tags: [cuda, nvtx]
reads: [nvtx_range_sum]
requires: [nvtx_op, nvtx_range_sum]
columns:
  - {name: total_proj_ns, type: duration, unit: ns, doc: "Sum of the extents on the GPU, each from the first operation's start to the last one's end."}
  - {name: total_range_ns, type: duration, unit: ns, doc: "Sum of the same ranges' lengths on the CPU."}
  - {name: range_count, type: int, unit: count, doc: "Ranges of this name and style that launched GPU work."}
  - {name: proj_mean_ns, type: duration, unit: ns, doc: "Mean extent."}
  - {name: proj_median_ns, type: duration, unit: ns, doc: "Median extent; the mean of the two middle ones for an even count."}
  - {name: proj_min_ns, type: duration, unit: ns, doc: "Shortest extent."}
  - {name: proj_max_ns, type: duration, unit: ns, doc: "Longest extent."}
  - {name: proj_stddev_ns, type: duration, unit: ns, doc: "Sample standard deviation of extents; 0 for one."}
  - {name: op_count, type: int, unit: count, doc: "GPU operations launched in these ranges; one inside two of them counts twice."}
  - {name: launch_count, type: int, unit: count, doc: "API calls that launched them: a graph launch is one, whatever it runs."}
  - {name: launch_mean, type: real, doc: "Mean of launch_count per range."}
  - {name: depth_mean, type: real, doc: "Mean number of ranges above."}
  - {name: child_mean, type: real, doc: "Mean number of ranges directly within that launched GPU work."}
  - {name: gpu_ns, type: duration, unit: ns, doc: "Sum of the operations' lengths, without the pauses between them."}
  - {name: range_kind, type: text, doc: "PushPop or StartEnd."}
  - {name: range_name, type: text, doc: "Message, behind its domain and a colon outside the default domain."}
checks:
  - range_count >= 1 AND launch_count >= range_count AND op_count >= launch_count
  - proj_median_ns BETWEEN proj_min_ns AND proj_max_ns
limits: >-
  An extent holds pauses and whatever else the GPU did meanwhile; gpu_ns does not. Extents of nested ranges count in
  both, and those of siblings may overlap, so rows must not be added up. Ranges without a name are left out, as by
  NVIDIA. Whole CUDA graphs count as operations, which NVIDIA leaves out. Of ranges with the same start and end the
  later row is inside, where NVIDIA gives neither a level. What PyTorch's own threads launch in the backward pass is not
  in the ranges of the main thread unless --attribute process says so.
see_also: [nvtx_gpu_proj_trace, nvtx_kern_sum, nvtx_sum, nvtx_tree]
nsys:
  title: NVTX GPU Projection Summary
  columns:
    - {name: Range, sql: range_name}
    - {name: Style, sql: range_kind}
    - {name: Total Proj Time, unit: ns, sql: total_proj_ns}
    - {name: Total Range Time, unit: ns, sql: total_range_ns}
    - {name: Range Instances, sql: range_count}
    - {name: Proj Avg, unit: ns, sql: proj_mean_ns}
    - {name: Proj Med, unit: ns, sql: proj_median_ns}
    - {name: Proj Min, unit: ns, sql: proj_min_ns}
    - {name: Proj Max, unit: ns, sql: proj_max_ns}
    - {name: Proj StdDev, unit: ns, sql: proj_stddev_ns}
    - {name: Total GPU Ops, sql: launch_count}
    - {name: Avg GPU Ops, sql: "round(launch_mean, 1)"}
    - {name: Avg Range Lvl, sql: "round(depth_mean, 1)"}
    - {name: Avg Num Child, sql: "round(child_mean, 1)"}
---*/
SELECT
  proj_ns AS total_proj_ns,
  range_ns AS total_range_ns,
  range_count,
  1.0 * proj_ns / range_count AS proj_mean_ns,
  proj_median_ns,
  proj_min_ns,
  proj_max_ns,
  proj_stddev_ns,
  op_count,
  launch_count,
  1.0 * launch_count / range_count AS launch_mean,
  1.0 * depth_sum / range_count AS depth_mean,
  1.0 * child_count / range_count AS child_mean,
  gpu_ns,
  range_kind,
  range_name
FROM nvtx_range_sum
WHERE range_name IS NOT NULL
-- The order in which nsq makes the rows: nothing has to be sorted again.
ORDER BY proj_ns DESC, range_name, range_kind, name_id
