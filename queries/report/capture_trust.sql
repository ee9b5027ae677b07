/*---
name: capture_trust
version: 1
title: What the capture does not show
summary: What is missing from the capture or distorts its figures, worst first.
why: To know how far to trust the other answers, and how to record better next time.
kind: info
tags: [capture, cuda, gpu, nvtx]
reads:
  - all_cuda_call
  - all_gpu_op
  - all_nvtx_span
  - cpu_sample
  - cuda_call
  - cuda_context
  - cuda_error
  - diagnostic
  - doubtful_op
  - export_fact
  - failed_call
  - gpu_op
  - gpu_window
  - graph_trace
  - import_count
  - launch
  - launch_link
  - launch_outcome
  - mpi_event
  - nccl_call
  - nvtx_domain
  - nvtx_name
  - nvtx_projection
  - nvtx_range
  - op_total
  - process
  - process_device
  - profiler_overhead
  - rank
  - recording_cost
  - sampled_call
  - step_window
  - string
  - suspect_event
  - unfinished
  - unseen_work
requires: [gpu_op | graph_trace | cuda_call | nvtx_range | doubtful_op]
columns:
  - {name: rank, type: int, priority: 3, doc: "Rank, from 1; 1 matters most."}
  - {name: severity, type: text, priority: 1, doc: "partial: part of the work is not seen, or may not be; distorted: the capture itself took time; note: a limit to know."}
  - {name: problem, type: text, priority: 0, doc: "What is missing or distorted."}
  - {name: detail, type: text, priority: 0, doc: "What that means here, with the numbers of this report."}
  - {name: remedy, type: text, priority: 1, doc: "How to record it better."}
when_empty: "nothing that the report shows makes its figures doubtful"
limits: >-
  Only problems that show in the report: events that were dropped without a trace are not among them. nsys often warns
  that events may be missing although none are. The time of a push and a pop is an estimate: see the relation recording_cost.
see_also: [report_info, nvtx_coverage, api_errors]
---*/
WITH
source AS (
  SELECT count(*) > 0 AS is_trace, max(value) AS maker
  FROM export_fact
  WHERE fact = 'NSQ_IMPORT_OF'
),
graph AS (
  SELECT count(*) AS executions, coalesce(sum(end_ns - start_ns), 0) AS total_ns
  FROM graph_trace
),
work AS (
  SELECT
    coalesce(sum(op_count), 0) AS ops,
    coalesce(sum(kernel_count), 0) AS kernels,
    min(start_ns) AS start_ns,
    max(end_ns) - min(start_ns) AS span_ns,
    sum(total_ns) AS total_ns,
    max(longest_ns) AS longest_ns
  FROM op_total
),
suspect AS (
  SELECT
    sum(events) AS events,
    group_concat(printf('%d %s (%s)', events, event_kind || iif(events = 1, '', 's'), reason), ', ') AS list
  FROM (
    SELECT
      CASE event_kind WHEN 'call' THEN 'CUDA call' WHEN 'range' THEN 'NVTX range' ELSE event_kind END AS event_kind,
      reason,
      count(*) AS events
    FROM suspect_event
    GROUP BY 1, 2
    ORDER BY 3 DESC, 1, 2
  )
),
doubt AS (
  SELECT reason, count(*) AS ops, max(dur_ns) AS longest_ns, op_name, start_ns, other_start_ns
  FROM doubtful_op
  GROUP BY reason
),
-- Of an outlier, the name. A step of PyTorch that launched nothing that was recorded.
outlier AS (
  SELECT op_name, dur_ns, work.total_ns, work.ops
  FROM work
  JOIN gpu_op
    ON work.longest_ns > 0.95 * work.total_ns
    AND work.ops >= 20
    AND gpu_op.dur_ns = work.longest_ns
  LIMIT 1
),
step AS (
  SELECT count(*) AS steps, count(*) FILTER (WHERE op_count = 0) AS empty
  FROM source
  CROSS JOIN nvtx_name AS name
  JOIN nvtx_projection AS range
    ON range.name_id = name.name_id
  WHERE source.is_trace
    AND name.range_text GLOB 'ProfilerStep[#]*'
),
-- Only in the time that figures are about: from the first GPU operation to the last.
overhead AS (
  SELECT coalesce(sum(min(end_ns, to_ns) - max(start_ns, from_ns)), 0) AS total_ns, to_ns - from_ns AS window_ns
  FROM (SELECT start_ns AS from_ns, end_ns AS to_ns FROM op_total)
  JOIN profiler_overhead
    ON start_ns < to_ns
    AND end_ns > from_ns
    AND is_own
),
call AS (
  SELECT
    count(*) AS calls,
    (SELECT count(*) FROM failed_call) AS failed
  FROM cuda_call
),
message AS (
  SELECT
    diagnostic.severity,
    diagnostic.message,
    diagnostic.global_pid,
    CASE
      WHEN message GLOB 'Installed CUDA driver version*' THEN 'driver'
      WHEN message GLOB '*CUDA events*' OR message GLOB 'CUDA profiling*' THEN 'cuda'
      WHEN message GLOB '*NVTX events*' THEN 'nvtx'
      ELSE 'other'
    END AS about
  FROM diagnostic
  WHERE severity IN ('Warning', 'Error')
),
cuda_process AS (
  SELECT global_pid
  FROM all_cuda_call
  WHERE global_pid IS NOT NULL
    AND EXISTS (SELECT 1 FROM message)
  UNION
  SELECT global_pid
  FROM all_gpu_op
  WHERE global_pid IS NOT NULL
    AND EXISTS (SELECT 1 FROM message)
),
told AS (
  SELECT
    CASE
      WHEN about = 'driver' OR severity = 'Error' THEN about
      WHEN global_pid NOT IN (SELECT global_pid FROM cuda_process) THEN 'helper'
      ELSE about
    END AS about,
    count(*) AS messages,
    count(DISTINCT global_pid) AS processes,
    count(*) FILTER (WHERE severity = 'Error') AS errors,
    min(message) AS first_message
  FROM message
  GROUP BY 1
),
-- Per process: launches of kernels and of graphs are counted together.
outcome AS (
  SELECT
    outcome,
    pid,
    max(is_graph) AS has_graphs,
    min(is_graph) AS only_graphs,
    sum(launch_count) AS launches,
    sum(all_count) AS all_launches,
    max(return_value) AS return_value
  FROM launch_outcome
  GROUP BY outcome, global_pid, pid, return_value
),
-- Ranks of one communicator that the report puts on one GPU, which NCCL does not allow.
shared AS (
  SELECT max(ranks) AS ranks, min(gpu_id) AS gpu_id
  FROM (
    SELECT member.communicator, used.gpu_id, count(DISTINCT member.rank) AS ranks
    FROM nccl_call AS member
    JOIN process_device AS used
      ON used.global_pid = member.global_pid
      AND used.device_id = member.device_id
    WHERE member.rank IS NOT NULL
    GROUP BY member.communicator, used.gpu_id
  )
  WHERE ranks > 1
),
-- Host times decide how long a step takes only if the GPU waits for the host.
waiting_gpu AS (
  SELECT 20 * (sum(idle_ns) - coalesce((SELECT unseen_ns FROM unseen), 0)) >= sum(window_ns) AS is_waiting
  FROM gpu_window
),
-- The longest median step in which the GPU waits for as long as recording the launches may take, at the price that
-- programs measured with nsys and without: fixtures/pairs. A graph is one launch.
recorded_launch AS (
  SELECT step.op_count, step.dur_ns
  FROM step_window AS step
  CROSS JOIN gpu_window AS gpu
  WHERE EXISTS (SELECT 1 FROM export_fact WHERE fact = 'EXPORT_PRODUCT_VERSION' AND value GLOB '2024.*')
    AND step.part = 'median'
    AND gpu.gpu_id = step.gpu_id
    AND gpu.start_ns = step.start_ns
    AND gpu.end_ns = step.end_ns
    AND step.op_count >= 10
    AND 18000 * step.op_count >= 0.04 * step.dur_ns
    AND 34000 * step.op_count <= gpu.idle_ns
    AND NOT EXISTS (SELECT 1 FROM string WHERE text GLOB 'cu*GraphLaunch*')
  ORDER BY step.dur_ns DESC, step.op_count DESC
  LIMIT 1
),
stacks AS (
  SELECT
    max(fact IN ('TRACE_WITH_STACK')) AS has_stacks,
    group_concat(
      CASE fact
        WHEN 'TRACE_WITH_STACK' THEN 'call stacks'
        WHEN 'TRACE_RECORD_SHAPES' THEN 'shapes'
        WHEN 'TRACE_PROFILE_MEMORY' THEN 'memory'
        WHEN 'TRACE_WITH_FLOPS' THEN 'FLOPs'
        WHEN 'TRACE_WITH_MODULES' THEN 'modules'
      END,
      ', '
    ) AS list,
    (SELECT coalesce(max(events), 0) FROM import_count WHERE category = 'python_function') AS frames
  FROM (
    SELECT fact
    FROM export_fact
    WHERE fact GLOB 'TRACE_*'
      AND value = '1'
    ORDER BY fact = 'TRACE_WITH_STACK' DESC, fact = 'TRACE_RECORD_SHAPES' DESC, fact
  )
),
sampling AS (
  SELECT count(*) AS samples
  FROM work
  CROSS JOIN cpu_sample
  WHERE cpu_sample.at_ns BETWEEN work.start_ns AND work.start_ns + work.span_ns
),
-- Of processes that use one GPU and have a context on another one, which other processes use.
foreign_context AS (
  SELECT DISTINCT context.pid, context.gpu_id
  FROM cuda_context AS context
  WHERE context.pid IN (SELECT pid FROM process_device GROUP BY pid HAVING count(*) = 1)
    AND context.gpu_id IN (SELECT gpu_id FROM process_device WHERE pid <> context.pid)
    AND context.gpu_id NOT IN (SELECT gpu_id FROM process_device WHERE pid = context.pid)
),
shared_gpu AS (
  SELECT gpu_id, count(DISTINCT global_pid) AS processes
  FROM process_device
  WHERE global_pid IS NOT NULL
  GROUP BY gpu_id
  HAVING count(DISTINCT global_pid) > 1
),
-- AMD's recorder lets an operation begin 1 ns after the one before it ended. Some operations tell.
touching AS (
  SELECT count(*) AS gaps, count(*) FILTER (WHERE gap_ns BETWEEN 0 AND 1) AS touching
  FROM (
    SELECT
      start_ns - lag(end_ns) OVER (PARTITION BY global_pid, device_id, stream_id ORDER BY start_ns, op_id) AS gap_ns
    FROM (SELECT * FROM gpu_op LIMIT 5000)
  )
  WHERE gap_ns < 100000
),
-- Operations of calls that the report does not have, and launches that had not run at the end.
early AS (
  SELECT
    count(*) AS early_ops,
    sum(dur_ns) AS early_ns,
    (SELECT sum(launches) FROM outcome WHERE outcome = 'queued') AS waiting
  FROM launch
  WHERE call_id IS NULL
    AND correlation_id <> 0
),
member AS (
  SELECT
    max(count(DISTINCT rank), (SELECT count(*) > 0 FROM export_fact WHERE fact = 'DISTRIBUTED_RANK')) AS here,
    -- A rank without GPU work has no row.
    coalesce(
      max(rank_count),
      (SELECT CAST(max(value) AS INTEGER) FROM export_fact WHERE fact = 'DISTRIBUTED_WORLD_SIZE')
    ) AS ranks
  FROM rank
  WHERE rank IS NOT NULL
),
-- Programs that start the ranks of MPI.
mpi AS (
  SELECT
    (
      SELECT max(name)
      FROM (SELECT replace(process_name, rtrim(process_name, replace(process_name, '/', '')), '') AS name FROM process)
      WHERE name IN ('mpirun', 'mpiexec', 'mpiexec.hydra', 'orted', 'prted', 'prterun')
        OR name GLOB 'hydra_*_proxy'
        OR name GLOB 'hydra_pmi*'
    ) AS launcher,
    EXISTS (SELECT 1 FROM mpi_event) OR EXISTS (SELECT 1 FROM nvtx_domain WHERE domain_name = 'MPI') AS is_traced,
    (SELECT count(DISTINCT pid) FROM process_device) AS processes
),
unlinked AS (
  SELECT sum(launch_count) AS launches
  FROM launch_outcome
  WHERE outcome = 'unlinked'
),
guessed AS (
  SELECT count(*) AS ops
  FROM launch_link
  WHERE rule GLOB '*guess*'
),
-- What the import of a trace could not read.
unread AS (
  SELECT
    max(iif(fact = 'TRACE_SKIPPED_EVENTS', cast(value AS INTEGER), NULL)) AS skipped,
    max(iif(fact = 'TRACE_FIRST_SKIPPED', value, NULL)) AS first_skipped,
    max(iif(fact = 'TRACE_ENDS_AT_LINE', value, NULL)) AS last_line
  FROM export_fact
),
open AS (
  SELECT
    sum(ranges) AS ranges,
    group_concat(iif(nth <= 3, printf('%d of `%s`', ranges, coalesce(event_name, '')), NULL), ', ') AS list,
    max(nth) AS names
  FROM (
    SELECT event_name, count(*) AS ranges, row_number() OVER (ORDER BY count(*) DESC, event_name) AS nth
    FROM unfinished
    WHERE event_kind = 'range'
    GROUP BY event_name
    ORDER BY nth
  )
),
-- Time in which the GPUs waited for work that is not in the report.
unseen AS (
  SELECT
    sum(unseen_ns) AS unseen_ns,
    count(*) AS waits,
    iif(min(pid) = max(pid), printf('process %d', min(pid)), 'the processes') AS who,
    (SELECT sum(window_ns) FROM gpu_window) AS window_ns
  FROM unseen_work
),
problem (rank, severity, problem, detail, remedy) AS (
  SELECT
    -60,
    'partial',
    'failed launches',
    printf(
      '%d of %d %s of process %d failed with error %d%s. They ran nothing.',
      launches,
      all_launches,
      iif(only_graphs, 'graph launches', 'kernel launches'),
      pid,
      outcome.return_value,
      coalesce(printf(' (%s: %s)', error_name, meaning), '')
    ),
    coalesce(cuda_error.remedy, 'nsq run REPORT -q api_errors')
  FROM outcome
  LEFT JOIN cuda_error
    ON cuda_error.return_value = outcome.return_value
  WHERE outcome.outcome = 'failed'
  UNION ALL
  SELECT
    iif(outcome = 'lost', -50, -49),
    iif(launches >= 5 AND 10 * launches >= all_launches, 'partial', 'note'),
    'launches without recorded work',
    printf(
      '%d of %d %s of process %d succeeded, but their GPU work was not recorded%s.',
      launches,
      all_launches,
      CASE WHEN only_graphs THEN 'graph launches' WHEN has_graphs THEN 'launches' ELSE 'kernel launches' END,
      pid,
      iif(outcome = 'queued', ': they had not run when the capture ended, or their records were lost', '')
    ),
    iif(
      is_trace,
      'torch.cuda.synchronize() before the profiler stops, or a newer PyTorch and driver',
      'let the program end by itself after cudaDeviceSynchronize(), or nsys profile --cuda-flush-interval=1000'
    )
  FROM outcome
  CROSS JOIN source
  WHERE outcome = 'lost' AND 100 * launches >= all_launches
    OR outcome = 'queued' AND 5 * launches >= all_launches AND launches >= 10
  UNION ALL
  SELECT
    -48,
    'partial',
    'launches captured into CUDA graphs',
    printf(
      '%d of %d kernel launches of process %d were captured into a CUDA graph, and ran nothing by themselves.',
      launches,
      all_launches,
      pid
    ),
    'record the execution of the graph: start the capture after its warm-up'
  FROM outcome
  WHERE outcome = 'captured' AND 2 * launches >= all_launches AND launches >= 10
  UNION ALL
  SELECT
    -45,
    iif(10 * unseen_ns >= window_ns, 'partial', 'note'),
    'GPU work that is not in the report',
    printf(
      'Work of %s waited %.1f ms (%.1f %% of GPU time) while no recorded work ran: '
        || 'the GPU was busy with work from before the capture, or records are missing.',
      who,
      unseen_ns / 1e6,
      100.0 * unseen_ns / window_ns
    ),
    iif(
      is_trace,
      'torch.cuda.synchronize() before the profiler starts, and a trace with all events',
      'cudaDeviceSynchronize() before the capture starts, and a capture of all processes'
    )
  FROM unseen
  CROSS JOIN source
  WHERE unseen_ns > 0 AND 50 * unseen_ns >= window_ns
  UNION ALL
  SELECT
    -46,
    'partial',
    'sampled trace',
    printf(
      'The trace is a sample: the correlation IDs of its %d CUDA calls are %.0f apart on average, 1 to 20 '
        || 'in complete traces. Counts, idle time and overlap are wrong.',
      call_count,
      id_distance
    ),
    'a trace with all events'
  FROM sampled_call
  UNION ALL
  SELECT
    -44,
    'partial',
    'ranks that share a GPU',
    printf(
      '%d ranks of one NCCL communicator ran on GPU %d. NCCL does not allow this: '
        || 'the report gives several GPUs one number, and figures of this GPU mix them.',
      ranks,
      gpu_id
    ),
    'one report per rank, or an nsys that records the PCI addresses of GPUs'
  FROM shared
  WHERE ranks > 1
  UNION ALL
  SELECT
    -43,
    iif(10 * launches >= ops, 'partial', 'note'),
    'operations without a link to their launch',
    printf(
      '%d of %d GPU operations have no correlation ID that leads to their launch: '
        || 'the recorder lost the link. Idle time before them has no cause, and they are in no range.',
      launches,
      ops
    ),
    iif(is_trace, 'a newer PyTorch, ROCm or driver', 'a newer nsys and driver')
  FROM unlinked
  CROSS JOIN work
  CROSS JOIN source
  WHERE launches > 0 AND ops > 0
  UNION ALL
  SELECT
    -43,
    iif(10 * guessed.ops >= work.ops, 'partial', 'note'),
    'guessed links to launches',
    printf(
      '%d of %d GPU operations have no correlation ID: the recorder lost the link to their launch. '
        || 'They are linked by time and order, which is a guess.',
      guessed.ops,
      work.ops
    ),
    iif(is_trace, 'a newer PyTorch, ROCm or driver', 'a newer nsys and driver')
  FROM guessed
  CROSS JOIN work
  CROSS JOIN source
  WHERE guessed.ops > 0
  UNION ALL
  SELECT
    -42,
    'partial',
    'trace that is cut short',
    printf('The trace ends too soon, in line %s: what followed is not in any figure.', last_line),
    'copy the trace again, or record it again and let the profiler finish'
  FROM unread
  WHERE last_line IS NOT NULL
  UNION ALL
  SELECT
    -41,
    iif(100 * skipped >= (SELECT sum(events) FROM import_count), 'partial', 'note'),
    'events that are not valid JSON',
    printf(
      '%d of %d events of the trace %s not valid JSON and %s left out: the first in %s.',
      skipped,
      (SELECT sum(events) FROM import_count) + skipped,
      iif(skipped = 1, 'is', 'are'),
      iif(skipped = 1, 'is', 'are'),
      first_skipped
    ),
    'a newer version of the program that wrote the trace'
  FROM unread
  WHERE skipped > 0
  UNION ALL
  SELECT
    -40,
    'partial',
    'impossible times',
    printf(
      '%s impossible times and %s left out of all figures: %s.',
      iif(events = 1, '1 event has', printf('%d events have', events)),
      iif(events = 1, 'is', 'are'),
      list
    ),
    iif(
      is_trace,
      'a newer PyTorch, and torch.cuda.synchronize() before the profiler stops',
      'a newer nsys and driver, and a program that ends by itself after cudaDeviceSynchronize()'
    )
  FROM suspect
  CROSS JOIN source
  WHERE events > 0
  UNION ALL
  SELECT
    iif(reason = 'overlaps its stream', -39, -38),
    'partial',
    iif(reason = 'overlaps its stream', 'kernels that overlap their stream', 'GPU work before its launch'),
    iif(
      reason = 'overlaps its stream',
      printf(
        '%s: `%s` lasts %.3f ms, but three later kernels of its stream began within %.3f ms. '
          || 'Figures with it are not reliable.',
        iif(ops = 1, '1 kernel has an end that is too late', printf('%d kernels have ends that are too late', ops)),
        op_name,
        longest_ns / 1e6,
        (other_start_ns - start_ns) / 1e6
      ),
      printf(
        '%s before the call that launched %s: the clocks of CPU and GPU differ, or the calls are wrong. '
          || 'Idle time and its causes are not reliable.',
        iif(ops = 1, '1 GPU operation starts', printf('%d GPU operations start', ops)),
        iif(ops = 1, 'it', 'them')
      )
    ),
    iif(is_trace, 'a newer PyTorch and driver', 'a newer nsys and driver')
  FROM doubt
  CROSS JOIN source
  UNION ALL
  SELECT
    -37,
    'partial',
    'one operation has nearly all GPU time',
    printf(
      'One execution of `%s` takes %.1f ms of %.1f ms of GPU time; the other %d operations take %.1f ms. '
        || 'Means and shares are not reliable.',
      op_name,
      dur_ns / 1e6,
      total_ns / 1e6,
      ops - 1,
      (total_ns - dur_ns) / 1e6
    ),
    'look at this execution in a timeline, and record again'
  FROM outlier
  UNION ALL
  SELECT
    -36,
    'partial',
    'steps without GPU work',
    printf('%d of %d profiler steps have no GPU work in the trace: their GPU time is unknown.', empty, steps),
    'call prof.step() once per iteration, and record fewer steps'
  FROM step
  WHERE steps > 1 AND 2 * empty > steps
  UNION ALL
  SELECT
    -35,
    iif(10 * ranges >= (SELECT count(*) FROM all_nvtx_span), 'partial', 'note'),
    'ranges without an end',
    printf(
      '%d of %d NVTX ranges %s no end: %s%s. %s as open until the last range or CUDA call, and %s length is unknown.',
      ranges,
      (SELECT count(*) FROM all_nvtx_span),
      iif(ranges = 1, 'has', 'have'),
      list,
      iif(names > 3, printf(', and %d more names', names - 3), ''),
      iif(ranges = 1, 'It counts', 'They count'),
      iif(ranges = 1, 'its', 'their')
    ),
    iif(
      is_trace,
      'stop the profiler after the last range ends',
      'end each range in the program, and let it end by itself'
    )
  FROM open
  CROSS JOIN source
  WHERE ranges > 0
  UNION ALL
  SELECT
    1,
    'partial',
    'CUDA graphs traced as a whole',
    printf(
      '%d executions of CUDA graphs, %s of GPU time: the kernels inside are not in the report.',
      executions,
      iif(total_ns < 1e5, printf('%.1f µs', total_ns / 1e3), printf('%.1f ms', total_ns / 1e6))
    ),
    'nsys profile --cuda-graph-trace=node'
  FROM graph
  WHERE executions > 0
  UNION ALL
  SELECT
    2,
    'partial',
    'no CUDA API calls',
    printf('%d GPU operations without the calls that launched them: idle time has no cause, and no range.', ops),
    CASE
      WHEN NOT is_trace THEN 'nsys profile --trace=cuda,nvtx'
      WHEN maker = 'XLA trace' THEN 'a trace with the CUDA calls of the host, or nsys profile --trace=cuda,nvtx'
      WHEN maker = 'Ascend trace' THEN 'activities=[ProfilerActivity.CPU, ProfilerActivity.NPU]'
      ELSE 'activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]'
    END
  FROM work
  CROSS JOIN call
  CROSS JOIN source
  WHERE ops > 0 AND calls = 0
  UNION ALL
  SELECT
    3,
    'partial',
    'CUDA events may be missing',
    printf(
      'nsys warns about %s: "%s"',
      iif(processes = 0, 'the capture', printf('%d of the processes that use CUDA', processes)),
      first_message
    ),
    'let the program end by itself after cudaDeviceSynchronize(), or nsys profile --cuda-flush-interval=1000'
  FROM told
  WHERE about = 'cuda'
  UNION ALL
  SELECT
    4,
    'partial',
    'nsys is older than the driver',
    printf(
      'Kernels and calls may be missing: "%s"',
      -- The first sentence says it.
      substr(first_message, 1, iif(instr(first_message, '. '), instr(first_message, '. '), length(first_message)))
    ),
    'a version of nsys that is as new as the driver'
  FROM told
  WHERE about = 'driver'
  UNION ALL
  SELECT
    5,
    'distorted',
    'profiler overhead',
    printf(
      'Profiling blocked threads for %.1f ms in the %.1f ms from the first to the last GPU operation.',
      total_ns / 1e6,
      window_ns / 1e6
    ),
    'record less: --delay, --duration or --capture-range, and fewer traces in --trace'
  FROM overhead
  WHERE total_ns > 0.02 * window_ns
  UNION ALL
  SELECT
    6,
    iif(is_waiting, 'distorted', 'note'),
    'many ' || CASE
      WHEN event_kind = 'call' THEN 'CUDA calls'
      WHEN is_trace THEN 'recorded operators'
      ELSE 'NVTX ranges'
    END,
    printf(
      '%d %s, %.1f for each GPU operation. %s up to %.1f µs: %.1f ms, %.0f %% of the threads'' time.',
      event_count,
      CASE
        WHEN event_kind = 'call' THEN 'CUDA calls'
        WHEN is_trace THEN 'operators and annotations'
        ELSE 'ranges'
      END,
      1.0 * event_count / op_count,
      iif(is_trace OR event_kind = 'call', 'Recording one takes', 'Push and pop take'),
      cost_ns / 1e3,
      event_count * cost_ns / 1e6,
      thread_pct
    ),
    CASE
      WHEN event_kind = 'call' THEN 'the time of a step without the profiler, to compare'
      WHEN is_trace THEN 'fewer events: a schedule of few steps, and record_shapes=False'
      ELSE 'fewer ranges: for PyTorch without emit_nvtx and --pytorch=autograd-nvtx, with ranges for steps and phases'
    END
  FROM recording_cost
  CROSS JOIN waiting_gpu
  CROSS JOIN source
  -- Longer medians are work of the program: recording takes some tenths of a microsecond, in Python some microseconds.
  WHERE cost_ns < iif(event_kind = 'call', 5000, 50000)
    AND thread_pct >= iif(event_kind = 'call', 10, 5)
    AND NOT EXISTS (SELECT 1 FROM stacks WHERE has_stacks)
  UNION ALL
  SELECT
    6,
    'note',
    'recorded launches',
    printf(
      'Recording takes host time: nsys 2024.2 took 18 to 34 µs for each launch on a host of an H100. At that price, '
        || 'the %d launches of a step take %.1f to %.1f of its %.1f ms.',
      op_count,
      op_count * 18e-3,
      op_count * 34e-3,
      dur_ns / 1e6
    ),
    'the time of a step without the profiler, to compare'
  FROM recorded_launch
  UNION ALL
  SELECT
    6,
    iif(is_waiting AND frames > 2 * ops, 'distorted', 'note'),
    'recorded call stacks',
    printf(
      'Recorded with %s%s: host times are longer than without%s.',
      list,
      iif(frames > 0, printf(' (%d Python calls, %.1f for each GPU operation)', frames, 1.0 * frames / ops), ''),
      iif(
        is_waiting,
        ', and so are steps that wait for the host',
        '. The GPU hardly waits for the host now; after a fix it may'
      )
    ),
    'with_stack=False, record_shapes=False and profile_memory=False, for times'
  FROM stacks
  CROSS JOIN work
  CROSS JOIN waiting_gpu
  WHERE has_stacks AND ops > 0
  UNION ALL
  SELECT
    6,
    'note',
    'CPU sampling',
    printf(
      '%d CPU samples in %.1f ms: sampling interrupts the threads, so host times are a little longer.',
      samples,
      span_ns / 1e6
    ),
    'nsys profile --sample=none, if host times must be exact'
  FROM sampling
  CROSS JOIN work
  WHERE samples > 0
  UNION ALL
  SELECT
    6,
    'note',
    'processes share a GPU',
    printf(
      '%d processes ran work on GPU %d: its figures are of all, and one may wait for the work of another.',
      processes,
      gpu_id
    ),
    'nsq run REPORT -q gpu_time --process PID, for each process by itself'
  FROM shared_gpu
  UNION ALL
  SELECT
    6,
    'note',
    'context on the GPU of another process',
    printf(
      'Process %d has a CUDA context on GPU %d, runs nothing there, and other processes use that GPU: '
        || 'it takes their memory, and creating it takes time.',
      pid,
      gpu_id
    ),
    'call torch.cuda.set_device or cudaSetDevice with the local rank before anything else of CUDA'
  FROM foreign_context
  UNION ALL
  SELECT
    6,
    'partial',
    'kernels that touch',
    printf(
      '%d of %d gaps between operations of a stream are 0 or 1 ns, which no GPU can do: '
        || 'the recorder closed them. Busy time hides the gaps between launches, so idle time is too short.',
      touching,
      gaps
    ),
    'read elapsed times instead of idle time'
  FROM touching
  WHERE gaps >= 40 AND 2 * touching > gaps
  UNION ALL
  SELECT
    7,
    'note',
    'failed CUDA calls',
    printf('%d of %d CUDA API calls returned an error.', failed, calls),
    'nsq run REPORT -q api_errors'
  FROM call
  WHERE failed > 0
  UNION ALL
  SELECT
    8,
    'note',
    'no NVTX ranges',
    'No NVTX ranges: GPU work cannot be attributed to phases or layers of the program.',
    iif(
      is_trace,
      'torch.profiler.record_function around the phases of the program',
      'nsys profile --trace=cuda,nvtx, with ranges in the program; for PyTorch --pytorch=autograd-nvtx'
    )
  FROM work
  CROSS JOIN source
  WHERE ops > 0 AND NOT EXISTS (SELECT 1 FROM nvtx_range)
  UNION ALL
  SELECT
    9,
    'note',
    'NVTX ranges may be missing',
    printf(
      'nsys warns about %s: "%s"',
      iif(processes = 0, 'the capture', printf('%d of the processes that use CUDA', processes)),
      first_message
    ),
    'let the program end by itself, after its last range'
  FROM told
  WHERE about = 'nvtx'
    AND EXISTS (SELECT 1 FROM nvtx_range)
  UNION ALL
  SELECT
    9,
    'note',
    iif(waiting >= 10, 'cut capture', 'operations of earlier launches'),
    printf(
      '%d of %d GPU operations (%.1f ms) were launched before the capture began, '
        || 'or their calls are missing%s.',
      early_ops,
      ops,
      early_ns / 1e6,
      iif(
        waiting >= 10,
        printf(', and %d launches had not run when it ended: the first and the last step are cut', waiting),
        ''
      )
    ),
    iif(
      is_trace,
      'torch.cuda.synchronize() before the profiler starts',
      'cudaDeviceSynchronize() before the capture starts'
    )
  FROM early
  CROSS JOIN work
  CROSS JOIN call
  CROSS JOIN source
  WHERE calls > 0 AND ops > 0 AND (100 * early_ops >= ops OR early_ops >= 10)
  UNION ALL
  SELECT
    9,
    'note',
    'other ranks are missing',
    printf('The report has %d of %d ranks: what a rank waits for may be on another.', here, ranks),
    'nsq run FOLDER -q stragglers with the reports of all ranks'
  FROM member
  WHERE here < ranks
  UNION ALL
  SELECT
    9,
    'note',
    'other ranks are missing',
    'MPI calls of one process only: what it waits for in MPI may be on another rank, which is not in this report.',
    'nsq run FOLDER -q stragglers with the reports of all ranks'
  FROM mpi
  WHERE is_traced
    AND processes = 1
    AND (SELECT coalesce(ranks, 0) FROM member) < 2
  UNION ALL
  SELECT
    8,
    'note',
    'MPI was not traced',
    printf('%s started the program, and no MPI call was recorded: time of the host may be a wait in MPI.', launcher),
    'nsys profile --trace=cuda,nvtx,mpi'
  FROM mpi
  WHERE launcher IS NOT NULL
    AND NOT is_traced
  UNION ALL
  SELECT
    10,
    'note',
    'short capture',
    printf(
      'Short: %d %s in %s. %s',
      kernels,
      iif(kernels = 1, 'kernel', 'kernels'),
      iif(span_ns < 1000000, printf('%.1f µs', span_ns / 1e3), printf('%.1f ms', span_ns / 1e6)),
      iif(kernels = 1, 'One time says little.', 'Averages are unreliable.')
    ),
    'record some tens of steps after the warm-up'
  FROM work
  WHERE kernels > 0
    AND (kernels < 100 OR span_ns < 20000000)
    -- The first steps are apart where some repeat.
    AND NOT EXISTS (SELECT 1 FROM step_window WHERE step_count > 2)
  UNION ALL
  SELECT
    11,
    'note',
    'other messages of nsys',
    printf(
      '%s%s%s. nsq hides their texts, because they may name files and commands.',
      iif(errors > 0, printf('%d %s', errors, iif(errors = 1, 'error', 'errors')), ''),
      iif(errors BETWEEN 1 AND messages - 1, ' and ', ''),
      iif(
        messages > errors,
        printf('%d %s', messages - errors, iif(messages - errors = 1, 'warning', 'warnings')),
        ''
      )
    ),
    'open the report in Nsight Systems to read them'
  FROM told
  WHERE about = 'other'
  UNION ALL
  SELECT
    12,
    'note',
    'processes without CUDA work',
    printf(
      '%d %s about %d %s without CUDA work%s. Normal for launcher processes. '
        || 'If one is a worker, its GPU work was not recorded.',
      messages,
      iif(messages = 1, 'warning', 'warnings'),
      processes,
      iif(processes = 1, 'process', 'processes'),
      coalesce(' ("' || first_message || '")', '')
    ),
    'nsq run REPORT -q process_activity shows whether a worker is among them'
  FROM told
  WHERE about = 'helper'
)
SELECT row_number() OVER (ORDER BY rank, problem, detail) AS rank, severity, problem, detail, remedy
FROM problem
ORDER BY rank
