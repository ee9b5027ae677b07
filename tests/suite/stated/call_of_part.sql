SELECT part_id, call_start_ns
FROM compute_gap_part
WHERE part = 'host sync'
ORDER BY part_id;

SELECT
  part.part_id,
  (
    -- Of calls inside each other the outermost counts: the earliest that is open.
    SELECT min(call.start_ns)
    FROM all_cuda_call AS call
    WHERE call.global_tid = part.global_tid
      AND call.api_name = part.api_name
      AND call.start_ns <= part.start_ns
      AND call.end_ns > part.start_ns
  )
FROM compute_gap_part AS part
WHERE part.part = 'host sync'
ORDER BY part.part_id;
