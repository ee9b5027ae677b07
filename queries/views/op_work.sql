/*---
name: op_work
summary: One row per operator call that launched GPU work, with its FLOPs and bytes.
present_if: [src_nvtx_event]
stored: true
reads: [all_cuda_call, all_serving_annotation, kernel, nvtx_name, nvtx_op, nvtx_projection, operator_work, process_device, src_operator_input]
columns:
  - {name: range_id, type: id, doc: "Range of the call; null for work that was launched outside any range."}
  - {name: op_name, type: text, doc: "Operator, such as aten::mm; without known work, the name of the innermost range; null outside any range."}
  - {name: kind, type: text, doc: "Kind of work; see operator_work; null if the work is unknown."}
  - {name: shape, type: text, doc: "What the work depends on; see operator_work; null if the work is unknown."}
  - {name: data_type, type: text, doc: "Type of the elements; null if unknown."}
  - {name: batch, type: int, unit: count, doc: "Products of a batched matmul, or sequences of attention; null for other kinds."}
  - {name: m, type: int, unit: count, doc: "Rows of a matmul's result, or queries of a sequence; null for other kinds."}
  - {name: n, type: int, unit: count, doc: "Columns of a matmul's result, or keys of a sequence; null for other kinds."}
  - {name: k, type: int, unit: count, doc: "Length of a matmul's inner products, or width of a head; null for other kinds."}
  - {name: heads, type: int, unit: count, doc: "Heads of attention; null for other kinds."}
  - {name: is_causal, type: bool, doc: "1 if attention is causal; null for other kinds."}
  - {name: flop_count, type: int, unit: count, doc: "Floating-point operations; null if unknown."}
  - {name: read_elements, type: int, unit: count, doc: "Elements that it reads at least; null if unknown."}
  - {name: written_elements, type: int, unit: count, doc: "Elements that it writes at least; null if unknown."}
  - {name: read_bytes, type: bytes, unit: bytes, doc: "Bytes that it reads at least; null if unknown."}
  - {name: written_bytes, type: bytes, unit: bytes, doc: "Bytes that it writes at least; null if unknown."}
  - {name: source, type: text, doc: "From what the work is known: trace or range name; null if it is unknown."}
  - {name: phase, type: text, doc: "forward, backward, optimizer, loss or data, by the innermost range around it whose name says it; see nvtx_name; null if none does."}
  - {name: has_inputs, type: bool, doc: "1 if the inputs of the operator were recorded."}
  - {name: gpu_id, type: id, doc: "GPU of the longest kernel; null if unknown."}
  - {name: op_count, type: int, unit: count, doc: "GPU operations that the call launched, without those of nested calls with known work."}
  - {name: gpu_ns, type: duration, unit: ns, doc: "Sum of the durations of these operations."}
  - {name: graph_op_count, type: int, unit: count, doc: "Part of op_count that launches of CUDA graphs launched."}
  - {name: graph_ns, type: duration, unit: ns, doc: "Part of gpu_ns that launches of CUDA graphs launched."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of the first operation on the GPU."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "End of the last operation on the GPU."}
  - {name: kernel_id, type: id, doc: "Longest kernel of the call; null without a kernel."}
  - {name: global_tid, type: id, doc: "Thread that launched the work, unique across hosts and VMs; null if unknown."}
limits: >-
  An operation belongs to the innermost call around its launch whose work is known; else to the innermost range. A call
  whose nested calls launched all the GPU work is no row. Paged attention needs the batch of the step, see
  serving_annotation; its keys and values are taken to have the type of the queries. CUDA graphs launch operations
  without their operators.
---*/
WITH
-- Calls whose work is known. All ranges of a trace that hold inputs are rows of src_operator_input.
given AS (
  SELECT rangeId AS range_id, inputsId AS inputs_id
  FROM src_operator_input
  LIMIT -1
),
range AS (
  SELECT
    projection.range_id,
    projection.parent_id,
    -- emit_nvtx numbers the calls: aten::mm, seq = 5, op_id = 7.
    iif(
      nvtx_name.range_text GLOB '?*, op_id = [0-9]*' OR nvtx_name.range_text GLOB '?*, seq = [0-9]*',
      substr(nvtx_name.range_text, 1, instr(nvtx_name.range_text, ', ') - 1),
      nvtx_name.range_text
    ) AS range_text,
    nvtx_name.phase,
    given.range_id IS NOT NULL OR nvtx_name.range_text GLOB '?*, sizes = [[]*' AS has_inputs,
    work.op_name,
    work.kind,
    work.shape,
    work.data_type,
    work.batch,
    work.m,
    work.n,
    work.k,
    work.heads,
    work.kv_heads,
    work.is_causal,
    work.flop_count,
    work.read_elements,
    work.written_elements,
    work.read_bytes,
    work.written_bytes,
    work.source
  FROM nvtx_projection AS projection
  JOIN nvtx_name
    ON nvtx_name.name_id = projection.name_id
  LEFT JOIN given
    ON given.range_id = projection.range_id
  LEFT JOIN operator_work AS work
    ON work.name_id = projection.name_id
    AND work.inputs_id = coalesce(given.inputs_id, 0)
  WHERE projection.op_count > 0
  LIMIT -1
),
step AS (
  -- Each token of a context has a key and a value.
  SELECT range_id, attended_pairs, 2 * (prefill_context_tokens + decode_context_tokens) AS cached
  FROM all_serving_annotation
  WHERE attended_pairs IS NOT NULL
  LIMIT -1
),
-- owner_id is the innermost range with known work, from the top down.
owned AS (
  SELECT
    range_id,
    iif(kind IS NOT NULL, range_id, NULL) AS owner_id,
    phase,
    iif(range_id IN (SELECT range_id FROM step), range_id, NULL) AS step_id
  FROM range
  WHERE parent_id IS NULL
    OR parent_id NOT IN (SELECT range_id FROM range)
  UNION ALL
  SELECT
    range.range_id,
    iif(range.kind IS NOT NULL, range.range_id, owned.owner_id) AS owner_id,
    coalesce(range.phase, owned.phase) AS phase,
    iif(range.range_id IN (SELECT range_id FROM step), range.range_id, owned.step_id) AS step_id
  FROM owned
  JOIN range
    ON range.parent_id = owned.range_id
),
stored_owner AS (
  SELECT *
  FROM owned
  LIMIT -1
),
graph_call AS (
  SELECT call_id
  FROM all_cuda_call
  WHERE api_name GLOB '*GraphLaunch*'
),
op AS (
  SELECT
    coalesce(stored_owner.owner_id, nvtx_op.range_id) AS range_id,
    iif(nvtx_op.range_id IS NULL, nvtx_op.global_tid, NULL) AS outside_tid,
    nvtx_op.op_kind,
    nvtx_op.op_id,
    nvtx_op.start_ns,
    nvtx_op.end_ns,
    nvtx_op.dur_ns,
    nvtx_op.global_tid,
    coalesce(nvtx_op.call_id IN (SELECT call_id FROM graph_call), 0) AS is_graph
  FROM nvtx_op
  LEFT JOIN stored_owner
    ON stored_owner.range_id = nvtx_op.range_id
),
longest AS (
  SELECT range_id, outside_tid, op_id AS kernel_id, max(dur_ns)
  FROM op
  WHERE op_kind = 'kernel'
  GROUP BY range_id, outside_tid
),
call AS (
  SELECT
    range_id,
    outside_tid,
    count(*) AS op_count,
    sum(dur_ns) AS gpu_ns,
    sum(is_graph) AS graph_op_count,
    sum(iif(is_graph, dur_ns, 0)) AS graph_ns,
    min(start_ns) AS start_ns,
    max(end_ns) AS end_ns,
    min(global_tid) AS global_tid
  FROM op
  GROUP BY range_id, outside_tid
),
only_gpu AS (
  SELECT min(gpu_id) AS gpu_id
  FROM process_device
  HAVING min(gpu_id) = max(gpu_id)
)
SELECT
  call.range_id,
  coalesce(range.op_name, range.range_text) AS op_name,
  range.kind,
  range.shape,
  range.data_type,
  range.batch,
  range.m,
  range.n,
  range.k,
  range.heads,
  range.is_causal,
  -- The shapes of paged attention are those of the queries; the batch of the step tells the rest.
  coalesce(range.flop_count, CAST(4 * range.heads * range.k * step.attended_pairs AS INTEGER)) AS flop_count,
  range.read_elements + iif(range.kv_heads IS NULL, 0, step.cached * range.kv_heads * range.k) AS read_elements,
  range.written_elements,
  range.read_bytes
  + iif(
    range.kv_heads IS NULL,
    0,
    step.cached * range.kv_heads * range.k * (range.read_bytes / nullif(range.read_elements, 0))
  ) AS read_bytes,
  range.written_bytes,
  range.source,
  phased.phase,
  coalesce(range.has_inputs, 0) AS has_inputs,
  coalesce(process_device.gpu_id, (SELECT gpu_id FROM only_gpu)) AS gpu_id,
  call.op_count,
  call.gpu_ns,
  call.graph_op_count,
  call.graph_ns,
  call.start_ns,
  call.end_ns,
  longest.kernel_id,
  call.global_tid
FROM call
LEFT JOIN range
  ON range.range_id = call.range_id
LEFT JOIN stored_owner AS phased
  ON phased.range_id = call.range_id
LEFT JOIN step
  ON step.range_id = phased.step_id
  AND range.kv_heads IS NOT NULL
LEFT JOIN longest
  ON longest.range_id IS NOT DISTINCT FROM call.range_id
  AND longest.outside_tid IS NOT DISTINCT FROM call.outside_tid
LEFT JOIN kernel
  ON kernel.kernel_id = longest.kernel_id
LEFT JOIN process_device
  ON process_device.pid IS NOT DISTINCT FROM kernel.pid
  AND process_device.device_id = kernel.device_id
