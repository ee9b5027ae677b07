/*---
name: capture_trust
version: 1
title: What the capture does not show
summary: What is missing from the capture or distorts its figures, worst first.
why: To know how far to trust the other answers, and how to record better next time.
kind: info
tags: [capture, cuda, gpu, nvtx]
reads: [cuda_call, export_fact, gpu_op, graph_trace, nvtx_range, profiler_overhead]
requires: [gpu_op | graph_trace | cuda_call | nvtx_range]
columns:
  - {name: rank, type: int, priority: 3, doc: "Rank, from 1; 1 matters most."}
  - {name: severity, type: text, priority: 1, doc: "partial: part of the work is not seen; distorted: the capture itself took time; note: a limit to know."}
  - {name: problem, type: text, priority: 0, doc: "What is missing or distorted."}
  - {name: detail, type: text, priority: 0, doc: "What that means here, with the numbers of this report."}
  - {name: remedy, type: text, priority: 1, doc: "How to record it better."}
when_empty: "nothing that the report shows makes its figures doubtful"
limits: >-
  Only problems that show in the report: events that were dropped without a trace are not among them.
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
    max(end_ns) - min(start_ns) AS span_ns
  FROM gpu_op
),
overhead AS (
  SELECT coalesce(sum(dur_ns), 0) AS total_ns
  FROM profiler_overhead
),
call AS (
  SELECT
    count(*) AS calls,
    count(*) FILTER (WHERE return_value <> 0) AS failed,
    max(end_ns) - min(start_ns) AS call_span_ns
  FROM cuda_call
),
problem (rank, severity, problem, detail, remedy) AS (
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
    'distorted',
    'profiler overhead',
    printf(
      'The profiler held up threads for %.1f ms, beside %.1f ms from the first to the last CUDA call.',
      overhead.total_ns / 1e6,
      call_span_ns / 1e6
    ),
    'record less: --delay, --duration or --capture-range, and fewer traces in --trace'
  FROM overhead
  CROSS JOIN call
  WHERE overhead.total_ns > 0.02 * call_span_ns
  UNION ALL
  SELECT
    4,
    'note',
    'failed CUDA calls',
    printf('%d of %d CUDA API calls returned an error.', failed, calls),
    'nsq run REPORT -q api_errors'
  FROM call
  WHERE failed > 0
  UNION ALL
  SELECT
    5,
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
    6,
    'note',
    'short capture',
    printf('%d kernels in %.1f ms: start-up weighs much, and means are uncertain.', kernels, span_ns / 1e6),
    'record some tens of steps after the warm-up'
  FROM work
  WHERE ops > 0 AND (kernels < 100 OR span_ns < 20000000)
)
SELECT row_number() OVER (ORDER BY rank) AS rank, severity, problem, detail, remedy
FROM problem
ORDER BY rank
