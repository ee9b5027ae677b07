-- AMD's rocpd, as rocprofv3 writes it → the rows of an export. Its tables are TEMP views without the UUID in their names.
-- IDs are unique for each `guid`, which is a process.
CREATE TEMP TABLE node AS
SELECT guid, id, row_number() OVER (ORDER BY guid, id) AS nth FROM (SELECT DISTINCT guid, id FROM rocpd_info_node);
-- nsys gives 1 to the first machine. Nodes of the same name are one machine.
CREATE TEMP TABLE machine AS
SELECT node.guid, node.id, dense_rank() OVER (ORDER BY coalesce(info.machine_id, info.hostname, '')) AS number
FROM node
JOIN rocpd_info_node AS info ON info.guid = node.guid AND info.id = node.id;
CREATE TEMP TABLE process AS
SELECT
  info.guid,
  info.id,
  info.pid,
  -- Only the program: its arguments can be secret.
  iif(
    json_valid(info.command) AND info.command GLOB '[[]*',
    info.command ->> '$[0]',
    substr(info.command, 1, instr(info.command || ' ', ' ') - 1)
  ) AS program,
  (coalesce(machine.number, 1) << 48) | ((info.pid & 16777215) << 24) AS globalPid
FROM rocpd_info_process AS info
LEFT JOIN machine ON machine.guid = info.guid AND machine.id = info.nid;
CREATE INDEX temp.process_id ON process (guid, id);
CREATE TEMP TABLE thread AS
SELECT info.guid, info.id, info.name, process.globalPid | (info.tid & 16777215) AS globalTid
FROM rocpd_info_thread AS info
JOIN process ON process.guid = info.guid AND process.id = info.pid;
CREATE INDEX temp.thread_id ON thread (guid, id);
CREATE TEMP TABLE agent AS
SELECT guid, id, type = 'GPU' AS is_gpu, coalesce(type_index, logical_index, absolute_index) AS ordinal
FROM rocpd_info_agent;
CREATE INDEX temp.agent_id ON agent (guid, id);

-- Calls of HIP, or of HSA if HIP was not traced; and ranges of ROCTX, whose text is in the event.
CREATE TEMP TABLE region AS
SELECT
  row_number() OVER (ORDER BY region.start, region.guid, region.id) AS number,
  region.guid,
  region.start,
  region."end",
  thread.globalTid,
  thread.globalTid & -16777216 AS globalPid,
  category.string AS category,
  name.string AS name,
  iif(json_valid(event.extdata), event.extdata ->> '$.message', NULL) AS message,
  event.stack_id
FROM rocpd_region AS region
JOIN thread ON thread.guid = region.guid AND thread.id = region.tid
JOIN rocpd_string AS name ON name.guid = region.guid AND name.id = region.name_id
LEFT JOIN rocpd_event AS event ON event.guid = region.guid AND event.id = region.event_id
LEFT JOIN rocpd_string AS category ON category.guid = region.guid AND category.id = event.category_id;
CREATE TEMP TABLE call AS
SELECT number, guid, start, "end", globalTid, name, stack_id, category GLOB 'HIP*' AS is_hip
FROM region
WHERE category GLOB 'HIP*API*'
  OR (category GLOB 'HSA*API*' AND NOT EXISTS (SELECT 1 FROM region WHERE category GLOB 'HIP*API*'));
CREATE INDEX temp.call_stack ON call (guid, stack_id);

-- Work of the GPU, with the call that asked for it: the one around it (its parent), else the one with its own number.
CREATE TEMP TABLE op AS
SELECT
  'kernel' AS kind, dispatch.id, dispatch.guid, dispatch.start, dispatch."end", dispatch.pid, dispatch.agent_id,
  dispatch.stream_id, dispatch.queue_id, dispatch.event_id
