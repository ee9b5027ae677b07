/*---
name: import_count
summary: One row per event category of the PyTorch trace that the report was imported from.
present_if: [src_import_count]
reads: [src_import_count]
columns:
  - {name: category, type: text, doc: "Category as the trace spells it; (metadata) for process and thread names, (none) for events without a category, (further) for categories after the first 256."}
  - {name: events, type: int, unit: count, doc: "Events of that category in the trace."}
  - {name: imported, type: int, unit: count, doc: "Events that became rows. No relation has the others."}
limits: Empty for reports from nsys.
---*/
SELECT
  category,
  events,
  rows AS imported
FROM src_import_count
