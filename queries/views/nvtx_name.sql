/*---
name: nvtx_name
summary: One row per distinct name of NVTX ranges.
native: true
present_if: [src_nvtx_event]
reads: [all_cuda_call, all_graph_node, all_nvtx_record, graph_trace, kernel, memcpy, memset, string]
columns:
  - {name: name_id, type: id, doc: "Number of the name in this report."}
  - {name: range_name, type: text, doc: "Message, behind its domain and a colon outside the default domain; null if empty."}
  - {name: range_text, type: text, doc: "Message alone; null if empty."}
  - {name: domain_name, type: text, doc: "Name of the domain; null for the default domain."}
  - {name: layer_name, type: text, doc: "range_name with numbers folded to *, by the rules of queries/names/layers.yml; (unnamed) if it is null."}
  - {name: phase, type: text, doc: "forward, backward, optimizer, loss or data, by the rules of queries/names/phases.yml; null if no rule matches."}
  - {name: phase_rule, type: text, doc: "The rule's pattern; null if none matches."}
limits: >-
  Names that two domains share are two rows.
---*/
