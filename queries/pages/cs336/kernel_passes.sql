/*---
name: kernel_passes
version: 1
title: Passes by the counts of kernels
summary: How many equal passes the calls of kernels can be divided into.
why: To count the passes inside a range that marks several.
kind: sum
tags: [cuda, kernel]
internal: true
reads: []
params:
  - {name: kernels, type: text, default: "[]", doc: "Kernels as a JSON list of objects with calls, such as the rows of top_kernels."}
  - {name: attentions, type: int, min: 0, doc: "Attentions among this work; null if unknown."}
  - {name: layers, type: int, min: 1, doc: "Layers of the model, each with one attention; null if unknown."}
columns:
  - {name: pass_count, type: int, unit: count, label: "passes", priority: 0, doc: "attentions / layers if both are given and this number divides the calls of each kernel; else common_divisor, unless each attention could be a pass; null if unknown."}
  - {name: common_divisor, type: int, unit: count, priority: 1, doc: "Greatest common divisor of the calls of all kernels: equal passes are no more than this."}
  - {name: layers_per_pass, type: int, unit: count, label: "attentions per pass", priority: 1, doc: "attentions / pass_count; null if either is unknown."}
  - {name: kernel_count, type: int, unit: count, label: "kernels", priority: 2, doc: "Different kernels."}
checks:
  - common_divisor >= 1
  - pass_count IS NULL OR common_divisor % pass_count = 0
when_empty: "no kernels are given: pass rows of top_kernels with -p kernels=JSON"
limits: >-
  Passes of equal work launch each kernel equally often, so their number divides the calls of each. If every pass launches
  each kernel twice, common_divisor is twice the number of passes.
see_also: [top_kernels]
---*/
WITH RECURSIVE
kernel AS MATERIALIZED (
  SELECT calls, row_number() OVER (ORDER BY calls) AS nth
  FROM (SELECT DISTINCT value ->> '$.calls' AS calls FROM json_each(:kernels))
),
-- Euclid's algorithm, over one count after the other.
step (nth, a, b) AS (
  SELECT 1, calls, 0
  FROM kernel
  WHERE nth = 1
  UNION ALL
  SELECT
    iif(step.b = 0, step.nth + 1, step.nth),
    iif(step.b = 0, step.a, step.b),
    iif(step.b = 0, (SELECT calls FROM kernel WHERE kernel.nth = step.nth + 1), step.a % step.b)
  FROM step
  WHERE step.b > 0
    OR step.nth < (SELECT max(nth) FROM kernel)
),
divisor AS (
  SELECT a AS common_divisor
  FROM step
  WHERE b = 0
    AND nth = (SELECT max(nth) FROM kernel)
),
counted AS (
  SELECT
    common_divisor,
    CASE
      WHEN :attentions % :layers = 0 AND common_divisor % nullif(:attentions / :layers, 0) = 0
        THEN :attentions / :layers
      WHEN :layers IS NULL AND (:attentions IS NULL OR common_divisor % nullif(:attentions, 0) > 0)
        THEN common_divisor
    END AS pass_count
  FROM divisor
)
SELECT
  pass_count,
  common_divisor,
  iif(:attentions % pass_count = 0, :attentions / pass_count, NULL) AS layers_per_pass,
  (SELECT count(*) FROM json_each(:kernels)) AS kernel_count
FROM counted
ORDER BY common_divisor
