/*---
name: import_doubt
summary: One row per reason why events of a trace are not in the report, or not at its operations.
internal: true
present_if: [export_fact]
reads: [export_fact, import_count]
columns:
  - {name: priority, type: int, doc: "Order in capture_trust, lowest first; the hundreds are explained there."}
  - {name: severity, type: text, doc: "partial, distorted or note, as in capture_trust."}
  - {name: problem, type: text, doc: "What is missing or distorted."}
  - {name: detail, type: text, doc: "What that means here, with the numbers of this report."}
  - {name: remedy, type: text, doc: "How to record it better."}
limits: >-
  Only traces have rows, and reports of nsys to which a trace was added. A trace of which most events were left out before nsq read it is a row of work_doubt.
---*/
WITH
unread AS (
  SELECT
    max(iif(fact = 'TRACE_ENDS_AT_LINE', value, NULL)) AS last_line,
    max(iif(fact = 'TRACE_SKIPPED_EVENTS', CAST(value AS INTEGER), NULL)) AS skipped,
    max(iif(fact = 'TRACE_FIRST_SKIPPED', value, NULL)) AS first_skipped,
    (SELECT sum(events) FROM import_count) AS events
  FROM export_fact
),
joined AS (
  SELECT
    max(iif(fact = 'NSQ_JOINED_OPERATIONS', CAST(value AS INTEGER), NULL)) AS op_count,
    max(iif(fact = 'NSQ_JOINED_PAIRS', CAST(value AS INTEGER), NULL)) AS pair_count,
    max(iif(fact = 'NSQ_JOINED_BY', value, NULL)) AS made_by
  FROM export_fact
)
SELECT
  140 AS priority,
  'partial' AS severity,
  'trace that is cut short' AS problem,
  printf('The trace ends too soon, in line %s: what followed is not in any figure.', last_line) AS detail,
  'copy the trace again, or record it again and let the profiler finish' AS remedy
FROM unread
WHERE last_line IS NOT NULL
UNION ALL
SELECT
  145,
  iif(100 * skipped >= events, 'partial', 'note'),
  'events that are not valid JSON',
  printf(
    '%d of %d events of the trace %s not valid JSON and %s left out: the first in %s.',
    skipped,
    events + skipped,
    iif(skipped = 1, 'is', 'are'),
    iif(skipped = 1, 'is', 'are'),
    first_skipped
  ),
  'a newer version of the program that wrote the trace'
FROM unread
WHERE skipped > 0
UNION ALL
SELECT
  420,
  'note',
  'operators of a trace',
  printf(
    'Operators come from a PyTorch trace: %,d of %,d GPU operations (%.1f %%) have their pair in it, by %s.',
    pair_count,
    op_count,
    100.0 * pair_count / op_count,
    made_by
  ),
  'a trace of the same steps with the same inputs'
FROM joined
WHERE op_count > 0
