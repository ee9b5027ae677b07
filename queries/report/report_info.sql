/*---
name: report_info
version: 2
title: About the report
summary: Facts about the report, such as versions, GPUs, processes and event counts.
why: The first look at an unknown report, to see what it holds and how it was made.
kind: info
tags: [capture]
reads:
  - capture
  - cuda_call
  - cuda_sync
  - export_fact
  - failed_call
  - gpu
  - gpu_metric
  - graph_trace
  - import_count
  - kernel
  - memcpy
  - memset
  - mpi_event
  - nvtx_mark
  - nvtx_range
  - os_call
  - process
  - process_device
  - um_cpu_page_fault
  - um_gpu_page_fault
requires:
  - >-
    export_fact | capture | gpu | process | gpu_op | graph_trace | cuda_call | cuda_sync | nvtx_range | os_call
    | mpi_event | um_cpu_page_fault | um_gpu_page_fault
columns:
  - {name: section, type: text, priority: 0, doc: "Subject of the fact: export, import, capture, processes, a GPU, GPU work, CUDA API or rows."}
  - {name: fact, type: text, priority: 0, doc: "The fact; in section processes a process ID, in section rows a relation of nsq."}
  - {name: value, type: text, priority: 1, doc: "Value as text; null if unknown."}
  - {name: number, type: int, priority: 3, doc: "Value in ns, bytes, bytes per second or as a count; null for a text or if unknown."}
checks:
  - section <> '' AND fact <> ''
  - value IS NOT NULL OR number IS NULL
limits: >-
  Only processes with events are listed, and for a GPU only what is known. N in GPU N is the gpu_id of other queries.
  The fact CUDA device is the ordinal by which processes use this GPU, which --device takes. A relation with 0 rows was
  empty or not recorded. Counts and times follow the scope options. Times are on the report's clock, whose 0 can lie
  before the capture. The count of failed calls leaves out calls that returned 600 (not ready).
see_also: [api_errors, cuda_gpu_sum]
---*/
WITH
export AS (
  SELECT
    min(CASE fact WHEN 'EXPORT_PRODUCT_VERSION' THEN value END) AS product_version,
    min(CASE fact WHEN 'EXPORT_SCHEMA_VERSION' THEN value END) AS schema_version,
    min(CASE fact WHEN 'EXPORT_TIME_UTC' THEN value END) AS exported_at,
    min(CASE fact WHEN 'EXPORT_PARAM_TIMES_TO_EXPORT' THEN nullif(value, '') END) AS only_times,
    min(CASE fact WHEN 'EXPORT_PARAM_TABLES_TO_EXPORT' THEN nullif(value, '') END) AS only_tables,
    min(CASE fact WHEN 'NSQ_IMPORT_OF' THEN value END) AS made_from,
    min(CASE fact WHEN 'NSQ_IMPORT_BY' THEN value END) AS made_by,
    min(CASE fact WHEN 'DISTRIBUTED_RANK' THEN value END) AS rank,
    min(CASE fact WHEN 'DISTRIBUTED_WORLD_SIZE' THEN value END) AS world_size,
    min(CASE WHEN fact GLOB '*CUDA_GRAPH_TRACE_OPTIONS:MODE' THEN value END) AS graph_mode
  FROM export_fact
),
machine AS (
  SELECT dur_ns, utc_start_ns, row_number() OVER (ORDER BY dur_ns, utc_start_ns) AS machine_id
  FROM capture
),
-- DISTINCT leaves few rows for UNION, which is slower.
active_process AS (
  SELECT DISTINCT global_pid, pid FROM cuda_call
  UNION
  SELECT DISTINCT global_pid, pid FROM kernel
  UNION
  SELECT DISTINCT global_pid, pid FROM memcpy
  UNION
  SELECT DISTINCT global_pid, pid FROM memset
  UNION
  SELECT DISTINCT global_pid, pid FROM graph_trace
  UNION
  SELECT DISTINCT global_pid, pid FROM nvtx_range
  UNION
  SELECT DISTINCT global_pid, pid FROM nvtx_mark
  UNION
  SELECT DISTINCT global_pid, pid FROM os_call
  UNION
  SELECT DISTINCT global_pid, pid FROM mpi_event
  UNION
  SELECT DISTINCT global_pid, pid FROM cuda_sync
  UNION
  SELECT DISTINCT global_pid, pid FROM um_cpu_page_fault
  UNION
  SELECT DISTINCT global_pid, pid FROM um_gpu_page_fault
),
-- CUDA graphs traced as a whole are work, although no relation has their kernels.
device_work AS (
  SELECT device_id, min(start_ns) AS start_ns, max(end_ns) AS end_ns
  FROM (
    SELECT device_id, start_ns, end_ns FROM kernel
    UNION ALL
    SELECT device_id, start_ns, end_ns FROM memcpy
    UNION ALL
    SELECT device_id, start_ns, end_ns FROM memset
    UNION ALL
    SELECT device_id, start_ns, end_ns FROM graph_trace
  )
  GROUP BY device_id
),
work AS (
  SELECT
    count(*) AS devices,
    min(start_ns) AS start_ns,
    max(end_ns) AS end_ns,
    group_concat(device_id, ', ') AS device_ids
  FROM (SELECT device_id, start_ns, end_ns FROM device_work ORDER BY device_id)
),
info AS (
  SELECT
    1 AS section_id,
    0 AS member_id,
    1 AS fact_id,
    'export' AS section,
    'nsys version' AS fact,
    product_version AS value,
    NULL AS number
  FROM export
  WHERE made_from IS NULL
  UNION ALL
  SELECT 1, 0, 2, 'export', 'schema version', schema_version, NULL
  FROM export
  WHERE made_from IS NULL
  UNION ALL
  SELECT 1, 0, 3, 'export', 'written (UTC)', exported_at, NULL
  FROM export
  WHERE made_from IS NULL
  UNION ALL
  SELECT 1, 0, 4, 'export', 'only these times', only_times, NULL
  FROM export
  WHERE only_times IS NOT NULL
  UNION ALL
  SELECT 1, 0, 5, 'export', 'only these tables', only_tables, NULL
  FROM export
  WHERE only_tables IS NOT NULL
  UNION ALL
  SELECT 1, 0, 6, 'import', 'made from', made_from, NULL
  FROM export
  WHERE made_from IS NOT NULL
  UNION ALL
  SELECT 1, 0, 7, 'import', 'made by', made_by, NULL
  FROM export
  WHERE made_by IS NOT NULL
  UNION ALL
  SELECT 1, 0, 8, 'import', 'rank', rank || coalesce(' of ' || world_size, ''), cast(rank AS INTEGER)
  FROM export
  WHERE rank IS NOT NULL
  UNION ALL
  SELECT
    1, 0, 9, 'import', category || ' events',
    CASE
      WHEN imported = events THEN 'all imported'
      WHEN imported = 0 THEN 'not imported'
      ELSE printf('%,d imported', imported)
    END,
    events
  FROM import_count
  UNION ALL
  SELECT 2, machine_id, 1, 'capture', 'length', printf('%.9f s', dur_ns / 1e9), dur_ns
  FROM machine
  UNION ALL
  SELECT
    2, machine_id, 2, 'capture', 'clock 0 (UTC)',
    strftime('%Y-%m-%dT%H:%M:%S', utc_start_ns / 1000000000, 'unixepoch'),
    utc_start_ns
  FROM machine
  UNION ALL
  SELECT
    3, 0, 1, 'capture', 'CUDA graphs traced',
    CASE
      WHEN graph_mode = 'Graph' OR EXISTS (SELECT 1 FROM graph_trace) THEN 'as a whole, without the kernels inside'
      WHEN graph_mode = 'Node' THEN 'node by node'
      ELSE graph_mode
    END,
    NULL
  FROM export
  UNION ALL
  SELECT 4, global_pid, 1, 'processes', 'pid ' || active_process.pid, process_name, NULL
  FROM active_process
  LEFT JOIN process USING (global_pid)
  UNION ALL
  -- Exports of 2020 have two tables of GPUs, and both can name the same one.
  SELECT DISTINCT 5, gpu_id, 1, 'GPU ' || gpu_id, 'name', gpu_name, NULL
  FROM gpu
  UNION ALL
  SELECT DISTINCT 5, gpu_id, 2, 'GPU ' || gpu_id, 'memory', printf('%.2f GB', memory_bytes / 1e9), memory_bytes
  FROM gpu
  WHERE memory_bytes > 0
  UNION ALL
  SELECT DISTINCT
    5, gpu_id, 3, 'GPU ' || gpu_id, 'peak memory bandwidth',
    printf('%.0f GB/s', peak_bandwidth_bytes_per_s / 1e9),
    cast(peak_bandwidth_bytes_per_s AS INTEGER)
  FROM gpu
  WHERE peak_bandwidth_bytes_per_s > 0
  UNION ALL
  SELECT DISTINCT 5, gpu_id, 4, 'GPU ' || gpu_id, 'SMs', printf('%,d', sm_count), sm_count
  FROM gpu
  WHERE sm_count > 0
  UNION ALL
  SELECT DISTINCT 5, gpu_id, 5, 'GPU ' || gpu_id, 'compute capability', compute_capability, NULL
  FROM gpu
  WHERE sm_count > 0
  UNION ALL
  SELECT DISTINCT 5, gpu_id, 6, 'GPU ' || gpu_id, 'PCI address', bus_location, NULL
  FROM gpu
  WHERE bus_location <> ''
  UNION ALL
  SELECT
    5, gpu_id, 7, 'GPU ' || gpu_id, 'CUDA device',
    CASE
      WHEN min(device_id) = max(device_id) THEN '' || min(device_id)
      ELSE group_concat(device_id || ' in pid ' || coalesce(pid, '(unknown)'), ', ')
    END,
    NULL
  FROM (SELECT DISTINCT gpu_id, device_id, pid FROM process_device ORDER BY device_id, pid)
  WHERE gpu_id IS NOT NULL
  GROUP BY gpu_id
  UNION ALL
  SELECT 6, 0, 1, 'GPU work', 'CUDA devices used', device_ids, devices
  FROM work
  WHERE devices > 0
  UNION ALL
  SELECT 6, 0, 2, 'GPU work', 'first begins at', printf('%.9f s', start_ns / 1e9), start_ns
  FROM work
  WHERE devices > 0
  UNION ALL
  SELECT 6, 0, 3, 'GPU work', 'last ends at', printf('%.9f s', end_ns / 1e9), end_ns
  FROM work
  WHERE devices > 0
  UNION ALL
  SELECT 6, 0, 4, 'GPU work', 'first to last', printf('%.9f s', (end_ns - start_ns) / 1e9), end_ns - start_ns
  FROM work
  WHERE devices > 0
  UNION ALL
  SELECT
    7, 0, 1, 'CUDA API', 'calls that failed',
    iif(count(*) > count(return_value), 'not recorded', printf('%,d', (SELECT count(*) FROM failed_call))),
    iif(count(*) > count(return_value), NULL, (SELECT count(*) FROM failed_call))
  FROM cuda_call
  UNION ALL
  SELECT 8, 0, 1, 'rows', 'kernel', printf('%,d', count(*)), count(*)
  FROM kernel
  UNION ALL
  SELECT 8, 0, 2, 'rows', 'memcpy', printf('%,d', count(*)), count(*)
  FROM memcpy
  UNION ALL
  SELECT 8, 0, 3, 'rows', 'memset', printf('%,d', count(*)), count(*)
  FROM memset
  UNION ALL
  SELECT 8, 0, 4, 'rows', 'graph_trace', printf('%,d', count(*)), count(*)
  FROM graph_trace
  UNION ALL
  SELECT 8, 0, 5, 'rows', 'cuda_call', printf('%,d', count(*)), count(*)
  FROM cuda_call
  UNION ALL
  SELECT 8, 0, 6, 'rows', 'cuda_sync', printf('%,d', count(*)), count(*)
  FROM cuda_sync
  UNION ALL
  SELECT 8, 0, 7, 'rows', 'nvtx_range', printf('%,d', count(*)), count(*)
  FROM nvtx_range
  UNION ALL
  SELECT 8, 0, 8, 'rows', 'nvtx_mark', printf('%,d', count(*)), count(*)
  FROM nvtx_mark
  UNION ALL
  SELECT 8, 0, 9, 'rows', 'os_call', printf('%,d', count(*)), count(*)
  FROM os_call
  UNION ALL
  SELECT 8, 0, 10, 'rows', 'mpi_event', printf('%,d', count(*)), count(*)
  FROM mpi_event
  UNION ALL
  SELECT 8, 0, 11, 'rows', 'um_cpu_page_fault', printf('%,d', count(*)), count(*)
  FROM um_cpu_page_fault
  UNION ALL
  SELECT 8, 0, 12, 'rows', 'um_gpu_page_fault', printf('%,d', count(*)), count(*)
  FROM um_gpu_page_fault
  UNION ALL
  SELECT 8, 0, 13, 'rows', 'gpu_metric', printf('%,d', count(*)), count(*)
  FROM gpu_metric
)
SELECT section, fact, value, number
FROM info
ORDER BY section_id, member_id, fact_id, fact, value, number
