/*---
name: api_errors
version: 1
title: CUDA API calls that did not return 0
summary: CUDA API calls that did not return 0, per function and value, earliest first.
why: To find errors that the program ignored. They often explain missing or strange GPU work.
kind: sum
tags: [api, cuda]
reads: [all_cuda_call, cuda_call, cuda_error]
requires: [cuda_call]
columns:
  - {name: first_start_ns, type: timestamp, unit: ns, label: "first call", doc: "Start of the first of these calls, on the report's clock."}
  - {name: last_start_ns, type: timestamp, unit: ns, label: "last call", priority: 3, doc: "Start of the last of these calls, on the report's clock."}
  - {name: calls, type: int, unit: count, priority: 1, doc: "Calls that returned this value."}
  - {name: share_pct, type: percent, unit: percent, label: "share of function's calls", priority: 1, doc: "calls as a share of all calls of the function."}
  - {name: processes, type: int, unit: count, priority: 3, doc: "Processes that made these calls."}
  - {name: threads, type: int, unit: count, priority: 3, doc: "Threads that made these calls."}
  - {name: return_value, type: int, priority: 1, doc: "Return value: a cudaError_t of the runtime or a CUresult of the driver; null if not recorded."}
  - {name: meaning, type: text, priority: 1, doc: "Meaning of the value; not recorded if there is no value; null if nsq has no meaning for the value."}
  - {name: api_kind, type: text, label: "API", priority: 3, doc: "API: runtime or driver; class N for an unknown event class N."}
  - {name: api_name, type: text, label: "API function", priority: 0, doc: "Function name without its ABI version, such as cudaLaunchKernel."}
  - {name: api_symbol, type: text, label: "API symbol", priority: 3, doc: "Function name as recorded, such as cudaLaunchKernel_v7000."}
checks:
  - calls >= 1 AND threads BETWEEN 1 AND calls AND processes BETWEEN 1 AND threads
  - share_pct BETWEEN 0 AND 100
  - return_value <> 0
  - first_start_ns <= last_start_ns
when_empty: "no CUDA API call failed"
limits: >-
  No rows means that no call failed. A PyTorch trace does not record return values, so there every function has a row.
  Value 600 (not ready) of cudaEventQuery, cudaStreamQuery and similar calls is an answer, not a failure, and is listed
  last. cudaGetLastError and cudaPeekAtLastError return the error of an earlier call. A kernel's error shows up in
  whichever later call notices it. The meanings are those of CUDA 10.1 and later.
see_also: [cuda_api_sum, cuda_api_trace]
---*/
WITH
by_value AS (
  SELECT
    name_id,
    api_kind,
    return_value,
    min(call_id) AS any_call_id,
    min(start_ns) AS first_start_ns,
    max(start_ns) AS last_start_ns,
    count(*) AS calls,
    count(DISTINCT global_pid) AS processes,
    count(DISTINCT global_tid) AS threads
  FROM cuda_call
  GROUP BY name_id, api_kind, return_value
),
with_share AS (
  SELECT *, 100.0 * calls / sum(calls) OVER (PARTITION BY name_id, api_kind) AS share_pct
  FROM by_value
)
SELECT
  with_share.first_start_ns,
  with_share.last_start_ns,
  with_share.calls,
  with_share.share_pct,
  with_share.processes,
  with_share.threads,
  with_share.return_value,
  iif(with_share.return_value IS NULL, 'not recorded', known_value.meaning) AS meaning,
  with_share.api_kind,
  call.api_name,
  call.api_symbol
FROM with_share
LEFT JOIN cuda_error AS known_value
  ON known_value.return_value = with_share.return_value
JOIN all_cuda_call AS call
  ON call.call_id = with_share.any_call_id
WHERE with_share.return_value IS DISTINCT FROM 0
ORDER BY
  with_share.return_value IS NULL,
  coalesce(known_value.meaning = 'not ready', 0),
  with_share.first_start_ns,
  with_share.any_call_id
