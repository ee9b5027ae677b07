/*---
name: gpu_context_slice
summary: One row per time in which a context was on a GPU, from its restore to its save.
present_if: [src_gpu_context_switch]
scope: {time: [start_ns, end_ns]}
reads: [src_gpu_context_switch, src_process]
columns:
  - {name: gpu_id, type: id, doc: "Number of the GPU as the driver counts; null if unknown."}
  - {name: context_id, type: id, doc: "GPU context, as the driver numbers it; not the CUDA context of other relations."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of restoring the context, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "End of saving it."}
  - {name: dur_ns, type: duration, unit: ns, doc: "end_ns - start_ns."}
  - {name: pid, type: id, doc: "Process ID of the owner, as the host numbers it; null if unknown. In a container, other relations have other IDs."}
  - {name: global_pid, type: id, doc: "The owner, unique across hosts and VMs; null if unknown."}
  - {name: process_name, type: text, doc: "Name or path of its executable; null if unknown."}
limits: >-
  A slice begins with Restore start, or with Context start where that was not recorded, and ends with the next Save end or
  Engine reset of its context. Slices that began before the capture or did not end in it are left out, so a context that
  was never switched has none. Switches of all processes on the machine are recorded, on all GPUs.
---*/
WITH
-- Steps between Restore start (8), Context start (9) and Save end (7) are requests and acknowledgements.
step AS (
  SELECT
    gpuId AS gpu_id,
    vmId AS vm_id,
    contextId AS context_id,
    timestamp AS at_ns,
    tag IN (7, 11) AS is_end,
    globalPid AS global_pid,
    seqNo AS seq,
    row_id,
    lag(tag) OVER context AS tag_before,
    tag
  FROM src_gpu_context_switch
  WHERE tag IN (7, 8, 9, 11)
  WINDOW context AS (PARTITION BY gpuId, vmId, contextId ORDER BY timestamp, seqNo, row_id)
),
edge AS (
  SELECT
    gpu_id,
    context_id,
    at_ns,
    is_end,
    lag(is_end) OVER context AS ended_before,
    lag(at_ns) OVER context AS before_ns,
    coalesce(global_pid, lag(global_pid) OVER context) AS global_pid
  FROM step
  -- A context starts (9) after its restore (8) has begun.
  WHERE tag <> 9 OR coalesce(tag_before, 0) <> 8
  WINDOW context AS (PARTITION BY gpu_id, vm_id, context_id ORDER BY at_ns, seq, row_id)
)
SELECT
  gpu_id,
  context_id,
  before_ns AS start_ns,
  at_ns AS end_ns,
  at_ns - before_ns AS dur_ns,
  global_pid >> 24 & 16777215 AS pid,
  global_pid,
  (SELECT name FROM src_process WHERE src_process.globalPid = global_pid LIMIT 1) AS process_name
FROM edge
WHERE is_end
  AND ended_before = 0
