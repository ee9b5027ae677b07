/*---
name: captured
version: 12
title: What was captured
summary: The number of GPU operations, and their time, in one row.
why: To know what a report is before reading its figures.
kind: info
tags: [cuda, gpu]
internal: true
reads: [driver, gpu, gpu_stream, gpu_window, graph_trace, kernel, op_total, report_source, scope, string, torch_collective]
requires: []
columns:
  - {name: gpu_start_ns, type: timestamp, unit: ns, priority: 1, doc: "Start of the first GPU's window; null without GPU work."}
  - {name: gpu_end_ns, type: timestamp, unit: ns, priority: 1, doc: "End of the last GPU's window; null without GPU work."}
  - {name: gpu_span_ns, type: duration, unit: ns, priority: 0, doc: "gpu_end_ns - gpu_start_ns; null without GPU work."}
  - {name: gpu_count, type: int, unit: count, label: "GPUs", priority: 2, doc: "GPUs that the report lists, with work or without."}
  - {name: kernel_count, type: int, unit: count, label: "kernels", priority: 0, doc: "Number of kernels."}
  - {name: copy_count, type: int, unit: count, label: "copies and fills", priority: 0, doc: "Number of copies and fills."}
  - {name: driver, type: text, priority: 1, doc: "Driver and its version, such as CUDA driver 13.0; null if unknown."}
  - {name: is_trace, type: bool, priority: 3, doc: "Whether the report was made from a trace."}
  - {name: maker, type: text, priority: 3, doc: "Kind of that trace, such as PyTorch trace, XLA trace, ONNX Runtime profile or rocpd database; null for a report of nsys."}
  - {name: is_pytorch, type: bool, priority: 3, doc: "Whether the program uses PyTorch: the report is a trace by PyTorch, or has a kernel of the namespace at::native."}
  - {name: is_rapids, type: bool, priority: 3, doc: "Whether the program uses libraries of RAPIDS: a name has the namespace cudf, cuml, cugraph or raft."}
  - {name: has_math_library, type: bool, priority: 3, doc: "Whether the name of a kernel is that of cuFFT, cuBLAS or cuSOLVER, of a matrix product or of a factorization."}
  - {name: is_amd, type: bool, priority: 3, doc: "Whether the driver is HIP, a GPU has a name of AMD, or HIP launched a kernel."}
  - {name: runtime, type: text, priority: 3, doc: "What launches the work of the GPU: CUDA, HIP for AMD, or SYCL for Intel."}
  - {name: is_integrated, type: bool, priority: 3, doc: "Whether every GPU with work shares memory with the CPU; null if unknown."}
  - {name: is_before_ampere, type: bool, priority: 3, doc: "Whether every GPU with work has a compute capability below 8, and so no BF16 or TF32; null if unknown."}
  - {name: sends_16_bits, type: bool, priority: 3, doc: "Whether most bytes that collectives add up are numbers of 16 bits; null if unknown."}
  - {name: graph_pct, type: percent, unit: percent, label: "% in whole graphs", priority: 3, doc: "Share of CUDA graphs traced as a whole in the time of kernels and of these graphs; null without either."}
  - {name: is_windows, type: bool, priority: 3, doc: "Whether the machine has the display adapter that every Windows has."}
  - {name: is_limited, type: bool, priority: 3, doc: "Whether a part of the time was asked for, as with --time: then the windows are this part."}
  - {name: is_one_process, type: bool, priority: 3, doc: "Whether several GPUs run collectives, and one process launches on all GPUs."}
limits: "Kernels inside CUDA graphs that were traced as a whole are not counted."
see_also: [report_info, gpu_span]
---*/
WITH
graphs AS (
  SELECT coalesce(sum(end_ns - start_ns), 0) AS graph_ns
  FROM graph_trace
),
brand AS (
  SELECT
    EXISTS (SELECT 1 FROM driver WHERE driver_name = 'HIP')
      OR EXISTS (SELECT 1 FROM gpu WHERE gpu_name GLOB 'AMD *')
      OR EXISTS (SELECT 1 FROM string WHERE text GLOB 'hip*LaunchKernel*') AS is_amd
),
math_name AS MATERIALIZED (
  SELECT string_id
  FROM string
  WHERE text GLOB '*fft*'
    OR text GLOB '*cublas*'
    OR text GLOB '*cusolver*'
    OR text GLOB '*gemm*'
    OR text GLOB '*getrf*'
    OR text GLOB '*potrf*'
    OR text GLOB '*geqrf*'
    OR text GLOB '*syev*'
),
span AS (
  SELECT min(start_ns) AS start_ns, max(end_ns) AS end_ns
  FROM gpu_window
)
SELECT
  span.start_ns AS gpu_start_ns,
  span.end_ns AS gpu_end_ns,
  span.end_ns - span.start_ns AS gpu_span_ns,
  (SELECT count(*) FROM gpu) AS gpu_count,
  (SELECT coalesce(sum(kernel_count), 0) FROM op_total) AS kernel_count,
  (SELECT coalesce(sum(op_count - kernel_count), 0) FROM op_total) AS copy_count,
  (SELECT group_concat(driver_name || ' ' || driver_version, ', ') FROM driver) AS driver,
  is_trace,
  maker,
  coalesce(maker GLOB 'PyTorch*' OR maker GLOB 'Ascend*', 0)
    OR EXISTS (SELECT 1 FROM string WHERE instr(text, 'at::native')) AS is_pytorch,
  EXISTS (
    SELECT 1
    FROM string
    WHERE text GLOB '*cudf::*' OR text GLOB '*cuml::*' OR text GLOB '*cugraph::*' OR text GLOB '*raft::*'
  ) AS is_rapids,
  EXISTS (
    SELECT 1
    -- Kernels are not read if the report has none of these names.
    FROM (SELECT 1 FROM math_name LIMIT 1)
    CROSS JOIN kernel
    WHERE kernel.name_id IN (SELECT string_id FROM math_name)
  ) AS has_math_library,
  is_amd,
  CASE
    WHEN is_amd THEN 'HIP'
    WHEN (SELECT min(gpu_name GLOB 'Intel*') FROM gpu WHERE gpu_id IN (SELECT gpu_id FROM gpu_window)) THEN 'SYCL'
    ELSE 'CUDA'
  END AS runtime,
  (SELECT min(is_integrated) FROM gpu WHERE gpu_id IN (SELECT gpu_id FROM gpu_window)) AS is_integrated,
  (
    SELECT max(CAST(compute_capability AS REAL)) < 8
    FROM gpu
    WHERE gpu_id IN (SELECT gpu_id FROM gpu_window)
  ) AS is_before_ampere,
  (
    SELECT 2 * sum(iif(data_type IN ('BFloat16', 'Half'), size_bytes, 0)) > sum(size_bytes)
    FROM torch_collective
    WHERE operation IN ('AllReduce', 'ReduceScatter')
  ) AS sends_16_bits,
  CASE
    WHEN graph_ns > 0 THEN 100.0 * graph_ns / (graph_ns + (SELECT coalesce(sum(dur_ns), 0) FROM kernel))
    WHEN (SELECT sum(kernel_count) FROM op_total) > 0 THEN 0.0
  END AS graph_pct,
  EXISTS (SELECT 1 FROM gpu WHERE gpu_name = 'Microsoft Basic Render Driver') AS is_windows,
  (SELECT start_ns IS NOT NULL OR end_ns IS NOT NULL FROM scope) AS is_limited,
  (
    SELECT count(DISTINCT pid) = 1 AND count(DISTINCT iif(communication_ns > 0, gpu_id, NULL)) > 1
    FROM gpu_stream
  ) AS is_one_process
FROM span
CROSS JOIN brand
CROSS JOIN graphs
CROSS JOIN report_source
ORDER BY gpu_start_ns
