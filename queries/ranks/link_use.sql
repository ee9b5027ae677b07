/*---
name: link_use
version: 3
title: Collectives against the links
summary: Bus bandwidth of collectives, as a share of what the links of a GPU can carry.
why: To see which collectives are far from what the hardware can do.
kind: sum
tags: [communication, gpu, nvtx]
reads: []
asks: [bus_bandwidth, link_peaks]
across: true
columns:
  - {name: operation, type: text, priority: 0, doc: "AllReduce, Broadcast, Reduce, AllGather, ReduceScatter, AllToAll or another."}
  - {name: size_bytes, type: bytes, unit: bytes, label: "size", priority: 0, doc: "As in bus_bandwidth."}
  - {name: is_uneven, type: bool, label: "uneven", priority: 2, doc: "As in bus_bandwidth."}
  - {name: rank_count, type: int, unit: count, label: "ranks", priority: 0, doc: "Ranks of the communicator; those seen if unknown."}
  - {name: seen_count, type: int, unit: count, label: "ranks seen", priority: 2, doc: "Ranks that the reports show. If it is less than rank_count, the bandwidth is too low."}
  - {name: collective_count, type: int, unit: count, label: "collectives", priority: 1, doc: "Collectives of this operation and size, or uneven ones of this operation."}
  - {name: total_ns, type: duration, unit: ns, label: "total transfer", priority: 1, doc: "Sum of their times from the last rank's start to the last end."}
  - {name: bus_bytes_per_s, type: real, unit: bytes_per_s, label: "bus bandwidth", priority: 1, doc: "As in bus_bandwidth: what each link must carry."}
  - {name: link_bytes_per_s, type: real, unit: bytes_per_s, label: "links, one direction", priority: 1, doc: "What all NVLinks (AMD: Infinity Fabric links) of a GPU carry in one direction; null if the model is unknown, or if the reports have GPUs of several models."}
  - {name: link_pct, type: percent, unit: percent, label: "share of the links", priority: 1, doc: "bus_bytes_per_s as a share of link_bytes_per_s."}
  - {name: document, type: text, priority: 2, doc: "Vendor's document that states link_bytes_per_s, as the sum of both directions; null as that is."}
  - {name: url, type: text, priority: 3, doc: "Address of the document; null as link_bytes_per_s is."}
when_empty: "no collective of known size was recorded"
limits: >-
  The peak holds if all links of the GPU are connected, and if all ranks are on one machine: between machines, the network
  bounds the bandwidth, and the reports do not record which it is. With NVLink SHARP, an all-reduce can exceed 100 %.
see_also: [bus_bandwidth, link_peaks, collective_arrivals]
---*/
WITH
peak AS (
  SELECT
    CASE
      WHEN min(gpu_name) = max(gpu_name) AND count(gpu_name) = count(*) THEN min(link_bytes_per_s)
    END AS link_bytes_per_s,
    min(document) AS document,
    min(url) AS url
  FROM link_peaks
)
SELECT
  operation,
  size_bytes,
  is_uneven,
  rank_count,
  seen_count,
  min(collective_count) AS collective_count,
  min(total_ns) AS total_ns,
  min(bus_bytes_per_s) AS bus_bytes_per_s,
  min(link_bytes_per_s) AS link_bytes_per_s,
  100.0 * min(bus_bytes_per_s) / nullif(min(link_bytes_per_s), 0) AS link_pct,
  CASE WHEN min(link_bytes_per_s) IS NOT NULL THEN min(document) END AS document,
  CASE WHEN min(link_bytes_per_s) IS NOT NULL THEN min(url) END AS url
FROM bus_bandwidth
CROSS JOIN peak
GROUP BY operation, size_bytes, is_uneven, rank_count, seen_count
ORDER BY total_ns DESC, operation, size_bytes, rank_count, seen_count, is_uneven