FROM rocpd_kernel_dispatch AS dispatch
UNION ALL
SELECT
  'copy', copy.id, copy.guid, copy.start, copy."end", copy.pid, NULL, copy.stream_id, copy.queue_id, copy.event_id
FROM rocpd_memory_copy AS copy;
CREATE TEMP TABLE placed AS
SELECT
  op.kind,
  op.id,
  op.guid,
  op.start,
  op."end",
  process.globalPid,
  agent.ordinal,
  coalesce(op.stream_id, op.queue_id) AS stream,
  coalesce(
    (
      SELECT min(call.number) FROM call
      WHERE call.guid = op.guid AND call.stack_id = nullif(event.parent_stack_id, 0)
    ),
    (SELECT min(call.number) FROM call WHERE call.guid = op.guid AND call.stack_id = nullif(event.stack_id, 0))
  ) AS call
FROM op
LEFT JOIN process ON process.guid = op.guid AND process.id = op.pid
LEFT JOIN agent ON agent.guid = op.guid AND agent.id = op.agent_id
LEFT JOIN rocpd_event AS event ON event.guid = op.guid AND event.id = op.event_id;
CREATE INDEX temp.placed_id ON placed (kind, guid, id);

INSERT INTO temp.text (value)
SELECT coalesce(nullif(display_name, ''), kernel_name) FROM rocpd_info_kernel_symbol
WHERE coalesce(nullif(display_name, ''), kernel_name) IS NOT NULL
UNION SELECT short_name(coalesce(nullif(display_name, ''), kernel_name)) FROM rocpd_info_kernel_symbol
WHERE coalesce(nullif(display_name, ''), kernel_name) IS NOT NULL
UNION SELECT kernel_name FROM rocpd_info_kernel_symbol WHERE kernel_name IS NOT NULL
UNION SELECT name FROM call
UNION SELECT message FROM region WHERE message IS NOT NULL
UNION SELECT name FROM thread WHERE name IS NOT NULL;
INSERT INTO StringIds SELECT id, value FROM temp.text;

-- rocprofv3 counts a grid in work items.
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL
SELECT
  placed.start,
  placed."end",
  placed.globalPid,
  placed.ordinal,
  NULL,
  placed.stream,
  placed.call,
  (SELECT id FROM temp.text WHERE value = coalesce(nullif(symbol.display_name, ''), symbol.kernel_name)),
  (SELECT id FROM temp.text WHERE value = short_name(coalesce(nullif(symbol.display_name, ''), symbol.kernel_name))),
  (SELECT id FROM temp.text WHERE value = symbol.kernel_name),
  symbol.arch_vgpr_count,
  (dispatch.grid_size_x + dispatch.workgroup_size_x - 1) / nullif(dispatch.workgroup_size_x, 0),
  (dispatch.grid_size_y + dispatch.workgroup_size_y - 1) / nullif(dispatch.workgroup_size_y, 0),
  (dispatch.grid_size_z + dispatch.workgroup_size_z - 1) / nullif(dispatch.workgroup_size_z, 0),
  dispatch.workgroup_size_x,
  dispatch.workgroup_size_y,
  dispatch.workgroup_size_z,
  symbol.group_segment_size,
  max(dispatch.group_segment_size - symbol.group_segment_size, 0)
FROM rocpd_kernel_dispatch AS dispatch
JOIN placed ON placed.kind = 'kernel' AND placed.guid = dispatch.guid AND placed.id = dispatch.id
LEFT JOIN rocpd_info_kernel_symbol AS symbol ON symbol.guid = dispatch.guid AND symbol.id = dispatch.kernel_id
ORDER BY placed.start, placed.guid, placed.id;

