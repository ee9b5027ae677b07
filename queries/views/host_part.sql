/*---
name: host_part
summary: One row per interval of a GPU's gap, with what the launching thread did on its CPU.
internal: true
present_if: [gpu_op, graph_trace]
stored: true
reads: [all_os_call, host_segment, idle_part]
columns:
  - {name: part_id, type: id, doc: "Interval of idle_part in which it lies; idle_part has the operations before and after the gap."}
  - {name: gpu_id, type: id, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: device_id, type: id, doc: "CUDA device ordinal within the first process that uses the GPU; the number that --device takes."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of the interval, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "End of the interval."}
  - {name: dur_ns, type: duration, unit: ns, doc: "end_ns - start_ns. The intervals of a gap add up to it."}
  - {name: cause, type: text, doc: "What the thread did: CUDA call, OS call, running, runnable, blocked, off CPU, queued or unknown. gpu_idle_host_sum explains each."}
  - {name: part, type: text, doc: "What idle_part calls it. unknown: no launch was recorded for what ends the gap."}
  - {name: function_name, type: text, doc: "Function of the CUDA call or OS call; null for other causes."}
  - {name: os_call_id, type: id, doc: "call_id of the OS call, in os_call; null for other causes."}
  - {name: gap_start_ns, type: timestamp, unit: ns, doc: "Start of the whole gap."}
  - {name: gap_ns, type: duration, unit: ns, doc: "Length of the whole gap."}
  - {name: pid, type: id, doc: "Operating system process ID of the thread; null if unknown."}
  - {name: tid, type: id, doc: "Operating system ID of the thread that launched the operation after the gap; null if unknown."}
  - {name: global_tid, type: id, doc: "The thread, unique across hosts and VMs; null if unknown."}
limits: The parts of idle_part, with those outside the CUDA API split further, as in host_segment.
---*/
SELECT
  part.part_id,
  part.gpu_id,
  part.device_id,
  coalesce(segment.start_ns, part.start_ns) AS start_ns,
  coalesce(segment.end_ns, part.end_ns) AS end_ns,
  coalesce(segment.end_ns - segment.start_ns, part.dur_ns) AS dur_ns,
  CASE
    WHEN segment.cause IS NOT NULL THEN segment.cause
    WHEN part.part = 'queued' THEN 'queued'
    WHEN part.part IN ('outside CUDA API', 'unknown') THEN 'unknown'
    ELSE 'CUDA call'
  END AS cause,
  part.part,
  iif(
    segment.os_call_id IS NULL,
    part.api_name,
    (SELECT function_name FROM all_os_call WHERE call_id = segment.os_call_id)
  ) AS function_name,
  segment.os_call_id,
  part.gap_start_ns,
  part.gap_ns,
  part.pid,
  part.tid,
  part.global_tid
FROM idle_part AS part
LEFT JOIN host_segment AS segment
  ON segment.part_id = part.part_id
