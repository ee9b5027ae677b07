/*---
name: vulkan_call
summary: One row per record of the Vulkan API, which are calls and created objects.
present_if: [src_vulkan_api]
scope: {time: [start_ns, end_ns], process: pid, thread: global_tid}
reads: [src_vulkan_api, src_string_id]
columns:
  - {name: call_id, type: id, doc: "Row ID in the raw table."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of the call, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "End of the call."}
  - {name: dur_ns, type: duration, unit: ns, doc: "end_ns - start_ns."}
  - {name: api_symbol, type: text, doc: "Function name as recorded, such as vkQueueSubmit."}
  - {name: name_id, type: id, doc: "ID of api_symbol; faster to group by than the text."}
  - {name: event_class, type: id, doc: "NVIDIA's code for the record: 53 is a call, 60 is the creation of an object."}
  - {name: context_id, type: id, doc: "Trace context; null if none."}
  - {name: correlation_id, type: id, doc: "Correlation ID, shared with related Vulkan events; null if none."}
  - {name: pid, type: id, doc: "Operating system process ID."}
  - {name: tid, type: id, doc: "Operating system thread ID."}
  - {name: global_pid, type: id, doc: "Process ID, unique across hosts and VMs."}
  - {name: global_tid, type: id, doc: "Thread ID, unique across hosts and VMs."}
---*/
SELECT
  row_id AS call_id,
  start AS start_ns,
  "end" AS end_ns,
  "end" - start AS dur_ns,
  (SELECT value FROM src_string_id WHERE id = nameId) AS api_symbol,
  nameId AS name_id,
  eventClass AS event_class,
  contextId AS context_id,
  correlationId AS correlation_id,
  globalTid >> 24 & 16777215 AS pid,
  globalTid & 16777215 AS tid,
  globalTid & -16777216 AS global_pid,
  globalTid AS global_tid
FROM src_vulkan_api
