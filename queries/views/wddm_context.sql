/*---
name: wddm_context
summary: One row per context of WDDM.
present_if: [src_wddm_context]
reads: [src_wddm_context]
columns:
  - {name: wddm_context, type: id, doc: "Context."}
  - {name: node_ordinal, type: int, doc: "Ordinal of the GPU node."}
---*/
SELECT context AS wddm_context, nodeOrdinal AS node_ordinal
FROM src_wddm_context
