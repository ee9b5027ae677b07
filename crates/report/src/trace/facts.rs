//! Facts of a trace outside its events → the small tables of an export.

use super::tables::SmallTable;
use rusqlite::types::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Facts in the trace outside `traceEvents`.
#[derive(Debug, Clone, Default)]
pub(super) struct Facts {
    /// Nanoseconds since 1970 (UTC) at the trace's time 0, if the trace gives it.
    pub(super) base_ns: Option<i64>,
    /// The trace's own `schemaVersion`.
    pub(super) schema_version: Option<String>,
    pub(super) devices: Vec<Device>,
    pub(super) rank: Option<i64>,
    pub(super) world_size: Option<i64>,
    pub(super) backend: Option<String>,
    /// What the profiler was asked to record besides times, by the names of its arguments, such as `with_stack`.
    pub(super) recorded: BTreeSet<&'static str>,
    /// Version of the CUDA driver, 12080 for 12.8.
    pub(super) cuda_driver: Option<i64>,
    /// Version of HIP, 60443483 for 6.4.43483.
    pub(super) hip: Option<i64>,
    /// Values outside the events that were not valid JSON. Their invalid numbers became null.
    pub(super) repaired: u64,
    /// Events that were left out because they are not valid JSON, and where the first is and why.
    pub(super) skipped: u64,
    pub(super) first_skipped: Option<String>,
    /// The line at which the trace ends too soon.
    pub(super) cut_short: Option<u64>,
}

/// A GPU that the trace describes.
#[derive(Debug, Clone, Default)]
pub(super) struct Device {
    pub(super) id: Option<i64>,
    pub(super) name: Option<String>,
    pub(super) properties: [Option<i64>; PROPERTIES.len()],
}

/// The properties of a GPU, as PyTorch names them.
const PROPERTIES: [&str; 11] = [
    "totalGlobalMem",
    "numSms",
    "computeMajor",
    "computeMinor",
    "warpSize",
    "maxThreadsPerBlock",
    "regsPerBlock",
    "sharedMemPerBlock",
    "sharedMemPerBlockOptin",
    "sharedMemPerMultiprocessor",
    "regsPerMultiprocessor",
];

impl From<&serde_json::Value> for Device {
    /// Drops each value that is not a 64-bit integer, and keeps the others.
    fn from(device: &serde_json::Value) -> Self {
        let name = device["name"].as_str().map(str::to_owned);
        let properties = PROPERTIES.map(|key| device[key].as_i64());
        Self { id: device["id"].as_i64(), name, properties }
    }
}

/// Arguments of the profiler that make it record more, and cost more.
const MORE: [&str; 5] = ["profile_memory", "record_shapes", "with_flops", "with_modules", "with_stack"];

impl Facts {
    /// Whether a member of the trace says what was recorded, or with which driver.
    pub(super) fn is_setting(key: &str) -> bool {
        MORE.contains(&key) || ["cuda_driver_version", "hip_driver_version"].contains(&key)
    }

    /// Takes the value of such a member. The trace says `true` or `1`.
    pub(super) fn set(&mut self, key: &str, value: &serde_json::Value) {
        let is_on = value.as_bool().or(value.as_i64().map(|number| number != 0)).unwrap_or_default();
        match key {
            "cuda_driver_version" => self.cuda_driver = value.as_i64(),
            "hip_driver_version" => self.hip = value.as_i64(),
            _ => self.recorded.extend(MORE.into_iter().filter(|known| is_on && *known == key)),
        }
    }
}

/// Facts about the file, as names and values.
pub(super) fn export(facts: &Facts, writer: &str) -> SmallTable {
    let mut table = SmallTable::new("META_DATA_EXPORT", &["name", "value"]);
    let mut fact = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            table.add([name.to_owned().into(), value.into()]);
        }
    };
    fact("NSQ_IMPORT_OF", Some(writer.to_owned()));
    fact("NSQ_IMPORT_BY", Some(format!("nsq {}", env!("CARGO_PKG_VERSION"))));
    fact("TRACE_SCHEMA_VERSION", facts.schema_version.clone());
    fact("DISTRIBUTED_RANK", facts.rank.map(|rank| rank.to_string()));
    fact("DISTRIBUTED_WORLD_SIZE", facts.world_size.map(|size| size.to_string()));
    fact("DISTRIBUTED_BACKEND", facts.backend.clone());
    fact("TRACE_CUDA_DRIVER_VERSION", facts.cuda_driver.map(|version| version.to_string()));
    fact("TRACE_HIP_VERSION", facts.hip.map(|version| version.to_string()));
    fact("TRACE_SKIPPED_EVENTS", (facts.skipped > 0).then(|| facts.skipped.to_string()));
    fact("TRACE_FIRST_SKIPPED", facts.first_skipped.clone());
    fact("TRACE_ENDS_AT_LINE", facts.cut_short.map(|line| line.to_string()));
    for argument in &facts.recorded {
        fact(&format!("TRACE_{}", argument.to_uppercase()), Some("1".to_owned()));
    }
    table
}

/// The columns of a GPU, of which the last are [`PROPERTIES`].
const GPU: &[&str] = &[
    "id",
    "cuDevice",
    "name",
    "totalMemory",
    "smCount",
    "computeMajor",
    "computeMinor",
    "threadsPerWarp",
    "maxThreadsPerBlock",
    "maxRegistersPerBlock",
    "maxShmemPerBlock",
    "maxShmemPerBlockOptin",
    "maxShmemPerSm",
    "maxRegistersPerSm",
];

/// The GPUs that the process could see, by CUDA ordinal.
pub(super) fn gpus(devices: &[Device]) -> SmallTable {
    let mut table = SmallTable::new("TARGET_INFO_GPU", GPU);
    for Device { id, name, properties } in devices.iter().filter(|device| device.id.is_some()) {
        let ids = [Value::from(*id), Value::from(*id), Value::from(name.clone())];
        table.add_row(ids.into_iter().chain(properties.map(Value::from)).collect());
    }
    table
}

/// The streams that ran GPU work, with their priorities if the trace gives them.
pub(super) fn streams(
    streams: &BTreeMap<(Option<i64>, i64), Option<i64>>,
    process: Option<i64>,
) -> SmallTable {
    let mut table =
        SmallTable::new("TARGET_INFO_CUDA_STREAM", &["streamId", "contextId", "processId", "priority"]);
    for ((context, stream), priority) in streams {
        table.add([(*stream).into(), (*context).into(), process.into(), (*priority).into()]);
    }
    table
}

/// The length of the trace.
pub(super) fn extent(dur_ns: i64) -> SmallTable {
    let mut table = SmallTable::new("ANALYSIS_DETAILS", &["duration"]);
    table.add([dur_ns.into()]);
    table
}

/// The years 2001 to 2099, in ns since 1970. A clock in this range counts from 1970.
const THIS_CENTURY: std::ops::Range<i64> = 978_307_200_000_000_000..4_102_444_800_000_000_000;

/// The UTC time at the report's 0, if the trace's clock is known to count from 1970.
pub(super) fn session(base_ns: Option<i64>, zero_ns: i64) -> SmallTable {
    let mut table = SmallTable::new("TARGET_INFO_SESSION_START_TIME", &["utcEpochNs"]);
    let utc_ns = zero_ns.checked_add(base_ns.unwrap_or(0));
    if let Some(utc_ns) = utc_ns.filter(|ns| THIS_CENTURY.contains(ns)) {
        table.add([Value::Integer(utc_ns)]);
    }
    table
}
