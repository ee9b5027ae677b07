SELECT
  lane.lane_id,
  slice.start_ns,
  slice.end_ns - slice.start_ns AS dur_ns,
  slice.source,
  slice.event_id,
  slice.category,
  slice.name
FROM longest_slice AS slice
JOIN timeline_lane AS lane
  ON lane.lane_number = slice.lane_number
WHERE slice.from_ns = (SELECT min(from_ns) FROM timeline_lane)
  AND slice.to_ns = (SELECT max(to_ns) FROM timeline_lane)
  AND slice.pieces = 7
  AND slice.gpu_most = 3
  AND slice.thread_most = 2
ORDER BY 1, 2, 3, 4, 5, 6, 7;

WITH
placed AS (
  SELECT
    lane.lane_id,
    iif(lane.kind <= 2, 3, 2) AS most,
    event.source,
    event.event_id,
    event.start_ns,
    event.end_ns - event.start_ns AS dur_ns,
    event.category,
    event.name,
    max(event.start_ns - lane.from_ns, 0) / max((lane.to_ns - lane.from_ns + 7 - 1) / 7, 1) AS piece
  FROM timeline_event AS event
  JOIN timeline_lane AS lane
    ON lane.kind = event.kind
    AND lane.place IS NOT DISTINCT FROM event.place
    AND lane.device_id IS NOT DISTINCT FROM event.device_id
    AND lane.context_id IS NOT DISTINCT FROM event.context_id
    AND lane.track IS NOT DISTINCT FROM event.track
),
ranked AS (
  SELECT
    *,
    row_number() OVER (
      PARTITION BY lane_id, piece
      ORDER BY dur_ns DESC, start_ns, source, event_id, category, name
    ) AS nth
  FROM placed
)
SELECT lane_id, start_ns, dur_ns, source, event_id, category, name
FROM ranked
WHERE nth <= most
ORDER BY 1, 2, 3, 4, 5, 6, 7;
