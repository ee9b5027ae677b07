//! Databases of AMD's profilers: rocpd, whose tables have names that end in a UUID, and rpd.

use super::{run, sql};
use crate::support::outcome;
use rusqlite::Connection;
use std::path::{Path, PathBuf};

/// The tables of one process of rocpd by the published schema, as far as they are read, and its events: two kernels
/// of one name, a copy from the host, and a range of ROCTX.
const ROCPD: &str = r#"
CREATE TABLE "rocpd_string{u}" (id INTEGER PRIMARY KEY, guid TEXT, string TEXT);
CREATE TABLE "rocpd_info_node{u}" (id INTEGER PRIMARY KEY, guid TEXT, machine_id TEXT, hostname TEXT);
CREATE TABLE "rocpd_info_process{u}" (id INTEGER PRIMARY KEY, guid TEXT, nid INTEGER, pid INTEGER, command TEXT);
CREATE TABLE "rocpd_info_thread{u}" (id INTEGER PRIMARY KEY, guid TEXT, nid INTEGER, pid INTEGER, tid INTEGER, name TEXT);
CREATE TABLE "rocpd_info_agent{u}" (
  id INTEGER PRIMARY KEY, guid TEXT, type TEXT, absolute_index INTEGER, logical_index INTEGER, type_index INTEGER,
  name TEXT, model_name TEXT, product_name TEXT, extdata JSONB
);
CREATE TABLE "rocpd_info_kernel_symbol{u}" (
  id INTEGER PRIMARY KEY, guid TEXT, kernel_name TEXT, display_name TEXT, group_segment_size INTEGER,
  arch_vgpr_count INTEGER
);
CREATE TABLE "rocpd_event{u}" (
  id INTEGER PRIMARY KEY, guid TEXT, category_id INTEGER, stack_id INTEGER, parent_stack_id INTEGER, extdata JSONB
);
CREATE TABLE "rocpd_region{u}" (
  id INTEGER PRIMARY KEY, guid TEXT, nid INTEGER, pid INTEGER, tid INTEGER, start BIGINT, "end" BIGINT,
  name_id INTEGER, event_id INTEGER
);
CREATE TABLE "rocpd_kernel_dispatch{u}" (
  id INTEGER PRIMARY KEY, guid TEXT, pid INTEGER, agent_id INTEGER, kernel_id INTEGER, queue_id INTEGER,
  stream_id INTEGER, start BIGINT, "end" BIGINT, group_segment_size INTEGER, workgroup_size_x INTEGER,
  workgroup_size_y INTEGER, workgroup_size_z INTEGER, grid_size_x INTEGER, grid_size_y INTEGER, grid_size_z INTEGER,
  event_id INTEGER
);
CREATE TABLE "rocpd_memory_copy{u}" (
  id INTEGER PRIMARY KEY, guid TEXT, pid INTEGER, start BIGINT, "end" BIGINT, name_id INTEGER, dst_agent_id INTEGER,
  src_agent_id INTEGER, size INTEGER, queue_id INTEGER, stream_id INTEGER, event_id INTEGER
);
INSERT INTO "rocpd_string{u}" VALUES
  (1, '{g}', 'HIP_RUNTIME_API_EXT'), (2, '{g}', 'hipLaunchKernel'), (3, '{g}', 'hipMemcpy'),
  (4, '{g}', 'MARKER_CORE_RANGE_API'), (5, '{g}', 'roctxThreadRangeA'), (6, '{g}', 'MEMORY_COPY_HOST_TO_DEVICE');
INSERT INTO "rocpd_info_node{u}" VALUES (1, '{g}', 'a machine', 'node0');
INSERT INTO "rocpd_info_process{u}" VALUES (1, '{g}', 1, {p}, '/usr/bin/python3 train.py --key=secret');
INSERT INTO "rocpd_info_thread{u}" VALUES (1, '{g}', 1, 1, {p}, 'main');
INSERT INTO "rocpd_info_agent{u}" VALUES
  (1, '{g}', 'CPU', 0, 0, 0, 'EPYC', NULL, NULL, '{}'),
  (2, '{g}', 'GPU', 1, 1, 0, 'gfx942', NULL, 'AMD Instinct MI300X', '{"cu_count": 304}');
