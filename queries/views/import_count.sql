/*---
name: import_count
summary: One row per category of events in the PyTorch trace that the report was made from.
present_if: [src_import_count]
reads: [src_import_count]
columns:
  - {name: category, type: text, doc: "Category as the trace spells it; (metadata) for names of processes and threads, (none) without one, (further) beyond 256."}
  - {name: events, type: int, unit: count, doc: "Events of that category in the trace."}
  - {name: imported, type: int, unit: count, doc: "Those of them that became rows; the rest is in no relation."}
limits: Empty for reports of nsys.
---*/
SELECT
  category,
  events,
  rows AS imported
FROM src_import_count
