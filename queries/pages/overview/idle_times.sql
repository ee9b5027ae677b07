/*---
name: idle_times
version: 1
title: Idle time of each GPU
summary: Intervals in which a GPU idled, with what its launching thread did.
why: To tell which idle time no finding explains.
kind: trace
internal: true
tags: [gpu]
reads: [idle_part]
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: part_id, type: id, priority: 3, doc: "Number of the interval in the relation idle_part."}
  - {name: cause, type: text, priority: 0, doc: "What the thread did; gpu_idle_causes explains each."}
  - {name: start_ns, type: timestamp, unit: ns, priority: 1, doc: "Start of the interval, on the report's clock."}
  - {name: dur_ns, type: duration, unit: ns, priority: 1, doc: "Length of the interval."}
when_empty: "each GPU was busy from its first operation to its last"
limits: "Only gaps of whole GPUs; the relation idle_part has the rules."
---*/
SELECT gpu_id, part_id, part AS cause, start_ns, dur_ns
FROM idle_part
ORDER BY gpu_id, start_ns, part_id
