/*---
name: launch_outcomes
version: 1
title: Launches without GPU work
summary: Launches of each thread that have no GPU work in the report, and why.
why: To see which launches failed, and how much of the GPU's work the report does not show.
kind: sum
tags: [api, capture, cuda, gpu]
reads: [cuda_error, launch_outcome, process]
requires: [cuda_call, launch_outcome]
columns:
  - {name: outcome, type: text, priority: 0, doc: "Why: failed (the call returned an error), captured (into a CUDA graph, which runs it later), unlinked (its operation has no correlation ID), queued (not run when the capture ended), or lost (it succeeded, but its work was not recorded)."}
  - {name: launched, type: text, priority: 1, doc: "What was launched: kernel or graph."}
  - {name: launch_count, type: int, unit: count, label: "launches", priority: 1, doc: "Launches of the thread with this outcome."}
  - {name: all_count, type: int, unit: count, label: "of", priority: 1, doc: "All launches of the thread, of kernels or of graphs."}
  - {name: launch_pct, type: percent, unit: percent, label: "share of thread's launches", priority: 1, doc: "launch_count as a share of all_count."}
  - {name: return_value, type: int, priority: 1, doc: "Error of the launches that failed, with a row for each; null for other outcomes."}
  - {name: error_name, type: text, label: "error", priority: 1, doc: "Name of that error; null for other outcomes, or if nsq does not know the value."}
  - {name: meaning, type: text, priority: 2, doc: "Meaning of that error; null as error_name."}
  - {name: remedy, type: text, priority: 2, doc: "What to do; null as error_name, or if that depends on the program."}
  - {name: first_start_ns, type: timestamp, unit: ns, label: "first launch", priority: 2, doc: "Start of the first of these launches, on the report's clock."}
  - {name: last_start_ns, type: timestamp, unit: ns, label: "last launch", priority: 3, doc: "Start of the last of these launches."}
  - {name: process_name, type: text, label: "process", priority: 3, doc: "Name or path of the executable; null if unknown."}
  - {name: pid, type: id, priority: 2, doc: "Operating system process ID."}
  - {name: tid, type: id, priority: 2, doc: "Operating system thread ID."}
checks:
  - launch_count BETWEEN 1 AND all_count
when_empty: "every launch has GPU work in the report"
limits: >-
  The relation launch_outcome has the rules. Copies and fills are not launches here. Scope options leave out nothing.
see_also: [capture_trust, api_errors, graph_replays]
---*/
SELECT
  outcome.outcome,
  iif(outcome.is_graph, 'graph', 'kernel') AS launched,
  outcome.launch_count,
  outcome.all_count,
  100.0 * outcome.launch_count / outcome.all_count AS launch_pct,
  outcome.return_value,
  cuda_error.error_name,
  cuda_error.meaning,
  cuda_error.remedy,
  outcome.first_start_ns,
  outcome.last_start_ns,
  (SELECT min(process_name) FROM process WHERE process.global_pid = outcome.global_pid) AS process_name,
  outcome.pid,
  outcome.tid
FROM launch_outcome AS outcome
LEFT JOIN cuda_error
  ON cuda_error.return_value = outcome.return_value
ORDER BY
  CASE outcome.outcome
    WHEN 'failed' THEN 1 WHEN 'lost' THEN 2 WHEN 'captured' THEN 3 WHEN 'queued' THEN 4 ELSE 5
  END,
  outcome.launch_count DESC,
  outcome.global_tid,
  outcome.is_graph
