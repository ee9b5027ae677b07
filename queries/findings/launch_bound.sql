/*---
name: launch_bound
version: 2
title: The GPU is launch-bound
summary: Gaps of a GPU because the next operation was launched late.
why: To see how much time CUDA graphs or fewer and larger kernels could save.
kind: finding
tags: [cuda, gpu, kernel, latency]
reads: [compute_gap_part, operator_gap]
requires: [compute_gap_part]
finding:
  claim: "Launch-bound: kernels finish faster than the CPU launches them."
  ceiling: Gaps below half a millisecond, and longer ones in operators of a framework that launch work, from the end of the GPU's work to the end of the next launch call. Gaps with a wait, an allocation or another long call, and time in the queue after the launch, do not count.
  remedy: >-
    Capture the step as a CUDA graph, fuse small kernels, or give each launch more work with a larger batch.
  in_pytorch: >-
    torch.compile(mode="reduce-overhead") or torch.cuda.graph.
  link: https://docs.nvidia.com/cuda/cuda-programming-guide/04-special-topics/cuda-graphs.html
  confidence: medium
  edit: |-
    launch=graph
    idle=@
  frees: idle
params:
  - {name: least, type: duration, default: 2us, min: 0, doc: "Shortest interval to return."}
  - {name: usual_call, type: duration, default: 50us, min: 0, doc: "A gap with a CUDA call of this length or longer has another cause, such as the first launch of a kernel."}
  - {name: below, type: duration, default: 500us, min: 0, doc: "Gaps of this length or longer have another cause, unless operators such as aten::addmm fill them; they belong to host_work."}
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: start_ns, type: timestamp, unit: ns, priority: 1, doc: "Start of the gap, on the report's clock."}
  - {name: dur_ns, type: duration, unit: ns, priority: 1, doc: "Time until the launch call of the next operation returned, or until the operation started if that was earlier."}
  - {name: subject, type: text, label: "next operation", priority: 0, doc: "Operation that the GPU ran after the gap; a kernel without its arguments."}
  - {name: gap_ns, type: duration, unit: ns, label: "gap", doc: "Length of the whole gap."}
limits: >-
  Recording slows the host: every CUDA call by about a microsecond, and much more with Python stacks or an NVTX range per
  operator. Without it the gaps are shorter. Work that the host must do between two launches, such as a decision, remains
  with CUDA graphs. Where the host is ahead of the GPU, gaps are queue time and have no rows.
  With --nvtx, --process and similar options, other work may run in a gap.
see_also: [host_work, launch_latency, gap_histogram, gpu_idle_cause_sum]
---*/
SELECT
  gpu_id,
  gap_start_ns AS start_ns,
  max(end_ns) - gap_start_ns AS dur_ns,
  -- All intervals of a gap have the same operation after them.
  CASE after_kind WHEN 'kernel' THEN simple_name(after_name) ELSE after_name END AS subject,
  max(gap_ns) AS gap_ns
FROM compute_gap_part
WHERE part IN ('host sync', 'launch call', 'memory allocation', 'other API call', 'outside CUDA API', 'unknown')
  AND (gap_ns < :below OR (gpu_id, gap_start_ns) IN (SELECT gpu_id, gap_start_ns FROM operator_gap))
GROUP BY gpu_id, gap_start_ns
HAVING max(end_ns) - gap_start_ns >= :least
  -- No other cause of the gap.
  AND max(CASE
    WHEN part IN ('host sync', 'memory allocation', 'unknown') THEN 1
    WHEN dur_ns >= :usual_call AND api_name IS NOT NULL THEN 1
    -- A copy that had not returned when the kernel was done was a wait.
    WHEN start_ns = gap_start_ns AND api_name GLOB 'cu*Memcpy*Async*' THEN 1
    WHEN api_name GLOB 'cuModuleLoad*' OR api_name GLOB 'cuLibraryLoad*' THEN 1
    ELSE 0
  END) = 0
ORDER BY gpu_id, gap_start_ns
