/*---
name: mpi_wait
version: 1
title: The GPU waits for MPI
summary: Idle time of a GPU while the launching thread is in an MPI call.
why: To see how much time messages between processes cost, and which calls it is.
kind: finding
tags: [cuda, gpu, mpi]
reads: [compute_gap_part, mpi_call]
requires: [compute_gap_part, mpi_call]
rows_if: "EXISTS (SELECT 1 FROM mpi_call)"
finding:
  claim: "MPI: the GPU idles while the launching thread is in an MPI call."
  ceiling: Time in MPI calls in gaps of the GPU, before the next launch. Messages that pass while kernels run do not count.
  remedy: >-
    Start messages early (MPI_Isend, MPI_Irecv) and compute what does not need them before MPI_Wait; send from GPU memory
    with a CUDA-aware MPI; balance the work of the ranks, if calls wait for a late one.
  link: https://docs.open-mpi.org/en/main/tuning-apps/networking/cuda.html
  confidence: medium
  frees: idle
params:
  - {name: least, type: duration, default: 2us, min: 0, doc: "Shortest interval to return."}
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: start_ns, type: timestamp, unit: ns, priority: 1, doc: "Start of the interval, on the report's clock."}
  - {name: dur_ns, type: duration, unit: ns, priority: 1, doc: "Length of the interval, in which the GPU was idle and the thread in the call."}
  - {name: subject, type: text, label: "MPI call", priority: 0, doc: "Function name, such as MPI_Recv."}
  - {name: gap_ns, type: duration, unit: ns, label: "gap", doc: "Length of the whole gap."}
  - {name: tid, type: id, label: "thread", doc: "Operating system ID of the thread that launched the next operation."}
limits: >-
  A call may wait for another rank or transfer data; the reports of all ranks show which. Waiting in a thread that
  launches nothing does not count.
  With --nvtx, --process and similar options, other work may run in a gap.
see_also: [host_work, mpi_event_sum, gpu_idle_causes]
---*/
WITH
idle AS MATERIALIZED (
  SELECT part_id, gpu_id, start_ns, end_ns, gap_ns, tid, global_tid
  FROM compute_gap_part
  WHERE part = 'outside CUDA API'
),
part AS (
  SELECT span_id AS part_id, by_id AS call_id, start_ns, end_ns
  FROM split_spans(
    (SELECT time_spans(global_tid, part_id, start_ns, end_ns) FROM idle),
    (SELECT time_spans_apart(global_tid, call_id, start_ns, end_ns) FROM mpi_call)
  )
  WHERE by_id IS NOT NULL
)
SELECT
  idle.gpu_id,
  part.start_ns,
  part.end_ns - part.start_ns AS dur_ns,
  mpi_call.mpi_name AS subject,
  idle.gap_ns,
  idle.tid
FROM part
JOIN idle
  ON idle.part_id = part.part_id
JOIN mpi_call
  ON mpi_call.call_id = part.call_id
WHERE part.end_ns - part.start_ns >= :least
ORDER BY idle.gpu_id, part.start_ns, idle.part_id
