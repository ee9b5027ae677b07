/*---
name: nvtx_gpu_proj_sum
version: 1
title: NVTX GPU projection summary
summary: GPU span of NVTX ranges per name and kind, largest total first.
why: To see which annotated phases keep the GPU busy, rather than the CPU.
kind: sum
tags: [cuda, nvtx]
reads: [nvtx_projection]
requires: [nvtx_op, nvtx_range]
columns:
  - {name: total_proj_ns, type: duration, unit: ns, label: "total GPU span", priority: 1, doc: "Sum of the GPU spans. A span goes from the start of the first operation to the end of the last."}
  - {name: total_range_ns, type: duration, unit: ns, label: "total CPU time", priority: 1, doc: "Sum of the CPU durations of the same ranges."}
  - {name: range_count, type: int, unit: count, label: "ranges", priority: 1, doc: "Ranges of this name and kind that launched GPU work."}
  - {name: proj_mean_ns, type: duration, unit: ns, label: "mean GPU span", priority: 1, doc: "Mean GPU span."}
  - {name: proj_median_ns, type: duration, unit: ns, label: "median GPU span", doc: "Median GPU span; the mean of the two middle values if the count is even."}
  - {name: proj_min_ns, type: duration, unit: ns, label: "min GPU span", priority: 3, doc: "Shortest GPU span."}
  - {name: proj_max_ns, type: duration, unit: ns, label: "max GPU span", priority: 3, doc: "Longest GPU span."}
  - {name: proj_stddev_ns, type: duration, unit: ns, label: "GPU span stddev", priority: 3, doc: "Sample standard deviation of the GPU spans; 0 for one range."}
  - {name: op_count, type: int, unit: count, label: "GPU operations", doc: "GPU operations launched in these ranges. An operation inside two nested ranges of this name counts twice."}
  - {name: launch_count, type: int, unit: count, label: "launches", priority: 3, doc: "API calls that launched these operations. A graph launch counts once."}
  - {name: launch_mean, type: real, label: "launches per range", priority: 3, doc: "Mean launch_count of a range."}
  - {name: depth_mean, type: real, label: "mean depth", priority: 3, doc: "Mean number of ranges around a range."}
  - {name: child_mean, type: real, label: "children per range", priority: 3, doc: "Mean number of direct children that launched GPU work."}
  - {name: gpu_ns, type: duration, unit: ns, label: "GPU time", priority: 1, doc: "Sum of the durations of the operations, without the idle time between them."}
  - {name: range_kind, type: text, label: "kind", priority: 3, doc: "Kind of range: PushPop or StartEnd."}
  - {name: range_name, type: text, label: "range", priority: 0, doc: "Message, with the prefix DOMAIN: outside the default domain."}
checks:
  - range_count >= 1 AND launch_count >= range_count AND op_count >= launch_count
  - proj_median_ns BETWEEN proj_min_ns AND proj_max_ns
when_empty: "no named range launched GPU work; --attribute process also counts what other threads launch meanwhile"
limits: >-
  A span includes idle time and other work of the GPU; gpu_ns does not. Do not add up rows: nested ranges count in each
  other, and spans of ranges side by side can overlap. Ranges without a name are left out, as in NVIDIA's report. CUDA
  graphs traced as a whole count as operations; NVIDIA leaves them out. If two ranges have the same start and end, the
  later row is inside the other; NVIDIA gives neither a level. Work that other threads launch, such as PyTorch's
  backward pass, is not counted in ranges of the main thread. Give --attribute process to count it.
see_also: [nvtx_gpu_proj_trace, nvtx_kern_sum, nvtx_sum, nvtx_tree]
nsys:
  title: NVTX GPU Projection Summary
  lacks:
    - {without: nvtx_range, says: "NV Tools Extension (NVTX) data"}
    - {says: "CUDA API data"}
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
WITH
named AS (
  SELECT
    name_id,
    range_kind,
    min(range_name) AS range_name,
    count(*) AS range_count,
    sum(dur_ns) AS range_ns,
    sum(proj_end_ns - proj_start_ns) AS proj_ns,
    median(proj_end_ns - proj_start_ns) AS proj_median_ns,
    min(proj_end_ns - proj_start_ns) AS proj_min_ns,
    max(proj_end_ns - proj_start_ns) AS proj_max_ns,
    stddev(proj_end_ns - proj_start_ns) AS proj_stddev_ns,
    sum(op_count) AS op_count,
    sum(launch_count) AS launch_count,
    sum(gpu_ns) AS gpu_ns,
    sum(depth) AS depth_sum,
    sum(child_count) AS child_count
  FROM nvtx_projection
  WHERE op_count > 0
  GROUP BY name_id, range_kind
)
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
FROM named
WHERE range_name IS NOT NULL
ORDER BY proj_ns DESC, range_name, range_kind, name_id
