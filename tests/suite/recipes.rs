//! What answers the recipes of nsys: files, networks, context switches, the pace of kernels, and waits by range.

use crate::support::{Fixtures, every_query, outcome, project, shared_exports, stdout};
use rusqlite::{Connection, OpenFlags};
use std::collections::BTreeMap;
use tempfile::TempDir;

/// Global ID of a process with the ID 77.
const PROCESS: i64 = 1 << 48 | 77 << 24;

/// The rows of a query, as lines of CSV.
fn lines(arguments: &[&str]) -> Vec<String> {
    let text = stdout(&[arguments, &["--format", "csv", "--no-header"]].concat());
    text.lines().map(str::to_owned).collect()
}

/// The rows of a query on the trace that has them, with these columns only.
fn host_io(query: &str, columns: &str, more: &[&str]) -> Vec<String> {
    let fixtures = Fixtures::new();
    let report = fixtures.trace("host_io");
    let asked = ["run", report.to_str().unwrap(), "--query", query, "--columns", columns];
    lines(&[&asked[..], more].concat())
}

/// A report of the newest schema with these rows.
fn made(folder: &TempDir, rows: &str) -> String {
    let path = folder.path().join("made.sqlite");
    let connection = Connection::open(&path).unwrap();
    let schema = std::fs::read_to_string(project("fixtures/schema/3.25.0.sql")).unwrap();
    connection.execute_batch(&schema).unwrap();
    connection.execute_batch(rows).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn file_accesses_are_summed_by_class() {
    let columns = "file_class,extension,files,calls,total_ns,read_bytes,written_bytes";
    let classes = host_io("file_access_sum", columns, &[]);
    let want = [
        "data,parquet,2,6,135,6000,0",
        "other,,2,3,113,0,10000",
        "library,so,1,1,10,0,0",
        "shared memory,bin,1,1,10,0,100",
        "unknown,,2,2,5,0,0",
    ];
    assert_eq!(classes, want);
}

#[test]
fn paths_are_hidden_unless_asked_for() {
    let columns = "file_path,calls";
    let hidden = host_io("file_access_sum", columns, &[]);
    assert!(hidden.iter().all(|line| line.starts_with(',')), "{hidden:?}");
    let shown = host_io("file_access_sum", columns, &["-p", "paths=true"]);
    assert!(shown.contains(&"/data/train/part-0.parquet,4".to_owned()), "{shown:?}");
    assert_eq!(shown.len(), 7, "{shown:?}");
}

#[test]
fn file_accesses_are_those_of_the_raw_table() {
    let mut checked = 0;
    for export in shared_exports() {
        let connection = Connection::open_with_flags(&export, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
        let sql =
            "SELECT count(*), sum(endedAt - startedAt), sum(eventType = 1) FROM OSRT_FILE_ACCESS_EVENTS";
        let Ok(mut statement) = connection.prepare(sql) else { continue };
        let raw: (i64, i64, i64) =
            statement.query_row([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
        let report = export.to_str().unwrap();
        let columns = "calls,total_ns,opens";
        let rows = lines(&["run", report, "--query", "file_access_sum", "--columns", columns]);
        let mut ours = (0, 0, 0);
        for row in &rows {
            let fields: Vec<i64> = row.split(',').map(|field| field.parse().unwrap()).collect();
            ours = (ours.0 + fields[0], ours.1 + fields[1], ours.2 + fields[2]);
        }
        assert_eq!(ours, raw, "{report}");
        checked += 1;
    }
    assert!(checked >= 2 || shared_exports().is_empty(), "{checked} exports");
}

#[test]
fn ports_of_one_card_are_apart() {
    let columns = "nic_name,port_id,metric_name,total,mean_value,peak_value,peak_ns";
    let ports = host_io("network_sum", columns, &[]);
    let want = [
        "mlx5_0,1,IB: Bytes sent,2000.0,1000.0,1500,1000000",
        "mlx5_0,2,IB: Bytes sent,300.0,150.0,300,1000000",
        ",7,IB: Send waits,20000.0,20000.0,20000,500000",
    ];
    assert_eq!(ports, want);
    let congested = host_io("network_congestion", "start_ns,send_wait_rate,guid,port_id", &[]);
    assert_eq!(congested, ["500000,20000,ff,7"]);
}

#[test]
fn traffic_while_collectives_run_is_apart_from_the_rest() {
    let folder = TempDir::new().unwrap();
    let kernel = |start: i64, end: i64| {
        format!(
            "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, contextId, streamId, globalPid, demangledName,
               shortName, registersPerThread, gridX, gridY, gridZ, blockX, blockY, blockZ, staticSharedMemory,
               dynamicSharedMemory, localMemoryPerThread, localMemoryTotal, gridId, tensorSizeMinusOneElements)
             VALUES ({start}, {end}, 0, 1, 7, {PROCESS}, 1, 1, 32, 1, 1, 1, 32, 1, 1, 0, 0, 0, 0, 1, '[]');"
        )
    };
    let samples =
        "INSERT INTO StringIds (id, value) VALUES (1, 'ncclDevKernel_AllReduce_Sum_f32_RING_LL');
      INSERT INTO TARGET_INFO_NETWORK_METRICS VALUES (1, 0, 'Bytes sent', '', 'bytes/ms');
      INSERT INTO TARGET_INFO_NIC_INFO VALUES (9, 'up', 1, 'mlx5_0', 0, 0, 0);
      INSERT INTO NIC_ID_MAP VALUES (1, 501);
      INSERT INTO NET_NIC_METRIC VALUES (0, 100, 501, 1, 1, 0, 10), (100, 200, 501, 1, 1, 0, 50),
        (200, 400, 501, 1, 1, 0, 0), (0, 400, 501, 2, 1, 0, 0);";
    let report = made(&folder, &(samples.to_owned() + &kernel(50, 150) + &kernel(120, 250)));
    let columns = "port_id,operation,op_count,total_ns,mean_value,mean_bytes_per_s";
    let rows = lines(&["run", &report, "--query", "collective_traffic", "--columns", columns]);
    assert_eq!(rows, ["1,AllReduce,2,200,27.5,27500.0", "1,(none),0,200,2.5,2500.0"]);
}

#[test]
fn traffic_is_spread_over_pieces_of_time() {
    let columns = "port_id,bin_id,start_ns,dur_ns,mean_value,peak_value,total,sampled_ns";
    let pieces = host_io("network_traffic_map", columns, &["-p", "bins=4", "-p", "metric=*"]);
    let want = [
        "1,0,0,500000,500.0,500,250.0,500000",
        "1,1,500000,500000,500.0,500,250.0,500000",
        "1,2,1000000,500000,1500.0,1500,750.0,500000",
        "1,3,1500000,500000,1500.0,1500,750.0,500000",
        "2,0,0,500000,0.0,0,0.0,500000",
        "2,1,500000,500000,0.0,0,0.0,500000",
        "2,2,1000000,500000,300.0,300,150.0,500000",
        "2,3,1500000,500000,300.0,300,150.0,500000",
        "7,0,0,500000,,,,0",
        "7,1,500000,500000,20000.0,20000,10000.0,500000",
        "7,2,1000000,500000,20000.0,20000,10000.0,500000",
        "7,3,1500000,500000,,,,0",
    ];
    assert_eq!(pieces, want);
}

#[test]
fn context_switches_are_paired_by_context() {
    let columns = "gpu_id,pid,context_id,slices,total_ns,max_ns,max_away_ns,away_ns,first_ns,last_ns";
    let contexts = host_io("gpu_context_switches", columns, &[]);
    let want = [
        "0,5001,1,2,230,130,70,50,100,400",
        "0,300,2,2,80,50,160,130,210,450",
        "1,,1,1,50,50,,0,100,150",
    ];
    assert_eq!(contexts, want);
}

#[test]
fn green_contexts_have_their_work_and_their_sms() {
    let folder = TempDir::new().unwrap();
    let kernel = |start: i64, end: i64, green: &str| {
        format!(
            "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, contextId, greenContextId, streamId, globalPid,
               demangledName, shortName, registersPerThread, gridX, gridY, gridZ, blockX, blockY, blockZ,
               staticSharedMemory, dynamicSharedMemory, localMemoryPerThread, localMemoryTotal, gridId,
               tensorSizeMinusOneElements)
             VALUES ({start}, {end}, 0, 1, {green}, 7, {PROCESS}, 1, 1, 32, 1, 1, 1, 32, 1, 1, 0, 0, 0, 0, 1, '[]');"
        )
    };
    let contexts = "INSERT INTO StringIds (id, value) VALUES (1, 'k');
      INSERT INTO TARGET_INFO_CUDA_CONTEXT_INFO (nullStreamId, hwId, vmId, processId, deviceId, contextId,
        parentContextId, isGreenContext, numMultiprocessors)
      VALUES (7, 0, 1, 77, 0, 1, 0, 0, 0), (8, 0, 1, 77, 0, 5, 1, 1, 32), (9, 0, 1, 77, 0, 6, 1, 1, 100);";
    let kernels = [
        kernel(0, 100, "5"),
        kernel(50, 200, "5"),
        kernel(300, 400, "5"),
        kernel(0, 90, "6"),
        kernel(7, 17, "NULL"),
    ];
    let report = made(&folder, &(contexts.to_owned() + &kernels.concat()));
    let columns = "green_context_id,sm_count,kernel_count,total_ns,busy_ns,busy_pct,parent_context_id";
    let rows = lines(&["run", &report, "--query", "green_contexts", "--columns", columns]);
    assert_eq!(rows, ["5,32,3,350,300,75.0,1", "6,100,1,90,90,100.0,1", ",,1,10,10,100.0,"]);
}

#[test]
fn fields_of_payloads_are_summed_by_message() {
    let folder = TempDir::new().unwrap();
    let event = |kind: i64, end: &str, text: &str, payload: &str| {
        format!(
            "INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid, domainId, jsonText)
             VALUES (10, {end}, {kind}, '{text}', {PROCESS} + 1, 0, '{payload}');"
        )
    };
    let rows = [
        event(59, "30", "load", r#"{"bytes": 5, "file": "b"}"#),
        event(59, "40", "load", r#"{"bytes": 7.5, "file": "a"}"#),
        event(34, "NULL", "loss", r#"{"value": -2}"#),
        event(59, "40", "other", "3"),
    ];
    let report = made(&folder, &rows.concat());
    let columns = "message,field,is_mark,payload_count,total_value,min_value,max_value,example,total_ns";
    let rows = lines(&["run", &report, "--query", "nvtx_payload_sum", "--columns", columns]);
    let want =
        ["load,bytes,0,2,12.5,5.0,7.5,,50", "load,file,0,2,,,,a,50", "loss,value,1,1,-2.0,-2.0,-2.0,,"];
    assert_eq!(rows, want);
}

#[test]
fn system_calls_ucx_jit_and_host_functions_are_summed() {
    let calls = host_io("syscall_sum", "syscall_name,calls,total_ns,mean_ns", &[]);
    assert_eq!(calls, ["futex,2,110,55.0", "read,1,5,5.0"]);
    let ucx = host_io("ucx_sum", "ucx_name,ucx_kind,calls,total_ns,total_bytes", &[]);
    let want = [
        "ucp_worker_progress,progress,1,100,",
        "ucp_tag_send_nbx,submit,2,30,8192",
        "ucp_ep_flush_nbx,other,1,10,",
        "ucp_tag_recv_nbx,submit,1,5,2048",
    ];
    assert_eq!(ucx, want);
    let steps = host_io("jit_sum", "code_kind,step_kind,steps,total_ns,cache_bytes", &[]);
    let want = [
        "PTX to machine code,compile,1,500,",
        "PTX to machine code,cache store,1,10,900",
        "PTX to machine code,cache load,1,4,900",
    ];
    assert_eq!(steps, want);
    let unpacked =
        host_io("decompression_sum", "device_id,op_count,buffer_count,total_ns,source_bytes", &[]);
    assert_eq!(unpacked, ["0,2,3,150,15000"]);
    let functions = host_io("host_callback_sum", "function_name,calls,total_ns", &[]);
    assert_eq!(functions, ["my_callback,2,60", ",1,1"]);
}

/// `item`, in `step 0`, waits in a runtime call with a driver call inside; `optimizer` waits; a copy is outside.
const WAITS: &str = "
    INSERT INTO StringIds (id, value) VALUES
        (1, 'cudaStreamSynchronize_v3020'), (2, 'cuStreamSynchronize'), (3, 'cudaDeviceSynchronize_v3020'),
        (4, 'cudaMemcpy_v3020'), (5, 'cudaLaunchKernel_v7000');
    INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid) VALUES
        (0, 1000, 59, 'step 0', THREAD), (100, 500, 59, 'item', THREAD), (600, 900, 59, 'optimizer', THREAD);
    INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME
        (start, end, eventClass, globalTid, correlationId, nameId, returnValue) VALUES
        (20, 30, 0, THREAD, 1, 5, 0), (150, 450, 0, THREAD, 2, 1, 0), (160, 440, 1, THREAD, 2, 2, 0),
        (700, 800, 0, THREAD, 3, 3, 0), (1100, 1150, 0, THREAD, 4, 4, 0);";

#[test]
fn waits_belong_to_the_innermost_range() {
    let folder = TempDir::new().unwrap();
    let report = made(&folder, &WAITS.replace("THREAD", &(PROCESS | 77).to_string()));
    let columns = "range_path,function_name,call_kind,calls,total_ns,range_count";
    let waits = lines(&["run", &report, "--query", "nvtx_host_waits", "--columns", columns]);
    let want = [
        "step * / item,cudaStreamSynchronize,sync,1,300,1",
        "step * / optimizer,cudaDeviceSynchronize,sync,1,100,1",
        ",cudaMemcpy,copy,1,50,",
    ];
    assert_eq!(waits, want);
    let columns = "path,total_ns,self_ns,wait_ns,self_wait_ns,cuda_ns";
    let tree = lines(&["run", &report, "--query", "nvtx_cpu_tree", "--columns", columns]);
    let want = [
        "step *,1000,300,400,0,410",
        "step * / item,400,400,300,300,300",
        "step * / optimizer,300,300,100,100,100",
    ];
    assert_eq!(tree, want);
}

/// Nanoseconds since the start and the end of the run before, by the row ID of a kernel.
fn paces(report: &str) -> BTreeMap<i64, (i64, Option<i64>, Option<i64>)> {
    let connection = Connection::open_with_flags(report, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    let sql = "SELECT demangledName, globalPid, deviceId, start, rowid, end FROM CUPTI_ACTIVITY_KIND_KERNEL \
               WHERE end - start BETWEEN 0 AND 1000000000000000 AND (start <> 0 OR end <> 0) ORDER BY 1, 2, 3, 4, 5";
    let Ok(mut statement) = connection.prepare(sql) else { return BTreeMap::new() };
    let kernels = statement.query_map([], |row| {
        let key: (i64, Option<i64>, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
        Ok((key, row.get::<_, i64>(3)?, row.get::<_, i64>(4)?, row.get::<_, i64>(5)?))
    });
    let kernels: Vec<_> = kernels.unwrap().map(Result::unwrap).collect();
    let (mut paces, mut run) = (BTreeMap::new(), 0);
    for (at, &(key, start, id, _)) in kernels.iter().enumerate() {
        let before = at.checked_sub(1).map(|before| &kernels[before]).filter(|before| before.0 == key);
        run = if before.is_some() { run + 1 } else { 1 };
        paces.insert(id, (run, before.map(|b| start - b.1), before.map(|b| start - b.3)));
    }
    paces
}

#[test]
fn the_pace_of_a_kernel_is_the_time_since_its_last_run() {
    let mut reports = shared_exports();
    reports.push(project("fixtures/example.sqlite"));
    for report in reports {
        let report = report.to_str().unwrap();
        let want = paces(report);
        if want.is_empty() {
            continue;
        }
        let columns = "kernel_id,run,since_start_ns,since_end_ns";
        let rows = lines(&["run", report, "--query", "cuda_gpu_kern_pace", "--columns", columns]);
        let got: BTreeMap<_, _> = rows
            .iter()
            .map(|row| {
                let fields: Vec<Option<i64>> = row.split(',').map(|field| field.parse().ok()).collect();
                (fields[0].unwrap(), (fields[1].unwrap(), fields[2], fields[3]))
            })
            .collect();
        assert!(got == want, "{report}");
    }
}

#[test]
fn mpi_and_gpu_work_share_pieces_of_time() {
    let folder = TempDir::new().unwrap();
    let rows = "
        INSERT INTO StringIds (id, value) VALUES (1, 'MPI_Barrier'), (2, 'kernel');
        INSERT INTO MPI_RANKS (globalTid, rank) VALUES (THREAD, 3);
        INSERT INTO MPI_OTHER_EVENTS (start, end, globalTid, textId) VALUES (0, 100, THREAD, 1);
        INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL
            (start, end, deviceId, contextId, streamId, correlationId, globalPid, demangledName, shortName,
            registersPerThread, gridX, gridY, gridZ, blockX, blockY, blockZ, staticSharedMemory, dynamicSharedMemory,
            localMemoryPerThread, localMemoryTotal, gridId, tensorSizeMinusOneElements) VALUES
            (60, 160, 0, 1, 7, 1, PROCESS, 2, 2, 32, 1, 1, 1, 32, 1, 1, 0, 0, 0, 0, 1, '');";
    let rows =
        rows.replace("THREAD", &(PROCESS | 77).to_string()).replace("PROCESS", &PROCESS.to_string());
    let report = made(&folder, &rows);
    let columns = "pid,rank,bin_id,start_ns,dur_ns,call_ns,gpu_ns,both_ns";
    let asked =
        ["run", &report, "--query", "mpi_gpu_time_util_map", "-p", "bins=2", "--columns", columns];
    assert_eq!(lines(&asked), ["77,3,0,0,80,80,20,20", "77,3,1,80,80,20,80,20"]);
    let asked = ["run", &report, "--query", "mpi_gpu_time_util_map", "-p", "library=ucx"];
    assert!(lines(&asked).is_empty());
    let columns = "gpu_id,bin_id,start_ns,kernel_ns,compute_ns,communication_ns,idle_ns";
    let asked =
        ["run", &report, "--query", "cuda_gpu_time_util_map", "-p", "bins=2", "--columns", columns];
    assert_eq!(lines(&asked), ["0,0,60,50,50,0,0", "0,1,110,50,50,0,0"]);
}

#[test]
fn tables_that_are_not_read_are_listed_with_their_rows() {
    let folder = TempDir::new().unwrap();
    let rows = "
        INSERT INTO StringIds (id, value) VALUES (1, 'kernel');
        CREATE TABLE PMU_EVENTS (start INTEGER);
        INSERT INTO PMU_EVENTS VALUES (1), (2);
        CREATE TABLE NEW_IN_2030 (start INTEGER);
        INSERT INTO NEW_IN_2030 VALUES (1);
        CREATE TABLE CUBLAS_EVENTS (start INTEGER);
        ALTER TABLE StringIds ADD COLUMN new_in_2031 INTEGER;
        ALTER TABLE StringIds ADD COLUMN empty_in_2031 INTEGER;
        UPDATE StringIds SET new_in_2031 = 5;";
    let report = made(&folder, rows);
    let schema = lines(&["schema", &report]);
    let listed = |line: &str| schema.contains(&line.to_owned());
    assert!(listed("PMU_EVENTS,2,hardware counters of the CPU"), "{schema:?}");
    assert!(listed("NEW_IN_2030,1,not known to this version of nsq"), "{schema:?}");
    let has = |start: &str| schema.iter().any(|line| line.starts_with(start));
    assert!(!has("CUBLAS_EVENTS") && !has("StringIds,"), "{schema:?}");
    let column =
        "StringIds.new_in_2031,1,a column that nsq does not read; the others of its table are read";
    assert!(listed(column) && !has("StringIds.empty_in_2031"), "{schema:?}");
}

#[test]
fn recipes_of_other_names_say_what_answers_them() {
    let report = project("fixtures/example.sqlite");
    let report = report.to_str().unwrap();
    for asked in [&["run", report, "--query", "mpi_sum"][..], &["stats", "-r", "mpi_sum", report]] {
        let (code, _, error) = outcome(asked);
        assert_eq!(code, 2, "{error}");
        assert!(error.contains("example.sqlite --query mpi_event_sum` answers it."), "{error}");
    }
    // Every recipe of nsys is in the book, and every query that the book names exists.
    let book = std::fs::read_to_string(project("docs/src/recipes.md")).unwrap();
    let queries = every_query();
    let (mut recipes, mut named) = (0, 0);
    for row in book.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| recipe")) {
        let cells: Vec<&str> = row.split('|').collect();
        recipes += cells[1].split(',').count();
        for code in cells[2].split('`').skip(1).step_by(2) {
            let first = code.split_whitespace().next().unwrap_or_default();
            let is_query = queries.iter().any(|query| query == first);
            let is_relation = ["gpu_metric", "memory_event", "gpu_overlap"].contains(&first);
            assert!(
                is_query || is_relation || first == "nsq" || first.starts_with('-'),
                "{row}: {first}"
            );
            named += usize::from(is_query);
        }
    }
    assert_eq!(recipes, 41);
    assert!(named > 40, "{named}");
}
