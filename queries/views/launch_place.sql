/*---
name: launch_place
summary: One row per call that launched GPU work and place in the program where it was asked for.
internal: true
stored: true
present_if: [nvtx_span, python_frame]
reads: [all_nvtx_span, launch, string]
columns:
  - {name: place_id, type: id, doc: "ID of the place."}
  - {name: call_id, type: id, doc: "Launching call, the call_id of launch."}
  - {name: is_forward, type: bool, doc: "1 for the forward operator of a backward one; 0 for the call itself. A call of a backward pass has both."}
  - {name: at_ns, type: timestamp, unit: ns, doc: "Start of the call or of the forward operator, on the report's clock."}
  - {name: global_tid, type: id, doc: "Thread of the call or of the forward operator, unique across hosts and VMs."}
limits: >-
  A backward operator has the sequence number of its forward operator: the last one with it in the process that started
  earlier. PyTorch counts these numbers per thread, so a match can be wrong if several threads run forward at once.
---*/
WITH
call AS MATERIALIZED (
  SELECT DISTINCT call_id, call_start_ns AS at_ns, global_tid
  FROM launch
  WHERE call_id IS NOT NULL
),
autograd_name AS MATERIALIZED (
  SELECT string_id
  FROM string
  WHERE text GLOB 'autograd::engine::evaluate_function*'
    OR text GLOB '*Backward'
    OR text GLOB '*Backward[0-9]'
    OR text GLOB '*Backward[0-9][0-9]'
),
-- Operators with a sequence number. `nth` counts those that share one, by start.
numbered AS MATERIALIZED (
  SELECT
    range_id,
    start_ns,
    end_ns,
    global_tid,
    global_pid,
    int64_value AS seq,
    text_id IN (SELECT string_id FROM autograd_name) AS is_autograd,
    row_number() OVER (
      PARTITION BY global_pid, int64_value
      ORDER BY start_ns, end_ns DESC, range_id
    ) AS nth
  FROM all_nvtx_span
  WHERE int64_value >= 0
    AND end_ns > start_ns
),
followed AS (
  SELECT
    *,
    max(iif(is_autograd, NULL, nth)) OVER (PARTITION BY global_pid, seq ORDER BY nth) AS forward_nth
  FROM numbered
),
backward AS MATERIALIZED (
  SELECT
    followed.range_id,
    followed.start_ns,
    followed.end_ns,
    followed.global_tid,
    forward.start_ns AS forward_ns,
    forward.global_tid AS forward_tid
  FROM followed
  JOIN numbered AS forward
    ON forward.global_pid = followed.global_pid
    AND forward.seq = followed.seq
    AND forward.nth = followed.forward_nth
  WHERE followed.is_autograd
),
-- The innermost backward operator around the call.
held AS (
  SELECT
    span.span_id AS call_id,
    backward.forward_ns,
    backward.forward_tid,
    row_number() OVER (
      PARTITION BY span.span_id
      ORDER BY backward.start_ns DESC, backward.end_ns, backward.range_id
    ) AS nth
  FROM split_spans(
    (SELECT time_spans(global_tid, call_id, at_ns, at_ns + 1) FROM call),
    (SELECT time_spans(global_tid, range_id, start_ns, end_ns) FROM backward)
  ) AS span
  JOIN backward
    ON backward.range_id = span.by_id
)
SELECT
  2 * call_id AS place_id,
  call_id,
  0 AS is_forward,
  at_ns,
  global_tid
FROM call
UNION ALL
SELECT
  2 * call_id + 1,
  call_id,
  1,
  forward_ns,
  forward_tid
FROM held
WHERE nth = 1
