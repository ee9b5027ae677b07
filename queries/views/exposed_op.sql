/*---
name: exposed_op
summary: One row per interval in which communication or copies ran, and no work of a higher rank.
present_if: [gpu_op, graph_trace]
reads: [gpu_busy, gpu_overlap]
columns:
  - {name: gpu_id, type: id, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of the interval, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "End of the interval."}
  - {name: dur_ns, type: duration, unit: ns, doc: "end_ns - start_ns."}
  - {name: activity, type: text, doc: "Kind of work: communication (no compute kernel ran) or memory (no kernel ran)."}
  - {name: op_kind, type: text, doc: "Kind of the operation: kernel, memcpy or memset; if several ran, of the one that started last."}
  - {name: op_id, type: id, doc: "Its row ID in the raw table of this kind."}
limits: >-
  Ranks are those of gpu_overlap: compute above communication above memory. The intervals of a GPU are disjoint, and add
  up to exposed_communication_ns and exposed_memory_ns of gpu_window.
---*/
WITH
-- Without the operations that are hidden completely.
op AS (
  SELECT
    gpu_id,
    op_kind,
    op_id,
    activity,
    start_ns,
    end_ns,
    row_number() OVER (ORDER BY start_ns, op_kind, op_id) AS place
  FROM gpu_overlap
  WHERE activity <> 'compute'
    AND exposed_ns > 0
  LIMIT -1
),
event AS (
  SELECT
    gpu_id,
    start_ns AS at_ns,
    0 AS compute,
    activity = 'communication' AS communication,
    activity = 'memory' AS memory,
    place
  FROM op
  UNION ALL
  SELECT gpu_id, end_ns, 0, -(activity = 'communication'), -(activity = 'memory'), NULL
  FROM op
  UNION ALL
  SELECT gpu_id, start_ns, 1, 0, 0, NULL
  FROM gpu_busy
  WHERE level = 'gpu' AND activity = 'compute'
  UNION ALL
  SELECT gpu_id, end_ns, -1, 0, 0, NULL
  FROM gpu_busy
  WHERE level = 'gpu' AND activity = 'compute'
),
-- What is open after each event, and the operation of each kind that started last.
state AS (
  SELECT
    gpu_id,
    at_ns AS start_ns,
    lead(at_ns) OVER in_order AS end_ns,
    sum(compute) OVER so_far AS compute,
    sum(communication) OVER so_far AS communication,
    sum(memory) OVER so_far AS memory,
    max(iif(communication = 1, place, NULL)) OVER so_far AS communication_place,
    max(iif(memory = 1, place, NULL)) OVER so_far AS memory_place
  FROM event
  WINDOW
    in_order AS (PARTITION BY gpu_id ORDER BY at_ns, compute, communication, memory, place),
    so_far AS (PARTITION BY gpu_id ORDER BY at_ns, compute, communication, memory, place ROWS UNBOUNDED PRECEDING)
),
exposed AS (
  SELECT gpu_id, start_ns, end_ns, iif(communication > 0, communication_place, memory_place) AS place
  FROM state
  WHERE compute = 0
    AND communication + memory > 0
    AND end_ns > start_ns
  LIMIT -1
)
SELECT
  exposed.gpu_id,
  exposed.start_ns,
  exposed.end_ns,
  exposed.end_ns - exposed.start_ns AS dur_ns,
  op.activity,
  op.op_kind,
  op.op_id
FROM exposed
CROSS JOIN op
WHERE op.place = exposed.place
