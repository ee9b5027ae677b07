/*---
name: nvtx_pushpop
summary: One row per NVTX push/pop range, with its place among the ranges of its thread.
native: true
present_if: [src_nvtx_event]
reads: [all_nvtx_record, string]
columns:
  - {name: range_id, type: id, doc: "Row of the raw table: NVIDIA's RangeId."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Range was pushed, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "Range was popped; one that never was ends with the last range."}
  - {name: dur_ns, type: duration, unit: ns, doc: "end_ns - start_ns."}
  - {name: range_name, type: text, doc: "Message, behind its domain and a colon outside the default domain; null if empty."}
  - {name: parent_id, type: id, doc: "Shortest push/pop range of the same thread that contains it, as a range_id; null at the top."}
  - {name: depth, type: int, unit: count, doc: "Number of ranges above it, by parent_id."}
  - {name: range_stack, type: text, doc: "The range_ids from the top down to this one, each behind a colon."}
  - {name: child_count, type: int, unit: count, doc: "Ranges whose parent it is."}
  - {name: child_ns, type: duration, unit: ns, doc: "Sum of their lengths."}
  - {name: pid, type: id, doc: "Operating system's process id."}
  - {name: tid, type: id, doc: "Operating system's thread id."}
  - {name: global_pid, type: id, doc: "Process across hosts and VMs."}
  - {name: global_tid, type: id, doc: "Thread across hosts and VMs."}
limits: >-
  Ranges nest by time, whatever their domain. Of ranges with the same start and end, the later row is inside.
---*/
