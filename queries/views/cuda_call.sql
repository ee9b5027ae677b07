/*---
name: cuda_call
summary: One row per call of the CUDA runtime or driver API.
present_if: [src_cuda_api]
scope: {time: [start_ns, end_ns], process: pid, thread: global_tid}
reads: [scope, src_cuda_api, src_string_id]
columns:
  - {name: call_id, type: id, doc: "Row ID in the raw table."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of the call, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "End of the call."}
  - {name: dur_ns, type: duration, unit: ns, doc: "end_ns - start_ns."}
  - {name: api_name, type: text, doc: "Function name without its ABI version, such as cudaLaunchKernel."}
  - {name: api_symbol, type: text, doc: "Function name as recorded, such as cudaLaunchKernel_v7000."}
  - {name: name_id, type: id, doc: "ID of api_symbol; faster to group by than the text."}
  - {name: api_kind, type: text, doc: "API: runtime or driver; class N for an unknown event class N."}
  - {name: event_class, type: id, doc: "Event class that api_kind comes from: 0 is runtime, 1 is driver."}
  - {name: return_value, type: int, doc: "Return value of the call; 0 is success."}
  - {name: correlation_id, type: id, doc: "Correlation ID, shared with the GPU operations that the call launched; at best unique within a process."}
  - {name: pid, type: id, doc: "Operating system process ID."}
  - {name: tid, type: id, doc: "Operating system thread ID."}
  - {name: global_pid, type: id, doc: "Process ID, unique across hosts and VMs."}
  - {name: global_tid, type: id, doc: "Thread ID, unique across hosts and VMs."}
limits: >-
  A runtime call and the driver call inside it are two rows. A sum counts both. With --cudabacktrace, exports of 2022 have
  a second row of event class 67 for each call, which is left out here, except for queries with the name of an NVIDIA
  report.
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
  WHERE
    (
      "end" - start BETWEEN 0 AND 1000000000000000
      AND start BETWEEN -4000000000000000000 AND 4000000000000000000
      AND ("end" > start OR start > 0)
      -- With --cudabacktrace, a second row of the call.
      AND coalesce(eventClass, 0) <> 67
    )
    OR (SELECT as_recorded FROM scope)
)
