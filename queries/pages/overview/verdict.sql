/*---
name: verdict
version: 3
title: The verdict
summary: What the first sentence of the page says, and its figures, in one row.
why: To check why the page concludes what it does. The order of the verdicts is one list in the statement.
kind: info
internal: true
tags: [gpu]
reads: []
asks:
  - judged
  - {query: captured, optional: true}
  - {query: early_copies, optional: true}
  - {query: finding_signs, optional: true}
  - {query: findings, optional: true}
  - {query: fixes, optional: true}
  - {query: gpu_idle_cause_sum, optional: true}
  - {query: gpu_parts, optional: true}
  - {query: longest_gaps, optional: true}
  - {query: paced_idle, optional: true}
  - {query: repetition, optional: true}
  - {query: slow_steps, optional: true}
  - {query: unexplained_idle, optional: true}
columns:
  - {name: verdict, type: text, priority: 0, doc: "Name of the first verdict of the list that fits, such as compute_bound, paced or idle_of_cause. Null without GPU work. A hang comes first: see the query hang."}
  - {name: time_pct, type: percent, unit: percent, label: "% of judged time", priority: 1, doc: "Share of the time that the verdict is about: the largest part; of idle GPUs, idle time; of paced ones, the waits, on gpu_id if that has them; of whole graphs, GPU work; of overlapped links, their use."}
  - {name: compute_pct, type: percent, unit: percent, label: "compute % of time", priority: 2, doc: "Of overlapped links, share of compute kernels; else null."}
  - {name: copies_pct, type: percent, unit: percent, label: "exposed copies %", priority: 2, doc: "Of idle GPUs, share of exposed copies that take more time than compute, or are to fix first; else null."}
  - {name: communication_pct, type: percent, unit: percent, label: "exposed comm. %", priority: 2, doc: "The same of collectives; else null."}
  - {name: pages_pct, type: percent, unit: percent, label: "waits for pages %", priority: 2, doc: "Of idle GPUs and of page_bound, share in which kernels wait for pages of unified memory; null if that is little."}
  - {name: cause, type: text, priority: 0, doc: "What causes the idle time: the claim of a finding, a function, an operator or a part of the step; of communication, the GPU for which collectives wait. Null if there is none."}
  - {name: fix, type: text, priority: 2, doc: "Of launch_bound and host_bound, which fix fits the main cause, as in fixes, because it says what the launching thread waits for or does; else null."}
  - {name: cause_pct, type: percent, unit: percent, label: "% of idle time", priority: 1, doc: "Of idle_in_calls, share of the cause in the idle time; else null."}
  - {name: cause_ns, type: duration, unit: ns, label: "longest", priority: 1, doc: "Of pauses, the longest; of regular steps after which a loader waits, how much longer they take. Else null."}
  - {name: cause_count, type: int, unit: count, label: "pauses or steps", priority: 1, doc: "Of pauses, how many; of slow steps, how many, where they come irregularly. Else null."}
  - {name: every, type: int, unit: count, label: "every", priority: 2, doc: "Steps from one slow step to the next; null if they come irregularly, or do not matter."}
  - {name: step_count, type: int, unit: count, label: "steps", priority: 1, doc: "Of pauses and slow steps, all steps; else null."}
  - {name: now_ns, type: duration, unit: ns, label: "step now", priority: 2, doc: "Of waits that a program can shorten itself, mean time of a step; else null."}
  - {name: then_ns, type: duration, unit: ns, label: "step then", priority: 2, doc: "The same without these waits; else null."}
  - {name: gpu_id, type: id, label: "GPU", priority: 2, doc: "Of waits that set the pace on several GPUs, the one that has 80 % of the idle time or more; else null."}
  - {name: is_loading, type: bool, priority: 3, doc: "1 if a data loader of PyTorch is likely what the thread waits for."}
  - {name: elsewhere_count, type: int, unit: count, label: "steps with other work", priority: 2, doc: "Steps with other work, if most idle time is in them; else null."}
  - {name: is_few_blocks, type: bool, priority: 3, doc: "1 if many kernels have too few blocks to fill the only GPU."}
  - {name: are_early_copies, type: bool, priority: 3, doc: "1 if the copies are mostly uploads before the first kernel."}
checks:
  - time_pct >= 0
  - cause_count IS NULL OR cause_count > 0
limits: A verdict is the likely conclusion from shares of time. See judged for what it rests on.
see_also: [findings, hang, judged]
---*/
WITH
-- Each of these answers has what takes most time in its first row.
gap AS MATERIALIZED (
  SELECT *
  FROM longest_gaps
  WHERE rowid = 1
),
slow AS MATERIALIZED (
  SELECT *
  FROM slow_steps
  WHERE rowid = 1
),
waited AS MATERIALIZED (
  SELECT *
  FROM paced_idle
  WHERE rowid = 1
),
left_idle AS MATERIALIZED (
  SELECT *
  FROM unexplained_idle
  WHERE rowid = 1
),
-- Collectives that mostly wait for one GPU are no transfer: AllReduce, GPU 2 last, 15 % slower kernels.
last_gpu AS MATERIALIZED (
  SELECT replace(iif(instr(late, ', '), substr(late, 1, instr(late, ', ') - 1), late), ' last', '') AS gpu
  FROM (
    SELECT substr(found.top_subject, instr(found.top_subject, ', ') + 2) AS late
    FROM findings AS found
    CROSS JOIN judged
    WHERE found.finding = 'rank_wait'
      AND instr(found.top_subject, ' last')
      AND found.top_subject_pct >= 80
      AND 2 * found.ceiling_ns >= judged.communication_ns
  )
),
-- Of several GPUs, one that idles where the others do not.
idle_gpu AS MATERIALIZED (
  SELECT gpu_id, window_ns, idle_ns
  FROM (SELECT gpu_id, window_ns, idle_ns, sum(idle_ns) OVER () AS all_ns, count(*) OVER () AS gpu_count FROM gpu_parts)
  WHERE gpu_count > 1
    AND idle_ns >= 0.8 * all_ns
),
-- The step as it is now.
step AS MATERIALIZED (
  SELECT now_ns, max(coalesce(step_count, 1), 1) AS step_count
  FROM findings
  WHERE rank = 1
    AND verdict = 'yes'
),
-- A kernel waits for pages that move to the GPU, which is no idle time.
idle_fix AS MATERIALIZED (
  SELECT *, finding = 'um_migrations' AND top_subject GLOB 'Unified Host-to-Device*' AS is_of_pages
  FROM findings
  WHERE verdict = 'yes'
    -- Kernels that one GPU has too many of make the others idle.
    AND (frees = 'idle' OR finding = 'unequal_gpus')
),
-- The first fix of idle time is the main cause, unless it gains little, or less than what no finding explains.
main AS MATERIALIZED (
  SELECT
    found.finding,
    found.step_count,
    found.name,
    sign.pause_count,
    sign.cpu_operator,
    sign.is_of_slow_steps
  FROM (
    SELECT
      *,
      iif(instr(claim, ':'), substr(claim, 1, instr(claim, ':') - 1), claim) AS name,
      row_number() OVER (ORDER BY rank) AS nth
    FROM idle_fix
    WHERE is_of_pages IS NOT TRUE
  ) AS found
  CROSS JOIN judged
  LEFT JOIN finding_signs AS sign
    ON sign.finding = found.finding
  WHERE found.nth = 1
    AND found.adds_pct >= 5
    AND NOT (judged.is_unexplained AND judged.unexplained_pct > found.adds_pct)
),
-- What the launching threads do in most of the idle time, of all GPUs.
doing AS MATERIALIZED (
  SELECT cause, 100.0 * sum(total_ns) / max((SELECT sum(total_ns) FROM gpu_idle_cause_sum), 1) AS idle_pct
  FROM gpu_idle_cause_sum
  GROUP BY cause
  ORDER BY sum(total_ns) DESC, cause
  LIMIT 1
),
-- All that the list below looks at, in one row.
fact AS MATERIALIZED (
  SELECT
    judged.*,
    max(compute_ns, communication_ns, copies_ns, judged.idle_ns) AS most_ns,
    captured.is_limited
    AND captured.kernel_count = 0
    AND captured.copy_count = 0
    AND coalesce(captured.graph_pct, 0) = 0 AS is_empty,
    captured.is_pytorch,
    captured.kernel_count >= 100 AS are_many_kernels,
    (SELECT max(uneven_ns) > 0 FROM finding_signs) AS is_uneven,
    main.finding AS main_finding,
    main.name AS main_cause,
    main.step_count AS main_step_count,
    main.pause_count,
    main.cpu_operator,
    main.is_of_slow_steps,
    left_idle.cause AS left_cause,
    2 * left_idle.cause_ns >= judged.unexplained_ns AS is_mostly_left_cause,
    -- More than the first fix of idle time gains.
    judged.is_unexplained
    AND judged.unexplained_pct > coalesce(
      (SELECT adds_pct FROM idle_fix WHERE is_of_pages IS NOT TRUE ORDER BY rank LIMIT 1),
      0
    ) AS is_left,
    slow.every,
    slow.slow_count,
    slow.step_count AS slow_step_count,
    slow.excess_ns,
    slow.every IS NOT NULL OR 10 * slow.slow_count <= slow.step_count AS are_rare_steps,
    -- A program of PyTorch that polls before it uploads waits for the workers of its loader.
    waited.function_name IN ('poll', 'ppoll', 'select')
    AND captured.is_pytorch
    AND instr(gap.next_op, 'Host-to-Device')
    AND judged.repeats AS is_loading,
    instr(waited.function_name, 'sleep') AND judged.repeats AND step.now_ns IS NOT NULL AS is_asleep,
    waited.function_name AS waits_in,
    step.now_ns,
    step.now_ns - 1.0 * judged.paced_ns / step.step_count / judged.gpu_count AS then_ns,
    gap.max_ns AS longest_ns,
    gap.long_count,
    doing.cause AS doing,
    doing.idle_pct AS doing_pct,
    (SELECT max(ceiling_pct) FROM idle_fix WHERE is_of_pages) AS pages_pct
  FROM judged
  LEFT JOIN captured
    ON captured.rowid = 1
  LEFT JOIN main
    ON true
  LEFT JOIN left_idle
    ON true
  LEFT JOIN slow
    ON true
  LEFT JOIN waited
    ON true
  LEFT JOIN step
    ON true
  LEFT JOIN gap
    ON true
  LEFT JOIN doing
    ON true
),
-- The list: the first verdict that fits.
named AS MATERIALIZED (
  SELECT
    *,
    CASE
      WHEN bound_by = 'no GPU work' THEN NULL
      WHEN is_empty THEN 'no_work_in_part'
      -- Kernels, collectives or copies take the time, and nothing else takes much. Kernels that wait for pages compute
      -- little.
      WHEN bound_by = 'compute' AND pages_pct >= 30 THEN 'page_bound'
      WHEN bound_by = 'compute' AND is_decode THEN 'memory_bound_decode'
      WHEN bound_by = 'compute' AND is_memory_bound THEN 'memory_bound'
      WHEN bound_by = 'compute' THEN 'compute_bound'
      WHEN bound_by = 'mixed' THEN 'mixed'
      WHEN bound_by = 'communication' AND compute_ns >= communication_ns THEN 'overlapped_communication'
      WHEN bound_by = 'communication' THEN 'communication_bound'
      WHEN bound_by = 'copies' AND all_copies_ns >= 0.95 * window_ns AND compute_ns >= copies_ns
        THEN 'overlapped_copies'
      WHEN bound_by = 'copies' THEN 'copy_bound'
      -- GPUs idle. A program that waits for its input is not slow, and a fast message is no use to unequal work.
      WHEN is_paced THEN 'paced'
      WHEN bound_by = 'idle' AND is_uneven THEN 'uneven'
      -- A main cause: what says when the time is lost comes first.
      WHEN bound_by = 'idle' AND pause_count = 1 THEN 'pause'
      WHEN bound_by = 'idle' AND pause_count > 1 THEN 'pauses'
      WHEN bound_by = 'idle' AND main_finding = 'iteration_border' AND cpu_operator <> '' THEN 'cpu_operator'
      WHEN bound_by = 'idle' AND is_of_slow_steps THEN 'allocating_steps'
      WHEN bound_by = 'idle' AND main_cause = 'Launch-bound' THEN 'launch_bound'
      WHEN bound_by = 'idle' AND main_cause GLOB '*-bound' THEN 'host_bound'
      WHEN bound_by = 'idle' AND main_cause = 'Slow iterations' AND are_rare_steps THEN 'slow_steps'
      WHEN bound_by = 'idle' AND main_cause <> '' THEN 'idle_of_cause'
      -- No main cause: what all fixes leave, or else what the launching thread does.
      WHEN bound_by = 'idle' AND is_left AND left_cause = 'work of other GPUs' AND is_mostly_left_cause
        THEN 'waits_for_gpus'
      WHEN bound_by = 'idle' AND is_left THEN 'idle_unexplained'
      WHEN bound_by = 'idle' AND doing IS NOT NULL THEN 'idle_in_calls'
      WHEN bound_by = 'idle' THEN 'idle'
      -- Nothing can be concluded.
      WHEN bound_by = 'whole graphs' THEN 'whole_graphs'
      WHEN bound_by = 'start-up' THEN 'start_up'
      WHEN bound_by = 'too little work' THEN 'too_little_work'
      WHEN launches_fail THEN 'failed_launches'
      WHEN is_unknown THEN 'unknown_idle'
    END AS verdict
  FROM fact
)
SELECT
  verdict,
  CASE
    WHEN verdict = 'overlapped_communication' THEN 100.0 * all_communication_ns
    WHEN verdict = 'overlapped_copies' THEN 100.0 * all_copies_ns
    WHEN verdict = 'paced' AND idle_gpu.gpu_id IS NOT NULL
      THEN 100.0 * min(paced_ns, idle_gpu.idle_ns) * named.window_ns / idle_gpu.window_ns
    WHEN verdict = 'paced' THEN 100.0 * paced_ns
    WHEN verdict = 'whole_graphs' THEN 100.0 * (named.window_ns - named.idle_ns)
    WHEN bound_by = 'idle' THEN 100.0 * named.idle_ns
    WHEN bound_by IN ('compute', 'communication', 'copies') THEN 100.0 * most_ns
  END / max(named.window_ns, 1) AS time_pct,
  iif(verdict IN ('overlapped_communication', 'overlapped_copies'), 100.0 * compute_ns / max(named.window_ns, 1), NULL)
    AS compute_pct,
  iif(
    bound_by = 'idle'
      AND copies_ns >= 0.1 * named.window_ns
      AND copies_ns >= communication_ns
      AND (copies_ns > compute_ns OR (SELECT frees = 'copies' FROM findings WHERE rank = 1 AND verdict = 'yes')),
    100.0 * copies_ns / max(named.window_ns, 1),
    NULL
  ) AS copies_pct,
  iif(
    bound_by = 'idle'
      AND communication_ns >= 0.1 * named.window_ns
      AND communication_ns > compute_ns
      AND NOT (copies_ns >= 0.1 * named.window_ns AND copies_ns > compute_ns AND copies_ns >= communication_ns),
    100.0 * communication_ns / max(named.window_ns, 1),
    NULL
  ) AS communication_pct,
  (
    SELECT max(ceiling_pct)
    FROM idle_fix
    WHERE is_of_pages
      AND (named.verdict = 'page_bound' OR bound_by = 'idle' AND ceiling_pct >= 5)
  ) AS pages_pct,
  CASE verdict
    WHEN 'paced' THEN waits_in
    WHEN 'cpu_operator' THEN cpu_operator
    WHEN 'launch_bound' THEN main_cause
    WHEN 'host_bound' THEN main_cause
    -- In a sentence, it begins with a small letter, unless it is an abbreviation.
    WHEN 'idle_of_cause'
      THEN iif(
        substr(main_cause, 2, 1) = lower(substr(main_cause, 2, 1)),
        lower(substr(main_cause, 1, 1)),
        substr(main_cause, 1, 1)
      ) || substr(main_cause, 2)
    WHEN 'waits_for_gpus' THEN left_cause
    WHEN 'idle_unexplained' THEN iif(is_mostly_left_cause, left_cause, NULL)
    WHEN 'idle_in_calls' THEN doing
    WHEN 'communication_bound' THEN (SELECT gpu FROM last_gpu)
    WHEN 'overlapped_communication' THEN (SELECT gpu FROM last_gpu)
  END AS cause,
  iif(
    verdict IN ('launch_bound', 'host_bound'),
    (SELECT fixes.fix FROM fixes WHERE fixes.finding = named.main_finding),
    NULL
  ) AS fix,
  iif(verdict = 'idle_in_calls', doing_pct, NULL) AS cause_pct,
  CASE verdict
    WHEN 'pause' THEN longest_ns
    WHEN 'pauses' THEN longest_ns
    -- A worker that is late in its turn is no epoch.
    WHEN 'paced' THEN iif(is_loading AND every > 16, excess_ns, NULL)
  END AS cause_ns,
  CASE verdict
    WHEN 'pause' THEN pause_count
    WHEN 'pauses' THEN long_count
    WHEN 'allocating_steps' THEN slow_count
    WHEN 'slow_steps' THEN slow_count
  END AS cause_count,
  CASE
    WHEN verdict IN ('allocating_steps', 'slow_steps') THEN every
    WHEN verdict = 'paced' THEN iif(is_loading AND every > 16, every, NULL)
  END AS every,
  CASE
    WHEN verdict IN ('pause', 'pauses') THEN main_step_count
    WHEN verdict IN ('allocating_steps', 'slow_steps') THEN slow_step_count
    WHEN elsewhere.other_count > 0 THEN elsewhere.step_count
  END AS step_count,
  -- The waits of one GPU are no share of all.
  iif(verdict = 'paced' AND (is_loading OR is_asleep) AND idle_gpu.gpu_id IS NULL, now_ns, NULL) AS now_ns,
  iif(verdict = 'paced' AND (is_loading OR is_asleep) AND idle_gpu.gpu_id IS NULL, then_ns, NULL) AS then_ns,
  iif(verdict = 'paced', idle_gpu.gpu_id, NULL) AS gpu_id,
  coalesce(verdict = 'paced' AND is_loading, false) AS is_loading,
  elsewhere.other_count AS elsewhere_count,
  bound_by = 'compute'
  AND gpu_count = 1
  AND EXISTS (SELECT 1 FROM findings WHERE finding = 'few_blocks' AND ceiling_ns >= 0.35 * compute_ns) AS is_few_blocks,
  bound_by = 'mixed'
  AND NOT repeats
  AND are_many_kernels
  AND copies_ns >= 0.15 * named.window_ns
  AND EXISTS (SELECT 1 FROM early_copies WHERE total_ns >= 0.7 * copies_ns) AS are_early_copies
FROM named
LEFT JOIN idle_gpu
  ON true
-- Steps that also launch other work, such as an evaluation, where the usual ones hardly idle.
LEFT JOIN repetition AS elsewhere
  ON named.verdict IN ('launch_bound', 'host_bound')
  AND elsewhere.other_count > 0
  AND 3 * elsewhere.usual_idle_ns <= named.idle_ns
  AND elsewhere.other_ns >= 0.5 * named.idle_ns
ORDER BY verdict
