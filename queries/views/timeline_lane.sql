/*---
name: timeline_lane
summary: One row per lane of a timeline.
stored: true
internal: true
present_if: [timeline_event]
reads: [device, scope, slice_lane]
columns:
  - {name: lane_id, type: id, doc: "Position of the lane from the top, from 1: the GPUs, each with its steps, idle time and streams, then the threads."}
  - {name: nth, type: int, doc: "Rank by busy_ns among the lanes of its kind, from 1."}
  - {name: lane_kind, type: text, doc: "kind in words: steps, GPU idle, stream, NVTX on GPU, NVTX, CUDA API, OS calls or thread state."}
  - {name: lane_number, type: id, doc: "Number of the lane, as in slice_lane."}
  - {name: kind, type: int, doc: "As in timeline_event."}
  - {name: place, type: id, doc: "As in timeline_event."}
  - {name: device_id, type: id, doc: "As in timeline_event."}
  - {name: context_id, type: id, doc: "As in timeline_event."}
  - {name: track, type: id, doc: "As in timeline_event."}
  - {name: gpu_id, type: id, doc: "GPU number on its machine, or the CUDA device ordinal if the export has no GPU numbers; null for lanes of threads."}
  - {name: pid, type: id, doc: "Operating system process ID; null for the steps and the idle time of a GPU."}
  - {name: tid, type: id, doc: "Operating system thread ID; null for lanes of GPUs."}
  - {name: slice_count, type: int, unit: count, doc: "Events of the lane."}
  - {name: busy_ns, type: duration, unit: ns, doc: "Sum of their lengths."}
  - {name: from_ns, type: timestamp, unit: ns, doc: "Start of the timeline, on the report's clock: of --time, or of the first event of all lanes."}
  - {name: to_ns, type: timestamp, unit: ns, doc: "End of the timeline: of --time, or of the last event of all lanes."}
  - {name: lane_count, type: int, unit: count, doc: "Lanes in all."}
limits: See timeline_event.
---*/
WITH
owned AS (
  SELECT
    *,
    CASE kind
      WHEN 0 THEN place
      WHEN 1 THEN place
      WHEN 2 THEN coalesce(
        (
          SELECT max(gpu_id)
          FROM device
          WHERE device.device_id = found.device_id
            AND device.pid = found.place >> 24 & 16777215
        ),
        (SELECT max(gpu_id) FROM device WHERE device.device_id = found.device_id AND device.pid IS NULL),
        device_id
      )
    END AS gpu_id,
    iif(kind <= 1, NULL, place >> 24 & 16777215) AS pid,
    iif(kind > 2, place & 16777215, NULL) AS tid
  FROM slice_lane AS found
)
SELECT
  row_number() OVER (
    ORDER BY kind > 2, gpu_id, pid, tid, kind, iif(kind = 2, -busy_ns, 0), track, context_id, device_id
  ) AS lane_id,
  row_number() OVER (PARTITION BY kind ORDER BY busy_ns DESC, place, device_id, context_id, track) AS nth,
  CASE kind
    WHEN 0 THEN 'steps'
    WHEN 1 THEN 'GPU idle'
    WHEN 2 THEN 'stream'
    WHEN 3 THEN 'NVTX on GPU'
    WHEN 4 THEN 'NVTX'
    WHEN 5 THEN 'CUDA API'
    WHEN 6 THEN 'OS calls'
    ELSE 'thread state'
  END AS lane_kind,
  lane_number,
  kind,
  place,
  device_id,
  context_id,
  track,
  gpu_id,
  pid,
  tid,
  slice_count,
  busy_ns,
  coalesce((SELECT start_ns FROM scope), min(start_ns) OVER ()) AS from_ns,
  coalesce((SELECT end_ns FROM scope), max(end_ns) OVER ()) AS to_ns,
  count(*) OVER () AS lane_count
FROM owned
