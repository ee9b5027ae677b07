/*---
name: share_change
version: 1
title: Shares before and after
summary: Shares of GPU time by class in two selections, and the difference in points.
why: To compare what two selections or two reports spend their time on. Both are given as rows of class_sum, in JSON.
kind: sum
tags: [classes, cuda, kernel]
reads: []
params:
  - {name: before, type: text, default: "[]", doc: "Rows of the one, a JSON array of objects with class, calls and total_ns."}
  - {name: after, type: text, default: "[]", doc: "Rows of the other."}
columns:
  - {name: class, type: text, doc: "Class of work; total for all classes together."}
  - {name: before_pct, type: percent, unit: percent, doc: "Share in the total of the one; 0 where it has none of the class."}
  - {name: after_pct, type: percent, unit: percent, doc: "Share in the total of the other; likewise."}
  - {name: change_pct, type: percent, unit: percent, doc: "after_pct less before_pct, in points."}
  - {name: before_ns, type: duration, unit: ns, doc: "Time of the class in the one."}
  - {name: after_ns, type: duration, unit: ns, doc: "Time of the class in the other."}
  - {name: before_calls, type: int, unit: count, doc: "Its executions in the one."}
  - {name: after_calls, type: int, unit: count, doc: "Its executions in the other."}
checks:
  - before_pct BETWEEN 0 AND 100.000001 AND after_pct BETWEEN 0 AND 100.000001
limits: >-
  Points are differences of shares: a class may take more time and a smaller share. Each side is held against its own
  total, which the last row has; a side without any time has shares of 0.
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
