/*---
name: fixes
version: 2
title: Which fix fits each finding
summary: The fix that fits a finding best, and the figures that its sentence needs.
why: To check why the page names a fix. The order of the fixes is one list in the statement.
kind: info
internal: true
tags: [gpu]
reads: []
asks:
  - captured
  - findings
  - finding_signs
  - gpu_parts
  - {query: blocking_launches, optional: true}
  - {query: compiled_regions, optional: true}
  - {query: contended_launches, optional: true}
  - {query: copy_rate, optional: true}
  - {query: downloaded_gaps, optional: true}
  - {query: finding_gpus, optional: true}
  - {query: finding_places, optional: true}
  - {query: freeing_gaps, optional: true}
  - {query: held_copies, optional: true}
  - {query: idle_calls, optional: true}
  - {query: idle_functions, optional: true}
  - {query: interpreter_waits, optional: true}
  - {query: late_ranks, optional: true}
  - {query: longest_gaps, optional: true}
  - {query: main_collective, optional: true}
  - {query: slow_steps, optional: true}
  - {query: small_collectives, optional: true}
  - {query: stream_turns, optional: true}
  - {query: work_functions, optional: true}
columns:
  - {name: rank, type: int, label: "#", priority: 1, doc: "Rank of the finding, as in findings."}
  - {name: finding, type: text, priority: 0, doc: "Name of a finding that was replayed."}
  - {name: fix, type: text, priority: 0, doc: "Name of the first fix of the list that fits, such as slow_link or lock_in_turn; general: what helps any program with this finding."}
  - {name: subject, type: text, priority: 1, doc: "What the fix is about: a GPU, a function, an operator or a call; null if the fix names none."}
  - {name: op_count, type: int, unit: count, label: "in a step", priority: 1, doc: "Copies, calls, regions or collectives of a step that the fix is about, on each GPU; of slow_worker, steps from one late batch to the next; of contended_launches, threads. Null if none count."}
  - {name: size_bytes, type: bytes, unit: bytes, label: "size", priority: 1, doc: "Size of a copy, download or collective that the fix is about; null if none matters."}
  - {name: upload_bytes, type: bytes, unit: bytes, label: "upload", priority: 1, doc: "What is uploaded afterwards; null if that does not matter."}
  - {name: time_ns, type: duration, unit: ns, label: "time", priority: 1, doc: "Time in a step that the fix is about; of batched_calls and contended_launches, in each call. Null if none matters."}
  - {name: each_ns, type: duration, unit: ns, label: "each", priority: 2, doc: "Mean time of small collectives; of contended_launches, of a launch that waits for no other. Else null."}
  - {name: rest_ns, type: duration, unit: ns, label: "others", priority: 2, doc: "Time in a step of the other collectives, where small ones matter and the others take 2 % of the step; else null."}
  - {name: idle_pct, type: percent, unit: percent, label: "% of idle time", priority: 2, doc: "Idle time between compiled regions as a share of that before recorded launches, where graph breaks are the reason; else null."}
  - {name: gpu_id, type: id, label: "GPU", priority: 1, doc: "GPU with the slow link, or the one that waits for another rank; else null."}
  - {name: other_gpu_id, type: id, label: "other GPU", priority: 1, doc: "GPU of the rank whose host code takes longer; else null."}
  - {name: rate_bytes_per_s, type: real, unit: bytes_per_s, label: "its rate", priority: 2, doc: "What copies reach over the slow link; else null."}
  - {name: other_bytes_per_s, type: real, unit: bytes_per_s, label: "other rates", priority: 2, doc: "The least that copies of the other GPUs reach; else null."}
  - {name: is_in_pytorch, type: bool, priority: 3, doc: "1 if the finding's remedy names functions of PyTorch: then the fix names its own, too."}
  - {name: is_of_optimizer, type: bool, priority: 3, doc: "1 if launches of PyTorch's optimizer are late, or its kernels tiny: it can fuse them."}
checks:
  - "(fix = 'slow_link') = (rate_bytes_per_s IS NOT NULL)"
  - op_count IS NULL OR op_count >= 0
limits: >-
  The fix is the first that fits, not a proof. Conditions for which the data was not recorded are not met: then a later
  fix, or the general one, is named.
see_also: [finding_signs, findings]
---*/
WITH
total AS MATERIALIZED (
  SELECT sum(idle_ns) AS idle_ns, sum(window_ns) AS window_ns
  FROM gpu_parts
),
program AS MATERIALIZED (
  SELECT
    max(is_integrated) AS is_integrated,
    max(is_pytorch) AS is_pytorch,
    max(is_pytorch AND is_one_process) AS is_data_parallel
  FROM captured
),
-- Each of these answers has what takes most time in its first row.
gap AS MATERIALIZED (
  SELECT *
  FROM longest_gaps
  WHERE rowid = 1
),
slow AS MATERIALIZED (
  SELECT *
  FROM slow_steps
  WHERE rowid = 1
),
caller AS MATERIALIZED (
  SELECT *
  FROM idle_functions
  WHERE rowid = 1
),
top_collective AS MATERIALIZED (
  SELECT *
  FROM main_collective
  WHERE rowid = 1
),
place AS MATERIALIZED (
  SELECT *
  FROM finding_places
  WHERE rowid IN (SELECT min(rowid) FROM finding_places GROUP BY finding)
),
-- The call in which the launching thread is most, and whether that takes half of the idle time, or a fifth.
os_call AS MATERIALIZED (
  SELECT
    function_name,
    role,
    total_ns >= 0.5 * (SELECT idle_ns FROM total) AS is_half,
    total_ns >= 0.2 * (SELECT idle_ns FROM total) AS is_fifth,
    function_name IN ('write', 'writev', 'pwrite', 'pwrite64', 'fwrite', 'fsync', 'fdatasync', 'msync') AS writes,
    function_name IN ('pthread_cond_timedwait', 'pthread_cond_clockwait', 'sem_timedwait', 'sem_clockwait') AS is_timed
  FROM idle_calls
  WHERE rowid = 1
),
-- Downloads that most of the host's code follows.
download AS MATERIALIZED (
  SELECT
    *,
    -- All input goes up after it, and is much larger than the result, which does not become the input.
    NOT is_scalar
    AND upload_pct >= 75
    AND upload_bytes >= 4 * download_bytes AS is_before_input,
    own_pct < 50 AS is_of_other_thread
  FROM downloaded_gaps
  WHERE rowid = 1
    AND host_pct >= 50
),
small AS MATERIALIZED (
  SELECT
    count(*) > 0 AS are_any,
    CAST(round(sum(step_ops)) AS INTEGER) AS step_ops,
    max(size_bytes) AS size_bytes,
    sum(exposed_ns) AS exposed_ns,
    max(iif(rowid = 1, mean_ns, NULL)) AS mean_ns,
    coalesce(max(iif(rowid = 1, is_batch_norm, NULL)), 0) AS is_batch_norm,
    coalesce(max(is_bucket), 0) AS are_buckets
  FROM small_collectives
),
-- The findings, with names for what the conditions read.
found AS MATERIALIZED (
  SELECT
    found.*,
    found.rank = 1 AS is_first,
    found.finding IN ('host_work', 'iteration_border', 'slow_iterations') AS is_of_host,
    found.finding IN ('host_work', 'iteration_border') AS is_of_code,
    found.finding IN ('exposed_copies', 'exposed_pageable_copies') AS is_of_copies,
    found.finding IN ('host_sync', 'launch_bound', 'tiny_kernels') AS is_of_launches,
    found.finding = 'exposed_pageable_copies' AS is_pageable,
    coalesce(found.step_count, 0) AS steps,
    -- Steps of all GPUs.
    found.step_count * max(found.gpu_count, 1) AS gpu_steps
  FROM findings AS found
  WHERE found.now_ns IS NOT NULL
),
-- The GPU with most of the time of a finding of copies, if its link is slower than those of the others.
slow_link AS MATERIALIZED (
  SELECT found.finding, copy.slow_gpu_id, copy.slow_bytes_per_s, copy.other_bytes_per_s
  FROM found
  JOIN copy_rate AS copy
    ON copy.direction = found.top_subject
    AND copy.is_pageable = found.is_pageable
  JOIN finding_gpus AS own
    ON own.finding = found.finding
    AND own.gpu_id = copy.slow_gpu_id
  WHERE found.is_of_copies
),
-- Large copies that go down and up again in equal numbers and sizes, as data that does not fit.
returned AS MATERIALIZED (
  SELECT
    found.finding,
    CAST(round(1.0 * down.copy_count / found.gpu_steps) AS INTEGER) AS copies_per_step,
    down.size_bytes
  FROM found
  JOIN copy_rate AS down
    ON down.direction = 'Device-to-Host'
    AND down.is_pageable = found.is_pageable
  JOIN copy_rate AS up
    ON up.direction = 'Host-to-Device'
    AND up.is_pageable = found.is_pageable
  WHERE found.is_of_copies
    AND found.steps > 1
    AND down.copy_count >= 0.9 * up.copy_count
    AND up.copy_count >= 0.9 * down.copy_count
    AND down.size_bytes >= 0.9 * up.size_bytes
    AND up.size_bytes >= 0.9 * down.size_bytes
    AND down.copy_count >= 2 * found.steps
),
-- Names that say what the time of a finding is about: ranges with half of that time or more.
half_name AS (
  SELECT finding, main_path AS name
  FROM place
  WHERE main_path_pct >= 50
  UNION ALL
  SELECT sign.finding, gap.range_name
  FROM finding_signs AS sign
  CROSS JOIN gap
  WHERE sign.is_in_gaps
  UNION ALL
  SELECT finding, top_subject
  FROM found
  WHERE subject_kind = 'NVTX range'
    AND top_subject_pct >= 50
),
-- Names of saving a checkpoint. Activation checkpointing saves nothing to a file.
saved AS MATERIALIZED (
  SELECT DISTINCT finding
  FROM (
    SELECT
      finding,
      replace(
        replace(
          replace(
            replace(lower(name), 'utils/checkpoint', ''),
            'checkpointfunction',
            ''
          ),
          'saved',
          ''
        ),
        'save_for_backward',
        ''
      ) AS name
    FROM half_name
  )
  WHERE name GLOB '*checkpoint*'
    OR name GLOB '*ckpt*'
    OR name GLOB '*save_*'
    OR name GLOB '*.save*'
    OR name GLOB '*_save*'
    OR name GLOB '* save*'
    OR name GLOB 'save*'
),
-- Small copies between kernels, after which GPUs idle: neither can the host launch ahead, nor can a graph hold them.
held AS MATERIALIZED (
  SELECT
    found.finding,
    copy.direction,
    CAST(round(1.0 * copy.copy_count / found.gpu_steps) AS INTEGER) AS copies_per_step,
    1.0 * copy.copy_count / found.gpu_steps AS each_step,
    copy.size_bytes,
    copy.idle_ns / found.gpu_steps AS idle_ns,
    copy.kernel_count <= 20 * copy.copy_count AS are_many,
    copy.kernel_count <= 5 * copy.copy_count AS are_most,
    2 * copy.kernel_count <= 3 * copy.copy_count AS are_all,
    100.0 * copy.idle_ns / nullif((SELECT window_ns FROM total), 0) AS idle_pct
  FROM found
  CROSS JOIN held_copies AS copy
  WHERE found.is_of_launches
    AND found.steps > 0
),
read_back AS MATERIALIZED (
  SELECT *
  FROM held
  WHERE direction = 'Device-to-Host'
    AND are_many
    AND idle_pct >= 2
    AND each_step >= 1.5
),
uploaded AS MATERIALIZED (
  SELECT *
  FROM held
  WHERE direction = 'Host-to-Device'
),
-- The call that sends to or receives from another rank in each step.
exchange AS MATERIALIZED (
  SELECT top_subject, interval_count
  FROM findings
  WHERE finding = 'mpi_wait'
    AND (instr(top_subject, 'MPI_Send') OR instr(top_subject, 'MPI_Recv'))
),
-- Of waits in MPI, the GPU that waits, and that of the rank with most of the host's work.
elsewhere AS MATERIALIZED (
  SELECT waits.gpu_id, works.gpu_id AS other_gpu_id
  FROM finding_gpus AS waits
  JOIN finding_gpus AS works
    ON works.finding = 'host_work'
    AND works.gpu_id <> waits.gpu_id
  WHERE waits.finding = 'mpi_wait'
),
-- Names of the functions and of the range with most of the time: they show an optimizer.
code AS MATERIALIZED (
  SELECT
    lower(
      coalesce((SELECT place FROM caller), '')
        || ' '
        || coalesce((SELECT place FROM work_functions WHERE rowid = 1), '')
    ) AS names
),
-- All that the list below looks at, in a row for each finding.
fact AS MATERIALIZED (
  SELECT
    found.*,
    program.is_integrated,
    program.is_pytorch,
    program.is_data_parallel,
    found.finding IN (SELECT finding FROM saved) AS is_saved,
    os_call.is_half AND os_call.writes AS is_written,
    os_call.role = 'read' AND os_call.is_half AS is_read,
    os_call.role IN ('read', 'receive') AND os_call.is_fifth AS is_input,
    coalesce(os_call.is_fifth, false) AS is_in_call,
    os_call.is_half AND os_call.function_name = 'ioctl' AS is_in_driver,
    EXISTS (
      SELECT 1
      FROM idle_calls
      WHERE function_name IN ('send', 'sendto', 'sendmsg', 'sendmmsg')
        AND total_ns >= 0.2 * (SELECT idle_ns FROM total)
    ) AS is_sent,
    os_call.is_timed,
    instr(gap.next_op, 'Host-to-Device') > 0 AS is_before_upload,
    -- The main process of a loader waits so for batches of its workers.
    program.is_pytorch
    AND os_call.is_half
    AND os_call.function_name IN ('poll', 'ppoll', 'select')
    AND instr(gap.next_op, 'Host-to-Device') > 0 AS is_in_poll,
    instr(gap.next_op, 'cudnn_generated') > 0 AS is_before_cudnn,
    5 * gap.gap_count <= found.steps AND gap.median_ns >= found.alone_ns AS has_long_gaps,
    -- A range of a compiler, such as _compile.compile_inner, and not of code that is compiled.
    sign.is_in_gaps
    AND instr(gap.range_name, 'compile')
    AND NOT instr(lower(gap.range_name), 'compiled') AS is_in_compiler,
    code.names GLOB '*optim*'
    OR code.names GLOB '*adam*'
    OR sign.is_in_gaps
    AND (lower(gap.range_name) GLOB '*optim*' OR lower(gap.range_name) GLOB '*adam*') AS is_optimizer,
    instr(coalesce(found.top_subject, ''), 'search_unused_parameters')
    OR sign.is_in_gaps AND instr(gap.range_name, 'search_unused_parameters') AS searches_parameters,
    -- Read-backs of single values, which decide on something, or are logged.
    found.finding = 'host_work'
    AND download.is_scalar
    AND download.gap_count >= 3
    AND coalesce(os_call.is_fifth, false) = 0 AS is_after_value,
    found.is_of_code AND download.is_before_input AND download.is_of_other_thread AS is_of_feeder,
    download.is_before_input,
    download.upload_pct,
    download.size_bytes AS downloaded_bytes,
    download.download_bytes,
    download.upload_bytes,
    caller.place AS caller,
    caller.total_ns / caller.call_count AS caller_ns,
    slow.slow_count,
    slow.every,
    CAST(round(region.region_count) AS INTEGER) AS region_count,
    region.idle_pct AS region_pct,
    (SELECT max(place.main_path) FROM place WHERE place.finding = found.finding) AS main_path,
    (
      SELECT max(exchange.top_subject)
      FROM exchange
      WHERE exchange.interval_count >= max(found.steps, 1)
    ) AS exchange
  FROM found
  JOIN finding_signs AS sign
    ON sign.finding = found.finding
  CROSS JOIN program
  CROSS JOIN code
  LEFT JOIN os_call
    ON true
  LEFT JOIN gap
    ON true
  LEFT JOIN download
    ON true
  LEFT JOIN caller
    ON true
  LEFT JOIN slow
    ON true
  LEFT JOIN compiled_regions AS region
    ON region.rowid = 1
),
-- Small collectives, and the time in a step of all others, if that is no trifle.
others AS (
  SELECT
    finding,
    small.*,
    iif(all_ns - small.exposed_ns >= 0.02 * now_ns, CAST(all_ns - small.exposed_ns AS INTEGER), NULL) AS rest_ns
  FROM (
    SELECT finding, now_ns, 1.0 * ceiling_ns / max(steps, 1) / max(gpu_count, 1) AS all_ns
    FROM found
  )
  CROSS JOIN small
),
-- The list: the first fix that fits is named. What rules out the others comes first, then what a name or a call shows,
-- then what the times of gaps, copies and steps make likely.
chosen AS MATERIALIZED (
  SELECT
    fact.*,
    sign.calls_per_step,
    sign.cpu_operator,
    CASE
      -- A GPU that shares memory with the CPU needs no copies, and one that is slower no other work.
      WHEN is_integrated AND (is_of_copies OR fact.finding = 'pageable_copy_call') THEN 'managed_memory'
      WHEN fact.finding = 'rank_wait' AND instr(top_subject, ' % slower kernels') THEN 'slower_gpu'
      WHEN fact.finding = 'rank_wait' AND instr(top_subject, 'changing GPUs') THEN 'unequal_input'
      WHEN fact.finding = 'small_copies' AND instr(top_subject, 'Device-to-Device') THEN 'copies_within'
      WHEN fact.finding = 'few_blocks'
        AND EXISTS (SELECT 1 FROM stream_turns WHERE 2 * wait_count >= gap_count AND wait_count >= steps)
        THEN iif((SELECT api_name = 'cudaStreamWaitEvent' FROM stream_turns), 'streams_in_order', 'streams_in_turn')
      WHEN fact.finding IN (SELECT finding FROM slow_link) THEN 'slow_link'
      -- A pool of device memory does not help where host memory is pinned, nor where the program empties its pool.
      WHEN fact.finding = 'allocation' AND instr(coalesce(caller, ''), 'empty_cache') THEN 'emptied_cache'
      WHEN fact.finding = 'allocation'
        AND top_subject_pct >= 50
        AND (
          top_subject GLOB 'cu*HostRegister*'
          OR top_subject GLOB 'cu*HostUnregister*'
          OR top_subject GLOB 'cu*HostAlloc*'
          OR top_subject GLOB 'cu*MallocHost*'
          OR top_subject GLOB 'cu*FreeHost*'
          OR top_subject GLOB 'hipHost*'
        )
        THEN 'pinned_again'
      -- Few large copies in each step keep a state, which swapped pointers do, too.
      WHEN fact.finding = 'device_copies'
        AND top_subject = 'Device-to-Device'
        AND top_subject_pct >= 90
        AND steps > 1
        AND interval_count BETWEEN gpu_steps AND 4 * gpu_steps
        THEN 'copied_state'
      -- copy_ writes into tensors that stay.
      WHEN fact.finding = 'device_copies'
        AND top_subject = 'Device-to-Device'
        AND top_subject_pct >= 90
        AND steps > 1
        AND main_path GLOB '*aten::copy_'
        AND NOT main_path GLOB '*aten::clone*'
        AND NOT main_path GLOB '*aten::contiguous*'
        THEN 'copied_tensors'
      WHEN fact.finding IN (SELECT finding FROM returned) THEN 'returned_data'
      -- Checkpoints and results, by their names or by calls that write. Downloads in few steps are seldom for others.
      WHEN frees = 'copies' AND is_saved THEN 'saved_copy'
      WHEN frees = 'copies'
        AND top_subject = 'Device-to-Host'
        AND is_written
        AND 8 * slow_count <= (SELECT step_count FROM slow)
        THEN 'written_copy'
      WHEN is_first AND is_of_host AND is_saved THEN 'saved_in_background'
      WHEN is_first AND is_of_host AND is_written THEN 'written_file'
      WHEN sign.takes_turns THEN 'lock_in_turn'
      -- Input: threads that are too few, or none.
      WHEN fact.finding IN ('host_work', 'slow_iterations') AND sign.is_fed THEN 'more_loaders'
      WHEN is_first AND is_of_host AND is_in_poll AND every <= 16 THEN 'slow_worker'
      WHEN is_first AND is_of_host AND is_in_poll AND every IS NOT NULL THEN 'kept_workers'
      WHEN is_first AND is_of_host AND is_in_poll THEN 'more_loaders'
      WHEN is_first AND is_of_host AND is_read THEN 'read_ahead'
      -- Compilers, by the modules that the thread loads or by the name of its range.
      WHEN is_of_host AND (sign.compiles OR is_in_compiler) AND is_before_cudnn THEN 'cudnn_compilation'
      WHEN is_of_host AND (sign.compiles OR is_in_compiler) AND is_pytorch THEN 'recompilation'
      WHEN is_of_host AND (sign.compiles OR is_in_compiler) THEN 'compilation'
      -- Start-up has long gaps, too, where no steps were detected.
      WHEN is_of_host
        AND EXISTS (
          SELECT 1
          FROM freeing_gaps
          WHERE host_pct >= 25
            AND gap_count >= 5
            AND 4 * host_ns >= ceiling_ns
        )
        THEN 'garbage_collection'
      -- One gap or a few have most of the time: what a mean step does is not to blame.
      WHEN sign.pause_count = 1 THEN 'pause'
      WHEN sign.pause_count > 1 THEN 'pauses'
      WHEN is_first AND fact.finding IN ('host_work', 'launch_bound', 'tiny_kernels') AND region_pct >= 40
        THEN 'graph_breaks'
      -- Workers that start anew with each epoch.
      WHEN is_first AND fact.finding = 'data_loading' AND instr(top_subject, 'MultiProcessing') AND sign.is_rare
        THEN 'kept_workers'
      WHEN fact.finding = 'host_work' AND sign.is_rare AND has_long_gaps AND is_before_upload THEN 'rare_upload'
      WHEN fact.finding = 'host_work' AND sign.is_rare AND has_long_gaps THEN 'rare_work'
      WHEN is_first
        AND is_of_host
        AND is_timed
        AND EXISTS (SELECT 1 FROM interpreter_waits WHERE 5 * total_ns >= (SELECT idle_ns FROM total))
        THEN 'interpreter_lock'
      WHEN is_first AND is_of_host AND is_in_driver THEN 'driver_wait'
      -- A server may wait for a time, to collect requests; a program of PyTorch for its loader.
      WHEN fact.finding = 'host_work' AND sign.waits_for_threads AND is_timed AND NOT is_pytorch THEN 'timed_wait'
      WHEN fact.finding = 'host_work' AND sign.waits_for_threads AND is_before_upload THEN 'batch_wait'
      WHEN fact.finding = 'host_work' AND sign.waits_for_threads THEN 'thread_wait'
      -- Small copies between kernels. Those that come after read-backs decide what the next kernels do.
      WHEN is_first
        AND fact.finding IN (SELECT finding FROM read_back)
        AND instr(fact.remedy, 'size of a result')
        THEN 'sizes_read_back'
      -- The host launches late after these waits: their reason is that of the other finding.
      WHEN is_first
        AND fact.finding IN (SELECT finding FROM read_back)
        AND EXISTS (SELECT 1 FROM findings WHERE finding = 'host_sync' AND instr(remedy, 'size of a result'))
        THEN 'late_after_sizes'
      WHEN is_first AND fact.finding IN (SELECT finding FROM read_back) THEN 'values_read_back'
      WHEN is_first
        AND fact.finding = 'host_sync'
        AND top_subject GLOB 'cudaMemcpy*'
        AND NOT instr(top_subject, ' in ')
        AND fact.finding IN (SELECT finding FROM uploaded WHERE are_all AND idle_pct >= 20 AND each_step >= 0.8)
        THEN 'one_by_one'
      WHEN is_first
        AND fact.finding IN (SELECT finding FROM uploaded WHERE are_many AND idle_pct >= 20 AND each_step >= 0.8)
        THEN iif(
          fact.finding = 'host_sync'
            AND top_subject GLOB 'cudaMemcpy*'
            AND NOT instr(top_subject, ' in ')
            AND top_subject_pct >= 80,
          'uploaded_decisions',
          'small_uploads'
        )
      WHEN NOT is_first
        AND fact.finding IN ('launch_bound', 'tiny_kernels')
        AND fact.finding IN (SELECT finding FROM uploaded WHERE are_most AND each_step >= 10)
        THEN 'more_small_uploads'
      -- Of steps that mostly run graphs, those that launch kernel by kernel.
      WHEN is_first
        AND fact.finding = 'launch_bound'
        AND instr(fact.claim, 'Late graphs')
        AND interval_count >= 20 * gpu_steps
        THEN 'missing_graphs'
      WHEN is_of_launches AND EXISTS (SELECT 1 FROM blocking_launches) THEN 'blocking_launches'
      WHEN is_first AND is_of_launches AND EXISTS (SELECT 1 FROM contended_launches) THEN 'contended_launches'
      WHEN sign.calls_per_step IS NOT NULL THEN 'batched_calls'
      WHEN is_first
        AND fact.finding IN ('launch_bound', 'tiny_kernels')
        AND coalesce(subject_kind, '') <> 'NVTX range'
        AND top_subject_pct >= 90
        AND subject_count <= 3
        AND interval_count >= 50 * gpu_steps
        -- Elementwise kernels of PyTorch have functions for lists of tensors.
        AND (lower(top_subject) GLOB '*gem[mv]*' OR NOT is_pytorch)
        THEN 'repeated_kernel'
      WHEN fact.finding = 'jit_and_module_load' AND steps >= 8 AND interval_count >= 0.8 * gpu_steps
        THEN 'repeated_loads'
      WHEN sign.is_of_slow_steps THEN 'new_sizes'
      -- Code of the host, by its names, and then by what it downloads before and uploads after.
      WHEN is_first AND is_of_code AND instr(caller, 'torch/distributed/distributed_c10d') THEN 'pickled_objects'
      WHEN is_of_code AND searches_parameters THEN 'unused_parameters'
      WHEN sign.is_after_result AND is_optimizer THEN 'cpu_optimizer'
      WHEN sign.cpu_operator IS NOT NULL THEN 'cpu_operator'
      WHEN is_after_value THEN 'after_value'
      WHEN is_of_feeder THEN 'slow_feeder'
      WHEN sign.is_after_result AND exchange IS NOT NULL THEN 'host_exchange'
      WHEN sign.is_after_result AND is_sent AND upload_pct >= 75 THEN 'socket_exchange'
      WHEN sign.is_after_result AND upload_pct IS NULL AND downloaded_bytes >= 65536 THEN 'last_result'
      WHEN sign.is_after_result AND is_before_input THEN 'next_input'
      WHEN sign.is_after_result AND upload_pct >= 75 AND is_input IS NOT TRUE THEN 'round_trip'
      WHEN sign.is_after_result AND is_input IS NOT TRUE THEN 'after_result'
      WHEN fact.finding IN ('exposed_communication', 'serialised_communication') AND is_data_parallel
        THEN 'process_per_gpu'
      WHEN fact.finding = 'exposed_communication' AND lower(main_path) GLOB '*barrier*' THEN 'barrier'
      -- Collectives that wait for other ranks gain nothing by overlap.
      WHEN fact.finding = 'exposed_communication'
        AND top_subject = (SELECT operation FROM late_ranks WHERE rowid = 1)
        THEN iif(top_subject IN ('AllToAll', 'SendRecv'), 'late_experts', 'late_rank')
      WHEN fact.finding = 'exposed_communication'
        AND EXISTS (
          SELECT 1
          FROM top_collective
          WHERE place = op_count
            AND operation IN ('AllReduce', 'ReduceScatter', 'Generic')
        )
        THEN iif(instr(fact.remedy, 'fewer bytes'), 'last_collective', 'last_short_collective')
      WHEN fact.finding = 'exposed_communication' AND EXISTS (SELECT 1 FROM top_collective WHERE dur_ns >= 3 * other_ns)
        THEN 'late_collective'
      WHEN fact.finding = 'exposed_communication' AND (SELECT are_buckets FROM small)
        THEN iif(instr(fact.remedy, 'larger wrapped blocks'), 'small_shards', 'small_buckets')
      WHEN fact.finding = 'exposed_communication' AND (SELECT are_any FROM small)
        THEN iif((SELECT is_batch_norm FROM small), 'batch_norm', 'small_collectives')
      WHEN fact.finding = 'exposed_communication' AND top_subject = 'SendRecv' AND sign.is_of_stages THEN 'pipeline'
      WHEN fact.finding = 'exposed_communication' AND top_subject = 'SendRecv' AND sign.is_of_ring THEN 'ring'
      WHEN fact.finding = 'slow_iterations' AND slow_count = 1 THEN 'slow_step'
      WHEN fact.finding = 'slow_iterations' AND every IS NOT NULL THEN 'regular_steps'
      -- A faster message gains little where a rank is late.
      WHEN fact.finding = 'mpi_wait' AND sign.uneven_ns > 0 THEN 'equal_work'
      WHEN fact.finding = 'mpi_wait' AND EXISTS (SELECT 1 FROM elsewhere) THEN 'slow_rank'
      WHEN fact.finding = 'rank_wait' THEN 'equal_ranks'
      ELSE 'general'
    END AS fix
  FROM fact
  JOIN finding_signs AS sign
    ON sign.finding = fact.finding
)
SELECT
  chosen.rank,
  chosen.finding,
  chosen.fix,
  CASE chosen.fix
    -- Of AllReduce, GPU 2 last, 15 % slower kernels: what follows the collective.
    WHEN 'slower_gpu' THEN replace(substr(chosen.top_subject, instr(chosen.top_subject, ', ') + 2), ' last', '')
    WHEN 'batched_calls' THEN chosen.caller
    WHEN 'repeated_kernel' THEN chosen.top_subject
    WHEN 'cpu_operator' THEN chosen.cpu_operator
    WHEN 'host_exchange' THEN chosen.exchange
    WHEN 'streams_in_turn' THEN (SELECT api_name FROM stream_turns)
    WHEN 'interpreter_lock' THEN (SELECT function_name FROM os_call)
    WHEN 'garbage_collection' THEN CAST((SELECT gap_count FROM freeing_gaps) AS TEXT)
  END AS subject,
  CASE chosen.fix
    WHEN 'graph_breaks' THEN chosen.region_count
    WHEN 'batched_calls' THEN chosen.calls_per_step
    WHEN 'repeated_kernel' THEN CAST(round(1.0 * chosen.interval_count / chosen.gpu_steps) AS INTEGER)
    WHEN 'slow_worker' THEN chosen.every
    WHEN 'garbage_collection' THEN (SELECT free_count FROM freeing_gaps)
    WHEN 'streams_in_turn' THEN (SELECT stream_count FROM stream_turns)
    WHEN 'streams_in_order' THEN (SELECT stream_count FROM stream_turns)
    WHEN 'contended_launches' THEN (SELECT thread_count FROM contended_launches)
    ELSE coalesce(returned.copies_per_step, held.copies_per_step, small.step_ops)
  END AS op_count,
  CASE
    WHEN chosen.fix = 'pause' AND chosen.is_after_value THEN chosen.downloaded_bytes
    WHEN chosen.fix IN ('after_value', 'last_result', 'next_input', 'after_result') THEN chosen.downloaded_bytes
    WHEN chosen.fix IN ('host_exchange', 'socket_exchange') THEN chosen.download_bytes
    -- Of many downloads in a gap, all count.
    WHEN chosen.fix = 'round_trip'
      THEN iif(
        chosen.download_bytes >= 2 * chosen.downloaded_bytes,
        chosen.download_bytes,
        chosen.downloaded_bytes
      )
    ELSE CAST(round(coalesce(returned.size_bytes, held.size_bytes, small.size_bytes)) AS INTEGER)
  END AS size_bytes,
  CASE
    WHEN chosen.fix IN ('slow_feeder', 'host_exchange', 'socket_exchange', 'next_input', 'round_trip')
      THEN chosen.upload_bytes
  END AS upload_bytes,
  CASE chosen.fix
    WHEN 'batched_calls' THEN chosen.caller_ns
    WHEN 'contended_launches' THEN (SELECT mean_ns FROM contended_launches)
    ELSE coalesce(held.idle_ns, small.exposed_ns)
  END AS time_ns,
  iif(chosen.fix = 'contended_launches', (SELECT each_ns FROM contended_launches), small.mean_ns) AS each_ns,
  small.rest_ns,
  iif(chosen.fix = 'graph_breaks', chosen.region_pct, NULL) AS idle_pct,
  coalesce(slow_link.slow_gpu_id, elsewhere.gpu_id) AS gpu_id,
  elsewhere.other_gpu_id,
  slow_link.slow_bytes_per_s AS rate_bytes_per_s,
  slow_link.other_bytes_per_s,
  instr(chosen.remedy, 'In PyTorch:') > 0 AS is_in_pytorch,
  chosen.finding IN ('launch_bound', 'tiny_kernels')
  AND chosen.is_pytorch
  AND coalesce(lower(chosen.main_path) GLOB '*optimizer*', false) AS is_of_optimizer
FROM chosen
LEFT JOIN slow_link
  ON slow_link.finding = chosen.finding
  AND chosen.fix = 'slow_link'
LEFT JOIN returned
  ON returned.finding = chosen.finding
  AND chosen.fix = 'returned_data'
LEFT JOIN held
  ON held.finding = chosen.finding
  AND held.direction = CASE
    WHEN chosen.fix IN ('values_read_back', 'sizes_read_back', 'late_after_sizes') THEN 'Device-to-Host'
    WHEN chosen.fix IN ('one_by_one', 'uploaded_decisions', 'small_uploads', 'more_small_uploads') THEN 'Host-to-Device'
  END
LEFT JOIN others AS small
  ON small.finding = chosen.finding
  AND chosen.fix IN ('batch_norm', 'small_collectives', 'small_buckets', 'small_shards')
LEFT JOIN elsewhere
  ON chosen.fix = 'slow_rank'
ORDER BY chosen.rank
