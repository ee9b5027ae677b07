/*---
name: slow_calls
version: 1
title: The GPU waits for calls that ask the driver
summary: Idle time of a GPU inside calls that ask for properties, attributes or memory.
why: To find calls that a program repeats in each step, although their answer stays the same.
kind: finding
tags: [api, cuda, gpu]
reads: [compute_gap_part]
requires: [compute_gap_part]
finding:
  claim: "Slow calls: the GPU idles while the launching thread asks the driver for properties, attributes or free memory."
  ceiling: Time without a compute kernel inside these calls, before the next launch.
  remedy: >-
    Ask once and keep the answer. For a single property, cudaDeviceGetAttribute is much faster than cudaGetDeviceProperties.
  link: https://docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART__DEVICE.html
  edit: "idle=@\nwait=@"
  narrows: [slow_iterations]
  confidence: high
  frees: idle
params:
  - {name: least, type: duration, default: 5us, min: 0, doc: "Shortest interval to return."}
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: start_ns, type: timestamp, unit: ns, priority: 1, doc: "Start of the idle time, on the report's clock."}
  - {name: dur_ns, type: duration, unit: ns, priority: 1, doc: "Idle time in the call."}
  - {name: subject, type: text, label: "call", priority: 0, doc: "CUDA or HIP function."}
  - {name: after_name, type: text, label: "next operation", doc: "Operation that the GPU ran after the gap."}
limits: The first calls of a program also initialize the library, which occurs once.
see_also: [allocation, gpu_idle_causes, cuda_api_sum]
---*/
SELECT gpu_id, start_ns, dur_ns, api_name AS subject, after_name
FROM compute_gap_part
WHERE part = 'other API call'
  AND (
    api_name GLOB 'cudaGetDeviceProp*'
    OR api_name GLOB 'cudaDeviceGet*'
    OR api_name GLOB 'cudaMemGetInfo*'
    OR api_name GLOB 'cudaFuncGetAttribute*'
    OR api_name GLOB 'cudaFuncSetAttribute*'
    OR api_name GLOB 'cudaPointerGetAttribute*'
    OR api_name GLOB 'cudaOccupancy*'
    OR api_name GLOB 'cudaDeviceCanAccessPeer*'
    OR api_name GLOB 'cudaDeviceSetLimit*'
    OR api_name GLOB 'cuDeviceGet*'
    OR api_name GLOB 'cuMemGetInfo*'
    OR api_name GLOB 'cuFuncGetAttribute*'
    OR api_name GLOB 'cuPointerGetAttribute*'
    OR api_name GLOB 'cuOccupancy*'
    OR api_name GLOB 'hipGetDeviceProp*'
    OR api_name GLOB 'hipDeviceGet*'
    OR api_name GLOB 'hipMemGetInfo*'
    OR api_name GLOB 'hipFuncGetAttribute*'
    OR api_name GLOB 'hipPointerGetAttribute*'
    OR api_name GLOB 'hipOccupancy*'
  )
  AND dur_ns >= :least
ORDER BY gpu_id, start_ns, after_id
