//! The part of a report that is looked at: `--time`, `--device`, `--stream`, `--process`, `--nvtx`.
//!
//! A scope is a condition on the columns that a relation names in its front matter. It holds
//! nothing but integers, so it can stand in the text of a view (which takes no parameters). What
//! NVTX ranges select is not told by columns: there the condition calls a function of nsq's.

use crate::catalog::ScopeColumns;
use serde::Serialize;

/// The relation that tells a query the window it is asked about.
pub(super) const RELATION: &str = "scope";

/// In the condition of a GPU operation: its launch lies in a selected range and in no excluded one.
pub const SELECTS_OP: &str = "nvtx_selects_op";
/// In the condition of what happens on a thread: it lies in a selected range and in no excluded one.
pub const SELECTS_CALL: &str = "nvtx_selects";
/// In the condition of whatever has a time: it overlaps a range that is a window.
pub const IN_WINDOW: &str = "nvtx_in_window";

/// Ranges of one name: `NAME[@DOMAIN][/INDEX]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Selector {
    /// Glob over the range's name or its text; where nothing is called so, its text without the number at its end.
    pub name: String,
    /// All of it as it was typed: where a range is called just so, that one is meant.
    #[serde(skip)]
    pub spelled: String,
    /// Glob over the name of the domain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub domain: Option<String>,
    /// First and last instance in order of time, from 0; absent: all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instances: Option<(usize, usize)>,
    /// Instances are counted on each thread, not over all of them.
    #[serde(skip_serializing_if = "is_default")]
    pub by_thread: bool,
}

/// Whose launches an NVTX range holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Attribute {
    /// Those of its own thread, as NVIDIA has it.
    #[default]
    Thread,
    /// Those of every thread of its process while it is open.
    Process,
    /// As by thread; a node of a CUDA graph belongs to the ranges that were open at its creation.
    Capture,
}

impl Attribute {
    /// The word for it on the command line and in results.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Thread => "thread",
            Self::Process => "process",
            Self::Capture => "capture",
        }
    }
}

/// What is looked at; empty lists and open ends leave everything in.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Scope {
    /// Start of the window in ns on the report's clock; events that end before it are out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_ns: Option<i64>,
    /// End of the window in ns on the report's clock; events that start at or after it are out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_ns: Option<i64>,
    /// CUDA device ordinals.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub devices: Vec<i64>,
    /// CUDA stream ids.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub streams: Vec<i64>,
    /// Process ids.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub processes: Vec<i64>,
    /// Only what was launched, or happened, in these NVTX ranges.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nvtx: Vec<Selector>,
    /// And only what was launched, or happened, in these.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub iterations: Vec<Selector>,
    /// Nothing that was launched, or happened, in these NVTX ranges.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub exclude: Vec<Selector>,
    /// Only what overlaps these NVTX ranges in time, on whatever thread or device.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub windows: Vec<Selector>,
    /// Whose launches an NVTX range holds: no filter, but a way to look.
    #[serde(skip_serializing_if = "is_default")]
    pub attribute: Attribute,
    /// Names of ranges stay as they are: numbers in paths are not folded.
    #[serde(skip_serializing_if = "is_default")]
    pub keep_names: bool,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl Scope {
    /// The same way to look, at everything.
    pub fn unfiltered(&self) -> Self {
        Self { attribute: self.attribute, keep_names: self.keep_names, ..Self::default() }
    }

    /// The same without what NVTX ranges select.
    pub fn without_ranges(&self) -> Self {
        Self {
            nvtx: Vec::new(),
            iterations: Vec::new(),
            exclude: Vec::new(),
            windows: Vec::new(),
            ..self.clone()
        }
    }

    /// NVTX ranges select.
    pub fn selects_ranges(&self) -> bool {
        self.selects_launches() || !self.windows.is_empty()
    }

    /// NVTX ranges select by launch.
    pub fn selects_launches(&self) -> bool {
        !(self.nvtx.is_empty() && self.iterations.is_empty() && self.exclude.is_empty())
    }

    /// Nothing is left out.
    pub fn is_whole(&self) -> bool {
        *self == Self::default()
    }

    /// The condition for a relation with these columns; `None`: every row is in.
    pub(super) fn condition(&self, columns: &ScopeColumns) -> Option<String> {
        let mut conditions = Vec::new();
        if let Some((start, end)) = &columns.time {
            // Half-open; an event without length is in when it lies inside.
            if let Some(from) = self.start_ns {
                conditions.push(format!("({end} > {from} OR {start} >= {from})"));
            }
            if let Some(to) = self.end_ns {
                conditions.push(format!("{start} < {to}"));
            }
        }
        for (column, ids) in [
            (&columns.device, &self.devices),
            (&columns.stream, &self.streams),
            (&columns.process, &self.processes),
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

    /// What of the scope a relation with these columns cannot follow.
    pub(super) fn notes(&self, relation: &str, columns: &ScopeColumns) -> Vec<String> {
        let unset = ScopeColumns::default();
        if columns.time == unset.time
            && columns.device == unset.device
            && columns.stream == unset.stream
            && columns.process == unset.process
            && columns.op == unset.op
            && columns.thread == unset.thread
        {
            // A look-up table: leaving it whole is what everyone expects.
            return Vec::new();
        }
        [
            ("--time", columns.time.is_some(), self.start_ns.is_some() || self.end_ns.is_some()),
            ("--device", columns.device.is_some(), !self.devices.is_empty()),
            ("--stream", columns.stream.is_some(), !self.streams.is_empty()),
            ("--process", columns.process.is_some(), !self.processes.is_empty()),
            (
                "the choice of NVTX ranges",
                columns.op.is_some() || columns.thread.is_some(),
                self.selects_launches(),
            ),
            ("--window", columns.time.is_some(), !self.windows.is_empty()),
        ]
        .into_iter()
        .filter(|(_, followed, asked)| *asked && !followed)
        .map(|(option, ..)| format!("{option} does not apply to {relation}: all of it is shown"))
        .collect()
    }

    /// The one-row relation `scope`.
    pub(super) fn definition(&self) -> String {
        let literal = |value: Option<i64>| value.map_or("NULL".to_owned(), |v| v.to_string());
        format!(
            "CREATE TEMP VIEW {RELATION} AS\nSELECT {} AS start_ns, {} AS end_ns, '{}' AS attribution",
            literal(self.start_ns),
            literal(self.end_ns),
            self.attribute.as_str()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns() -> ScopeColumns {
        ScopeColumns {
            time: Some(("start_ns".to_owned(), "end_ns".to_owned())),
            device: Some("device_id".to_owned()),
            ..ScopeColumns::default()
        }
    }

    #[test]
    fn an_open_scope_adds_nothing() {
        assert_eq!(Scope::default().condition(&columns()), None);
    }

    #[test]
    fn a_scope_is_a_condition_on_the_named_columns() {
        let scope =
            Scope { start_ns: Some(5), end_ns: Some(9), devices: vec![0, 1], ..Scope::default() };
        assert_eq!(
            scope.condition(&columns()).unwrap(),
            "(end_ns > 5 OR start_ns >= 5)\n  AND start_ns < 9\n  AND device_id IN (0, 1)"
        );
    }

    #[test]
    fn what_cannot_be_followed_is_said() {
        let scope = Scope { streams: vec![7], ..Scope::default() };
        assert_eq!(
            scope.notes("cuda_call", &columns()),
            ["--stream does not apply to cuda_call: all of it is shown"]
        );
        assert!(scope.notes("string", &ScopeColumns::default()).is_empty());
    }
}
