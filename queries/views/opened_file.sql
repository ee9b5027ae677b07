/*---
name: opened_file
summary: One row per file that was opened, with its path.
present_if: [src_osrt_file]
reads: [src_osrt_file]
columns:
  - {name: file_id, type: id, doc: "The file as it was opened. A file that is opened twice has two rows."}
  - {name: file_path, type: text, doc: "Path as the program gave it; null if the report does not have it. Paths can be private."}
  - {name: extension, type: text, doc: "Last suffix of the file name, in lower case and without the dot; so for a versioned library; null if there is none."}
  - {name: file_class, type: text, doc: "Class of the file by its path: device, system, shared memory, library, Python, model, data, other, or unknown without a path."}
  - {name: pid, type: id, doc: "Operating system process ID of the process that opened it."}
limits: The class comes from the path alone.
---*/
WITH
path AS (
  SELECT fileAccessId AS file_id, min(processId) AS pid, nullif(min(filePath), '') AS file_path
  FROM src_osrt_file
  GROUP BY fileAccessId
),
-- rtrim() with all characters of the path but '/' leaves the folder.
base AS MATERIALIZED (
  SELECT
    file_id,
    pid,
    file_path,
    lower(substr(file_path, length(rtrim(file_path, replace(file_path, '/', ''))) + 1)) AS base_name
  FROM path
),
suffixed AS MATERIALIZED (
  SELECT
    file_id,
    pid,
    file_path,
    CASE
      WHEN base_name GLOB '*.so' OR base_name GLOB '*.so.*' THEN 'so'
      -- A dot at the start or the end of a name begins no suffix.
      WHEN base_name GLOB '?*.?*'
        THEN nullif(substr(base_name, length(rtrim(base_name, replace(base_name, '.', ''))) + 1), '')
    END AS extension
  FROM base
)
SELECT
  file_id,
  file_path,
  extension,
  CASE
    WHEN file_path IS NULL THEN 'unknown'
    WHEN file_path GLOB '/dev/shm/*' THEN 'shared memory'
    WHEN file_path GLOB '/dev/*' THEN 'device'
    WHEN file_path GLOB '/proc/*' OR file_path GLOB '/sys/*' THEN 'system'
    WHEN extension IN ('so', 'dll', 'dylib', 'a', 'ptx', 'cubin', 'fatbin') THEN 'library'
    WHEN extension IN ('py', 'pyc', 'pyi', 'pyd', 'egg', 'whl') THEN 'Python'
    WHEN extension IN (
      'pt', 'pth', 'bin', 'ckpt', 'safetensors', 'gguf', 'onnx', 'engine', 'plan', 'distcp', 'msgpack'
    ) THEN 'model'
    WHEN extension IN (
      'parquet', 'arrow', 'feather', 'csv', 'tsv', 'json', 'jsonl', 'txt', 'npy', 'npz', 'h5', 'hdf5', 'nc', 'idx',
      'tfrecord', 'tfrecords', 'rec', 'lmdb', 'mdb', 'mds', 'tar', 'zip', 'gz', 'zst', 'jpg', 'jpeg', 'png', 'webp',
      'tif', 'tiff', 'wav', 'flac', 'mp3', 'mp4', 'avi', 'mkv', 'pkl', 'db', 'sqlite', 'vtk', 'vtu', 'dat'
    ) THEN 'data'
    ELSE 'other'
  END AS file_class,
  pid
FROM suffixed
