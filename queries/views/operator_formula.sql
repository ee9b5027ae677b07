/*---
name: operator_formula
summary: One row per operator whose work follows from the shapes of its inputs.
present_if: [src_nvtx_event]
reads: []
columns:
  - {name: op_name, type: text, doc: "Name of the operator, such as aten::addmm."}
  - {name: kind, type: text, doc: "matmul, convolution, attention, norm, softmax, elementwise, reduction, copy, fill, lookup or communication."}
  - {name: reads, type: text, doc: "Inputs that it reads at least once, as a JSON list of positions from 0."}
  - {name: writes, type: text, doc: "Inputs that it overwrites, as a JSON list of positions; null if its result is new."}
  - {name: result, type: text, doc: "Size of a new result: broadcast (of the inputs it reads), same (as much as it reads), formula (of its kind), small (not counted), or the position of an input of the same size; null if there is none."}
  - {name: element_flops, type: real, doc: "Operations per element of the largest input it reads, or of the result if that is broadcast; null if its kind has a formula."}
  - {name: a_place, type: int, doc: "Position of the left matrix, of the image of a convolution, or of the queries of attention; else null."}
  - {name: b_place, type: int, doc: "Position of the right matrix, of the filter of a convolution, or of the keys of attention; else null."}
  - {name: layout, type: text, doc: "NN or NT of a matmul (NT: the right matrix has N rows); BHSD or BSHD of attention, paged if the keys are in a cache whose used part the shapes do not show; else null."}
  - {name: setting_places, type: text, doc: "Positions of settings: stride, padding, dilation and whether transposed of a convolution; of attention, whether causal. JSON list; null without."}
  - {name: is_backward, type: bool, doc: "1 for the gradient of a convolution or of attention."}
limits: >-
  Operations per element of a norm, a softmax or a function such as gelu are a convention: one for each addition,
  multiplication or function. They hardly matter, because memory bounds these operators. A norm of a backward pass and an
  optimizer step count what they read and write, if the trace names it.
---*/
WITH
matmul_op (op_name, reads, a_place, b_place, layout) AS (
  VALUES
  ('aten::mm', '[0,1]', 0, 1, 'NN'),
  ('aten::bmm', '[0,1]', 0, 1, 'NN'),
  ('aten::addmm', '[0,1,2]', 1, 2, 'NN'),
  ('aten::addmm_', '[0,1,2]', 1, 2, 'NN'),
  ('aten::_addmm_activation', '[0,1,2]', 1, 2, 'NN'),
  ('aten::baddbmm', '[0,1,2]', 1, 2, 'NN'),
  ('aten::baddbmm_', '[0,1,2]', 1, 2, 'NN'),
  ('aten::linear', '[0,1,2]', 0, 1, 'NT'),
  ('aten::_int_mm', '[0,1]', 0, 1, 'NN'),
  ('aten::_scaled_mm', '[0,1]', 0, 1, 'NN'),
  ('aten::_scaled_grouped_mm', '[0,1]', 0, 1, 'NN'),
  ('aten::_grouped_mm', '[0,1]', 0, 1, 'NN'),
  ('aten::_weight_int8pack_mm', '[0,1,2]', 0, 1, 'NT'),
  ('_C::cutlass_scaled_mm', '[1,2]', 1, 2, 'NN'),
  ('aiter::gemm_a16w16', '[0,1]', 0, 1, 'NT'),
  ('aiter::gemm_a8w8', '[0,1]', 0, 1, 'NT')
),
convolution_op (op_name, reads, a_place, b_place, setting_places, is_backward) AS (
  VALUES
  ('aten::convolution', '[0,1,2]', 0, 1, '[3,4,5,6]', 0),
  ('aten::_convolution', '[0,1,2]', 0, 1, '[3,4,5,6]', 0),
  ('aten::cudnn_convolution', '[0,1]', 0, 1, '[3,2,4]', 0),
  ('aten::cudnn_convolution_relu', '[0,1,2]', 0, 1, '[3,4,5]', 0),
  ('aten::miopen_convolution', '[0,1,2]', 0, 1, '[4,3,5]', 0),
  ('aten::miopen_depthwise_convolution', '[0,1,2]', 0, 1, '[4,3,5]', 0),
  ('aten::mkldnn_convolution', '[0,1,2]', 0, 1, '[4,3,5]', 0),
  ('aten::_conv_depthwise2d', '[0,1,3]', 0, 1, '[4,5,6]', 0),
  ('aten::convolution_backward', '[0,1,2]', 1, 2, '[4,5,6,7,10]', 1)
),
attention_op (op_name, reads, a_place, b_place, layout, setting_places, is_backward) AS (
  VALUES
  ('aten::_scaled_dot_product_flash_attention', '[0,1,2]', 0, 1, 'BHSD', '[4]', 0),
  ('aten::_scaled_dot_product_efficient_attention', '[0,1,2,3]', 0, 1, 'BHSD', '[6]', 0),
  ('aten::_scaled_dot_product_cudnn_attention', '[0,1,2,3]', 0, 1, 'BHSD', '[6]', 0),
  ('aten::_scaled_dot_product_flash_attention_for_cpu', '[0,1,2]', 0, 1, 'BHSD', '[4]', 0),
  ('aten::_flash_attention_forward', '[0,1,2]', 0, 1, 'BSHD', '[8]', 0),
  ('flash_attn::_flash_attn_forward', '[0,1,2]', 0, 1, 'BSHD', '[5]', 0),
  ('aten::_scaled_dot_product_flash_attention_backward', '[0,1,2,3,4]', 1, 2, 'BHSD', '[11]', 1),
  ('aten::_scaled_dot_product_flash_attention_for_cpu_backward', '[0,1,2,3,4]', 1, 2, 'BHSD', '[7]', 1),
  ('aten::_scaled_dot_product_efficient_attention_backward', '[0,1,2,3,5]', 1, 2, 'BHSD', '[11]', 1),
  ('aten::_scaled_dot_product_cudnn_attention_backward', '[0,1,2,3,4]', 1, 2, 'BHSD', '[14]', 1),
  ('aten::_flash_attention_backward', '[0,1,2,3,4]', 1, 2, 'BSHD', '[11]', 1),
  ('vllm::unified_attention', '[0]', 0, 1, 'paged', NULL, 0),
  ('vllm::unified_attention_with_output', '[0]', 0, 1, 'paged', NULL, 0),
  ('aiter::mha_batch_prefill', '[0]', 0, 1, 'paged', NULL, 0),
  ('sglang_profiler::attention_paged_attention_ragged', '[2]', 2, 3, 'paged', NULL, 0)
),
-- Functions of one tensor, with a result of its size.
unary_op (op_name, element_flops) AS (
  VALUES
  ('abs', 1), ('ceil', 1), ('clamp', 1), ('clamp_max', 1), ('clamp_min', 1), ('cos', 1), ('dropout', 2), ('erf', 1),
  ('exp', 1), ('floor', 1), ('gelu', 1), ('hardswish', 1), ('leaky_relu', 1), ('log', 1), ('logical_not', 1),
  ('native_dropout', 2), ('neg', 1), ('pow', 1), ('reciprocal', 1), ('relu', 1), ('round', 1), ('rsqrt', 1),
  ('sigmoid', 1), ('silu', 1), ('sin', 1), ('softplus', 1), ('sqrt', 1), ('square', 1), ('tanh', 1), ('tril', 0),
  ('triu', 0)
),
-- Functions of tensors that are broadcast to one size.
binary_op (op_name, reads) AS (
  VALUES
  ('add', '[0,1]'), ('bitwise_and', '[0,1]'), ('bitwise_or', '[0,1]'), ('div', '[0,1]'), ('maximum', '[0,1]'),
  ('minimum', '[0,1]'), ('mul', '[0,1]'), ('rsub', '[0,1]'), ('sub', '[0,1]'), ('masked_fill', '[0,1]'),
  ('gelu_backward', '[0,1]'), ('sigmoid_backward', '[0,1]'), ('silu_backward', '[0,1]'), ('tanh_backward', '[0,1]'),
  ('threshold_backward', '[0,1]'), ('native_dropout_backward', '[0,1]'), ('where', '[0,1,2]'), ('addcdiv', '[0,1,2]'),
  ('addcmul', '[0,1,2]'), ('lerp', '[0,1,2]')
),
-- Results whose elements are smaller than those of the inputs, or few, are not counted.
reduced_op (op_name, kind, reads, element_flops) AS (
  VALUES
  ('eq', 'elementwise', '[0,1]', 1), ('ge', 'elementwise', '[0,1]', 1), ('gt', 'elementwise', '[0,1]', 1),
  ('le', 'elementwise', '[0,1]', 1), ('lt', 'elementwise', '[0,1]', 1), ('ne', 'elementwise', '[0,1]', 1),
  ('isnan', 'elementwise', '[0]', 1),
  ('all', 'reduction', '[0]', 1), ('amax', 'reduction', '[0]', 1), ('amin', 'reduction', '[0]', 1),
  ('any', 'reduction', '[0]', 1), ('argmax', 'reduction', '[0]', 1), ('argmin', 'reduction', '[0]', 1),
  ('linalg_vector_norm', 'reduction', '[0]', 2), ('max', 'reduction', '[0]', 1), ('mean', 'reduction', '[0]', 1),
  ('min', 'reduction', '[0]', 1), ('norm', 'reduction', '[0]', 2), ('prod', 'reduction', '[0]', 1),
  ('std', 'reduction', '[0]', 3), ('sum', 'reduction', '[0]', 1), ('var', 'reduction', '[0]', 3)
),
fused_op (op_name, kind, reads, writes, result, element_flops) AS (
  VALUES
  ('aten::native_layer_norm', 'norm', '[0,2,3]', NULL, '0', 7),
  ('aten::native_layer_norm_backward', 'norm', '[0,1,5]', NULL, '1', 11),
  ('aten::_fused_rms_norm', 'norm', '[0,2]', NULL, '0', 4),
  ('aten::native_group_norm', 'norm', '[0,1,2]', NULL, '0', 7),
  ('aten::native_batch_norm', 'norm', '[0,1,2]', NULL, '0', 7),
  ('aten::cudnn_batch_norm', 'norm', '[0,1,2]', NULL, '0', 7),
  ('aten::miopen_batch_norm', 'norm', '[0,1,2]', NULL, '0', 7),
  ('aten::native_batch_norm_backward', 'norm', '[0,1,2]', NULL, '1', 11),
  ('aten::cudnn_batch_norm_backward', 'norm', '[0,1,2]', NULL, '0', 11),
  ('aten::miopen_batch_norm_backward', 'norm', '[0,1,2]', NULL, '0', 11),
  ('_C::rms_norm', 'norm', '[1,2]', '[0]', NULL, 4),
  ('_C::fused_add_rms_norm', 'norm', '[0,1,2]', '[0,1]', NULL, 5),
  ('aiter::rmsnorm', 'norm', '[1,2]', '[0]', NULL, 4),
  ('aiter::add_rmsnorm', 'norm', '[1,2,4]', '[0,3]', NULL, 5),
  ('aten::_softmax', 'softmax', '[0]', NULL, '0', 5),
  ('aten::_log_softmax', 'softmax', '[0]', NULL, '0', 5),
  ('aten::_softmax_backward_data', 'softmax', '[0,1]', NULL, '0', 4),
  ('aten::_log_softmax_backward_data', 'softmax', '[0,1]', NULL, '0', 4),
  ('aten::cumsum', 'reduction', '[0]', NULL, '0', 1),
  ('_C::silu_and_mul', 'elementwise', '[1]', '[0]', NULL, 1),
  ('sgl_kernel::silu_and_mul', 'elementwise', '[1]', '[0]', NULL, 1),
  ('_C::rotary_embedding', 'elementwise', '[1,2]', '[1,2]', NULL, 3),
  ('sgl_kernel::rotary_embedding', 'elementwise', '[1,2]', '[1,2]', NULL, 3),
  ('_C::static_scaled_fp8_quant', 'elementwise', '[1]', '[0]', NULL, 1),
  ('aten::copy_', 'copy', '[1]', '[0]', NULL, 0),
  ('aten::clone', 'copy', '[0]', NULL, 'same', 0),
  ('aten::cat', 'copy', '[0]', NULL, 'same', 0),
  ('aten::_foreach_copy_', 'copy', '[1]', '[0]', NULL, 0),
  ('_C_cache_ops::reshape_and_cache_flash', 'copy', '[0,1]', NULL, 'same', 0),
  ('sglang::store_cache', 'copy', '[0,1]', NULL, 'same', 0),
  ('aten::fill_', 'fill', '[]', '[0]', NULL, 0),
  ('aten::zero_', 'fill', '[]', '[0]', NULL, 0),
  ('aten::embedding', 'lookup', '[1]', NULL, 'formula', 0),
  ('aten::index_select', 'lookup', '[2]', NULL, 'formula', 0),
  ('aten::_foreach_add_', 'elementwise', '[0,1]', '[0]', NULL, 1),
  ('aten::_foreach_mul_', 'elementwise', '[0]', '[0]', NULL, 1),
  ('aten::_fused_adam_', 'elementwise', '[0,1,2,3]', '[0,2,3]', NULL, 3),
  ('aten::_fused_adamw_', 'elementwise', '[0,1,2,3]', '[0,2,3]', NULL, 3),
  ('aten::_fused_sgd_', 'elementwise', '[0,1,2]', '[0,2]', NULL, 2),
  ('record_param_comms', 'communication', '[0]', NULL, 'small', 0)
),
formula AS (
  SELECT
    op_name,
    'matmul' AS kind,
    reads,
    NULL AS writes,
    'formula' AS result,
    NULL AS element_flops,
    a_place,
    b_place,
    layout,
    NULL AS setting_places,
    0 AS is_backward
  FROM matmul_op
  UNION ALL
  SELECT op_name, 'convolution', reads, NULL, 'formula', NULL, a_place, b_place, NULL, setting_places, is_backward
  FROM convolution_op
  UNION ALL
  SELECT op_name, 'attention', reads, NULL, 'formula', NULL, a_place, b_place, layout, setting_places, is_backward
  FROM attention_op
  UNION ALL
  SELECT 'aten::' || op_name, 'elementwise', '[0]', NULL, '0', element_flops, NULL, NULL, NULL, NULL, 0
  FROM unary_op
  UNION ALL
  SELECT 'aten::' || op_name || '_', 'elementwise', '[0]', '[0]', NULL, element_flops, NULL, NULL, NULL, NULL, 0
  FROM unary_op
  UNION ALL
  SELECT 'aten::' || op_name, 'elementwise', reads, NULL, 'broadcast', 1, NULL, NULL, NULL, NULL, 0
  FROM binary_op
  UNION ALL
  SELECT 'aten::' || op_name || '_', 'elementwise', reads, '[0]', NULL, 1, NULL, NULL, NULL, NULL, 0
  FROM binary_op
  UNION ALL
  SELECT 'aten::' || op_name, kind, reads, NULL, 'small', element_flops, NULL, NULL, NULL, NULL, 0
  FROM reduced_op
  UNION ALL
  SELECT op_name, kind, reads, writes, result, element_flops, NULL, NULL, NULL, NULL, 0
  FROM fused_op
)
SELECT *
FROM formula
