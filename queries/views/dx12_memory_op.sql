/*---
name: dx12_memory_op
summary: One row per call of Direct3D 12 that creates, maps, reads or writes memory.
present_if: [src_dx12_memory_op]
scope: {time: [start_ns, end_ns], process: pid, thread: global_tid}
reads: [src_dx12_memory_op, src_dx12_api, src_string_id]
columns:
  - {name: operation_id, type: id, doc: "Row ID in the raw table."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of the call, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "End of the call."}
  - {name: call_name, type: text, doc: "Name of the method, such as ID3D12Device::CreateHeap."}
  - {name: gpu, type: id, doc: "GPU, as the raw table numbers them; null if unknown."}
  - {name: heap_type, type: int, doc: "Kind of heap, as the raw table numbers them."}
  - {name: heap_flags, type: int, doc: "Flags of the heap; 4096 leaves new memory without zeros."}
  - {name: page_property, type: int, doc: "Kind of CPU page; 2 is write-combine, 3 is write-back."}
  - {name: pid, type: id, doc: "Operating system process ID."}
  - {name: tid, type: id, doc: "Operating system thread ID."}
  - {name: global_pid, type: id, doc: "Process ID, unique across hosts and VMs."}
  - {name: global_tid, type: id, doc: "Thread ID, unique across hosts and VMs."}
---*/
SELECT
  operation.row_id AS operation_id,
  call.start AS start_ns,
  call."end" AS end_ns,
  (SELECT value FROM src_string_id WHERE src_string_id.id = call.nameId) AS call_name,
  operation.gpu AS gpu,
  operation.heapType AS heap_type,
  operation.heapFlags AS heap_flags,
  operation.cpuPageProperty AS page_property,
  call.globalTid >> 24 & 16777215 AS pid,
  call.globalTid & 16777215 AS tid,
  call.globalTid & -16777216 AS global_pid,
  call.globalTid AS global_tid
FROM src_dx12_memory_op AS operation
JOIN src_dx12_api AS call ON call.id = operation.traceEventId
