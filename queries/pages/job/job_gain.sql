/*---
name: job_gain
version: 2
title: The step without the slow ranks
summary: How long the step would be if the slow ranks were as fast as the others.
why: To know what balancing the ranks can gain.
kind: info
tags: [communication, gpu]
internal: true
reads: []
asks: [job_members, job_ranks, steps]
across: true
columns:
  - {name: place, type: int, priority: 3, doc: "Place of a slow rank, as in job_ranks: the one with the most own time in all compared steps, and those that are nearer to it than to the median rank. Own time is the step without exposed communication."}
  - {name: name, type: text, label: "rank", priority: 0, doc: "Name of this rank."}
  - {name: slow_count, type: int, unit: count, label: "slow ranks", priority: 1, doc: "Number of slow ranks: the rows."}
  - {name: seen_count, type: int, unit: count, label: "ranks", priority: 1, doc: "Ranks that are compared."}
  - {name: step_count, type: int, unit: count, label: "steps", priority: 1, doc: "Steps that are compared: those that all ranks have, without warm-up and tail."}
  - {name: step_ns, type: duration, unit: ns, label: "step", priority: 0, doc: "Mean over these steps of the time of the rank that takes longest."}
  - {name: without_ns, type: duration, unit: ns, label: "step without them", priority: 0, doc: "The mean step if in each one no slow rank had more own time than the slowest of the others."}
  - {name: balanced_ns, type: duration, unit: ns, label: "step if balanced", priority: 1, doc: "The mean step if in each one no rank had more own time than the median rank."}
  - {name: even_ns, type: duration, unit: ns, label: "step if even", priority: 1, doc: "The mean step if in each one all ranks had the mean own time: the same work, spread evenly."}
  - {name: changing_ns, type: duration, unit: ns, label: "changing part", priority: 1, doc: "What the slowest rank of each step has more own time than the rank that is slowest in all, in the mean: 0 if one rank is the slowest in each step."}
  - {name: speedup, type: real, label: "times faster", priority: 0, doc: "step_ns / without_ns."}
  - {name: even_speedup, type: real, label: "times faster if even", priority: 2, doc: "step_ns / even_ns."}
  - {name: is_changing, type: bool, label: "changing", priority: 1, doc: "Whether the slowest rank is another one from step to step: even_speedup is 1.03 or more, and changing_ns half of what even work gains, or more."}
checks:
  - without_ns <= step_ns
  - balanced_ns <= step_ns
  - even_ns <= step_ns
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
total AS (
  SELECT
    place,
    sum(own_ns) AS own_ns,
    row_number() OVER (ORDER BY sum(own_ns), place) AS number,
    count(*) OVER () AS seen_count
  FROM compared
  GROUP BY place
),
range_of_ranks AS (
  SELECT max(own_ns) AS most_ns, max(CASE WHEN 2 * number <= seen_count + 1 THEN own_ns END) AS median_ns
  FROM total
  LIMIT 1
),
slow AS MATERIALIZED (
  SELECT total.place, row_number() OVER (ORDER BY total.own_ns DESC, total.place) AS choice
  FROM total
  CROSS JOIN range_of_ranks AS known
  WHERE 2 * total.own_ns > known.most_ns + known.median_ns
    OR total.own_ns = known.most_ns
),
bound AS MATERIALIZED (
  SELECT
    compared.cycle,
    compared.step,
    max(compared.dur_ns) AS dur_ns,
    max(compared.own_ns) AS most_ns,
    median(compared.own_ns) AS median_ns,
    avg(compared.own_ns) AS mean_ns,
    max(CASE WHEN slow.place IS NULL THEN compared.own_ns END) AS next_ns
  FROM compared
  LEFT JOIN slow
    ON slow.place = compared.place
  GROUP BY compared.cycle, compared.step
),
summed AS (
  SELECT
    count(*) AS step_count,
    avg(dur_ns) AS step_ns,
    avg(dur_ns - most_ns + CASE WHEN next_ns < most_ns THEN next_ns ELSE most_ns END) AS without_ns,
    avg(dur_ns - most_ns + median_ns) AS balanced_ns,
    avg(dur_ns - most_ns + mean_ns) AS even_ns,
    avg(most_ns) AS most_ns
  FROM bound
),
slow_count AS (
  SELECT count(*) AS slow_count
  FROM slow
  LIMIT 1
),
changing AS (
  SELECT summed.most_ns - 1.0 * known.most_ns / summed.step_count AS changing_ns
  FROM summed
  CROSS JOIN range_of_ranks AS known
  LIMIT 1
)
SELECT
  named.place,
  named.name,
  slow_count.slow_count,
  matched.seen_count,
  summed.step_count,
  CAST(round(summed.step_ns) AS BIGINT) AS step_ns,
  CAST(round(summed.without_ns) AS BIGINT) AS without_ns,
  CAST(round(summed.balanced_ns) AS BIGINT) AS balanced_ns,
  CAST(round(summed.even_ns) AS BIGINT) AS even_ns,
  CAST(round(changing.changing_ns) AS BIGINT) AS changing_ns,
  summed.step_ns / nullif(summed.without_ns, 0) AS speedup,
  summed.step_ns / nullif(summed.even_ns, 0) AS even_speedup,
  summed.step_ns >= 1.03 * summed.even_ns
  AND 2 * changing.changing_ns >= summed.step_ns - summed.even_ns AS is_changing
FROM summed
CROSS JOIN matched
CROSS JOIN slow_count
CROSS JOIN changing
CROSS JOIN slow
JOIN job_ranks AS named
  ON named.place = slow.place
WHERE summed.step_count > 0
ORDER BY slow.choice, named.place
