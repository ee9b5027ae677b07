/*---
name: thread_lead
summary: Waits of a thread for a GPU, and gaps that the thread's waits made longer.
native: true
internal: true
present_if: [gpu_op, graph_trace]
reads: [all_cuda_call, all_graph_trace, all_kernel, all_memcpy, all_memset, device, string]
columns:
  - {name: gpu_id, type: id, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers. Compare it with a GPU: without this comparison there are no rows."}
  - {name: starts_ahead, type: bool, doc: "Compare it with 1 if the last wait before the first gap counts, else with 0. Without this comparison there are no rows."}
  - {name: global_tid, type: id, doc: "Thread that waits and launches, unique across hosts and VMs."}
  - {name: lead_id, type: id, doc: "Number of the lead: waits and gaps until the waits' time is used up."}
  - {name: is_gap, type: bool, doc: "1 for a gap, 0 for a wait."}
  - {name: is_other, type: bool, doc: "1 for a wait, and for a gap with a wait or an allocation inside."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of the gap as in compute_gap_part; of a wait, its last nanosecond."}
  - {name: at_ns, type: timestamp, unit: ns, doc: "When the next operation was launched; of a wait, its end."}
  - {name: lost_ns, type: duration, unit: ns, doc: "Time of the gap that the lead would have closed; 0 for a wait."}
  - {name: gap_ns, type: duration, unit: ns, doc: "Length of the whole gap; null for a wait."}
  - {name: wait_ns, type: duration, unit: ns, doc: "Length of a wait; null for a gap."}
  - {name: api_name, type: text, doc: "CUDA function of a wait; null for a gap."}
  - {name: after_id, type: id, doc: "Row ID of the operation after the gap in the raw table of its kind; 0 for a wait."}
limits: >-
  See lost_lead. Gaps are those of compute_gap_part, up to the end of the call that launched the operation after them.
---*/
