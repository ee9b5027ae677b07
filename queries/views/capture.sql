/*---
name: capture
summary: One row per recorded machine, with the length of the capture.
present_if: [src_analysis_details]
reads: [src_analysis_details, src_session_start]
columns:
  - {name: dur_ns, type: duration, unit: ns, doc: "Length of the capture; the report's clock starts at 0 with it."}
  - {name: utc_start_ns, type: int, unit: ns, doc: "Nanoseconds since 1970 (UTC) at the report's 0; null if unknown."}
---*/
SELECT
  duration AS dur_ns,
  (SELECT min(utcEpochNs) FROM src_session_start) AS utc_start_ns
FROM src_analysis_details
