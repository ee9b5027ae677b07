/*---
name: job_ranks
version: 3
title: The ranks, side by side
summary: Each rank of a job by name, with its step and its cost to others.
why: To see which rank differs, and by how much.
kind: info
tags: [communication, gpu]
internal: true
reads: []
asks: [job_members, rank_measures, ranks, steps, collective_arrivals, collective_work, straggler_causes]
across: true
columns:
  - {name: place, type: int, priority: 3, doc: "Place of the rank, from 0: by rank, host and report, as people write them."}
  - {name: rank, type: int, priority: 0, doc: "Rank in the whole program; null if it is unknown."}
  - {name: name, type: text, priority: 0, doc: "Name of the rank: rank 3; host node2 or GPU 1 if the rank is unknown; else the name of the report."}
  - {name: rank_count, type: int, unit: count, label: "ranks", priority: 2, doc: "Ranks of the whole program; null if it is unknown."}
  - {name: gpu_id, type: id, label: "GPU", priority: 1, doc: "GPU of the rank; of its first report if there are several."}
  - {name: gpu_name, type: text, label: "GPU name", priority: 2, doc: "Marketing name of the GPU; null if unknown."}
  - {name: host, type: text, priority: 2, doc: "Host in the name of the report; null if the name has none."}
  - {name: report, type: text, priority: 2, doc: "Report of the rank; the first one if it has several, such as one for each cycle of the profiler."}
  - {name: report_count, type: int, unit: count, label: "reports", priority: 2, doc: "Reports of the rank."}
  - {name: per, type: text, priority: 1, doc: "What the next six times are of. step: the median over the steps without warm-up and tail. capture: the whole window, because a rank has no steps."}
  - {name: step_count, type: int, unit: count, label: "steps", priority: 2, doc: "Steps without warm-up and tail, of all reports of the rank."}
  - {name: dur_ns, type: duration, unit: ns, label: "time", priority: 1, doc: "Time of the step or of the window."}
  - {name: compute_ns, type: duration, unit: ns, label: "compute", priority: 0, doc: "Part in which a compute kernel ran."}
  - {name: exposed_communication_ns, type: duration, unit: ns, label: "exposed communication", priority: 1, doc: "Part in which communication ran and no compute kernel did."}
  - {name: exposed_memory_ns, type: duration, unit: ns, label: "exposed copies", priority: 1, doc: "Part in which a copy or fill ran and no kernel did."}
  - {name: idle_ns, type: duration, unit: ns, label: "idle", priority: 1, doc: "Part in which nothing ran."}
  - {name: other_compute_ns, type: duration, unit: ns, label: "compute of the others", priority: 1, doc: "Of two ranks, compute_ns of the other one; else the median of all ranks, of an even number the smaller of the two in the middle; null with one rank."}
  - {name: longer_pct, type: percent, unit: percent, label: "computes longer by", priority: 0, doc: "By which share compute_ns is longer than other_compute_ns; negative if it is shorter."}
  - {name: collective_count, type: int, unit: count, label: "collectives", priority: 1, doc: "Collectives in which this rank and another one are matched."}
  - {name: compared_count, type: int, unit: count, label: "compared", priority: 2, doc: "Those that the next four columns are of: with steps, the ones in steps without warm-up and tail; else all."}
  - {name: last_count, type: int, unit: count, label: "came last", priority: 1, doc: "Those in which this rank came last, and another one waited for it."}
  - {name: lost_ns, type: duration, unit: ns, label: "costs others up to", priority: 1, doc: "Sum over these of the longest wait of another rank."}
  - {name: own_ns, type: duration, unit: ns, label: "own part", priority: 0, doc: "The part of lost_ns that its own compute, copies and idle time explain, as in straggler_causes."}
  - {name: own_wait_ns, type: duration, unit: ns, label: "waits for others", priority: 1, doc: "What this rank waited for others."}
  - {name: cause, type: text, priority: 1, doc: "The cause of most of own_ns, as in straggler_causes; null if there is none."}
  - {name: longer_ns, type: duration, unit: ns, label: "longer in all", priority: 1, doc: "With steps: by how much the compute, copies and idle time of a step are longer than those of the others, times step_count. Else by how much compute_ns is. Others as in other_compute_ns; negative if it is shorter, null with one rank."}
  - {name: worst, type: int, priority: 3, doc: "Place of the rank, from 0, by the larger of own_ns and longer_ns, then lost_ns: the one to look at first is 0. If no collective is matched, by compute_ns."}
checks:
  - own_ns <= lost_ns
when_empty: "no GPU operation was recorded"
limits: >-
  A GPU that several processes share has no rank. Reports of one rank count as one. Times of captures of different length
  compare only if they have steps.
see_also: [rank_balance, straggler_causes, stragglers]
---*/
-- LIMIT makes SQLite store the rows of a step. Otherwise it computes them again for every row that needs them.
WITH
gpu AS MATERIALIZED (
  SELECT
    members.place,
    members.side,
    members.gpu_id,
    max(CASE WHEN own.measure = 'window' THEN own.value_ns END) AS window_ns,
    max(CASE WHEN own.measure = 'compute' THEN own.value_ns END) AS compute_ns,
    max(CASE WHEN own.measure = 'exposed communication' THEN own.value_ns END) AS exposed_communication_ns,
    max(CASE WHEN own.measure = 'exposed copies' THEN own.value_ns END) AS exposed_memory_ns,
    max(CASE WHEN own.measure = 'idle' THEN own.value_ns END) AS idle_ns
  FROM job_members AS members
  JOIN rank_measures AS own
    ON own.side = members.side
    AND own.gpu_id = members.gpu_id
  GROUP BY members.place, members.side, members.gpu_id
),
named AS MATERIALIZED (
  SELECT
    place,
    max(rank) AS rank,
    min(CASE WHEN cycle = 0 THEN name END) AS name,
    max(rank_count) AS rank_count,
    min(CASE WHEN cycle = 0 THEN gpu_id END) AS gpu_id,
    max(gpu_name) AS gpu_name,
    max(host) AS host,
    min(CASE WHEN cycle = 0 THEN report END) AS report,
    count(*) AS report_count
  FROM job_members
  GROUP BY place
),
capture AS MATERIALIZED (
  SELECT
    place,
    CAST(avg(window_ns) AS BIGINT) AS dur_ns,
    CAST(avg(compute_ns) AS BIGINT) AS compute_ns,
    CAST(avg(exposed_communication_ns) AS BIGINT) AS exposed_communication_ns,
    CAST(avg(exposed_memory_ns) AS BIGINT) AS exposed_memory_ns,
    CAST(avg(idle_ns) AS BIGINT) AS idle_ns
  FROM gpu
  GROUP BY place
),
step AS MATERIALIZED (
  SELECT
    seen.place,
    count(*) AS step_count,
    CAST(median(steps.dur_ns) AS BIGINT) AS dur_ns,
    CAST(median(steps.compute_ns) AS BIGINT) AS compute_ns,
    CAST(median(steps.exposed_communication_ns) AS BIGINT) AS exposed_communication_ns,
    CAST(median(steps.exposed_memory_ns) AS BIGINT) AS exposed_memory_ns,
    CAST(median(steps.idle_ns) AS BIGINT) AS idle_ns
  FROM steps
  JOIN job_members AS seen
    ON seen.side = steps.side
    AND seen.gpu_id = steps.gpu_id
  WHERE steps.part IN ('median', 'steady')
  GROUP BY seen.place
),
known AS MATERIALIZED (
  SELECT
    named.place,
    coalesce(step.step_count, 0) AS step_count,
    CASE WHEN count(step.place) OVER () = count(*) OVER () THEN 'step' ELSE 'capture' END AS per
  FROM named
  LEFT JOIN step
    ON step.place = named.place
),
process AS MATERIALIZED (
  SELECT ranks.side, ranks.pid, min(seen.place) AS place
  FROM ranks
  JOIN job_members AS seen
    ON seen.side = ranks.side
    AND seen.gpu_id = ranks.gpu_id
  WHERE ranks.gpu_count = 1
  GROUP BY ranks.side, ranks.pid
),
steady AS MATERIALIZED (
  SELECT side, gpu_id, step
  FROM steps
  WHERE part IN ('median', 'steady')
  GROUP BY side, gpu_id, step
),
arrival AS MATERIALIZED (
  SELECT
    known.place,
    arrival.communicator,
    arrival.member,
    arrival.wait_ns,
    CASE WHEN known.per = 'capture' OR steady.step IS NOT NULL THEN 1 ELSE 0 END AS is_compared
  FROM collective_arrivals AS arrival
  JOIN process
    ON process.side = arrival.side
    AND process.pid IS NOT DISTINCT FROM arrival.pid
  JOIN known
    ON known.place = process.place
  LEFT JOIN collective_work AS work
    ON work.side = arrival.side
    AND work.kernel_id = arrival.kernel_id
    AND work.communicator = arrival.communicator
    AND work.sequence = arrival.own_sequence
  LEFT JOIN steady
    ON steady.side = arrival.side
    AND steady.gpu_id = work.gpu_id
    AND steady.step = work.iteration
  WHERE arrival.agrees
    AND arrival.seen_count > 1
),
member AS MATERIALIZED (
  SELECT place, communicator, member
  FROM arrival
  GROUP BY place, communicator, member
),
late AS MATERIALIZED (
  SELECT
    member.place,
    causes.cause,
    sum(causes.last_count) AS last_count,
    sum(causes.lost_ns) AS lost_ns,
    sum(causes.own_ns) AS own_ns,
    row_number() OVER (
      PARTITION BY member.place
      ORDER BY sum(causes.own_ns) DESC, sum(causes.lost_ns) DESC, causes.cause
    ) AS choice
  FROM straggler_causes AS causes
  JOIN member
    ON member.communicator = causes.communicator
    AND member.member = causes.member
  JOIN known
    ON known.place = member.place
  WHERE known.per = 'capture'
    OR causes.part = 'steady'
  GROUP BY member.place, causes.cause
),
waits AS MATERIALIZED (
  SELECT
    place,
    count(*) AS collective_count,
    sum(is_compared) AS compared_count,
    sum(is_compared * wait_ns) AS own_wait_ns
  FROM arrival
  GROUP BY place
),
lost AS MATERIALIZED (
  SELECT
    place,
    sum(last_count) AS last_count,
    sum(lost_ns) AS lost_ns,
    sum(own_ns) AS own_ns,
    max(CASE WHEN choice = 1 AND own_ns > 0 THEN cause END) AS cause
  FROM late
  GROUP BY place
),
timed AS MATERIALIZED (
  SELECT
    known.place,
    known.step_count,
    known.per,
    coalesce(step.dur_ns, capture.dur_ns) AS dur_ns,
    coalesce(step.compute_ns, capture.compute_ns) AS compute_ns,
    coalesce(step.exposed_communication_ns, capture.exposed_communication_ns) AS exposed_communication_ns,
    coalesce(step.exposed_memory_ns, capture.exposed_memory_ns) AS exposed_memory_ns,
    coalesce(step.idle_ns, capture.idle_ns) AS idle_ns
  FROM known
  JOIN capture
    ON capture.place = known.place
  LEFT JOIN step
    ON step.place = known.place
    AND known.per = 'step'
),
placed AS (
  SELECT
    *,
    dur_ns - exposed_communication_ns AS own_ns,
    count(*) OVER () AS seen_count,
    row_number() OVER (ORDER BY compute_ns, place) AS compute_place,
    row_number() OVER (ORDER BY dur_ns - exposed_communication_ns, place) AS own_place
  FROM timed
),
usual AS (
  SELECT
    max(seen_count) AS seen_count,
    sum(compute_ns) AS total_ns,
    -- Half of the ranks may be slow, such as one of two groups: the others are what they compare with.
    max(CASE WHEN 2 * compute_place <= seen_count + 1 THEN compute_ns END) AS median_ns,
    sum(own_ns) AS total_own_ns,
    max(CASE WHEN 2 * own_place <= seen_count + 1 THEN own_ns END) AS median_own_ns
  FROM placed
  LIMIT 1
),
measured AS MATERIALIZED (
  SELECT
    timed.*,
    CASE usual.seen_count
      WHEN 1 THEN NULL
      WHEN 2 THEN usual.total_ns - timed.compute_ns
      ELSE usual.median_ns
    END AS other_compute_ns,
    timed.dur_ns
    - timed.exposed_communication_ns
    - CASE usual.seen_count
        WHEN 1 THEN NULL
        WHEN 2 THEN usual.total_own_ns - (timed.dur_ns - timed.exposed_communication_ns)
        ELSE usual.median_own_ns
      END AS own_excess_ns
  FROM timed
  CROSS JOIN usual
),
ranked AS MATERIALIZED (
  SELECT
    named.place,
    named.rank,
    named.name,
    named.rank_count,
    named.gpu_id,
    named.gpu_name,
    named.host,
    named.report,
    named.report_count,
    measured.per,
    measured.step_count,
    measured.dur_ns,
    measured.compute_ns,
    measured.exposed_communication_ns,
    measured.exposed_memory_ns,
    measured.idle_ns,
    measured.other_compute_ns,
    100.0 * (measured.compute_ns - measured.other_compute_ns) / nullif(measured.other_compute_ns, 0) AS longer_pct,
    coalesce(waits.collective_count, 0) AS collective_count,
    coalesce(waits.compared_count, 0) AS compared_count,
    coalesce(lost.last_count, 0) AS last_count,
    coalesce(lost.lost_ns, 0) AS lost_ns,
    coalesce(lost.own_ns, 0) AS own_ns,
    coalesce(waits.own_wait_ns, 0) AS own_wait_ns,
    lost.cause,
    CASE
      WHEN measured.per = 'step' THEN measured.step_count * measured.own_excess_ns
      ELSE measured.compute_ns - measured.other_compute_ns
    END AS longer_ns,
    max(coalesce(waits.collective_count, 0)) OVER () AS most_collectives
  FROM named
  JOIN measured
    ON measured.place = named.place
  LEFT JOIN waits
    ON waits.place = named.place
  LEFT JOIN lost
    ON lost.place = named.place
)
SELECT
  place,
  rank,
  name,
  rank_count,
  gpu_id,
  gpu_name,
  host,
  report,
  report_count,
  per,
  step_count,
  dur_ns,
  compute_ns,
  exposed_communication_ns,
  exposed_memory_ns,
  idle_ns,
  other_compute_ns,
  longer_pct,
  collective_count,
  compared_count,
  last_count,
  lost_ns,
  own_ns,
  own_wait_ns,
  cause,
  longer_ns,
  row_number() OVER (
    ORDER BY
      CASE
        WHEN per = 'capture' AND most_collectives > 0 THEN own_ns
        -- Who waits for whom is unknown, so idle time says nothing.
        WHEN most_collectives = 0 THEN coalesce(compute_ns - other_compute_ns, 0)
        WHEN coalesce(longer_ns, 0) > own_ns THEN longer_ns
        ELSE own_ns
      END DESC,
      lost_ns DESC,
      place
  ) - 1 AS worst
FROM ranked
ORDER BY place, rank
