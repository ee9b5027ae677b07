-- rpd, as rocmProfileData writes it → the rows of an export. An operation belongs to the call that rocpd_api_ops names.
CREATE TEMP TABLE call AS
SELECT
  api.id,
  api.start,
  api."end",
  (1 << 48) | ((api.pid & 16777215) << 24) AS globalPid,
  (1 << 48) | ((api.pid & 16777215) << 24) | (api.tid & 16777215) AS globalTid,
  name.string AS name,
  iif(name.string IN ('UserMarker', 'roctxRangePush', 'roctxRangePushA'), args.string, NULL) AS message
FROM rocpd_api AS api
JOIN rocpd_string AS name ON name.id = api.apiName_id
LEFT JOIN rocpd_string AS args ON args.id = api.args_id;
CREATE INDEX temp.call_id ON call (id);
CREATE TEMP TABLE op AS
SELECT
  op.id,
  op.gpuId,
  op.queueId,
  op.start,
  op."end",
  coalesce(nullif(description.string, ''), kind.string) AS name,
  CASE
    WHEN kind.string GLOB '*[Cc]opy*' THEN 'copy'
    WHEN kind.string GLOB '*[Ff]ill*' THEN 'fill'
    WHEN kind.string GLOB '*[Bb]arrier*' OR kind.string GLOB '*[Mm]arker*' THEN 'other'
    ELSE 'kernel'
  END AS is_a,
  kind.string AS kind,
  (SELECT min(link.api_id) FROM rocpd_api_ops AS link WHERE link.op_id = op.id) AS call
FROM rocpd_op AS op
LEFT JOIN rocpd_string AS description ON description.id = op.description_id
LEFT JOIN rocpd_string AS kind ON kind.id = op.opType_id;
-- If one process made all calls, work without a call is its own, too.
CREATE TEMP TABLE owner AS
SELECT iif(count(DISTINCT globalPid) = 1, min(globalPid), NULL) AS globalPid FROM call;

INSERT INTO temp.text (value)
SELECT name FROM op WHERE is_a = 'kernel' AND name IS NOT NULL
UNION SELECT short_name(name) FROM op WHERE is_a = 'kernel' AND name IS NOT NULL
UNION SELECT name FROM call
UNION SELECT message FROM call WHERE message IS NOT NULL;
INSERT INTO StringIds SELECT id, value FROM temp.text;

INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL
SELECT
  op.start,
  op."end",
  coalesce(call.globalPid, owner.globalPid),
  op.gpuId,
  NULL,
  op.queueId,
  op.call,
  (SELECT id FROM temp.text WHERE value = op.name),
  (SELECT id FROM temp.text WHERE value = short_name(op.name)),
  NULL,
  NULL,
  (shape.gridX + shape.workgroupX - 1) / nullif(shape.workgroupX, 0),
  (shape.gridY + shape.workgroupY - 1) / nullif(shape.workgroupY, 0),
  (shape.gridZ + shape.workgroupZ - 1) / nullif(shape.workgroupZ, 0),
  shape.workgroupX,
  shape.workgroupY,
  shape.workgroupZ,
  shape.groupSegmentSize,
  NULL
FROM op
CROSS JOIN owner
LEFT JOIN call ON call.id = op.call
LEFT JOIN rocpd_kernelop AS shape ON shape.op_ptr_id = op.id
WHERE op.is_a = 'kernel'
ORDER BY op.start, op.id;

INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY
SELECT
  op.start,
  op."end",
  coalesce(call.globalPid, owner.globalPid),
  op.gpuId,
  NULL,
  op.queueId,
  op.call,
  coalesce(
    (SELECT size FROM rocpd_copyop WHERE op_ptr_id = op.id),
    (SELECT size FROM rocpd_copyapi WHERE api_ptr_id = op.call)
  ),
  CASE
    WHEN op.kind GLOB '*HostToDevice*' THEN 1
    WHEN op.kind GLOB '*DeviceToHost*' THEN 2
    WHEN op.kind GLOB '*DeviceToDevice*' THEN 8
    WHEN op.kind GLOB '*HostToHost*' THEN 9
    ELSE 0
  END,
  NULL,
  NULL,
  NULL,
  NULL
FROM op
CROSS JOIN owner
LEFT JOIN call ON call.id = op.call
WHERE op.is_a = 'copy'
ORDER BY op.start, op.id;

INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET
SELECT
  op.start, op."end", coalesce(call.globalPid, owner.globalPid), op.gpuId, NULL, op.queueId, op.call, NULL, NULL
FROM op
CROSS JOIN owner
LEFT JOIN call ON call.id = op.call
WHERE op.is_a = 'fill'
ORDER BY op.start, op.id;

INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME
SELECT start, "end", globalTid, 0, id, (SELECT id FROM temp.text WHERE value = name), NULL
FROM call
WHERE message IS NULL
ORDER BY start, id;

INSERT INTO NVTX_EVENTS
SELECT start, "end", globalTid, 59, (SELECT id FROM temp.text WHERE value = message), 0, NULL
FROM call
WHERE message IS NOT NULL
ORDER BY start, "end" DESC, id;

INSERT INTO PROCESSES SELECT globalPid, globalPid >> 24 & 16777215, NULL FROM call GROUP BY globalPid;
INSERT INTO META_DATA_EXPORT VALUES ('NSQ_IMPORT_OF', 'rpd database');
INSERT INTO NSQ_IMPORT
SELECT 'op: ' || coalesce(kind, '(none)'), count(*), sum(is_a <> 'other') FROM op GROUP BY kind
UNION ALL
SELECT 'api', count(*), count(*) FROM call;
