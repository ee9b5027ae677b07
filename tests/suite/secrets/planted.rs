//! Reports with a secret token in every place that could hold a secret, and data tokens in names.

#![allow(unreachable_pub)]

use crate::support::{build, project, versions};
use rusqlite::Connection;
use std::collections::BTreeMap;
use std::path::Path;

/// Part of every secret token.
pub const SECRET: &str = "S3CRET";
/// Part of every string id under which the string table keeps a secret token.
pub const SECRET_ID: &str = "98765432";
/// Parts of the names of a kernel and a range. Names given by the program are data.
pub const KERNEL: &str = "D4TA_kernel";
pub const RANGE: &str = "D4TA_range";

/// Whether a text column of an export is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Never shown.
    Hidden,
    /// Shown.
    Data,
    /// The string table: strings that events refer to are data, all others are hidden.
    Strings,
}
use Kind::{Data, Hidden, Strings};

/// The kind of every text column in `fixtures/schema` and [`MORE`], and the reason.
pub const COLUMNS: &[(&str, &str, Kind, &str)] = &[
    ("META_DATA_CAPTURE", "name", Hidden, "may contain names of variables; known settings are shown"),
    ("META_DATA_CAPTURE", "value", Hidden, "environment, command line, user and working directory"),
    ("META_DATA_EXPORT", "name", Hidden, "like its value; known facts are shown"),
    ("META_DATA_EXPORT", "value", Hidden, "who exported what, on which machine, in which folders"),
    ("EXPORT_META_DATA", "name", Hidden, "the same table before 2022.4"),
    ("EXPORT_META_DATA", "value", Hidden, "the same table before 2022.4"),
    (
        "TARGET_INFO_SYSTEM_ENV",
        "devStateName",
        Hidden,
        "the machine: host names, serial numbers, mounts",
    ),
    ("TARGET_INFO_SYSTEM_ENV", "name", Hidden, "like its value"),
    ("TARGET_INFO_SYSTEM_ENV", "value", Hidden, "the machine: host names, serial numbers, mounts"),
    ("ANALYSIS_FILE", "filename", Hidden, "a path on the profiled machine"),
    (
        "DIAGNOSTIC_EVENT",
        "text",
        Hidden,
        "messages may name files and commands; known messages are shown",
    ),
    ("StringIds", "value", Strings, "names of events, but also paths and output of the processes"),
    ("PROCESSES", "name", Data, "the executable without arguments; identifies processes in answers"),
    ("NVTX_EVENTS", "text", Data, "the text of the program's own annotation"),
    ("NVTX_EVENTS", "jsonText", Data, "payload of an annotation, which the program recorded"),
    ("NVTX_EVENTS", "binaryData", Data, "payload of an annotation, which the program recorded"),
    ("CUDA_GPU_MEMORY_USAGE_EVENTS", "name", Data, "a variable of the program"),
    ("CUPTI_ACTIVITY_KIND_KERNEL", "tensorSizeMinusOneElements", Data, "numbers of a launch"),
    ("D3D12_PIX_DEBUG_API", "objectName", Data, "the name of an object of the program"),
    ("DX12_WORKLOAD", "objectName", Data, "the name of an object of the program"),
    ("MPI_COMMUNICATORS", "members", Data, "rank numbers"),
    ("TARGET_INFO_CUDA_CONTEXT_INFO", "tpcMask", Data, "a bit mask"),
    ("TARGET_INFO_CUDA_DEVICE", "uuid", Data, "identifies a GPU"),
    ("TARGET_INFO_CUDA_GPU", "name", Data, "a product name"),
    ("TARGET_INFO_CUDA_GPU", "pciBusId", Data, "a PCI slot"),
    ("TARGET_INFO_GPU", "busLocation", Data, "a PCI slot"),
    ("TARGET_INFO_GPU", "chipName", Data, "a product name"),
    ("TARGET_INFO_GPU", "ctrlDevPath", Data, "a device file such as /dev/nvidia0, the same everywhere"),
    ("TARGET_INFO_GPU", "ctxswDevPath", Data, "a device file"),
    ("TARGET_INFO_GPU", "name", Data, "a product name"),
    ("TARGET_INFO_GPU", "uuid", Data, "identifies a GPU"),
    ("TARGET_INFO_GPU_METRICS", "metricName", Data, "the name of a metric"),
    ("TARGET_INFO_GPU_METRICS", "typeName", Data, "the name of a metric set"),
    ("TARGET_INFO_SESSION_START_TIME", "localTime", Data, "a time"),
    ("TARGET_INFO_SESSION_START_TIME", "utcTime", Data, "a time"),
    ("ENUM", "name", Data, "NVIDIA's enumerations"),
    ("ENUM", "label", Data, "NVIDIA's enumerations"),
    ("TARGET_INFO_WDDM_CONTEXTS", "friendlyName", Data, "the name of a GPU engine's context"),
    // ProcessStreams has only string ids, of the output files of a process and what it printed.
    ("ProcessStreams", "filenameId", Hidden, "string ids of paths"),
    ("ProcessStreams", "contentId", Hidden, "string ids of output"),
    ("ANALYSIS_FILE", "contentId", Hidden, "string ids of file contents"),
    ("sqlite_stat4", "sample", Hidden, "SQLite's samples of indexed values of any table"),
    (
        "OSRT_FILE_ACCESS_DESCRIPTORS",
        "filePath",
        Data,
        "recorded only with --osrt-file-access; file_access_sum hides it unless asked",
    ),
    ("OSRT_FILE_ACCESS_EVENTS", "context", Data, "more about a file access; no relation has it"),
    ("CUPTI_ACTIVITY_KIND_JIT", "cachePath", Data, "a file of CUDA's cache; no relation has it"),
    ("TARGET_INFO_NETWORK_METRICS", "description", Data, "NVIDIA's text on a metric"),
    ("TARGET_INFO_NETWORK_METRICS", "name", Data, "the name of a metric"),
    ("TARGET_INFO_NETWORK_METRICS", "unit", Data, "the unit of a metric"),
    ("TARGET_INFO_NIC_INFO", "name", Data, "a network card"),
    ("TARGET_INFO_NIC_INFO", "stateName", Data, "a network card"),
];

