//! `--filter-time` and `--filter-nvtx`, and the arguments `start=`, `end=` and `nvtx=` that nsys derives from both.

use super::args::DropInArgs;
use super::instant::nsys_time;
use crate::cli::options::unlimited;
use nsq_ask::open_report::OpenReport;
use nsq_engine::compile::{Invocation, Plan};
use nsq_engine::normalize::Scope;
use nsq_library::catalog::Catalog;
use nsq_report::report::Report;
use nsq_value::error::{Error, Result};
use nsq_value::table::Value;

/// Names the option in the error about a range that is not in a report.
pub(super) const FILTER_NVTX: &str = "--filter-nvtx";

/// What nsys writes for an open start and an open end.
const OPEN: (i64, i64) = (i64::MIN, i64::MAX);

/// The filter options as arguments of a report. A range replaces a time, as in nsys.
pub(super) fn words(args: &DropInArgs) -> Result<Vec<String>> {
    if let Some(range) = &args.filter_nvtx {
        return Ok(vec![format!("nvtx={range}")]);
    }
    let Some(text) = &args.filter_time else { return Ok(Vec::new()) };
    let malformed = || {
        Error::usage(
            format!("invalid time range `{text}`"),
            "write --filter-time A/B, such as 1s/2s, 1s500ms/ or /1e9",
        )
    };
    let (from, to) = text.split_once('/').ok_or_else(malformed)?;
    let instant = |text: &str| match text {
        "" => Ok(None),
        text => nsys_time(text).map(Some).ok_or_else(malformed),
    };
    let (from, to) = (instant(from)?, instant(to)?);
    if from.is_none() && to.is_none() || from.zip(to).is_some_and(|(from, to)| from > to) {
        return Err(malformed());
    }
    let (from, to) = (from.unwrap_or(OPEN.0), to.unwrap_or(OPEN.1));
    Ok(vec![format!("start={from}"), format!("end={to}")])
}

/// The part of a report that a filter keeps, as a user spells it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Filter {
    start_ns: Option<i64>,
    end_ns: Option<i64>,
    range: Option<RangeName>,
}

/// An NVTX range: `NAME[@DOMAIN][/INDEX]`.
#[derive(Debug, PartialEq, Eq)]
struct RangeName {
    /// As the user spelled it.
    spelled: String,
    name: String,
    domain: Option<String>,
    index: i64,
}

impl RangeName {
    fn parse(text: &str) -> Self {
        let (named, index) = match text.rsplit_once('/') {
            Some((named, digits)) if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
                (named, digits.parse().ok())
            }
            _ => (text, None),
        };
        let (named, index) = index.map_or((text, 0), |index| (named, index));
        let (name, domain) = match named.rsplit_once('@') {
            Some((name, domain)) => (name, Some(domain.to_owned())),
            None => (named, None),
        };
        Self { spelled: text.to_owned(), name: name.to_owned(), domain, index }
    }
}

impl Filter {
    /// Takes the filter out of the arguments of a report.
    pub(super) fn take(invocation: &Invocation) -> Result<(Invocation, Self)> {
        let (mut rest, mut filter) =
            (Invocation { args: Vec::new(), ..invocation.clone() }, Self::default());
        for word in &invocation.args {
            let instant = |text: &str| {
                text.parse::<i64>().map(Some).map_err(|_| {
                    Error::usage(
                        format!("invalid argument '{word}': expected a number of nanoseconds"),
                        "write start=1000000000, or use --filter-time 1s/",
                    )
                })
            };
            match word.split_once('=') {
                Some(("start", text)) => filter.start_ns = instant(text)?,
                Some(("end", text)) => filter.end_ns = instant(text)?,
                Some(("nvtx", text)) => filter.range = Some(RangeName::parse(text)),
                _ => rest.args.push(word.clone()),
            }
        }
        Ok((rest, filter))
    }

    /// The scope of the filter in a report. For a range it is the time, and the thread of events on the CPU. The
    /// main thread of a process stands for all its threads.
    pub(super) fn scope(&self, catalog: &Catalog, open: &OpenReport) -> Result<Scope> {
        let mut scope = Scope {
            start_ns: self.start_ns.filter(|start| *start != OPEN.0),
            end_ns: self.end_ns.filter(|end| *end != OPEN.1),
            touches_start: true,
            ..Scope::default()
        };
        let Some(range) = &self.range else { return Ok(scope) };
        let mut plan = Plan::ad_hoc(
            "SELECT start_ns, end_ns, pid, tid, global_tid
FROM all_nvtx_range
WHERE range_text = :name AND CASE WHEN :domain IS NULL THEN coalesce(domain_id, 0) = 0 ELSE domain_name = :domain END
ORDER BY start_ns, range_id
LIMIT 1 OFFSET :index",
            (FILTER_NVTX.to_owned(), 1),
            catalog,
        );
        let domain = range.domain.clone().map_or(Value::Null, Value::Text);
        plan.bindings = vec![
            ("name".to_owned(), Value::Text(range.name.clone())),
            ("domain".to_owned(), domain),
            ("index".to_owned(), Value::Int(range.index)),
        ];
        let plans = std::slice::from_ref(&plan);
        let (mut found, _) = open.answers(catalog, &Scope::default(), plans, &unlimited())?;
        let found = found.pop().unwrap_or_default();
        let whole = |index: usize| match found.rows.first().and_then(|row| row.get(index)) {
            Some(Value::Int(int)) => Some(*int),
            _ => None,
        };
        if found.rows.is_empty() {
            return Err(self.not_found(range, &open.report));
        }
        scope.start_ns = scope.start_ns.or(whole(0));
        scope.end_ns = scope.end_ns.or(whole(1));
        scope.processes = whole(2).into_iter().collect();
        if whole(2) != whole(3) {
            scope.threads = whole(4).into_iter().collect();
        }
        Ok(scope)
    }

    fn not_found(&self, range: &RangeName, report: &Report) -> Error {
        Error::LacksData {
            query: FILTER_NVTX.to_owned(),
            needs: format!("NVTX range '{}'", range.spelled),
            report: report.path.clone(),
            detail: String::new(),
            help: "`nsq run REPORT --query range_names` lists the ranges; name the domain of a range that has one"
                .to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_is_a_number_after_the_last_slash() {
        let parts = |text: &str| {
            let range = RangeName::parse(text);
            (range.name, range.domain, range.index)
        };
        assert_eq!(parts("step"), ("step".to_owned(), None, 0));
        assert_eq!(parts("a/b@NCCL/2"), ("a/b".to_owned(), Some("NCCL".to_owned()), 2));
        assert_eq!(parts("a/b"), ("a/b".to_owned(), None, 0));
    }

    #[test]
    fn filters_are_taken_out_of_the_arguments() {
        let (rest, filter) = Filter::take(&Invocation::parse("gpu_gaps:start=5:rows=2:nvtx=x")).unwrap();
        assert_eq!(rest.args, ["rows=2"]);
        assert_eq!((filter.start_ns, filter.end_ns), (Some(5), None));
        assert_eq!(filter.range.map(|range| range.name), Some("x".to_owned()));
        assert!(Filter::take(&Invocation::parse("gpu_gaps:start=1s")).is_err());
    }
}
