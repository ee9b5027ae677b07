/*---
name: tiny_kernels
version: 1
title: Runs of many tiny kernels
summary: Gaps between tiny kernels of one stream, and the kernels that fusion would save.
why: To see how much time kernel fusion could save at most.
kind: finding
tags: [cuda, gpu, kernel]
reads: [all_kernel, gpu_gap, gpu_window, string]
requires: [gpu_gap, all_kernel]
finding:
  claim: The GPU runs many tiny kernels one after the other on one stream, with a gap after each.
  ceiling: The gaps between these kernels, and of elementwise kernels in a row all but the last. Other kernels do not count, although fused kernels would also read and write less.
  remedy: Fuse the kernels, in PyTorch with torch.compile or fused=True in optimizers, or give each more work with a larger batch. A CUDA graph makes the gaps shorter.
  link: https://docs.pytorch.org/docs/stable/generated/torch.compile.html
  confidence: medium
  narrows: [below_roofline]
params:
  - {name: kernels, type: int, default: 8, min: 2, doc: "Smallest number of kernels in a run."}
  - {name: longest, type: duration, default: 10us, min: 0, doc: "A tiny kernel is shorter than this."}
  - {name: gap, type: duration, default: 10us, min: 0, doc: "A run ends at a gap of this length or longer."}
  - {name: least_pct, type: real, default: 0.5, min: 0, doc: "Smallest share of the GPU's window, in percent, that all rows of a GPU must save."}
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: start_ns, type: timestamp, unit: ns, priority: 1, doc: "Start of the gap or of the elementwise kernel before it, on the report's clock."}
  - {name: dur_ns, type: duration, unit: ns, priority: 1, doc: "Length of the gap, with the elementwise kernel before it if another one follows."}
  - {name: subject, type: text, label: "kernel after the gap", priority: 0, doc: "Function name of the kernel after the gap."}
  - {name: run_kernels, type: int, unit: count, label: "kernels in the run", doc: "Kernels of the run that the gap is in."}
  - {name: kernel_id, type: id, label: "row of the kernel", priority: 3, doc: "Row ID of the kernel after the gap in the raw table."}
checks:
  - dur_ns > 0
  - run_kernels >= 2
when_empty: "no run of tiny kernels on one stream has notable gaps"
limits: >-
  Kernels that cannot be fused, such as those of libraries, keep their gaps. Recording the capture makes gaps longer. If
  the gaps come from slow launches, launch_bound has them too. A kernel that overlaps with other work ends a run.
see_also: [few_blocks, gap_histogram, gap_pairs, kernel_stats]
---*/
WITH
elementwise AS MATERIALIZED (
  SELECT text
  FROM string
  WHERE lower(text) GLOB '*elementwise*'
),
-- Gaps of the whole GPU between two tiny kernels of one stream.
gap AS MATERIALIZED (
  SELECT
    gpu_id,
    start_ns,
    dur_ns,
    before_ns,
    before_id,
    after_id,
    before_name IN (SELECT text FROM elementwise) AND after_name IN (SELECT text FROM elementwise) AS is_fused
  FROM gpu_gap
  WHERE level = 'gpu'
    AND dur_ns < :gap
    AND before_ns < :longest
    AND after_ns < :longest
    AND is_in_stream
    AND before_kind = 'kernel'
    AND after_kind = 'kernel'
),
-- A gap continues a run if the kernel before it is the kernel after another gap.
numbered AS MATERIALIZED (
  SELECT
    *,
    sum(before_id NOT IN (SELECT after_id FROM gap)) OVER (
      PARTITION BY gpu_id
      ORDER BY start_ns
      ROWS UNBOUNDED PRECEDING
    ) AS run
  FROM gap
),
run AS MATERIALIZED (
  SELECT gpu_id, run, count(*) + 1 AS run_kernels, sum(dur_ns + iif(is_fused, before_ns, 0)) AS total_ns
  FROM numbered
  GROUP BY gpu_id, run
  HAVING count(*) + 1 >= :kernels
),
gpu AS (
  SELECT run.gpu_id
  FROM run
  JOIN gpu_window
    ON gpu_window.gpu_id = run.gpu_id
  GROUP BY run.gpu_id
  HAVING 100.0 * sum(run.total_ns) >= :least_pct * max(gpu_window.window_ns)
)
SELECT
  numbered.gpu_id,
  numbered.start_ns - iif(numbered.is_fused, numbered.before_ns, 0) AS start_ns,
  numbered.dur_ns + iif(numbered.is_fused, numbered.before_ns, 0) AS dur_ns,
  simple_name(coalesce(kernel.kernel_name, '(no name)')) AS subject,
  run.run_kernels,
  numbered.after_id AS kernel_id
FROM numbered
JOIN gpu
  ON gpu.gpu_id = numbered.gpu_id
JOIN run
  ON run.gpu_id = numbered.gpu_id
  AND run.run = numbered.run
LEFT JOIN all_kernel AS kernel
  ON kernel.kernel_id = numbered.after_id
ORDER BY numbered.gpu_id, numbered.start_ns, numbered.after_id
