//! Scopes that name steps: `--steady`, and `--iter step 3` in a report whose steps no range marks.

use crate::open_report::OpenReport;
use nsq_engine::compile::{Invocation, Layout, Plan};
use nsq_engine::execute::Limits;
use nsq_engine::normalize::{Presence, Scope, Selector};
use nsq_library::catalog::Catalog;
use nsq_value::error::{Error, Result};
use nsq_value::table::{ResultTable, Value};

/// The query that knows the window of steps.
const STEP_SCOPE: &str = "step_scope";
/// What `--iter` calls steps that no range marks, and the steps of one of several steady states.
const STEP: &str = "step";
const STATE: &str = "state";
/// Steps that cover this share of the GPU's time, in percent, are the whole capture. If the GPU's time covers less of the
/// steps, they begin before it.
const WHOLE_PCT: i64 = 95;

/// Some steps, from the end of the work before them to their own end.
struct Steps {
    window: Option<(i64, i64)>,
    /// From the first to the last operation of the report.
    whole: Option<(i64, i64)>,
    count: i64,
    all: i64,
    are_marked: bool,
    /// Without steps, from when on the report shows what was launched in it, and what was before.
    rest: Option<(i64, String)>,
}

impl Steps {
    /// From the row of `step_scope`.
    fn of(table: &ResultTable) -> Self {
        let cell = |name: &str| {
            let place = table.columns.iter().position(|column| column.name == name)?;
            table.rows.first()?.get(place)
        };
        let int = |name: &str| match cell(name) {
            Some(Value::Int(int)) => Some(*int),
            _ => None,
        };
        let after = match cell("rest_after") {
            Some(Value::Text(after)) => Some(after.clone()),
            _ => None,
        };
        Self {
            window: int("start_ns").zip(int("end_ns")).filter(|(start, end)| start < end),
            whole: int("gpu_start_ns").zip(int("gpu_end_ns")),
            count: int("step_count").unwrap_or_default(),
            all: int("all_count").unwrap_or_default(),
            are_marked: matches!(cell("found"), Some(Value::Text(found)) if found == "marked"),
            rest: int("rest_start_ns").zip(after),
        }
    }

    /// Such as `3 of 4 steps, found by repetition`.
    fn text(&self) -> String {
        let how = if self.are_marked { "marked by ranges" } else { "found by repetition" };
        match self.all {
            1 => "the only step, marked by a range".to_owned(),
            all => format!("{} of {all} steps, {how}", self.count),
        }
    }
}

impl OpenReport {
    /// The scope with the window of the steps that it names, and a note about them.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] if the scope is the steady state, and the report has no steps.
    pub fn of_steps(
        &self,
        catalog: &Catalog,
        scope: &Scope,
        limits: &Limits,
    ) -> Result<(Scope, Option<String>)> {
        let mut plain = Scope { steady: false, ..scope.clone() };
        if let [Selector { name, domain: None, instances, .. }] = scope.iterations.as_slice()
            && name == STEP
        {
            let whole = Scope { iterations: Vec::new(), ..plain.clone() };
            let (first, last) = instances.unwrap_or((0, i64::MAX as usize));
            let numbers = [format!("first={first}"), format!("last={last}")];
            let steps = self.steps(catalog, &whole, &numbers, limits)?;
            if let Some((window, false)) =
                steps.and_then(|steps| steps.window.zip(Some(steps.are_marked)))
            {
                plain = within(whole, window);
            }
        }
        if let Some(iteration_name) = state_of(&plain.iterations) {
            let iteration_name = Some(iteration_name);
            let whole = Scope { iterations: Vec::new(), iteration_name, ..plain.clone() };
            let steps = self.steps(catalog, &whole, &["first=0".to_owned()], limits)?;
            if let Some((window, false)) =
                steps.and_then(|steps| steps.window.zip(Some(steps.are_marked)))
            {
                return Ok((within(whole, window), None));
            }
        }
        // The ranges that the user calls iterations are the steps of all queries.
        if let ([named], None) = (plain.iterations.as_slice(), &plain.iteration_name) {
            plain.iteration_name = Some(named.range_name());
        }
        if !scope.steady {
            return Ok((plain, None));
        }
        if let Some((whole, chosen)) = named_steps(scope)
            && let Some(steps) = self.steps(catalog, &whole, &chosen, limits)?
            && let Some(window) = steps.window
        {
            return Ok((within(whole, window), Some(format!("steady state: {}", steps.text()))));
        }
        let steps = self.steps(catalog, &plain, &[], limits)?;
        match steps.and_then(|steps| Some((steps.window?, steps.text()))) {
            Some((window, text)) => Ok((within(plain, window), Some(format!("steady state: {text}")))),
            None => Err(Error::usage(
                "--steady needs steps: no NVTX range marks them, and no sequence of launches repeats",
                "leave it out; `--query capture_phases` says what the report has",
            )),
        }
    }

