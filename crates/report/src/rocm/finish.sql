-- The first event is at 0. Tables without rows are left out, as nsys does.
CREATE TEMP TABLE span AS
SELECT min(start) AS start, max("end") AS "end" FROM (
  SELECT start, "end" FROM CUPTI_ACTIVITY_KIND_KERNEL
  UNION ALL SELECT start, "end" FROM CUPTI_ACTIVITY_KIND_MEMCPY
  UNION ALL SELECT start, "end" FROM CUPTI_ACTIVITY_KIND_MEMSET
  UNION ALL SELECT start, "end" FROM CUPTI_ACTIVITY_KIND_RUNTIME
  UNION ALL SELECT start, "end" FROM NVTX_EVENTS
);
UPDATE CUPTI_ACTIVITY_KIND_KERNEL
SET start = start - (SELECT start FROM span), "end" = "end" - (SELECT start FROM span);
UPDATE CUPTI_ACTIVITY_KIND_MEMCPY
SET start = start - (SELECT start FROM span), "end" = "end" - (SELECT start FROM span);
UPDATE CUPTI_ACTIVITY_KIND_MEMSET
SET start = start - (SELECT start FROM span), "end" = "end" - (SELECT start FROM span);
UPDATE CUPTI_ACTIVITY_KIND_RUNTIME
SET start = start - (SELECT start FROM span), "end" = "end" - (SELECT start FROM span);
UPDATE NVTX_EVENTS SET start = start - (SELECT start FROM span), "end" = "end" - (SELECT start FROM span);
INSERT INTO ANALYSIS_DETAILS SELECT "end" - start FROM span WHERE start IS NOT NULL;
