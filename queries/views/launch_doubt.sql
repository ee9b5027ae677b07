/*---
name: launch_doubt
summary: One row per kind of launch without recorded work, and one for calls that failed or are recorded twice.
internal: true
present_if: [launch_outcome, failed_call, second_call_row]
reads: [cuda_call, cuda_error, failed_call, gpu, graph_trace, kernel, launch_outcome, report_source, second_call_row]
columns:
  - {name: priority, type: int, doc: "Order in capture_trust, lowest first; the hundreds are explained there."}
  - {name: severity, type: text, doc: "partial, distorted or note, as in capture_trust."}
  - {name: problem, type: text, doc: "What is missing or distorted."}
  - {name: detail, type: text, doc: "What that means here, with the numbers of this report."}
  - {name: remedy, type: text, doc: "How to record it better."}
limits: >-
  launch_outcome and failed_call have the rules. Lost launches are a row from 1 % of the launches of a process on,
  because a few are lost at the end of most captures; those that had not run from 20 % on, and those captured into a
  graph from 50 % on, with 10 or more.
---*/
WITH
-- Launches of kernels and of graphs are counted together.
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
)
SELECT
  100 AS priority,
  'partial' AS severity,
  'failed launches' AS problem,
  printf(
    '%d of %d %s of process %d failed with error %d%s. They ran nothing.',
    launches,
    all_launches,
    iif(only_graphs, 'graph launches', 'kernel launches'),
    pid,
    outcome.return_value,
    coalesce(printf(' (%s: %s)', error_name, meaning), '')
  ) AS detail,
  coalesce(
    replace(
      cuda_error.remedy,
      '_XX',
      -- Where all GPUs are of one kind.
      (
        SELECT iif(count(DISTINCT compute_capability) = 1, '_' || replace(max(compute_capability), '.', ''), '_XX')
        FROM gpu
      )
    ),
    'nsq run REPORT -q api_errors'
  ) AS remedy
FROM outcome
LEFT JOIN cuda_error
  ON cuda_error.return_value = outcome.return_value
WHERE outcome.outcome = 'failed'
UNION ALL
SELECT
  iif(outcome = 'lost', 105, 110),
  iif(launches >= 5 AND 10 * launches >= all_launches, 'partial', 'note'),
  'launches without recorded work',
  printf(
    '%d of %d %s of %s succeeded, but their GPU work was not recorded%s.',
    launches,
    all_launches,
    CASE WHEN only_graphs THEN 'graph launches' WHEN has_graphs THEN 'launches' ELSE 'kernel launches' END,
    iif(process_count = 1, 'process ' || pid, process_count || ' processes'),
    iif(outcome = 'queued', ': they had not run when the capture ended, or their records were lost', '')
  ),
  CASE
    WHEN is_trace AND outcome = 'queued' THEN wait_call || ' before the profiler stops'
    WHEN is_trace THEN wait_call || ' before the profiler stops, or a newer ' || recorder || ' and driver'
    WHEN outcome = 'queued' THEN 'let the program end by itself after cudaDeviceSynchronize(), or record for longer'
    ELSE 'let the program end by itself after cudaDeviceSynchronize(), or nsys profile --cuda-flush-interval=1000'
  END
FROM (
  SELECT
    outcome,
    count(*) AS process_count,
    min(pid) AS pid,
    sum(launches) AS launches,
    sum(all_launches) AS all_launches,
    min(only_graphs) AS only_graphs,
    max(has_graphs) AS has_graphs
  FROM outcome
  WHERE outcome = 'lost' AND 100 * launches >= all_launches
    OR outcome = 'queued' AND 5 * launches >= all_launches AND launches >= 10
  GROUP BY outcome
) AS unrecorded
CROSS JOIN report_source
UNION ALL
SELECT
  115,
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
  -- Where the graph ran, its work is in the report.
  AND NOT EXISTS (SELECT 1 FROM kernel WHERE graph_node_id > 0)
  AND NOT EXISTS (SELECT 1 FROM graph_trace)
UNION ALL
SELECT
  400,
  'note',
  'failed CUDA calls',
  printf('%d of %d CUDA API calls returned an error.', count(*), (SELECT count(*) FROM cuda_call)),
  'nsq run REPORT -q api_errors'
FROM failed_call
HAVING count(*) > 0
UNION ALL
SELECT
  405,
  'note',
  'CUDA calls with a second row',
  printf(
    '%d CUDA calls have a second row, of --cudabacktrace: cuda_api_sum counts both, as nsys stats does.',
    count(*)
  ),
  'nsq run REPORT -q cuda_api_costs, which counts each call once'
FROM second_call_row
HAVING count(*) > 0
