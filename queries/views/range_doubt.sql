/*---
name: range_doubt
summary: One row if NVTX ranges have no end, and one if there are none.
internal: true
present_if: [nvtx_range, gpu_op]
reads: [all_nvtx_span, nvtx_range, op_total, report_source, unfinished]
columns:
  - {name: priority, type: int, doc: "Order in capture_trust, lowest first; the hundreds are explained there."}
  - {name: severity, type: text, doc: "partial, distorted or note, as in capture_trust."}
  - {name: problem, type: text, doc: "What is missing or distorted."}
  - {name: detail, type: text, doc: "What that means here, with the numbers of this report."}
  - {name: remedy, type: text, doc: "How to record it better."}
limits: >-
  A range without an end counts as open; see the relation unfinished.
---*/
WITH
open AS (
  SELECT
    sum(ranges) AS ranges,
    (SELECT count(*) FROM all_nvtx_span) AS all_ranges,
    group_concat(iif(nth <= 3, printf('%d of `%s`', ranges, coalesce(event_name, '')), NULL), ', ') AS list,
    max(nth) AS names
  FROM (
    SELECT event_name, count(*) AS ranges, row_number() OVER (ORDER BY count(*) DESC, event_name) AS nth
    FROM unfinished
    WHERE event_kind = 'range'
    GROUP BY event_name
    ORDER BY nth
  )
  HAVING count(*) > 0
)
SELECT
  175 AS priority,
  iif(10 * ranges >= all_ranges, 'partial', 'note') AS severity,
  'ranges without an end' AS problem,
  printf(
    '%d of %d NVTX ranges %s no end: %s%s. %s as open until the last range or CUDA call, and %s length is unknown.',
    ranges,
    all_ranges,
    iif(ranges = 1, 'has', 'have'),
    list,
    iif(names > 3, printf(', and %d more names', names - 3), ''),
    iif(ranges = 1, 'It counts', 'They count'),
    iif(ranges = 1, 'its', 'their')
  ) AS detail,
  iif(
    is_trace,
    'stop the profiler after the last range ends',
    'end each range in the program, and let it end by itself'
  ) AS remedy
FROM open
CROSS JOIN report_source
UNION ALL
SELECT
  410,
  'note',
  'no NVTX ranges',
  'No NVTX ranges: GPU work cannot be attributed to phases or layers of the program.',
  range_remedy
FROM op_total
CROSS JOIN report_source
WHERE op_count > 0 AND NOT EXISTS (SELECT 1 FROM nvtx_range)
