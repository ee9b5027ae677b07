/*---
name: gpu_metric_interval
summary: One row per sample of a hardware metric of a GPU, with the time it describes.
present_if: [src_gpu_metric]
scope: {time: [start_ns, end_ns], gpu: gpu_id}
reads: [gpu_metric_name, src_gpu_metric]
columns:
  - {name: sample_id, type: id, doc: "Row ID in the raw table."}
  - {name: gpu_id, type: id, doc: "Number of the GPU on its machine; a MIG instance is sampled with its whole GPU."}
  - {name: metric_id, type: id, doc: "Number of the metric and unit, as in gpu_metric_name."}
  - {name: series_id, type: id, doc: "Number of the metric, unit and GPU, as in gpu_metric_name; faster to group by than these."}
  - {name: metric, type: text, doc: "Name of the metric, the same for all versions and chips."}
  - {name: unit, type: text, doc: "Unit of value: percent, MHz, or the word of the report; null if unknown."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of the time that the sample describes: the sample before, on the report's clock. After a hole, and for the first sample, one period before the sample."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "Time of the sample."}
  - {name: dur_ns, type: duration, unit: ns, doc: "end_ns - start_ns; 0 for a second sample at the same time and for the only sample of a metric."}
  - {name: value, type: real, doc: "Value in this time, in unit; counts, such as requests, are those of the interval."}
  - {name: period_ns, type: duration, unit: ns, doc: "Usual time between two samples of the metric on this GPU: the median; null for a single sample."}
  - {name: hole_ns, type: duration, unit: ns, doc: "Time before start_ns without data; 0 without a hole."}
  - {name: is_mended, type: bool, doc: "1 if the value was below -2^30: it had overflowed 32 bits, and 2^32 was added."}
limits: >-
  Samples whose time is unknown are left out. A hole is a time between two samples of more than 1.5 periods. On GPUs
  that sample by their own clock, such as Turing and GA100, the period grows when the clock falls: so the period is the
  median, or the shorter one of the times before and after, if that is longer. Three holes of like length in a row
  therefore count as a slow clock.
---*/
WITH
sample AS (
  SELECT
    sample.row_id AS sample_id,
    name.gpu_id,
    name.metric_id,
    name.series_id,
    sample.timestamp AS end_ns,
    name.unit,
    iif(sample.value < -1073741824, sample.value + 4294967296, sample.value) AS value,
    sample.value < -1073741824 AS is_mended
  FROM src_gpu_metric AS sample
  CROSS JOIN gpu_metric_name AS name
  WHERE name.type_id = sample.typeId
    AND name.raw_metric_id = sample.metricId
    AND sample.timestamp IS NOT NULL
),
timed AS MATERIALIZED (
  SELECT
    *,
    end_ns - lag(end_ns) OVER in_time AS gap_ns,
    lag(end_ns) OVER in_time - lag(end_ns, 2) OVER in_time AS gap_before_ns,
    lead(end_ns) OVER in_time - end_ns AS gap_after_ns
  FROM sample
  WINDOW in_time AS (PARTITION BY series_id ORDER BY end_ns, sample_id)
),
usual AS MATERIALIZED (
  SELECT series_id, CAST(median(gap_ns) AS INTEGER) AS period_ns
  FROM timed
  WHERE gap_ns > 0
  GROUP BY series_id
),
placed AS (
  SELECT
    timed.*,
    usual.period_ns,
    max(
      usual.period_ns,
      coalesce(min(timed.gap_before_ns, timed.gap_after_ns), timed.gap_before_ns, timed.gap_after_ns, 0)
    ) AS around_ns
  FROM timed
  LEFT JOIN usual
    ON usual.series_id = timed.series_id
),
covered AS (
  SELECT
    *,
    CASE
      WHEN gap_ns IS NULL THEN coalesce(period_ns, 0)
      WHEN 2 * gap_ns > 3 * around_ns THEN around_ns
      ELSE gap_ns
    END AS dur_ns
  FROM placed
)
SELECT
  sample_id,
  gpu_id,
  metric_id,
  series_id,
  (SELECT metric FROM gpu_metric_name AS name WHERE name.metric_id = covered.metric_id LIMIT 1) AS metric,
  unit,
  end_ns - dur_ns AS start_ns,
  end_ns,
  dur_ns,
  -- Clocks are in Hz, except in some versions.
  iif(unit = 'MHz' AND value >= 1000000, value / 1000000.0, 1.0 * value) AS value,
  period_ns,
  coalesce(gap_ns - dur_ns, 0) AS hole_ns,
  is_mended
FROM covered
