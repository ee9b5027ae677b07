//! The tables of an export that nsq does not read, with their rows.

use crate::open_report::OpenReport;
use nsq_library::catalog::Catalog;
use nsq_report::schema::quote;
use nsq_value::error::Result;
use nsq_value::table::{Column, ResultTable, Value};
use std::collections::HashSet;

/// What the tables hold that nsq does not read, by the beginning of their names. The first one that fits counts.
const CONTENTS: [(&str, &str); 34] = [
    ("ANALYSIS_FILE", "files that nsys analysed"),
    ("UnwindMethodType", "labels of how stacks were found"),
    ("TARGET_INFO_NVTX_CUDA_", "names that the program gave to devices, contexts and streams"),
    ("TARGET_INFO_", "facts about the machine or its counters"),
    (
        "CUPTI_ACTIVITY_KIND_GRAPH_HOST_NODE",
        "host functions in streams, as the GPU saw them; see host_callback",
    ),
    ("CUPTI_ACTIVITY_KIND_BLOCK_", "thread blocks of kernels, one by one"),
    ("CUPTI_ACTIVITY_KIND_WARP_", "warps of kernels, one by one"),
    (
        "CUDA_GPU_MEMORY_POOL_EVENTS",
        "creation and trimming of memory pools; memory_event has allocations",
    ),
    ("CUBLAS_EVENTS", "calls of cuBLAS"),
    ("CUDNN_EVENTS", "calls of cuDNN"),
    ("UCP_WORKERS", "workers of UCX"),
    ("OSRT_ARGUMENTS", "arguments of OS calls, which NVIDIA calls experimental"),
    ("SYSCALL_CALLCHAINS", "stacks of system calls"),
    ("GENERIC_", "events of plug-ins, such as storage and EFA; their layout is not documented"),
    ("ETW_", "events of Windows"),
    ("NVTXT_", "ranges imported from text files"),
    ("NVTX_", "layouts of NVTX payloads, and their scopes"),
    ("NET_IB_", "InfiniBand devices, their ports, and congestion of switches"),
    ("PERF_EVENT_", "hardware counters of the CPU"),
    ("PMU_", "hardware counters of the CPU"),
    ("UNCORE_PMU_", "hardware counters of the CPU"),
    ("SOC_METRICS", "counters of a system on a chip"),
    ("BANDWIDTH_USAGE_", "memory bandwidth of a system on a chip"),
    ("TEGRA_", "calls on a system on a chip"),
    ("TRACE_PROCESS_EVENT_", "calls on a system on a chip"),
    ("GPU_VIDEO_ENGINE_", "work of video engines; nvvideo_api_sum has the calls"),
    ("GPU_MEMORY_", "video memory on Windows, which newer versions no longer record"),
    ("WDDM_", "packets and evictions of Windows; wddm_queue_sum has the queues"),
    ("MEMORY_TRANSFER_EVENTS", "video memory moved by Windows"),
    ("VULKAN_", "pipelines and memory of Vulkan"),
    ("OPENGL_API", "calls of OpenGL; the markers and GPU work are read"),
    ("DXGI_API", "calls of DXGI"),
    ("NVAPI_", "calls of NVAPI"),
    ("NV_LOAD_BALANCE_", "frame pacing of the driver on Windows"),
];
/// What a table holds that is not listed.
const UNKNOWN: &str = "not known to this version of nsq";

impl OpenReport {
    /// The tables of an export that have rows and no source spec, with what they hold. Tables of labels (`ENUM_…`) and
    /// views are left out. Statements of `nsq sql` can read them by their names.
    pub fn unread(&self, catalog: &Catalog) -> Result<ResultTable> {
        let column = |name, doc: &str| Column { doc: doc.to_owned(), ..Column::untyped(name) };
        let mut unread = ResultTable {
            columns: vec![
                column("table", "Name of the table in the export."),
                column("rows", "Number of its rows."),
                column("content", "What it holds."),
            ],
            rows: Vec::new(),
        };
        // Their tables are those of nsq.
        if self.schema.is_materialized || self.schema.is_imported {
            return Ok(unread);
        }
        let read: HashSet<String> = catalog
            .sources()?
            .into_iter()
            .flat_map(|source| source.tables.iter().map(|name| name.to_ascii_lowercase()))
            .collect();
        let connection = self.report.connect()?;
        for table in self.schema.tables() {
            let name = &table.name;
            if !table.has_rowid || name.starts_with("ENUM_") || read.contains(&name.to_ascii_lowercase())
            {
                continue;
            }
            let sql = format!("SELECT count(*) FROM main.{}", quote(name));
            let rows: i64 = connection.query_row(&sql, [], |row| row.get(0))?;
            if rows > 0 {
                let content = CONTENTS.iter().find(|(start, _)| name.starts_with(start));
                let content = content.map_or(UNKNOWN, |(_, content)| *content);
                unread.rows.push(vec![
                    Value::Text(name.clone()),
                    Value::Int(rows),
                    Value::Text(content.to_owned()),
                ]);
            }
        }
        self.report.spare(connection);
        Ok(unread)
    }
}
