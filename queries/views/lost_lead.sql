/*---
name: lost_lead
summary: One row per wait of a thread for the GPU, and per gap before a late launch that an earlier wait made late.
internal: true
stored: true
present_if: [gpu_op, graph_trace]
reads: [gpu_window, step_window, thread_lead]
columns:
  - {name: gpu_id, type: id, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: global_tid, type: id, doc: "Thread that waits and launches, unique across hosts and VMs."}
  - {name: lead_id, type: id, doc: "Number of the lead: waits and gaps until the waits' time is used up."}
  - {name: is_gap, type: bool, doc: "1 for a gap, 0 for a wait."}
  - {name: is_other, type: bool, doc: "1 for a wait, and for a gap with a wait or an allocation inside."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of the gap as in compute_gap_part; of a wait, its last nanosecond."}
  - {name: at_ns, type: timestamp, unit: ns, doc: "When the next operation was launched; of a wait, its end."}
  - {name: lost_ns, type: duration, unit: ns, doc: "Time of the gap that the lead would have closed; 0 for a wait."}
  - {name: gap_ns, type: duration, unit: ns, doc: "Length of the whole gap; null for a wait."}
  - {name: wait_ns, type: duration, unit: ns, doc: "Length of a wait; null for a gap."}
  - {name: api_name, type: text, doc: "CUDA function of a wait; null for a gap."}
  - {name: after_id, type: id, doc: "Row ID of the operation after the gap in the raw table of its kind; 0 for a wait."}
limits: >-
  Without its waits, a thread would be as far ahead of the GPU as it waited, and late launches would use that up: gaps count as long
  as the sum of waits is larger than the sum of gaps. Waits are calls with Synchronize in their names. Of those before the scope,
  the last one counts, unless steps repeat in it.
---*/
SELECT
  lead.gpu_id,
  lead.global_tid,
  lead.lead_id,
  lead.is_gap,
  lead.is_other,
  lead.start_ns,
  lead.at_ns,
  lead.lost_ns,
  lead.gap_ns,
  lead.wait_ns,
  lead.api_name,
  lead.after_id
FROM gpu_window
-- Where steps repeat, a wait before them gives no lead that lasts.
CROSS JOIN thread_lead AS lead
WHERE lead.gpu_id = gpu_window.gpu_id
  AND lead.starts_ahead = NOT EXISTS (
    SELECT 1
    FROM step_window
    WHERE step_window.gpu_id = gpu_window.gpu_id
      AND part IN ('median', 'steady')
  )
