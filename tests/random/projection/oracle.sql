-- The projection as plain SQL over the normalised views: inequality joins find every pair of range and operation, and a
-- window function the innermost range. Quadratic in time, but easy to read. The test first creates a table `attribution`
-- with one row, whose `reach` is 'thread' or 'process'. The last four statements answer, in the order of answer.rs.

-- `place` is the nesting order: of ranges that begin together the longer one is outside; of ranges with the same bounds
-- the later row is inside.
CREATE TEMP TABLE oracle_range AS
SELECT *, row_number() OVER (ORDER BY start_ns, end_ns DESC, range_id) AS place
FROM all_nvtx_range;

-- Every GPU operation with its launch: the outermost of the calls with its correlation id, and of several of these the last
-- that began no later than the operation, else the first.
CREATE TEMP TABLE oracle_op AS
WITH
ranked_call AS (
  SELECT *, row_number() OVER (PARTITION BY global_pid, correlation_id ORDER BY start_ns) AS nth
  FROM (
    SELECT
      *,
      max(end_ns) OVER (
        PARTITION BY global_pid, correlation_id
        ORDER BY start_ns, end_ns DESC, api_kind DESC, call_id
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
      ) AS reached_ns
    FROM all_cuda_call
    WHERE correlation_id <> 0
  )
  WHERE reached_ns IS NULL OR start_ns > reached_ns
),
op AS (
  SELECT 'kernel' AS op_kind, kernel_id AS op_id, start_ns, end_ns, dur_ns, correlation_id, pid, global_pid, name_id AS kernel_name_id
  FROM all_kernel
  UNION ALL
  SELECT 'memcpy', memcpy_id, start_ns, end_ns, dur_ns, correlation_id, pid, global_pid, NULL
  FROM all_memcpy
  UNION ALL
  SELECT 'memset', memset_id, start_ns, end_ns, dur_ns, correlation_id, pid, global_pid, NULL
  FROM all_memset
  UNION ALL
  SELECT 'graph', graph_trace_id, start_ns, end_ns, dur_ns, correlation_id, pid, global_pid, NULL
  FROM all_graph_trace
)
SELECT
  op.*,
  call.call_id,
  call.start_ns AS call_start_ns,
  call.end_ns AS call_end_ns,
  call.tid,
  call.global_tid
FROM op
LEFT JOIN ranked_call AS call
  ON call.global_pid = op.global_pid
  AND call.correlation_id = op.correlation_id
  AND call.nth = (
    SELECT max(1, sum(other.start_ns <= op.start_ns))
    FROM ranked_call AS other
    WHERE other.global_pid = op.global_pid
      AND other.correlation_id = op.correlation_id
  );

-- Every range of the process that contains the whole launch. `is_own`: the range counts for the launching thread.
CREATE TEMP TABLE oracle_around AS
SELECT
  op.op_kind,
  op.op_id,
  range.range_id,
  range.place,
  range.global_tid = op.global_tid AND range.end_global_tid IS NULL AS is_own
FROM oracle_op AS op
JOIN oracle_range AS range
  ON range.global_pid = op.global_pid
  AND range.start_ns <= op.call_start_ns
  AND range.end_ns >= op.call_end_ns;

-- The ranges that count. The innermost is the last one in nesting order; a range of the thread itself comes first.
CREATE TEMP TABLE oracle_inside AS
SELECT
  around.range_id,
  row_number() OVER (
    PARTITION BY around.op_kind, around.op_id
    ORDER BY around.is_own DESC, around.place DESC
  ) = 1 AS is_innermost,
  op.*
FROM oracle_around AS around
JOIN oracle_op AS op USING (op_kind, op_id)
WHERE around.is_own OR (SELECT reach FROM attribution) = 'process';

-- Every range of the process that contains a range.
CREATE TEMP TABLE oracle_above AS
SELECT
  child.range_id,
  above.range_id AS above_id,
  above.place,
  above.dur_ns,
  child.global_tid = above.global_tid
    AND child.end_global_tid IS NULL
    AND above.end_global_tid IS NULL AS is_own,
  child.range_kind = 'PushPop' AND above.range_kind = 'PushPop' AS is_pushpop
