/*---
name: nvvideo_api_sum
version: 1
title: NvVideo API summary
summary: Time per function of NVENC, NVDEC and nvJPEG, largest total first.
why: To see the CPU time of video and image coding.
kind: sum
tags: [api]
reads: [video_call, string]
requires: [video_call]
columns:
  - {name: time_pct, type: percent, unit: percent, label: "share of API time", priority: 1, doc: "total_ns as a share of the sum over all rows."}
  - {name: total_ns, type: duration, unit: ns, priority: 1, doc: "Sum of the durations over all threads."}
  - {name: calls, type: int, unit: count, priority: 1, doc: "Number of calls."}
  - {name: mean_ns, type: duration, unit: ns, priority: 1, doc: "Mean duration of a call."}
  - {name: median_ns, type: duration, unit: ns, priority: 1, doc: "Median duration; the mean of the two middle values if the count is even."}
  - {name: min_ns, type: duration, unit: ns, priority: 3, doc: "Shortest call."}
  - {name: max_ns, type: duration, unit: ns, priority: 3, doc: "Longest call."}
  - {name: stddev_ns, type: duration, unit: ns, priority: 3, doc: "Sample standard deviation of the durations; 0 for one call."}
  - {name: api_kind, type: text, label: "API", priority: 0, doc: "API: Encoder, Decoder or JPEG."}
  - {name: api_symbol, type: text, label: "API function", priority: 0, doc: "Function name as recorded."}
checks:
  - calls >= 1
  - time_pct BETWEEN 0 AND 100
  - median_ns BETWEEN min_ns AND max_ns
when_empty: "no call of NVENC, NVDEC or nvJPEG was recorded"
limits: >-
  Times are those of the calls on the CPU, not of the engines of the GPU. Times of all threads are added up.
see_also: [cuda_api_sum]
nsys:
  title: NvVideo API Summary
  lacks:
    - {says: "NvVideo trace data"}
  columns:
    - {name: Time, unit: percent, sql: time_pct}
    - {name: Total Time, unit: ns, sql: total_ns}
    - {name: Num Calls, sql: calls}
    - {name: Avg, unit: ns, sql: mean_ns}
    - {name: Med, unit: ns, sql: median_ns}
    - {name: Min, unit: ns, sql: min_ns}
    - {name: Max, unit: ns, sql: max_ns}
    - {name: StdDev, unit: ns, sql: stddev_ns}
    - {name: Event Type, sql: api_kind}
    - name: Name
      sql: >-
        CASE WHEN api_symbol GLOB '*_v[0-9][0-9][0-9][0-9]'
        THEN substr(api_symbol, 1, length(api_symbol) - 6) ELSE api_symbol END
---*/
WITH
by_name AS (
  SELECT
    api_kind,
    name_id,
    sum(dur_ns) AS total_ns,
    count(*) AS calls,
    avg(dur_ns) AS mean_ns,
    median(dur_ns) AS median_ns,
    min(dur_ns) AS min_ns,
    max(dur_ns) AS max_ns,
    stddev(dur_ns) AS stddev_ns
  FROM video_call
  GROUP BY api_kind, name_id
)
SELECT
  100.0 * total_ns / nullif(sum(total_ns) OVER (), 0) AS time_pct,
  total_ns,
  calls,
  mean_ns,
  median_ns,
  min_ns,
  max_ns,
  stddev_ns,
  api_kind,
  (SELECT text FROM string WHERE string_id = name_id) AS api_symbol
FROM by_name
ORDER BY total_ns DESC, calls DESC, api_symbol, api_kind, name_id
