/*---
name: range_work
summary: One row per name of ranges whose work a rule gives, with its FLOPs and bytes.
present_if: [src_nvtx_event]
stored: true
rows_if: EXISTS (SELECT 1 FROM nvtx_name WHERE work IS NOT NULL)
reads: [data_type, nvtx_name]
columns:
  - {name: name_id, type: id, doc: "Name of the ranges, an ID in nvtx_name."}
  - {name: op_name, type: text, doc: "The name, with each standalone number replaced by *."}
  - {name: kind, type: text, doc: "attention, or matmul for the other kinds of rules, whose work is nearly all in matrix products."}
  - {name: shape, type: text, doc: "The rule: its kind, then its sizes by name."}
  - {name: data_type, type: text, doc: "Type of the elements, by the setting type; null without it."}
  - {name: batch, type: int, unit: count, doc: "Products of a batched matmul, or sequences of attention; null for other rules."}
  - {name: m, type: int, unit: count, doc: "Rows of a matmul's result, or queries of a sequence; null for other rules."}
  - {name: n, type: int, unit: count, doc: "Columns of a matmul's result, or keys of a sequence; null for other rules."}
  - {name: k, type: int, unit: count, doc: "Length of a matmul's inner products, or width of a head; null for other rules."}
  - {name: heads, type: int, unit: count, doc: "Heads of attention; null for other rules."}
  - {name: is_causal, type: bool, doc: "1 if attention is causal; null for other rules."}
  - {name: flop_count, type: int, unit: count, doc: "Floating-point operations of a range; null if the rule lacks a size or its kind is unknown."}
  - {name: read_elements, type: int, unit: count, doc: "Elements that a range reads at least; null as flop_count."}
  - {name: written_elements, type: int, unit: count, doc: "Elements that a range writes at least; null as flop_count."}
  - {name: element_bytes, type: bytes, unit: bytes, doc: "Size of an element; null without the setting type."}
limits: >-
  Rules are in names/work.yml of a query folder, such as: rules: [{match: '^ffn$', work: {kind: ffn, tokens: 4096, width:
  1024, hidden: 4096, type: bf16}}]. Kinds, with their sizes: matmul (m, n, k, batch = 1); attention (batch, heads,
  queries, head_size, keys = queries, kv_heads = heads, causal = false); ffn (tokens, width, hidden, matrices = 2; 3 with
  a gate, as SwiGLU has); layer of a Transformer (as ffn, and context, heads, head_size = width / heads, kv_heads = heads,
  causal = true); transformer (as layer, and layers, vocabulary = 0), or transformer with tokens and parameters, which
  counts no attention. All take type, pass (forward; backward counts 2 passes, of attention 2.5; training both) and
  count = 1, the times that a range does it. Tokens are those of the whole batch. Norms and activations count nothing.
  Bytes are those of weights, inputs and results.
---*/
WITH
rule AS (
  SELECT
    name_id,
    layer_name AS op_name,
    work ->> 'kind' AS kind,
    (
      SELECT group_concat(key || '=' || iif(type IN ('true', 'false'), type, value), ' ')
      FROM (SELECT key, type, value FROM json_each(nvtx_name.work) WHERE key <> 'kind' ORDER BY key)
    ) AS sizes,
    coalesce(work ->> 'pass', 'forward') AS pass,
    coalesce(work ->> 'causal', work ->> 'kind' <> 'attention') IN (1, 'true') AS is_causal,
    lower(work ->> 'type') AS type_name,
    -- A text without a number is 0, which is no size.
    nullif(CAST(coalesce(work ->> 'count', 1) AS REAL), 0) AS repeats,
    nullif(CAST(coalesce(work ->> 'batch', 1) AS REAL), 0) AS batch,
    nullif(CAST(work ->> 'm' AS REAL), 0) AS m,
    nullif(CAST(work ->> 'n' AS REAL), 0) AS n,
    nullif(CAST(work ->> 'k' AS REAL), 0) AS k,
    nullif(CAST(work ->> 'heads' AS REAL), 0) AS heads,
    nullif(CAST(coalesce(work ->> 'kv_heads', work ->> 'heads') AS REAL), 0) AS kv_heads,
    nullif(CAST(work ->> 'queries' AS REAL), 0) AS queries,
    nullif(CAST(coalesce(work ->> 'keys', work ->> 'queries') AS REAL), 0) AS keys,
    nullif(CAST(coalesce(work ->> 'head_size', (work ->> 'width') / (work ->> 'heads')) AS REAL), 0) AS head_size,
    nullif(CAST(work ->> 'tokens' AS REAL), 0) AS tokens,
    nullif(CAST(work ->> 'context' AS REAL), 0) AS context,
    nullif(CAST(work ->> 'width' AS REAL), 0) AS width,
    nullif(CAST(work ->> 'hidden' AS REAL), 0) AS hidden,
    nullif(CAST(coalesce(work ->> 'matrices', 2) AS REAL), 0) AS matrices,
    nullif(CAST(iif(work ->> 'kind' = 'layer', 1, work ->> 'layers') AS REAL), 0) AS layers,
    nullif(CAST(work ->> 'parameters' AS REAL), 0) AS parameters,
    CAST(coalesce(work ->> 'vocabulary', 0) AS REAL) AS vocabulary
  FROM nvtx_name
  WHERE work IS NOT NULL
),
-- Per range: weights that each token meets, pairs of a query and a key, and what is read and written.
counted AS (
  SELECT
    *,
    CASE kind
      WHEN 'matmul' THEN batch * n * k
      WHEN 'ffn' THEN matrices * width * hidden
      WHEN 'attention' THEN 0
      WHEN 'layer' THEN 2 * width * head_size * (heads + kv_heads) + matrices * width * hidden
      WHEN 'transformer' THEN coalesce(
        parameters,
        layers * (2 * width * head_size * (heads + kv_heads) + matrices * width * hidden) + vocabulary * width
      )
    END AS weights,
    CASE
      WHEN kind = 'matmul' THEN m
      WHEN kind = 'attention' THEN 0
      ELSE tokens
    END AS rows,
    CASE
      WHEN kind = 'attention' THEN batch * heads * (queries * keys - is_causal * queries * queries / 2)
      WHEN kind IN ('matmul', 'ffn') OR parameters IS NOT NULL THEN 0
      ELSE layers * heads * tokens * context * (1 - is_causal / 2.0)
    END AS pairs,
    CASE kind
      WHEN 'matmul' THEN batch * m * k
      WHEN 'attention' THEN batch * head_size * (heads * queries + 2 * kv_heads * keys)
      ELSE coalesce(layers, 1) * tokens * coalesce(width, 0)
    END AS inputs,
    CASE kind
      WHEN 'matmul' THEN batch * m * n
      WHEN 'attention' THEN batch * head_size * heads * queries
      ELSE coalesce(layers, 1) * tokens * coalesce(width, 0) + iif(kind = 'transformer', tokens * vocabulary, 0)
    END AS results
  FROM rule
),
passed AS (
  SELECT
    *,
    CASE pass WHEN 'forward' THEN 1 WHEN 'backward' THEN 2 WHEN 'training' THEN 3 END AS product_passes,
    CASE pass WHEN 'forward' THEN 1 WHEN 'backward' THEN 2.5 WHEN 'training' THEN 3.5 END AS attention_passes,
    CASE pass WHEN 'forward' THEN 1 WHEN 'backward' THEN 1 WHEN 'training' THEN 2 END AS reads,
    CASE pass WHEN 'forward' THEN 0 WHEN 'backward' THEN 1 WHEN 'training' THEN 1 END AS gradients
  FROM counted
)
SELECT
  passed.name_id,
  passed.op_name,
  iif(passed.kind = 'attention', 'attention', 'matmul') AS kind,
  coalesce(passed.kind, 'no kind') || ': ' || coalesce(passed.sizes, '') AS shape,
  data_type.data_type,
  CAST(iif(passed.kind IN ('matmul', 'attention'), passed.batch, NULL) AS INTEGER) AS batch,
  CAST(iif(passed.kind = 'attention', passed.queries, passed.m) AS INTEGER) AS m,
  CAST(iif(passed.kind = 'attention', passed.keys, passed.n) AS INTEGER) AS n,
  CAST(iif(passed.kind = 'attention', passed.head_size, passed.k) AS INTEGER) AS k,
  CAST(iif(passed.kind = 'attention', passed.heads, NULL) AS INTEGER) AS heads,
  iif(passed.kind = 'attention', passed.is_causal, NULL) AS is_causal,
  CAST(
    passed.repeats * (
      2 * passed.rows * passed.weights * passed.product_passes
      + iif(passed.pairs = 0, 0, 4 * passed.pairs * passed.head_size) * passed.attention_passes
    )
    AS INTEGER
  ) AS flop_count,
  -- A backward pass reads inputs, weights and the result's gradient, and writes one of each input and weight.
  CAST(
    passed.repeats
    * (passed.reads * (passed.inputs + passed.weights) + passed.gradients * passed.results)
    AS INTEGER
  ) AS read_elements,
  CAST(
    passed.repeats * iif(
      passed.pass = 'backward',
      passed.inputs + passed.weights,
      passed.results + passed.gradients * (passed.inputs + passed.weights)
    )
    AS INTEGER
  ) AS written_elements,
  data_type.element_bytes
FROM passed
LEFT JOIN data_type
  ON lower(data_type.type_name) = passed.type_name
