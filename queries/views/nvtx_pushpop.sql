/*---
name: nvtx_pushpop
summary: One row per NVTX push/pop range, with its position in the nesting of its thread.
native: true
internal: true
present_if: [nvtx_range]
reads: [all_nvtx_record, string]
columns:
  - {name: range_id, type: id, doc: "Row ID in the raw table; NVIDIA's RangeId."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Time of the push, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "Time of the pop. A range that was never popped ends with the last range."}
  - {name: dur_ns, type: duration, unit: ns, doc: "end_ns - start_ns."}
  - {name: range_name, type: text, doc: "Message, with the prefix DOMAIN: outside the default domain; null if empty."}
  - {name: parent_id, type: id, doc: "range_id of the shortest push/pop range of the same thread that contains this one; null at the top."}
  - {name: depth, type: int, unit: count, doc: "Number of ranges above this one, following parent_id."}
  - {name: range_stack, type: text, doc: "range_ids from the top down to this range, each with the prefix ':'."}
  - {name: child_count, type: int, unit: count, doc: "Direct children of the range."}
  - {name: child_ns, type: duration, unit: ns, doc: "Sum of their lengths."}
  - {name: pid, type: id, doc: "Operating system process ID."}
  - {name: tid, type: id, doc: "Operating system thread ID."}
  - {name: global_pid, type: id, doc: "Process ID, unique across hosts and VMs."}
  - {name: global_tid, type: id, doc: "Thread ID, unique across hosts and VMs."}
limits: >-
  Ranges nest by time, across domains. If two ranges have the same start and end, the later row is inside the other.
---*/
