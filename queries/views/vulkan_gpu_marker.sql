/*---
name: vulkan_gpu_marker
summary: One row per range of Vulkan debug markers on a GPU.
present_if: [src_vulkan_workload]
scope: {time: [start_ns, end_ns], process: pid, thread: global_tid}
reads: [src_vulkan_workload, src_string_id]
columns:
  - {name: range_id, type: id, doc: "Row ID in the raw table."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of the range, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "End of the range."}
  - {name: dur_ns, type: duration, unit: ns, doc: "end_ns - start_ns."}
  - {name: range_name, type: text, doc: "Name of the range."}
  - {name: name_id, type: id, doc: "ID of range_name; faster to group by than the text."}
  - {name: gpu, type: id, doc: "GPU, as the raw table numbers them; null if unknown."}
  - {name: pid, type: id, doc: "Operating system process ID."}
  - {name: tid, type: id, doc: "Operating system thread ID."}
  - {name: global_pid, type: id, doc: "Process ID, unique across hosts and VMs."}
  - {name: global_tid, type: id, doc: "Thread ID, unique across hosts and VMs."}
---*/
SELECT
  row_id AS range_id,
  start AS start_ns,
  "end" AS end_ns,
  "end" - start AS dur_ns,
  (SELECT value FROM src_string_id WHERE id = textId) AS range_name,
  textId AS name_id,
  gpu,
  globalTid >> 24 & 16777215 AS pid,
  globalTid & 16777215 AS tid,
  globalTid & -16777216 AS global_pid,
  globalTid AS global_tid
FROM src_vulkan_workload
WHERE textId IS NOT NULL
