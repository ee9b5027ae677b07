-- Thousands of processes: each thousandth of the time of a process becomes a process of its own, with what it launched.
CREATE TEMP TABLE piece AS
SELECT min(start) AS first, (max(end) - min(start)) / 1000 + 1 AS length
FROM CUPTI_ACTIVITY_KIND_RUNTIME;

CREATE TEMP TABLE launched AS
SELECT globalTid & -16777216 AS process, correlationId, min((start - first) / length) AS number
FROM CUPTI_ACTIVITY_KIND_RUNTIME
CROSS JOIN piece
GROUP BY 1, 2;

CREATE INDEX temp.launched_by ON launched (process, correlationId, number);

-- A process ID is in the bits from 24 to 47.
UPDATE CUPTI_ACTIVITY_KIND_KERNEL
SET globalPid = globalPid + ((1000 + number) << 34)
FROM launched
WHERE launched.process = CUPTI_ACTIVITY_KIND_KERNEL.globalPid
  AND launched.correlationId = CUPTI_ACTIVITY_KIND_KERNEL.correlationId;

UPDATE CUPTI_ACTIVITY_KIND_MEMCPY
SET globalPid = globalPid + ((1000 + number) << 34)
FROM launched
WHERE launched.process = CUPTI_ACTIVITY_KIND_MEMCPY.globalPid
  AND launched.correlationId = CUPTI_ACTIVITY_KIND_MEMCPY.correlationId;

UPDATE CUPTI_ACTIVITY_KIND_RUNTIME
SET globalTid = globalTid + ((1000 + (SELECT (start - first) / length FROM piece)) << 34);

UPDATE NVTX_EVENTS
SET globalTid = globalTid + ((1000 + (SELECT max(start - first, 0) / length FROM piece)) << 34)
WHERE eventType IN (59, 60);

DROP TABLE launched;
DROP TABLE piece;
