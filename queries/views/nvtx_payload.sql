/*---
name: nvtx_payload
summary: One row per NVTX mark or range with a structured payload, as JSON.
present_if: [src_nvtx_event]
reads: [src_nvtx_event, src_nvtx_payload_enum, src_nvtx_payload_enum_entry, src_nvtx_payload_schema_entry, string]
columns:
  - {name: range_id, type: id, doc: "Row ID of the mark or range in the raw table."}
  - {name: payload, type: text, doc: "The fields by name, as a JSON object."}
  - {name: source, type: text, doc: "json if nsys exported it as JSON, binary if it is decoded here."}
limits: >-
  Exports have payloads as JSON with --include-json=true and as bytes with --include-blobs=true. From bytes, integers and
  enumerations of the first payload are decoded, by the layouts in the export, as on a 64-bit Linux; floating-point
  numbers, texts, arrays and nested layouts are left out. A payload that is a single number has no row: it is
  payload_value of nvtx_range and nvtx_mark. Layouts do not name their process: if those of two processes differ under
  one ID, fields are mixed.
---*/
WITH
enumeration AS (
  SELECT domainId AS domain_id, schemaId AS type, max(size) AS byte_count
  FROM src_nvtx_payload_enum
  GROUP BY domainId, schemaId
),
field AS MATERIALIZED (
  SELECT DISTINCT
    entry.domainId AS domain_id,
    entry.idx,
    entry.name,
    entry.type,
    enumeration.type IS NOT NULL AS is_enumeration,
    entry.type IN (1, 3, 5, 7, 9, 11, 13, 15, 17) AS is_signed,
    printf('%08X', entry.schemaId) AS schema_hex,
    -- Of the first of its hexadecimal digits. The header of a payload has 32 bytes.
    65 + 2 * coalesce(entry.offset, 0) AS place,
    CASE
      WHEN enumeration.type IS NOT NULL THEN enumeration.byte_count
      WHEN entry.type IN (1, 2, 11, 12) THEN 1
      WHEN entry.type IN (3, 4, 13, 14) THEN 2
      WHEN entry.type IN (5, 6, 15, 16) THEN 4
      WHEN entry.type IN (7, 8, 9, 10, 17, 18, 22, 23) THEN 8
    END AS byte_count
  FROM src_nvtx_payload_schema_entry AS entry
  LEFT JOIN enumeration
    ON enumeration.domain_id = entry.domainId
    AND enumeration.type = entry.type
  WHERE entry.name IS NOT NULL
    AND coalesce(entry.flags, 0) = 0
),
label AS MATERIALIZED (
  SELECT DISTINCT domainId AS domain_id, schemaId AS type, coalesce(value, 0) AS value, name
  FROM src_nvtx_payload_enum_entry
),
event AS MATERIALIZED (
  SELECT
    row_id AS range_id,
    domainId AS domain_id,
    coalesce(jsonText, (SELECT text FROM string WHERE string_id = jsonTextId)) AS json,
    CASE typeof(binaryData)
      WHEN 'blob' THEN hex(binaryData)
      WHEN 'text' THEN iif(binaryData GLOB '*[^0-9A-Fa-f]*', NULL, upper(binaryData))
    END AS hex
  FROM src_nvtx_event
  WHERE jsonText IS NOT NULL
    OR jsonTextId IS NOT NULL
    OR binaryData IS NOT NULL
),
layout AS MATERIALIZED (
  SELECT
    range_id,
    domain_id,
    hex,
    substr(hex, 23, 2) || substr(hex, 21, 2) || substr(hex, 19, 2) || substr(hex, 17, 2) AS schema_hex
  FROM event
  WHERE json IS NULL
    AND length(hex) >= 64
),
-- A number is little-endian: its digits, from the last byte.
digits AS MATERIALIZED (
  SELECT
    layout.range_id,
    field.domain_id,
    field.idx,
    field.name,
    field.type,
    field.is_enumeration,
    field.is_signed,
    field.byte_count,
    substr(
      '00000000000000'
      || substr(layout.hex, field.place + 14, 2 * (field.byte_count > 7))
      || substr(layout.hex, field.place + 12, 2 * (field.byte_count > 6))
      || substr(layout.hex, field.place + 10, 2 * (field.byte_count > 5))
      || substr(layout.hex, field.place + 8, 2 * (field.byte_count > 4))
      || substr(layout.hex, field.place + 6, 2 * (field.byte_count > 3))
      || substr(layout.hex, field.place + 4, 2 * (field.byte_count > 2))
      || substr(layout.hex, field.place + 2, 2 * (field.byte_count > 1))
      || substr(layout.hex, field.place, 2),
      -16
    ) AS hex
  FROM layout
  JOIN field
    ON field.domain_id = layout.domain_id
    AND field.schema_hex = layout.schema_hex
  WHERE length(layout.hex) >= field.place - 1 + 2 * field.byte_count
),
digit (place) AS (
  VALUES (1), (2), (3), (4), (5), (6), (7), (8), (9), (10), (11), (12), (13), (14), (15), (16)
),
number AS MATERIALIZED (
  SELECT
    range_id,
    domain_id,
    name,
    type,
    is_enumeration,
    is_signed,
    byte_count,
    (SELECT sum(instr('0123456789ABCDEF', substr(hex, place, 1)) - 1 << 4 * (16 - place)) FROM digit) AS value
  FROM digits
  ORDER BY range_id, idx
),
decoded AS MATERIALIZED (
  SELECT
    number.range_id,
    json_group_object(
      number.name,
      CASE
        WHEN label.name IS NOT NULL THEN json_quote(label.name)
        WHEN number.is_signed AND number.byte_count < 8 AND number.value >= 1 << (8 * number.byte_count - 1)
          THEN json(number.value - (1 << 8 * number.byte_count))
        WHEN number.is_signed THEN json(number.value)
        ELSE json(printf('%u', number.value))
      END
    ) AS payload
  FROM number
  LEFT JOIN label
    ON number.is_enumeration
    AND label.domain_id = number.domain_id
    AND label.type = number.type
    AND label.value = number.value
  GROUP BY number.range_id
)
SELECT range_id, json AS payload, 'json' AS source
FROM event
WHERE json_valid(json)
UNION ALL
SELECT range_id, payload, 'binary'
FROM decoded
