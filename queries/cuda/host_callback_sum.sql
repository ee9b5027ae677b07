/*---
name: host_callback_sum
version: 1
title: Host functions called from CUDA streams
summary: Time per host function that streams or CUDA graphs called, most time first.
why: To see what streams wait for on the host.
kind: sum
tags: [cuda]
reads: [host_callback, string]
requires: [host_callback]
columns:
  - {name: function_name, type: text, label: "function", priority: 0, doc: "Name of the function; null if unknown."}
  - {name: calls, type: int, unit: count, priority: 1, doc: "Number of calls."}
  - {name: total_ns, type: duration, unit: ns, label: "total", priority: 1, doc: "Sum of call durations over all threads."}
  - {name: time_pct, type: percent, unit: percent, label: "share of callback time", priority: 1, doc: "total_ns as a share of all rows."}
  - {name: mean_ns, type: duration, unit: ns, label: "mean", priority: 1, doc: "Mean duration of a call."}
  - {name: median_ns, type: duration, unit: ns, label: "median", priority: 1, doc: "Median duration of a call."}
  - {name: max_ns, type: duration, unit: ns, label: "longest", priority: 1, doc: "Longest call."}
checks:
  - calls >= 1 AND total_ns >= max_ns
limits: The stream waits while its function runs; work on other streams goes on.
see_also: [cuda_api_sum, stream_gaps]
---*/
WITH
summed AS (
  SELECT
    name_id,
    count(*) AS calls,
    sum(dur_ns) AS total_ns,
    avg(dur_ns) AS mean_ns,
    median(dur_ns) AS median_ns,
    max(dur_ns) AS max_ns
  FROM host_callback
  GROUP BY name_id
)
SELECT
  (SELECT text FROM string WHERE string_id = name_id) AS function_name,
  calls,
  total_ns,
  100.0 * total_ns / nullif(sum(total_ns) OVER (), 0) AS time_pct,
  mean_ns,
  median_ns,
  max_ns
FROM summed
ORDER BY total_ns DESC, calls DESC, function_name, name_id
