/*---
name: once_costs
version: 3
title: Costs that occur once
summary: What the time of a GPU on which nothing repeats is spent on, longest first.
why: To read a start-up as one account. The gains of single fixes leave most of the time out.
kind: info
internal: true
tags: [cuda, gpu]
reads: [capture_phase]
asks: [{kind: finding}, findings, finding_places, once_parts]
# The findings of a whole capture whose steps are judged take as long as those of the steps.
rows_if: EXISTS (SELECT 1 FROM capture_phase WHERE phase = 'once')
params:
  - {name: row_pct, type: real, default: 2, min: 0, max: 100, doc: "Smallest share of the window for a row of its own, in percent."}
  - {name: shortest_window, type: duration, default: 1ms, min: 0, doc: "Shortest window to account for."}
columns:
  - {name: rank, type: int, label: "#", priority: 1, doc: "Place from 1, most time first; the rest comes last."}
  - {name: gpu_id, type: id, label: "GPU", priority: 1, doc: "The GPU: its number on its machine; the CUDA device ordinal if the export has no GPU numbers. Null for a mean of several GPUs."}
  - {name: cost, type: text, priority: 0, doc: "What it is: before is the time before the first operation of the GPU, and rest all idle parts without a row of their own."}
  - {name: total_ns, type: duration, unit: ns, label: "time", priority: 0, doc: "Its time. Idle parts add up to the idle time of the GPU."}
  - {name: time_pct, type: percent, unit: percent, label: "% of window", priority: 1, doc: "total_ns as a share of the window; null for before, which is outside the window."}
  - {name: look_at, type: text, priority: 1, doc: "Query that lists its places."}
  - {name: subject, type: text, priority: 1, doc: "Call, range or direction with the most time; null if unknown."}
  - {name: subject_ns, type: duration, unit: ns, label: "of that", priority: 1, doc: "Time of the subject; of a range, that in the gaps that host_work lists."}
  - {name: next_subject, type: text, priority: 2, doc: "The next one; null if there is none, or if it has less than a twentieth."}
  - {name: next_subject_ns, type: duration, unit: ns, label: "of the next", priority: 2, doc: "Time of the next one."}
checks:
  - total_ns >= 0
limits: Only for captures in which no step repeats. Findings about GPU work are listed with what their fix gains.
see_also: [findings, gpu_idle_cause_sum]
---*/
WITH
inside AS MATERIALIZED (
  SELECT *
  FROM once_parts
  WHERE part <> 'before'
    AND window_ns >= :shortest_window
),
-- Ranges of the host code: the outermost ones say most.
placed AS (
  SELECT
    iif(instr(range_path, ' / '), substr(range_path, 1, instr(range_path, ' / ') - 1), range_path) AS subject,
    sum(time_pct) AS time_pct
  FROM finding_places
  WHERE finding = 'host_work'
  GROUP BY 1
),
outermost AS (
  SELECT subject, time_pct, row_number() OVER (ORDER BY time_pct DESC, subject) AS nth
  FROM placed
),
host AS (
  SELECT
    max(iif(top_subject = '(no NVTX range)', NULL, top_subject)) AS subject,
    max(iif(top_subject = '(no NVTX range)', NULL, top_subject_pct)) AS subject_pct,
    -- The shares are those of long gaps; nothing says which ranges the other gaps are in.
    max(ceiling_ns / max(gpu_count, 1)) AS placed_ns,
    (SELECT subject FROM outermost WHERE nth = 1) AS outer_subject,
    (SELECT time_pct FROM outermost WHERE nth = 1) AS outer_pct,
    (SELECT subject FROM outermost WHERE nth = 2) AS next_subject,
    (SELECT time_pct FROM outermost WHERE nth = 2) AS next_pct,
    (SELECT count(*) FROM placed) > 1 AS has_ranges
  FROM findings
  WHERE finding = 'host_work'
    AND verdict = 'yes'
),
cost AS (
  SELECT
    gpu_id,
    CASE part
      WHEN 'allocation' THEN 'Allocation'
      WHEN 'code loading' THEN 'Code loading'
      WHEN 'host code' THEN 'Host-bound'
      WHEN 'host sync' THEN 'Synchronization'
      WHEN 'launch calls' THEN 'Launch calls'
      WHEN 'other CUDA calls' THEN 'Other CUDA calls'
      WHEN 'queued' THEN 'Delayed start'
      ELSE 'Unknown'
    END AS cost,
    total_ns,
    100.0 * total_ns / nullif(window_ns, 0) AS time_pct,
    CASE part
      WHEN 'code loading' THEN 'jit_and_module_load'
      WHEN 'host code' THEN 'host_work'
      ELSE 'gpu_idle_causes'
    END AS look_at,
    CASE
      WHEN part <> 'host code' THEN call
      WHEN host.subject IS NOT NULL THEN host.subject
      WHEN host.has_ranges THEN coalesce(host.outer_subject, '(no NVTX range)')
    END AS subject,
    CASE
      WHEN part <> 'host code' THEN call_ns
      WHEN host.subject IS NOT NULL THEN min(total_ns, host.placed_ns) * host.subject_pct / 100
      WHEN host.has_ranges THEN min(total_ns, host.placed_ns) * host.outer_pct / 100
    END AS subject_ns,
    CASE
      WHEN part <> 'host code' THEN next_call
      WHEN host.subject IS NULL AND host.has_ranges THEN coalesce(host.next_subject, '(no NVTX range)')
    END AS next_subject,
    CASE
      WHEN part <> 'host code' THEN next_call_ns
      WHEN host.subject IS NULL AND host.has_ranges THEN min(total_ns, host.placed_ns) * host.next_pct / 100
    END AS next_subject_ns
  FROM inside
  LEFT JOIN host
),
large AS (
  SELECT 1 AS section, *
  FROM cost
  WHERE time_pct >= :row_pct
  UNION ALL
  SELECT
    1,
    iif(
      gpu_count = 1,
      (SELECT min(finding.gpu_id) FROM finding WHERE finding.query = findings.finding AND finding.dur_ns > 0),
      NULL
    ),
    substr(claim, 1, instr(claim, ':') - 1),
    -- As the other rows: the time of a GPU, and not what a replay would save.
    ceiling_ns / max(gpu_count, 1),
    100.0 * ceiling_ns / max(gpu_count, 1) / (SELECT max(window_ns) FROM inside),
    finding,
    top_subject,
    ceiling_ns / max(gpu_count, 1) * top_subject_pct / 100,
    NULL,
    NULL
  FROM findings
  WHERE verdict = 'yes'
    -- What migrates is in no part of the idle time.
    AND (frees <> 'idle' OR finding = 'um_migrations')
    AND adds_pct >= :row_pct
    AND finding <> 'tiny_kernels'
    AND EXISTS (SELECT 1 FROM inside)
  UNION ALL
  SELECT 2, max(gpu_id), 'rest', sum(total_ns), sum(time_pct), 'gpu_idle_causes', NULL, NULL, NULL, NULL
  FROM cost
  WHERE time_pct < :row_pct
  HAVING sum(total_ns) > 0
  UNION ALL
  SELECT 1, gpu_id, 'before', total_ns, NULL, 'cuda_api_trace', call, call_ns, next_call, next_call_ns
  FROM once_parts
  WHERE part = 'before'
    AND EXISTS (SELECT 1 FROM inside)
)
SELECT
  row_number() OVER (ORDER BY section, total_ns DESC, cost) AS rank,
  gpu_id,
  cost,
  total_ns,
  time_pct,
  look_at,
  iif(subject_ns > 0, replace(replace(subject, 'cpu_op:', ''), 'user_annotation:', ''), NULL) AS subject,
  iif(subject_ns > 0, CAST(round(subject_ns) AS INTEGER), NULL) AS subject_ns,
  iif(
    20 * next_subject_ns >= total_ns,
    replace(replace(next_subject, 'cpu_op:', ''), 'user_annotation:', ''),
    NULL
  ) AS next_subject,
  iif(20 * next_subject_ns >= total_ns, CAST(round(next_subject_ns) AS INTEGER), NULL) AS next_subject_ns
FROM large
ORDER BY rank
