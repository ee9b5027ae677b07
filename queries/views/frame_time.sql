/*---
name: frame_time
summary: One row per PyTorch module, class of modules and Python function, with the GPU time of what it launched.
internal: true
present_if: [python_frame]
reads: [frame_op]
columns:
  - {name: frame_kind, type: text, doc: "module, class or function."}
  - {name: place, type: text, doc: "Module, such as Linear_0, class of modules, such as Linear, or function outside of PyTorch's files, as FILE(LINE): FUNCTION; null for work outside all of the kind."}
  - {name: nth, type: int, doc: "Place among those of the kind by self_ns, from 1; null for work outside."}
  - {name: module_count, type: int, unit: count, doc: "Modules of the class that launched GPU work; 1 for a module or function, 0 for work outside."}
  - {name: calls, type: int, unit: count, doc: "Calls that launched GPU work; 0 for work outside."}
  - {name: op_count, type: int, unit: count, doc: "GPU operations that it launched itself; functions of PyTorch belong to the function that calls them."}
  - {name: self_ns, type: duration, unit: ns, doc: "Sum of their durations."}
  - {name: kernel_ns, type: duration, unit: ns, doc: "Sum of the durations of its kernels."}
  - {name: backward_ns, type: duration, unit: ns, doc: "Part of self_ns that backward operators launched."}
  - {name: total_ns, type: duration, unit: ns, doc: "self_ns and the time of the modules inside; of a function, self_ns."}
  - {name: outside, type: text, doc: "For work outside: the reason with the most GPU time; otherwise null."}
limits: The rows of a kind add up to all GPU operations of the scope by self_ns, not by total_ns.
---*/
WITH
made AS MATERIALIZED (
  SELECT frame_kind, place, op_kind, op_id, dur_ns, frame_id, is_innermost, is_backward, outside
  FROM frame_op
),
-- PyTorch numbers the modules of a class: Linear_0, Linear_1.
class_name AS MATERIALIZED (
  SELECT DISTINCT
    place AS module_name,
    iif(
      rtrim(place, '0123456789') GLOB '?*_' AND place GLOB '*[0-9]',
      substr(place, 1, length(rtrim(place, '0123456789')) - 1),
      place
    ) AS class
  FROM made
  WHERE frame_kind = 'module'
),
op AS MATERIALIZED (
  SELECT frame_kind, place, op_kind, op_id, dur_ns, frame_id, is_innermost, is_backward, outside, place AS module_name
  FROM made
  UNION ALL
  SELECT
    'class' AS frame_kind,
    class_name.class AS place,
    made.op_kind,
    made.op_id,
    made.dur_ns,
    made.frame_id,
    made.is_innermost,
    made.is_backward,
    made.outside,
    made.place AS module_name
  FROM made
  LEFT JOIN class_name
    ON class_name.module_name = made.place
  WHERE made.frame_kind = 'module'
),
-- A module that calls itself, or another one of its class, counts once.
once AS (
  SELECT
    frame_kind,
    place,
    op_kind,
    min(dur_ns) AS dur_ns,
    max(is_innermost) AS is_own,
    max(is_innermost AND is_backward) AS is_own_backward
  FROM op
  GROUP BY frame_kind, place, op_kind, op_id
),
summed AS (
  SELECT
    frame_kind,
    place,
    sum(is_own) AS op_count,
    sum(iif(is_own, dur_ns, 0)) AS self_ns,
    sum(iif(is_own AND op_kind = 'kernel', dur_ns, 0)) AS kernel_ns,
    sum(iif(is_own_backward, dur_ns, 0)) AS backward_ns,
    sum(dur_ns) AS total_ns
  FROM once
  GROUP BY frame_kind, place
),
called AS (
  SELECT frame_kind, place, count(DISTINCT frame_id) AS calls, count(DISTINCT module_name) AS module_count
  FROM op
  GROUP BY frame_kind, place
),
reason AS (
  SELECT
    frame_kind,
    outside,
    row_number() OVER (PARTITION BY frame_kind ORDER BY sum(dur_ns) DESC, outside) AS nth
  FROM op
  WHERE outside IS NOT NULL
  GROUP BY frame_kind, outside
)
SELECT
  summed.frame_kind,
  summed.place,
  iif(
    summed.place IS NULL,
    NULL,
    row_number() OVER (
      PARTITION BY summed.frame_kind, summed.place IS NULL
      ORDER BY summed.self_ns DESC, summed.total_ns DESC, summed.place
    )
  ) AS nth,
  called.module_count,
  called.calls,
  summed.op_count,
  summed.self_ns,
  summed.kernel_ns,
  summed.backward_ns,
  summed.total_ns,
  reason.outside
FROM summed
JOIN called
  ON called.frame_kind = summed.frame_kind
  AND called.place IS NOT DISTINCT FROM summed.place
LEFT JOIN reason
  ON summed.place IS NULL
  AND reason.frame_kind = summed.frame_kind
  AND reason.nth = 1
