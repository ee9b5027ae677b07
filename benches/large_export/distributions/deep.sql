-- Deep ranges, and few roots: around all ranges of each thread, a thousand more, each inside the one before.
INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid)
WITH RECURSIVE
level (level) AS (
  SELECT 1
  UNION ALL
  SELECT level + 1
  FROM level
  WHERE level < 1000
),
thread AS (
  SELECT globalTid, min(start) AS start, max(end) AS end
  FROM NVTX_EVENTS
  WHERE eventType = 59
  GROUP BY globalTid
)
SELECT start - 1001 + level, end + 1001 - level, 59, 'level ' || level, globalTid
FROM thread
CROSS JOIN level;