-- 1 HtoD, 2 DtoH, 8 DtoD, 9 HtoH, 10 between GPUs.
INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY
SELECT
  placed.start,
  placed."end",
  placed.globalPid,
  CASE WHEN target.is_gpu THEN target.ordinal WHEN source.is_gpu THEN source.ordinal END,
  NULL,
  placed.stream,
  placed.call,
  copy.size,
  CASE
    WHEN NOT source.is_gpu AND target.is_gpu THEN 1
    WHEN source.is_gpu AND NOT target.is_gpu THEN 2
    WHEN source.is_gpu AND target.is_gpu AND source.id <> target.id THEN 10
    WHEN source.is_gpu AND target.is_gpu THEN 8
    WHEN NOT source.is_gpu AND NOT target.is_gpu THEN 9
    WHEN name.string GLOB '*HOST_TO_DEVICE' THEN 1
    WHEN name.string GLOB '*DEVICE_TO_HOST' THEN 2
    WHEN name.string GLOB '*DEVICE_TO_DEVICE' THEN 8
    WHEN name.string GLOB '*HOST_TO_HOST' THEN 9
    ELSE 0
  END,
  NULL,
  NULL,
  iif(source.is_gpu, source.ordinal, NULL),
  iif(target.is_gpu, target.ordinal, NULL)
FROM rocpd_memory_copy AS copy
JOIN placed ON placed.kind = 'copy' AND placed.guid = copy.guid AND placed.id = copy.id
LEFT JOIN agent AS source ON source.guid = copy.guid AND source.id = copy.src_agent_id
LEFT JOIN agent AS target ON target.guid = copy.guid AND target.id = copy.dst_agent_id
LEFT JOIN rocpd_string AS name ON name.guid = copy.guid AND name.id = copy.name_id
ORDER BY placed.start, placed.guid, placed.id;

INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME
SELECT start, "end", globalTid, 0, number, (SELECT id FROM temp.text WHERE value = name), NULL
FROM call
ORDER BY number;

INSERT INTO NVTX_EVENTS
SELECT
  start,
  "end",
  globalTid,
  iif(name GLOB 'roctxProcessRange*' OR name GLOB 'roctxRangeSt*', 60, 59),
  (SELECT id FROM temp.text WHERE value = message),
  0,
  NULL
FROM region
WHERE category GLOB '*MARKER*'
  AND message IS NOT NULL
ORDER BY number;

INSERT INTO PROCESSES
SELECT globalPid, pid, max(replace(program, rtrim(program, replace(program, '/', '')), ''))
FROM process
GROUP BY globalPid, pid;
INSERT INTO ThreadNames
SELECT (SELECT id FROM temp.text WHERE value = name), 10, globalTid FROM thread WHERE name IS NOT NULL GROUP BY globalTid;
INSERT INTO TARGET_INFO_GPU
SELECT
  agent.ordinal,
  agent.ordinal,
  max(coalesce(nullif(info.product_name, ''), nullif(info.model_name, ''), info.name)),
  max(iif(json_valid(info.extdata), info.extdata ->> '$.cu_count', NULL)),
  max(iif(json_valid(info.extdata), info.extdata ->> '$.wave_front_size', NULL))
FROM rocpd_info_agent AS info
JOIN agent ON agent.guid = info.guid AND agent.id = info.id
WHERE agent.is_gpu
GROUP BY agent.ordinal;
INSERT INTO META_DATA_EXPORT VALUES ('NSQ_IMPORT_OF', 'rocpd database');
INSERT INTO NSQ_IMPORT
SELECT 'kernel_dispatch', count(*), (SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL) FROM rocpd_kernel_dispatch
UNION ALL
SELECT 'memory_allocate', count(*), 0 FROM rocpd_memory_allocate HAVING count(*) > 0
UNION ALL
SELECT 'memory_copy', count(*), (SELECT count(*) FROM CUPTI_ACTIVITY_KIND_MEMCPY) FROM rocpd_memory_copy
UNION ALL
SELECT
  'region: ' || coalesce(category, '(none)'),
  count(*),
  sum((category GLOB '*MARKER*' AND message IS NOT NULL) OR number IN (SELECT number FROM call))
FROM region
GROUP BY category;
