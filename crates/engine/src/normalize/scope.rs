//! The part of a report to analyse: `--time`, `--gpu`, `--device`, `--stream`, `--process`, `--nvtx`.
//!
//! A scope becomes a condition on the columns that a relation lists in its front matter. The condition
//! has only integer literals, so it can be part of a view, which takes no parameters. Columns cannot
//! tell what an NVTX range selects, so for ranges the condition calls an SQL function of nsq.

use nsq_library::catalog::ScopeColumns;
use serde::Serialize;

/// Prefix of a relation without scope options: `all_kernel` is the unfiltered `kernel`.
pub const UNSCOPED: &str = "all_";

/// Name of the relation from which queries read the scope's time window.
pub const SCOPE_RELATION: &str = "scope";
/// Its columns.
pub const SCOPE_COLUMNS: [&str; 8] =
    ["start_ns", "end_ns", "attribution", "iteration_name", "rank", "host", "host_order", "as_recorded"];

/// SQL function for GPU operations: true if the launch is inside a selected range and outside all
/// excluded ranges.
pub const SELECTS_OP: &str = "nvtx_selects_op";
/// SQL function for events on a CPU thread: true if the event is inside a selected range and outside all
/// excluded ranges.
pub const SELECTS_CALL: &str = "nvtx_selects";
/// SQL function for anything with a time: true if it overlaps a range of `--window`.
pub const IN_WINDOW: &str = "nvtx_in_window";

/// Selects ranges by name: `NAME[@DOMAIN][/INDEX]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Selector {
    /// Glob for the range's name or text. If nothing matches, it is tried without the text's trailing
    /// number.
    pub name: String,
    /// The selector as typed. A range with exactly this name takes precedence.
    #[serde(skip)]
    pub spelled: String,
    /// Glob for the domain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub domain: Option<String>,
    /// First and last instance in time order, from 0. Absent: all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instances: Option<(usize, usize)>,
    /// Whether instances are numbered per thread instead of over all threads.
    #[serde(skip_serializing_if = "is_default")]
    pub by_thread: bool,
}

impl Selector {
    /// The glob for the names of ranges, which have their domain in front.
    pub fn range_name(&self) -> String {
        match &self.domain {
            Some(domain) => format!("{domain}:{}", self.name),
            None => self.name.clone(),
        }
    }
}

/// Which launches belong to an NVTX range.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Attribute {
    /// Launches on the range's thread, as in NVIDIA's reports.
    #[default]
    Thread,
    /// Launches on any thread of the range's process while the range is open.
    Process,
    /// As `Thread`, but a CUDA graph node belongs to the ranges that were open when the node was
    /// created.
    Capture,
}

impl Attribute {
    /// Its name on the command line and in results.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Thread => "thread",
            Self::Process => "process",
            Self::Capture => "capture",
        }
    }
}

/// The part of a report to analyse. An empty list or absent value does not filter.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Scope {
    /// Start of the window in ns on the report's clock. Events that end before it are excluded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_ns: Option<i64>,
    /// End of the window in ns on the report's clock. Events that start at or after it are excluded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_ns: Option<i64>,
    /// Whether the window is that of steps, and no option gave it.
    #[serde(skip)]
    pub is_of_steps: bool,
    /// Whether events that end exactly at `start_ns` are in the window, as NVIDIA's filters have it.
    #[serde(skip_serializing_if = "is_default")]
    pub touches_start: bool,
    /// Only steps after the warm-up. Whoever begins a session replaces it with the window of these steps.
    #[serde(skip_serializing_if = "is_default")]
    pub steady: bool,
    /// GPU numbers, as every output shows them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gpus: Vec<i64>,
    /// The devices by which processes use `gpus`. Whoever begins a session finds them in the report.
    #[serde(skip)]
    pub gpu_devices: Vec<ProcessDevice>,
    /// CUDA device ordinals.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub devices: Vec<i64>,
    /// CUDA stream ids.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub streams: Vec<i64>,
    /// Process ids.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub processes: Vec<i64>,
    /// Global IDs of the threads of events on the CPU. GPU work is not filtered by them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub threads: Vec<i64>,
    /// Names (GLOB patterns) or IDs of threads: only their ranges and calls, and operations that they launched.
    #[serde(rename = "thread", skip_serializing_if = "Vec::is_empty")]
    pub launchers: Vec<String>,
    /// Global IDs of the threads of `launchers`. Whoever begins a session finds them in the report.
    #[serde(skip)]
    pub launcher_tids: Vec<i64>,
    /// Only operations launched in these NVTX ranges, and events inside them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nvtx: Vec<Selector>,
    /// As `nvtx`. If both are set, both conditions apply.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub iterations: Vec<Selector>,
    /// No operations launched in these NVTX ranges, and no events inside them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub exclude: Vec<Selector>,
    /// Only what overlaps these NVTX ranges in time, on any thread or device.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub windows: Vec<Selector>,
    /// Which launches belong to an NVTX range. This setting does not filter by itself.
    #[serde(skip_serializing_if = "is_default")]
    pub attribute: Attribute,
    /// Whether to keep the numbers in range names instead of folding them.
    #[serde(skip_serializing_if = "is_default")]
    pub keep_names: bool,
    /// GLOB pattern for the names of the ranges that are iterations, where nsq is not to find them itself.
    /// This setting does not filter by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iteration_name: Option<String>,
    /// Rank that the name of the report says, by a pattern of the user. This setting does not filter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rank: Option<i64>,
    /// Host that the name of the report says. This setting does not filter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// Whether relations keep rows whose times cannot be true, as NVIDIA's reports do. This setting belongs to a query,
    /// not to the user.
    #[serde(skip)]
    pub as_recorded: bool,
}

