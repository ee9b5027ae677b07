/*---
name: recomputation
version: 1
title: Forward work that the backward pass repeats
summary: Time of kernels that activation checkpointing runs a second time.
why: To see what less activation checkpointing could save.
kind: finding
tags: [cuda, gpu, kernel, nvtx]
reads: [gpu_overlap, launch, nvtx_name, nvtx_projection, python_frame]
requires: [gpu_overlap, launch]
rows_if: "EXISTS (SELECT 1 FROM nvtx_name WHERE range_text GLOB '*CheckpointFunctionBackward*') OR EXISTS (SELECT 1 FROM python_frame WHERE function_name = 'recompute_fn')"
finding:
  claim: "Recomputation: the backward pass repeats forward operators (activation checkpointing)."
  ceiling: The time of kernels launched by the backward function of a checkpoint, without those of the backward pass in it. Time in which another compute kernel ran does not count.
  remedy: >-
    If memory allows, checkpoint fewer layers, or keep the results of matrix products and attention and repeat only cheap operators.
  in_pytorch: >-
    torch.utils.checkpoint.create_selective_checkpoint_contexts.
  link: https://docs.pytorch.org/docs/stable/checkpoint.html
  confidence: medium
  edit: without=compute@
  frees: kernels
params:
  - {name: least, type: duration, default: 1us, min: 0, doc: "Shortest interval to return."}
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: start_ns, type: timestamp, unit: ns, priority: 1, doc: "Start of the kernel, on the report's clock."}
  - {name: dur_ns, type: duration, unit: ns, priority: 1, doc: "Its time in the window, without that of other compute kernels."}
  - {name: subject, type: text, label: "kernel", priority: 0, doc: "Function name of the kernel."}
  - {name: op_kind, type: text, priority: 3, doc: "Always kernel."}
  - {name: op_id, type: id, priority: 3, doc: "Row ID of the kernel in the raw table."}
checks:
  - dur_ns > 0
when_empty: "no kernel was launched by the backward function of an activation checkpoint"
limits: >-
  Checkpoints are known by the ranges named CheckpointFunctionBackward of PyTorch, Megatron and DeepSpeed, and by calls of recompute_fn in
  PyTorch's checkpoint.py, which traces with call stacks have. Others are not seen, nor what FlashAttention repeats
  inside its kernels. Whether the memory suffices without is not in a report.
see_also: [nvtx_layers, unfused_attention, phases]
---*/
WITH
-- Nothing else is read without one.
checkpoint_name AS MATERIALIZED (
  SELECT name_id
  FROM nvtx_name
  WHERE range_text GLOB '*CheckpointFunctionBackward*'
),
repeated AS MATERIALIZED (
  SELECT global_tid, start_ns, end_ns
  FROM (SELECT 1 FROM checkpoint_name LIMIT 1)
  CROSS JOIN nvtx_projection
  WHERE range_kind = 'PushPop'
    AND name_id IN (SELECT name_id FROM checkpoint_name)
  UNION ALL
  SELECT global_tid, start_ns, end_ns
  FROM python_frame
  WHERE function_name = 'recompute_fn'
    AND file_name GLOB '*torch/utils/checkpoint.py'
),
-- The backward pass of what was repeated.
inner_backward AS MATERIALIZED (
  SELECT global_tid, start_ns, end_ns
  FROM (SELECT 1 FROM repeated LIMIT 1)
  CROSS JOIN nvtx_projection
  WHERE range_kind = 'PushPop'
    AND name_id IN (
      SELECT name_id
      FROM nvtx_name
      WHERE range_text GLOB 'autograd::engine::evaluate_function*'
        OR range_text GLOB '*Backward[0-9]*'
    )
    AND name_id NOT IN (SELECT name_id FROM checkpoint_name)
    AND end_ns > start_ns
    AND overlap_ns((SELECT time_set(global_tid, start_ns, end_ns) FROM repeated), global_tid, start_ns, end_ns)
      = end_ns - start_ns
),
launched AS (
  SELECT op_id
  FROM (SELECT 1 FROM repeated LIMIT 1)
  CROSS JOIN launch
  WHERE op_kind = 'kernel'
    AND call_id IS NOT NULL
    AND overlap_ns(
      (SELECT time_set(global_tid, start_ns, end_ns) FROM repeated),
      global_tid,
      call_start_ns,
      call_end_ns
    ) > 0
    AND coalesce(
      overlap_ns(
        (SELECT time_set(global_tid, start_ns, end_ns) FROM inner_backward),
        global_tid,
        call_start_ns,
        call_end_ns
      ),
      0
    ) = 0
),
timed AS (
  SELECT
    overlap.gpu_id,
    overlap.start_ns,
    overlap.in_window_ns - max(overlap.concurrent_ns - overlap.communication_ns - overlap.memory_ns, 0) AS dur_ns,
    overlap.op_name,
    overlap.op_kind,
    overlap.op_id
  FROM launched
  JOIN gpu_overlap AS overlap
    ON overlap.op_kind = 'kernel'
    AND overlap.op_id = launched.op_id
  WHERE overlap.activity = 'compute'
)
SELECT gpu_id, start_ns, dur_ns, simple_name(op_name) AS subject, op_kind, op_id
FROM timed
WHERE dur_ns >= max(:least, 1)
ORDER BY gpu_id, start_ns, op_id
