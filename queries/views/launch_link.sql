/*---
name: launch_link
summary: One row per GPU operation that names no launch, but was linked to one by another rule.
present_if: [src_launch_link]
reads: [src_launch_link]
columns:
  - {name: op_kind, type: text, doc: "Kind of operation: kernel, memcpy or memset."}
  - {name: op_id, type: id, doc: "Row ID in the raw table of this op_kind."}
  - {name: rule, type: text, doc: "External id: call and operation belong to one operator. flow: an arrow of the trace. time and order (a guess): as many launches as operations without a link, in order."}
limits: >-
  Only PyTorch traces have rows. Operations with a correlation ID of their own, and those without any link, have none.
---*/
SELECT
  kind AS op_kind,
  operation AS op_id,
  rule
FROM src_launch_link
