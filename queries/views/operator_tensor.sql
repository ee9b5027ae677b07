/*---
name: operator_tensor
summary: One row per tensor that an operator with a known formula was given.
internal: true
present_if: [nvtx_range]
stored: true
rows_if: EXISTS (SELECT 1 FROM operator_input)
reads: [data_type, operator_formula, operator_input]
columns:
  - {name: name_id, type: id, doc: "Name of the operator's ranges; see operator_input."}
  - {name: inputs_id, type: id, doc: "Inputs of the operator; see operator_input."}
  - {name: place, type: int, doc: "Position of the input, from 0. A list of tensors has one row for each."}
  - {name: dims, type: text, doc: "Sizes of the tensor as a JSON list; empty for a number."}
  - {name: element_count, type: int, unit: count, doc: "Elements; 0 for a number of the host."}
  - {name: data_type, type: text, doc: "Type of the elements, such as bf16; null if unknown."}
  - {name: element_bytes, type: bytes, unit: bytes, doc: "Size of an element; null if unknown."}
limits: PyTorch does not write the types of a list of tensors, and range names hold no types.
---*/
SELECT
  input.name_id,
  input.inputs_id,
  place.key AS place,
  member.value AS dims,
  -- A number of the host has no size, a tensor without dimensions has one element.
  iif(
    member.value = '[]' AND data_type.data_type IS NULL,
    0,
    coalesce(member.value ->> 0, 1) * coalesce(member.value ->> 1, 1) * coalesce(member.value ->> 2, 1)
    * coalesce(member.value ->> 3, 1) * coalesce(member.value ->> 4, 1) * coalesce(member.value ->> 5, 1)
    * coalesce(member.value ->> 6, 1) * coalesce(member.value ->> 7, 1)
  ) AS element_count,
  data_type.data_type,
  data_type.element_bytes
FROM operator_input AS input
JOIN json_each(input.dims) AS place
JOIN json_each(
  iif(json_type(place.value, '$[0]') = 'array', place.value, json_array(json(place.value)))
) AS member
LEFT JOIN data_type
  ON data_type.type_name = iif(json_type(place.value, '$[0]') = 'array', NULL, input.types ->> place.key)
WHERE place.type = 'array'
  AND input.op_name IN (SELECT op_name FROM operator_formula)
