//! The arguments of the tools. Their documentation is what a client reads.

use crate::failure::Failure;
use nsq::{Attribute, Scope};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value as Json};

/// One name or several.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Names {
    One(String),
    Several(Vec<String>),
}

impl Names {
    pub(crate) fn list(&self) -> Vec<&str> {
        match self {
            Self::One(name) => vec![name],
            Self::Several(names) => names.iter().map(String::as_str).collect(),
        }
    }
}

/// Part of the report. Default: all.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, expecting = "an object, such as {\"iterations\": [\"step/3\"]}")]
pub(crate) struct ScopeArgs {
    /// Events in this time since the start: `1.5s/2s`, `12ms/`, `10%/20%`.
    time: Option<String>,
    /// Only steps after the warm-up.
    steady: bool,
    /// GPU numbers of answers.
    #[serde(deserialize_with = "listed")]
    gpus: Vec<i64>,
    /// CUDA device ordinals.
    #[serde(deserialize_with = "listed")]
    devices: Vec<i64>,
    /// CUDA stream IDs.
    #[serde(deserialize_with = "listed")]
    streams: Vec<i64>,
    /// Process IDs.
    #[serde(deserialize_with = "listed")]
    processes: Vec<i64>,
    /// Only these threads: names or IDs.
    #[serde(deserialize_with = "listed")]
    threads: Vec<String>,
    /// Only these NVTX ranges: `NAME[@DOMAIN][/INDEX]`, with `*` and `?`.
    #[serde(deserialize_with = "listed")]
    nvtx: Vec<String>,
    /// Iterations: `step/3`, `step/2..5`, from 0 per thread.
    #[serde(deserialize_with = "listed")]
    iterations: Vec<String>,
    /// Without these NVTX ranges.
    #[serde(deserialize_with = "listed")]
    exclude: Vec<String>,
    /// Only in the time of these NVTX ranges.
    #[serde(deserialize_with = "listed")]
    windows: Vec<String>,
    /// Launches of a range: of its thread or process, or all in its time.
    attribute: Option<AttributeArg>,
}

/// A list, or the only item of one: models leave the brackets out.
fn listed<'de, D: Deserializer<'de>, T: Deserialize<'de>>(given: D) -> Result<Vec<T>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "expected a list")]
    enum Listed<T> {
        One(T),
        Several(Vec<T>),
    }
    Ok(match Listed::deserialize(given)? {
        Listed::One(item) => vec![item],
        Listed::Several(items) => items,
    })
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum AttributeArg {
    Thread,
    Process,
    Capture,
}

