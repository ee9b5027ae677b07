-- A heavy tail of lengths: one kernel of two thousand takes a thousand times as long, and all that comes after it on its
-- device and its threads is later by that.
CREATE TEMP TABLE late AS
SELECT
  rowid AS id,
  globalPid,
  start,
  1000 * (end - start) AS more,
  sum(1000 * (end - start)) OVER (PARTITION BY globalPid ORDER BY start) AS total
FROM CUPTI_ACTIVITY_KIND_KERNEL
WHERE rowid % 2000 = 0;

CREATE INDEX temp.late_start ON late (globalPid, start, total);

UPDATE CUPTI_ACTIVITY_KIND_KERNEL
SET end = end + coalesce((SELECT more FROM late WHERE id = CUPTI_ACTIVITY_KIND_KERNEL.rowid), 0);

UPDATE CUPTI_ACTIVITY_KIND_KERNEL
SET (start, end) = (
  SELECT CUPTI_ACTIVITY_KIND_KERNEL.start + coalesce(max(total), 0), CUPTI_ACTIVITY_KIND_KERNEL.end + coalesce(max(total), 0)
  FROM late
  WHERE late.globalPid = CUPTI_ACTIVITY_KIND_KERNEL.globalPid
    AND late.start < CUPTI_ACTIVITY_KIND_KERNEL.start
);

UPDATE CUPTI_ACTIVITY_KIND_MEMCPY
SET (start, end) = (
  SELECT CUPTI_ACTIVITY_KIND_MEMCPY.start + coalesce(max(total), 0), CUPTI_ACTIVITY_KIND_MEMCPY.end + coalesce(max(total), 0)
  FROM late
  WHERE late.globalPid = CUPTI_ACTIVITY_KIND_MEMCPY.globalPid
    AND late.start < CUPTI_ACTIVITY_KIND_MEMCPY.start
);

UPDATE CUPTI_ACTIVITY_KIND_RUNTIME
SET (start, end) = (
  SELECT CUPTI_ACTIVITY_KIND_RUNTIME.start + coalesce(max(total), 0), CUPTI_ACTIVITY_KIND_RUNTIME.end + coalesce(max(total), 0)
  FROM late
  WHERE late.globalPid = CUPTI_ACTIVITY_KIND_RUNTIME.globalTid & -16777216
    AND late.start < CUPTI_ACTIVITY_KIND_RUNTIME.start
);

UPDATE NVTX_EVENTS
SET
  start = start + coalesce((
    SELECT max(total) FROM late
    WHERE late.globalPid = NVTX_EVENTS.globalTid & -16777216 AND late.start < NVTX_EVENTS.start
  ), 0),
  end = end + coalesce((
    SELECT max(total) FROM late
    WHERE late.globalPid = NVTX_EVENTS.globalTid & -16777216 AND late.start < NVTX_EVENTS.end
  ), 0);

DROP TABLE late;
