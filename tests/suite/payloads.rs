//! Payloads as bytes say what the same payloads say as JSON.

use crate::support::{Fixtures, shared, stdout};
use rusqlite::{Connection, params};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// A field: its name, type and offset. Types from 2^24 on are enumerations.
type Field = (&'static str, i64, i64);

/// Layouts as NCCL registers them: ID, size and fields.
const LAYOUTS: [(i64, i64, &[Field]); 4] = [
    (
        16_777_218,
        24,
        &[
            ("NCCL communicator ID", 18, 0),
            ("No. of ranks", 5, 8),
            ("Rank", 5, 12),
            ("CUDA device", 5, 16),
        ],
    ),
    (
        16_777_221,
        24,
        &[
            ("NCCL communicator ID", 18, 0),
            ("Message size [bytes]", 22, 8),
            ("Reduction operation", 16_777_236, 16),
        ],
    ),
    (
        16_777_222,
        24,
        &[("NCCL communicator ID", 18, 0), ("Message size [bytes]", 22, 8), ("Root", 5, 16)],
    ),
    (
        16_777_223,
        24,
        &[("NCCL communicator ID", 18, 0), ("Message size [bytes]", 22, 8), ("Peer rank", 5, 16)],
    ),
];

/// Adds the layouts to a report. As in nsys's exports, they are there once for each process.
fn add_layouts(connection: &Connection) {
    connection
        .execute_batch(
            "CREATE TABLE IF NOT EXISTS NVTX_PAYLOAD_SCHEMAS (
               domainId, schemaId, name, type, flags, numEntries, payloadSize, alignTo);
             CREATE TABLE IF NOT EXISTS NVTX_PAYLOAD_SCHEMA_ENTRIES (
               domainId, schemaId, idx, flags, type, name, description, arrayOrUnionDetail, offset);
             CREATE TABLE IF NOT EXISTS NVTX_PAYLOAD_ENUMS (domainId, schemaId, name, numEntries, size);
             CREATE TABLE IF NOT EXISTS NVTX_PAYLOAD_ENUM_ENTRIES (domainId, schemaId, idx, name, value, isFlag);",
        )
        .unwrap();
    for _ in 0..2 {
        for (schema, size, fields) in LAYOUTS {
            let insert =
                "INSERT INTO NVTX_PAYLOAD_SCHEMAS (domainId, schemaId, type, numEntries, payloadSize)
                VALUES (1, ?, 1, ?, ?)";
            connection.execute(insert, params![schema, fields.len() as i64, size]).unwrap();
            for (place, (name, kind, offset)) in fields.iter().enumerate() {
                let insert = "INSERT INTO NVTX_PAYLOAD_SCHEMA_ENTRIES (domainId, schemaId, idx, type, name, offset)
                    VALUES (1, ?, ?, ?, ?, nullif(?, 0))";
                connection.execute(insert, params![schema, place as i64, kind, name, offset]).unwrap();
            }
        }
        connection
            .execute_batch(
                "INSERT INTO NVTX_PAYLOAD_ENUMS (domainId, schemaId, numEntries, size) VALUES (1, 16777236, 5, 4);
                 INSERT INTO NVTX_PAYLOAD_ENUM_ENTRIES (domainId, schemaId, idx, name, value) VALUES
                   (1, 16777236, 0, 'Sum', NULL), (1, 16777236, 1, 'Product', 1), (1, 16777236, 4, 'Avg', 4);",
            )
            .unwrap();
    }
}

