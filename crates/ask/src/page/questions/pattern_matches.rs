//! What is found of a pattern in a report: ranges, or why there are none.

use std::fmt;

/// A range name in a report, with statistics of its ranges.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct RangeName {
    /// The printed name: `domain:text`, or only the text in the default domain.
    pub(super) name: String,
    /// The text without the domain.
    pub(super) text: String,
    /// The name with its numbers folded to `*`.
    pub(super) layer: String,
    /// Number of ranges with this name.
    pub(super) count: i64,
    /// Total CPU time of these ranges in ns.
    pub(super) cpu_ns: i64,
    /// Smallest nesting depth of these ranges.
    pub(super) depth: i64,
}

/// The ranges of a report that match a pattern.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Found {
    /// Globs that match exactly these ranges, for `--nvtx` and for query parameters.
    pub(super) globs: Vec<String>,
    /// Folded names with their number of ranges, largest number first.
    pub(super) layers: Vec<(String, i64)>,
}

impl Found {
    /// Total number of ranges.
    pub(super) fn count(&self) -> i64 {
        self.layers.iter().map(|(_, count)| count).sum()
    }

    pub(super) fn join(&mut self, other: Self) {
        for glob in other.globs {
            if !self.globs.contains(&glob) {
                self.globs.push(glob);
            }
        }
        self.layers.extend(other.layers);
    }
}

/// Why no range of a report matches a pattern.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Missing {
    /// Name of the pattern.
    pub(super) pattern: String,
    /// What such a range is, such as `forward pass`.
    pub(super) doc: String,
    /// The names and patterns that were tried.
    pub(super) tried: Vec<String>,
    /// Names with a similar spelling, most similar first.
    pub(super) near: Vec<String>,
    /// Other names in the report with their number of ranges, outermost and longest first.
    pub(super) present: Vec<(String, i64)>,
    /// Number of other names that `present` leaves out.
    pub(super) more: usize,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let quoted = |name: &String| format!("`{}`", name.replace('`', "'"));
        let list = |names: &[String]| names.iter().map(quoted).collect::<Vec<_>>().join(", ");
        write!(f, "no NVTX range matches pattern '{}' ({}). ", self.pattern, self.doc)?;
        write!(f, "Tried: {}. ", list(&self.tried))?;
        let counted: Vec<String> =
            self.present.iter().map(|(name, count)| format!("{} ({count})", quoted(name))).collect();
        match (self.near.as_slice(), counted.as_slice()) {
            ([], []) => return f.write_str("This report has no NVTX ranges"),
            ([], _) => write!(f, "No similar name. Ranges in this report: {}", counted.join(", "))?,
            (near, []) => write!(f, "Similar names: {}", list(near))?,
            (near, _) => {
                write!(f, "Similar names: {}. Other ranges: {}", list(near), counted.join(", "))?;
            }
        }
        if self.more > 0 {
            write!(f, " and {} more", self.more)?;
        }
        write!(f, ". To choose one: -p {}='NAME'", self.pattern)
    }
}
