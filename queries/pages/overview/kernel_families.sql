/*---
name: kernel_families
version: 7
title: Families of kernels
summary: The families with the most kernel time, and a step if they ran twice as fast.
why: Where kernels bind, only faster ones help. These are the ones to look into, and what that gains.
kind: info
internal: true
tags: [gpu, kernel]
reads: [all_replayed_window, driver, gpu, gpu_window, judged_window, kernel, string]
requires: [judged_window, kernel]
params:
  - {name: at_least_pct, type: real, default: 20, min: 0, max: 100, doc: "Smallest share of a family."}
columns:
  - {name: rank, type: int, label: "#", priority: 1, doc: "Rank from 1: a family that is_avoidable first, then the one with most time."}
  - {name: family, type: text, priority: 0, doc: "What the kernels do; null for one function of no known class."}
  - {name: kernel_name, type: text, label: "kernel", priority: 0, doc: "Its function with the most time."}
  - {name: kernel_pct, type: percent, unit: percent, label: "% of family", priority: 1, doc: "Share of this function in its family."}
  - {name: call_count, type: int, unit: count, label: "calls", priority: 1, doc: "Kernels of the family."}
  - {name: total_ns, type: duration, unit: ns, label: "total", priority: 1, doc: "Their time."}
  - {name: time_pct, type: percent, unit: percent, label: "% of kernels' time", priority: 0, doc: "total_ns as a share of all kernels without collectives."}
  - {name: now_ns, type: duration, unit: ns, label: "now", priority: 0, doc: "Mean time of a step on the GPU where it takes longest, or the time of the whole report."}
  - {name: then_ns, type: duration, unit: ns, label: "then", priority: 0, doc: "The same if each kernel of the family took half its time; where is_avoidable, without the kernels."}
  - {name: least_ns, type: duration, unit: ns, label: "at best", priority: 1, doc: "The least that it could take without them: what they take off at half their time, twice, but no less than copying_ns."}
  - {name: copying_ns, type: duration, unit: ns, label: "copying", priority: 3, doc: "Mean time in a step of the copies of one direction between host and GPU, for the direction with more: they share an engine."}
  - {name: fused_ns, type: duration, unit: ns, label: "fused", priority: 1, doc: "For elementwise kernels: the same if each two were one kernel, so that launching them takes half the time, too; else null."}
  - {name: merged_ns, type: duration, unit: ns, label: "all merged", priority: 1, doc: "For elementwise kernels: the same if other kernels did their work, and graphs launched these, which is the best that fusion can reach; else null."}
  - {name: is_avoidable, type: bool, priority: 2, doc: "Whether its kernels only copy or dequantize, so that a program can do without them."}
  - {name: advice, type: text, priority: 1, doc: "What to do."}
  - {name: other_family, type: text, priority: 2, doc: "Of the families without a row, that have a class, the one with the most time; null if there is none. The same in all rows."}
  - {name: other_ns, type: duration, unit: ns, label: "other", priority: 2, doc: "Its mean time in a step of a GPU; without steps, in the whole report."}
  - {name: other_class, type: text, priority: 3, doc: "Its class with the most time, such as norm."}
  - {name: other_class_ns, type: duration, unit: ns, label: "of that class", priority: 3, doc: "Time of that class in a step."}
  - {name: next_class, type: text, priority: 3, doc: "The next class; null if there is none."}
  - {name: next_class_ns, type: duration, unit: ns, label: "of the next class", priority: 3, doc: "Time of the next class in a step; null if there is none."}
checks:
  - merged_ns <= now_ns
  - then_ns <= now_ns
  - least_ns <= then_ns
  - fused_ns <= now_ns
limits: >-
  See critical_part. No rows where exposed communication takes more time than kernels, or where idle time takes more than
  exposed communication, exposed copies, and a fifth of the window or the kernels, unless is_avoidable, changes of layout or embeddings. Classes come from names, with the class map of --classes. At most 200 names of a family are replayed.
---*/
WITH
named AS MATERIALIZED (
  SELECT value ->> 0 AS name_id, value ->> 1 AS call_count, value ->> 4 AS total_ns
  FROM json_each((SELECT extents(name_id, start_ns, end_ns) FROM kernel))
),
classed AS MATERIALIZED (
  SELECT
    named.*,
    string.text AS name,
    op_class(string.text) AS class,
    row_number() OVER (ORDER BY total_ns DESC, string.text) AS place
  FROM named
  JOIN string
    ON string.string_id = named.name_id
  WHERE op_activity(string.text) <> 'communication'
),
-- Kernels of PyTorch and cuDNN that only copy, or widen weights for the next product.
copying AS MATERIALIZED (
  SELECT
    *,
    CASE
      WHEN class = 'quantization' AND name GLOB '*[Dd]equant*' THEN 'dequantization'
      -- Of TensorRT.
      WHEN name GLOB '*genericReformat::*' THEN 'changes of layout'
      -- What index_select and torch.gather of PyTorch run.
      WHEN name GLOB '*vectorized_gather_kernel*' THEN 'embeddings'
      WHEN class <> 'copy' THEN NULL
      WHEN name GLOB '*CatArray*' OR name GLOB '*chunk_cat*' THEN 'concatenations'
      WHEN name GLOB '*nchwToNhwc*' OR name GLOB '*nhwcToNchw*' THEN 'changes of layout'
      WHEN name GLOB '*direct_copy*WithCast*' OR name GLOB '*float[18]*_copy_kernel*' THEN 'type conversions'
      WHEN name GLOB '*direct_copy*' THEN 'copies of tensors'
    END AS copies
  FROM classed
),
-- They are a family of their own where they take as much time as others.
in_family AS MATERIALIZED (
  SELECT
    *,
    simple_name(name) AS kernel_name,
    CASE
      WHEN copies IS NOT NULL
        AND 100.0 * sum(total_ns) OVER (PARTITION BY copies) >= :at_least_pct * sum(total_ns) OVER ()
        THEN copies
      WHEN class = 'gemm' THEN 'matrix products'
      WHEN class = 'moe' THEN 'mixture-of-experts kernels'
      WHEN class = 'convolution' THEN 'convolutions'
      WHEN class = 'attention' THEN 'attention'
      WHEN class = 'embedding' THEN 'embeddings'
      WHEN class = 'optimizer' THEN 'optimizer'
      WHEN class IN (
        'activation', 'batching', 'copy', 'elementwise', 'index', 'kv_cache', 'loss', 'norm', 'nvfuser', 'quantization',
        'reduction', 'rope', 'softmax', 'triton', 'xla'
      )
        THEN 'elementwise kernels and reductions'
      WHEN class IN ('scan', 'sort') THEN 'scans and sorts'
    END AS family
  FROM copying
),
-- A function of no known class is a family of its own.
keyed AS MATERIALIZED (
  SELECT *, coalesce(family, kernel_name) AS key
  FROM in_family
),
largest AS (
  SELECT
    key,
    kernel_name,
    max(name GLOB '*_parallel_launch_*Kokkos::Impl::Parallel*') AS is_functor,
    sum(total_ns) AS kernel_ns,
    sum(call_count) AS call_count,
    row_number() OVER (PARTITION BY key ORDER BY sum(total_ns) DESC, kernel_name) AS nth
  FROM keyed
  GROUP BY key, kernel_name
),
summed AS MATERIALIZED (
  SELECT
    key,
    max(family) AS family,
    -- An engine of TensorRT converts where its layers differ, which a program changes in part.
    max(family = copies AND copies <> 'embeddings' AND NOT name GLOB '*genericReformat::*') AS is_avoidable,
    sum(call_count) AS call_count,
    sum(total_ns) AS total_ns,
    100.0 * sum(total_ns) / nullif(sum(sum(total_ns)) OVER (), 0) AS time_pct,
    row_number() OVER (ORDER BY sum(total_ns) DESC, key) AS rank
  FROM keyed
  GROUP BY key
),
-- Names as patterns that match nothing else.
edited AS MATERIALIZED (
  SELECT
    key,
    group_concat(
      'faster=' || replace(replace(replace(replace(name, '[', '[[]'), '*', '[*]'), '?', '[?]'), char(10), '?') || ':2',
      char(10)
    ) AS edits,
    group_concat(
      'fused=' || replace(replace(replace(replace(name, '[', '[[]'), '*', '[*]'), '?', '[?]'), char(10), '?') || ':2',
      char(10)
    ) AS fused_edits,
    group_concat(
      'without=' || replace(replace(replace(replace(name, '[', '[[]'), '*', '[*]'), '?', '[?]'), char(10), '?'),
      char(10)
    ) AS gone_edits
  FROM (
    SELECT key, name, row_number() OVER (PARTITION BY key ORDER BY place) AS nth
    FROM keyed
    WHERE key IN (SELECT key FROM summed WHERE rank <= 2 AND time_pct >= :at_least_pct)
    ORDER BY place
  )
  WHERE nth <= 200
  GROUP BY key
),
-- The time of the GPUs in the windows that are judged.
parts AS MATERIALIZED (
  SELECT
    sum(gpu_window.compute_ns) AS compute_ns,
    sum(gpu_window.exposed_communication_ns) AS communication_ns,
    sum(gpu_window.exposed_memory_ns) AS copies_ns,
    sum(gpu_window.idle_ns) AS idle_ns,
    sum(gpu_window.window_ns) AS window_ns
  FROM judged_window AS win
  CROSS JOIN gpu_window
  WHERE gpu_window.gpu_id = win.gpu_id
    AND gpu_window.start_ns = win.start_ns
    AND gpu_window.end_ns = win.end_ns
),
-- Nothing is replayed where faster kernels are no conclusion, because idle time, copies or communication bind. Kernels
-- that a program can do without matter later, too, and selections of rows may be such.
variant AS (
  SELECT
    edited.key,
    way.value AS variant,
    CASE
      WHEN way.value = 0 AND summed.is_avoidable THEN gone_edits
      WHEN way.value = 0 THEN edits
      WHEN way.value = 1 THEN fused_edits
      ELSE gone_edits || char(10) || 'launch=graph:*::*'
    END AS edits
  FROM parts
  CROSS JOIN edited
  JOIN summed
    ON summed.key = edited.key
  CROSS JOIN json_each('[0, 1, 2]') AS way
  WHERE (way.value = 0 OR edited.key = 'elementwise kernels and reductions')
    AND parts.compute_ns >= parts.communication_ns
    AND (
      parts.idle_ns < max(min(0.2 * parts.window_ns, parts.compute_ns), parts.communication_ns, parts.copies_ns)
      OR summed.is_avoidable
      OR edited.key IN ('changes of layout', 'embeddings')
    )
),
replayed AS MATERIALIZED (
  SELECT
    variant.key,
    max(win.count) * count(DISTINCT win.gpu_id) AS step_count,
    max((win.end_ns - win.start_ns) / win.count) AS now_ns,
    max(iif(variant = 0, max(part.new_dur_ns, part.busiest_ns) / win.count, NULL)) AS then_ns,
    max(iif(variant = 0, part.copying_ns / win.count, NULL)) AS copying_ns,
    max(iif(variant = 1, max(part.new_dur_ns, part.busiest_ns) / win.count, NULL)) AS fused_ns,
    max(iif(variant = 2, max(part.new_dur_ns, part.busiest_ns) / win.count, NULL)) AS merged_ns
  FROM variant
  CROSS JOIN judged_window AS win
  CROSS JOIN all_replayed_window AS part
  WHERE part.edits = variant.edits
    AND part.gpu_id = win.gpu_id
    AND part.start_ns = win.start_ns
    AND part.end_ns = win.end_ns
  GROUP BY variant.key
),
-- The largest family that is too small for a row: it matters once the others are faster.
other_class AS (
  SELECT
    key,
    class,
    sum(total_ns) AS total_ns,
    sum(sum(total_ns)) OVER (PARTITION BY key) AS family_ns,
    row_number() OVER (PARTITION BY key ORDER BY sum(total_ns) DESC, class) AS nth
  FROM keyed
  WHERE family IS NOT NULL
    AND key NOT IN (SELECT key FROM replayed)
  GROUP BY key, class
),
other AS MATERIALIZED (
  SELECT
    key AS family,
    max(family_ns) / max(step.count) AS total_ns,
    max(iif(nth = 1, class, NULL)) AS class,
    max(iif(nth = 1, total_ns, NULL)) / max(step.count) AS class_ns,
    max(iif(nth = 2, class, NULL)) AS next_class,
    max(iif(nth = 2, total_ns, NULL)) / max(step.count) AS next_class_ns
  FROM other_class
  CROSS JOIN (SELECT max(step_count) AS count FROM replayed) AS step
  GROUP BY key
  ORDER BY max(family_ns) DESC, key
  LIMIT 1
),
-- A model looks up few embeddings in a step: index_select, which has the same kernel, selects rows of other tensors.
many_rows AS (
  SELECT
    replayed.key,
    replayed.key = 'embeddings'
      AND (largest.kernel_name GLOB 'indexSelect*' OR largest.kernel_name = 'vectorized_gather_kernel')
      AND largest.call_count >= 8 * replayed.step_count AS is_many
  FROM replayed
  JOIN largest
    ON largest.key = replayed.key
    AND largest.nth = 1
),
machine AS MATERIALIZED (
  SELECT
    EXISTS (SELECT 1 FROM driver WHERE driver_name = 'HIP')
      OR EXISTS (SELECT 1 FROM gpu WHERE gpu_name GLOB 'AMD *') AS is_amd,
    -- cuBLAS has these kernels on Hopper and later only.
    EXISTS (SELECT 1 FROM classed WHERE name GLOB '*sm90*' OR name GLOB 'nvjet*') AS is_hopper,
    -- Two units for FP64 on a multiprocessor, with 64 or 128 for FP32.
    (
      SELECT max(iif(compute_capability = '7.5', 32, 64))
      FROM gpu
      WHERE compute_capability IN ('7.5', '8.6', '8.9', '12.0')
    ) AS fp64_times
),
-- A loss over classes that writes the logarithms of all probabilities.
loss AS MATERIALIZED (
  SELECT
    100.0 * sum(iif(name GLOB '*LogSoftMax*' OR name GLOB '*nll_loss*', total_ns, 0)) / nullif(sum(total_ns), 0)
      AS time_pct
  FROM keyed
),
-- The time of matrix products in FP64.
fp64 AS MATERIALIZED (
  SELECT coalesce(sum(total_ns), 0) AS total_ns
  FROM keyed
  WHERE key = 'matrix products'
    AND (
      name GLOB 'dgemm*'
      OR name GLOB '*[_ ]dgemm*'
      OR name GLOB '*[_ ]zgemm*'
      OR name GLOB '*[dz]884gemm*'
      OR name GLOB '*_f64f64_*'
    )
)
SELECT
  row_number() OVER (ORDER BY summed.is_avoidable IS true DESC, summed.rank) AS rank,
  iif(many_rows.is_many, 'row selections', summed.family) AS family,
  largest.kernel_name,
  100.0 * largest.kernel_ns / nullif(summed.total_ns, 0) AS kernel_pct,
  summed.call_count,
  summed.total_ns,
  summed.time_pct,
  replayed.now_ns,
  min(replayed.then_ns, replayed.now_ns) AS then_ns,
  min(
    iif(summed.is_avoidable, replayed.then_ns, max(2 * replayed.then_ns - replayed.now_ns, replayed.copying_ns, 0)),
    replayed.then_ns,
    replayed.now_ns
  ) AS least_ns,
  replayed.copying_ns,
  min(replayed.fused_ns, replayed.now_ns) AS fused_ns,
  min(replayed.merged_ns, replayed.now_ns) AS merged_ns,
  coalesce(summed.is_avoidable, 0) AS is_avoidable,
  CASE
    WHEN summed.family = 'concatenations'
      THEN 'Allocate the result once and write the parts into it, as a static KV cache does.'
    WHEN summed.family = 'dequantization'
      THEN 'Use kernels that dequantize within the matrix product, such as those of Marlin or AWQ, or more tokens at'
        || ' once.'
    WHEN summed.family = 'changes of layout'
      THEN iif(
        largest.kernel_name GLOB 'copy*Kernel',
        'Let inputs, outputs and plugins of the engine have the formats that its layers use, and give neighbouring'
          || ' layers one precision.',
        'Keep tensors in the layout that the kernels use: channels_last in PyTorch.'
      )
    WHEN summed.family = 'type conversions'
      THEN 'Keep tensors in the type that other kernels read, or fuse the conversions, in PyTorch with torch.compile.'
    WHEN summed.family = 'copies of tensors'
      THEN 'Use views, or kernels that take strides, or fuse the copies, in PyTorch with torch.compile.'
    WHEN many_rows.is_many
      THEN 'Select fewer rows, or let the kernels that read them take indices: beam search need not reorder its cache.'
    WHEN summed.family = 'attention' AND is_hopper AND largest.kernel_name = 'flash_fwd_kernel'
      THEN 'Use FlashAttention-3, which is made for Hopper.'
    WHEN summed.family = 'elementwise kernels and reductions' AND loss.time_pct >= 10
      THEN printf('The softmax of the loss takes %.1f %% of kernel time, and other work on its', loss.time_pct)
        || ' logits more: use a fused cross-entropy, which computes the loss in parts. Fuse the rest, in PyTorch with'
        || ' torch.compile.'
    WHEN summed.family = 'elementwise kernels and reductions'
      THEN 'Fuse them, in PyTorch with torch.compile: memory bandwidth bounds them.'
    WHEN summed.family = 'matrix products' AND fp64_times > 0 AND 2 * fp64.total_ns > summed.total_ns
      THEN printf('This GPU computes FP64 at 1/%d of its FP32 rate: use FP32 where that is accurate', fp64_times)
        || ' enough, or a GPU with fast FP64, such as A100 or H100.'
    WHEN summed.family IN ('matrix products', 'convolutions')
      THEN 'Lower the precision, or tune these kernels.'
    ELSE printf(
      'Look inside with %s: `%s`.',
      iif(is_amd, 'a kernel profiler', 'Nsight Compute'),
      printf(
        CASE
          WHEN is_amd THEN 'rocprof-compute profile -k %s'
          WHEN largest.is_functor THEN 'ncu --kernel-name-base demangled -k regex:%s -c 5'
          ELSE 'ncu -k %s -c 5'
        END,
        largest.kernel_name
      )
    )
  END AS advice,
  other.family AS other_family,
  other.total_ns AS other_ns,
  other.class AS other_class,
  other.class_ns AS other_class_ns,
  other.next_class,
  other.next_class_ns
FROM summed
JOIN replayed
  ON replayed.key = summed.key
JOIN largest
  ON largest.key = summed.key
  AND largest.nth = 1
JOIN many_rows
  ON many_rows.key = summed.key
CROSS JOIN machine
CROSS JOIN fp64
CROSS JOIN loss
LEFT JOIN other
ORDER BY rank