impl ScopeArgs {
    pub(crate) fn scope(&self) -> Scope {
        Scope {
            time: self.time.clone(),
            steady: self.steady,
            gpus: self.gpus.clone(),
            devices: self.devices.clone(),
            streams: self.streams.clone(),
            processes: self.processes.clone(),
            threads: self.threads.clone(),
            nvtx: self.nvtx.clone(),
            iterations: self.iterations.clone(),
            exclude: self.exclude.clone(),
            windows: self.windows.clone(),
            attribute: self.attribute.map(|attribute| match attribute {
                AttributeArg::Thread => Attribute::Thread,
                AttributeArg::Process => Attribute::Process,
                AttributeArg::Capture => Attribute::Capture,
            }),
            ..Scope::default()
        }
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListReports {
    /// Only reports whose name contains this text, such as a folder.
    pub(crate) contains: Option<String>,
    /// Most reports to list. Default 50.
    pub(crate) limit: Option<usize>,
    /// First report to list, from 0.
    #[serde(default)]
    pub(crate) offset: usize,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Overview {
    /// Name of the report, from list_reports.
    pub(crate) report: String,
    /// Part of the report, such as one iteration.
    #[serde(default)]
    pub(crate) scope: ScopeArgs,
    /// Most kernels and findings to show. Default 5.
    pub(crate) top: Option<u16>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListQueries {
    /// Words of a question, such as `why is the gpu idle`. Without it, the names of all queries are listed.
    pub(crate) about: Option<String>,
    /// Only queries that this report has the data for.
    pub(crate) report: Option<String>,
    /// Most queries to list with their summaries. Default 12.
    pub(crate) limit: Option<usize>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Describe {
    /// Name of a query, or of a relation for run_sql, such as `kernel`.
    pub(crate) name: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunQuery {
    /// Name of the report, or of several: then the first column says which.
    pub(crate) report: Names,
    /// Name of the query, from list_queries.
    pub(crate) query: String,
    /// Parameters of the query by name, as `describe` lists them: numbers, texts, true, false or lists.
    /// Durations are nanoseconds or texts such as `1.5ms`.
    #[serde(default)]
    pub(crate) params: Map<String, Json>,
    /// Part of the report.
    #[serde(default)]
    pub(crate) scope: ScopeArgs,
    /// Columns to show. Default: all.
    #[serde(default)]
    pub(crate) columns: Vec<String>,
    /// Rows with the largest values in this column first. Default: the order of the query.
    pub(crate) largest_by: Option<String>,
    /// Most rows. Default 20.
    pub(crate) limit: Option<usize>,
    /// First row, from 0: next_offset of the answer before.
    #[serde(default)]
    pub(crate) offset: usize,
    /// Do not shorten long names.
    #[serde(default)]
    pub(crate) whole_text: bool,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunSql {
    /// Name of the report.
    pub(crate) report: String,
    /// One SELECT statement of SQLite. list_queries names the relations, describe their columns.
    pub(crate) sql: String,
    /// Part of the report.
    #[serde(default)]
    pub(crate) scope: ScopeArgs,
    /// Most rows. Default 20.
    pub(crate) limit: Option<usize>,
    /// First row, from 0. Give the statement an ORDER BY, so that pages fit together.
    #[serde(default)]
    pub(crate) offset: usize,
    /// Do not shorten long texts.
    #[serde(default)]
    pub(crate) whole_text: bool,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Diff {
    /// The report before, or several runs of it.
    pub(crate) before: Names,
    /// The report after, or several runs of it.
    pub(crate) after: Names,
    /// Name of the NVTX ranges that are the iterations, such as `step *`. Default: nsq finds them.
    pub(crate) iterations: Option<String>,
    /// Iterations of each thread to leave out as warm-up.
    pub(crate) skip: Option<u32>,
    /// Only these sections: total, kernels, classes, layers, nccl, memory, api.
    #[serde(default)]
    pub(crate) sections: Vec<String>,
    /// Most rows of each section. Default 5.
    pub(crate) top: Option<usize>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Answer {
    /// Name of the report, or of two for questions that compare.
    pub(crate) report: Names,
    /// Name of the playbook. Default cs336: forward and backward passes, their kernels and their cost.
    pub(crate) playbook: Option<String>,
    /// Only these parts, such as `a`.
    #[serde(default)]
    pub(crate) parts: Vec<String>,
    /// Parameters of the playbook, and names of your own ranges for its patterns: `{"forward": "fwd *"}`.
    #[serde(default)]
    pub(crate) params: Map<String, Json>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Explain {
    /// Name of the report.
    pub(crate) report: String,
    /// The query that the figure is from.
    pub(crate) query: String,
    /// Parameters, as the figure was asked with.
    #[serde(default)]
    pub(crate) params: Map<String, Json>,
    /// Part of the report, as the figure was asked with.
    #[serde(default)]
    pub(crate) scope: ScopeArgs,
    /// The column of the figure.
    pub(crate) column: Option<String>,
    /// The row of the figure, from 0.
    #[serde(default)]
    pub(crate) row: usize,
}

/// The parameters of a query as texts, as on the command line.
pub(crate) fn texts(params: &Map<String, Json>) -> Result<Vec<(&str, String)>, Failure> {
    let text = |(name, value): (&String, &Json)| match value {
        Json::String(text) => Ok(text.clone()),
        Json::Number(_) | Json::Bool(_) | Json::Array(_) => Ok(value.to_string()),
        Json::Null | Json::Object(_) => Err(Failure::new(
            format!("invalid value for parameter {}: {value}", crate::roots::quoted(name)),
            "give a number, a text, true, false or a list; leave the parameter out for its default",
        )),
    };
    params.iter().map(|entry| Ok((entry.0.as_str(), text(entry)?))).collect()
}
