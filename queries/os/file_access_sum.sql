/*---
name: file_access_sum
version: 1
title: File access summary
summary: Calls, bytes and time of file accesses per class of file, most time first.
why: To see which kind of file a program reads and writes, and how fast.
kind: sum
tags: [osrt]
reads: [file_access, opened_file]
requires: [file_access]
params:
  - {name: paths, type: bool, default: false, doc: "Return a row per path instead of per class and extension. Paths can be private."}
  - {name: file_class, type: text, default: "*", doc: "GLOB pattern for the class of file, such as model."}
columns:
  - {name: file_class, type: text, label: "class", priority: 0, doc: "Class of the files by their path, as in opened_file: device, system, shared memory, library, Python, model, data, other, or unknown without a path."}
  - {name: extension, type: text, priority: 0, doc: "Last suffix of the file names, in lower case; null if there is none."}
  - {name: file_path, type: text, label: "path", priority: 0, doc: "Path as the program gave it; null without -p paths=true, and if unknown."}
  - {name: files, type: int, unit: count, priority: 1, doc: "Paths that were accessed; without paths, opened files."}
  - {name: calls, type: int, unit: count, priority: 1, doc: "Number of calls."}
  - {name: total_ns, type: duration, unit: ns, priority: 1, doc: "Sum of call durations over all threads."}
  - {name: time_pct, type: percent, unit: percent, label: "share of file time", priority: 1, doc: "total_ns as a share of all rows."}
  - {name: read_bytes, type: bytes, unit: bytes, label: "read", priority: 1, doc: "Bytes read."}
  - {name: written_bytes, type: bytes, unit: bytes, label: "written", priority: 1, doc: "Bytes written."}
  - {name: read_bytes_per_s, type: real, unit: bytes_per_s, label: "read rate", doc: "read_bytes per time in calls that read; null without these calls."}
  - {name: written_bytes_per_s, type: real, unit: bytes_per_s, label: "write rate", doc: "written_bytes per time in calls that write; null without these calls."}
  - {name: opens, type: int, unit: count, doc: "Calls that open a file."}
  - {name: reads, type: int, unit: count, doc: "Calls that read."}
  - {name: writes, type: int, unit: count, doc: "Calls that write."}
  - {name: closes, type: int, unit: count, priority: 3, doc: "Calls that close a file."}
  - {name: other_calls, type: int, unit: count, priority: 3, doc: "Calls that read or change metadata, and calls of unknown kind."}
  - {name: read_ns, type: duration, unit: ns, label: "read time", priority: 3, doc: "Time in calls that read."}
  - {name: written_ns, type: duration, unit: ns, label: "write time", priority: 3, doc: "Time in calls that write."}
  - {name: longest_ns, type: duration, unit: ns, priority: 3, doc: "Longest call."}
checks:
  - calls = opens + reads + writes + closes + other_calls
  - total_ns >= read_ns + written_ns AND read_bytes >= 0 AND written_bytes >= 0
when_empty: "no file access matches the class of -p file_class"
limits: >-
  Rates are those of calls: data in the page cache is read at the speed of memory. Files that are mapped into memory are
  read without a call. Times of all threads are added up. The class is derived from the path alone.
see_also: [osrt_sum, syscall_sum, gpu_idle_host]
---*/
WITH
-- Group by file and kind before looking up paths: it is many times faster.
by_kind AS MATERIALIZED (
  SELECT
    file_id,
    access_kind,
    count(*) AS calls,
    sum(dur_ns) AS total_ns,
    max(dur_ns) AS longest_ns,
    sum(size_bytes) AS size_bytes
  FROM file_access
  GROUP BY file_id, access_kind
),
file AS MATERIALIZED (
  SELECT file_id, file_path, extension, file_class
  FROM opened_file
),
placed AS MATERIALIZED (
  SELECT
    by_kind.*,
    coalesce(file.file_class, 'unknown') AS file_class,
    file.extension,
    file.file_path
  FROM by_kind
  LEFT JOIN file
    ON file.file_id = by_kind.file_id
)
SELECT
  file_class,
  extension,
  iif(:paths, file_path, NULL) AS file_path,
  iif(count(file_path) > 0, count(DISTINCT file_path), count(DISTINCT file_id)) AS files,
  sum(calls) AS calls,
  sum(total_ns) AS total_ns,
  100.0 * sum(total_ns) / nullif(sum(sum(total_ns)) OVER (), 0) AS time_pct,
  sum(iif(access_kind = 'read', size_bytes, 0)) AS read_bytes,
  sum(iif(access_kind = 'write', size_bytes, 0)) AS written_bytes,
  1e9 * sum(iif(access_kind = 'read', size_bytes, NULL)) / nullif(sum(iif(access_kind = 'read', total_ns, 0)), 0)
    AS read_bytes_per_s,
  1e9 * sum(iif(access_kind = 'write', size_bytes, NULL)) / nullif(sum(iif(access_kind = 'write', total_ns, 0)), 0)
    AS written_bytes_per_s,
  sum(iif(access_kind = 'open', calls, 0)) AS opens,
  sum(iif(access_kind = 'read', calls, 0)) AS reads,
  sum(iif(access_kind = 'write', calls, 0)) AS writes,
  sum(iif(access_kind = 'close', calls, 0)) AS closes,
  sum(iif(access_kind IN ('open', 'read', 'write', 'close'), 0, calls)) AS other_calls,
  sum(iif(access_kind = 'read', total_ns, 0)) AS read_ns,
  sum(iif(access_kind = 'write', total_ns, 0)) AS written_ns,
  max(longest_ns) AS longest_ns
FROM placed
WHERE file_class GLOB :file_class
GROUP BY file_class, extension, iif(:paths, file_path, NULL)
ORDER BY total_ns DESC, calls DESC, file_class, extension, file_path
