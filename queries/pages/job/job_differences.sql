/*---
name: job_differences
version: 1
title: Where ranks compute longer
summary: Classes and kernels in which a rank computes longer than the others.
why: To see what a slow rank does longer.
kind: sum
tags: [gpu, kernel]
internal: true
reads: []
asks: [job_members, job_ranks, rank_kernels]
across: true
params:
  - {name: ranks, type: int, default: 8, min: 1, doc: "Most ranks: those to look at first."}
  - {name: each, type: int, default: 3, min: 1, doc: "Most classes, and most kernels, of each rank."}
columns:
  - {name: place, type: int, priority: 3, doc: "Place of the rank, as in job_ranks."}
  - {name: name, type: text, label: "rank", priority: 0, doc: "Name of the rank, as in job_ranks."}
  - {name: level, type: text, priority: 1, doc: "class or kernel."}
  - {name: what, type: text, priority: 0, doc: "Name of the class, or function name of the kernel."}
  - {name: class, type: text, priority: 2, doc: "Class of the kernels."}
  - {name: total_ns, type: duration, unit: ns, label: "time", priority: 1, doc: "Time of these kernels on the rank; the mean of its reports."}
  - {name: other_ns, type: duration, unit: ns, label: "time of the others", priority: 1, doc: "Of two ranks, the time of the other one; else the median of all ranks, of an even number the smaller of the two in the middle."}
  - {name: excess_ns, type: duration, unit: ns, label: "longer by", priority: 0, doc: "total_ns - other_ns."}
  - {name: call_count, type: int, unit: count, label: "calls", priority: 1, doc: "Kernels on the rank; the mean of its reports."}
  - {name: other_call_count, type: int, unit: count, label: "calls of the others", priority: 1, doc: "Kernels of the others, as other_ns. If it differs, the rank has other work; if not, the same work takes longer."}
  - {name: nth, type: int, priority: 3, doc: "Place within the rank and level, by excess_ns, from 1."}
checks:
  - excess_ns = total_ns - other_ns
when_empty: "no rank computes longer than the others"
limits: >-
  Times are sums of the whole capture, so captures must have the same steps. Kernels count in full, also while others run.
see_also: [job_ranks, rank_balance]
---*/
-- LIMIT makes SQLite store the rows of a step. Otherwise it computes them again for every row that needs them.
WITH
member AS MATERIALIZED (
  SELECT place, min(CASE WHEN cycle = 0 THEN name END) AS name, count(*) AS report_count
  FROM job_members
  GROUP BY place
),
kernel AS MATERIALIZED (
  SELECT
    members.place,
    kernels.class,
    kernels.simple_name,
    1.0 * sum(kernels.total_ns) / max(member.report_count) AS total_ns,
    1.0 * sum(kernels.call_count) / max(member.report_count) AS call_count
  FROM rank_kernels AS kernels
  JOIN job_members AS members
    ON members.side = kernels.side
    AND members.gpu_id = kernels.gpu_id
  JOIN member
    ON member.place = members.place
  GROUP BY members.place, kernels.class, kernels.simple_name
),
used AS MATERIALIZED (
  SELECT place, 'kernel' AS level, class, simple_name AS what, total_ns, call_count
  FROM kernel
  UNION ALL
  SELECT place, 'class', class, class, sum(total_ns), sum(call_count)
  FROM kernel
  GROUP BY place, class
),
-- A rank without the kernel has 0.
filled AS MATERIALIZED (
  SELECT
    member.place,
    kind.level,
    kind.class,
    kind.what,
    coalesce(used.total_ns, 0.0) AS total_ns,
    coalesce(used.call_count, 0.0) AS call_count
  FROM member
  CROSS JOIN (SELECT DISTINCT level, class, what FROM used) AS kind
  LEFT JOIN used
    ON used.place = member.place
    AND used.level = kind.level
    AND used.class = kind.class
    AND used.what = kind.what
),
ordered AS (
  SELECT
    *,
    count(*) OVER (PARTITION BY level, class, what) AS seen_count,
    row_number() OVER (PARTITION BY level, class, what ORDER BY total_ns, place) AS time_place,
    row_number() OVER (PARTITION BY level, class, what ORDER BY call_count, place) AS count_place
  FROM filled
),
-- As in job_ranks: of an even number of ranks, the smaller of the two in the middle.
usual AS MATERIALIZED (
  SELECT
    level,
    class,
    what,
    max(seen_count) AS seen_count,
    sum(total_ns) AS sum_ns,
    sum(call_count) AS sum_count,
    max(CASE WHEN 2 * time_place <= seen_count + 1 THEN total_ns END) AS median_ns,
    max(CASE WHEN 2 * count_place <= seen_count + 1 THEN call_count END) AS median_count
  FROM ordered
  GROUP BY level, class, what
),
compared AS (
  SELECT
    filled.place,
    filled.level,
    filled.class,
    filled.what,
    CAST(round(filled.total_ns) AS BIGINT) AS total_ns,
    CAST(
      round(CASE WHEN usual.seen_count = 2 THEN usual.sum_ns - filled.total_ns ELSE usual.median_ns END) AS BIGINT
    ) AS other_ns,
    CAST(round(filled.call_count) AS BIGINT) AS call_count,
    CAST(
      round(CASE WHEN usual.seen_count = 2 THEN usual.sum_count - filled.call_count ELSE usual.median_count END)
      AS BIGINT
    ) AS other_call_count
  FROM filled
  JOIN usual
    ON usual.level = filled.level
    AND usual.class = filled.class
    AND usual.what = filled.what
  WHERE usual.seen_count > 1
),
placed AS (
  SELECT
    *,
    total_ns - other_ns AS excess_ns,
    row_number() OVER (PARTITION BY place, level ORDER BY total_ns - other_ns DESC, class, what) AS nth
  FROM compared
)
SELECT
  placed.place,
  member.name,
  placed.level,
  placed.what,
  placed.class,
  placed.total_ns,
  placed.other_ns,
  placed.excess_ns,
  placed.call_count,
  placed.other_call_count,
  placed.nth
FROM placed
JOIN member
  ON member.place = placed.place
JOIN job_ranks AS own
  ON own.place = placed.place
WHERE placed.nth <= :each
  AND placed.excess_ns > 0
  AND own.worst < :ranks
ORDER BY placed.place, placed.level, placed.nth, placed.what
