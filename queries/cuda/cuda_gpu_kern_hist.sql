/*---
name: cuda_gpu_kern_hist
version: 1
title: Histogram of kernel durations
summary: Runs of each kernel by execution time, in bins from 1, 2 and 5 times 10^n ns.
why: To see whether a kernel has one typical duration or several, which a mean hides.
kind: sum
tags: [cuda, gpu, kernel]
reads: [kernel, string]
requires: [kernel]
params:
  - {name: kernel, type: text, default: "*", doc: "GLOB pattern for the kernel name, the short or the demangled one."}
  - {name: each, type: bool, default: true, doc: "One histogram per kernel; false counts all matching kernels in one."}
  - {name: limit, type: int, default: 20, min: -1, doc: "Number of kernels, those with the most time first; -1 returns all."}
columns:
  - {name: rank, type: int, label: "#", priority: 3, doc: "Position of the kernel by time, from 1."}
  - {name: kernel_name, type: text, label: "kernel", priority: 0, doc: "Demangled name; null with -p each=false."}
  - {name: from_ns, type: duration, unit: ns, label: "from", priority: 0, doc: "Shortest execution time of the bin; 0 for the first one."}
  - {name: below_ns, type: duration, unit: ns, label: "to below", priority: 0, doc: "End of the bin: the first execution time that is too long for it."}
  - {name: kernel_count, type: int, unit: count, label: "runs", priority: 1, doc: "Runs with this execution time; 0 for an empty bin between others."}
  - {name: total_ns, type: duration, unit: ns, priority: 1, doc: "Sum of their execution times."}
  - {name: count_pct, type: percent, unit: percent, label: "share of its runs", priority: 1, doc: "kernel_count as a share of the runs of this kernel."}
  - {name: time_pct, type: percent, unit: percent, label: "share of its time", priority: 1, doc: "total_ns as a share of the time of this kernel."}
  - {name: upto_pct, type: percent, unit: percent, label: "cumulative share of its runs", priority: 2, doc: "Share of the runs of this kernel that are in this bin or a shorter one."}
  - {name: of_runs, type: int, unit: count, label: "runs in all", priority: 3, doc: "All runs of this kernel."}
checks:
  - from_ns < below_ns AND kernel_count >= 0
  - total_ns >= kernel_count * from_ns
when_empty: "no kernel name matches -p kernel=GLOB; top_kernels lists the names, and a part of a name needs stars: *gemm*"
limits: >-
  Bins have the same borders for all kernels. Bins between the shortest and the longest run of a kernel have a row, even if
  empty. Kernels of a CUDA graph traced as a whole are not included.
see_also: [cuda_gpu_kern_pace, top_kernels, kernel_stats, gap_histogram]
---*/
WITH RECURSIVE
wanted AS MATERIALIZED (
  SELECT name_id, short_name_id
  FROM (SELECT DISTINCT name_id, short_name_id FROM kernel)
  WHERE (SELECT text FROM string WHERE string_id = name_id) GLOB :kernel
    OR (SELECT text FROM string WHERE string_id = short_name_id) GLOB :kernel
),
-- The digits of a time give its bin: three bins per number of digits, from 1, from 2 and from 5. Bin -1 has the time 0.
counted AS MATERIALIZED (
  SELECT
    iif(:each, kernel.name_id, NULL) AS name_id,
    CASE kernel.dur_ns
      WHEN 0 THEN -1
      ELSE
        3 * (length(kernel.dur_ns) - 1)
          + (substr(kernel.dur_ns, 1, 1) >= '2')
          + (substr(kernel.dur_ns, 1, 1) >= '5')
    END AS bin,
    count(*) AS kernel_count,
    sum(kernel.dur_ns) AS total_ns
  FROM kernel
  JOIN wanted
    ON wanted.name_id = kernel.name_id
    AND wanted.short_name_id = kernel.short_name_id
  GROUP BY iif(:each, kernel.name_id, NULL), bin
),
named AS MATERIALIZED (
  SELECT
    name_id,
    (SELECT text FROM string WHERE string_id = name_id) AS kernel_name,
    min(bin) AS first_bin,
    max(bin) AS last_bin,
    sum(kernel_count) AS of_runs,
    sum(total_ns) AS of_ns
  FROM counted
  GROUP BY name_id
),
ranked AS MATERIALIZED (
  SELECT *, row_number() OVER (ORDER BY of_ns DESC, of_runs DESC, kernel_name, name_id) AS rank
  FROM named
),
bin (rank, name_id, bin, last_bin) AS (
  SELECT rank, name_id, first_bin, last_bin
  FROM ranked
  WHERE :limit < 0 OR rank <= :limit
  UNION ALL
  SELECT rank, name_id, bin + 1, last_bin
  FROM bin
  WHERE bin < last_bin
),
filled AS (
  SELECT
    bin.rank,
    bin.bin,
    coalesce(counted.kernel_count, 0) AS kernel_count,
    coalesce(counted.total_ns, 0) AS total_ns
  FROM bin
  LEFT JOIN counted
    ON counted.name_id IS NOT DISTINCT FROM bin.name_id
    AND counted.bin = bin.bin
)
SELECT
  filled.rank,
  ranked.kernel_name,
  CASE
    WHEN filled.bin < 0 THEN 0
    ELSE CAST(substr('125', filled.bin % 3 + 1, 1) || substr('000000000000000000', 1, filled.bin / 3) AS INTEGER)
  END AS from_ns,
  CAST(
    substr('125', (filled.bin + 1) % 3 + 1, 1) || substr('0000000000000000000', 1, (filled.bin + 1) / 3) AS INTEGER
  ) AS below_ns,
  filled.kernel_count,
  filled.total_ns,
  100.0 * filled.kernel_count / ranked.of_runs AS count_pct,
  100.0 * filled.total_ns / nullif(ranked.of_ns, 0) AS time_pct,
  100.0 * sum(filled.kernel_count) OVER (PARTITION BY filled.rank ORDER BY filled.bin) / ranked.of_runs AS upto_pct,
  ranked.of_runs
FROM filled
JOIN ranked
  ON ranked.rank = filled.rank
ORDER BY filled.rank, filled.bin
