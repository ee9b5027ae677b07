/*---
name: gap_sum
version: 1
title: Gaps of all streams together
summary: Number and length of the gaps between kernels, added up over all streams.
why: To see how much the streams waited in all, before looking at each.
kind: info
tags: [cuda, gpu, kernel]
internal: true
reads: []
asks: [stream_gaps]
params:
  - {name: memory, type: bool, default: false, doc: "Let copies and fills end gaps as well; false uses kernels only."}
columns:
  - {name: stream_count, type: int, unit: count, label: "streams", doc: "Streams that ran kernels; with memory=true also those that only copied or filled."}
  - {name: gap_count, type: int, unit: count, label: "gaps", priority: 1, doc: "Number of gaps."}
  - {name: gap_ns, type: duration, unit: ns, label: "gap time", priority: 1, doc: "Sum of the gaps. Gaps of several streams overlap, so this can exceed the idle time of the GPU."}
  - {name: mean_ns, type: duration, unit: ns, label: "mean gap", priority: 1, doc: "gap_ns / gap_count; null if there are no gaps."}
checks:
  - gap_ns >= gap_count
limits: >-
  See stream_gaps, whose rows it adds up.
see_also: [stream_gaps, gpu_gap_sum, gap_pairs]
---*/
SELECT
  count(*) AS stream_count,
  coalesce(sum(gap_count), 0) AS gap_count,
  coalesce(sum(gap_ns), 0) AS gap_ns,
  1.0 * sum(gap_ns) / nullif(sum(gap_count), 0) AS mean_ns
FROM stream_gaps
