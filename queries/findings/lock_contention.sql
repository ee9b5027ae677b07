/*---
name: lock_contention
version: 1
title: The GPU waits for a lock
summary: Idle time of a GPU while the launching thread waits for a lock.
why: To see whether threads of the program block each other, for example by Python's GIL.
kind: finding
tags: [gpu, osrt]
reads: [idle_os_call, os_stack]
requires: [idle_part, os_call]
finding:
  claim: "Lock contention: the GPU idles while the launching thread waits for a lock that another thread holds."
  ceiling: Idle time in calls that take a lock, before the next launch. Shorter waits than the capture records do not count.
  remedy: >-
    Hold the lock for less time, split it, or launch from a thread that does not need it.
  in_pytorch: >-
    move Python threads that hold the GIL to processes, such as DataLoader workers.
  link: https://docs.python.org/3/library/multiprocessing.html
  narrows: [host_work, iteration_border, launch_bound]
  confidence: medium
  frees: idle
params:
  - {name: least, type: duration, default: 20us, min: 0, doc: "Shortest interval to return."}
columns:
  - {name: gpu_id, type: id, label: "GPU", priority: 0, doc: "GPU number on its machine; the CUDA device ordinal if the export has no GPU numbers."}
  - {name: start_ns, type: timestamp, unit: ns, priority: 1, doc: "Start of the interval, on the report's clock."}
  - {name: dur_ns, type: duration, unit: ns, priority: 1, doc: "Idle time in the call."}
  - {name: subject, type: text, label: "lock", priority: 0, doc: "Function that takes the lock, or Python GIL."}
  - {name: call_id, type: id, label: "OS call", priority: 3, doc: "Row ID of the call in the raw table; os_call has it."}
  - {name: tid, type: id, label: "thread", doc: "Operating system ID of the thread that launched the next operation."}
limits: >-
  Locks are calls such as pthread_mutex_lock and pthread_rwlock_wrlock. The GIL shows only in calls with a stack, as
  take_gil. Locks of other libraries that call the kernel themselves are not recorded.
see_also: [host_work, gpu_idle_host, osrt_sum]
---*/
WITH
gil AS (
  SELECT stack_id
  FROM os_stack
  WHERE function_name = 'take_gil'
)
SELECT
  gpu_id,
  start_ns,
  dur_ns,
  iif(stack_id IN (SELECT stack_id FROM gil), 'Python GIL', function_name) AS subject,
  call_id,
  tid
FROM idle_os_call
WHERE dur_ns >= :least
  AND (
    function_name IN (
      'pthread_mutex_lock', 'pthread_mutex_timedlock', 'pthread_mutex_clocklock', 'pthread_rwlock_rdlock',
      'pthread_rwlock_timedrdlock', 'pthread_rwlock_wrlock', 'pthread_rwlock_timedwrlock', 'pthread_spin_lock'
    )
    OR stack_id IN (SELECT stack_id FROM gil)
  )
ORDER BY gpu_id, start_ns, call_id
