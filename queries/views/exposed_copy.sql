/*---
name: exposed_copy
summary: One row per part of a copy or fill that no kernel hides, from when the next kernel could have run.
internal: true
present_if: [exposed_part]
reads: [exposed_part, memcpy, memset]
columns:
  - {name: gpu_id, type: id, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of the time that a fix would free, on the report's clock."}
  - {name: dur_ns, type: duration, unit: ns, doc: "Length of that time; may be 0."}
  - {name: direction, type: text, doc: "Direction of the copy, or memset."}
  - {name: size_bytes, type: bytes, unit: bytes, doc: "Bytes of the whole copy or fill."}
  - {name: op_id, type: id, doc: "Row ID of the operation in the raw table of its kind."}
  - {name: is_on_device, type: bool, doc: "Whether it is a copy within a GPU, or a fill."}
  - {name: is_between_gpus, type: bool, doc: "Whether it is a copy from one GPU to another."}
  - {name: is_pageable, type: bool, doc: "Whether it reads or writes pageable host memory; false if unknown."}
  - {name: is_migration, type: bool, doc: "Whether unified memory moved on demand, and not by a prefetch of the program."}
limits: >-
  Time in which the next compute kernel would have come late anyway is taken off the start: see late_ns of exposed_part.
---*/
SELECT
  part.gpu_id,
  part.start_ns + part.late_ns AS start_ns,
  part.dur_ns - part.late_ns AS dur_ns,
  memcpy.direction,
  memcpy.size_bytes,
  part.op_id,
  memcpy.copy_kind = 8 AS is_on_device,
  memcpy.copy_kind = 10 AS is_between_gpus,
  coalesce(0 IN (memcpy.src_kind, memcpy.dst_kind), false) AS is_pageable,
  coalesce(memcpy.migration_cause <> 'User prefetch', false) AS is_migration
FROM exposed_part AS part
CROSS JOIN memcpy
WHERE part.op_kind = 'memcpy'
  AND memcpy.memcpy_id = part.op_id
UNION ALL
SELECT
  part.gpu_id,
  part.start_ns + part.late_ns,
  part.dur_ns - part.late_ns,
  'memset',
  memset.size_bytes,
  part.op_id,
  true,
  false,
  false,
  false
FROM exposed_part AS part
CROSS JOIN memset
WHERE part.op_kind = 'memset'
  AND memset.memset_id = part.op_id
