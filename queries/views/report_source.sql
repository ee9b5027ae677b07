/*---
name: report_source
summary: Whether the report was made from a trace, and from which kind, in one row.
internal: true
present_if: [export_fact]
reads: [export_fact]
columns:
  - {name: is_trace, type: bool, doc: "1 for a report made from a trace, 0 for a report of nsys."}
  - {name: maker, type: text, doc: "Kind of that trace: PyTorch trace, also with (XPU) or (legacy profiler), XLA trace, Ascend trace, ONNX Runtime profile, rocpd database or rpd database; null for a report of nsys."}
  - {name: recorder, type: text, doc: "What recorded it: nsys, PyTorch, JAX, ROCm or ONNX Runtime."}
  - {name: wait_call, type: text, doc: "Call of the program that waits for the GPU, in the words of the recorder."}
  - {name: call_remedy, type: text, doc: "How to record GPU work together with the calls that launch it."}
  - {name: range_remedy, type: text, doc: "How to record ranges around the phases of the program."}
---*/
WITH
said AS (
  SELECT
    count(*) > 0 AS is_trace,
    max(value) AS maker,
    CASE
      WHEN count(*) = 0 THEN 'nsys'
      WHEN max(value) GLOB 'XLA*' THEN 'JAX'
      WHEN max(value) GLOB 'ONNX*' THEN 'ONNX Runtime'
      WHEN max(value) GLOB '*database' THEN 'ROCm'
      ELSE 'PyTorch'
    END AS recorder,
    CASE
      WHEN max(value) GLOB 'Ascend*' THEN 'npu'
      WHEN max(value) GLOB '*(XPU)' THEN 'xpu'
      ELSE 'cuda'
    END AS torch_device
  FROM export_fact
  WHERE fact = 'NSQ_IMPORT_OF'
)
SELECT
  is_trace,
  maker,
  recorder,
  CASE recorder
    WHEN 'PyTorch' THEN 'torch.' || torch_device || '.synchronize()'
    WHEN 'JAX' THEN 'jax.block_until_ready()'
    WHEN 'ROCm' THEN 'hipDeviceSynchronize()'
    ELSE 'cudaDeviceSynchronize()'
  END AS wait_call,
  CASE recorder
    WHEN 'PyTorch' THEN 'activities=[ProfilerActivity.CPU, ProfilerActivity.' || upper(torch_device) || ']'
    WHEN 'JAX' THEN 'a trace with the CUDA calls of the host, or nsys profile --trace=cuda,nvtx'
    WHEN 'ROCm' THEN 'rocprofv3 --runtime-trace, or runTracer.sh with calls of HIP'
    WHEN 'ONNX Runtime' THEN 'nsys profile --trace=cuda,nvtx of the same program: ONNX Runtime records no calls'
    ELSE 'nsys profile --trace=cuda,nvtx'
  END AS call_remedy,
  CASE recorder
    WHEN 'PyTorch' THEN 'torch.profiler.record_function around the phases of the program'
    WHEN 'JAX' THEN 'jax.profiler.TraceAnnotation around the phases of the program'
    WHEN 'ROCm' THEN 'roctxRangePush around the phases of the program (rocprofv3 --marker-trace)'
    WHEN 'ONNX Runtime' THEN 'a profile with the nodes of the session'
    ELSE 'nsys profile --trace=cuda,nvtx, with ranges in the program; for PyTorch --pytorch=autograd-nvtx'
  END AS range_remedy
FROM said
