/*---
name: wddm_queue_sum
version: 1
title: WDDM queue utilization
summary: Time in which the queues of WDDM contexts had packets, busiest first.
why: To see which engines of a GPU under Windows a process kept busy, or left without packets.
kind: sum
tags: [gpu]
reads: [wddm_packet, wddm_context]
columns:
  - {name: utilization_pct, type: percent, unit: percent, label: "busy % of process time", priority: 1, doc: "Time in which the queue had a packet, as a share of the time from the process's first packet to the end of its last."}
  - {name: packets, type: int, unit: count, priority: 1, doc: "Number of packets."}
  - {name: mean_ns, type: duration, unit: ns, priority: 1, doc: "Mean time of a packet."}
  - {name: median_ns, type: duration, unit: ns, priority: 1, doc: "Median time; the mean of the two middle values if the count is even."}
  - {name: min_ns, type: duration, unit: ns, priority: 3, doc: "Shortest time."}
  - {name: max_ns, type: duration, unit: ns, priority: 3, doc: "Longest time."}
  - {name: stddev_ns, type: duration, unit: ns, priority: 3, doc: "Sample standard deviation of the times; 0 for one packet."}
  - {name: engine_name, type: text, label: "engine", priority: 0, doc: "Type of engine; null if Windows names none."}
  - {name: queue, type: text, priority: 0, doc: "queue for the software queue, dma for packets on the engine."}
  - {name: pid, type: id, priority: 1, doc: "Operating system process ID."}
  - {name: gpu, type: id, label: "GPU", priority: 1, doc: "GPU, as the raw table numbers them."}
  - {name: wddm_context, type: id, label: "context", priority: 0, doc: "Context of WDDM to which the queue belongs."}
  - {name: engine_type, type: int, priority: 3, doc: "Code of the type of engine."}
  - {name: node_ordinal, type: int, priority: 3, doc: "Ordinal of the GPU node; 0 if the report does not know the context."}
checks:
  - packets >= 1
  - median_ns BETWEEN min_ns AND max_ns
when_empty: "no packet of a WDDM queue has both a start and an end"
limits: >-
  Packets that wait in a software queue count as busy, so a busy queue does not mean a busy engine; the rows of dma tell
  that. Packets without an end are left out.
see_also: [dx12_gpu_marker_sum, gpu_time]
nsys:
  title: WDDM Queue Utilization Summary
  lacks:
    - {says: "WDDM context data"}
  columns:
    - {name: Utilization, unit: percent, sql: utilization_pct}
    - {name: Instances, sql: packets}
    - {name: Avg, unit: ns, sql: mean_ns}
    - {name: Med, unit: ns, sql: median_ns}
    - {name: Min, unit: ns, sql: min_ns}
    - {name: Max, unit: ns, sql: max_ns}
    - {name: StdDev, unit: ns, sql: stddev_ns}
    - {name: Name, sql: engine_name}
    - {name: Q Type, sql: "queue = 'dma'"}
    - {name: Q Name, sql: queue}
    - {name: PID, sql: pid}
    - {name: GPU ID, sql: gpu}
    - {name: Context, sql: "printf('0x%X', wddm_context)"}
    - {name: Engine, sql: engine_type}
    - {name: Node Ord, sql: node_ordinal}
---*/
WITH
process_time AS (
  SELECT global_pid, max(end_ns) - min(start_ns) AS span_ns
  FROM wddm_packet
  GROUP BY global_pid
),
by_queue AS (
  SELECT
    global_pid,
    gpu,
    wddm_context,
    engine_type,
    queue,
    pid,
    busy_ns(start_ns, end_ns) AS busy_ns,
    count(*) AS packets,
    avg(dur_ns) AS mean_ns,
    median(dur_ns) AS median_ns,
    min(dur_ns) AS min_ns,
    max(dur_ns) AS max_ns,
    stddev(dur_ns) AS stddev_ns
  FROM wddm_packet
  GROUP BY global_pid, gpu, wddm_context, engine_type, queue
)
SELECT
  100.0 * busy_ns / nullif(span_ns, 0) AS utilization_pct,
  packets,
  mean_ns,
  median_ns,
  min_ns,
  max_ns,
  stddev_ns,
  CASE engine_type
    WHEN 0 THEN 'Other'
    WHEN 1 THEN '3D'
    WHEN 2 THEN 'Video Decode'
    WHEN 3 THEN 'Video Encode'
    WHEN 4 THEN 'Video Processing'
    WHEN 5 THEN 'Scene Assembly'
    WHEN 6 THEN 'Copy'
    WHEN 7 THEN 'Overlay'
    WHEN 8 THEN 'Crypto'
  END AS engine_name,
  queue,
  pid,
  gpu,
  by_queue.wddm_context,
  engine_type,
  coalesce(
    (SELECT max(node_ordinal) FROM wddm_context WHERE wddm_context.wddm_context = by_queue.wddm_context),
    0
  ) AS node_ordinal
FROM by_queue
JOIN process_time ON process_time.global_pid IS NOT DISTINCT FROM by_queue.global_pid
ORDER BY utilization_pct DESC, packets DESC, by_queue.global_pid, gpu, by_queue.wddm_context, engine_type, queue
