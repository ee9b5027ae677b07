/*---
name: cuda_gpu
summary: One row per CUDA device of a process, with the physical GPU or MIG instance behind it.
stored: true
present_if: [src_cuda_device, src_target_gpu, src_target_cuda_gpu]
reads: [src_cuda_device, src_target_cuda_gpu, src_target_gpu]
columns:
  - {name: device_id, type: id, doc: "CUDA device ordinal within its process; CUDA_VISIBLE_DEVICES may renumber it."}
  - {name: pid, type: id, doc: "Operating system process ID; null if the export has one device list for all processes."}
  - {name: gpu_id, type: id, doc: "Number of the physical GPU or MIG instance; null if unknown."}
  - {name: card_id, type: id, doc: "GPU number on its machine, as the export gives it; the same for all MIG instances of a GPU. Before 2022.2, gpu_id."}
  - {name: bus_location, type: text, doc: "PCI address; null if unknown, or if the export has it only in the relation gpu."}
  - {name: uuid, type: text, doc: "Unique identifier of the GPU or MIG instance; null before schema 3.24.14."}
  - {name: sm_count, type: int, unit: count, doc: "Streaming multiprocessors (SMs) that the process can use; null if unknown."}
  - {name: is_partition, type: bool, doc: "Whether it is a MIG instance: another device of the same GPU has another uuid, or it has fewer SMs than the GPU."}
limits: >-
  Hardware is identified by address or uuid, never by the ordinal alone. Since 2022.2 the export numbers the GPUs of a
  machine; several uuids of one number are MIG instances, of which the first keeps the number and the others get numbers
  after the last GPU. Before, GPUs are identified by their PCI address: where processes see different GPUs as one ordinal,
  or one GPU as several, GPUs are numbered in the order of their addresses, else by ordinal. Before schema 3.17, newer
  exports have one device list for all processes, made without CUDA_VISIBLE_DEVICES. Hosts are not distinguished.
---*/
WITH
instance AS (
  SELECT gpuId, uuid, row_number() OVER (PARTITION BY gpuId ORDER BY uuid) AS nth
  FROM (
    SELECT DISTINCT gpuId, uuid
    FROM src_cuda_device
    WHERE gpuId IS NOT NULL
      AND uuid IS NOT NULL
  )
),
placed AS (
  SELECT
    gpuId,
    uuid,
    iif(
      nth = 1,
      gpuId,
      (SELECT max(id) FROM (SELECT id FROM src_target_gpu UNION ALL SELECT gpuId FROM src_cuda_device))
        + row_number() OVER (PARTITION BY nth > 1 ORDER BY gpuId, nth)
    ) AS gpu_id,
    count(*) OVER (PARTITION BY gpuId) > 1 AS is_shared
  FROM instance
),
old AS (
  SELECT
    *,
    dense_rank() OVER (ORDER BY pciBusId) - 1 AS place,
    (
      SELECT count(DISTINCT pciBusId) <> count(DISTINCT deviceId)
        OR count(DISTINCT deviceId || ' ' || pciBusId) <> count(DISTINCT deviceId)
      FROM src_target_cuda_gpu
      WHERE pciBusId IS NOT NULL
    ) AS is_renumbered
  FROM src_target_cuda_gpu
)
SELECT
  device.cudaId AS device_id,
  device.pid,
  coalesce(placed.gpu_id, device.gpuId) AS gpu_id,
  device.gpuId AS card_id,
  NULL AS bus_location,
  device.uuid,
  nullif(device.numMultiprocessors, 0) AS sm_count,
  coalesce(placed.is_shared, 0)
    OR coalesce(
      nullif(device.numMultiprocessors, 0) < (SELECT max(smCount) FROM src_target_gpu WHERE id = device.gpuId),
      0
    ) AS is_partition
FROM src_cuda_device AS device
LEFT JOIN placed
  ON placed.gpuId = device.gpuId
  AND placed.uuid = device.uuid
UNION ALL
SELECT cuDevice, NULL, id, id, NULL, NULL, NULL, 0
FROM src_target_gpu
WHERE NOT EXISTS (SELECT 1 FROM src_cuda_device)
UNION ALL
SELECT
  deviceId,
  pid,
  iif(is_renumbered AND pciBusId IS NOT NULL, place, deviceId),
  iif(is_renumbered AND pciBusId IS NOT NULL, place, deviceId),
  pciBusId,
  NULL,
  numMultiprocessors,
  0
FROM old
WHERE NOT EXISTS (SELECT 1 FROM src_target_gpu)