    /// The plan of the query that knows the window of steps, by default those after the warm-up; `None` if the report lacks
    /// its data.
    pub(crate) fn plan_of_steps(&self, catalog: &Catalog, params: &[String]) -> Result<Option<Plan>> {
        let invocation = Invocation::parse(STEP_SCOPE).with_params(params)?;
        let plan = Plan::new(catalog, &invocation, &Layout::Own)?;
        match plan.check_presence(&Presence::new(&self.schema, catalog), &self.report.path) {
            Ok(()) => Ok(Some(plan)),
            Err(Error::LacksData { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn steps(
        &self,
        catalog: &Catalog,
        scope: &Scope,
        params: &[String],
        limits: &Limits,
    ) -> Result<Option<Steps>> {
        let Some(plan) = self.plan_of_steps(catalog, params)? else { return Ok(None) };
        let (tables, _) = self.answers(catalog, scope, &[plan], limits)?;
        Ok(tables.first().map(Steps::of))
    }
}

/// The name of the steady state that a selection names: `state 0`, also as a name and a number.
fn state_of(selected: &[Selector]) -> Option<String> {
    let [Selector { name, domain: None, instances, .. }] = selected else { return None };
    let number: usize = match instances {
        Some((first, last)) if first == last && name == STATE => *first,
        Some(_) => return None,
        None => name.strip_prefix(STATE)?.trim_start().parse().ok()?,
    };
    Some(format!("{STATE} {number}"))
}

/// If the scope is the ranges that the user calls iterations, and nothing else: the scope without them, in which they are
/// the steps, and the numbers of those that are chosen, for [`OpenReport::plan_of_steps`].
pub(crate) fn named_steps(scope: &Scope) -> Option<(Scope, Vec<String>)> {
    let [named] = scope.iterations.as_slice() else { return None };
    let iteration_name = Some(named.range_name());
    let whole = Scope { steady: false, iterations: Vec::new(), iteration_name, ..scope.clone() };
    let chosen = |(first, last): (usize, usize)| vec![format!("first={first}"), format!("last={last}")];
    (!whole.limits_time()).then(|| (whole, named.instances.map_or_else(Vec::new, chosen)))
}

/// The scope of the steps that a page judges, and how many they are, from the answer to [`OpenReport::plan_of_steps`].
/// Without steps, the time in which the report shows what was launched. `None`: that is all, or hardly less. `are_named`: the
/// user named the steps, so that nothing else is judged.
pub(crate) fn judged_steps(
    answer: &ResultTable,
    scope: &Scope,
    are_named: bool,
) -> Option<(Scope, String)> {
    let steps = Steps::of(answer);
    if are_named {
        return steps.window.map(|window| (within(scope.clone(), window), steps.text()));
    }
    if let (None, Some((start, after)), Some((_, end))) = (steps.window, &steps.rest, steps.whole)
        && *start < end
    {
        return Some((within(scope.clone(), (*start, end)), format!("the time after {after}")));
    }
    let (window, whole) = (steps.window?, steps.whole?);
    let length = |(start, end): (i64, i64)| i128::from(end) - i128::from(start);
    let is_less = |one, other| 100 * length(one) < i128::from(WHOLE_PCT) * length(other);
    let differs = is_less(window, whole) || is_less(whole, window);
    // The only step is judged from its mark on.
    let is_judged = if steps.count > 1 { differs } else { steps.are_marked && steps.all == 1 };
    is_judged.then(|| (within(scope.clone(), window), steps.text()))
}

/// The part of a scope in a window.
fn within(scope: Scope, (start, end): (i64, i64)) -> Scope {
    Scope {
        is_of_steps: scope.start_ns.is_none() && scope.end_ns.is_none(),
        start_ns: scope.start_ns.max(Some(start)),
        end_ns: Some(scope.end_ns.map_or(end, |known| known.min(end))),
        ..scope
    }
}
