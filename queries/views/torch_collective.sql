/*---
name: torch_collective
summary: One row per kernel of which PyTorch recorded the collective, send or receive that it runs.
stored: true
rows_if: EXISTS (SELECT 1 FROM src_collective)
present_if: [src_collective]
reads: [all_kernel, export_fact, src_collective, src_merged_rank, string]
columns:
  - {name: kernel_id, type: id, doc: "Row ID of the kernel in the raw table."}
  - {name: communicator, type: text, doc: "Name and ranks of the process group."}
  - {name: group_name, type: text, doc: "What the program calls the process group, such as mesh_tp; null if not recorded."}
  - {name: role, type: text, doc: "Parallelism that group_name names: DP (data), TP (tensor), PP (pipeline), EP (expert), CP (context) or SP (sequence), with + between several; null if it names none."}
  - {name: operation, type: text, doc: "AllReduce, Broadcast, Reduce, AllGather, ReduceScatter, AllToAll, Gather, Scatter, Barrier, Send or Recv; null for others."}
  - {name: sequence, type: int, doc: "Place among the collectives of the process group, as PyTorch counts; null in older traces."}
  - {name: size_bytes, type: bytes, unit: bytes, doc: "What the rank contributes, of a reduce-scatter what it gets; null if unknown."}
  - {name: data_type, type: text, doc: "Type of the elements, such as BFloat16."}
  - {name: rank, type: int, doc: "Rank within the process group; null if unknown. PyTorch shortens long lists of ranks."}
  - {name: rank_count, type: int, unit: count, doc: "Ranks of the process group; null if not recorded."}
  - {name: peer, type: int, doc: "The other rank of a send or receive; null for a collective."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of the kernel, on the report's clock."}
  - {name: pid, type: id, doc: "Operating system process ID."}
limits: >-
  PyTorch records collectives that go through its process groups. Kernels of other libraries have no row. Rows are those of the
  whole capture, whatever the scope; its kernels are looked up in kernel.
---*/
WITH
-- Each process of a merged trace has a rank; else all have that of the trace.
of_program AS MATERIALIZED (
  SELECT globalPid AS global_pid, rank
  FROM src_merged_rank
),
of_trace AS MATERIALIZED (
  SELECT CAST(max(value) AS INTEGER) AS rank
  FROM export_fact
  WHERE fact = 'DISTRIBUTED_RANK'
),
said AS (
  SELECT
    kernel.kernel_id,
    coalesce(of_trace.rank, (SELECT rank FROM of_program WHERE global_pid = kernel.global_pid)) AS program_rank,
    (SELECT text FROM string WHERE string_id = said.groupId) AS group_id,
    (SELECT text FROM string WHERE string_id = said.groupRanksId) AS group_ranks,
    (SELECT text FROM string WHERE string_id = said.descriptionId) AS group_name,
    lower(replace((SELECT text FROM string WHERE string_id = said.nameId), '_', '')) AS function,
    (SELECT text FROM string WHERE string_id = said.typeId) AS data_type,
    said.groupSize AS rank_count,
    said.inElements AS in_elements,
    said.outElements AS out_elements,
    said.source,
    said.destination,
    said.sequence,
    kernel.start_ns,
    kernel.pid
  FROM src_collective AS said
  CROSS JOIN of_trace
  CROSS JOIN all_kernel AS kernel
  WHERE kernel.correlation_id = said.correlationId
    AND kernel.start_ns = said.start
    AND kernel.global_pid IS NOT DISTINCT FROM said.globalPid
),
named AS (
  SELECT
    *,
    CASE
      WHEN function GLOB '*allreduce*' THEN 'AllReduce'
      WHEN function GLOB '*reducescatter*' THEN 'ReduceScatter'
      WHEN function GLOB '*allgather*' THEN 'AllGather'
      WHEN function GLOB '*broadcast*' THEN 'Broadcast'
      WHEN function GLOB '*alltoall*' THEN 'AllToAll'
      WHEN function GLOB '*reduce*' THEN 'Reduce'
      WHEN function GLOB '*gather*' THEN 'Gather'
      WHEN function GLOB '*scatter*' THEN 'Scatter'
      WHEN function GLOB '*barrier*' THEN 'Barrier'
      WHEN destination IS NOT NULL THEN 'Send'
      WHEN source IS NOT NULL THEN 'Recv'
    END AS operation,
    CASE
      WHEN data_type IN ('Double', 'Long', 'UInt64', 'ComplexFloat') THEN 8
      WHEN data_type IN ('Float', 'Int', 'UInt32') THEN 4
      WHEN data_type IN ('Half', 'BFloat16', 'Short', 'UInt16') THEN 2
      WHEN data_type IN ('Byte', 'Char', 'Bool') OR data_type GLOB 'Float8*' THEN 1
      WHEN data_type = 'ComplexDouble' THEN 16
    END AS element_bytes,
    -- Words of a description stand between underscores.
    '_' || replace(replace(replace(replace(lower(group_name), '-', '_'), ' ', '_'), ':', '_'), '.', '_') || '_' AS words
  FROM said
)
SELECT
  kernel_id,
  group_id || ' ' || group_ranks AS communicator,
  nullif(group_name, 'undefined') AS group_name,
  nullif(
    substr(
      iif(
        words GLOB '*_dp_*' OR words GLOB '*_data_*' OR words GLOB '*_ddp_*' OR words GLOB '*_[fh]sdp_*'
          OR words GLOB '*_replicate_*' OR words GLOB '*_shard_*',
        '+DP', ''
      )
      || iif(words GLOB '*_tp_*' OR words GLOB '*_tensor_*', '+TP', '')
      || iif(words GLOB '*_pp_*' OR words GLOB '*_pipeline_*' OR words GLOB '*_pipe_*', '+PP', '')
      || iif(words GLOB '*_ep_*' OR words GLOB '*_expert_*' OR words GLOB '*_moe_*', '+EP', '')
      || iif(words GLOB '*_cp_*' OR words GLOB '*_context_*', '+CP', '')
      || iif(words GLOB '*_sp_*' OR words GLOB '*_sequence_*', '+SP', ''),
      2
    ),
    ''
  ) AS role,
  operation,
  sequence,
  element_bytes
  * CASE operation
      WHEN 'ReduceScatter' THEN out_elements
      WHEN 'Recv' THEN coalesce(out_elements, in_elements)
      ELSE in_elements
    END AS size_bytes,
  data_type,
  (
    SELECT member.key
    FROM json_each(iif(json_valid(group_ranks), group_ranks, '[]')) AS member
    WHERE member.value = program_rank
  ) AS rank,
  rank_count,
  coalesce(destination, source) AS peer,
  start_ns,
  pid
FROM named
