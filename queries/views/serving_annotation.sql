/*---
name: serving_annotation
summary: One row per step that an inference engine annotated, with its batch.
present_if: [src_nvtx_event]
scope: {time: [start_ns, end_ns], process: pid, thread: global_tid}
reads: [all_nvtx_name, all_nvtx_projection, all_nvtx_range]
columns:
  - {name: range_id, type: id, doc: "Row ID of the range in the raw table."}
  - {name: step, type: int, doc: "Position by start among the steps of the thread, from 0."}
  - {name: rule, type: text, doc: "Form of the name: execute_sq, execute_context, step_mode or forward_step; see limits."}
  - {name: range_text, type: text, doc: "Name of the range, without its domain."}
  - {name: kind, type: text, doc: "prefill, decode, mixed (both in one batch) or other, such as a batch without sequences."}
  - {name: prefill_sequences, type: int, unit: count, doc: "Sequences in prefill; null if the name does not contain it."}
  - {name: decode_sequences, type: int, unit: count, doc: "Sequences in decode; null if the name does not contain it."}
  - {name: prefill_tokens, type: int, unit: count, doc: "New tokens of the sequences in prefill; null if the name does not contain it."}
  - {name: decode_tokens, type: int, unit: count, doc: "New tokens of the sequences in decode; null if the name does not contain it."}
  - {name: sequences, type: int, unit: count, doc: "All sequences of the batch; null if the name does not contain it."}
  - {name: tokens, type: int, unit: count, doc: "New tokens of all sequences; null if the name does not contain it."}
  - {name: prefill_context_tokens, type: int, unit: count, doc: "Context lengths of the sequences in prefill, added up, with the new tokens; null if the name does not contain it."}
  - {name: decode_context_tokens, type: int, unit: count, doc: "Context lengths of the sequences in decode, added up, with the new tokens; null if the name does not contain it."}
  - {name: attended_pairs, type: real, doc: "Pairs of a new token and a token that it attends to, over all sequences; those of a prefill attend to half of their own; null if the name does not contain it."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of the range on the CPU, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "End of the range on the CPU."}
  - {name: dur_ns, type: duration, unit: ns, doc: "end_ns - start_ns."}
  - {name: host_gap_ns, type: duration, unit: ns, doc: "Time on the CPU from the end of the previous step of the thread to start_ns; null for its first step."}
  - {name: pid, type: id, doc: "Operating system process ID."}
  - {name: tid, type: id, doc: "Operating system thread ID."}
  - {name: global_pid, type: id, doc: "Process ID, unique across hosts and VMs."}
  - {name: global_tid, type: id, doc: "Thread ID, unique across hosts and VMs."}
limits: >-
  Names of these forms are steps. execute_sq: execute_TOKENS_context_N(sq…sk…sqsq…sqsk…)_generation_M(…). execute_context:
  execute_context_N(TOKENS)_generation_M(TOKENS), as vLLM writes it; a second number in parentheses is not read.
  step_mode: step[EXTEND bs=N toks=TOKENS] and step[DECODE bs=N], as SGLang writes it; MIXED does not show how its batch
  is divided. forward_step: [Executor] _forward_step I: N ctx reqs, M gen reqs, as TensorRT-LLM writes it, also with ctx
  tokens, and not the tokens in decode. A step inside another step of its thread has no row of its own.
---*/
WITH
form (rule, pattern) AS (
  VALUES
  ('execute_sq', 'execute_[0-9]*_context_[0-9]*(sq*sk*sqsq*sqsk*)_generation_[0-9]*(sq*sk*sqsq*sqsk*)'),
  ('execute_context', 'execute_context_[0-9]*([0-9]*)_generation_[0-9]*([0-9]*)'),
  ('step_mode', 'step[[][A-Z]* bs=[0-9]*]'),
  ('forward_step', '[[]Executor] _forward_step [0-9]*: [0-9]* ctx reqs, [0-9]* gen reqs')
),
-- Names are fewer than ranges, of which most are no steps.
named AS MATERIALIZED (
  SELECT name.name_id, form.rule
  FROM all_nvtx_name AS name
  JOIN form
    ON name.range_text GLOB form.pattern
  WHERE coalesce(name.domain_name, '') <> 'gpu_user_annotation'
),
-- The numbers of a name as a JSON array: words between numbers become commas.
annotated AS (
  SELECT
    range.*,
    named.rule,
    CASE named.rule
      WHEN 'execute_sq'
        THEN replace(replace(replace(replace(replace(replace(replace(replace(
          range.range_text, 'execute_', '['), '_context_', ','), ')_generation_', ','), '(sq', ','), 'sqsq', ','),
          'sqsk', ','), 'sk', ','), ')', ']')
      WHEN 'execute_context'
        THEN replace(replace(replace(replace(replace(
          range.range_text, 'execute_context_', '[['), ')_generation_', ']],['), '(', ',['), '_', ','), ')', ']]]')
      WHEN 'step_mode'
        THEN replace(replace(replace(range.range_text, 'step[', '["'), ' bs=', '",'), ' toks=', ',')
      ELSE replace(replace(replace(replace(replace(
        range.range_text, '[Executor] _forward_step ', '['), ': ', ','), ' ctx reqs, ', ','), ' ctx tokens, ', ','),
        ' gen reqs', ']')
    END AS numbers
  FROM named
  JOIN all_nvtx_projection AS place
    ON place.name_id = named.name_id
  JOIN all_nvtx_range AS range
    ON range.range_id = place.range_id
),
-- reached_ns shows which steps begin inside another step of their thread.
reached AS (
  SELECT
    *,
    max(end_ns) OVER (
      PARTITION BY global_tid
      ORDER BY start_ns, end_ns DESC, range_id
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS reached_ns
  FROM annotated
  WHERE json_valid(numbers)
),
counted AS (
  SELECT
    *,
    CASE rule
      WHEN 'execute_sq' THEN json_extract(numbers, '$[1]')
      WHEN 'execute_context' THEN json_extract(numbers, '$[0][0]')
      WHEN 'forward_step' THEN json_extract(numbers, '$[1]')
      WHEN 'step_mode'
        THEN CASE json_extract(numbers, '$[0]')
          WHEN 'EXTEND' THEN json_extract(numbers, '$[1]')
          WHEN 'DECODE' THEN 0
        END
    END AS prefill_sequences,
    CASE rule
      WHEN 'execute_sq' THEN json_extract(numbers, '$[6]')
      WHEN 'execute_context' THEN json_extract(numbers, '$[1][0]')
      WHEN 'forward_step' THEN json_extract(numbers, '$[#-1]')
      WHEN 'step_mode'
        THEN CASE json_extract(numbers, '$[0]')
          WHEN 'EXTEND' THEN 0
          WHEN 'DECODE' THEN json_extract(numbers, '$[1]')
        END
    END AS decode_sequences,
    CASE rule
      WHEN 'execute_sq' THEN json_extract(numbers, '$[2]')
      WHEN 'execute_context' THEN json_extract(numbers, '$[0][1][0]')
      WHEN 'forward_step' THEN iif(json_array_length(numbers) = 4, json_extract(numbers, '$[2]'), NULL)
      WHEN 'step_mode'
        THEN CASE json_extract(numbers, '$[0]')
          WHEN 'EXTEND' THEN json_extract(numbers, '$[2]')
          WHEN 'DECODE' THEN 0
        END
    END AS prefill_tokens,
    CASE rule
      WHEN 'execute_sq' THEN json_extract(numbers, '$[7]')
      WHEN 'execute_context' THEN json_extract(numbers, '$[1][1][0]')
      -- A sequence in DECODE mode gets one token.
      WHEN 'step_mode'
        THEN CASE json_extract(numbers, '$[0]')
          WHEN 'EXTEND' THEN 0
          WHEN 'DECODE' THEN json_extract(numbers, '$[1]')
        END
    END AS decode_tokens,
    iif(rule = 'step_mode', json_extract(numbers, '$[0]'), NULL) AS mode,
    row_number() OVER in_thread - 1 AS step,
    start_ns - lag(end_ns) OVER in_thread AS host_gap_ns
  FROM reached
  WHERE reached_ns IS NULL
    OR start_ns >= reached_ns
  WINDOW in_thread AS (PARTITION BY global_tid ORDER BY start_ns, end_ns DESC, range_id)
)
SELECT
  range_id,
  step,
  rule,
  range_text,
  CASE
    WHEN mode = 'MIXED' OR prefill_sequences > 0 AND decode_sequences > 0 THEN 'mixed'
    WHEN prefill_sequences > 0 THEN 'prefill'
    WHEN decode_sequences > 0 THEN 'decode'
    ELSE 'other'
  END AS kind,
  prefill_sequences,
  decode_sequences,
  prefill_tokens,
  decode_tokens,
  iif(rule = 'step_mode', json_extract(numbers, '$[1]'), prefill_sequences + decode_sequences) AS sequences,
  CASE
    WHEN rule = 'execute_sq' THEN json_extract(numbers, '$[0]')
    WHEN mode <> 'DECODE' THEN json_extract(numbers, '$[2]')
    ELSE prefill_tokens + decode_tokens
  END AS tokens,
  iif(rule = 'execute_sq', json_extract(numbers, '$[3]'), NULL) AS prefill_context_tokens,
  iif(rule = 'execute_sq', json_extract(numbers, '$[8]'), NULL) AS decode_context_tokens,
  -- sq sums the new tokens of the sequences, sk their contexts, sqsq and sqsk the products.
  iif(
    rule = 'execute_sq',
    json_extract(numbers, '$[5]') - 0.5 * json_extract(numbers, '$[4]') + json_extract(numbers, '$[10]'),
    NULL
  ) AS attended_pairs,
  start_ns,
  end_ns,
  dur_ns,
  host_gap_ns,
  pid,
  tid,
  global_pid,
  global_tid
FROM counted
