/*---
name: copy_rate
version: 3
title: Rate of large copies
summary: What large copies from, to and between GPUs reach, most time first.
why: To tell a link or memory that is slow from too much to copy.
kind: sum
internal: true
tags: [gpu, memory]
reads: [device, memcpy]
requires: [memcpy]
params:
  - {name: least, type: bytes, default: 1000000, min: 1, doc: "Smallest copy to count."}
columns:
  - {name: direction, type: text, priority: 0, doc: "Direction of the copies."}
  - {name: src_device_id, type: id, label: "source CUDA device", priority: 2, doc: "CUDA device ordinal of the source of copies between GPUs; else null."}
  - {name: dst_device_id, type: id, label: "destination CUDA device", priority: 2, doc: "CUDA device ordinal of the destination of copies between GPUs; else null."}
  - {name: is_pageable, type: bool, label: "pageable", priority: 2, doc: "1 if the host's memory is pageable."}
  - {name: copy_count, type: int, unit: count, label: "copies", priority: 1, doc: "Copies of this size or more."}
  - {name: size_bytes, type: bytes, unit: bytes, label: "median size", priority: 1, doc: "Median of their sizes."}
  - {name: copied_bytes, type: bytes, unit: bytes, label: "copied", priority: 1, doc: "Sum of their sizes."}
  - {name: total_ns, type: duration, unit: ns, label: "time", priority: 1, doc: "Sum of their times."}
  - {name: rate_bytes_per_s, type: real, unit: bytes_per_s, label: "rate", priority: 0, doc: "Their bytes divided by their time."}
  - {name: slow_gpu_id, type: id, label: "slow GPU", priority: 2, doc: "Of several GPUs, the one whose copies from or to the host reach half or less of what each other one reaches; else null."}
  - {name: slow_bytes_per_s, type: real, unit: bytes_per_s, label: "its rate", priority: 2, doc: "What its copies reach; else null."}
  - {name: other_bytes_per_s, type: real, unit: bytes_per_s, label: "other GPUs", priority: 2, doc: "The least that another GPU reaches; else null."}
checks:
  - copy_count > 0 AND total_ns > 0
limits: Copies that run at the same time share the link; each counts its own time.
see_also: [memcpy_bandwidth]
---*/
WITH
large AS MATERIALIZED (
  SELECT
    direction,
    iif(copy_kind = 10, src_device_id, NULL) AS src_device_id,
    iif(copy_kind = 10, dst_device_id, NULL) AS dst_device_id,
    coalesce(src_kind = 0 OR dst_kind = 0, 0) AS is_pageable,
    size_bytes,
    dur_ns,
    device_id,
    pid
  FROM memcpy
  WHERE copy_kind IN (1, 2, 10)
    AND size_bytes >= :least
    AND dur_ns > 0
),
-- What each GPU reaches, the slowest first.
each_gpu AS (
  SELECT
    direction,
    is_pageable,
    gpu_id,
    rate,
    row_number() OVER slowest AS nth,
    lead(rate) OVER slowest AS next_rate
  FROM (
    SELECT
      large.direction,
      large.is_pageable,
      coalesce(device.gpu_id, large.device_id) AS gpu_id,
      1e9 * sum(large.size_bytes) / sum(large.dur_ns) AS rate
    FROM large
    LEFT JOIN device
      ON device.device_id = large.device_id
      AND coalesce(device.pid, large.pid) = large.pid
    WHERE large.src_device_id IS NULL
    GROUP BY 1, 2, 3
  )
  WINDOW slowest AS (PARTITION BY direction, is_pageable ORDER BY rate, gpu_id)
),
slow AS (
  SELECT direction, is_pageable, gpu_id, rate, next_rate
  FROM each_gpu
  WHERE nth = 1
    AND next_rate >= 2 * rate
)
SELECT
  large.direction,
  large.src_device_id,
  large.dst_device_id,
  large.is_pageable,
  count(*) AS copy_count,
  median(large.size_bytes) AS size_bytes,
  sum(large.size_bytes) AS copied_bytes,
  sum(large.dur_ns) AS total_ns,
  1e9 * sum(large.size_bytes) / sum(large.dur_ns) AS rate_bytes_per_s,
  max(slow.gpu_id) AS slow_gpu_id,
  max(slow.rate) AS slow_bytes_per_s,
  max(slow.next_rate) AS other_bytes_per_s
FROM large
LEFT JOIN slow
  ON slow.direction = large.direction
  AND slow.is_pageable = large.is_pageable
  AND large.src_device_id IS NULL
GROUP BY 1, 2, 3, 4
ORDER BY total_ns DESC, 1, 2, 3, 4
