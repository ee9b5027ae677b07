/*---
name: gpu_window
summary: How each GPU spent its time, in a window chosen by start_ns and end_ns, or in the whole capture.
native: true
present_if: [gpu_op, graph_trace]
reads: [all_graph_trace, all_kernel, all_memcpy, all_memset, device, string]
columns:
  - {name: gpu_id, type: id, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: device_id, type: id, doc: "CUDA device ordinal within the first process that uses the GPU; the number that --device takes."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of the window. Compare it with a time, as in start_ns = 5, to choose your own window."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "End of the window. Compare it with a time to choose your own window."}
  - {name: window_ns, type: duration, unit: ns, doc: "compute_ns + exposed_communication_ns + exposed_memory_ns + idle_ns."}
  - {name: busy_ns, type: duration, unit: ns, doc: "Time in which at least one operation ran."}
  - {name: compute_ns, type: duration, unit: ns, doc: "Time in which a compute kernel ran."}
  - {name: communication_ns, type: duration, unit: ns, doc: "Time in which a communication kernel ran, hidden or exposed."}
  - {name: memory_ns, type: duration, unit: ns, doc: "Time in which a copy or fill ran, hidden or exposed."}
  - {name: exposed_communication_ns, type: duration, unit: ns, doc: "Time in which a communication kernel ran and no compute kernel did."}
  - {name: exposed_memory_ns, type: duration, unit: ns, doc: "Time in which a copy or fill ran and no kernel did."}
  - {name: idle_ns, type: duration, unit: ns, doc: "Time in which nothing ran."}
limits: >-
  Without a condition on start_ns and end_ns, the window of a GPU is what --time or --window selects, or the time from
  its first to its last operation. A window of your own is cut to --time or --window. A GPU without work in the window
  is idle all of that time. Only operations in the scope count: a GPU that is busy with other work is idle here. In a
  CROSS JOIN or LEFT JOIN, write gpu_window after the relation that its times are compared with.
---*/
