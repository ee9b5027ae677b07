/*---
name: nvtx_pushpop_trace
version: 1
title: NVTX push/pop range trace
summary: One row per NVTX push/pop range, with its position in the nesting.
why: To read the nested phases of a thread one by one, with the time that each spent outside its children.
kind: trace
tags: [nvtx]
reads: [nvtx_pushpop]
columns:
  - {name: start_ns, type: timestamp, unit: ns, priority: 1, doc: "Time of the push, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, priority: 3, doc: "Time of the pop. A range that was never popped ends with the last range."}
  - {name: dur_ns, type: duration, unit: ns, label: "CPU time", priority: 1, doc: "Duration of the range on the CPU."}
  - {name: child_ns, type: duration, unit: ns, label: "time in children", priority: 1, doc: "Sum of the durations of the direct children."}
  - {name: self_ns, type: duration, unit: ns, label: "self time", priority: 1, doc: "dur_ns - child_ns; negative if children overlap."}
  - {name: pid, type: id, doc: "Operating system process ID."}
  - {name: tid, type: id, priority: 0, doc: "Operating system thread ID."}
  - {name: depth, type: int, unit: count, doc: "Number of ranges around this one."}
  - {name: child_count, type: int, unit: count, label: "children", doc: "Number of direct children."}
  - {name: range_id, type: id, priority: 3, doc: "Row ID in the raw table."}
  - {name: parent_id, type: id, priority: 3, doc: "range_id of the shortest push/pop range of the same thread that contains this one; null at the top."}
  - {name: range_stack, type: text, priority: 3, doc: "range_ids from the top down to this range, each with the prefix ':'."}
  - {name: range_name, type: text, priority: 3, doc: "Message, with the prefix DOMAIN: outside the default domain; null if empty."}
  - {name: name_tree, type: text, label: "range", priority: 0, doc: "range_name with two hyphens in front for each range around it; null if the name is empty."}
checks:
  - dur_ns >= 0 AND dur_ns = end_ns - start_ns AND self_ns = dur_ns - child_ns
  - (depth = 0) = (parent_id IS NULL)
  - (child_count = 0) = (child_ns = 0) OR child_count > 0
when_empty: "no range was pushed and popped: nvtx_startend_sum has the start/end ranges"
limits: >-
  Ranges nest by time, across domains, although each domain has its own stack. If two ranges have the same start and
  end, the later row is inside the other; NVIDIA loses both and all ranges inside them. A range that was never popped
  usually ends with the capture.
see_also: [nvtx_pushpop_sum, nvtx_gpu_proj_trace, nvtx_tree]
nsys:
  title: NVTX Push/Pop Range Trace
  aliases: [nvtxpptrace]
  lacks:
    - {says: "NV Tools Extension (NVTX) data"}
  columns:
    - {name: Start, unit: ns, sql: start_ns}
    - {name: End, unit: ns, sql: end_ns}
    - {name: Duration, unit: ns, sql: dur_ns}
    - {name: DurChild, unit: ns, sql: child_ns}
    - {name: DurNonChild, unit: ns, sql: self_ns}
    - {name: Name, sql: range_name}
    - {name: PID, sql: pid}
    - {name: TID, sql: tid}
    - {name: Lvl, sql: depth}
    - {name: NumChild, sql: child_count}
    - {name: RangeId, sql: range_id}
    - {name: ParentId, sql: parent_id}
    - {name: RangeStack, sql: range_stack}
    - {name: NameTree, sql: name_tree}
---*/
SELECT
  start_ns,
  end_ns,
  dur_ns,
  child_ns,
  dur_ns - child_ns AS self_ns,
  pid,
  tid,
  depth,
  child_count,
  range_id,
  parent_id,
  range_stack,
  range_name,
  replace(printf('%*s', depth, ''), ' ', '--') || range_name AS name_tree
FROM nvtx_pushpop
ORDER BY start_ns, dur_ns, range_id
