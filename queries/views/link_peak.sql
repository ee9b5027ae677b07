/*---
name: link_peak
summary: One row per GPU, with the peak bandwidth of its links to other GPUs and to the host.
present_if: [src_target_gpu, src_target_cuda_gpu]
reads: [gpu, process_device]
columns:
  - {name: gpu_id, type: id, doc: "GPU number on its machine."}
  - {name: gpu_name, type: text, doc: "Name of the GPU; null if unknown."}
  - {name: link_bytes_per_s, type: real, unit: bytes_per_s, doc: "What all NVLinks (AMD: Infinity Fabric links) of the GPU carry in one direction; null if the model is unknown, or has none."}
  - {name: host_bytes_per_s, type: real, unit: bytes_per_s, doc: "What the PCIe slot of the model carries in one direction, 16 lanes: 64 GB/s for generation 5, 32 for 4, 16 for 3; null as link_bytes_per_s is."}
  - {name: document, type: text, doc: "Vendor's document that states it, as the sum of both directions; null as link_bytes_per_s is."}
  - {name: url, type: text, doc: "Address of the document; null as link_bytes_per_s is."}
limits: >-
  The vendor's figure for a GPU whose links are all connected. A report does not record whether they are: boards on PCIe
  have links only with a bridge. Traffic between machines uses the network.
---*/
WITH
-- Both directions together, in 10^9 bytes per second.
source (document, url) AS (
  VALUES
  ('NVIDIA NVLink overview', 'https://www.nvidia.com/en-us/data-center/nvlink/'),
  ('NVIDIA H200 specifications', 'https://www.nvidia.com/en-us/data-center/h200/'),
  ('NVIDIA H100 specifications', 'https://www.nvidia.com/en-us/data-center/h100/'),
  (
    'NVIDIA H100 PCIe product brief',
    'https://www.nvidia.com/content/dam/en-zz/Solutions/gtcs22/data-center/h100/PB-11133-001_v01.pdf'
  ),
  (
    'NVIDIA A100 datasheet',
    'https://www.nvidia.com/content/dam/en-zz/Solutions/Data-Center/a100/pdf/'
    || 'nvidia-a100-datasheet-us-nvidia-1758950-r4-web.pdf'
  ),
  (
    'NVIDIA A30 datasheet',
    'https://www.nvidia.com/content/dam/en-zz/Solutions/data-center/products/a30-gpu/pdf/a30-datasheet.pdf'
  ),
  (
    'NVIDIA GA102 whitepaper',
    'https://www.nvidia.com/content/PDF/nvidia-ampere-ga-102-gpu-architecture-whitepaper-v2.pdf'
  ),
  (
    'NVIDIA Volta whitepaper',
    'https://images.nvidia.com/content/volta-architecture/pdf/volta-architecture-whitepaper.pdf'
  ),
  (
    'NVIDIA Pascal whitepaper',
    'https://images.nvidia.com/content/pdf/tesla/whitepaper/pascal-architecture-whitepaper.pdf'
  ),
  (
    'AMD Instinct MI300X platform datasheet',
    'https://www.amd.com/content/dam/amd/en/documents/instinct-tech-docs/data-sheets/'
    || 'amd-instinct-mi300x-platform-data-sheet.pdf'
  )
),
known (place, gpu_pattern, both_gb_per_s, pcie, document) AS (
  VALUES
  (10, '*B200*', 1800, 5, 'NVIDIA NVLink overview'),
  (20, '*H200*', 900, 5, 'NVIDIA H200 specifications'),
  (30, '*H100 PCIe*', 600, 5, 'NVIDIA H100 PCIe product brief'),
  (31, '*H100 NVL*', 600, 5, 'NVIDIA H100 specifications'),
  (32, '*H100*', 900, 5, 'NVIDIA H100 specifications'),
  (40, '*A100[- ]*', 600, 4, 'NVIDIA A100 datasheet'),
  (41, '*A30', 200, 4, 'NVIDIA A30 datasheet'),
  (42, '*A40', 112.5, 4, 'NVIDIA GA102 whitepaper'),
  (43, '*RTX A6000*', 112.5, 4, 'NVIDIA GA102 whitepaper'),
  (50, '*V100-SXM*', 300, 3, 'NVIDIA Volta whitepaper'),
  (51, '*P100-SXM*', 160, 3, 'NVIDIA Pascal whitepaper'),
  (60, '*RTX 3090*', 112.5, 4, 'NVIDIA GA102 whitepaper'),
  (70, '*MI300X*', 896, 5, 'AMD Instinct MI300X platform datasheet')
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
  2e9 * (1 << known.pcie) AS host_bytes_per_s,
  known.document,
  source.url
FROM used
JOIN gpu
  ON gpu.gpu_id = used.like_gpu_id
LEFT JOIN listed
  ON listed.gpu_id = gpu.gpu_id
LEFT JOIN known
  ON known.place = listed.place
LEFT JOIN source
  ON source.document = known.document
