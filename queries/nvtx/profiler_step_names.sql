/*---
name: profiler_step_names
version: 1
title: Names of profiler steps
summary: One row per number of a PyTorch ProfilerStep range and domain.
why: To see which steps a report has, without computing what they launched.
kind: info
tags: [nvtx]
reads: [nvtx_range]
columns:
  - {name: step, type: int, priority: 0, doc: "Number of the step."}
  - {name: domain_name, type: text, label: "domain", priority: 0, doc: "NVTX domain; empty for the default domain, user_annotation in a PyTorch trace."}
  - {name: range_count, type: int, unit: count, label: "ranges", priority: 1, doc: "Ranges with this name: several if several threads or processes have steps."}
when_empty: "no range is named ProfilerStep#N; PyTorch's profiler records one at each prof.step()"
limits: >-
  The domain gpu_user_annotation is left out: PyTorch repeats the steps there, on the GPU's timeline, where nothing is
  launched.
see_also: [profiler_steps, range_names, iterations]
---*/
WITH
named AS (
  SELECT
    CAST(substr(range_text, 14) AS INTEGER) AS step,
    coalesce(domain_name, '') AS domain_name
  FROM nvtx_range
  WHERE range_text GLOB 'ProfilerStep#[0-9]*'
    AND range_text = 'ProfilerStep#' || CAST(substr(range_text, 14) AS INTEGER)
    AND coalesce(domain_name, '') <> 'gpu_user_annotation'
)
SELECT step, domain_name, count(*) AS range_count
FROM named
GROUP BY step, domain_name
ORDER BY step, domain_name
