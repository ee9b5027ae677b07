/*---
name: idle_part
summary: One row per interval of a GPU's gap, with what the thread that launched the next operation did.
native: true
internal: true
present_if: [gpu_op, graph_trace]
reads: [all_cuda_call, all_graph_trace, all_kernel, all_memcpy, all_memset, device, string]
columns:
  - {name: part_id, type: id, doc: "Number of the interval in this relation, from 1; another scope numbers them differently."}
  - {name: gpu_id, type: id, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: device_id, type: id, doc: "CUDA device ordinal within the first process that uses the GPU; the number that --device takes."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of the interval, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "End of the interval."}
  - {name: dur_ns, type: duration, unit: ns, doc: "end_ns - start_ns. The intervals of a gap add up to it."}
  - {name: part, type: text, doc: "What the thread did: host sync, memory allocation, other API call, outside CUDA API, launch call, queued or unknown. gpu_idle_causes explains each. Filter by one."}
  - {name: api_name, type: text, doc: "Function that the thread was in, the outermost of its kind; null outside the CUDA API, for queued and for unknown."}
  - {name: call_id, type: id, doc: "Row ID of that call in the raw table; of several calls of one function in a row, the first. Null without a function."}
  - {name: call_start_ns, type: timestamp, unit: ns, doc: "Start of that call, which may lie before the gap."}
  - {name: gap_start_ns, type: timestamp, unit: ns, doc: "Start of the whole gap."}
  - {name: gap_ns, type: duration, unit: ns, doc: "Length of the whole gap."}
  - {name: is_largest, type: bool, doc: "1 for one interval of each gap: the first of the part that takes most of the gap. Counts gaps by what filled them."}
  - {name: pid, type: id, doc: "Operating system process ID of the thread; null if unknown."}
  - {name: tid, type: id, doc: "Operating system ID of the thread that launched the operation after the gap; null if unknown."}
  - {name: global_tid, type: id, doc: "The thread, unique across hosts and VMs; null if unknown."}
  - {name: before_kind, type: text, doc: "Kind of the last operation to end before the gap: kernel, memcpy, memset or graph; null at the start of the window."}
  - {name: before_id, type: id, doc: "Row ID of that operation in the raw table of its kind; null at the start of the window."}
  - {name: before_name, type: text, doc: "Name of that operation, as in gpu_op; null at the start of the window."}
  - {name: after_kind, type: text, doc: "Kind of the operation that starts at the end of the gap; null at the end of the window."}
  - {name: after_id, type: id, doc: "Row ID of that operation in the raw table of its kind; null at the end of the window."}
  - {name: after_name, type: text, doc: "Name of that operation, as in gpu_op; null at the end of the window."}
  - {name: is_first, type: bool, doc: "1 if that operation is the first kernel of its name in its process and context; null if it is no kernel."}
limits: >-
  Only gaps of whole GPUs, as in gpu_gap with the level gpu. A wait or an allocation inside another call counts as wait
  or allocation. Only the name of a call shows whether it waits.
---*/
