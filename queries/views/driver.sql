/*---
name: driver
summary: One row per version of the GPU driver that the capture names.
present_if: [src_driver_version, src_export_meta]
reads: [export_fact, src_driver_version]
columns:
  - {name: driver_name, type: text, doc: "CUDA driver, or HIP for AMD GPUs."}
  - {name: driver_version, type: text, doc: "CUDA version that the driver supports, such as 13.0, or the version of HIP, such as 6.4.43483."}
limits: The release of the driver itself, such as 580.65, is not in exports of nsys or in traces of PyTorch.
---*/
SELECT 'CUDA driver' AS driver_name, printf('%d.%d', number / 1000, number % 1000 / 10) AS driver_version
FROM (
  SELECT CAST(value AS INTEGER) AS number
  FROM src_driver_version
  UNION
  SELECT CAST(value AS INTEGER)
  FROM export_fact
  WHERE fact = 'TRACE_CUDA_DRIVER_VERSION'
)
WHERE number >= 1000
UNION ALL
SELECT 'HIP', printf('%d.%d.%d', number / 10000000, number / 100000 % 100, number % 100000)
FROM (
  SELECT CAST(value AS INTEGER) AS number
  FROM export_fact
  WHERE fact = 'TRACE_HIP_VERSION'
)
WHERE number >= 10000000
