/*---
name: kernels_first
version: 1
title: Whether kernels come first
summary: Whether faster kernels or the first fix gain more, in one row.
why: To check why the page names what takes the time before it names a fix, or after it.
kind: info
internal: true
tags: [gpu, kernel]
reads: []
asks:
  - judged
  - {query: findings, optional: true}
  - {query: first_rest, optional: true}
  - {query: kernel_families, optional: true}
  - {query: repetition, optional: true}
columns:
  - {name: kernel_binds, type: bool, priority: 0, doc: "1 if kernels come before all fixes: kernels_matter, and not is_certain."}
  - {name: kernels_matter, type: bool, priority: 1, doc: "1 if kernels bind, and half the time of the first family gains more than the first fix."}
  - {name: is_certain, type: bool, priority: 1, doc: "1 if the first fix gains a tenth, is no work of kernels, and does not need manual confirmation."}
  - {name: then_ns, type: duration, unit: ns, label: "with faster kernels", priority: 1, doc: "Mean step if the first family of kernels took half its time, or if elementwise kernels were fused; null without a family."}
  - {name: gpu_work_ns, type: duration, unit: ns, label: "GPU work", priority: 1, doc: "Mean time of a step in which the only GPU works; 0 with several GPUs or processes, or without a fix."}
  - {name: least_ns, type: duration, unit: ns, label: "at best", priority: 1, doc: "Where the first fix is launch_bound: the least that a step can take, if that is a tenth less than with the fix; else 0."}
  - {name: host_binds, type: bool, priority: 1, doc: "1 if the host has half of what a step takes with the first fix: a host that no longer waits is faster than recorded."}
checks:
  - kernel_binds = (kernels_matter AND NOT is_certain)
  - least_ns >= 0
limits: See kernel_families and findings. Half the time of a family is a comparison, not a promise.
see_also: [first_rest, judged]
---*/
WITH
-- The first fix, if it gains anything.
fix AS MATERIALIZED (
  SELECT *, max(coalesce(step_count, 1), 1) AS steps, now_ns - alone_ns AS gain_ns
  FROM findings
  WHERE rank = 1
    AND verdict = 'yes'
),
-- What the fixes of idle time leave.
idle_fixed AS MATERIALIZED (
  SELECT (SELECT now_ns FROM fix) - coalesce(sum(adds_ns), 0) AS fixed_ns
  FROM findings
  WHERE verdict = 'yes'
    AND frees = 'idle'
),
family AS MATERIALIZED (
  SELECT
    families.is_avoidable,
    families.now_ns,
    iif(judged.bound_by = 'compute', coalesce(families.fused_ns, families.then_ns), families.then_ns) AS then_ns
  FROM kernel_families AS families
  CROSS JOIN judged
  WHERE families.rowid = 1
),
-- What a step leaves where its GPU never idles. Several GPUs have windows of their own.
work AS MATERIALIZED (
  SELECT 1.0 * (judged.window_ns - judged.idle_ns) / fix.steps AS gpu_work_ns
  FROM fix
  CROSS JOIN judged
  WHERE judged.gpu_count = 1
    AND coalesce((SELECT process_count FROM repetition), 0) <= 1
),
rest AS MATERIALIZED (
  SELECT host_ns
  FROM first_rest
  WHERE rowid = 1
),
fact AS MATERIALIZED (
  SELECT
    fix.finding,
    fix.alone_ns,
    fix.frees,
    rest.host_ns,
    family.then_ns,
    coalesce(work.gpu_work_ns, 0) AS gpu_work_ns,
    min(coalesce(work.gpu_work_ns, 0), idle_fixed.fixed_ns) AS floor_ns,
    -- A fix of what is no work of kernels is more certain than kernels that are twice as fast.
    coalesce(
      fix.confidence <> 'low'
      AND fix.frees <> 'kernels'
      AND fix.gain_ns >= 0.1 * fix.now_ns
      AND family.is_avoidable IS FALSE,
      false
    ) AS is_certain,
    -- An uncertain fix must gain more, above all where kernels only copy.
    coalesce(
      judged.bound_by IN ('compute', 'mixed')
      AND family.now_ns - family.then_ns > max(
        0.03 * family.now_ns,
        coalesce(fix.gain_ns, 0) * CASE
          WHEN coalesce(fix.confidence, '') <> 'low' THEN 1.02
          WHEN family.is_avoidable THEN 0.5
          ELSE 0.9
        END
      ),
      false
    ) AS kernels_matter
  FROM judged
  CROSS JOIN idle_fixed
  LEFT JOIN fix
    ON true
  LEFT JOIN family
    ON true
  LEFT JOIN work
    ON true
  LEFT JOIN rest
    ON true
)
SELECT
  max(kernels_matter AND NOT is_certain) AS kernel_binds,
  kernels_matter,
  is_certain,
  then_ns,
  gpu_work_ns,
  iif(
    finding = 'launch_bound' AND host_ns IS NOT NULL AND floor_ns > 0 AND floor_ns < 0.9 * alone_ns,
    floor_ns,
    0
  ) AS least_ns,
  coalesce(frees = 'idle' AND host_ns >= 0.5 * alone_ns AND gpu_work_ns < 0.9 * alone_ns, false) AS host_binds
FROM fact
ORDER BY kernel_binds