/// Tables of real exports that `fixtures/schema` leaves out because nsq does not read them.
const MORE: &str = "
    CREATE TABLE IF NOT EXISTS META_DATA_CAPTURE (name TEXT NOT NULL, value TEXT);
    CREATE TABLE IF NOT EXISTS TARGET_INFO_SYSTEM_ENV (globalVid INTEGER, devStateName TEXT NOT NULL, name TEXT NOT NULL,
        nameEnum INTEGER NOT NULL, value TEXT NOT NULL);
    CREATE TABLE IF NOT EXISTS ProcessStreams (globalPid INTEGER NOT NULL, filenameId INTEGER NOT NULL,
        contentId INTEGER NOT NULL);
    CREATE TABLE IF NOT EXISTS ANALYSIS_FILE (id INTEGER NOT NULL PRIMARY KEY, filename TEXT, contentId INTEGER,
        globalPid INTEGER NOT NULL);
    CREATE TABLE IF NOT EXISTS DIAGNOSTIC_EVENT (timestamp INTEGER NOT NULL, timestampType INTEGER NOT NULL,
        source INTEGER NOT NULL, severity INTEGER NOT NULL, text TEXT NOT NULL, globalPid INTEGER);";

/// The table and name of every text column in `fixtures/schema` and [`MORE`].
pub fn text_columns() -> Vec<(String, String)> {
    let mut found = BTreeMap::new();
    for version in versions() {
        let text = std::fs::read_to_string(project(&format!("fixtures/schema/{version}.sql"))).unwrap();
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(&text).unwrap();
        connection.execute_batch(MORE).unwrap();
        let sql = "SELECT m.name, c.name FROM sqlite_master AS m JOIN pragma_table_info(m.name) AS c
                   WHERE m.type = 'table' AND c.type IN ('TEXT', 'BLOB', '')";
        let mut statement = connection.prepare(sql).unwrap();
        let mut rows = statement.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            let (table, column): (String, String) = (row.get(0).unwrap(), row.get(1).unwrap());
            let table = if table.starts_with("ENUM_") { "ENUM".to_owned() } else { table };
            found.insert((table, column), ());
        }
    }
    found.into_keys().collect()
}

