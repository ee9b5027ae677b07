/*---
name: host_sync
version: 3
title: The GPU idles after the host waited for it
summary: Idle time of a GPU after the thread that launches its work waited for it.
why: To see how much idle time blocking calls such as cudaStreamSynchronize cost.
kind: finding
tags: [cuda, gpu, sync]
reads: [compute_gap_part, idle_part, lost_lead, nvtx_name, nvtx_projection]
requires: [compute_gap_part, all_cuda_call]
finding:
  claim: "Synchronization: the launching thread waits for the GPU before it launches the next work."
  ceiling: Gaps below a millisecond after waits, up to the end of the next launch call, and together at most as long as these waits. Of longer gaps, only the time inside the waiting call. Time in the queue after the launch does not count.
  remedy: >-
    Remove the wait, or move it behind the next launches. A result that only decides on the next step: decide on the GPU, or read it every few steps.
  in_pytorch: >-
    .item(), .cpu() and copies without non_blocking=True wait; torch.cuda.set_sync_debug_mode("warn") shows where.
  link: https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html
  confidence: medium
  edit: wait=@
  narrows: [launch_bound]
  frees: idle
params:
  - {name: least, type: duration, default: 2us, min: 0, doc: "Shortest interval to return."}
  - {name: below, type: duration, default: 1ms, min: 0, doc: "Of gaps of this length or longer, only the time inside the call counts; the rest belongs to host_work."}
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: start_ns, type: timestamp, unit: ns, priority: 1, doc: "Start of the idle time, on the report's clock."}
  - {name: dur_ns, type: duration, unit: ns, priority: 1, doc: "Idle time that would be saved."}
  - {name: subject, type: text, label: "call", priority: 0, doc: "CUDA function that waits, and the operator of the framework that calls it, such as aten::to. A function that asks, such as cudaEventQuery, is called in a loop."}
  - {name: wait_ns, type: duration, unit: ns, label: "time in the call", doc: "Length of the call up to its end or the end of the gap; null if the call started in an idle GPU's gap."}
  - {name: after_name, type: text, label: "next operation", doc: "Operation that the GPU ran after the gap; null for a later gap than the one in which the thread waited."}
limits: >-
  Only the name of a call shows whether it waits, except for a loop that asks whether an event or stream is ready, and gets
  the answer "not ready" three times or more. A copy without Synchronize in its name counts as a wait if the GPU
  went idle at its end and the call had not returned. If the host needs the result of the GPU to go on, the wait cannot
  be removed. Without the wait the host would be as far ahead as it waited, so gaps count until they use that up. These
  waits have a row of 1 ns at their ends, which shows the replay what to remove.
  With --nvtx, --process and similar options, other work may run in a gap.
see_also: [gpu_idle_causes, cuda_api_sync]
---*/
WITH
-- The last kernel, or in long gaps all work, ended while the thread waited for it.
ended AS MATERIALIZED (
  SELECT
    gpu_id,
    start_ns,
    end_ns,
    gap_start_ns + gap_ns AS gap_end_ns,
    api_name,
    call_start_ns,
    global_tid,
    after_id,
    after_name
  FROM compute_gap_part
  WHERE part IN ('host sync', 'other API call')
    AND start_ns = gap_start_ns
    AND gap_ns < :below
    AND (part = 'host sync' OR api_name GLOB 'cu*Memcpy*Async*')
  UNION ALL
  SELECT gpu_id, start_ns, end_ns, gap_start_ns + gap_ns, api_name, call_start_ns, global_tid, after_id, after_name
  FROM idle_part
  WHERE part IN ('host sync', 'other API call')
    AND start_ns = gap_start_ns
    AND gap_ns >= :below
    AND (
      part = 'host sync'
      OR before_kind = 'memcpy' AND api_name GLOB 'cu*Memcpy*Async*'
    )
),
-- The thread began to wait for a GPU that was idle already.
idle_wait AS (
  SELECT gpu_id, start_ns, dur_ns, api_name, NULL AS wait_ns, after_id, after_name, global_tid, call_start_ns
  FROM idle_part
  WHERE part = 'host sync'
    AND start_ns > gap_start_ns
),
-- When the next work had been launched.
launched AS MATERIALIZED (
  SELECT gpu_id, gap_start_ns, max(end_ns) AS launched_ns
  FROM compute_gap_part
  WHERE part IN ('host sync', 'launch call', 'memory allocation', 'other API call', 'outside CUDA API', 'unknown')
    AND gap_start_ns IN (SELECT start_ns FROM ended)
  GROUP BY gpu_id, gap_start_ns
),
after_wait AS (
  SELECT
    ended.gpu_id,
    ended.start_ns,
    iif(
      ended.gap_end_ns - ended.start_ns < :below,
      min(ended.end_ns - ended.call_start_ns, coalesce(launched.launched_ns, ended.gap_end_ns) - ended.start_ns),
      ended.end_ns - ended.start_ns
    ) AS dur_ns,
    ended.api_name,
    ended.end_ns - ended.call_start_ns AS wait_ns,
    ended.after_id,
    ended.after_name,
    ended.global_tid,
    ended.call_start_ns
  FROM ended
  LEFT JOIN launched
    ON launched.gpu_id = ended.gpu_id
    AND launched.gap_start_ns = ended.start_ns
),
-- Later gaps that the lead of the host would have closed, and the ends of the waits that cost it.
counted AS (
  SELECT *, is_gap AND NOT is_other AND gap_ns < :below AND lost_ns >= :least AS is_counted
  FROM lost_lead
),
behind AS (
  SELECT *
  FROM (
    SELECT
      *,
      max(iif(is_counted, at_ns, NULL)) OVER (PARTITION BY gpu_id, global_tid, lead_id) AS last_ns,
      -- The longest wait of the lead.
      first_value(api_name) OVER longest AS call_name,
      first_value(wait_ns) OVER longest AS longest_ns,
      first_value(at_ns - wait_ns) OVER longest AS call_start_ns
    FROM counted
    WINDOW longest AS (PARTITION BY gpu_id, global_tid, lead_id ORDER BY wait_ns IS NULL, wait_ns DESC, at_ns)
  )
  WHERE is_counted
    OR NOT is_gap AND at_ns <= last_ns
),
found AS MATERIALIZED (
  SELECT row_number() OVER () AS row_id, *
  FROM (
    SELECT *
    FROM after_wait
    WHERE dur_ns >= :least
    UNION ALL
    SELECT *
    FROM idle_wait
    WHERE dur_ns >= :least
    UNION ALL
    SELECT
      gpu_id,
      start_ns,
      iif(is_gap, lost_ns, 1),
      call_name,
      longest_ns,
      after_id,
      NULL,
      global_tid,
      call_start_ns
    FROM behind
  )
),
-- The operator that a wait is in: of nested ones, the outermost.
operator AS MATERIALIZED (
  SELECT range_id, start_ns, end_ns, global_tid, name_id
  FROM nvtx_projection
  WHERE EXISTS (SELECT 1 FROM found)
    AND end_ns > start_ns
    AND overlap_ns((SELECT time_set(call_start_ns, call_start_ns + 1) FROM found), start_ns, end_ns) > 0
    AND name_id IN (SELECT name_id FROM nvtx_name WHERE layer_name GLOB '*::*')
),
placed AS MATERIALIZED (
  SELECT part.span_id AS row_id, operator.name_id
  FROM split_spans(
    (SELECT time_spans(global_tid, row_id, call_start_ns, call_start_ns + 1) FROM found),
    (SELECT time_spans_apart(global_tid, range_id, start_ns, end_ns) FROM operator)
  ) AS part
  JOIN operator
    ON operator.range_id = part.by_id
)
SELECT
  found.gpu_id,
  found.start_ns,
  found.dur_ns,
  found.api_name
  || iif(found.api_name GLOB '*Query*', ' in a loop', '')
  || coalesce(' in ' || replace(nvtx_name.layer_name, 'cpu_op:', ''), '') AS subject,
  found.wait_ns,
  found.after_name
FROM found
LEFT JOIN placed
  ON placed.row_id = found.row_id
LEFT JOIN nvtx_name
  ON nvtx_name.name_id = placed.name_id
ORDER BY found.gpu_id, found.start_ns, found.after_id, found.dur_ns, found.row_id