INSERT INTO "rocpd_info_kernel_symbol{u}" VALUES (1, '{g}', '_Z4gemmIfEvPT_.kd', 'void gemm<float>(float*)', 512, 64);
INSERT INTO "rocpd_event{u}" VALUES
  (1, '{g}', 1, 11, 0, '{}'), (2, '{g}', 1, 12, 0, '{}'), (3, '{g}', 1, 13, 0, '{}'),
  (4, '{g}', NULL, 11, 0, '{}'), (5, '{g}', NULL, 12, 0, '{}'), (6, '{g}', NULL, 99, 13, '{}'),
  (7, '{g}', 4, 14, 0, '{"message": "step 0"}');
INSERT INTO "rocpd_region{u}" VALUES
  (1, '{g}', 1, 1, 1, 5000, 5100, 2, 1), (2, '{g}', 1, 1, 1, 5200, 5300, 2, 2), (3, '{g}', 1, 1, 1, 5400, 5900, 3, 3),
  (4, '{g}', 1, 1, 1, 4000, 6000, 5, 7);
INSERT INTO "rocpd_kernel_dispatch{u}" VALUES
  (1, '{g}', 1, 2, 1, 1, 3, 5500, 6500, 1536, 256, 1, 1, 1000, 2, 1, 4),
  (2, '{g}', 1, 2, 1, 1, 3, 6500, 6800, 1536, 256, 1, 1, 1000, 2, 1, 5);
INSERT INTO "rocpd_memory_copy{u}" VALUES (1, '{g}', 1, 7000, 7040, 6, 2, 1, 4096, 1, 4, 6);
"#;

/// A database with the tables of these processes.
fn rocpd(folder: &Path, processes: &[i64]) -> PathBuf {
    let path = folder.join("results.db");
    let database = Connection::open(&path).unwrap();
    for pid in processes {
        let uuid = format!("_{pid:08x}_0000_7000_8000_00000000000a");
        let statements =
            ROCPD.replace("{u}", &uuid).replace("{g}", &uuid[1..]).replace("{p}", &pid.to_string());
        database.execute_batch(&statements).unwrap();
    }
    path
}

#[test]
fn rocpd_has_kernels_copies_calls_and_ranges() {
    let folder = tempfile::tempdir().unwrap();
    let path = rocpd(folder.path(), &[4000]);
    let kernels = "SELECT kernel_name, short_name, count(*), sum(dur_ns), min(start_ns), min(grid_x), min(grid_y), \
                   min(static_shared_bytes), min(dynamic_shared_bytes), min(stream_id) FROM kernel GROUP BY 1, 2";
    assert_eq!(sql(&path, kernels), ["void gemm<float>(float*),gemm,2,1300,1500,4,2,512,1024,3"]);
    let copies = "SELECT direction, size_bytes, dur_ns FROM memcpy";
    assert_eq!(sql(&path, copies), ["Host-to-Device,4096,40"]);
    let calls = "SELECT api_name, count(*), sum(dur_ns) FROM cuda_call GROUP BY 1 ORDER BY 1";
    assert_eq!(sql(&path, calls), ["hipLaunchKernel,2,200", "hipMemcpy,1,500"]);
    assert_eq!(sql(&path, "SELECT range_name, start_ns, dur_ns FROM nvtx_range"), ["step 0,0,2000"]);
    // The copy belongs to the call around it, which has another number.
    let links = "SELECT launch.op_kind, call_start_ns, pid FROM launch ORDER BY launch.start_ns";
    assert_eq!(sql(&path, links), ["kernel,1000,4000", "kernel,1200,4000", "memcpy,1400,4000"]);
    assert_eq!(sql(&path, "SELECT gpu_name FROM gpu"), ["AMD Instinct MI300X"]);
    assert_eq!(sql(&path, "SELECT DISTINCT tid, global_tid FROM cuda_call"), ["4000,281542085578656"]);
    // Without the arguments, which can be secret.
    assert_eq!(sql(&path, "SELECT process_name FROM process"), ["python3"]);
    let kernels = run(&path, "top_kernels", &[]);
    assert_eq!(kernels.len(), 1, "{kernels:?}");
}

