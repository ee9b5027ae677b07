/*---
name: finding_signs
version: 2
title: Signs of the findings
summary: "Conditions on the time, calls, steps and ranges of a finding."
why: To check why the page says what it says of a finding. Each column is a condition, with its reason in the statement.
kind: info
internal: true
tags: [gpu]
reads: []
asks:
  - findings
  - gpu_parts
  - {query: compile_gaps, optional: true}
  - {query: downloaded_gaps, optional: true}
  - {query: feeding_calls, optional: true}
  - {query: finding_places, optional: true}
  - {query: idle_calls, optional: true}
  - {query: idle_functions, optional: true}
  - {query: lock_turns, optional: true}
  - {query: longest_collective, optional: true}
  - {query: longest_gaps, optional: true}
  - {query: slow_steps, optional: true}
columns:
  - {name: rank, type: int, label: "#", priority: 1, doc: "Rank of the finding, as in findings."}
  - {name: finding, type: text, priority: 0, doc: "Name of a finding that was replayed."}
  - {name: own_ns, type: duration, unit: ns, label: "its time", priority: 1, doc: "Time of its intervals in a step on each GPU; without steps, in all."}
  - {name: kept_up_ns, type: duration, unit: ns, label: "if the rest kept up", priority: 2, doc: "Of work of the GPU: time of a step without own_ns, if the host and other work kept up, where its fix alone gains much less; else null."}
  - {name: is_avoidable, type: bool, priority: 2, doc: "1 if a step is at least a fifth shorter without its operations than with them hidden."}
  - {name: is_joint, type: bool, priority: 2, doc: "1 if the first fix gains most of its time only with other fixes."}
  - {name: is_in_gaps, type: bool, priority: 2, doc: "1 if it is mostly about the longest gaps, and the launching thread is in one range in them."}
  - {name: is_rare, type: bool, priority: 2, doc: "1 if half of the idle time is before one operation, in at most half as many gaps as steps."}
  - {name: pause_count, type: int, unit: count, label: "pauses", priority: 2, doc: "Pauses that have half of the idle time: 1, or 2 to 4; null if it has other causes."}
  - {name: takes_turns, type: bool, priority: 2, doc: "1 if launching threads wait for a lock while another one, which may hold it, waits for the GPU."}
  - {name: is_near_lock, type: bool, priority: 2, doc: "1 if launching threads wait for a lock in turn, whatever else its cause is."}
  - {name: is_in_files, type: bool, priority: 2, doc: "Of work of the host after other fixes: 1 if the launching thread reads or writes files for a fifth of the idle time."}
  - {name: waits_for_threads, type: bool, priority: 2, doc: "1 if the launching thread waits for other threads for half of the idle time."}
  - {name: is_fed, type: bool, priority: 2, doc: "1 if the launching thread waits for threads that read, for a fifth of the idle time or more."}
  - {name: compiles, type: bool, priority: 2, doc: "1 if the launching thread loads modules in gaps with half of this time, as where code is compiled."}
  - {name: is_after_result, type: bool, priority: 2, doc: "1 if its host code follows downloads of the same thread that are no scalars."}
  - {name: is_of_slow_steps, type: bool, priority: 2, doc: "1 if memory is allocated in slow steps only, and these take longer by more than that."}
  - {name: is_of_stages, type: bool, priority: 2, doc: "1 if its time is in sends and receives of a program, not in exchanges of all ranks, and compute kernels hide less than half of these, or one takes far longer than usual."}
  - {name: is_of_ring, type: bool, priority: 2, doc: "1 if its time is in sends and receives of a program, and compute kernels hide half of these, as in ring attention."}
  - {name: calls_per_step, type: int, unit: count, label: "calls a step", priority: 2, doc: "How often a step calls the function in which launches are late; null if that is no reason."}
  - {name: cpu_operator, type: text, label: "operator on the CPU", priority: 2, doc: "Operator of PyTorch that works on CPU tensors for half of this time, such as aten::mm; null if there is none."}
  - {name: uneven_ns, type: duration, unit: ns, label: "gain of equal shares", priority: 2, doc: "Of waits in MPI: how much shorter a step is if all GPUs have equal work; null if that is little."}
checks:
  - pause_count IS NULL OR pause_count BETWEEN 1 AND 4
  - calls_per_step IS NULL OR calls_per_step > 0
limits: >-
  Likely reasons, not proofs: a capture shows when the host does something, and seldom why. Where the data for a
  condition was not recorded, the condition is not met.
see_also: [fixes, findings]
---*/
WITH
total AS MATERIALIZED (
  SELECT
    count(*) AS gpu_count,
    sum(idle_ns) AS idle_ns,
    min(idle_ns) AS least_idle_ns,
    sum(communication_ns) AS communication_ns,
    sum(exposed_communication_ns) AS exposed_communication_ns
  FROM gpu_parts
),
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
download AS MATERIALIZED (
  SELECT *
  FROM downloaded_gaps
  WHERE rowid = 1
),
caller AS MATERIALIZED (
  SELECT *
  FROM idle_functions
  WHERE rowid = 1
),
os_call AS MATERIALIZED (
  SELECT *
  FROM idle_calls
  WHERE rowid = 1
),
place AS MATERIALIZED (
  SELECT *
  FROM finding_places
  WHERE rowid IN (SELECT min(rowid) FROM finding_places GROUP BY finding)
),
-- Names of one thing each, for what the conditions below read.
found AS MATERIALIZED (
  SELECT
    found.*,
    found.rank = 1 AS is_first,
    found.finding IN ('host_work', 'iteration_border', 'slow_iterations') AS is_of_host,
    found.finding IN ('host_work', 'iteration_border') AS is_of_code,
    coalesce(found.step_count, 0) AS steps,
    1.0 * found.ceiling_ns / max(coalesce(found.step_count, 1), 1) / max(found.gpu_count, 1) AS own_ns,
    coalesce(found.avoided_ns < 0.8 * found.alone_ns, false) AS is_avoidable
  FROM findings AS found
  WHERE found.now_ns IS NOT NULL
),
-- The thread is in a range for half of the finding's time, which is mostly in long gaps. A subject that is a range
-- already says where it is, and late launches have gaps before many operations.
in_gaps AS MATERIALIZED (
  SELECT found.finding
  FROM found
  CROSS JOIN gap
  WHERE gap.range_name <> ''
    AND found.frees = 'idle'
    AND coalesce(found.subject_kind, '') <> 'NVTX range'
    AND found.finding <> 'launch_bound'
    AND NOT (found.finding = 'tiny_kernels' AND found.rank > 1)
    AND gap.range_pct * gap.total_ns >= 0.5 * gap.idle_pct * found.ceiling_ns
    AND found.ceiling_ns >= 0.8 * gap.total_ns
),
-- Most of the idle time is in few of the steps.
rare AS MATERIALIZED (
  SELECT found.finding
  FROM found
  CROSS JOIN gap
  WHERE found.is_first
    AND found.frees = 'idle'
    AND gap.gap_count >= 2
    AND 2 * gap.gap_count <= found.steps
    AND gap.idle_pct >= 50
),
-- The mean step says little where one pause in one step has half of the idle time, or a few pauses have, as where a
-- program builds its next model.
pause AS MATERIALIZED (
  SELECT
    found.finding,
    CASE
      WHEN slow.slow_count = 1
        AND found.steps > 1
        AND gap.idle_pct * gap.max_ns >= 50 * gap.total_ns
        AND gap.max_ns <= found.ceiling_ns
        THEN 1
      WHEN gap.long_count BETWEEN 2 AND 4
        AND 16 * gap.long_count <= found.steps
        AND gap.idle_pct * gap.long_ns >= 50 * gap.total_ns
        AND gap.long_ns <= found.ceiling_ns
        THEN gap.long_count
    END AS pause_count
  FROM found
  CROSS JOIN gap
  LEFT JOIN slow
    ON true
  WHERE found.is_first
    AND found.is_of_code
),
-- Waits for the GPU while others wait for the lock: streams of several threads cannot overlap.
in_turn AS (
  SELECT found.finding
  FROM found
  JOIN lock_turns AS turn
    ON turn.rowid = 1
  WHERE found.is_first
    AND found.finding = 'host_sync'
    AND turn.thread_count >= 2
),
near_lock AS (
  SELECT finding
  FROM found
  WHERE is_first
    AND (finding IN ('launch_bound', 'host_sync') OR is_of_code)
    AND EXISTS (SELECT 1 FROM lock_turns)
),
-- What the first fix leaves may be files, too.
in_files AS (
  SELECT found.finding
  FROM found
  CROSS JOIN os_call
  CROSS JOIN total
  WHERE found.rank > 1
    AND found.finding = 'host_work'
    AND os_call.total_ns >= 0.2 * total.idle_ns
    AND (
      os_call.role IN ('read', 'receive')
      OR os_call.function_name IN ('write', 'writev', 'pwrite', 'pwrite64', 'fwrite', 'fsync', 'fdatasync', 'msync')
    )
),
waiting_for_threads AS (
  SELECT found.finding
  FROM found
  CROSS JOIN os_call
  CROSS JOIN total
  WHERE found.is_first
    AND found.is_of_host
    AND os_call.role = 'thread'
    AND os_call.total_ns >= 0.5 * total.idle_ns
),
-- Others read while it waits, so that more threads shorten the wait.
fed AS (
  SELECT found.finding
  FROM found
  JOIN feeding_calls AS feeding
    ON feeding.rowid = 1
  CROSS JOIN total
  WHERE found.is_of_host
    AND feeding.waited_ns >= 0.2 * total.idle_ns
    AND feeding.total_ns >= 0.2 * feeding.waited_ns * feeding.thread_count
),
compiling AS (
  SELECT found.finding
  FROM found
  JOIN compile_gaps AS compiling
    ON compiling.rowid = 1
  WHERE found.is_of_host
    AND compiling.host_pct >= 50
    AND compiling.host_ns >= 0.5 * found.ceiling_ns
),
-- What needs a result cannot run ahead. Of slow steps, those that come again and again, with half of their time.
after_result AS (
  SELECT found.finding
  FROM found
  CROSS JOIN download
  WHERE NOT download.is_scalar
    AND download.host_pct >= 50
    AND download.own_pct >= 50
    AND (
      found.is_of_code
      OR found.finding = 'slow_iterations'
      AND (SELECT every FROM slow) IS NOT NULL
      AND 2 * download.total_ns >= found.ceiling_ns
    )
),
-- Sizes that are new allocate, and others do not.
allocating AS (
  SELECT found.finding
  FROM found
  JOIN place
    ON place.finding = found.finding
  CROSS JOIN slow
  WHERE found.is_first
    AND found.finding = 'allocation'
    AND place.time_pct >= 80
    AND slow.slow_count >= 2
    AND place.step_count <= slow.slow_count + 1
    AND 4 * slow.slow_count <= slow.step_count
    AND slow.slow_count * slow.excess_ns >= found.ceiling_ns
),
of_sends AS (
  SELECT DISTINCT finding
  FROM finding_places
  WHERE range_path GLOB '*nccl:recv*'
    OR range_path GLOB '*nccl:send*'
    OR range_path GLOB '*c10d::recv*'
    OR range_path GLOB '*c10d::send*'
),
-- In a ring, each rank computes on a part while it receives the next, and all parts take as long.
of_ring AS (
  SELECT of_sends.finding
  FROM of_sends
  CROSS JOIN total
  WHERE total.communication_ns >= 2 * total.exposed_communication_ns
    AND NOT EXISTS (SELECT 1 FROM longest_collective WHERE operation = 'SendRecv')
),
-- Receives of a pipeline wait for the stage before.
of_stages AS (
  SELECT finding
  FROM of_sends
  WHERE finding NOT IN (SELECT finding FROM of_ring)
),
-- A loop in the function launches what one call of a batched operator could.
calling AS (
  SELECT found.finding, CAST(round(1.0 * caller.call_count / found.steps) AS INTEGER) AS calls_per_step
  FROM found
  CROSS JOIN caller
  WHERE found.is_first
    AND found.finding IN ('launch_bound', 'tiny_kernels')
    AND caller.idle_pct >= 50
    AND found.steps > 1
    AND caller.call_count >= 10 * found.steps
),
-- What the thread is in for half of the time.
main_range AS MATERIALIZED (
  SELECT found.finding, found.top_subject AS range_name
  FROM found
  WHERE found.finding = 'host_work'
    AND found.top_subject_pct >= 50
  UNION ALL
  SELECT in_gaps.finding, gap.range_name
  FROM in_gaps
  CROSS JOIN gap
  WHERE in_gaps.finding = 'iteration_border'
    AND gap.range_pct >= 40
),
-- An operator that launches nothing itself works on CPU tensors. These copy, wait or allocate.
on_cpu AS (
  SELECT finding, replace(range_name, 'cpu_op:', '') AS cpu_operator
  FROM main_range
  WHERE range_name GLOB 'cpu_op:aten::*'
    AND substr(range_name, length('cpu_op:aten::') + 1) NOT IN (
      'to',
      '_to_copy',
      'copy_',
      'item',
      '_local_scalar_dense',
      'pin_memory',
      '_pin_memory',
      'empty',
      'empty_strided',
      'resize_',
      'record_stream'
    )
    AND EXISTS (
      SELECT 1
      FROM finding_places AS place
      WHERE place.finding = main_range.finding
        AND place.range_path <> ''
    )
    AND NOT EXISTS (
      SELECT 1
      FROM finding_places AS place
      WHERE place.finding = main_range.finding
        AND instr(place.range_path || ' ', main_range.range_name || ' ')
    )
),
-- GPUs that have less work wait for others in MPI: a faster message gains nothing then.
uneven AS (
  SELECT
    found.finding,
    found.now_ns,
    (1.0 * total.idle_ns / total.gpu_count - total.least_idle_ns) / max(found.steps, 1) AS gain_ns
  FROM found
  CROSS JOIN total
  WHERE found.finding = 'mpi_wait'
    AND total.gpu_count > 1
    AND found.ceiling_ns >= 0.5 * (total.idle_ns - total.gpu_count * total.least_idle_ns)
),
-- It comes first where the first fix of idle time gains less.
unequal AS (
  SELECT finding, CAST(gain_ns AS INTEGER) AS uneven_ns
  FROM uneven
  WHERE gain_ns > 0
    AND gain_ns >= max(
      0.05 * now_ns,
      coalesce((SELECT adds_ns FROM found WHERE is_first AND verdict = 'yes' AND frees = 'idle'), 0)
    )
)
SELECT
  rank,
  finding,
  CAST(own_ns AS INTEGER) AS own_ns,
  CASE
    WHEN frees <> 'idle' AND NOT is_avoidable AND own_ns > 1.3 * (now_ns - alone_ns) AND own_ns < now_ns
      THEN CAST(now_ns - own_ns AS INTEGER)
  END AS kept_up_ns,
  is_avoidable,
  is_first AND 2 * (now_ns - alone_ns) < adds_ns AS is_joint,
  finding IN (SELECT finding FROM in_gaps) AS is_in_gaps,
  finding IN (SELECT finding FROM rare) AS is_rare,
  (SELECT pause_count FROM pause WHERE pause.finding = found.finding) AS pause_count,
  finding IN (SELECT finding FROM in_turn) AS takes_turns,
  finding IN (SELECT finding FROM near_lock) AS is_near_lock,
  finding IN (SELECT finding FROM in_files) AS is_in_files,
  finding IN (SELECT finding FROM waiting_for_threads) AS waits_for_threads,
  finding IN (SELECT finding FROM fed) AS is_fed,
  finding IN (SELECT finding FROM compiling) AS compiles,
  finding IN (SELECT finding FROM after_result) AS is_after_result,
  finding IN (SELECT finding FROM allocating) AS is_of_slow_steps,
  finding IN (SELECT finding FROM of_stages) AS is_of_stages,
  finding IN (SELECT finding FROM of_ring) AS is_of_ring,
  (SELECT calls_per_step FROM calling WHERE calling.finding = found.finding) AS calls_per_step,
  (SELECT cpu_operator FROM on_cpu WHERE on_cpu.finding = found.finding) AS cpu_operator,
  (SELECT uneven_ns FROM unequal WHERE unequal.finding = found.finding) AS uneven_ns
FROM found
ORDER BY rank
