/*---
name: capture
summary: One row per recorded machine, with the length of the capture.
present_if: [src_analysis_details]
reads: [src_analysis_details, src_session_start]
columns:
  - {name: dur_ns, type: duration, unit: ns, doc: "Length of the capture. The report's clock is 0 when the capture starts."}
  - {name: utc_start_ns, type: int, unit: ns, doc: "UTC time at clock 0, in nanoseconds since 1970; null if unknown."}
---*/
SELECT
  duration AS dur_ns,
  (SELECT min(utcEpochNs) FROM src_session_start) AS utc_start_ns
FROM src_analysis_details