/// Builds `trace` as an export of `version` at `path`, with secret tokens in every hidden place, and
/// data tokens.
pub fn plant(version: &str, trace: &str, path: &Path) {
    build(version, trace, path);
    let connection = Connection::open(path).unwrap();
    connection.execute_batch(MORE).unwrap();
    let has = |table: &str| {
        connection
            .prepare(&format!("SELECT 1 FROM \"{table}\" LIMIT 1"))
            .is_ok_and(|mut statement| statement.exists([]).is_ok())
    };
    // A string that nothing refers to, and strings that only hidden tables refer to.
    for (number, place) in
        ["unreferenced", "stream_name", "stream_content", "file_content"].iter().enumerate()
    {
        connection
            .execute("INSERT INTO StringIds VALUES (?1, ?2)", (id(number), format!("{SECRET}_{place}")))
            .unwrap();
    }
    let sql = "INSERT INTO ProcessStreams VALUES (281546145660928, ?1, ?2)";
    connection.execute(sql, (id(1), id(2))).unwrap();
    let sql = "INSERT INTO ANALYSIS_FILE VALUES (77, ?1, ?2, 281546145660928)";
    connection.execute(sql, (format!("/home/{SECRET}_file"), id(3))).unwrap();
    let sql = "INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES (0, ?1, ?2, 0, ?3)";
    connection
        .execute(
            sql,
            [format!("{SECRET}_state"), format!("{SECRET}_property"), format!("{SECRET}_host")],
        )
        .unwrap();
    let sql = "INSERT INTO DIAGNOSTIC_EVENT VALUES (0, 1, 2, 1, ?1, 281546145660928)";
    connection.execute(sql, [format!("Process {SECRET}_command was launched by the profiler")]).unwrap();
    for name in [
        "PROCESS_0:ENVIRONMENT_VARIABLE",
        "PROCESS_0:COMMAND",
        "PROCESS_0:ARGUMENT_1",
        "PROCESS_0:USER_NAME",
        "PROCESS_0:WORKING_DIR",
        "PROFILING_SESSION_UUID",
        "PACKAGE_NAME",
        "S3CRET_as_a_name",
    ] {
        let value = format!("KEY={SECRET}_{}", name.to_lowercase());
        connection.execute("INSERT INTO META_DATA_CAPTURE VALUES (?1, ?2)", (name, value)).unwrap();
    }
    // Variables of ranks are shown, but only if their value is a number.
    for value in [
        format!("RANK=\"7 {SECRET}\""),
        format!("SLURM_PROCID={SECRET}"),
        format!("RANK=7;KEY={SECRET}"),
    ] {
        let sql = "INSERT INTO META_DATA_CAPTURE VALUES ('PROCESS_0:ENVIRONMENT_VARIABLE', ?1)";
        connection.execute(sql, [value]).unwrap();
    }
    for table in ["META_DATA_EXPORT", "EXPORT_META_DATA"].into_iter().filter(|table| has(table)) {
        for name in
            ["EXPORT_USER", "EXPORT_HOST", "EXPORT_PARAM_INPUT_PATH_ABS", "EXPORT_PARAM_OUTPUT_FILE"]
        {
            let sql = format!("INSERT INTO {table} VALUES (?1, ?2)");
            connection.execute(&sql, (name, format!("/home/{SECRET}_{}", name.to_lowercase()))).unwrap();
        }
    }
    if has("CUPTI_ACTIVITY_KIND_KERNEL") {
        let sql = "UPDATE StringIds SET value = ?1 || '(' || id || ')' WHERE id IN (SELECT demangledName FROM \
                   CUPTI_ACTIVITY_KIND_KERNEL)";
        connection.execute(sql, [KERNEL]).unwrap();
    }
    if has("NVTX_EVENTS") {
        let sql = "UPDATE NVTX_EVENTS SET text = ?1 || rowid, textId = NULL WHERE rowid IN \
                   (SELECT min(rowid) FROM NVTX_EVENTS WHERE eventType IN (59, 60))";
        connection.execute(sql, [RANGE]).unwrap();
    }
    // SQLite's own copies of values: an index and its ANALYZE samples.
    connection
        .execute_batch(
            "CREATE INDEX values_of_capture ON META_DATA_CAPTURE (value); ANALYZE META_DATA_CAPTURE",
        )
        .unwrap();
}

fn id(number: usize) -> i64 {
    format!("{SECRET_ID}{number}").parse().unwrap()
}

/// A PyTorch trace with secret tokens outside event names, and data tokens in event names.
pub fn trace() -> String {
    let event = |category: &str, name: &str, pid: u32, start: u32, dur: u32, args: &str| {
        format!(
            r#"{{"ph":"X","cat":"{category}","name":"{name}","pid":{pid},"tid":{pid},"ts":{start},"dur":{dur},"args":{{{args}}},"env":"S3CRET_of_an_event"}}"#
        )
    };
    let place = r#""device":0,"context":1,"stream":7,"correlation":1,"command":"S3CRET_argument""#;
    let events = [
        event("user_annotation", RANGE, 42, 100, 50, r#""Call stack":"/home/S3CRET_stack.py""#),
        event("cuda_runtime", "cudaLaunchKernel", 42, 110, 5, r#""correlation":1,"cwd":"/home/S3CRET_cwd""#),
        event("kernel", KERNEL, 0, 120, 20, place),
        r#"{"ph":"M","name":"process_labels","pid":42,"tid":0,"ts":0,"args":{"labels":"S3CRET_label"}}"#.to_owned(),
        r#"{"ph":"M","name":"process_command","pid":42,"tid":0,"ts":0,"args":{"command":"S3CRET_command"}}"#.to_owned(),
        event("node", "S3CRET_of_another_kind", 42, 100, 1, ""),
    ];
    format!(
        r#"{{"schemaVersion":1,"deviceProperties":[{{"id":0,"name":"GPU","serial":"S3CRET_serial"}}],
        "distributedInfo":{{"backend":"nccl","rank":0,"world_size":2,"pg_config":"S3CRET_group","master":"S3CRET_host"}},
        "PT_PROFILER_JOB_NAME":"S3CRET_job","PT_PROFILER_JOB_USER":"S3CRET_user",
        "environment":{{"TOKEN":"S3CRET_token"}},"argv":["train.py","--key","S3CRET_key"],
        "hostname":"S3CRET_hostname","record_shapes":1,"with_stack":1,
        "traceEvents":[{}],"traceName":"/home/S3CRET_user/trace.json","displayTimeUnit":"ms"}}"#,
        events.join(",\n")
    )
}
