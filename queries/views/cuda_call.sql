/*---
name: cuda_call
summary: One row per call of the CUDA runtime or driver API.
present_if: [src_cuda_api]
scope: {time: [start_ns, end_ns], process: pid, thread: global_tid}
reads: [src_cuda_api, src_string_id]
columns:
  - {name: call_id, type: id, doc: "Row of the raw table."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Call began, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "Call ended."}
  - {name: dur_ns, type: duration, unit: ns, doc: "end_ns - start_ns."}
  - {name: api_name, type: text, doc: "Name of the function without its ABI version, such as cudaLaunchKernel."}
  - {name: api_symbol, type: text, doc: "Name as recorded, such as cudaLaunchKernel_v7000."}
  - {name: name_id, type: id, doc: "Stands for api_symbol: cheaper to group by."}
  - {name: api_kind, type: text, doc: "runtime or driver; class N for a number nobody knows."}
  - {name: event_class, type: id, doc: "What api_kind is told by: 0 runtime, 1 driver."}
  - {name: return_value, type: int, doc: "What the call returned; 0 is success."}
  - {name: correlation_id, type: id, doc: "Number that the operations it launched carry, unique within a process at best."}
  - {name: pid, type: id, doc: "Operating system's process id."}
  - {name: tid, type: id, doc: "Operating system's thread id."}
  - {name: global_pid, type: id, doc: "Process across hosts and VMs."}
  - {name: global_tid, type: id, doc: "Thread across hosts and VMs."}
limits: A runtime call and the driver call inside it are two rows, and both count in a sum.
---*/
SELECT
  call_id,
  start_ns,
  end_ns,
  end_ns - start_ns AS dur_ns,
  CASE
    WHEN rtrim(api_symbol, '0123456789') GLOB '*_v' AND api_symbol GLOB '*[0-9]'
      THEN substr(api_symbol, 1, length(rtrim(api_symbol, '0123456789')) - 2)
    ELSE api_symbol
  END AS api_name,
  api_symbol,
  name_id,
  api_kind,
  event_class,
  return_value,
  correlation_id,
  global_tid >> 24 & 16777215 AS pid,
  global_tid & 16777215 AS tid,
  global_tid & -16777216 AS global_pid,
  global_tid
FROM (
  SELECT
    row_id AS call_id,
    start AS start_ns,
    "end" AS end_ns,
    (SELECT value FROM src_string_id WHERE id = nameId) AS api_symbol,
    nameId AS name_id,
    CASE eventClass WHEN 0 THEN 'runtime' WHEN 1 THEN 'driver' ELSE 'class ' || eventClass END AS api_kind,
    eventClass AS event_class,
    returnValue AS return_value,
    correlationId AS correlation_id,
    globalTid AS global_tid
  FROM src_cuda_api
)
