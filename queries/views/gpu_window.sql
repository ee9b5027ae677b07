/*---
name: gpu_window
summary: What the time of each GPU went to, in any window - asked for by start_ns and end_ns - or in all of it.
native: true
present_if: [gpu_op, graph_trace]
reads: [all_graph_trace, all_kernel, all_memcpy, all_memset, device, string]
columns:
  - {name: gpu_id, type: id, doc: "Number of the GPU on its machine; its CUDA ordinal where the export knows no better."}
  - {name: device_id, type: id, doc: "CUDA ordinal of the GPU inside the first process that uses it."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Window begins: compare it with a time to ask for a window of your own."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "Window ends: likewise."}
  - {name: window_ns, type: duration, unit: ns, doc: "compute_ns + exposed_communication_ns + exposed_memory_ns + idle_ns."}
  - {name: busy_ns, type: duration, unit: ns, doc: "At least one operation ran."}
  - {name: compute_ns, type: duration, unit: ns, doc: "A kernel that computes ran."}
  - {name: communication_ns, type: duration, unit: ns, doc: "A communication kernel ran, hidden or not."}
  - {name: memory_ns, type: duration, unit: ns, doc: "A copy or fill ran, hidden or not."}
  - {name: exposed_communication_ns, type: duration, unit: ns, doc: "A communication kernel ran and none that computes."}
  - {name: exposed_memory_ns, type: duration, unit: ns, doc: "A copy or fill ran and no kernel."}
  - {name: idle_ns, type: duration, unit: ns, doc: "Nothing ran."}
limits: >-
  Unasked, a GPU's window is what --time or --window names, else from its first operation to its last; what is asked for
  is cut to the former. A GPU that is used at another time idles. Operations out of the scope do not run: a GPU that
  others use counts as idle then. In a CROSS or LEFT JOIN it must stand behind what its times are compared with.
---*/
