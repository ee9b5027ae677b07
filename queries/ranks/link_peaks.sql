/*---
name: link_peaks
version: 2
title: Links between GPUs
summary: Peak bandwidth of the links of each GPU that ran work.
why: To know what link_use compares with.
kind: info
tags: [communication, gpu]
reads: [link_peak, process_device]
requires: [link_peak]
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU number on its machine."}
  - {name: gpu_name, type: text, label: "GPU name", priority: 0, doc: "Name of the GPU; null if unknown."}
  - {name: link_bytes_per_s, type: real, unit: bytes_per_s, label: "links, one direction", priority: 1, doc: "What all NVLinks (AMD: Infinity Fabric links) of the GPU carry in one direction; null if the model is unknown, or has none."}
  - {name: document, type: text, priority: 1, doc: "Vendor's document that states it, as the sum of both directions; null as link_bytes_per_s is."}
  - {name: url, type: text, priority: 3, doc: "Address of the document; null as link_bytes_per_s is."}
when_empty: "no process ran work on a GPU whose name is known"
limits: >-
  The vendor's figure for a GPU whose links are all connected. A report does not record whether they are: boards on PCIe
  have links only with a bridge.
see_also: [link_use, bus_bandwidth]
---*/
SELECT
  gpu_id,
  min(gpu_name) AS gpu_name,
  min(link_bytes_per_s) AS link_bytes_per_s,
  min(document) AS document,
  min(url) AS url
FROM link_peak
WHERE gpu_id IN (SELECT gpu_id FROM process_device)
GROUP BY gpu_id
ORDER BY gpu_id
