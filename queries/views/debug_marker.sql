/*---
name: debug_marker
summary: One row per range of debug markers of Direct3D 11, Direct3D 12 or Vulkan, on the CPU or a GPU.
internal: true
present_if: [dx11_marker, dx12_marker, dx12_gpu_marker, vulkan_marker, vulkan_gpu_marker]
scope: {time: [start_ns, end_ns], process: pid, thread: global_tid}
reads: [all_dx11_marker, all_dx12_marker, all_dx12_gpu_marker, all_vulkan_marker, all_vulkan_gpu_marker]
columns:
  - {name: api, type: text, doc: "Graphics API: Direct3D 11, Direct3D 12 or Vulkan."}
  - {name: on_gpu, type: bool, doc: "Whether the range is the time on a GPU rather than on the CPU."}
  - {name: range_id, type: id, doc: "Row ID in the raw table; of the call that began the range on the CPU."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of the range, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "End of the range."}
  - {name: dur_ns, type: duration, unit: ns, doc: "end_ns - start_ns."}
  - {name: range_name, type: text, doc: "Name of the range."}
  - {name: name_id, type: id, doc: "ID of range_name; faster to group by than the text."}
  - {name: pid, type: id, doc: "Operating system process ID."}
  - {name: tid, type: id, doc: "Operating system thread ID."}
  - {name: global_pid, type: id, doc: "Process ID, unique across hosts and VMs."}
  - {name: global_tid, type: id, doc: "Thread ID, unique across hosts and VMs."}
limits: A range on the CPU runs from the return of the call that begins it to the start of the call that ends it. A range without an end is left out.
---*/
SELECT
  'Direct3D 11' AS api,
  false AS on_gpu,
  range_id,
  start_ns,
  end_ns,
  dur_ns,
  range_name,
  name_id,
  pid,
  tid,
  global_pid,
  global_tid
FROM all_dx11_marker
UNION ALL
SELECT 'Direct3D 12', false, range_id, start_ns, end_ns, dur_ns, range_name, name_id, pid, tid, global_pid, global_tid
FROM all_dx12_marker
UNION ALL
SELECT 'Direct3D 12', true, range_id, start_ns, end_ns, dur_ns, range_name, name_id, pid, tid, global_pid, global_tid
FROM all_dx12_gpu_marker
UNION ALL
SELECT 'Vulkan', false, range_id, start_ns, end_ns, dur_ns, range_name, name_id, pid, tid, global_pid, global_tid
FROM all_vulkan_marker
UNION ALL
SELECT 'Vulkan', true, range_id, start_ns, end_ns, dur_ns, range_name, name_id, pid, tid, global_pid, global_tid
FROM all_vulkan_gpu_marker
