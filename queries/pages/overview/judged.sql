/*---
name: judged
version: 1
title: What bounds the judged time
summary: What takes the judged time of all GPUs, and what that means, in one row.
why: To check what the page concludes from. Each condition has its reason in the statement.
kind: info
internal: true
tags: [gpu]
reads: []
asks:
  - {query: captured, optional: true}
  - {query: decode_steps, optional: true}
  - {query: findings, optional: true}
  - {query: gpu_parts, optional: true}
  - {query: idle_doubt, optional: true}
  - {query: metric_facts, optional: true}
  - {query: paced_idle, optional: true}
  - {query: repetition, optional: true}
  - {query: unexplained_idle, optional: true}
columns:
  - {name: bound_by, type: text, priority: 0, doc: "What binds: compute, communication, copies, mixed or idle. Where nothing can be concluded: no GPU work, unknown (work is missing), whole graphs, too little work or start-up."}
  - {name: gpu_count, type: int, unit: count, label: "GPUs", priority: 1, doc: "GPUs with work."}
  - {name: window_ns, type: duration, unit: ns, label: "judged", priority: 1, doc: "Judged time of all GPUs."}
  - {name: compute_ns, type: duration, unit: ns, label: "compute", priority: 1, doc: "Part of window_ns in which a compute kernel ran."}
  - {name: communication_ns, type: duration, unit: ns, label: "exposed communication", priority: 1, doc: "Part in which collectives ran, and no compute kernel."}
  - {name: copies_ns, type: duration, unit: ns, label: "exposed copies", priority: 1, doc: "Part in which copies or fills ran, and no kernel."}
  - {name: idle_ns, type: duration, unit: ns, label: "idle", priority: 1, doc: "Part in which nothing ran."}
  - {name: all_communication_ns, type: duration, unit: ns, label: "communication", priority: 2, doc: "Time of collectives, hidden or exposed."}
  - {name: all_copies_ns, type: duration, unit: ns, label: "copies", priority: 2, doc: "Time of copies and fills, hidden or exposed."}
  - {name: repeats, type: bool, priority: 1, doc: "1 if there are steps."}
  - {name: is_once, type: bool, priority: 2, doc: "1 if the time is too short for conclusions on speed: bound_by is too little work or start-up."}
  - {name: is_unknown, type: bool, priority: 1, doc: "1 if too much work is missing to call a GPU idle, as in idle_doubt."}
  - {name: launches_fail, type: bool, priority: 2, doc: "1 if launches failed."}
  - {name: is_memory_bound, type: bool, priority: 2, doc: "1 if the memory of each GPU is full while kernels run."}
  - {name: is_decode, type: bool, priority: 2, doc: "1 if an inference engine mostly decodes few tokens at a time."}
  - {name: is_paced, type: bool, priority: 2, doc: "1 if the GPUs mostly idle because the launching thread waits for something outside."}
  - {name: paced_ns, type: duration, unit: ns, label: "set from outside", priority: 2, doc: "Idle time in these waits; 0 if they are those of a data loader, which a finding names."}
  - {name: is_unexplained, type: bool, priority: 2, doc: "1 if all fixes together leave much idle time."}
  - {name: unexplained_ns, type: duration, unit: ns, label: "left idle", priority: 2, doc: "Idle time that they leave in a step; without steps, in all."}
  - {name: unexplained_pct, type: percent, unit: percent, label: "left idle % of step", priority: 2, doc: "unexplained_ns as a share of a step."}
  - {name: loading_pct, type: percent, unit: percent, label: "% code loading", priority: 2, doc: "Time in which GPUs wait for code to load, as a share of the judged time."}
checks:
  - compute_ns + communication_ns + copies_ns + idle_ns = window_ns
  - unexplained_ns >= 0
limits: Several GPUs are judged together. Conditions for which the data was not recorded are not met.
see_also: [gpu_parts]
---*/
WITH
total AS MATERIALIZED (
  SELECT
    count(*) AS gpu_count,
    coalesce(sum(window_ns), 0) AS window_ns,
    coalesce(sum(compute_ns), 0) AS compute_ns,
    coalesce(sum(exposed_communication_ns), 0) AS communication_ns,
    coalesce(sum(exposed_memory_ns), 0) AS copies_ns,
    coalesce(sum(idle_ns), 0) AS idle_ns,
    coalesce(sum(communication_ns), 0) AS all_communication_ns,
    coalesce(sum(memory_ns), 0) AS all_copies_ns,
    coalesce(max(idle_ns), 0) AS most_idle_ns
  FROM gpu_parts
),
program AS MATERIALIZED (
  SELECT coalesce(max(graph_pct), 0) AS graph_pct, coalesce(max(kernel_count), 0) AS kernel_count
  FROM captured
),
doubt AS MATERIALIZED (
  SELECT coalesce(max(is_unknown), 0) AS is_unknown, coalesce(max(failed_count), 0) > 0 AS launches_fail
  FROM idle_doubt
),
repeated AS MATERIALIZED (
  SELECT
    coalesce(max(step_count), 0) AS step_count,
    -- A kernel of a second or more, with most of the time, needs no repetition.
    coalesce(max(most_calls <= 3 AND coalesce(2 * long_kernel_ns < (SELECT window_ns FROM total), true)), false)
      AS is_too_little
  FROM repetition
),
-- What all fixes gain. The first one says how long a step is, and how many there are.
fixes AS MATERIALIZED (
  SELECT
    count(*) AS fix_count,
    coalesce(sum(frees <> 'idle'), 0) AS work_count,
    coalesce(sum(finding = 'dataloader_wait'), 0) AS loader_count,
    sum(adds_ns) AS adds_ns,
    coalesce(sum(iif(frees = 'idle', adds_ns, 0)), 0) AS idle_adds_ns,
    max(iif(rank = 1, now_ns, NULL)) AS now_ns,
    max(coalesce(max(iif(rank = 1, step_count, NULL)), 1), 1) AS step_count
  FROM findings
  WHERE verdict = 'yes'
),
-- What they leave idle, but no more than what the fixes of idle time leave: faster kernels make a GPU wait, too.
left_idle AS MATERIALIZED (
  SELECT
    left_ns,
    unexplained_pct * left_ns / max(unexplained_ns, 1) AS left_pct,
    -- Where no fix gains anything, a small part is worth a sentence.
    iif(fix_count > 0, 20, 5) AS least_pct
  FROM (
    SELECT
      unexplained.*,
      fix_count,
      CASE
        WHEN fix_count = 0 THEN unexplained_ns
        WHEN work_count = 0 THEN min(unexplained_ns, now_ns - adds_ns)
        ELSE min(unexplained_ns, max(1.0 * most_idle_ns / step_count - idle_adds_ns, 0))
      END AS left_ns
    FROM unexplained_idle AS unexplained
    CROSS JOIN fixes
    CROSS JOIN total
    WHERE unexplained.rowid = 1
  )
),
-- Each weight is used once for each token: few tokens leave arithmetic idle.
engine AS MATERIALIZED (
  SELECT coalesce(max(time_pct >= 80 AND mean_tokens < 128), false) AS is_decode
  FROM decode_steps
),
-- GPUs whose memory is full for nearly all of the kernels' time.
full_memory AS MATERIALIZED (
  SELECT count(*) AS gpu_count
  FROM metric_facts
  WHERE fact = 'dram_bound'
    AND saturated_pct >= 80
    AND covered_pct >= 80
),
-- A data loader that waits the same way is a finding of its own.
paced AS MATERIALIZED (
  SELECT iif((SELECT loader_count FROM fixes) > 0, 0, coalesce(sum(total_ns), 0)) AS paced_ns
  FROM paced_idle
),
loading AS MATERIALIZED (
  SELECT coalesce(sum(ceiling_pct), 0) AS loading_pct
  FROM findings
  WHERE finding = 'jit_and_module_load'
),
bound AS MATERIALIZED (
  SELECT
    CASE
      WHEN gpu_count = 0 THEN 'no GPU work'
      WHEN is_unknown THEN 'unknown'
      -- Idle time between graphs is known, but not what is in them.
      WHEN (graph_pct >= 50 OR kernel_count = 0 AND compute_ns > 0) AND (idle_ns < 0.2 * window_ns OR step_count = 0)
        THEN 'whole graphs'
      -- What occurs once says nothing about how fast a program is.
      WHEN is_too_little THEN 'too little work'
      WHEN step_count = 0 AND loading_pct >= 5 THEN 'start-up'
      -- A fifth of the time is worth a look, even where kernels take more.
      WHEN idle_ns >= max(0.2 * window_ns, communication_ns, copies_ns) THEN 'idle'
      WHEN idle_ns >= max(compute_ns, communication_ns, copies_ns) THEN 'idle'
      -- A link that never rests binds, also where kernels hide it.
      WHEN all_copies_ns >= 0.95 * window_ns AND compute_ns < 0.95 * window_ns THEN 'copies'
      WHEN all_communication_ns >= 0.95 * window_ns AND compute_ns < 0.95 * window_ns THEN 'communication'
      WHEN all_communication_ns > compute_ns AND communication_ns >= 0.2 * window_ns THEN 'communication'
      -- Nothing has most of the time.
      WHEN max(compute_ns, communication_ns, copies_ns) < 0.7 * window_ns
        AND communication_ns + copies_ns >= 0.15 * window_ns
        AND compute_ns >= 0.15 * window_ns
        AND compute_ns >= communication_ns
        THEN 'mixed'
      WHEN compute_ns >= max(communication_ns, copies_ns) THEN 'compute'
      WHEN communication_ns >= copies_ns THEN 'communication'
      ELSE 'copies'
    END AS bound_by
  FROM total
  CROSS JOIN program
  CROSS JOIN repeated
  CROSS JOIN doubt
  CROSS JOIN loading
)
SELECT
  bound_by,
  total.gpu_count,
  window_ns,
  compute_ns,
  communication_ns,
  copies_ns,
  idle_ns,
  all_communication_ns,
  all_copies_ns,
  repeated.step_count > 0 AS repeats,
  bound_by IN ('too little work', 'start-up') AS is_once,
  is_unknown,
  launches_fail,
  total.gpu_count > 0 AND full_memory.gpu_count = total.gpu_count AS is_memory_bound,
  is_decode,
  bound_by = 'idle' AND paced_ns >= 0.5 * idle_ns AS is_paced,
  paced_ns,
  coalesce(max(left_pct >= least_pct), false) AND NOT is_unknown AS is_unexplained,
  coalesce(max(left_ns), 0) AS unexplained_ns,
  coalesce(max(left_pct), 0) AS unexplained_pct,
  loading_pct
FROM bound
CROSS JOIN total
CROSS JOIN repeated
CROSS JOIN doubt
CROSS JOIN engine
CROSS JOIN full_memory
CROSS JOIN paced
CROSS JOIN loading
LEFT JOIN left_idle
  ON true
ORDER BY bound_by
