/*---
name: endless
version: 1
title: Endless
summary: No row, ever.
why: To be interrupted by a test.
kind: info
tags: [gpu]
reads: [gpu]
columns:
  - {name: number, type: int, priority: 0, doc: "A number."}
limits: It never ends.
---*/
WITH RECURSIVE
number(n) AS (
  SELECT count(*) FROM gpu
  UNION ALL
  SELECT n + 1 FROM number
)
SELECT n AS number
FROM number
WHERE n < 0
ORDER BY n
