/*---
name: openmp_event
summary: One row per OpenMP event.
present_if: [src_openmp_cancel, src_openmp_critical_section, src_openmp_dispatch, src_openmp_flush, src_openmp_lock_destroy, src_openmp_lock_init, src_openmp_master, src_openmp_mutex_released, src_openmp_mutex_wait, src_openmp_parallel, src_openmp_reduction, src_openmp_sync_region, src_openmp_sync_region_wait, src_openmp_task, src_openmp_task_create, src_openmp_task_schedule, src_openmp_thread, src_openmp_workshare]
scope: {time: [start_ns, end_ns], process: pid, thread: global_tid}
reads: [src_openmp_cancel, src_openmp_critical_section, src_openmp_dispatch, src_openmp_flush, src_openmp_lock_destroy, src_openmp_lock_init, src_openmp_master, src_openmp_mutex_released, src_openmp_mutex_wait, src_openmp_parallel, src_openmp_reduction, src_openmp_sync_region, src_openmp_sync_region_wait, src_openmp_task, src_openmp_task_create, src_openmp_task_schedule, src_openmp_thread, src_openmp_workshare, src_string_id]
columns:
  - {name: event_id, type: id, doc: "Row ID in the raw table of this event_kind."}
  - {name: event_kind, type: text, doc: "Kind of event, such as parallel or sync_region_wait."}
  - {name: start_ns, type: timestamp, unit: ns, doc: "Start of the event, on the report's clock."}
  - {name: end_ns, type: timestamp, unit: ns, doc: "End of the event."}
  - {name: dur_ns, type: duration, unit: ns, doc: "end_ns - start_ns."}
  - {name: event_name, type: text, doc: "Name of the event, such as Parallel."}
  - {name: name_id, type: id, doc: "ID of event_name; faster to group by than the text."}
  - {name: pid, type: id, doc: "Operating system process ID."}
  - {name: tid, type: id, doc: "Operating system thread ID."}
  - {name: global_pid, type: id, doc: "Process ID, unique across hosts and VMs."}
  - {name: global_tid, type: id, doc: "Thread ID, unique across hosts and VMs."}
limits: A parallel region contains the events of its threads. Do not add up durations of different kinds.
---*/
WITH
event (row_id, event_kind, start, "end", name_id, global_tid) AS (
  SELECT row_id, 'cancel', start, "end", nameId, globalTid FROM src_openmp_cancel
  UNION ALL
  SELECT row_id, 'critical_section', start, "end", nameId, globalTid FROM src_openmp_critical_section
  UNION ALL
  SELECT row_id, 'dispatch', start, "end", nameId, globalTid FROM src_openmp_dispatch
  UNION ALL
  SELECT row_id, 'flush', start, "end", nameId, globalTid FROM src_openmp_flush
  UNION ALL
  SELECT row_id, 'lock_destroy', start, "end", nameId, globalTid FROM src_openmp_lock_destroy
  UNION ALL
  SELECT row_id, 'lock_init', start, "end", nameId, globalTid FROM src_openmp_lock_init
  UNION ALL
  SELECT row_id, 'master', start, "end", nameId, globalTid FROM src_openmp_master
  UNION ALL
  SELECT row_id, 'mutex_released', start, "end", nameId, globalTid FROM src_openmp_mutex_released
  UNION ALL
  SELECT row_id, 'mutex_wait', start, "end", nameId, globalTid FROM src_openmp_mutex_wait
  UNION ALL
  SELECT row_id, 'parallel', start, "end", nameId, globalTid FROM src_openmp_parallel
  UNION ALL
  SELECT row_id, 'reduction', start, "end", nameId, globalTid FROM src_openmp_reduction
  UNION ALL
  SELECT row_id, 'sync_region', start, "end", nameId, globalTid FROM src_openmp_sync_region
  UNION ALL
  SELECT row_id, 'sync_region_wait', start, "end", nameId, globalTid FROM src_openmp_sync_region_wait
  UNION ALL
  SELECT row_id, 'task', start, "end", nameId, globalTid FROM src_openmp_task
  UNION ALL
  SELECT row_id, 'task_create', start, "end", nameId, globalTid FROM src_openmp_task_create
  UNION ALL
  SELECT row_id, 'task_schedule', start, "end", nameId, globalTid FROM src_openmp_task_schedule
  UNION ALL
  SELECT row_id, 'thread', start, "end", nameId, globalTid FROM src_openmp_thread
  UNION ALL
  SELECT row_id, 'workshare', start, "end", nameId, globalTid FROM src_openmp_workshare
)
SELECT
  row_id AS event_id,
  event_kind,
  start AS start_ns,
  "end" AS end_ns,
  "end" - start AS dur_ns,
  (SELECT value FROM src_string_id WHERE id = name_id) AS event_name,
  name_id,
  global_tid >> 24 & 16777215 AS pid,
  global_tid & 16777215 AS tid,
  global_tid & -16777216 AS global_pid,
  global_tid
FROM event
