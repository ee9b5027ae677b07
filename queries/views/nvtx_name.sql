/*---
name: nvtx_name
summary: One row per distinct name of NVTX ranges.
native: true
present_if: [src_nvtx_event]
reads: [all_cuda_call, all_graph_node, all_nvtx_record, graph_trace, kernel, memcpy, memset, string]
columns:
  - {name: name_id, type: id, doc: "ID of the name in this report."}
  - {name: range_name, type: text, doc: "Message, with the prefix DOMAIN: outside the default domain; null if empty."}
  - {name: range_text, type: text, doc: "Message without its domain; null if empty."}
  - {name: domain_name, type: text, doc: "Domain name; null for the default domain."}
  - {name: layer_name, type: text, doc: "range_name with each number replaced by *, by the rules in queries/names/layers.yml; (unnamed) if range_name is null."}
  - {name: phase, type: text, doc: "forward, backward, optimizer, loss or data, by the rules in queries/names/phases.yml; null if no rule matches."}
  - {name: phase_rule, type: text, doc: "Pattern of the rule that decided the phase; null if no rule matches."}
  - {name: work, type: text, doc: "What ranges of this name do, as a JSON object, by the rules in names/work.yml; null if no rule matches. See range_work."}
limits: The same message in two domains has two rows.
---*/
