/*---
name: stream_gap
summary: One row per gap on a CUDA stream, between its kernels or between all its operations.
native: true
native_reads: [all_kernel, all_memcpy, all_memset, device, string]
present_if: [src_cuda_kernel, src_cuda_memcpy, src_cuda_memset]
reads: [kernel, memcpy, memset]
columns:
  - {name: among, type: text, doc: "What the gap lies between: kernel (kernels only) or op (kernels, copies and fills). Filter by one; otherwise the same time is counted twice."}
  - {name: global_pid, type: id, doc: "Process ID, unique across hosts and VMs; null if unknown."}
  - {name: pid, type: id, doc: "Operating system process ID; null if unknown."}
  - {name: device_id, type: id, doc: "CUDA device ordinal within its process; CUDA_VISIBLE_DEVICES may renumber it."}
  - {name: context_id, type: id, doc: "CUDA context."}
  - {name: stream_id, type: id, doc: "CUDA stream ID, unique within its context."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of the gap: latest end of all earlier operations of the stream, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "End of the gap: start of the next operation."}
  - {name: dur_ns, type: duration, unit: ns, doc: "end_ns - start_ns; always greater than 0."}
  - {name: before_kind, type: text, doc: "Kind of the last operation to end before the gap: kernel, memcpy or memset."}
  - {name: before_id, type: id, doc: "Row ID of that operation in the raw table of its kind."}
  - {name: before_name_id, type: id, doc: "ID of its name within its kind: name_id for a kernel, copy_kind for a copy, 0 for a fill."}
  - {name: after_kind, type: text, doc: "Kind of the operation after the gap: kernel, memcpy or memset."}
  - {name: after_id, type: id, doc: "Row ID of that operation in the raw table of its kind."}
  - {name: after_name_id, type: id, doc: "ID of its name within its kind, as in before_name_id."}
limits: >-
  During a gap of one stream, other streams may run work. A stream is identified by process, device, context and
  stream_id. Operations of one stream can overlap, as branches of a CUDA graph do. If several operations end together,
  `before` is the one that started last. The time before the first and after the last operation is not a gap. Operations
  outside the scope are ignored. CUDA graphs traced as a whole are not included; gpu_gap includes them, and also has
  gaps of a whole GPU.
---*/
WITH
op AS (
  SELECT
    'kernel' AS among,
    'kernel' AS op_kind,
    kernel_id AS op_id,
    name_id,
    global_pid,
    device_id,
    context_id,
    stream_id,
    start_ns,
    end_ns
  FROM kernel
  UNION ALL
  SELECT 'op', 'kernel', kernel_id, name_id, global_pid, device_id, context_id, stream_id, start_ns, end_ns
  FROM kernel
  UNION ALL
  SELECT 'op', 'memcpy', memcpy_id, copy_kind, global_pid, device_id, context_id, stream_id, start_ns, end_ns
  FROM memcpy
  UNION ALL
  SELECT 'op', 'memset', memset_id, 0, global_pid, device_id, context_id, stream_id, start_ns, end_ns
  FROM memset
),
swept AS (
  SELECT
    *,
    max(end_ns) OVER (
      PARTITION BY among, global_pid, device_id, context_id, stream_id
      ORDER BY start_ns, end_ns, op_kind, op_id
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS done_ns
  FROM op
),
-- An operation that ends before an earlier one does borders no gap. The ends of all others are in order of start.
paced AS (
  SELECT
    *,
    lag(op_kind) OVER earlier AS before_kind,
    lag(op_id) OVER earlier AS before_id,
    lag(name_id) OVER earlier AS before_name_id
  FROM swept
  WHERE done_ns IS NULL OR end_ns >= done_ns
  WINDOW earlier AS (
    PARTITION BY among, global_pid, device_id, context_id, stream_id
    ORDER BY start_ns, end_ns, op_kind, op_id
  )
)
SELECT
  among,
  global_pid,
  global_pid >> 24 & 16777215 AS pid,
  device_id,
  context_id,
  stream_id,
  done_ns AS start_ns,
  start_ns AS end_ns,
  start_ns - done_ns AS dur_ns,
  before_kind,
  before_id,
  before_name_id,
  op_kind AS after_kind,
  op_id AS after_id,
  name_id AS after_name_id
FROM paced
WHERE start_ns > done_ns
