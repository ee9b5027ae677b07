//! The part of a report that is looked at: `--time`, `--device`, `--stream`, `--process`.
//!
//! A scope is a condition on the columns that a relation names in its front matter. It holds
//! nothing but integers, so it can stand in the text of a view (which takes no parameters).

use crate::catalog::ScopeColumns;
use serde::Serialize;

/// The relation that tells a query the window it is asked about.
pub(super) const RELATION: &str = "scope";

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
}

impl Scope {
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
        (!conditions.is_empty()).then(|| conditions.join("\n  AND "))
    }

    /// What of the scope a relation with these columns cannot follow.
    pub(super) fn notes(&self, relation: &str, columns: &ScopeColumns) -> Vec<String> {
        let unset = ScopeColumns::default();
        if columns.time == unset.time
            && columns.device == unset.device
            && columns.stream == unset.stream
            && columns.process == unset.process
        {
            // A look-up table: leaving it whole is what everyone expects.
            return Vec::new();
        }
        [
            ("--time", columns.time.is_some(), self.start_ns.is_some() || self.end_ns.is_some()),
            ("--device", columns.device.is_some(), !self.devices.is_empty()),
            ("--stream", columns.stream.is_some(), !self.streams.is_empty()),
            ("--process", columns.process.is_some(), !self.processes.is_empty()),
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
            "CREATE TEMP VIEW {RELATION} AS\nSELECT {} AS start_ns, {} AS end_ns",
            literal(self.start_ns),
            literal(self.end_ns)
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
