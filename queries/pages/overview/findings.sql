/*---
name: findings
version: 5
title: What to fix first
summary: Every finding, ranked by the time that a step gains with its fix.
why: To know what to fix first, the most it can gain, and what the capture cannot show.
kind: sum
tags: [cuda, gpu]
reads: []
asks: [{kind: finding}, captured, gpu_parts, graph_launches, idle_doubt, finding_edits, {query: finding_gains, given: {edits: finding_edits}}]
params:
  - {name: at_least_pct, type: real, default: 0.5, min: 0, max: 100, doc: "Smallest share of the GPUs' windows for the verdict yes, in percent."}
columns:
  - {name: rank, type: int, label: "#", priority: 1, doc: "Rank from 1: by verdict; of fixes, the one that gains most alone comes first, where low confidence counts a third, then the others that still gain time, and last those that gain less than 2 %."}
  - {name: verdict, type: text, priority: 1, doc: "yes: the fix gains time; covered: other fixes gain it, too; limited: there is time to fix, but something else binds; no: there is none, or less than at_least_pct; cannot tell: the data was not recorded."}
  - {name: finding, type: text, priority: 0, doc: "Name of the finding, a query whose rows are the intervals."}
  - {name: adds_ns, type: duration, unit: ns, label: "adds", priority: 1, doc: "What the fix takes off a step, beyond those ranked above, in the order of their gain alone; without steps, off the whole time. All rows together never exceed now_ns."}
  - {name: adds_pct, type: percent, unit: percent, label: "adds % of step", priority: 1, doc: "adds_ns as a share of now_ns."}
  - {name: now_ns, type: duration, unit: ns, label: "step now", priority: 2, doc: "Mean time of a step on the GPU where it takes longest; without steps, of the whole window. Null if nothing was replayed."}
  - {name: alone_ns, type: duration, unit: ns, label: "step with the fix", priority: 1, doc: "The same with a perfect fix of this finding alone; null if there is nothing to fix."}
  - {name: avoided_ns, type: duration, unit: ns, label: "step without", priority: 2, doc: "The same for a program that does without these operations, where the fix only hides them; else null."}
  - {name: step_count, type: int, unit: count, label: "steps", priority: 3, doc: "Steps that now_ns is the mean of; null without steps."}
  - {name: ceiling_ns, type: duration, unit: ns, label: "intervals' time", priority: 2, doc: "GPU time in its intervals: their union on each GPU. A fix gains at most this, and less where something else binds."}
  - {name: ceiling_pct, type: percent, unit: percent, label: "intervals' % of windows", priority: 3, doc: "ceiling_ns as a share of all GPUs' windows."}
  - {name: interval_count, type: int, unit: count, label: "intervals", priority: 2, doc: "Rows of the finding."}
  - {name: gpu_count, type: int, unit: count, label: "GPUs", priority: 3, doc: "GPUs that have these intervals."}
  - {name: top_subject, type: text, priority: 1, doc: "Subject with the most time, such as a kernel or a function; null without intervals."}
  - {name: subject_kind, type: text, priority: 3, doc: "What its subjects are, such as kernel, call or NVTX range: the label of the finding's column subject."}
  - {name: top_subject_pct, type: percent, unit: percent, label: "top subject's share", priority: 3, doc: "Its part of ceiling_ns."}
  - {name: subject_count, type: int, unit: count, label: "subjects", priority: 3, doc: "Number of subjects."}
  - {name: confidence, type: text, priority: 2, doc: "high: the rows prove it; medium: they make it likely; low: needs manual confirmation."}
  - {name: frees, type: text, priority: 3, doc: "What the GPU does in its intervals: idle, kernels, communication or copies."}
  - {name: claim, type: text, priority: 3, doc: "What is wrong, where the verdict is yes."}
  - {name: ceiling, type: text, priority: 3, doc: "Which time a perfect fix would free, and which it would not."}
  - {name: remedy, type: text, priority: 3, doc: "What to do, and how in PyTorch if the program uses it."}
  - {name: is_latency_bound, type: bool, priority: 3, doc: "1 if latency takes the time of its collectives: then fewer bytes gain nothing."}
  - {name: link, type: text, priority: 3, doc: "Documentation of the remedy."}
  - {name: lacks, type: text, priority: 3, doc: "What was not recorded, such as the work of its launches, so that the verdict is cannot tell; else null."}
  - {name: help, type: text, priority: 3, doc: "How to record it; null unless it is missing."}
checks:
  - adds_ns >= 0
  - adds_ns = 0 OR adds_ns <= now_ns
  - (lacks IS NOT NULL) = (verdict = 'cannot tell')
limits: >-
  The capture is replayed with a perfect fix, which costs nothing: see critical_part. Work that shares memory or cores is not
  slower in it. A finding without intervals may still be wrong about work that the capture does not show. At most 62
  findings are measured. Nothing is found if launches failed, or if much work is missing.
see_also: [gpu_time, gpu_idle_cause_sum, top_kernels]
---*/
WITH
number AS (
  SELECT query, row_number() OVER (ORDER BY query) - 1 AS bit
  FROM finding_about
),
-- How long each set of findings claims the same time, as a sum of powers of two.
claimed AS MATERIALIZED (
  SELECT value ->> 0 AS mask, value ->> 1 AS dur_ns
  FROM json_each(
    (
      SELECT overlap_times(finding.gpu_id, number.bit, finding.from_ns, finding.to_ns)
      FROM number
      CROSS JOIN finding
      WHERE finding.query = number.query
        AND number.bit < 62
    )
  )
),
total AS (
  SELECT number.bit, sum(claimed.dur_ns) AS ceiling_ns
  FROM number
  JOIN claimed
    ON claimed.mask >> number.bit & 1
  GROUP BY number.bit
),
-- A statement for each finding: grouping would sort the intervals of all.
measured AS MATERIALIZED (
  SELECT
    bit,
    (
      SELECT
        json_array(
          count(*),
          count(DISTINCT iif(to_ns > from_ns, gpu_id, NULL)),
          json(top_share(gpu_id, from_ns, to_ns, subject))
        )
      FROM finding
      WHERE finding.query = number.query
        AND number.bit < 62
    ) AS sums
  FROM number
),
judged AS (
  SELECT
    finding_about.*,
    (SELECT max(reason) FROM idle_doubt) AS missing,
    (SELECT max(look_at) FROM idle_doubt) AS look_at,
    coalesce(finding_gains.before_ns - finding_gains.then_ns, 0) AS adds_ns,
    finding_gains.now_ns,
    finding_gains.alone_ns,
    finding_gains.avoided_ns,
    finding_gains.step_count,
    finding_gains.rank AS place,
    coalesce(total.ceiling_ns, 0) AS ceiling_ns,
    coalesce(measured.sums ->> 1, 0) AS gpu_count,
    coalesce(measured.sums ->> 0, 0) AS interval_count,
    measured.sums ->> '$[2][0]' AS top_subject,
    100.0 * (measured.sums ->> '$[2][1]') / nullif(total.ceiling_ns, 0) AS top_subject_pct,
    coalesce(measured.sums ->> '$[2][2]', 0) AS subject_count,
    (SELECT sum(window_ns) FROM gpu_parts) AS window_ns
  FROM finding_about
  JOIN number USING (query)
  LEFT JOIN finding_gains
    ON finding_gains.finding = finding_about.query
  LEFT JOIN total USING (bit)
  LEFT JOIN measured USING (bit)
),
told AS MATERIALIZED (
  SELECT
    *,
    CASE
      WHEN lacks IS NOT NULL OR missing IS NOT NULL THEN 'cannot tell'
      WHEN adds_ns > 0 AND 100.0 * adds_ns >= :at_least_pct * now_ns THEN 'yes'
      WHEN now_ns > alone_ns AND 100.0 * (now_ns - alone_ns) >= :at_least_pct * now_ns THEN 'covered'
      WHEN ceiling_ns > 0 AND 100.0 * ceiling_ns >= :at_least_pct * window_ns THEN 'limited'
      ELSE 'no'
    END AS verdict
  FROM judged
),
machine AS MATERIALIZED (
  SELECT
    max(is_amd) AS is_amd,
    max(is_pytorch) AS is_pytorch,
    max(is_rapids) AS is_rapids,
    max(has_math_library) AS has_math_library,
    max(is_windows) AS is_windows,
    max(is_before_ampere) AS is_before_ampere,
    max(sends_16_bits) AS sends_16_bits,
    (SELECT max(in_graph_pct) >= 50 FROM graph_launches) AS is_in_graphs,
    (
      SELECT coalesce(10 * sum(iif(query = 'exposed_communication', ceiling_ns, 0)) >= max(window_ns), false)
      FROM told
    ) AS waits_for_ranks,
    -- A tenth of the pages that move make room for others.
    (
      SELECT 10 * sum(iif(subject GLOB '*, evicted', to_ns - from_ns, 0)) >= sum(to_ns - from_ns)
      FROM finding
      WHERE query = 'um_migrations'
    ) AS evicts,
    -- The host works between allocations, as where a library makes a plan or a handle.
    (SELECT max(query = 'host_work' AND now_ns - alone_ns >= 0.1 * now_ns) FROM told) AS host_works,
    -- Nearly no collective is hidden, and kernels run between most, so that each result is needed at once.
    (
      SELECT 2 * sum(gap_ns >= 15000) >= count(*)
      FROM (
        SELECT from_ns - lag(to_ns) OVER (PARTITION BY gpu_id ORDER BY from_ns) AS gap_ns
        FROM finding
        WHERE query = 'exposed_communication'
      )
    )
    AND (
      SELECT 10 * max(iif(query = 'exposed_communication', ceiling_ns, 0))
        >= 9 * (SELECT sum(communication_ns) FROM gpu_parts)
      FROM told
    ) AS alternates,
    -- Short collectives between kernels of their stream, as of tensor parallelism.
    (
      SELECT 2 * sum(iif(query = 'serialised_communication', ceiling_ns, 0))
        >= sum(iif(query = 'exposed_communication', ceiling_ns, 0))
      FROM told
    ) AS is_serial,
    (
      SELECT
        100.0 * sum(iif(query = 'rank_wait', now_ns - alone_ns, 0))
          / nullif(sum(iif(query = 'exposed_communication', now_ns - alone_ns, 0)), 0)
      FROM told
    ) AS late_pct
  FROM captured
),
placed AS (
  SELECT
    told.*,
    machine.*,
    -- Short ones, and the next kernel needs their result.
    query = 'exposed_communication'
    AND top_subject = 'AllReduce'
    AND coalesce(is_serial, false)
    AND interval_count >= 1000
    AND ceiling_ns < 50000 * interval_count AS is_latency_bound,
    query = 'allocation'
    AND (
      top_subject GLOB '*StreamCreate*'
      OR top_subject GLOB '*StreamDestroy*'
      OR top_subject GLOB '*EventCreate*'
      OR top_subject GLOB '*EventDestroy*'
    ) AS is_of_streams,
    query = 'graph_building'
    AND (top_subject GLOB '*GraphExec*Set*' OR top_subject GLOB '*GraphExecUpdate*') AS is_of_updates,
    query = 'queued_work' AND top_subject GLOB 'graph node before *' AS waits_in_graph,
    query = 'queued_work' AND top_subject GLOB 'host function before *' AS waits_for_function
  FROM told
  CROSS JOIN machine
),
-- The words of the program's framework, and of the GPU's maker.
worded AS (
  SELECT
    *,
    CASE
      -- Operators whose result has a size that only the GPU knows.
      WHEN query = 'host_sync'
        AND is_pytorch
        AND (
          top_subject GLOB '* in aten::nonzero*'
          OR top_subject GLOB '* in aten::where*'
          OR top_subject GLOB '* in aten::masked_select*'
          OR top_subject GLOB '* in aten::index*'
          OR top_subject GLOB '* in aten::*unique*'
          OR top_subject GLOB '* in aten::repeat_interleave*'
        )
        THEN 'The host waits for the size of a result. Keep sizes fixed: torch.where(mask, a, b) in place of selected'
          || ' rows, repeat_interleave(..., output_size=n); of experts, sort the rows once and use a grouped product.'
      WHEN query = 'allocation' AND is_of_streams
        THEN 'Create streams and events once, at the start, and use them in all steps.'
      WHEN query = 'allocation' AND is_rapids
        THEN 'Use a memory pool: rmm.reinitialize(pool_allocator=True), or rmm::mr::pool_memory_resource in C++.'
      WHEN query = 'allocation'
        AND host_works
        AND has_math_library
        AND NOT is_pytorch
        AND NOT is_amd
        AND (top_subject GLOB 'cu*Malloc*' OR top_subject GLOB 'cu*Free*')
        AND NOT top_subject GLOB '*Host*'
        THEN remedy
          || ' Libraries allocate where they make plans or handles, and work on the host: make those of cuFFT, cuBLAS'
          || ' and cuSOLVER once.'
      WHEN query = 'mpi_wait'
        AND NOT top_subject GLOB 'MPI_I*'
        AND (
          top_subject GLOB 'MPI_*reduce*'
          OR top_subject GLOB 'MPI_*gather*'
          OR top_subject GLOB 'MPI_*Bcast*'
          OR top_subject GLOB 'MPI_*lltoall*'
        )
        THEN 'Start it early and compute what does not need it meanwhile ('
          || 'MPI_I' || lower(substr(top_subject, 5))
          || '); let NCCL or a CUDA-aware MPI exchange data of GPUs without copies to the host; balance the work of the'
          || ' ranks, if calls wait for a late one.'
      WHEN query = 'um_migrations' AND evicts
        THEN 'The GPU memory is too small: pages are evicted to the host and come back, and prefetches evict others.'
          || ' Work in parts that fit, use smaller types, or leave on the host what is read once (cudaMemAdvise).'
      WHEN is_of_updates
        THEN 'Keep the parameters in device memory, which kernels read and one upload changes.'
          || ' Or update the next graph while this one runs.'
      WHEN waits_in_graph
        THEN 'Take functions of the host (and allocations) out of the graph, or move them to its end: run them in a'
          || ' thread that waits for an event, or split the graph there and launch the parts ahead.'
      WHEN waits_for_function
        THEN 'Take the function out of the stream: record an event instead, and run it in a thread that waits for'
          || ' the event.'
      WHEN query = 'queued_work' AND is_windows
        THEN 'Use hardware-accelerated GPU scheduling, or Linux. If streams wait for each other, find the event.'
      WHEN is_latency_bound
        THEN printf('Each takes %.0f µs: latency binds.', 0.001 * ceiling_ns / interval_count)
          || ' Use a one-shot all-reduce, fuse it with the kernel after it, or split the model over fewer GPUs.'
          || iif(is_pytorch, ' In PyTorch: torch.distributed._symmetric_memory; vLLM has a custom all-reduce.', '')
      WHEN query = 'exposed_communication'
        AND top_subject = 'AllReduce'
        AND (is_serial OR alternates)
        AND interval_count >= 8 * step_count
        THEN 'The next kernel needs each result, as in tensor parallelism: split the batch or the sequence into parts,'
          || ' so that one part transfers while another computes.'
          || iif(is_pytorch, ' In PyTorch: sequence parallelism with asynchronous tensor parallelism.', '')
      -- An exchange of rows, tokens or sequences has no gradients to put into buckets.
      WHEN query = 'exposed_communication' AND top_subject IN ('SendRecv', 'AllToAll') AND late_pct >= 25
        THEN printf('First balance the ranks: %.0f %% of this is waiting for late ones;', late_pct)
          || ' of experts, by capacity or an auxiliary loss. Then start the exchange before its result is needed, while'
          || ' other kernels run, in parts.'
          || iif(
            is_pytorch,
            ' In PyTorch: async_op=True with a later wait(); in TorchRec, TrainPipelineSparseDist.',
            ''
          )
      WHEN query = 'exposed_communication' AND top_subject IN ('SendRecv', 'AllToAll')
        THEN 'Start the exchange before its result is needed, while other kernels run: of embeddings, one batch'
          || ' ahead; of experts and sequences, in parts. Balance ranks that wait for each other in it.'
          || iif(
            is_pytorch,
            ' In PyTorch: async_op=True with a later wait(); in TorchRec, TrainPipelineSparseDist.',
            ''
          )
      -- Weights in shards, as of FSDP and ZeRO.
      WHEN query = 'exposed_communication'
        AND top_subject IN ('AllGather', 'ReduceScatter')
        AND NOT coalesce(is_serial, false)
        AND is_pytorch
        THEN 'Gather the weights of the next layer while this one computes, send fewer bytes, or balance ranks that'
          || ' wait for each other. In PyTorch: FSDP with forward_prefetch=True and BackwardPrefetch.BACKWARD_PRE,'
          || ' weights in BF16 (MixedPrecision), or larger wrapped blocks; DeepSpeed with overlap_comm.'
      -- A download has no next batch.
      WHEN query IN ('exposed_copies', 'exposed_pageable_copies')
        AND top_subject = 'Device-to-Host'
        AND top_subject_pct >= 80
        THEN 'Copy less (reduce the result on the GPU first), or copy '
          || iif(query = 'exposed_copies', '', 'to pinned memory (cudaMallocHost) ')
          || 'on another stream while kernels run, and read it a step later.'
          || iif(
            is_pytorch,
            ' In PyTorch: argmax() or topk() before .cpu(), or copy_() into a pinned tensor with non_blocking=True.',
            ''
          )
      -- Gradients of 16 bits get no shorter.
      WHEN query = 'exposed_communication' AND sends_16_bits
        THEN replace(remedy, ', send fewer bytes,', '')
          || iif(
            is_pytorch,
            ' In PyTorch: DDP bucket_cap_mb, no_sync() in all but the last of the micro-batches of a step, FSDP'
              || ' prefetching, or async_op=True, and wait() later.',
            ''
          )
      WHEN query = 'fp32_matmul' AND is_before_ampere
        THEN 'Run them on tensor cores, in FP16.'
          || iif(is_pytorch, ' In PyTorch: torch.autocast(dtype=torch.float16), with a GradScaler for training.', '')
      WHEN query = 'launch_bound' AND is_in_graphs
        THEN 'Prepare and launch the next graph while this one runs, or capture the preparation, too. Most kernels'
          || ' are in graphs already.'
      WHEN query = 'tiny_kernels' AND is_in_graphs THEN replace(remedy, ' A CUDA graph makes the gaps shorter.', '')
      -- Ranks wait for each other within the step, and sizes are read back.
      WHEN query = 'launch_bound' AND waits_for_ranks
        THEN 'Fuse small kernels, or give each launch more work with a larger batch.'
          || ' Graphs fit only between the collectives.'
          || iif(is_pytorch, ' In PyTorch: torch.compile, and fused=True in optimizers.', '')
      ELSE iif(is_amd, replace(replace(remedy, 'CUDA graph', 'HIP graph'), 'SMs', 'compute units'), remedy)
        || iif(in_pytorch <> '' AND is_pytorch, ' In PyTorch: ' || in_pytorch, '')
    END AS words
  FROM placed
)
SELECT
  row_number() OVER (
    ORDER BY
      CASE verdict
        WHEN 'yes' THEN iif(place > 1 AND 100.0 * adds_ns < 2 * now_ns, 1.5, 1)
        WHEN 'covered' THEN 2
        WHEN 'limited' THEN 3
        WHEN 'cannot tell' THEN 4
        ELSE 5
      END,
      place,
      ceiling_ns DESC,
      query
  ) AS rank,
  verdict,
  query AS finding,
  adds_ns,
  coalesce(100.0 * adds_ns / nullif(now_ns, 0), 0.0) AS adds_pct,
  now_ns,
  alone_ns,
  avoided_ns,
  step_count,
  ceiling_ns,
  coalesce(100.0 * ceiling_ns / nullif(window_ns, 0), 0.0) AS ceiling_pct,
  interval_count,
  gpu_count,
  top_subject,
  subject_kind,
  top_subject_pct,
  subject_count,
  iif(waits_in_graph OR waits_for_function, 'medium', confidence) AS confidence,
  frees,
  CASE
    WHEN is_of_streams
      THEN 'Streams: the GPU idles while the launching thread creates or destroys streams and events.'
    WHEN is_of_updates
      THEN 'Graph updates: the GPU idles while the launching thread sets parameters of graphs, again and again.'
    WHEN waits_in_graph
      THEN 'Graph node: the GPU idles between two nodes of a graph, as while one runs a function of the host.'
    WHEN waits_for_function
      THEN 'Host function: the GPU idles while a stream waits for a function of the host that it runs.'
    WHEN query = 'queued_work' AND is_windows
      THEN 'Delayed start: launched work does not start at once, which is usual for Windows (WDDM).'
    WHEN query = 'launch_bound' AND is_in_graphs
      THEN 'Late graphs: the GPU waits for the next graph, or for launches that prepare it.'
    ELSE iif(is_amd, replace(claim, 'SMs', 'compute units'), claim)
  END AS claim,
  ceiling,
  -- HIP has the same functions.
  replace(
    replace(
      replace(words, iif(is_amd, ', or use cudaMemcpyBatchAsync (CUDA 12.8 or newer)', ''), ''),
      iif(is_amd, 'cudaM', ''),
      'hipM'
    ),
    iif(is_amd, 'cudaStream', ''),
    'hipStream'
  ) AS remedy,
  coalesce(is_latency_bound, false) AS is_latency_bound,
  link,
  coalesce(missing, lacks) AS lacks,
  iif(missing IS NULL, help, printf('`nsq run REPORT -q %s` lists them', look_at)) AS help
FROM worded
ORDER BY rank
