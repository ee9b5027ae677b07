/*---
name: operator_work
summary: One row per distinct input of an operator, with its FLOPs and bytes.
present_if: [src_nvtx_event]
stored: true
rows_if: EXISTS (SELECT 1 FROM operator_input) OR EXISTS (SELECT 1 FROM range_work)
reads: [operator_formula, operator_input, operator_product, operator_tensor, range_work]
columns:
  - {name: name_id, type: id, doc: "Name of the operator's ranges; see operator_input."}
  - {name: inputs_id, type: id, doc: "Inputs of the operator; see operator_input. 0 for a rule."}
  - {name: op_name, type: text, doc: "Name of the operator, such as aten::mm."}
  - {name: kind, type: text, doc: "matmul, convolution, attention, norm, softmax, elementwise, reduction, copy, fill, lookup or communication."}
  - {name: shape, type: text, doc: "What the work depends on: MxNxK of a matmul, with its batch; sizes of the inputs of others."}
  - {name: data_type, type: text, doc: "Type of the elements of the largest input that it reads; null if unknown."}
  - {name: batch, type: int, unit: count, doc: "Products of a batched matmul, or sequences of attention; null for other kinds."}
  - {name: m, type: int, unit: count, doc: "Rows of a matmul's result, or queries of a sequence; null for other kinds."}
  - {name: n, type: int, unit: count, doc: "Columns of a matmul's result, or keys of a sequence; null for other kinds."}
  - {name: k, type: int, unit: count, doc: "Length of a matmul's inner products, or width of a head; null for other kinds."}
  - {name: heads, type: int, unit: count, doc: "Heads of attention; null for other kinds."}
  - {name: kv_heads, type: int, unit: count, doc: "Heads of the keys of paged attention; null for other kinds."}
  - {name: is_causal, type: bool, doc: "1 if attention is causal; null for other kinds."}
  - {name: flop_count, type: int, unit: count, doc: "Floating-point operations; null if unknown."}
  - {name: read_elements, type: int, unit: count, doc: "Elements that it reads at least; null if unknown."}
  - {name: written_elements, type: int, unit: count, doc: "Elements that it writes at least; null if unknown."}
  - {name: read_bytes, type: bytes, unit: bytes, doc: "Bytes that it reads at least: each input once; null if a size or type is unknown."}
  - {name: written_bytes, type: bytes, unit: bytes, doc: "Bytes that it writes at least; null if a size or type is unknown."}
  - {name: source, type: text, doc: "From what the work is known: trace or range name, see operator_input; rule, see range_work."}
limits: >-
  For FLOPs of products, see operator_product; those of other kinds are a convention, see operator_formula. The bytes are
  what must be read and written once; a kernel moves more when data do not stay in its caches. A result has the type of
  the operand, or of the largest input.
---*/
WITH
known AS MATERIALIZED (
  SELECT
    input.*,
    formula.kind,
    formula.reads,
    formula.writes,
    formula.result,
    formula.element_flops,
    formula.a_place
  FROM operator_input AS input
  JOIN operator_formula AS formula
    ON formula.op_name = input.op_name
),
read AS (
  SELECT
    known.name_id,
    known.inputs_id,
    sum(tensor.element_count) AS read_elements,
    max(tensor.element_count) AS largest,
    iif(
      count(*) FILTER (WHERE tensor.element_count > 0 AND tensor.element_bytes IS NULL),
      NULL,
      sum(tensor.element_count * coalesce(tensor.element_bytes, 0))
    ) AS read_bytes,
    -- The widest of each dimension, counted from the last.
    max(coalesce(tensor.dims ->> '$[#-1]', 1)) * max(coalesce(tensor.dims ->> '$[#-2]', 1))
    * max(coalesce(tensor.dims ->> '$[#-3]', 1)) * max(coalesce(tensor.dims ->> '$[#-4]', 1))
    * max(coalesce(tensor.dims ->> '$[#-5]', 1)) * max(coalesce(tensor.dims ->> '$[#-6]', 1)) AS broadcast_elements,
    json_group_array(json(tensor.dims)) FILTER (WHERE tensor.element_count > 0) AS shape
  FROM known, json_each(known.reads) AS place
  JOIN operator_tensor AS tensor
    ON tensor.name_id = known.name_id
    AND tensor.inputs_id = known.inputs_id
    AND tensor.place = place.value
  GROUP BY known.name_id, known.inputs_id
),
written AS (
  SELECT
    known.name_id,
    known.inputs_id,
    sum(tensor.element_count) AS written_elements,
    iif(
      count(*) FILTER (WHERE tensor.element_count > 0 AND tensor.element_bytes IS NULL),
      NULL,
      sum(tensor.element_count * coalesce(tensor.element_bytes, 0))
    ) AS written_bytes
  FROM known, json_each(known.writes) AS place
  JOIN operator_tensor AS tensor
    ON tensor.name_id = known.name_id
    AND tensor.inputs_id = known.inputs_id
    AND tensor.place = place.value
  GROUP BY known.name_id, known.inputs_id
),
-- The type of the first operand decides; else that of the largest input.
typed AS (
  SELECT name_id, inputs_id, data_type, element_bytes
  FROM (
    SELECT
      tensor.*,
      row_number() OVER (
        PARTITION BY tensor.name_id, tensor.inputs_id
        ORDER BY tensor.place IS DISTINCT FROM known.a_place, tensor.element_count DESC, tensor.place
      ) AS nth
    FROM known
    JOIN operator_tensor AS tensor
      ON tensor.name_id = known.name_id
      AND tensor.inputs_id = known.inputs_id
    WHERE tensor.element_count > 0
  )
  WHERE nth = 1
),
counted AS (
  SELECT
    known.*,
    typed.data_type,
    typed.element_bytes,
    read.read_elements,
    read.read_bytes,
    read.shape AS read_shape,
    product.batch,
    product.m,
    product.n,
    product.k,
    product.heads,
    product.kv_heads,
    product.is_causal,
    iif(
      known.a_place IS NULL,
      CAST(
        known.element_flops * coalesce(iif(known.result = 'broadcast', read.broadcast_elements, read.largest), 0)
        AS INTEGER
      ),
      product.flop_count
    ) AS flop_count,
    CASE
      WHEN known.writes IS NOT NULL THEN written.written_elements
      WHEN known.a_place IS NOT NULL THEN product.written_elements
      WHEN known.kind = 'lookup' THEN read.read_elements * (known.dims ->> '$[0][1]')
      WHEN known.result = 'broadcast' THEN read.broadcast_elements
      WHEN known.result = 'same' THEN read.read_elements
      WHEN known.result = 'small' THEN 0
      ELSE (
        SELECT element_count
        FROM operator_tensor AS tensor
        WHERE tensor.name_id = known.name_id
          AND tensor.inputs_id = known.inputs_id
          AND tensor.place = CAST(known.result AS INTEGER)
      )
    END AS written_elements,
    written.written_bytes
  FROM known
  LEFT JOIN read
    ON read.name_id = known.name_id
    AND read.inputs_id = known.inputs_id
  LEFT JOIN written
    ON written.name_id = known.name_id
    AND written.inputs_id = known.inputs_id
  LEFT JOIN typed
    ON typed.name_id = known.name_id
    AND typed.inputs_id = known.inputs_id
  LEFT JOIN operator_product AS product
    ON product.name_id = known.name_id
    AND product.inputs_id = known.inputs_id
),
work AS (
  SELECT
    name_id,
    inputs_id,
    op_name,
    kind,
    CASE
      WHEN kind = 'matmul' AND batch > 1 THEN batch || ' x ' || m || 'x' || n || 'x' || k
      WHEN kind = 'matmul' THEN m || 'x' || n || 'x' || k
      ELSE coalesce(read_shape, dims)
    END AS shape,
    data_type,
    batch,
    m,
    n,
    k,
    heads,
    kv_heads,
    is_causal,
    flop_count,
    -- A table is read where the index points.
    iif(kind = 'lookup', read_elements + written_elements, coalesce(read_elements, 0)) AS read_elements,
    written_elements,
    iif(
      kind = 'lookup',
      read_bytes + written_elements * element_bytes,
      iif(read_elements IS NULL, 0, read_bytes)
    ) AS read_bytes,
    coalesce(written_bytes, written_elements * element_bytes) AS written_bytes,
    source
  FROM counted
  UNION ALL
  SELECT
    name_id,
    0,
    op_name,
    kind,
    shape,
    data_type,
    batch,
    m,
    n,
    k,
    heads,
    NULL,
    is_causal,
    flop_count,
    read_elements,
    written_elements,
    read_elements * element_bytes,
    written_elements * element_bytes,
    'rule'
  FROM range_work
  WHERE name_id NOT IN (SELECT name_id FROM known WHERE inputs_id = 0)
)
SELECT *
FROM work
