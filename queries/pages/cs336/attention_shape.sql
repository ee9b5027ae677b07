/*---
name: attention_shape
version: 1
title: Shape of attention
summary: Batch, heads, tokens and head width of attention, as recorded or as given.
why: To count FLOPs with the sizes that a report records, and to ask for them only where it does not.
kind: info
tags: [nvtx, kernel]
internal: true
reads: [op_work]
params:
  - {name: batch_size, type: int, min: 1, doc: "Sequences in a batch, where the report does not record it."}
  - {name: context_length, type: int, min: 1, doc: "Tokens in a sequence, where the report does not record it."}
  - {name: num_heads, type: int, min: 1, doc: "Attention heads per layer, where the report does not record it."}
  - {name: d_head, type: int, min: 1, doc: "Width of a head, where the report does not record it."}
columns:
  - {name: is_recorded, type: bool, label: "recorded", priority: 0, doc: "1 if operators in the ranges have these sizes, 0 if the parameters do."}
  - {name: batch_size, type: int, unit: count, label: "batch", priority: 0, doc: "Sequences in a batch; 1 if only batch times heads is recorded."}
  - {name: num_heads, type: int, unit: count, label: "heads", priority: 0, doc: "Attention heads per layer; batch times heads if only that is recorded."}
  - {name: context_length, type: int, unit: count, label: "tokens", priority: 0, doc: "Tokens in a sequence."}
  - {name: d_head, type: int, unit: count, label: "head width", priority: 0, doc: "Width of a head."}
when_empty: "no operator in the ranges has recorded sizes, and the parameters lack one"
limits: >-
  The shape is that of the batched product of two square sides with the most GPU time in the scope, which should be the
  ranges of QK^T and softmax. Batch and heads are the first two sizes of a matrix of scores.
see_also: [attention_flops, attention_work]
---*/
WITH
product AS MATERIALIZED (
  SELECT batch, m AS context_length, k AS d_head
  FROM op_work
  WHERE kind = 'matmul'
    AND m = n
    AND batch > 1
  GROUP BY batch, m, k
  ORDER BY sum(gpu_ns) DESC, batch, m, k
  LIMIT 1
),
matrix AS MATERIALIZED (
  SELECT input.value ->> '$[0]' AS batch_size, input.value ->> '$[1]' AS num_heads
  FROM (SELECT DISTINCT shape FROM op_work WHERE json_valid(shape)) AS seen
  CROSS JOIN json_each(seen.shape) AS input
  CROSS JOIN product
  WHERE input.type = 'array'
    AND json_array_length(input.value) = 4
    AND input.value ->> '$[2]' = product.context_length
    AND input.value ->> '$[3]' = product.context_length
    AND (input.value ->> '$[0]') * (input.value ->> '$[1]') = product.batch
  ORDER BY batch_size, num_heads
  LIMIT 1
),
known AS (
  SELECT
    1 AS is_recorded,
    coalesce((SELECT batch_size FROM matrix), 1) AS batch_size,
    coalesce((SELECT num_heads FROM matrix), batch) AS num_heads,
    context_length,
    d_head
  FROM product
  UNION ALL
  SELECT 0, :batch_size, :num_heads, :context_length, :d_head
  WHERE NOT EXISTS (SELECT 1 FROM product)
    AND :batch_size IS NOT NULL
    AND :num_heads IS NOT NULL
    AND :context_length IS NOT NULL
    AND :d_head IS NOT NULL
)
SELECT
  max(is_recorded) AS is_recorded,
  max(batch_size) AS batch_size,
  max(num_heads) AS num_heads,
  max(context_length) AS context_length,
  max(d_head) AS d_head
FROM known
HAVING count(*) > 0
ORDER BY is_recorded
