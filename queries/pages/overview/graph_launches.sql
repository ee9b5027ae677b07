/*---
name: graph_launches
version: 1
title: Kernels of graphs
summary: Share of the kernels that launches of CUDA or HIP graphs ran.
why: To recommend no graph to a program that has one.
kind: info
internal: true
tags: [cuda, gpu]
reads: [kernel, string]
requires: []
columns:
  - {name: kernel_count, type: int, unit: count, label: "kernels", priority: 1, doc: "Kernels; 0 if the report names no function that launches graphs."}
  - {name: in_graph_pct, type: percent, unit: percent, label: "% launched by graphs", priority: 0, doc: "Share of the kernels that have a graph node, or share their correlation ID with others, because one call launched them; null without graph launches."}
limits: Graphs of one kernel count only if the report has graph nodes.
---*/
WITH
-- Without this function in the report, its kernels need not be read.
graph_launch AS MATERIALIZED (
  SELECT string_id
  FROM string
  WHERE text GLOB 'cu*GraphLaunch*'
    OR text GLOB 'hipGraphLaunch*'
),
launched AS (
  SELECT count(*) AS kernel_count, max(coalesce(graph_node_id, 0)) > 0 OR count(*) > 1 AS is_graph
  FROM (SELECT 1 FROM graph_launch LIMIT 1)
  CROSS JOIN kernel
  WHERE correlation_id > 0
  -- Numbers that differ come first: SQLite compares only these fast.
  GROUP BY correlation_id, global_pid
)
SELECT
  coalesce(sum(kernel_count), 0) AS kernel_count,
  100.0 * sum(iif(is_graph, kernel_count, 0)) / nullif(sum(kernel_count), 0) AS in_graph_pct
FROM launched
ORDER BY kernel_count
