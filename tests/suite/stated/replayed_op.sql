SELECT op_kind, op_id, start_ns, end_ns, new_start_ns, new_end_ns
FROM all_replayed_op
WHERE edits = ''
ORDER BY op_kind, op_id;

SELECT op_kind, op_id, start_ns, end_ns, start_ns, end_ns
FROM all_gpu_op
UNION ALL
SELECT 'graph', graph_trace_id, start_ns, end_ns, start_ns, end_ns
FROM all_graph_trace
ORDER BY op_kind, op_id;
