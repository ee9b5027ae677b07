/*---
name: metric_facts
version: 2
title: What hardware metrics add
summary: What sampled clocks, SMs, memory and links add to the conclusion, per GPU.
why: Kernels can run all the time and use little of the GPU, or run at a low clock.
kind: info
internal: true
tags: [gpu]
reads: [all_gpu_metric, cuda_gpu, gpu, gpu_busy, gpu_metric_name, judged_window, memcpy, process_device, step_window]
requires: [judged_window, gpu_metric]
rows_if: EXISTS (SELECT 1 FROM gpu_metric_name)
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "Number of the GPU on its machine."}
  - {name: fact, type: text, priority: 0, doc: "clock_drop, clock_low, clock_capped, clock; few_sms, dram_bound, latency_bound, tensor_idle; pcie_to_gpu, pcie_from_gpu or nvlink. The limits have the rule of each."}
  - {name: clock_mhz, type: real, label: "SM clock in MHz", priority: 1, doc: "Of a clock: mean while kernels run; of clock_drop, after the drop. Else null."}
  - {name: high_mhz, type: real, label: "higher clock in MHz", priority: 1, doc: "Of clock_drop, the mean before the drop; of clock_capped, the highest of the GPU; of other clocks, the highest clock of ten samples of the report. Else null."}
  - {name: start_ns, type: timestamp, unit: ns, label: "from", priority: 1, doc: "Of clock_drop: from when on, on the report's clock. Else null."}
  - {name: step, type: int, priority: 1, doc: "Of clock_drop: the step that runs then. Null without steps."}
  - {name: sms_pct, type: percent, unit: percent, label: "SMs active, % of time", priority: 1, doc: "Of kernels: mean of SMs Active while compute kernels run. Null for clocks and links, and if not sampled, as all shares."}
  - {name: tensor_pct, type: percent, unit: percent, label: "tensor pipes, % of peak", priority: 1, doc: "Mean of Tensor Active then."}
  - {name: issue_pct, type: percent, unit: percent, label: "instructions, % of peak", priority: 2, doc: "Mean of SM Issue then."}
  - {name: warps_pct, type: percent, unit: percent, label: "warps in flight, % of most", priority: 2, doc: "Mean of Compute Warps in Flight then."}
  - {name: dram_pct, type: percent, unit: percent, label: "DRAM, % of peak", priority: 1, doc: "Mean of DRAM read and write bandwidth together, then; of VRAM if the GPU has no DRAM metrics."}
  - {name: saturated_pct, type: percent, unit: percent, label: "DRAM full, % of time", priority: 1, doc: "Time with dram_pct of 80 % or more, as a share of covered_ns."}
  - {name: link_pct, type: percent, unit: percent, label: "link, % of peak", priority: 1, doc: "Of links: mean of PCIe or NVLink throughput, in the busier direction of NVLink, while copies or collectives run. Else null."}
  - {name: covered_ns, type: duration, unit: ns, label: "sampled", priority: 2, doc: "Time that the samples of the fact describe; of a long capture, with the pieces that are not read."}
  - {name: covered_pct, type: percent, unit: percent, label: "% of the work sampled", priority: 2, doc: "covered_ns as a share of the time in which the kernels, copies or collectives run."}
  - {name: sample_count, type: int, unit: count, label: "samples", priority: 2, doc: "Samples that were read."}
checks:
  - sample_count >= 20
  - fact NOT GLOB 'clock*' OR clock_mhz > 0
limits: >-
  A sample counts if it lies in the judged window and the work covers 90 % of its time. A fact needs 20 samples, which
  describe half of the work: so short work, slow sampling and holes give no row. Compute kernels and whole graphs must
  run for half of the window; copies to or from the host, and collectives, for a tenth. While compute kernels run, GR
  Active must be 80 % or more: else the samples are those of another GPU. clock_drop: a cut into two parts, each with
  ten samples and a tenth of all, explains half of the variance of the clock, and its mean falls by 5 % or more.
  clock_low: otherwise, the mean is 10 % or more below the highest clock. clock_capped: otherwise, the clock is below
  80 % of the GPU's highest for 99 % of the sampled time or more. clock: all others. The next four facts
  exclude each other: the first that holds has a row. few_sms: SMs Active below 50 %. dram_bound: DRAM at 80 % or more
  for half of the time. latency_bound: SMs Active 70 % or more, SM Issue below 20 %, Tensor Active below 10 %, DRAM
  below 40 %. tensor_idle: SMs Active 70 % or more, Tensor Active below 5 %. Links: a mean of 75 % or more. In long
  captures, only pieces of a hundred sampling times are read, evenly spaced, so the time of a drop is that of the
  nearest piece. Metrics are those of the whole GPU, and of all processes. MIG instances have no rows. Where
  the report does not record the GPU's highest clock, a clock that is low in the whole report is not seen.
see_also: [gpu_metric_sum, gpu_metric_by_kernel, gpu_metric_by_step, gpu_clocks]
---*/
WITH RECURSIVE
judged AS MATERIALIZED (
  SELECT gpu_id, start_ns, end_ns
  FROM judged_window
  WHERE gpu_id NOT IN (SELECT gpu_id FROM cuda_gpu WHERE is_partition AND gpu_id IS NOT NULL)
),
series AS MATERIALIZED (
  SELECT DISTINCT
    gpu_id,
    metric_name,
    CASE
      WHEN metric = 'GPC Clock Frequency' AND unit = 'MHz' THEN 'clock'
      WHEN unit <> 'percent' THEN NULL
      WHEN metric = 'GR Active' THEN 'engine'
      WHEN metric = 'SMs Active' THEN 'sms'
      WHEN metric IN ('Tensor Active', 'Tensor Active / FP16 Active') THEN 'tensor'
      WHEN metric = 'SM Issue' THEN 'issue'
      WHEN metric = 'Compute Warps in Flight' THEN 'warps'
      WHEN metric = 'DRAM Read Bandwidth' THEN 'dram read'
      WHEN metric = 'DRAM Write Bandwidth' THEN 'dram write'
      WHEN metric = 'VRAM Read Bandwidth' THEN 'vram read'
      WHEN metric = 'VRAM Write Bandwidth' THEN 'vram write'
      WHEN metric = 'PCIe RX Throughput' THEN 'pcie rx'
      WHEN metric = 'PCIe TX Throughput' THEN 'pcie tx'
      WHEN metric = 'NVLink RX Bandwidth' THEN 'nvlink rx'
      WHEN metric = 'NVLink TX Bandwidth' THEN 'nvlink tx'
    END AS kind
  FROM gpu_metric_name
),
-- The samples in pieces of a hundred times, as they were recorded. Of many pieces, some are read.
size AS MATERIALIZED (
  SELECT
    100 * count(*) AS row_count,
    max(3000 / count(*), 30) AS most,
    (SELECT sample_id FROM all_gpu_metric ORDER BY sample_id LIMIT 1) AS first_id,
    (SELECT sample_id FROM all_gpu_metric ORDER BY sample_id DESC LIMIT 1) AS last_id
  FROM gpu_metric_name
),
piece AS (
  SELECT first_id, row_count, last_id
  FROM size
  UNION ALL
  SELECT first_id + row_count, row_count, last_id
  FROM piece
  WHERE first_id + row_count <= last_id
),
placed AS (
  SELECT
    first_id,
    (SELECT start_ns FROM all_gpu_metric WHERE sample_id >= piece.first_id ORDER BY sample_id LIMIT 1)
      BETWEEN judged_time.start_ns AND judged_time.end_ns AS is_judged
  FROM piece
  CROSS JOIN (SELECT min(start_ns) AS start_ns, max(end_ns) AS end_ns FROM judged) AS judged_time
),
numbered AS (
  SELECT
    placed.first_id,
    placed.first_id + size.row_count - 1 AS last_id,
    is_judged,
    row_number() OVER (PARTITION BY is_judged ORDER BY placed.first_id) AS nth,
    count(*) OVER (PARTITION BY is_judged) / size.most + 1 AS every
  FROM placed
  CROSS JOIN size
),
read AS MATERIALIZED (
  SELECT first_id, last_id, iif(is_judged, every, 1) AS every
  FROM numbered
  WHERE nth % every = 0
),
described AS MATERIALIZED (
  SELECT
    series.gpu_id,
    series.kind,
    read.every,
    sample.start_ns AS end_ns,
    -- Clocks are in Hz, except in some versions.
    iif(series.kind = 'clock' AND sample.value >= 1000000, sample.value / 1000000.0, 1.0 * sample.value) AS value
  FROM read
  CROSS JOIN all_gpu_metric AS sample
  JOIN series
    ON series.gpu_id = sample.gpu_id
    AND series.metric_name = sample.metric_name
  WHERE sample.sample_id BETWEEN read.first_id AND read.last_id
    AND series.kind IS NOT NULL
),
highest AS MATERIALIZED (
  SELECT gpu_id, min(value) AS clock
  FROM (
    SELECT gpu_id, value, row_number() OVER (PARTITION BY gpu_id ORDER BY value DESC) AS place
    FROM described
    WHERE kind = 'clock'
  )
  WHERE place <= 10
  GROUP BY gpu_id
  HAVING count(*) = 10
),
-- The metrics of a GPU are sampled together.
timed AS MATERIALIZED (
  SELECT
    gpu_id,
    end_ns,
    max(every) AS every,
    end_ns - lag(end_ns) OVER (PARTITION BY gpu_id ORDER BY end_ns) AS gap_ns,
    max(iif(kind = 'clock', value, NULL)) AS clock,
    max(iif(kind = 'engine', value, NULL)) AS engine,
    max(iif(kind = 'sms', value, NULL)) AS sms,
    max(iif(kind = 'tensor', value, NULL)) AS tensor,
    max(iif(kind = 'issue', value, NULL)) AS issue,
    max(iif(kind = 'warps', value, NULL)) AS warps,
    coalesce(
      max(iif(kind = 'dram read', value, NULL)) + max(iif(kind = 'dram write', value, NULL)),
      max(iif(kind = 'vram read', value, NULL)) + max(iif(kind = 'vram write', value, NULL))
    ) AS dram,
    max(iif(kind = 'pcie rx', value, NULL)) AS pcie_rx,
    max(iif(kind = 'pcie tx', value, NULL)) AS pcie_tx,
    max(iif(kind = 'nvlink rx', value, NULL)) AS nvlink_rx,
    max(iif(kind = 'nvlink tx', value, NULL)) AS nvlink_tx
  FROM described
  GROUP BY gpu_id, end_ns
),
period AS MATERIALIZED (
  SELECT gpu_id, CAST(median(gap_ns) AS INTEGER) AS period_ns
  FROM timed
  GROUP BY gpu_id
  HAVING median(gap_ns) > 0
),
-- After a hole, a sample describes one period.
sampled AS MATERIALIZED (
  SELECT timed.*, iif(2 * timed.gap_ns <= 3 * period.period_ns, timed.gap_ns, period.period_ns) AS dur_ns
  FROM timed
  JOIN period
    ON period.gpu_id = timed.gpu_id
  JOIN judged
    ON judged.gpu_id = timed.gpu_id
  WHERE timed.end_ns BETWEEN judged.start_ns + period.period_ns AND judged.end_ns
),
-- What runs: compute kernels, collectives, copies to the GPU and from it, each with a key for every GPU.
run AS (
  SELECT 4 * gpu_id AS key, start_ns, end_ns
  FROM gpu_busy
  WHERE level = 'gpu'
    AND activity = 'compute'
  UNION ALL
  SELECT 4 * gpu_id + 1, start_ns, end_ns
  FROM gpu_busy
  WHERE level = 'gpu'
    AND activity = 'communication'
  UNION ALL
  SELECT 4 * place.gpu_id + 1 + copy.copy_kind, copy.start_ns, copy.end_ns
  FROM memcpy AS copy
  JOIN process_device AS place
    ON place.device_id = copy.device_id
    AND place.global_pid IS NOT DISTINCT FROM copy.global_pid
  WHERE copy.copy_kind IN (1, 2)
),
worked AS MATERIALIZED (
  SELECT time_set(key, start_ns, end_ns) AS times
  FROM run
),
work AS MATERIALIZED (
  SELECT
    judged.gpu_id,
    kind.column1 AS work,
    kind.column2 AS key,
    overlap_ns((SELECT times FROM worked), 4 * judged.gpu_id + kind.column2, judged.start_ns, judged.end_ns) AS work_ns,
    kind.column3 * (judged.end_ns - judged.start_ns) AS least_ns
  FROM judged
  CROSS JOIN (VALUES ('compute', 0, 0.5), ('collective', 1, 0.1), ('upload', 2, 0.1), ('download', 3, 0.1)) AS kind
),
-- The samples that work covers, if there is enough work.
covered AS MATERIALIZED (
  SELECT work.work, work.work_ns, sampled.*
  FROM work
  JOIN sampled
    ON sampled.gpu_id = work.gpu_id
  WHERE work.work_ns >= work.least_ns
    AND 10 * overlap_ns(
      (SELECT times FROM worked),
      4 * work.gpu_id + work.key,
      sampled.end_ns - sampled.dur_ns,
      sampled.end_ns
    ) >= 9 * sampled.dur_ns
),
meant AS MATERIALIZED (
  SELECT
    gpu_id,
    work,
    count(*) AS sample_count,
    min(max(every) * sum(dur_ns), work_ns) AS covered_ns,
    100.0 * min(max(every) * sum(dur_ns), work_ns) / work_ns AS covered_pct,
    sum(clock * dur_ns) / sum(iif(clock IS NULL, 0, dur_ns)) AS clock,
    sum(sms * dur_ns) / sum(iif(sms IS NULL, 0, dur_ns)) AS sms,
    sum(tensor * dur_ns) / sum(iif(tensor IS NULL, 0, dur_ns)) AS tensor,
    sum(issue * dur_ns) / sum(iif(issue IS NULL, 0, dur_ns)) AS issue,
    sum(warps * dur_ns) / sum(iif(warps IS NULL, 0, dur_ns)) AS warps,
    sum(dram * dur_ns) / sum(iif(dram IS NULL, 0, dur_ns)) AS dram,
    100.0 * sum(iif(dram >= 80, dur_ns, 0)) / sum(iif(dram IS NULL, 0, dur_ns)) AS saturated,
    CASE work
      WHEN 'upload' THEN sum(pcie_rx * dur_ns) / sum(iif(pcie_rx IS NULL, 0, dur_ns))
      WHEN 'download' THEN sum(pcie_tx * dur_ns) / sum(iif(pcie_tx IS NULL, 0, dur_ns))
      WHEN 'collective' THEN max(
        sum(nvlink_rx * dur_ns) / sum(iif(nvlink_rx IS NULL, 0, dur_ns)),
        sum(nvlink_tx * dur_ns) / sum(iif(nvlink_tx IS NULL, 0, dur_ns))
      )
    END AS link
  FROM covered
  GROUP BY gpu_id, work, work_ns
  HAVING count(*) >= 20
    AND 2 * max(every) * sum(dur_ns) >= work_ns
    -- Else the samples are those of another GPU.
    AND (work <> 'compute' OR coalesce(avg(engine), 100) >= 80)
),
-- Each place where the clocks of a GPU can be cut into two parts.
cut AS (
  SELECT
    gpu_id,
    end_ns,
    lead(end_ns) OVER so_far AS next_end_ns,
    row_number() OVER so_far AS nth,
    sum(clock) OVER so_far AS until,
    count(*) OVER (PARTITION BY gpu_id) AS sample_count,
    sum(clock) OVER (PARTITION BY gpu_id) AS total,
    sum(clock * clock) OVER (PARTITION BY gpu_id) AS squares
  FROM covered
  WHERE work = 'compute'
    AND clock IS NOT NULL
  WINDOW so_far AS (PARTITION BY gpu_id ORDER BY end_ns ROWS UNBOUNDED PRECEDING)
),
parted AS (
  SELECT
    gpu_id,
    end_ns,
    next_end_ns,
    until / nth AS before,
    (total - until) / (sample_count - nth) AS after,
    until * until / nth + (total - until) * (total - until) / (sample_count - nth) - total * total / sample_count
      AS explained,
    squares - total * total / sample_count AS spread
  FROM cut
  WHERE min(nth, sample_count - nth) >= max(10, sample_count / 10)
),
dropped AS (
  SELECT *
  FROM (SELECT *, row_number() OVER (PARTITION BY gpu_id ORDER BY explained DESC, end_ns) AS place FROM parted)
  WHERE place = 1
    AND after <= 0.95 * before
    AND 2 * explained >= spread
),
peak AS MATERIALIZED (
  SELECT gpu_id, max(peak_clock_hz) / 1000000.0 AS clock
  FROM gpu
  GROUP BY gpu_id
),
capped AS MATERIALIZED (
  SELECT covered.gpu_id, peak.clock
  FROM covered
  JOIN peak
    ON peak.gpu_id = covered.gpu_id
  WHERE covered.work = 'compute'
    AND covered.clock IS NOT NULL
  GROUP BY covered.gpu_id, peak.clock
  HAVING 100 * sum(iif(covered.clock < 0.8 * peak.clock, covered.dur_ns, 0)) >= 99 * sum(covered.dur_ns)
),
found AS (
  SELECT
    meant.*,
    CASE
      WHEN dropped.gpu_id IS NOT NULL THEN 'clock_drop'
      WHEN meant.clock <= 0.9 * highest.clock THEN 'clock_low'
      WHEN capped.gpu_id IS NOT NULL AND meant.clock IS NOT NULL THEN 'clock_capped'
      WHEN meant.clock IS NOT NULL THEN 'clock'
    END AS fact,
    coalesce(dropped.after, meant.clock) AS clock_mhz,
    coalesce(
      dropped.before,
      iif(meant.clock <= 0.9 * highest.clock, NULL, capped.clock),
      highest.clock
    ) AS high_mhz,
    dropped.end_ns AS from_ns,
    dropped.next_end_ns AS low_ns
  FROM meant
  LEFT JOIN highest
    ON highest.gpu_id = meant.gpu_id
  LEFT JOIN dropped
    ON dropped.gpu_id = meant.gpu_id
  LEFT JOIN capped
    ON capped.gpu_id = meant.gpu_id
  WHERE meant.work = 'compute'
  UNION ALL
  SELECT
    *,
    CASE
      WHEN work = 'compute' AND sms < 50 THEN 'few_sms'
      WHEN work = 'compute' AND saturated >= 50 THEN 'dram_bound'
      WHEN work = 'compute' AND sms >= 70 AND issue < 20 AND tensor < 10 AND dram < 40 THEN 'latency_bound'
      WHEN work = 'compute' AND sms >= 70 AND tensor < 5 THEN 'tensor_idle'
      WHEN work = 'upload' AND link >= 75 THEN 'pcie_to_gpu'
      WHEN work = 'download' AND link >= 75 THEN 'pcie_from_gpu'
      WHEN work = 'collective' AND link >= 75 THEN 'nvlink'
    END,
    NULL,
    NULL,
    NULL,
    NULL
  FROM meant
)
SELECT
  gpu_id,
  fact,
  clock_mhz,
  high_mhz,
  from_ns AS start_ns,
  (
    SELECT max(step)
    FROM step_window AS win
    WHERE win.gpu_id = found.gpu_id
      AND win.start_ns < found.low_ns
      AND win.end_ns >= found.low_ns
      AND found.low_ns - found.from_ns < win.dur_ns
  ) AS step,
  iif(is_of_kernels, sms, NULL) AS sms_pct,
  iif(is_of_kernels, tensor, NULL) AS tensor_pct,
  iif(is_of_kernels, issue, NULL) AS issue_pct,
  iif(is_of_kernels, warps, NULL) AS warps_pct,
  iif(is_of_kernels, dram, NULL) AS dram_pct,
  iif(is_of_kernels, saturated, NULL) AS saturated_pct,
  link AS link_pct,
  covered_ns,
  covered_pct,
  sample_count
FROM (SELECT *, work = 'compute' AND clock_mhz IS NULL AS is_of_kernels FROM found) AS found
WHERE fact IS NOT NULL
ORDER BY gpu_id, work <> 'compute', clock_mhz IS NULL, fact
