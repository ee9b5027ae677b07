/*---
name: dx12_mem_ops
version: 1
title: Slow memory operations of Direct3D 12
summary: Calls of Direct3D 12 that zero, read or write memory slowly, longest first.
why: To find memory operations of the host that make frames stutter.
kind: rule
tags: [memory, rule]
reads: [dx12_memory_op]
params:
  - {name: limit, type: int, default: 50, min: -1, doc: "Number of rows to return; -1 returns all rows."}
columns:
  - {name: dur_ns, type: duration, unit: ns, label: "duration", priority: 1, doc: "Duration of the call."}
  - {name: start_ns, type: timestamp, unit: ns, priority: 1, doc: "Start of the call, on the report's clock."}
  - {name: pid, type: id, priority: 3, doc: "Operating system process ID."}
  - {name: tid, type: id, priority: 1, doc: "Operating system thread ID."}
  - {name: gpu, type: id, label: "GPU", priority: 1, doc: "GPU, as the raw table numbers them; null if unknown."}
  - {name: warning, type: text, priority: 0, doc: "What is slow about the call, in NVIDIA's words."}
checks:
  - dur_ns >= 0
when_empty: "no call creates zeroed memory, reads from an upload heap or writes to a readback heap"
limits: >-
  Map and Unmap are not judged: NVIDIA documents four warnings about them, and its rule gave none on exports made for
  nsq. A call that fits two warnings has one row, with the one about its heap.
see_also: [dx12_pix_sum, dx12_gpu_marker_sum]
nsys:
  title: DX12 Memory Operations
  args:
    - {name: rows, param: limit}
  lacks:
    - {says: "DX12 data. Does the application use DX12 APIs?"}
  advice: >-
    These Direct3D 12 calls create memory that is cleared needlessly, or read or write memory of a kind that is slow
    for it. `nsq analyze --help-rules dx12_mem_ops` describes the warnings.
  all_clear: >-
    There were no problems detected related to memory operations.
  columns:
    - {name: Duration, unit: ns, sql: dur_ns}
    - {name: Start, unit: ns, sql: start_ns}
    - {name: TID, sql: tid}
    - {name: Device ID, sql: gpu}
    - {name: Warning Type, sql: warning}
---*/
WITH
-- Heap types and pages as NVIDIA's rule was seen to read them: 1 upload, 2 readback; 2 write-combine, 3 write-back.
judged AS (
  SELECT
    *,
    CASE
      WHEN call_name = 'ID3D12Device::CreateHeap' AND heap_flags & 4096 = 0
        THEN 'D3D12_HEAP_CREATED_WITH_ZEROING'
      WHEN call_name = 'ID3D12Device::CreateCommittedResource' AND heap_flags & 4096 = 0
        THEN 'D3D12_COMMITTED_RESOURCE_CREATED_WITH_ZEROING'
      WHEN call_name = 'ID3D12Resource::ReadFromSubresource' AND heap_type = 1
        THEN 'D3D12_READ_FROM_UPLOAD_HEAP_SUBRESOURCE'
      WHEN call_name = 'ID3D12Resource::ReadFromSubresource' AND page_property = 2
        THEN 'D3D12_READ_FROM_SUBRESOURCE_TO_WRITE_COMBINE_PAGE'
      WHEN call_name = 'ID3D12Resource::WriteToSubresource' AND heap_type = 2
        THEN 'D3D12_WRITE_TO_READBACK_HEAP_SUBRESOURCE'
      WHEN call_name = 'ID3D12Resource::WriteToSubresource' AND page_property = 3
        THEN 'D3D12_WRITE_TO_SUBRESOURCE_FROM_WRITE_BACK_PAGE'
    END AS warning
  FROM dx12_memory_op
)
SELECT end_ns - start_ns AS dur_ns, start_ns, pid, tid, gpu, warning
FROM judged
WHERE warning IS NOT NULL
ORDER BY dur_ns DESC, start_ns, operation_id
LIMIT :limit
