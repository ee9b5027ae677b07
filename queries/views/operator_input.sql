/*---
name: operator_input
summary: One row per distinct input of an operator, such as the matrices of aten::mm.
present_if: [src_nvtx_event]
stored: true
rows_if: >-
  EXISTS (SELECT 1 FROM src_operator_input)
  OR EXISTS (SELECT 1 FROM nvtx_name WHERE range_text GLOB '?*, sizes = [[]*')
reads: [nvtx_name, nvtx_projection, src_operator_input, string]
columns:
  - {name: name_id, type: id, doc: "Name of the operator's ranges, an ID in nvtx_name."}
  - {name: inputs_id, type: id, doc: "Inputs, an ID of src_operator_input; 0 if the name of the range holds the sizes."}
  - {name: op_name, type: text, doc: "Name of the operator, such as aten::mm."}
  - {name: source, type: text, doc: "trace: arguments of a PyTorch trace (record_shapes); range name: sizes that emit_nvtx(record_shapes=True) wrote."}
  - {name: dims, type: text, doc: "JSON list of the sizes of each input: a list for a tensor, a list of lists for a list of tensors, empty for a number."}
  - {name: types, type: text, doc: "JSON list of the type of each input, as PyTorch writes it; null in range names."}
  - {name: settings, type: text, doc: "JSON list of the values of inputs that are no tensors, such as strides, each a text; null in range names."}
limits: The same sizes under two names of ranges have two rows, and emit_nvtx numbers each name.
---*/
WITH
recorded AS (
  SELECT DISTINCT range.name_id, input.inputsId AS inputs_id
  FROM src_operator_input AS input
  CROSS JOIN nvtx_projection AS range
  WHERE range.range_id = input.rangeId
),
traced AS MATERIALIZED (
  SELECT
    recorded.name_id,
    recorded.inputs_id,
    nvtx_name.range_text AS op_name,
    (SELECT text FROM string WHERE string_id = recorded.inputs_id) AS inputs
  FROM recorded
  CROSS JOIN nvtx_name
  WHERE nvtx_name.name_id = recorded.name_id
),
-- aten::mm, seq = 5, op_id = 7, sizes = [[2, 3], [3, 4]], input_op_ids = [(5,0), (6,0)]
named AS (
  SELECT
    name_id,
    substr(range_text, 1, instr(range_text, ', ') - 1) AS op_name,
    substr(range_text, instr(range_text, ', sizes = ') + 10) AS after
  FROM nvtx_name
  WHERE range_text GLOB '?*, sizes = [[]*'
),
sized AS (
  SELECT
    name_id,
    op_name,
    replace(iif(instr(after, ', input_op_ids'), substr(after, 1, instr(after, ', input_op_ids') - 1), after), ' ', '')
      AS dims
  FROM named
),
input AS (
  SELECT
    name_id,
    inputs_id,
    op_name,
    'trace' AS source,
    inputs ->> '$.dims' AS dims,
    inputs ->> '$.types' AS types,
    inputs ->> '$.values' AS settings
  FROM traced
  WHERE json_valid(inputs)
  UNION ALL
  SELECT name_id, 0, op_name, 'range name', dims, NULL, NULL
  FROM sized
  WHERE json_valid(dims)
)
SELECT *
FROM input