/// A device as one process sees it: another process may see another GPU as the same ordinal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ProcessDevice {
    /// Process ID. `None` stands for each process that has no devices of its own in the report.
    pub pid: Option<i64>,
    /// CUDA device ordinal.
    pub device_id: i64,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl Scope {
    /// The same settings without any filter.
    pub fn unfiltered(&self) -> Self {
        Self {
            attribute: self.attribute,
            keep_names: self.keep_names,
            iteration_name: self.iteration_name.clone(),
            rank: self.rank,
            host: self.host.clone(),
            as_recorded: self.as_recorded,
            ..Self::default()
        }
    }

    /// The same scope without filters by NVTX range or launching thread.
    pub fn without_ranges(&self) -> Self {
        Self {
            launchers: Vec::new(),
            launcher_tids: Vec::new(),
            nvtx: Vec::new(),
            iterations: Vec::new(),
            exclude: Vec::new(),
            windows: Vec::new(),
            ..self.clone()
        }
    }

    /// The same scope without a time.
    pub fn at_all_times(&self) -> Self {
        Self { start_ns: None, end_ns: None, is_of_steps: false, ..self.clone() }
    }

    /// Whether something with this start and end is in the time of the scope. The time is half-open: what has no length is
    /// in it if it starts inside.
    pub fn has_time(&self, start: i64, end: i64) -> bool {
        self.start_ns.is_none_or(|from| end > from || start >= from)
            && self.end_ns.is_none_or(|to| start < to)
    }

    /// Whether the scope leaves out events by time or by NVTX range.
    pub fn limits_time(&self) -> bool {
        self.steady || self.start_ns.is_some() || self.end_ns.is_some() || self.selects_ranges()
    }

    /// Whether the scope filters by NVTX ranges, or launches by threads.
    pub fn selects_ranges(&self) -> bool {
        self.selects_launches() || !self.windows.is_empty()
    }

    /// Whether the scope filters launches by NVTX ranges or threads.
    pub fn selects_launches(&self) -> bool {
        self.selects_launches_by_range() || !self.launchers.is_empty()
    }

    fn selects_launches_by_range(&self) -> bool {
        !(self.nvtx.is_empty() && self.iterations.is_empty() && self.exclude.is_empty())
    }

    /// Whether this is the default scope: no filter, and default settings. What the name of the report says is no setting.
    pub fn is_whole(&self) -> bool {
        Self { rank: None, host: None, ..self.clone() } == Self::default()
    }

    /// Whether work of this process on this device is in the scope, as far as GPU numbers decide.
    pub fn has_gpu_of(&self, pid: Option<i64>, device_id: Option<i64>) -> bool {
        let is_it = |known: &ProcessDevice| known.pid == pid && Some(known.device_id) == device_id;
        self.gpus.is_empty() || self.gpu_devices.iter().any(is_it)
    }

    /// The condition for the GPU numbers on a relation with these columns.
    fn gpu_condition(&self, columns: &ScopeColumns) -> Option<String> {
        let device = columns.device.as_ref().filter(|_| !self.gpus.is_empty())?;
        let one = |known: &ProcessDevice| match (&columns.process, known.pid) {
            (Some(process), Some(pid)) => {
                format!("{process} = {pid} AND {device} = {}", known.device_id)
            }
            (Some(process), None) => format!("{process} IS NULL AND {device} = {}", known.device_id),
            (None, _) => format!("{device} = {}", known.device_id),
        };
        let any: Vec<String> = self.gpu_devices.iter().map(one).collect();
        Some(if any.is_empty() { "0".to_owned() } else { format!("({})", any.join(" OR ")) })
    }

    /// The condition for a relation with these columns, or `None` if every row is in the scope.
    pub(super) fn condition(&self, columns: &ScopeColumns) -> Option<String> {
        let mut conditions = Vec::new();
        if let Some((start, end)) = &columns.time {
            // The window is half-open. An event of length 0 is in the window if it starts inside.
            if let Some(from) = self.start_ns {
                conditions.push(match self.touches_start {
                    true => format!("{end} >= {from}"),
                    false => format!("({end} > {from} OR {start} >= {from})"),
                });
            }
            if let Some(to) = self.end_ns {
                conditions.push(format!("{start} < {to}"));
            }
        }
        conditions.extend(self.gpu_condition(columns));
        for (column, ids) in [
            (&columns.device, &self.devices),
            (&columns.gpu, &self.gpus),
            (&columns.stream, &self.streams),
            (&columns.process, &self.processes),
            (&columns.thread, &self.threads),
        ] {
            if let (Some(column), false) = (column, ids.is_empty()) {
                let ids: Vec<String> = ids.iter().map(i64::to_string).collect();
                conditions.push(format!("{column} IN ({})", ids.join(", ")));
            }
        }
        if let (Some((start, end)), false) = (&columns.time, self.windows.is_empty()) {
            conditions.push(format!("{IN_WINDOW}({start}, {end})"));
        }
        if self.selects_launches() {
            if let Some((kind, id)) = &columns.op {
                let kind = if kind.ends_with("_kind") { kind.clone() } else { format!("'{kind}'") };
                conditions.push(format!("{SELECTS_OP}({kind}, {id})"));
            } else if let (Some(thread), Some((start, end))) = (&columns.thread, &columns.time) {
                conditions.push(format!("{SELECTS_CALL}({thread}, {start}, {end})"));
            }
        }
        (!conditions.is_empty()).then(|| conditions.join("\n  AND "))
    }

    /// Notes on scope options that a relation with these columns ignores.
    pub(super) fn notes(&self, relation: &str, columns: &ScopeColumns) -> Vec<String> {
        let unset = ScopeColumns::default();
        if columns.time == unset.time
            && columns.device == unset.device
            && columns.gpu == unset.gpu
            && columns.stream == unset.stream
            && columns.process == unset.process
            && columns.op == unset.op
            && columns.thread == unset.thread
        {
            // Nobody expects a scope to filter a look-up table.
            return Vec::new();
        }
        [
            (
                "--time",
                columns.time.is_some(),
                (self.start_ns.is_some() || self.end_ns.is_some()) && !self.is_of_steps,
            ),
            ("--gpu", columns.device.is_some() || columns.gpu.is_some(), !self.gpus.is_empty()),
            ("--device", columns.device.is_some(), !self.devices.is_empty()),
            ("--stream", columns.stream.is_some(), !self.streams.is_empty()),
            ("--process", columns.process.is_some(), !self.processes.is_empty()),
            (
                "the selection of NVTX ranges",
                columns.op.is_some() || columns.thread.is_some(),
                self.selects_launches_by_range(),
            ),
            ("--thread", columns.op.is_some() || columns.thread.is_some(), !self.launchers.is_empty()),
            ("--window", columns.time.is_some(), !self.windows.is_empty()),
        ]
        .into_iter()
        .filter(|(_, applies, requested)| *requested && !applies)
        .map(|(option, ..)| format!("{option} does not apply to {relation}: all its rows are shown"))
        .collect()
    }

    /// The one-row relation `scope`.
    pub(super) fn definition(&self) -> String {
        let literal = |value: Option<i64>| value.map_or("NULL".to_owned(), |v| v.to_string());
        let text = |value: Option<&str>| {
            value.map_or("NULL".to_owned(), |text| format!("'{}'", text.replace('\'', "''")))
        };
        let (name, host) = (self.iteration_name.as_deref(), self.host.as_deref());
        let values = [
            literal(self.start_ns),
            literal(self.end_ns),
            text(Some(self.attribute.as_str())),
            text(name),
            literal(self.rank),
            text(host),
            text(host.map(in_order).as_deref()),
            u8::from(self.as_recorded).to_string(),
        ];
        let columns =
            values.iter().zip(SCOPE_COLUMNS).map(|(value, column)| format!("{value} AS {column}"));
        let columns: Vec<String> = columns.collect();
        format!("CREATE TEMP VIEW {SCOPE_RELATION} AS\nSELECT {}", columns.join(", "))
    }
}

