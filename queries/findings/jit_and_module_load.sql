/*---
name: jit_and_module_load
version: 1
title: The GPU waits for code to load
summary: Idle time of a GPU while the driver loads code or first launches a kernel.
why: To see how much of the time is warm-up that later iterations do not have.
kind: finding
tags: [api, cuda, gpu, kernel]
reads: [compute_gap_part]
requires: [compute_gap_part, kernel]
finding:
  claim: "Code loading: the GPU idles while CUDA loads modules or launches a kernel for the first time."
  ceiling: Time without a compute kernel inside calls that load modules and libraries, and inside long first launches of a kernel. Compilers that run on the host, such as Triton and NVRTC, do not count.
  remedy: >-
    Warm up every shape before the part that matters. CUDA_MODULE_LOADING=EAGER moves loading to the start; build for this GPU's architecture.
  in_pytorch: >-
    TORCH_CUDA_ARCH_LIST for extensions.
  link: https://docs.nvidia.com/cuda/cuda-programming-guide/04-special-topics/lazy-loading.html
  confidence: medium
  frees: idle
params:
  - {name: least, type: duration, default: 20us, min: 0, doc: "Shortest time in a call that loads code."}
  - {name: least_launch, type: duration, default: 50us, min: 0, doc: "Shortest time in a first launch; usual launches take 5 to 10 microseconds."}
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: start_ns, type: timestamp, unit: ns, priority: 1, doc: "Start of the idle time, on the report's clock."}
  - {name: dur_ns, type: duration, unit: ns, priority: 1, doc: "Idle time in the call."}
  - {name: subject, type: text, label: "call", priority: 0, doc: "Function that loads code, or 'first launch' for the first launch of a kernel."}
  - {name: after_name, type: text, label: "next operation", doc: "Operation that the GPU ran after the gap."}
limits: >-
  A kernel counts as new at its first execution in the report by each process and context, even if the program ran it before the
  capture began. A long first launch can have other causes, such as a full queue or a lock.
see_also: [gpu_idle_causes, top_kernels]
---*/
SELECT
  gpu_id,
  start_ns,
  dur_ns,
  iif(part = 'launch call', 'first launch', api_name) AS subject,
  after_name
FROM compute_gap_part
WHERE part IN ('other API call', 'launch call')
  -- Names are read for few intervals only.
  AND dur_ns >= min(:least, :least_launch)
  AND iif(
    part = 'launch call',
    dur_ns >= :least_launch AND is_first,
    dur_ns >= :least
    AND (
      api_name GLOB 'cuModuleLoad*'
      OR api_name GLOB 'cuLibraryLoad*'
      OR api_name GLOB 'cudaLibraryLoad*'
      OR api_name GLOB 'cuLink*'
      OR api_name IN ('cuModuleGetFunction', 'cuLibraryGetKernel', 'cuLibraryGetModule', 'cuKernelGetFunction')
      OR api_name IN ('cudaLibraryGetKernel', 'cudaGetKernel', 'cudaFuncGetAttributes')
    )
  )
ORDER BY gpu_id, start_ns, after_id