FROM oracle_range AS child
JOIN oracle_range AS above
  ON above.global_pid = child.global_pid
  AND above.place < child.place
  AND above.start_ns <= child.start_ns
  AND above.end_ns >= child.end_ns;

CREATE TEMP TABLE oracle_parent AS
SELECT range_id, above_id AS parent_id
FROM (
  SELECT *, row_number() OVER (PARTITION BY range_id ORDER BY is_own DESC, dur_ns, place DESC) AS nth
  FROM oracle_above
  WHERE is_own OR (SELECT reach FROM attribution) = 'process'
)
WHERE nth = 1;

CREATE TEMP TABLE oracle_pushpop_parent AS
SELECT range_id, above_id AS parent_id
FROM (
  SELECT *, row_number() OVER (PARTITION BY range_id ORDER BY dur_ns, place DESC) AS nth
  FROM oracle_above
  WHERE is_own AND is_pushpop
)
WHERE nth = 1;

-- nvtx_projection
WITH RECURSIVE
tree AS (
  SELECT range_id, NULL AS parent_id, 0 AS depth, ':' || range_id AS range_stack
  FROM oracle_range
  WHERE range_id NOT IN (SELECT range_id FROM oracle_parent)
  UNION ALL
  SELECT child.range_id, child.parent_id, tree.depth + 1, tree.range_stack || ':' || child.range_id
  FROM tree
  JOIN oracle_parent AS child ON child.parent_id = tree.range_id
),
work AS (
  SELECT
    range_id,
    count(*) AS op_count,
    count(DISTINCT call_id) AS launch_count,
    sum(op_kind = 'graph') AS graph_count,
    sum(dur_ns) AS gpu_ns,
    sum(is_innermost) AS self_op_count,
    count(DISTINCT CASE WHEN is_innermost THEN call_id END) AS self_launch_count,
    sum(CASE WHEN is_innermost THEN dur_ns ELSE 0 END) AS self_gpu_ns,
    min(start_ns) AS proj_start_ns,
    max(end_ns) AS proj_end_ns,
    -- An operation adds to the union its part after the latest end of the earlier operations.
    sum(max(0, end_ns - max(start_ns, coalesce(busy_until_ns, start_ns)))) AS busy_ns
  FROM (
    SELECT
      *,
      max(end_ns) OVER (
        PARTITION BY range_id
        ORDER BY start_ns, end_ns
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
      ) AS busy_until_ns
    FROM oracle_inside
  )
  GROUP BY range_id
)
SELECT
  range.range_id,
  range.start_ns,
  range.end_ns,
  range.dur_ns,
  range.range_kind,
  range.range_name,
  tree.parent_id,
  tree.depth,
  tree.range_stack,
  (
    SELECT count(*)
    FROM oracle_parent AS child
    JOIN work ON work.range_id = child.range_id
    WHERE child.parent_id = range.range_id
  ) AS child_count,
  coalesce(work.op_count, 0) AS op_count,
  coalesce(work.launch_count, 0) AS launch_count,
  coalesce(work.graph_count, 0) AS graph_count,
  coalesce(work.gpu_ns, 0) AS gpu_ns,
  coalesce(work.self_op_count, 0) AS self_op_count,
  coalesce(work.self_launch_count, 0) AS self_launch_count,
  coalesce(work.self_gpu_ns, 0) AS self_gpu_ns,
  work.proj_start_ns,
  work.proj_end_ns,
  work.busy_ns,
  range.pid,
  range.tid,
  range.global_pid,
  range.global_tid
FROM oracle_range AS range
JOIN tree USING (range_id)
LEFT JOIN work USING (range_id);

