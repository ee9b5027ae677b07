/*---
name: marker_sum
summary: One row per name of debug markers of a graphics API, with sums over its ranges.
internal: true
present_if: [debug_marker]
reads: [debug_marker, string]
columns:
  - {name: api, type: text, doc: "Graphics API: Direct3D 11, Direct3D 12 or Vulkan."}
  - {name: on_gpu, type: bool, doc: "Whether the times are those of a GPU rather than of the CPU."}
  - {name: total_ns, type: duration, unit: ns, doc: "Sum of the durations; always greater than 0."}
  - {name: ranges, type: int, unit: count, doc: "Number of ranges."}
  - {name: mean_ns, type: duration, unit: ns, doc: "Mean duration of a range."}
  - {name: median_ns, type: duration, unit: ns, doc: "Median duration; the mean of the two middle values if the count is even."}
  - {name: min_ns, type: duration, unit: ns, doc: "Shortest range."}
  - {name: max_ns, type: duration, unit: ns, doc: "Longest range."}
  - {name: stddev_ns, type: duration, unit: ns, doc: "Sample standard deviation of the durations; 0 for one range."}
  - {name: range_name, type: text, doc: "Name of the range."}
  - {name: name_id, type: id, doc: "ID of range_name; faster to group by than the text."}
limits: >-
  Nested ranges count in full, and all threads and GPUs count together. Names with a total of 0 ns are left out, as in
  NVIDIA's reports.
---*/
SELECT
  api,
  on_gpu,
  sum(dur_ns) AS total_ns,
  count(*) AS ranges,
  avg(dur_ns) AS mean_ns,
  median(dur_ns) AS median_ns,
  min(dur_ns) AS min_ns,
  max(dur_ns) AS max_ns,
  stddev(dur_ns) AS stddev_ns,
  (SELECT text FROM string WHERE string_id = name_id) AS range_name,
  name_id
FROM debug_marker
GROUP BY api, on_gpu, name_id
HAVING sum(dur_ns) > 0
