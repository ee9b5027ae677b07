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
  - cuda_call
  - cuda_error
  - diagnostic
  - doubtful_op
  - export_fact
  - failed_call
  - gpu_op
  - gpu_window
  - graph_trace
  - launch
  - launch_outcome
  - nccl_call
  - nvtx_name
  - nvtx_projection
  - nvtx_range
  - nvtx_span
  - process_device
  - profiler_overhead
  - rank
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
  that events may be missing although none are. The time of a push and a pop is an estimate from the first 20,000 ranges:
  the first percentile of the time from a push to the next push or pop of its thread, and the same from a pop.
see_also: [report_info, nvtx_coverage, api_errors]
---*/
WITH
source AS (
  SELECT count(*) > 0 AS is_trace
  FROM export_fact
  WHERE fact = 'NSQ_IMPORT_OF'
),
graph AS (
  SELECT count(*) AS executions, coalesce(sum(end_ns - start_ns), 0) AS total_ns
  FROM graph_trace
),
work AS (
  SELECT
    count(*) AS ops,
    count(*) FILTER (WHERE op_kind = 'kernel') AS kernels,
    max(end_ns) - min(start_ns) AS span_ns,
    sum(dur_ns) AS total_ns,
    max(dur_ns) AS longest_ns
  FROM gpu_op
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
range AS (
  SELECT count(*) AS ranges
  FROM nvtx_span
  WHERE event_type = 59
),
-- Enough for the time of a range. LIMIT also makes SQLite store the rows.
sample AS (
  SELECT range_id, global_tid, start_ns, end_ns
  FROM nvtx_span
  WHERE event_type = 59
    AND end_ns IS NOT NULL
    AND (SELECT ranges FROM range) > 2 * (SELECT ops FROM work)
  LIMIT 20000
),
density AS (
  SELECT sum(ranges) AS ranges, sum(span_ns) AS span_ns
  FROM (
    SELECT count(*) AS ranges, max(start_ns) - min(start_ns) AS span_ns
    FROM sample
    GROUP BY global_tid
  )
),
-- Only in the time that figures are about: from the first GPU operation to the last.
overhead AS (
  SELECT coalesce(sum(min(end_ns, to_ns) - max(start_ns, from_ns)), 0) AS total_ns, to_ns - from_ns AS window_ns
  FROM (SELECT min(start_ns) AS from_ns, max(end_ns) AS to_ns FROM gpu_op)
  JOIN profiler_overhead
    ON start_ns < to_ns
    AND end_ns > from_ns
),
cost AS (
  SELECT sum(cost_ns) AS cost_ns
  FROM (
    SELECT min(gap_ns) AS cost_ns
    FROM (
      SELECT is_push, gap_ns, row_number() OVER ends AS nth, count(*) OVER (PARTITION BY is_push) AS gaps
      FROM (
        SELECT is_push, lead(at_ns) OVER (PARTITION BY global_tid ORDER BY at_ns, nth) - at_ns AS gap_ns
        FROM (
          SELECT global_tid, start_ns AS at_ns, 1 AS is_push, range_id AS nth FROM sample
          UNION ALL
          SELECT global_tid, end_ns, 0, -range_id FROM sample
        )
      )
      WHERE gap_ns IS NOT NULL
      WINDOW ends AS (PARTITION BY is_push ORDER BY gap_ns)
    )
    WHERE 100 * nth > gaps
    GROUP BY is_push
  )
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
-- Operations of calls that the report does not have.
early AS (
  SELECT count(*) AS early_ops, sum(dur_ns) AS early_ns
  FROM launch
  WHERE call_id IS NULL
    AND correlation_id <> 0
),
member AS (
  SELECT count(DISTINCT rank) AS here, max(rank_count) AS ranks
  FROM rank
  WHERE rank IS NOT NULL
),
unlinked AS (
  SELECT sum(launch_count) AS launches
  FROM launch_outcome
  WHERE outcome = 'unlinked'
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
-- Time in which work that is not in the report held the GPUs up.
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
      '%d of %d %s of process %d succeeded, and no GPU work of them was recorded%s.',
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
      '%d executions of CUDA graphs, %.1f ms of GPU time: the kernels inside are not in the report.',
      executions,
      total_ns / 1e6
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
    iif(is_trace, 'activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]', 'nsys profile --trace=cuda,nvtx')
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
    printf('Kernels and calls may be missing: "%s"', first_message),
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
    'distorted',
    'many NVTX ranges',
    printf(
      '%d ranges, %.1f for each GPU operation. Push and pop take about %.1f us: '
        || '%.1f ms, %.0f %% of the threads'' time.',
      range.ranges,
      1.0 * range.ranges / ops,
      cost_ns / 1e3,
      range.ranges * cost_ns / 1e6,
      100.0 * density.ranges * cost_ns / density.span_ns
    ),
    iif(
      is_trace,
      'fewer events: with_stack=False, record_shapes=False, and a schedule of few steps',
      'fewer ranges: for PyTorch without emit_nvtx and --pytorch=autograd-nvtx, with ranges for steps and phases'
    )
  FROM range
  CROSS JOIN work
  CROSS JOIN density
  CROSS JOIN cost
  CROSS JOIN source
  WHERE ops > 0
    AND range.ranges > 2 * ops
    -- Longer gaps are work of the program: a push takes some tenths of a microsecond, in Python some microseconds.
    AND cost_ns < 50000
    AND density.ranges * cost_ns > 0.02 * density.span_ns
    AND density.span_ns > 0
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
    'GPU work cannot be attributed to steps, phases or layers of the program.',
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
    'operations of earlier launches',
    printf(
      '%d of %d GPU operations (%.1f ms) were launched before the capture began, or their calls are missing.',
      early_ops,
      ops,
      early_ns / 1e6
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
  WHERE calls > 0 AND 100 * early_ops >= ops AND ops > 0
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
    10,
    'note',
    'short capture',
    printf('%d kernels in %.1f ms: start-up dominates; averages are unreliable.', kernels, span_ns / 1e6),
    'record some tens of steps after the warm-up'
  FROM work
  WHERE ops > 0 AND (kernels < 100 OR span_ns < 20000000)
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
