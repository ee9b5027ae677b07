/*---
name: os_function
summary: Functions of the operating system that wait, read or write.
present_if: [src_osrt_api]
reads: [src_string_id]
columns:
  - {name: name_id, type: id, doc: "ID of the function's name, as in os_call."}
  - {name: function_name, type: text, doc: "Function name, such as poll."}
  - {name: role, type: text, doc: "What a call waits for or does: thread (another thread), lock, process (another process), event (input, a request or a time), sleep, read (a file or a pipe), receive (from a socket), open, write (to a file)."}
limits: Other functions have no row; they wait for nothing that is known.
---*/
SELECT
  id AS name_id,
  value AS function_name,
  CASE
    WHEN value IN (
        'futex', 'pthread_barrier_wait', 'pthread_cond_clockwait', 'pthread_cond_timedwait', 'pthread_cond_wait',
        'pthread_join', 'sem_clockwait', 'sem_timedwait', 'sem_wait'
      )
      THEN 'thread'
    WHEN value GLOB 'pthread_*lock' THEN 'lock'
    WHEN value IN ('wait', 'wait4', 'waitid', 'waitpid') THEN 'process'
    WHEN value IN ('clock_nanosleep', 'nanosleep', 'sleep', 'usleep') THEN 'sleep'
    WHEN value IN ('fread', 'pread', 'pread64', 'preadv', 'preadv64', 'read', 'readv') THEN 'read'
    WHEN value IN ('recv', 'recvfrom', 'recvmmsg', 'recvmsg') THEN 'receive'
    WHEN value IN ('fopen', 'fopen64', 'open', 'open64', 'openat', 'openat64') THEN 'open'
    WHEN value IN (
        'fdatasync', 'fflush', 'fsync', 'fwrite', 'msync', 'pwrite', 'pwrite64', 'pwritev', 'pwritev64',
        'sync_file_range', 'syncfs', 'write', 'writev'
      )
      THEN 'write'
    ELSE 'event'
  END AS role
FROM src_string_id
WHERE value IN (
    'accept', 'accept4', 'clock_nanosleep', 'epoll_pwait', 'epoll_pwait2', 'epoll_wait', 'fdatasync', 'fflush',
    'fopen', 'fopen64', 'fread', 'fsync', 'futex', 'fwrite', 'msync', 'nanosleep', 'open', 'open64', 'openat',
    'openat64', 'poll', 'ppoll', 'pread', 'pread64', 'preadv', 'preadv64', 'pselect', 'pselect6',
    'pthread_barrier_wait', 'pthread_cond_clockwait', 'pthread_cond_timedwait', 'pthread_cond_wait',
    'pthread_join', 'pthread_mutex_clocklock', 'pthread_mutex_lock', 'pthread_mutex_timedlock',
    'pthread_rwlock_rdlock', 'pthread_rwlock_timedrdlock', 'pthread_rwlock_timedwrlock',
    'pthread_rwlock_wrlock', 'pthread_spin_lock', 'pwrite', 'pwrite64', 'pwritev', 'pwritev64', 'read', 'readv',
    'recv', 'recvfrom', 'recvmmsg', 'recvmsg', 'select', 'sem_clockwait', 'sem_timedwait', 'sem_wait', 'sleep',
    'sync_file_range', 'syncfs', 'usleep', 'wait', 'wait4', 'waitid', 'waitpid', 'write', 'writev'
  )