-- nvtx_op
SELECT
  op.op_kind,
  op.op_id,
  op.start_ns,
  op.end_ns,
  op.dur_ns,
  op.pid,
  op.global_pid,
  nullif(op.correlation_id, 0) AS correlation_id,
  op.call_id,
  op.call_start_ns,
  op.call_end_ns,
  op.tid,
  op.global_tid,
  innermost.range_id,
  CASE
    WHEN innermost.range_id IS NOT NULL THEN NULL
    WHEN op.op_kind = 'graph' THEN 'graph-level trace'
    WHEN op.call_id IS NULL THEN 'no API row'
    WHEN EXISTS (
      SELECT 1
      FROM oracle_around AS around
      WHERE around.op_kind = op.op_kind AND around.op_id = op.op_id
    ) THEN 'other thread'
    ELSE 'no open range'
  END AS unattributed
FROM oracle_op AS op
LEFT JOIN oracle_inside AS innermost
  ON innermost.op_kind = op.op_kind
  AND innermost.op_id = op.op_id
  AND innermost.is_innermost;

-- nvtx_pushpop
WITH RECURSIVE
pushpop AS (
  SELECT *
  FROM oracle_range
  WHERE range_kind = 'PushPop' AND end_global_tid IS NULL
),
tree AS (
  SELECT range_id, NULL AS parent_id, 0 AS depth, ':' || range_id AS range_stack
  FROM pushpop
  WHERE range_id NOT IN (SELECT range_id FROM oracle_pushpop_parent)
  UNION ALL
  SELECT child.range_id, child.parent_id, tree.depth + 1, tree.range_stack || ':' || child.range_id
  FROM tree
  JOIN oracle_pushpop_parent AS child ON child.parent_id = tree.range_id
)
SELECT
  range.range_id,
  range.start_ns,
  range.end_ns,
  range.dur_ns,
  range.range_name,
  tree.parent_id,
  tree.depth,
  tree.range_stack,
  (SELECT count(*) FROM oracle_pushpop_parent WHERE parent_id = range.range_id) AS child_count,
  (
    SELECT coalesce(sum(child.dur_ns), 0)
    FROM oracle_pushpop_parent AS link
    JOIN oracle_range AS child ON child.range_id = link.range_id
    WHERE link.parent_id = range.range_id
  ) AS child_ns,
  range.pid,
  range.tid,
  range.global_pid,
  range.global_tid
FROM pushpop AS range
JOIN tree USING (range_id);

-- nvtx_range_kernel
WITH
pair AS (
  SELECT
    range.global_tid,
    range.range_name,
    range.range_kind,
    inside.kernel_name_id,
    inside.range_id,
    inside.op_id,
    inside.dur_ns
  FROM oracle_inside AS inside
  JOIN oracle_range AS range ON range.range_id = inside.range_id
  WHERE inside.op_kind = 'kernel'
  UNION ALL
  SELECT global_tid, NULL, NULL, kernel_name_id, NULL, op_id, dur_ns
  FROM oracle_op
  WHERE op_kind = 'kernel' AND op_id NOT IN (SELECT op_id FROM oracle_inside WHERE op_kind = 'kernel')
),
ranked_pair AS (
  SELECT
    *,
    row_number() OVER (name_kernel ORDER BY dur_ns) AS nth,
    count(*) OVER name_kernel AS pairs,
    avg(dur_ns) OVER name_kernel AS mean_ns
  FROM pair
  WINDOW name_kernel AS (PARTITION BY global_tid, range_name, range_kind, kernel_name_id)
)
SELECT
  global_tid,
  range_name,
  range_kind,
  kernel_name_id,
  count(DISTINCT range_id) AS range_count,
  count(DISTINCT op_id) AS calls,
  sum(dur_ns) AS total_ns,
  max(mean_ns) AS mean_ns,
  avg(CASE WHEN nth IN ((pairs + 1) / 2, (pairs + 2) / 2) THEN dur_ns END) AS median_ns,
  min(dur_ns) AS min_ns,
  max(dur_ns) AS max_ns,
  coalesce(sum((dur_ns - mean_ns) * (dur_ns - mean_ns)) / nullif(max(pairs) - 1, 0), 0.0) AS variance
FROM ranked_pair
GROUP BY global_tid, range_name, range_kind, kernel_name_id;
