/*---
name: link_peak
summary: One row per GPU, with the peak bandwidth of its links to other GPUs.
present_if: [src_target_gpu, src_target_cuda_gpu]
reads: [gpu, process_device]
columns:
  - {name: gpu_id, type: id, doc: "GPU number on its machine."}
  - {name: gpu_name, type: text, doc: "Name of the GPU; null if unknown."}
  - {name: link_bytes_per_s, type: real, unit: bytes_per_s, doc: "What all NVLinks (AMD: Infinity Fabric links) of the GPU carry in one direction; null if the model is not known, or has none."}
  - {name: document, type: text, doc: "Vendor's document that states it, as the sum of both directions; null as link_bytes_per_s is."}
limits: >-
  The vendor's figure for a GPU whose links are all connected. A report does not tell whether they are: boards on PCIe
  have links only with a bridge. Traffic between machines uses the network.
---*/
WITH
-- Both directions together, in 10^9 bytes per second.
known (place, gpu_pattern, both_gb_per_s, document) AS (
  VALUES
  (10, '*B200*', 1800, 'NVIDIA DGX B200 datasheet'),
  (20, '*H200*', 900, 'NVIDIA H200 datasheet'),
  (30, '*H100 PCIe*', 600, 'NVIDIA H100 datasheet'),
  (31, '*H100 NVL*', 600, 'NVIDIA H100 NVL product brief'),
  (32, '*H100*', 900, 'NVIDIA H100 datasheet'),
  (40, '*A100[- ]*', 600, 'NVIDIA A100 datasheet'),
  (41, '*A30', 200, 'NVIDIA A30 datasheet'),
  (42, '*A40', 112.5, 'NVIDIA A40 datasheet'),
  (43, '*RTX A6000*', 112.5, 'NVIDIA RTX A6000 datasheet'),
  (50, '*V100-SXM*', 300, 'NVIDIA V100 datasheet'),
  (51, '*P100-SXM*', 160, 'NVIDIA P100 datasheet'),
  (60, '*RTX 3090*', 112.5, 'NVIDIA GA102 whitepaper'),
  (70, '*MI300X*', 896, 'AMD Instinct MI300X datasheet')
),
-- A container may number its GPUs anew. If all GPUs are of one model, that does not matter.
model AS (
  SELECT min(gpu_id) AS gpu_id
  FROM gpu
  HAVING min(gpu_name) = max(gpu_name)
),
used AS (
  SELECT gpu_id, gpu_id AS like_gpu_id
  FROM gpu
  UNION ALL
  SELECT DISTINCT process_device.gpu_id, model.gpu_id
  FROM process_device
  CROSS JOIN model
  WHERE process_device.gpu_id NOT IN (SELECT gpu_id FROM gpu)
),
listed AS (
  SELECT gpu.gpu_id, min(known.place) AS place
  FROM gpu
  JOIN known
    ON gpu.gpu_name GLOB known.gpu_pattern
  GROUP BY gpu.gpu_id
)
SELECT
  used.gpu_id,
  gpu.gpu_name,
  1e9 * known.both_gb_per_s / 2 AS link_bytes_per_s,
  known.document
FROM used
JOIN gpu
  ON gpu.gpu_id = used.like_gpu_id
LEFT JOIN listed
  ON listed.gpu_id = gpu.gpu_id
LEFT JOIN known
  ON known.place = listed.place
