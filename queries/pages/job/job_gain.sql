/*---
name: job_gain
version: 1
title: The step without the slowest rank
summary: How long the step would be if the slowest rank were as fast as the others.
why: To know what balancing the ranks can gain.
kind: info
tags: [communication, gpu]
internal: true
reads: []
asks: [job_members, job_ranks, steps]
across: true
columns:
  - {name: place, type: int, priority: 3, doc: "Place of the slowest rank, as in job_ranks: the one with the most own time in all compared steps."}
  - {name: name, type: text, label: "rank", priority: 0, doc: "Name of this rank."}
  - {name: seen_count, type: int, unit: count, label: "ranks", priority: 1, doc: "Ranks that are compared."}
  - {name: step_count, type: int, unit: count, label: "steps", priority: 1, doc: "Steps that are compared: those that all ranks have, without warm-up and tail."}
  - {name: step_ns, type: duration, unit: ns, label: "step", priority: 0, doc: "Mean over these steps of the time of the rank that takes longest."}
  - {name: without_ns, type: duration, unit: ns, label: "step without it", priority: 0, doc: "The mean step if in each one the slowest rank had no more own time than the next slowest rank. Own time is the step without exposed communication."}
  - {name: balanced_ns, type: duration, unit: ns, label: "step if balanced", priority: 1, doc: "The mean step if in each one no rank had more own time than the median rank."}
  - {name: speedup, type: real, label: "times faster", priority: 0, doc: "step_ns / without_ns."}
checks:
  - without_ns <= step_ns
  - balanced_ns <= step_ns
when_empty: "a rank has no steps, the ranks have no step in common, or their collectives are not matched"
limits: >-
  An estimate. A step takes as long as its slowest rank computes, copies and idles, and all ranks wait for it in exposed
  communication: the rest of the step stays as it is. This holds if communication ties all ranks together in each step. Idle
  time in which a rank waits for another one without a kernel counts as own time, so that the gain is too small.
see_also: [job_ranks, steps, what_if]
---*/
-- LIMIT makes SQLite store the rows of a step. Otherwise it computes them again for every row that needs them.
WITH
matched AS (
  SELECT count(*) AS seen_count
  FROM job_ranks
  HAVING count(*) > 1
    AND min(collective_count) > 0
    AND min(per) = 'step'
  LIMIT 1
),
own AS MATERIALIZED (
  SELECT
    members.place,
    members.cycle,
    steps.step,
    max(steps.dur_ns) AS dur_ns,
    max(steps.dur_ns - steps.exposed_communication_ns) AS own_ns
  FROM steps
  JOIN job_members AS members
    ON members.side = steps.side
    AND members.gpu_id = steps.gpu_id
  WHERE steps.part IN ('median', 'steady')
  GROUP BY members.place, members.cycle, steps.step
),
common AS MATERIALIZED (
  SELECT own.cycle, own.step
  FROM own
  CROSS JOIN matched
  GROUP BY own.cycle, own.step
  HAVING count(*) = max(matched.seen_count)
),
compared AS MATERIALIZED (
  SELECT own.*
  FROM own
  JOIN common
    ON common.cycle = own.cycle
    AND common.step = own.step
),
slowest AS (
  SELECT place
  FROM compared
  GROUP BY place
  ORDER BY sum(own_ns) DESC, place
  LIMIT 1
),
bound AS MATERIALIZED (
  SELECT
    compared.cycle,
    compared.step,
    max(compared.dur_ns) AS dur_ns,
    max(compared.own_ns) AS most_ns,
    median(compared.own_ns) AS median_ns,
    max(CASE WHEN compared.place <> slowest.place THEN compared.own_ns END) AS next_ns
  FROM compared
  CROSS JOIN slowest
  GROUP BY compared.cycle, compared.step
),
summed AS (
  SELECT
    count(*) AS step_count,
    avg(dur_ns) AS step_ns,
    avg(dur_ns - most_ns + next_ns) AS without_ns,
    avg(dur_ns - most_ns + median_ns) AS balanced_ns
  FROM bound
)
SELECT
  named.place,
  named.name,
  matched.seen_count,
  summed.step_count,
  CAST(round(summed.step_ns) AS BIGINT) AS step_ns,
  CAST(round(summed.without_ns) AS BIGINT) AS without_ns,
  CAST(round(summed.balanced_ns) AS BIGINT) AS balanced_ns,
  summed.step_ns / nullif(summed.without_ns, 0) AS speedup
FROM summed
CROSS JOIN matched
CROSS JOIN slowest
JOIN job_ranks AS named
  ON named.place = slowest.place
WHERE summed.step_count > 0
ORDER BY named.place
