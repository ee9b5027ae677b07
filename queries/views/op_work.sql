/*---
name: op_work
summary: One row per operator call that launched GPU work, with its FLOPs and bytes.
present_if: [src_nvtx_event]
stored: true
reads: [all_cuda_call, all_serving_annotation, collective_op, kernel, nvtx_name, nvtx_op, nvtx_path, nvtx_projection, operator_work, process_device, src_operator_input, string]
columns:
  - {name: range_id, type: id, doc: "Range of the call; null for work that was launched outside any range."}
  - {name: op_name, type: text, doc: "Operator, such as aten::mm; without known work, the name of the innermost range; null outside any range."}
  - {name: kind, type: text, doc: "Kind of work; see operator_work; null if the work is unknown."}
  - {name: shape, type: text, doc: "What the work depends on; see operator_work; null if the work is unknown."}
  - {name: data_type, type: text, doc: "Type of the elements; fp32 where only the name of the kernel says so, as sgemm does; null if unknown."}
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
  - {name: source, type: text, doc: "From what the work is known: trace, range name or rule, see operator_work; collective, see collective_op; null if it is unknown."}
  - {name: phase, type: text, doc: "forward, backward, optimizer, loss or data, by the innermost range around it that names a phase; see nvtx_name; null if none does."}
  - {name: has_inputs, type: bool, doc: "1 if the inputs of the operator were recorded, or a rule that counts gives the work of the range."}
  - {name: gpu_id, type: id, doc: "GPU of the longest kernel; null if unknown."}
  - {name: op_count, type: int, unit: count, doc: "GPU operations that the call launched, without those of nested calls with known work."}
  - {name: gpu_ns, type: duration, unit: ns, doc: "Sum of the durations of these operations."}
  - {name: graph_op_count, type: int, unit: count, doc: "Part of op_count that launches of CUDA graphs launched."}
  - {name: graph_ns, type: duration, unit: ns, doc: "Part of gpu_ns that launches of CUDA graphs launched."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of the first operation on the GPU."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "End of the last operation on the GPU."}
  - {name: kernel_id, type: id, doc: "Longest kernel of the call; one of several over 2.1 s; null without a kernel."}
  - {name: global_tid, type: id, doc: "Thread that launched the work, unique across hosts and VMs; null if unknown."}
limits: >-
  An operation belongs to the innermost call around its launch whose work is known; else to the innermost range. A call
  whose nested calls launched all the GPU work is no row. Paged attention needs the batch of the step, see
  serving_annotation; its keys and values are taken to have the type of the queries. CUDA graphs launch operations
  without their operators. A rule does not count for a range with a call inside whose work is known.
---*/
WITH
-- Calls whose work is known. All ranges of a trace that hold inputs are rows of src_operator_input.
given AS MATERIALIZED (
  SELECT rangeId AS range_id, inputsId AS inputs_id
  FROM src_operator_input
),
described AS MATERIALIZED (
  SELECT
    projection.range_id,
    projection.parent_id,
    projection.path_id,
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
  LEFT JOIN given
    ON given.range_id = projection.range_id
  CROSS JOIN operator_work AS work
  WHERE work.name_id = projection.name_id
    AND work.inputs_id = coalesce(given.inputs_id, 0)
    AND projection.op_count > 0
),
tree AS MATERIALIZED (
  SELECT range_id, parent_id
  FROM nvtx_projection
  WHERE op_count > 0
),
-- Ranges around calls with known work. If one has a rule, its work would count theirs again.
around AS (
  SELECT parent_id AS range_id
  FROM described
  WHERE EXISTS (SELECT 1 FROM operator_work WHERE source = 'rule')
  UNION
  SELECT tree.parent_id
  FROM around
  JOIN tree
    ON tree.range_id = around.range_id
),
known AS MATERIALIZED (
  SELECT *
  FROM described
  WHERE source <> 'rule'
    OR range_id NOT IN (SELECT range_id FROM around WHERE range_id IS NOT NULL)
),
-- Each range inside a call with known work, down to the next one.
owned AS (
  SELECT range_id, range_id AS owner_id
  FROM known
  UNION ALL
  SELECT tree.range_id, owned.owner_id
  FROM owned
  JOIN tree
    ON tree.parent_id = owned.range_id
  WHERE tree.range_id NOT IN (SELECT range_id FROM known)
),
owner AS MATERIALIZED (
  SELECT range_id, owner_id
  FROM owned
),
step AS MATERIALIZED (
  -- Each token of a context has a key and a value.
  SELECT range_id, attended_pairs, 2 * (prefill_context_tokens + decode_context_tokens) AS cached
  FROM all_serving_annotation
  WHERE attended_pairs IS NOT NULL
),
-- From each call of paged attention up to its step.
above AS (
  SELECT range_id AS call_id, parent_id AS range_id
  FROM known
  WHERE kv_heads IS NOT NULL
  UNION ALL
  SELECT above.call_id, tree.parent_id
  FROM above
  JOIN tree
    ON tree.range_id = above.range_id
  WHERE above.range_id NOT IN (SELECT range_id FROM step)
),
batch AS MATERIALIZED (
  SELECT above.call_id, step.attended_pairs, step.cached
  FROM above
  JOIN step
    ON step.range_id = above.range_id
),
-- A path has the phase of its last name, or of the names before it.
layer AS (
  SELECT layer_name, min(phase) AS phase
  FROM nvtx_name
  WHERE phase IS NOT NULL
  GROUP BY layer_name
),
path AS MATERIALIZED (
  SELECT nvtx_path.path_id, nvtx_path.parent_path_id, layer.phase
  FROM nvtx_path
  LEFT JOIN layer
    ON layer.layer_name = nvtx_path.layer_name
),
phased AS (
  SELECT path_id, phase
  FROM path
  WHERE parent_path_id IS NULL
  UNION ALL
  SELECT path.path_id, coalesce(path.phase, phased.phase)
  FROM phased
  JOIN path
    ON path.parent_path_id = phased.path_id
),
phase AS MATERIALIZED (
  SELECT path_id, phase
  FROM phased
  WHERE phase IS NOT NULL
),
graph_call AS (
  SELECT call_id
  FROM all_cuda_call
  WHERE name_id IN (SELECT string_id FROM string WHERE text GLOB '*GraphLaunch*')
),
op AS (
  SELECT
    coalesce(owner.owner_id, nvtx_op.range_id) AS range_id,
    iif(nvtx_op.range_id IS NULL, nvtx_op.global_tid, NULL) AS outside_tid,
    nvtx_op.name_id,
    nvtx_op.path_id,
    nvtx_op.op_kind,
    nvtx_op.op_id,
    nvtx_op.start_ns,
    nvtx_op.end_ns,
    nvtx_op.dur_ns,
    nvtx_op.global_tid,
    coalesce(nvtx_op.call_id IN (SELECT call_id FROM graph_call), 0) AS is_graph
  FROM nvtx_op
  LEFT JOIN owner
    ON owner.range_id = nvtx_op.range_id
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
    min(global_tid) AS global_tid,
    min(name_id) AS name_id,
    min(path_id) AS path_id,
    -- The duration in the upper half, the row ID in the lower half.
    max(iif(op_kind = 'kernel', (min(dur_ns, 2147483647) << 32) | op_id, NULL)) & 4294967295 AS kernel_id
  FROM op
  GROUP BY range_id, outside_tid
),
-- What each rank reads and writes. Several ranks pass their shares on, so the device moves more.
collective AS MATERIALIZED (
  SELECT
    kernel_id,
    operation || ' of ' || size_bytes || ' B' || coalesce(' by ' || rank_count || ' ranks', '') AS shape,
    size_bytes * iif(operation = 'ReduceScatter', rank_count, 1) AS read_bytes,
    size_bytes * iif(operation = 'AllGather', rank_count, 1) AS written_bytes
  FROM collective_op
  WHERE kernel_id IS NOT NULL
    AND size_bytes IS NOT NULL
),
-- As in fp32_matmul.
fp32 AS MATERIALIZED (
  SELECT string_id AS name_id
  FROM string
  WHERE text GLOB '*sgemm*'
    AND NOT (text GLOB '*fp16*' OR text GLOB '*bf16*' OR text GLOB '*tf32*' OR text GLOB '*tensorop*')
),
only_gpu AS (
  SELECT min(gpu_id) AS gpu_id
  FROM process_device
  HAVING min(gpu_id) = max(gpu_id)
)
SELECT
  call.range_id,
  CASE
    WHEN known.kind IS NOT NULL THEN known.op_name
    -- emit_nvtx numbers the calls: aten::mm, seq = 5, op_id = 7.
    WHEN nvtx_name.range_text GLOB '?*, op_id = [0-9]*' OR nvtx_name.range_text GLOB '?*, seq = [0-9]*'
      THEN substr(nvtx_name.range_text, 1, instr(nvtx_name.range_text, ', ') - 1)
    ELSE nvtx_name.range_text
  END AS op_name,
  coalesce(known.kind, iif(collective.kernel_id IS NULL, NULL, 'communication')) AS kind,
  coalesce(collective.shape, known.shape) AS shape,
  coalesce(
    known.data_type,
    iif(known.kind = 'matmul', (SELECT 'fp32' FROM fp32 WHERE fp32.name_id = kernel.name_id), NULL)
  ) AS data_type,
  known.batch,
  known.m,
  known.n,
  known.k,
  known.heads,
  known.is_causal,
  -- The shapes of paged attention are those of the queries; the batch of the step gives the rest.
  coalesce(
    known.flop_count,
    CAST(4 * known.heads * known.k * batch.attended_pairs AS INTEGER),
    iif(collective.kernel_id IS NULL, NULL, 0)
  ) AS flop_count,
  known.read_elements + iif(known.kv_heads IS NULL, 0, batch.cached * known.kv_heads * known.k) AS read_elements,
  known.written_elements,
  coalesce(
    collective.read_bytes,
    known.read_bytes
    + iif(
      known.kv_heads IS NULL,
      0,
      batch.cached * known.kv_heads * known.k * (known.read_bytes / nullif(known.read_elements, 0))
    )
  ) AS read_bytes,
  coalesce(collective.written_bytes, known.written_bytes) AS written_bytes,
  coalesce(known.source, iif(collective.kernel_id IS NULL, NULL, 'collective')) AS source,
  phase.phase,
  known.kind IS NOT NULL OR given.range_id IS NOT NULL OR coalesce(nvtx_name.range_text GLOB '?*, sizes = [[]*', 0)
    AS has_inputs,
  coalesce(process_device.gpu_id, (SELECT gpu_id FROM only_gpu)) AS gpu_id,
  call.op_count,
  call.gpu_ns,
  call.graph_op_count,
  call.graph_ns,
  call.start_ns,
  call.end_ns,
  call.kernel_id,
  call.global_tid
FROM call
LEFT JOIN known
  ON known.range_id = call.range_id
LEFT JOIN given
  ON given.range_id = call.range_id
LEFT JOIN nvtx_name
  ON nvtx_name.name_id = call.name_id
LEFT JOIN phase
  ON phase.path_id = coalesce(known.path_id, call.path_id)
LEFT JOIN batch
  ON batch.call_id = call.range_id
LEFT JOIN kernel
  ON kernel.kernel_id = call.kernel_id
LEFT JOIN collective
  ON collective.kernel_id = call.kernel_id
  AND (known.kind IS NULL OR known.kind = 'communication')
LEFT JOIN process_device
  ON process_device.pid IS NOT DISTINCT FROM kernel.pid
  AND process_device.device_id = kernel.device_id
