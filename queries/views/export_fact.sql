/*---
name: export_fact
summary: One row per fact that the exporter and the profiler recorded about themselves.
present_if: [src_export_meta, src_capture_meta]
reads: [src_export_meta, src_capture_meta]
columns:
  - {name: fact, type: text, doc: "Name of the fact, such as EXPORT_SCHEMA_VERSION."}
  - {name: value, type: text, doc: "Value of the fact."}
limits: Leaves out the captured environment, command lines, users and paths.
---*/
SELECT name AS fact, value
FROM src_export_meta
WHERE
  name GLOB 'EXPORT_PRODUCT_*'
  OR name GLOB 'EXPORT_SCHEMA_*'
  OR name GLOB 'EXPORT_TIME*'
  OR name GLOB 'EXPORT_PARAM_INCLUDE_*'
  OR name GLOB 'EXPORT_PARAM_T*'
  OR name IN ('EXPORT_PARAM_LAZY', 'EXPORT_PLATFORM', 'EXPORT_ARCH')
  OR name GLOB 'TRACE_*'
  OR name IN ('NSQ_IMPORT_OF', 'NSQ_IMPORT_BY')
  OR name GLOB 'NSQ_JOINED_*'
  OR name IN ('DISTRIBUTED_RANK', 'DISTRIBUTED_WORLD_SIZE', 'DISTRIBUTED_BACKEND')
UNION ALL
SELECT name AS fact, value
FROM src_capture_meta
