/*---
name: xla_op
summary: One row per kernel of an XLA program (JAX, TensorFlow), with its module and HLO operation.
stored: true
rows_if: >-
  EXISTS (SELECT 1 FROM src_hlo)
  OR EXISTS (SELECT 1 FROM string WHERE text GLOB 'XlaModule:#*' OR text GLOB 'Thunk:#*')
  OR EXISTS (SELECT 1 FROM all_nvtx_span WHERE text GLOB 'XlaModule:#*' OR text GLOB 'Thunk:#*')
present_if: [src_hlo, src_nvtx_event]
reads: [all_nvtx_span, kernel, nvtx_op, src_hlo, string]
columns:
  - {name: op_kind, type: text, doc: "kernel, or graph for a CUDA graph traced as a whole."}
  - {name: op_id, type: id, doc: "Row ID in the raw table of this op_kind."}
  - {name: dur_ns, type: duration, unit: ns, doc: "Length of the operation."}
  - {name: module_name, type: text, doc: "XLA module, such as jit_train_step; null if the launch is in none."}
  - {name: hlo_op, type: text, doc: "HLO operation, such as loop_add_fusion or command_buffer_1, a CUDA graph; null if unknown."}
  - {name: place, type: text, doc: "Place in the program, such as jit(train_step)/dot_general; null if unknown."}
  - {name: module_range_id, type: id, doc: "Range of the run of the module; null in a trace of XLA, which has no runs."}
limits: >-
  A trace of XLA names module and operation in each kernel. In a report of nsys they are those of the ranges XlaModule
  and Thunk around the launch, on its thread. Copies and fills have no row.
---*/
WITH
-- XlaModule:#hlo_module=jit_f,program_id=36#, Thunk:#name=jit(f)/dot_general,hlo_op=custom-call.3,unique_hlo_op_id=7#
name AS MATERIALIZED (
  SELECT string_id, text
  FROM string
  WHERE text GLOB 'XlaModule:#*'
    OR text GLOB 'Thunk:#*'
),
mark AS MATERIALIZED (
  SELECT
    span.range_id,
    span.start_ns,
    span.end_ns,
    span.global_tid,
    coalesce(span.text, name.text) GLOB 'XlaModule:#*' AS is_module,
    coalesce(span.text, name.text) AS mark_text
  FROM all_nvtx_span AS span
  LEFT JOIN name
    ON name.string_id = span.text_id
  WHERE span.end_ns > span.start_ns
    AND (name.string_id IS NOT NULL OR span.text GLOB 'XlaModule:#*' OR span.text GLOB 'Thunk:#*')
),
launched AS MATERIALIZED (
  SELECT row_number() OVER () AS nth, op_kind, op_id, dur_ns, call_start_ns, global_tid
  FROM nvtx_op
  WHERE op_kind IN ('kernel', 'graph')
    AND call_start_ns IS NOT NULL
    AND EXISTS (SELECT 1 FROM mark)
),
-- The innermost module and the innermost operation around the launch.
around AS (
  SELECT
    span.span_id AS nth,
    mark.range_id,
    mark.is_module,
    mark.mark_text,
    row_number() OVER (
      PARTITION BY span.span_id, mark.is_module
      ORDER BY mark.start_ns DESC, mark.end_ns, mark.range_id DESC
    ) AS choice
  FROM split_spans(
    (SELECT time_spans(global_tid, nth, call_start_ns, call_start_ns + 1) FROM launched),
    (SELECT time_spans(global_tid, range_id, start_ns, end_ns) FROM mark)
  ) AS span
  JOIN mark
    ON mark.range_id = span.by_id
),
found AS (
  SELECT
    nth,
    max(iif(is_module, range_id, NULL)) AS module_range_id,
    max(iif(is_module, mark_text, NULL)) AS module_text,
    max(iif(is_module, NULL, mark_text)) AS thunk_text
  FROM around
  WHERE choice = 1
  GROUP BY nth
),
-- What follows hlo_module= and hlo_op=; places may contain commas.
cut AS (
  SELECT
    nth,
    module_range_id,
    rtrim(substr(module_text, instr(module_text, 'hlo_module=') + 11), '#') || ',' AS module_rest,
    rtrim(substr(thunk_text, instr(thunk_text, 'hlo_op=') + 7), '#') || ',' AS op_rest,
    iif(
      thunk_text GLOB 'Thunk:#name=*,hlo_op=*',
      substr(thunk_text, 13, instr(thunk_text, ',hlo_op=') - 13),
      NULL
    ) AS place
  FROM found
)
SELECT
  launched.op_kind,
  launched.op_id,
  launched.dur_ns,
  substr(cut.module_rest, 1, instr(cut.module_rest, ',') - 1) AS module_name,
  substr(cut.op_rest, 1, instr(cut.op_rest, ',') - 1) AS hlo_op,
  cut.place,
  cut.module_range_id
FROM cut
JOIN launched
  ON launched.nth = cut.nth
UNION ALL
SELECT
  'kernel' AS op_kind,
  kernel.kernel_id AS op_id,
  kernel.dur_ns,
  (SELECT text FROM string WHERE string_id = said.moduleId) AS module_name,
  (SELECT text FROM string WHERE string_id = said.opId) AS hlo_op,
  (SELECT text FROM string WHERE string_id = said.placeId) AS place,
  NULL AS module_range_id
FROM src_hlo AS said
JOIN kernel
  ON kernel.kernel_id = said.kernelId