/// Replaces JSON by bytes, as the layouts in the report say. Returns how many payloads were replaced.
fn to_bytes(connection: &Connection, as_text: bool) -> usize {
    let all = |sql: &str| -> Vec<(i64, i64, String)> {
        let mut statement = connection.prepare(sql).unwrap();
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
        rows.map(Result::unwrap).collect()
    };
    let layouts = all("
        SELECT domainId, schemaId, json_group_array(json_array(name, type, coalesce(offset, 0)))
        FROM (SELECT DISTINCT domainId, schemaId, idx, name, type, offset FROM NVTX_PAYLOAD_SCHEMA_ENTRIES ORDER BY 1, 2, 3)
        GROUP BY domainId, schemaId");
    let payloads = all("
        SELECT rowid, domainId, jsonText FROM NVTX_EVENTS WHERE json_valid(jsonText)");
    for (row, domain, json) in &payloads {
        let payload: serde_json::Map<String, Value> = serde_json::from_str(json).unwrap();
        let fields_of =
            |fields: &str| serde_json::from_str::<Vec<(String, i64, usize)>>(fields).unwrap();
        let is_same = |fields: &str| {
            let fields = fields_of(fields);
            fields.len() == payload.len() && fields.iter().all(|(name, ..)| payload.contains_key(name))
        };
        let (_, schema, fields) =
            layouts.iter().find(|(of, _, fields)| of == domain && is_same(fields)).unwrap();
        let mut bytes = [0u8; 24];
        for (name, kind, offset) in fields_of(fields) {
            match &payload[&name] {
                Value::String(label) => {
                    let sql = "SELECT coalesce(value, 0) FROM NVTX_PAYLOAD_ENUM_ENTRIES WHERE schemaId = ? AND name = ?";
                    let value: i32 =
                        connection.query_row(sql, params![kind, label], |row| row.get(0)).unwrap();
                    bytes[offset..offset + 4].copy_from_slice(&value.to_le_bytes());
                }
                number if kind == 5 => {
                    let int = i32::try_from(number.as_i64().unwrap()).unwrap();
                    bytes[offset..offset + 4].copy_from_slice(&int.to_le_bytes());
                }
                number => {
                    bytes[offset..offset + 8].copy_from_slice(&number.as_u64().unwrap().to_le_bytes());
                }
            }
        }
        let blob = with_header(*domain, *schema, &bytes);
        let update = match as_text {
            true => "UPDATE NVTX_EVENTS SET jsonText = NULL, binaryData = lower(hex(?)) WHERE rowid = ?",
            false => "UPDATE NVTX_EVENTS SET jsonText = NULL, binaryData = ? WHERE rowid = ?",
        };
        connection.execute(update, params![blob, row]).unwrap();
    }
    payloads.len()
}

fn with_header(domain: i64, schema: i64, payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for number in [domain as u32, 0, schema as u32, 0] {
        bytes.extend(number.to_le_bytes());
    }
    for number in [payload.len() as u64, 32 + payload.len() as u64] {
        bytes.extend(number.to_le_bytes());
    }
    bytes.extend(payload);
    bytes
}

fn asked(report: &Path) -> Vec<String> {
    let report = report.to_str().unwrap();
    let csv = |query: &str| stdout(&["run", report, "--query", query, "--format", "csv"]);
    ["collectives", "point_to_point", "ranks", "collective_arrivals"].map(csv).into()
}

fn assert_alike(folder: &Path, original: &Path, prepare: impl Fn(&Connection)) -> usize {
    let (json, bytes) = (folder.join("json/r.sqlite"), folder.join("bytes/r.sqlite"));
    let mut replaced = 0;
    for as_text in [false, true] {
        for copy in [&json, &bytes] {
            fs::create_dir_all(copy.parent().unwrap()).unwrap();
            let _ = fs::remove_file(copy);
            fs::write(copy, fs::read(original).unwrap()).unwrap();
            prepare(&Connection::open(copy).unwrap());
        }
        replaced = to_bytes(&Connection::open(&bytes).unwrap(), as_text);
        assert_eq!(asked(&json), asked(&bytes));
    }
    replaced
}

#[test]
fn bytes_say_what_json_says() {
    let (fixtures, folder) = (Fixtures::new(), tempfile::tempdir().unwrap());
    let trace = fixtures.trace("nccl_two_ranks");
    assert_eq!(assert_alike(folder.path(), &trace, add_layouts), 10);
    let Some(shared) = shared() else { return };
    let real = shared.join("data/exports/rtx3090x2_ddp_nccl_2026.3.sqlite");
    assert_eq!(assert_alike(folder.path(), &real, |_| {}), 466);
}

#[test]
fn numbers_of_every_size_are_decoded() {
    let (fixtures, folder) = (Fixtures::new(), tempfile::tempdir().unwrap());
    let report = folder.path().join("r.sqlite");
    fs::copy(fixtures.trace("nccl_two_ranks"), &report).unwrap();
    let connection = Connection::open(&report).unwrap();
    add_layouts(&connection);
    let fields = [
        ("a", 11, 0),
        ("b", 12, 1),
        ("c", 13, 2),
        ("d", 14, 4),
        ("e", 15, 8),
        ("f", 16, 12),
        ("g", 17, 16),
    ];
    let fields =
        fields.iter().chain(&[("h", 18, 24), ("text", 25, 32), ("real", 20, 32), ("beyond", 18, 40)]);
    for (place, (name, kind, offset)) in fields.enumerate() {
        let insert =
            "INSERT INTO NVTX_PAYLOAD_SCHEMA_ENTRIES (domainId, schemaId, idx, type, name, offset)
            VALUES (1, 7, ?, ?, ?, ?)";
        connection.execute(insert, params![place as i64, kind, name, offset]).unwrap();
    }
    let all_ones = with_header(1, 7, &[0xFF; 40]);
    let mut counting = with_header(1, 7, &(1..=40).collect::<Vec<u8>>());
    let unknown = with_header(1, 8, &[0; 40]);
    let insert = "INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid, domainId, binaryData)
        VALUES (5, 6, 59, 'x', 281575656789873, 1, ?)";
    for bytes in [&all_ones, &counting, &unknown] {
        connection.execute(insert, params![bytes]).unwrap();
    }
    counting.truncate(20);
    connection.execute(insert, params![counting]).unwrap();
    drop(connection);
    let decoded = stdout(&[
        "sql",
        report.to_str().unwrap(),
        "SELECT payload FROM nvtx_payload WHERE source = 'binary' ORDER BY range_id",
        "--format",
        "tsv",
        "--no-header",
    ]);
    let decoded: Vec<Value> = decoded
        .lines()
        .map(|line| serde_json::from_str(line.trim_matches('"').replace("\"\"", "\"").as_str()).unwrap())
        .collect();
    assert_eq!(
        decoded,
        [
            serde_json::json!({"a": -1, "b": 255, "c": -1, "d": 65535, "e": -1, "f": 4294967295u32, "g": -1, "h": u64::MAX}),
            serde_json::json!({
                "a": 1, "b": 2, "c": 0x0403, "d": 0x0605, "e": 0x0C0B0A09, "f": 0x100F0E0D,
                "g": 0x1817161514131211i64, "h": 0x201F1E1D1C1B1A19u64
            }),
        ]
    );
}

#[test]
fn categories_and_numbers_are_columns() {
    let (fixtures, folder) = (Fixtures::new(), tempfile::tempdir().unwrap());
    let report = folder.path().join("r.sqlite");
    fs::copy(fixtures.trace("nested_nvtx"), &report).unwrap();
    let connection = Connection::open(&report).unwrap();
    // The same category of another domain has another name; the second name of a category does not count.
    connection
        .execute_batch(
            "INSERT INTO NVTX_EVENTS (start, eventType, category, text, globalTid, domainId) VALUES
               (3, 33, 7, 'batch', 281575656789873, 0), (4, 33, 7, 'later', 281575656789873, 0);
             INSERT INTO NVTX_EVENTS (start, end, eventType, category, text, globalTid, domainId, uint64Value,
               int32Value, floatValue) VALUES
               (3000, 3010, 59, 7, 'large', 281575656789873, 0, -9223372036854775808, NULL, NULL),
               (3020, 3030, 59, 8, 'small', 281575656789873, 0, NULL, -5, NULL),
               (3040, NULL, 34, 7, 'mark', 281575656789873, 0, NULL, NULL, 1.5);",
        )
        .unwrap();
    drop(connection);
    let ask = |statement: &str| {
        let report = report.to_str().unwrap();
        stdout(&["sql", report, statement, "--format", "csv", "--no-header"])
    };
    let ranges = "SELECT range_name, category_name, payload_value FROM nvtx_range
        WHERE category_id > 0 OR payload_value IS NOT NULL ORDER BY range_id";
    assert_eq!(
        ask(ranges),
        "app:attention,io,\ntwin,,8.0\ntwin,,8.0\nlarge,batch,9.223372036854776e18\nsmall,,-5.0\n"
    );
    let marks = "SELECT mark_text, category_name, payload_value FROM nvtx_mark
        WHERE payload_value IS NOT NULL ORDER BY mark_id";
    assert_eq!(ask(marks), "done,,0.5\nmark,batch,1.5\n");
}
