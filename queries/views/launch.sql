/*---
name: launch
summary: One row per GPU operation, with the API call that launched it.
native: true
native_reads: [all_cuda_call, all_kernel, all_memcpy, all_memset, device, string]
present_if: [gpu_op]
scope: {time: [start_ns, end_ns], device: device_id, stream: stream_id, process: pid, op: [op_kind, op_id]}
reads: [all_gpu_op, all_cuda_call]
columns:
  - {name: op_id, type: id, doc: "Row ID in the raw table of this op_kind."}
  - {name: op_kind, type: text, doc: "Kind of operation: kernel, memcpy or memset."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of the operation, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "End of the operation."}
  - {name: dur_ns, type: duration, unit: ns, doc: "end_ns - start_ns."}
  - {name: device_id, type: id, doc: "CUDA device ordinal within its process; CUDA_VISIBLE_DEVICES may renumber it."}
  - {name: context_id, type: id, doc: "CUDA context."}
  - {name: green_context_id, type: id, doc: "CUDA green context; null outside a green context and before schema 3.7."}
  - {name: stream_id, type: id, doc: "CUDA stream ID, unique within its context."}
  - {name: correlation_id, type: id, doc: "Correlation ID of the launching API call, at best unique within a process; 0 or null if there is none."}
  - {name: pid, type: id, doc: "Operating system process ID."}
  - {name: global_pid, type: id, doc: "Process ID, unique across hosts and VMs; together with correlation_id it identifies the launching call."}
  - {name: call_id, type: id, doc: "Launching API call; null if the capture did not record it."}
  - {name: call_start_ns, type: timestamp, unit: ns, doc: "Start of the launching call; null without a call."}
  - {name: call_end_ns, type: timestamp, unit: ns, doc: "End of the launching call; null without a call."}
  - {name: call_name_id, type: id, doc: "ID of the call's api_symbol; null without a call."}
  - {name: global_tid, type: id, doc: "Launching thread, unique across hosts and VMs; null without a call."}
  - {name: tid, type: id, doc: "Operating system ID of the launching thread; null without a call."}
limits: >-
  If a runtime call and the driver call inside it have the same correlation ID, the outer call is used, so that each
  operation has one row. If a process uses a correlation ID again, the call is the last one that began no later than the
  operation. All operations of a graph launch share one call.
---*/
WITH
-- A call inside another one with its correlation ID ends no later than that.
outermost_call AS (
  SELECT
    *,
    lead(start_ns) OVER again AS next_ns,
    row_number() OVER again AS nth
  FROM (
    SELECT
      call_id,
      start_ns,
      end_ns,
      name_id,
      global_tid,
      tid,
      global_pid,
      correlation_id,
      max(end_ns) OVER (
        PARTITION BY global_pid, correlation_id
        ORDER BY start_ns, end_ns DESC, api_kind DESC, call_id
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
      ) AS reached_ns
    FROM all_cuda_call
    WHERE correlation_id <> 0
  )
  WHERE reached_ns IS NULL
    OR start_ns > reached_ns
  WINDOW again AS (PARTITION BY global_pid, correlation_id ORDER BY start_ns)
)
SELECT
  op.op_id,
  op.op_kind,
  op.start_ns,
  max(op.end_ns, op.start_ns) AS end_ns,
  max(op.dur_ns, 0) AS dur_ns,
  op.device_id,
  op.context_id,
  op.green_context_id,
  op.stream_id,
  op.correlation_id,
  op.pid,
  op.global_pid,
  call.call_id,
  call.start_ns AS call_start_ns,
  call.end_ns AS call_end_ns,
  call.name_id AS call_name_id,
  call.global_tid,
  call.tid
FROM all_gpu_op AS op
LEFT JOIN outermost_call AS call
  ON call.correlation_id = op.correlation_id
  AND call.global_pid = op.global_pid
  AND (op.start_ns >= call.start_ns OR call.nth = 1)
  AND (op.start_ns < call.next_ns OR call.next_ns IS NULL)
