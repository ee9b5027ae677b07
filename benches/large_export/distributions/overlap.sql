-- Communication under compute: every eighth kernel of a device is copied as a collective on a stream of its own, which
-- starts when it ends and lasts for a part of the time until the next such kernel.
CREATE TEMP TABLE collective AS
SELECT *, lead(start, 1, end + 20000) OVER (PARTITION BY globalPid ORDER BY start) AS next_start
FROM (
  SELECT kernel.*, row_number() OVER (PARTITION BY globalPid ORDER BY start) AS nth
  FROM CUPTI_ACTIVITY_KIND_KERNEL AS kernel
  WHERE streamId = 7
)
WHERE nth % 8 = 0;

UPDATE collective SET start = end, end = end + max(next_start - end, 0) * (1 + nth / 8 % 3) / 4, streamId = 33;

INSERT INTO StringIds
SELECT max(id) + 1, 'ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)'
FROM StringIds;

UPDATE collective
SET
  demangledName = (SELECT max(id) FROM StringIds),
  shortName = (SELECT max(id) FROM StringIds),
  mangledName = (SELECT max(id) FROM StringIds);

ALTER TABLE collective DROP COLUMN nth;
ALTER TABLE collective DROP COLUMN next_start;
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT * FROM collective WHERE end > start;
DROP TABLE collective;
