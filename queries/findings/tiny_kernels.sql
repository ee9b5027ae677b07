/*---
name: tiny_kernels
version: 1
title: Runs of many tiny kernels
summary: Gaps between tiny kernels of one stream, and the kernels that fusion would save.
why: To see how much time kernel fusion could save, as an upper bound.
kind: finding
tags: [cuda, gpu, kernel]
reads: [gpu_window, kernel_run, string]
requires: [gpu_gap, all_kernel]
finding:
  claim: "Tiny kernels: many short kernels run one after the other on one stream, with a gap after each."
  ceiling: The gaps between these kernels, and of elementwise kernels in a row all but the last. Other kernels do not count, although fused kernels would also read and write less.
  remedy: >-
    Fuse the kernels, or give each more work with a larger batch. A CUDA graph makes the gaps shorter.
  in_pytorch: >-
    torch.compile, torch._foreach functions for lists of tensors (moving averages of weights, clipping), and fused=True in optimizers.
  link: https://docs.pytorch.org/docs/stable/generated/torch.compile.html
  confidence: medium
  edit: "idle=@\nwork=@"
  frees: idle
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
  SELECT string_id
  FROM string
  WHERE lower(text) GLOB '*elementwise*'
),
-- It has several readers, which read it in order.
gap AS NOT MATERIALIZED (
  SELECT
    gpu_id,
    start_ns,
    dur_ns,
    run_kernels,
    after_id,
    after_name_id,
    -- Fused, two elementwise kernels are one: the gap goes, and the kernel before it.
    iif(
      before_name_id IN (SELECT string_id FROM elementwise) AND after_name_id IN (SELECT string_id FROM elementwise),
      before_ns,
      0
    ) AS saved_ns
  FROM kernel_run
  WHERE longest_ns = :longest
    AND below_ns = :gap
    AND run_kernels >= :kernels
),
summed AS MATERIALIZED (
  SELECT v0 AS gpu_id, v1 AS after_name_id, v3 AS total_ns
  FROM json_rows((SELECT sums_by(dur_ns + saved_ns, gpu_id, after_name_id) FROM gap))
),
gpu AS MATERIALIZED (
  SELECT saved.gpu_id
  FROM (SELECT gpu_id, sum(total_ns) AS total_ns FROM summed GROUP BY gpu_id) AS saved
  JOIN gpu_window
    ON gpu_window.gpu_id = saved.gpu_id
  WHERE 100.0 * saved.total_ns >= :least_pct * gpu_window.window_ns
),
subject AS MATERIALIZED (
  SELECT string_id, simple_name(text) AS subject
  FROM string
  WHERE string_id IN (SELECT after_name_id FROM summed)
)
SELECT
  gap.gpu_id,
  gap.start_ns - gap.saved_ns AS start_ns,
  gap.dur_ns + gap.saved_ns AS dur_ns,
  coalesce(subject.subject, '(no name)') AS subject,
  gap.run_kernels,
  gap.after_id AS kernel_id
FROM gap
LEFT JOIN subject
  ON subject.string_id = gap.after_name_id
WHERE gap.gpu_id IN (SELECT gpu_id FROM gpu)
ORDER BY gap.gpu_id, gap.start_ns, gap.after_id
