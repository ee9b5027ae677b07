/*---
name: wddm_packet
summary: One row per packet in a software queue or on an engine of WDDM.
present_if: [src_wddm_queue_start]
scope: {time: [start_ns, end_ns], process: pid, thread: global_tid}
reads: [src_wddm_queue_start, src_wddm_queue_stop, src_wddm_dma_start, src_wddm_dma_stop]
columns:
  - {name: queue, type: text, doc: "queue for a packet in a software queue, dma for one on an engine."}
  - {name: packet_id, type: id, doc: "Row ID of the start in the raw table of this queue."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "When the packet was submitted or started, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "When it was done."}
  - {name: dur_ns, type: duration, unit: ns, doc: "end_ns - start_ns."}
  - {name: gpu, type: id, doc: "GPU, as the raw table numbers them."}
  - {name: wddm_context, type: id, doc: "WDDM context of the packet."}
  - {name: engine_type, type: int, doc: "Type of engine, as Windows numbers them: 0 other, 1 3D, 6 copy."}
  - {name: pid, type: id, doc: "Operating system process ID."}
  - {name: tid, type: id, doc: "Operating system thread ID."}
  - {name: global_pid, type: id, doc: "Process ID, unique across hosts and VMs."}
  - {name: global_tid, type: id, doc: "Thread ID, unique across hosts and VMs."}
limits: >-
  A start belongs to every end with the same context and number, in any order of time. A packet without an end is left
  out.
---*/
SELECT
  'queue' AS queue,
  began.row_id AS packet_id,
  began.start AS start_ns,
  done.start AS end_ns,
  done.start - began.start AS dur_ns,
  began.gpu AS gpu,
  began.context AS wddm_context,
  began.engineType AS engine_type,
  began.globalTid >> 24 & 16777215 AS pid,
  began.globalTid & 16777215 AS tid,
  began.globalTid & -16777216 AS global_pid,
  began.globalTid AS global_tid
FROM src_wddm_queue_start AS began
JOIN src_wddm_queue_stop AS done
  ON done.context = began.context
  AND done.submitSequence = began.submitSequence
UNION ALL
SELECT
  'dma' AS queue,
  began.row_id AS packet_id,
  began.start AS start_ns,
  done.start AS end_ns,
  done.start - began.start AS dur_ns,
  began.gpu AS gpu,
  began.context AS wddm_context,
  began.engineType AS engine_type,
  began.globalTid >> 24 & 16777215 AS pid,
  began.globalTid & 16777215 AS tid,
  began.globalTid & -16777216 AS global_pid,
  began.globalTid AS global_tid
FROM src_wddm_dma_start AS began
JOIN src_wddm_dma_stop AS done
  ON done.context = began.context
  AND done.uliCompletionId = began.uliSubmissionId
