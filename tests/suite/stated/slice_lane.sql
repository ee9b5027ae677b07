SELECT kind, place, device_id, context_id, track, slice_count, busy_ns, start_ns, end_ns
FROM slice_lane
ORDER BY kind, place, device_id, context_id, track;

SELECT
  kind,
  place,
  device_id,
  context_id,
  track,
  count(*),
  sum(end_ns - start_ns),
  min(start_ns),
  max(end_ns)
FROM timeline_event
WHERE start_ns IS NOT NULL AND end_ns IS NOT NULL
GROUP BY kind, place, device_id, context_id, track
ORDER BY kind, place, device_id, context_id, track;
