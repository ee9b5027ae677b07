/*---
name: mpi_call
summary: One row per MPI call of a thread, traced or marked by the NVTX domain MPI.
internal: true
present_if: [mpi_event, nvtx_range]
reads: [all_nvtx_domain, mpi_event, nvtx_range]
columns:
  - {name: call_id, type: id, doc: "Number of the call in this relation, from 1, by thread and time."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of the call, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "End of the call."}
  - {name: mpi_name, type: text, doc: "Function name, such as MPI_Allreduce."}
  - {name: tid, type: id, doc: "Operating system thread ID."}
  - {name: global_tid, type: id, doc: "Thread ID, unique across hosts and VMs."}
limits: Ranges count only if no MPI call was traced. Some captures have MPI calls as ranges alone.
---*/
WITH
call AS (
  SELECT DISTINCT start_ns, end_ns, mpi_name, tid, global_tid
  FROM mpi_event
  UNION ALL
  SELECT start_ns, end_ns, range_text, tid, global_tid
  FROM nvtx_range
  WHERE domain_name = 'MPI'
    AND range_kind = 'PushPop'
    AND EXISTS (SELECT 1 FROM all_nvtx_domain WHERE domain_name = 'MPI')
    AND NOT EXISTS (SELECT 1 FROM mpi_event)
)
SELECT
  row_number() OVER (ORDER BY global_tid, start_ns, end_ns DESC, mpi_name) AS call_id,
  start_ns,
  end_ns,
  mpi_name,
  tid,
  global_tid
FROM call
