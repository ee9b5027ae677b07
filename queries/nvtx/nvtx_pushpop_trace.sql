/*---
name: nvtx_pushpop_trace
version: 1
title: NVTX push/pop range trace
summary: Every NVTX push/pop range with its place among the ranges of its thread.
why: To read the nested phases of a thread one by one, with what each spent outside the phases within.
kind: trace
tags: [nvtx]
reads: [nvtx_pushpop]
columns:
  - {name: start_ns, type: timestamp, unit: ns, doc: "Range was pushed, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "Range was popped; one that never was ends with the last range."}
  - {name: dur_ns, type: duration, unit: ns, doc: "How long the range lasted on the CPU."}
  - {name: child_ns, type: duration, unit: ns, doc: "Sum of the lengths of the ranges directly within."}
  - {name: self_ns, type: duration, unit: ns, doc: "dur_ns less child_ns; below 0 where ranges within overlap."}
  - {name: pid, type: id, doc: "Operating system's process id."}
  - {name: tid, type: id, doc: "Operating system's thread id."}
  - {name: depth, type: int, unit: count, doc: "Number of ranges above it."}
  - {name: child_count, type: int, unit: count, doc: "Ranges directly within."}
  - {name: range_id, type: id, doc: "Row of the raw table."}
  - {name: parent_id, type: id, doc: "Shortest push/pop range of the same thread that contains it, as a range_id; null at the top."}
  - {name: range_stack, type: text, doc: "The range_ids from the top down to this one, each behind a colon."}
  - {name: range_name, type: text, doc: "Message, behind its domain and a colon outside the default domain; null if empty."}
  - {name: name_tree, type: text, doc: "range_name behind two hyphens for each range above it; null if the name is empty."}
checks:
  - dur_ns >= 0 AND dur_ns = end_ns - start_ns AND self_ns = dur_ns - child_ns
  - (depth = 0) = (parent_id IS NULL)
  - (child_count = 0) = (child_ns = 0) OR child_count > 0
limits: >-
  Ranges nest by time, whatever their domain, although each domain has a stack of its own. Of ranges with the same start
  and end the later row is inside; NVIDIA loses them and all ranges within. A range that was never popped usually ends
  with the capture.
see_also: [nvtx_pushpop_sum, nvtx_gpu_proj_trace, nvtx_tree]
nsys:
  title: NVTX Push/Pop Range Trace
  aliases: [nvtxpptrace]
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
