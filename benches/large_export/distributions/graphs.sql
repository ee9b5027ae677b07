-- CUDA graphs: each 200 kernels of a process in a row are nodes of one launch of a graph.
CREATE TEMP TABLE launched AS
SELECT
  kernel.rowid AS id,
  row_number() OVER (PARTITION BY globalPid ORDER BY start) % 200 AS nth,
  first_value(correlationId) OVER (
    PARTITION BY globalPid, (row_number_in_process - 1) / 200
    ORDER BY start
  ) AS correlation
FROM (
  SELECT rowid, *, row_number() OVER (PARTITION BY globalPid ORDER BY start) AS row_number_in_process
  FROM CUPTI_ACTIVITY_KIND_KERNEL
) AS kernel;

UPDATE CUPTI_ACTIVITY_KIND_KERNEL
SET correlationId = launched.correlation, graphNodeId = 4294967296 + launched.nth
FROM launched
WHERE launched.id = CUPTI_ACTIVITY_KIND_KERNEL.rowid;

-- The other calls launched nothing: they are gone.
DELETE FROM CUPTI_ACTIVITY_KIND_RUNTIME
WHERE nameId IN (SELECT id FROM StringIds WHERE value GLOB '*LaunchKernel*')
  AND correlationId NOT IN (SELECT correlation FROM launched);

INSERT INTO StringIds SELECT max(id) + 1, 'cudaGraphLaunch_v10000' FROM StringIds;

UPDATE CUPTI_ACTIVITY_KIND_RUNTIME
SET nameId = (SELECT max(id) FROM StringIds)
WHERE nameId IN (SELECT id FROM StringIds WHERE value GLOB '*LaunchKernel*');

DROP TABLE launched;
