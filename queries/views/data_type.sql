/*---
name: data_type
summary: One row per element type, under each of its names.
present_if: [src_nvtx_event]
reads: []
columns:
  - {name: type_name, type: text, doc: "Name as PyTorch or a user writes it, such as c10::BFloat16 or bf16."}
  - {name: data_type, type: text, doc: "fp64, fp32, fp16, bf16, fp8, int64, int32, int16, int8, bool, complex64 or complex128."}
  - {name: element_bytes, type: bytes, unit: bytes, doc: "Size of an element."}
limits: Types of less than a byte, such as FP4, are unknown.
---*/
SELECT column1 AS type_name, column2 AS data_type, column3 AS element_bytes
FROM (
  VALUES
  ('double', 'fp64', 8), ('fp64', 'fp64', 8),
  ('float', 'fp32', 4), ('fp32', 'fp32', 4), ('tf32', 'fp32', 4),
  ('c10::Half', 'fp16', 2), ('half', 'fp16', 2), ('fp16', 'fp16', 2),
  ('c10::BFloat16', 'bf16', 2), ('bfloat16', 'bf16', 2), ('bf16', 'bf16', 2),
  ('c10::Float8_e4m3fn', 'fp8', 1), ('c10::Float8_e5m2', 'fp8', 1), ('c10::Float8_e4m3fnuz', 'fp8', 1),
  ('c10::Float8_e5m2fnuz', 'fp8', 1), ('fp8', 'fp8', 1),
  ('long int', 'int64', 8), ('long', 'int64', 8), ('int64', 'int64', 8),
  ('int', 'int32', 4), ('int32', 'int32', 4),
  ('short int', 'int16', 2), ('short', 'int16', 2), ('int16', 'int16', 2),
  ('signed char', 'int8', 1), ('unsigned char', 'int8', 1), ('int8', 'int8', 1),
  ('bool', 'bool', 1),
  ('c10::complex<float>', 'complex64', 8), ('c10::complex<double>', 'complex128', 16)
)
