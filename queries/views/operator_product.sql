/*---
name: operator_product
summary: One row per distinct input of a matrix product, convolution or attention.
internal: true
present_if: [nvtx_range]
stored: true
rows_if: EXISTS (SELECT 1 FROM operator_input)
reads: [operator_formula, operator_input, operator_tensor]
columns:
  - {name: name_id, type: id, doc: "Name of the operator's ranges; see operator_input."}
  - {name: inputs_id, type: id, doc: "Inputs of the operator; see operator_input."}
  - {name: batch, type: int, unit: count, doc: "Products of a batched matmul, or sequences of attention; null for a convolution."}
  - {name: m, type: int, unit: count, doc: "Rows of a matmul's result, or queries of a sequence; null for a convolution."}
  - {name: n, type: int, unit: count, doc: "Columns of a matmul's result, or keys of a sequence; null for a convolution."}
  - {name: k, type: int, unit: count, doc: "Length of a matmul's inner products, or width of a head; null for a convolution."}
  - {name: heads, type: int, unit: count, doc: "Heads of attention; null for other kinds."}
  - {name: kv_heads, type: int, unit: count, doc: "Heads of the keys of paged attention, whose FLOPs follow only from the batch; null for other kinds."}
  - {name: is_causal, type: bool, doc: "1 if attention is causal; null for other kinds, or if unknown."}
  - {name: flop_count, type: int, unit: count, doc: "Floating-point operations; null if a setting is unknown."}
  - {name: written_elements, type: int, unit: count, doc: "Elements of the result; null if a setting is unknown."}
limits: >-
  A product counts 2 FLOPs for each multiplication and addition; adding a bias counts none. A convolution backward counts
  one product for each gradient that it computes. Attention counts both products (QK^T and PV), 2.5 times as much
  backward, and of a causal square half.
---*/
WITH
-- The two operands, and the settings that the work depends on.
operand AS MATERIALIZED (
  SELECT
    input.name_id,
    input.inputs_id,
    formula.kind,
    formula.layout,
    formula.is_backward,
    input.dims ->> formula.a_place AS a,
    input.dims ->> formula.b_place AS b,
    input.dims ->> (formula.b_place + 1) AS c,
    a.element_count AS a_elements,
    b.element_count AS b_elements,
    input.dims ->> 0 AS first,
    first.element_count AS first_elements,
    json_array_length(input.dims, '$[' || formula.a_place || ']') AS a_rank,
    json_array_length(input.dims, '$[' || formula.b_place || ']') AS b_rank,
    input.settings ->> (formula.setting_places ->> 0) AS setting_0,
    input.settings ->> (formula.setting_places ->> 1) AS setting_1,
    input.settings ->> (formula.setting_places ->> 2) AS setting_2,
    coalesce(input.settings ->> (formula.setting_places ->> 3), 'False') AS setting_3,
    replace(replace(input.settings ->> (formula.setting_places ->> 4), 'True', '1'), 'False', '0') AS setting_4
  FROM operator_input AS input
  JOIN operator_formula AS formula
    ON formula.op_name = input.op_name
  JOIN operator_tensor AS a
    ON a.name_id = input.name_id
    AND a.inputs_id = input.inputs_id
    AND a.place = formula.a_place
  JOIN operator_tensor AS b
    ON b.name_id = input.name_id
    AND b.inputs_id = input.inputs_id
    AND b.place = formula.b_place
  LEFT JOIN operator_tensor AS first
    ON first.name_id = input.name_id
    AND first.inputs_id = input.inputs_id
    AND first.place = 0
  WHERE formula.a_place IS NOT NULL
),
matmul AS (
  SELECT
    name_id,
    inputs_id,
    iif(a_rank = 3 AND layout = 'NN', a ->> 0, 1) AS batch,
    a_elements / nullif((a ->> '$[#-1]') * iif(a_rank = 3 AND layout = 'NN', a ->> 0, 1), 0) AS m,
    iif(layout = 'NT', b ->> '$[#-2]', b ->> '$[#-1]') AS n,
    a ->> '$[#-1]' AS k
  FROM operand
  WHERE kind = 'matmul'
    AND a_rank >= 2
    AND b_rank >= 2
    -- Otherwise the trace writes other shapes than these formulas expect.
    AND a ->> '$[#-1]' = iif(layout = 'NT', b ->> '$[#-1]', b ->> '$[#-2]')
),
-- Size of one dimension of a result: (size + 2 padding - dilation (filter - 1) - 1) / stride + 1.
dimension AS (
  SELECT
    operand.name_id,
    operand.inputs_id,
    space.value AS place,
    ((operand.a ->> (space.value + 2)) + 2 * (operand.setting_1 ->> space.value)
      - (operand.setting_2 ->> space.value) * ((operand.b ->> (space.value + 2)) - 1) - 1)
    / nullif(operand.setting_0 ->> space.value, 0) + 1 AS size
  FROM operand, json_each('[0,1,2]') AS space
  WHERE operand.kind = 'convolution'
    AND NOT operand.is_backward
    AND operand.setting_3 = 'False'
    AND space.value < operand.a_rank - 2
    AND json_valid(operand.setting_0)
    AND json_valid(operand.setting_1)
    AND json_valid(operand.setting_2)
),
result AS (
  SELECT
    dimension.name_id,
    dimension.inputs_id,
    (operand.a ->> 0) * (operand.b ->> 0) * coalesce(max(size) FILTER (WHERE place = 0), 1)
    * coalesce(max(size) FILTER (WHERE place = 1), 1) * coalesce(max(size) FILTER (WHERE place = 2), 1) AS elements
  FROM dimension
  JOIN operand
    ON operand.name_id = dimension.name_id
    AND operand.inputs_id = dimension.inputs_id
  GROUP BY dimension.name_id, dimension.inputs_id
),
-- Each element of the larger side of a convolution meets b_elements / (b ->> 0) elements of the filter.
convolution AS (
  SELECT
    operand.name_id,
    operand.inputs_id,
    CASE
      WHEN NOT operand.is_backward THEN 2 * result.elements * operand.b_elements / nullif(operand.b ->> 0, 0)
      ELSE 2 * iif(operand.setting_3 = 'True', operand.a_elements, operand.first_elements)
        * operand.b_elements / nullif(operand.b ->> 0, 0)
        * (iif(operand.setting_4 ->> 0, 1, 0) + iif(operand.setting_4 ->> 1, 1, 0))
    END AS flop_count,
    iif(
      operand.is_backward,
      iif(operand.setting_4 ->> 0, operand.a_elements, 0) + iif(operand.setting_4 ->> 1, operand.b_elements, 0),
      result.elements
    ) AS written_elements
  FROM operand
  LEFT JOIN result
    ON result.name_id = operand.name_id
    AND result.inputs_id = operand.inputs_id
  WHERE operand.kind = 'convolution'
),
attended AS (
  SELECT
    name_id,
    inputs_id,
    is_backward,
    a ->> 0 AS batch,
    iif(layout = 'BHSD', a ->> 1, a ->> 2) AS heads,
    iif(layout = 'BHSD', a ->> 2, a ->> 1) AS m,
    iif(layout = 'BHSD', b ->> 2, b ->> 1) AS n,
    a ->> 3 AS k,
    coalesce(c ->> 3, a ->> 3) AS value_width,
    a_elements,
    b_elements,
    iif(setting_0 = 'True', 1, iif(setting_0 = 'False', 0, NULL)) AS is_causal
  FROM operand
  WHERE kind = 'attention'
    AND layout <> 'paged'
    AND a_rank = 4
    AND b_rank = 4
),
attention AS (
  SELECT
    *,
    -- A causal query sees the keys up to its own place: half of a square. Twice, so that it is an integer.
    batch * heads * (k + value_width) * (2 * m * n - is_causal * m * m) * iif(is_backward, 5, 2) / 2 AS flop_count,
    iif(is_backward, a_elements + 2 * b_elements, batch * heads * m * value_width) AS written_elements
  FROM attended
),
product AS MATERIALIZED (
  SELECT
    name_id,
    inputs_id,
    batch,
    m,
    n,
    k,
    NULL AS heads,
    NULL AS kv_heads,
    NULL AS is_causal,
    2 * batch * m * n * k AS flop_count,
    batch * m * n AS written_elements
  FROM matmul
  UNION ALL
  SELECT name_id, inputs_id, NULL, NULL, NULL, NULL, NULL, NULL, NULL, flop_count, written_elements
  FROM convolution
  UNION ALL
  SELECT name_id, inputs_id, batch, m, n, k, heads, NULL, is_causal, flop_count, written_elements
  FROM attention
  UNION ALL
  SELECT
    name_id,
    inputs_id,
    NULL,
    a ->> 0,
    NULL,
    a ->> '$[#-1]',
    a ->> '$[#-2]',
    b ->> '$[#-2]',
    NULL,
    NULL,
    a_elements
  FROM operand
  WHERE layout = 'paged'
    AND a_rank = 3
    AND b_rank >= 3
)
SELECT *
FROM product
