/*---
name: recording_cost
summary: What recording costs the threads, for NVTX ranges and for CUDA calls, estimated by medians.
present_if: [nvtx_span, cuda_call]
internal: true
stored: true
reads: [cuda_call, export_fact, nvtx_span, op_total, step_window, string]
columns:
  - {name: event_kind, type: text, doc: "range (push/pop ranges) or call (CUDA calls)."}
  - {name: event_count, type: int, unit: count, doc: "Events of the kind while the host runs the steps after the warm-up; without steps, from the first to the last GPU operation."}
  - {name: op_count, type: int, unit: count, doc: "GPU operations of the steps, or all."}
  - {name: cost_ns, type: duration, unit: ns, doc: "Estimated time to record one; null if no name is frequent enough."}
  - {name: thread_pct, type: percent, unit: percent, doc: "cost_ns of all these events as a share of the time in which their threads have any."}
limits: >-
  An estimate from the first 20,000 events of a kind. For each name up to a comma with 20 events or more: the median time
  from the start of a range to the next start or end on its thread, and from the end of an event likewise. The cost is
  the smallest median of starts and that of ends; for a call, that from its end to the start of the next, because its
  own time is work. The program runs in that time, too, so the cost is at most this. There is no row for ranges if they
  are at most two for each GPU operation, and none at all for a trace with stacks or shapes, which take longer.
---*/
WITH
-- A step has a row for each GPU.
step AS MATERIALIZED (
  SELECT DISTINCT global_tid, step, cpu_start_ns, cpu_end_ns, op_count
  FROM step_window
  WHERE part IN ('median', 'steady')
    AND cpu_start_ns IS NOT NULL
),
work AS MATERIALIZED (
  SELECT
    coalesce(steps.from_ns, op_total.start_ns) AS from_ns,
    coalesce(steps.to_ns, op_total.end_ns) AS to_ns,
    coalesce(steps.op_count, op_total.op_count) AS op_count
  FROM op_total
  CROSS JOIN (
    SELECT min(cpu_start_ns) AS from_ns, max(cpu_end_ns) AS to_ns, sum(op_count) AS op_count
    FROM step
  ) AS steps
  -- Stacks and shapes take longer, and are a row of overhead_doubt.
  WHERE NOT EXISTS (SELECT 1 FROM export_fact WHERE fact IN ('TRACE_RECORD_SHAPES', 'TRACE_WITH_STACK') AND value = '1')
),
kind (event_kind, event_count) AS MATERIALIZED (
  SELECT 'range', count(*)
  FROM work
  CROSS JOIN nvtx_span
  -- Without the plus, SQLite would first sort all ranges by type, for an index that is read once.
  WHERE +nvtx_span.event_type = 59
    AND nvtx_span.start_ns < work.to_ns
    AND nvtx_span.end_ns > work.from_ns
  HAVING count(*) > 2 * max(work.op_count)
  UNION ALL
  SELECT 'call', count(*)
  FROM work
  CROSS JOIN cuda_call
  WHERE cuda_call.start_ns < work.to_ns
    AND cuda_call.end_ns > work.from_ns
  HAVING count(*) > 0
),
sample AS MATERIALIZED (
  SELECT *
  FROM (
    SELECT
      'range' AS event_kind,
      global_tid,
      -- What follows a comma differs from range to range, as in aten::mm, seq = 12.
      substr(text, 1, instr(text || ',', ',') - 1) AS name,
      start_ns,
      end_ns,
      range_id AS nth
    FROM (
      SELECT
        nvtx_span.global_tid,
        coalesce(nvtx_span.text, (SELECT string.text FROM string WHERE string.string_id = nvtx_span.text_id)) AS text,
        nvtx_span.start_ns,
        nvtx_span.end_ns,
        nvtx_span.range_id
      -- Ranges are not read if there is no row for them.
      FROM kind
      CROSS JOIN work
      CROSS JOIN nvtx_span
      WHERE kind.event_kind = 'range'
        AND +nvtx_span.event_type = 59
        AND nvtx_span.start_ns < work.to_ns
        AND nvtx_span.end_ns > work.from_ns
      LIMIT 20000
    )
  )
  UNION ALL
  SELECT *
  FROM (
    SELECT 'call', cuda_call.global_tid, cuda_call.name_id, cuda_call.start_ns, cuda_call.end_ns, cuda_call.call_id
    FROM work
    CROSS JOIN cuda_call
    WHERE cuda_call.start_ns < work.to_ns
      AND cuda_call.end_ns > work.from_ns
    LIMIT 20000
  )
),
-- Calls of a thread follow each other. Ranges enclose others, so their starts and ends are put in order.
edge AS (
  SELECT global_tid, name, 1 AS is_start, start_ns AS at_ns, nth
  FROM sample
  WHERE event_kind = 'range'
  UNION ALL
  SELECT global_tid, name, 0, end_ns, -nth
  FROM sample
  WHERE event_kind = 'range'
),
gap AS (
  SELECT
    'range' AS event_kind,
    name,
    is_start,
    lead(at_ns) OVER (PARTITION BY global_tid ORDER BY at_ns, nth) - at_ns AS gap_ns
  FROM edge
  UNION ALL
  SELECT
    'call',
    name,
    0,
    lead(start_ns) OVER in_thread - max(end_ns) OVER (in_thread ROWS UNBOUNDED PRECEDING)
  FROM sample
  WHERE event_kind = 'call'
  WINDOW in_thread AS (PARTITION BY global_tid ORDER BY start_ns, nth)
),
usual AS (
  SELECT event_kind, is_start, median(gap_ns) AS gap_ns
  FROM gap
  -- A call inside another has none.
  WHERE gap_ns >= 0
  GROUP BY event_kind, is_start, name
  HAVING count(*) >= 20
),
cost AS (
  SELECT event_kind, sum(gap_ns) AS cost_ns
  FROM (SELECT event_kind, is_start, min(gap_ns) AS gap_ns FROM usual GROUP BY event_kind, is_start)
  GROUP BY event_kind
  HAVING count(*) = iif(event_kind = 'range', 2, 1)
),
density AS (
  SELECT event_kind, sum(events) AS events, sum(span_ns) AS span_ns
  FROM (
    SELECT event_kind, count(*) AS events, max(end_ns) - min(start_ns) AS span_ns
    FROM sample
    GROUP BY event_kind, global_tid
  )
  GROUP BY event_kind
)
SELECT
  kind.event_kind,
  kind.event_count,
  work.op_count,
  CAST(round(cost.cost_ns) AS INTEGER) AS cost_ns,
  100.0 * density.events * cost.cost_ns / nullif(density.span_ns, 0) AS thread_pct
FROM work
CROSS JOIN kind
JOIN density
  ON density.event_kind = kind.event_kind
LEFT JOIN cost
  ON cost.event_kind = kind.event_kind
WHERE work.op_count > 0
