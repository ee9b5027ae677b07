/*---
name: share_change
version: 1
title: Shares before and after
summary: GPU time share of each class before and after, with the difference in points.
why: To compare what two selections or two reports spend GPU time on. Both are given as rows of class_sum, in JSON.
kind: sum
tags: [classes, cuda, kernel]
internal: true
reads: []
params:
  - {name: before, type: text, default: "[]", doc: "Rows of the first selection: a JSON array of objects with class, calls and total_ns."}
  - {name: after, type: text, default: "[]", doc: "Rows of the second selection, in the same form."}
columns:
  - {name: class, type: text, priority: 0, doc: "Class of work; total for all classes together."}
  - {name: before_pct, type: percent, unit: percent, label: "before: share of GPU time", priority: 1, doc: "before_ns as a share of the first selection's total; 0 if it has none of the class."}
  - {name: after_pct, type: percent, unit: percent, label: "after: share of GPU time", priority: 1, doc: "after_ns as a share of the second selection's total; 0 if it has none of the class."}
  - {name: change_pct, type: percent, unit: percent, label: "change of share, in points", priority: 1, doc: "after_pct - before_pct, in percentage points."}
  - {name: before_ns, type: duration, unit: ns, label: "time before", priority: 1, doc: "Time of the class in the first selection."}
  - {name: after_ns, type: duration, unit: ns, label: "time after", priority: 1, doc: "Time of the class in the second selection."}
  - {name: before_calls, type: int, unit: count, label: "calls before", doc: "Executions of the class in the first selection."}
  - {name: after_calls, type: int, unit: count, label: "calls after", doc: "Executions of the class in the second selection."}
checks:
  - before_pct BETWEEN 0 AND 100.000001 AND after_pct BETWEEN 0 AND 100.000001
when_empty: "no rows are given: pass rows of class_sum with -p before=JSON and -p after=JSON"
limits: >-
  change_pct is a difference of shares, so a class can take more time and still have a smaller share. Each side is
  compared with its own total, which is in the last row. A side without any time has shares of 0.
see_also: [class_sum]
---*/
WITH
row AS (
  SELECT
    0 AS is_after,
    json_extract(value, '$.class') AS class,
    json_extract(value, '$.calls') AS calls,
    json_extract(value, '$.total_ns') AS total_ns
  FROM json_each(:before)
  UNION ALL
  SELECT
    1,
    json_extract(value, '$.class'),
    json_extract(value, '$.calls'),
    json_extract(value, '$.total_ns')
  FROM json_each(:after)
),
by_class AS (
  SELECT
    0 AS is_total,
    class,
    sum(iif(is_after, 0, total_ns)) AS before_ns,
    sum(iif(is_after, total_ns, 0)) AS after_ns,
    sum(iif(is_after, 0, calls)) AS before_calls,
    sum(iif(is_after, calls, 0)) AS after_calls
  FROM row
  GROUP BY class
),
whole AS (
  SELECT
    sum(before_ns) AS before_ns,
    sum(after_ns) AS after_ns,
    sum(before_calls) AS before_calls,
    sum(after_calls) AS after_calls
  FROM by_class
),
listed AS (
  SELECT * FROM by_class
  UNION ALL
  SELECT 1, 'total', before_ns, after_ns, before_calls, after_calls FROM whole WHERE before_ns IS NOT NULL
),
shared AS (
  SELECT
    listed.*,
    coalesce(100.0 * listed.before_ns / nullif(whole.before_ns, 0), 0.0) AS before_pct,
    coalesce(100.0 * listed.after_ns / nullif(whole.after_ns, 0), 0.0) AS after_pct
  FROM listed
  CROSS JOIN whole
)
SELECT
  class,
  before_pct,
  after_pct,
  after_pct - before_pct AS change_pct,
  before_ns,
  after_ns,
  before_calls,
  after_calls
FROM shared
ORDER BY is_total, before_pct DESC, after_pct DESC, class
