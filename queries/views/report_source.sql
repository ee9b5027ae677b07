/*---
name: report_source
summary: Whether the report was made from a trace, and from which kind, in one row.
internal: true
present_if: [export_fact]
reads: [export_fact]
columns:
  - {name: is_trace, type: bool, doc: "1 for a report made from a trace, 0 for a report of nsys."}
  - {name: maker, type: text, doc: "Kind of that trace: PyTorch trace, XLA trace or Ascend trace; null for a report of nsys."}
---*/
SELECT count(*) > 0 AS is_trace, max(value) AS maker
FROM export_fact
WHERE fact = 'NSQ_IMPORT_OF'
