-- The places of one finding, from the JSON array of finding_intervals: a track of each GPU.
SELECT
  json_extract(place.value, '$[0]') AS gpu_id,
  NULL AS global_pid,
  NULL AS global_tid,
  'finding ' || json_extract(:intervals, '$[0]') || ': ' || json_extract(:intervals, '$[1]') AS track,
  json_extract(place.value, '$[1]') AS start_ns,
  json_extract(place.value, '$[2]') AS end_ns,
  'finding' AS category,
  coalesce(json_extract(place.value, '$[4]'), json_extract(:intervals, '$[1]')) AS name,
  NULL AS flow_id
FROM json_each(:intervals, '$[2]') AS place
ORDER BY gpu_id, start_ns, end_ns DESC, name
