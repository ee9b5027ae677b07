/*---
name: stream_gap
summary: One row per gap of a CUDA stream - between its kernels, and between all its operations.
present_if: [src_cuda_kernel, src_cuda_memcpy, src_cuda_memset]
reads: [kernel, memcpy, memset]
columns:
  - {name: among, type: text, doc: "What it lies between: kernel for kernels alone, op for kernels, copies and fills. Ask for one, or they add up."}
  - {name: global_pid, type: id, doc: "Process across hosts and VMs; null if the export does not say."}
  - {name: pid, type: id, doc: "Operating system's process id; null if the export does not say."}
  - {name: device_id, type: id, doc: "CUDA ordinal of the GPU inside its process, which CUDA_VISIBLE_DEVICES may renumber."}
  - {name: context_id, type: id, doc: "CUDA context."}
  - {name: stream_id, type: id, doc: "CUDA stream, unique within its context."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Latest end of what began earlier on the stream, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "Start of the next."}
  - {name: dur_ns, type: duration, unit: ns, doc: "end_ns - start_ns; always above 0."}
  - {name: before_kind, type: text, doc: "What ended last before it: kernel, memcpy or memset."}
  - {name: before_id, type: id, doc: "Its row in the raw table of that kind."}
  - {name: before_name_id, type: id, doc: "Stands for its name among those of its kind: the kernel's name_id, the copy's copy_kind, 0 for a fill."}
  - {name: after_kind, type: text, doc: "What began after it."}
  - {name: after_id, type: id, doc: "Its row in the raw table of that kind."}
  - {name: after_name_id, type: id, doc: "Stands for its name, as before_name_id."}
limits: >-
  The stream is not at work in a gap, but another one may be. A stream is one of its process, device and context. The
  operations of one stream may overlap, as the branches of a CUDA graph do. Of those that end together, before is the
  one that began last. Time before the first and after the last operation is no gap. What the scope leaves out did not
  run. CUDA graphs traced as a whole are not seen; gpu_gap sees them, and all streams together.
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
-- What ends under an earlier one neither ends a gap nor begins one. The others end one after the other.
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
