-- Names of processes and threads.
SELECT process.global_pid, NULL AS global_tid, process.process_name AS name
FROM process
UNION ALL
SELECT NULL, thread.global_tid, thread.thread_name
FROM thread
ORDER BY 1, 2, 3