/// A name whose numbers have leading zeros, so that `node9` comes before `node10`.
fn in_order(name: &str) -> String {
    let mut padded = String::with_capacity(name.len());
    for part in name.split_inclusive(|c: char| !c.is_ascii_digit()) {
        let digits = part.trim_end_matches(|c: char| !c.is_ascii_digit());
        if !digits.is_empty() {
            padded.push_str(&format!("{digits:0>12}"));
        }
        padded.push_str(&part[digits.len()..]);
    }
    padded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_names_sort_by_value() {
        let mut names = ["node10", "node9", "r1t03", "node", "r1t01", "7", "node9-a"];
        names.sort_by_key(|name| in_order(name));
        assert_eq!(names, ["7", "node", "node9", "node9-a", "node10", "r1t01", "r1t03"]);
        assert_eq!(in_order("n1é2"), "n000000000001é000000000002");
    }

    fn columns() -> ScopeColumns {
        ScopeColumns {
            time: Some(("start_ns".to_owned(), "end_ns".to_owned())),
            device: Some("device_id".to_owned()),
            ..ScopeColumns::default()
        }
    }

    #[test]
    fn the_default_scope_has_no_condition() {
        assert_eq!(Scope::default().condition(&columns()), None);
    }

    #[test]
    fn a_scope_becomes_a_condition_on_the_listed_columns() {
        let scope =
            Scope { start_ns: Some(5), end_ns: Some(9), devices: vec![0, 1], ..Scope::default() };
        assert_eq!(
            scope.condition(&columns()).unwrap(),
            "(end_ns > 5 OR start_ns >= 5)\n  AND start_ns < 9\n  AND device_id IN (0, 1)"
        );
    }

    #[test]
    fn a_gpu_is_the_devices_of_its_processes() {
        let device = |pid, device_id| ProcessDevice { pid, device_id };
        let scope = |gpu_devices| Scope { gpus: vec![1], gpu_devices, ..Scope::default() };
        let by_process = ScopeColumns { process: Some("pid".to_owned()), ..columns() };
        let two = scope(vec![device(Some(7), 0), device(None, 1)]);
        let both = "(pid = 7 AND device_id = 0 OR pid IS NULL AND device_id = 1)";
        assert_eq!(two.condition(&by_process).unwrap(), both);
        assert_eq!(two.condition(&columns()).unwrap(), "(device_id = 0 OR device_id = 1)");
        assert_eq!(scope(Vec::new()).condition(&by_process).unwrap(), "0");
        // Samples of hardware metrics have the number itself.
        let sampled = ScopeColumns { gpu: Some("gpu_id".to_owned()), ..ScopeColumns::default() };
        assert_eq!(two.condition(&sampled).unwrap(), "gpu_id IN (1)");
        assert!(two.notes("gpu_metric", &sampled).is_empty());
        assert!(two.has_gpu_of(Some(7), Some(0)) && !two.has_gpu_of(Some(8), Some(0)));
        assert!(Scope::default().has_gpu_of(Some(8), Some(0)));
    }

    #[test]
    fn ignored_options_are_reported() {
        let scope = Scope { streams: vec![7], ..Scope::default() };
        assert_eq!(
            scope.notes("cuda_call", &columns()),
            ["--stream does not apply to cuda_call: all its rows are shown"]
        );
        assert!(scope.notes("string", &ScopeColumns::default()).is_empty());
    }
}