#[test]
fn a_database_without_events_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("results.db");
    let tables = "CREATE TABLE rocpd_string (id, guid, string); CREATE TABLE rocpd_kernel_dispatch (id, guid, start)";
    Connection::open(&path).unwrap().execute_batch(tables).unwrap();
    let (code, _, error) = outcome(&[path.to_str().unwrap()]);
    assert_eq!(code, 1, "{error}");
    assert!(error.contains("without kernels, copies, calls and ranges"), "{error}");
    // It is no gzip file, either.
    let (_, _, error) = outcome(&["import", path.to_str().unwrap(), "-o", "unused.sqlite"]);
    assert!(error.contains("is a SQLite database, which needs no import"), "{error}");
}

#[test]
fn processes_in_one_file_stay_apart() {
    let folder = tempfile::tempdir().unwrap();
    let path = rocpd(folder.path(), &[4000, 4001]);
    let work = "SELECT pid, count(*), sum(dur_ns), count(call_id) FROM launch GROUP BY pid ORDER BY pid";
    assert_eq!(sql(&path, work), ["4000,3,1340,3", "4001,3,1340,3"]);
}

#[test]
fn rpd_has_kernels_copies_fills_calls_and_ranges() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("trace.rpd");
    Connection::open(&path)
        .unwrap()
        .execute_batch(
            "CREATE TABLE rocpd_string (id integer PRIMARY KEY, string varchar(4096)); \
             CREATE TABLE rocpd_api (id integer PRIMARY KEY, pid integer, tid integer, start integer, \"end\" integer, \
               apiName_id integer, args_id integer); \
             CREATE TABLE rocpd_op (id integer PRIMARY KEY, gpuId integer, queueId integer, sequenceId integer, \
               start integer, \"end\" integer, description_id integer, opType_id integer); \
             CREATE TABLE rocpd_api_ops (id integer PRIMARY KEY, api_id integer, op_id integer); \
             CREATE TABLE rocpd_copyapi (api_ptr_id integer PRIMARY KEY, size integer); \
             INSERT INTO rocpd_string VALUES (1, ''), (2, 'hipLaunchKernel'), (3, 'hipMemcpyAsync'), \
               (4, 'UserMarker'), (5, 'step 0'), (6, 'KernelExecution'), (7, 'CopyDeviceToHost'), (8, 'FillBuffer'), \
               (9, 'gemm'); \
             INSERT INTO rocpd_api VALUES (1, 77, 78, 1000, 1010, 2, 1), (2, 77, 78, 1100, 1130, 3, 1), \
               (3, 77, 78, 900, 2000, 4, 5); \
             INSERT INTO rocpd_op VALUES (1, 0, 1, 0, 1200, 1500, 9, 6), (2, 0, 1, 0, 1500, 1540, 1, 7), \
               (3, 0, 1, 0, 1600, 1605, 1, 8); \
             INSERT INTO rocpd_api_ops VALUES (1, 1, 1), (2, 2, 2); \
             INSERT INTO rocpd_copyapi VALUES (2, 8192)",
        )
        .unwrap();
    assert_eq!(sql(&path, "SELECT kernel_name, start_ns, dur_ns, pid FROM kernel"), ["gemm,300,300,77"]);
    assert_eq!(
        sql(&path, "SELECT direction, size_bytes, dur_ns FROM memcpy"),
        ["Device-to-Host,8192,40"]
    );
    assert_eq!(sql(&path, "SELECT dur_ns FROM memset"), ["5"]);
    assert_eq!(
        sql(&path, "SELECT api_name FROM cuda_call ORDER BY 1"),
        ["hipLaunchKernel", "hipMemcpyAsync"]
    );
    assert_eq!(sql(&path, "SELECT range_name, dur_ns FROM nvtx_range"), ["step 0,1100"]);
    assert_eq!(sql(&path, "SELECT count(call_id) FROM launch"), ["2"]);
}
