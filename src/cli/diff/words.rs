//! The verdict in sentences: did it get faster, where, by how much, and is the change more than noise?

use super::Facts;
use crate::comparison::{Comparison, Cost, Part, Per, Reason, Row, Section, Total, Verdict};
use crate::table::{Column, Type, Unit, Value, humanize};

/// Share of GPU time, in percent, that must be comparable for a pass to mean anything.
pub(super) const MIN_JUDGED_PCT: f64 = 50.0;

/// Number of rows that a sentence names.
const MAX_NAMED: usize = 3;
/// Longest name in a sentence, in characters.
const MAX_NAME_CHARS: usize = 72;
/// Length of the piece that tells a name from similar names, in characters.
const PIECE_CHARS: usize = 32;

/// The answers in order, each under a short heading.
pub(super) fn answers(comparison: &Comparison, facts: &Facts) -> Vec<(&'static str, String)> {
    let has_no_calls = |total: &Total| total.a.0 == 0 && total.b.0 == 0;
    if is_empty(comparison) && facts.is_idle && comparison.totals.iter().all(has_no_calls) {
        return vec![("faster?", "cannot tell: the scope has no work in either report".to_owned())];
    }
    if is_empty(comparison) {
        return vec![("faster?", "no difference: every figure is the same in both reports".to_owned())];
    }
    let window = comparison.rows.iter().find(|row| {
        row.part == Some(Part::Window) && comparison.per != Per::Report && row.cost.is_some()
    });
    let first = match window {
        Some(row) => verdict_per_iteration(row),
        None => verdict_per_call(comparison),
    };
    let mut answers = vec![("faster?", first)];
    answers.push(("compared", compared(facts)));
    answers.extend(largest_changes(comparison).map(|changes| ("where", changes)));
    answers.extend(amounts(comparison, window).into_iter().map(|amount| ("how much", amount)));
    answers.push(("real?", noise_caveat(facts)));
    answers.extend(lacking(comparison).map(|lacks| ("missing", lacks)));
    answers
}

/// Nothing differs, and both reports have the same sections.
pub(super) fn is_empty(comparison: &Comparison) -> bool {
    comparison.rows.is_empty() && comparison.lacking.is_empty()
}

fn verdict_per_iteration(row: &Row) -> String {
    let Some(cost) = row.cost else { return String::new() };
    let (a, b) = (mean(row.total_a_ns, row.calls_a), mean(row.total_b_ns, row.calls_b));
    let word = match row.verdict {
        Verdict::Faster => "yes, faster",
        Verdict::Slower => "no, slower",
        _ => "no difference beyond noise",
    };
    let on = match row.name() {
        "all GPUs" => "mean of all GPUs".to_owned(),
        name => format!("on {name}"),
    };
    format!("{word}: {a} → {b} per iteration, {on} ({})", relative(&cost))
}

/// Compares the cost of the same calls, of kernels and copies.
///
/// Without kernels and copies, the first section with a cost decides. Layers nest, so they have no total.
fn verdict_per_call(comparison: &Comparison) -> String {
    let total = |section: Section| {
        comparison.totals.iter().find(|total| total.section == section && total.cost.is_some())
    };
    let mut totals: Vec<&Total> =
        [Section::Kernels, Section::Memory].into_iter().filter_map(total).collect();
    if comparison.gpu_ns.iter().all(|ns| *ns == 0.0) {
        totals.extend([Section::Nccl, Section::Classes, Section::Api].into_iter().find_map(total));
    } else if totals.is_empty() {
        return "cannot tell: no kernel, copy or fill is comparable".to_owned();
    }
    let mut parts: Vec<(Verdict, &str, String)> = Vec::new();
    // Copies that take hardly any GPU time cannot decide the verdict.
    totals.retain(|total| !comparison.is_negligible(total));
    for total in totals {
        let Some((cost, verdict)) = &total.cost else { continue };
        let (change, base) = total.judged_ns;
        let what = match total.section {
            Section::Kernels | Section::Classes => "kernel calls",
            Section::Nccl => "communication kernels",
            Section::Memory => "copies and fills",
            Section::Api | Section::GpuTime | Section::Layers => "API calls",
        };
        let part = match cost.compared_pct {
            most if most >= 99.5 => String::new(),
            part => format!("; {} of their time is comparable", share(part)),
        };
        let figures = format!("{} on {} ({}{part})", signed(change), time(base), relative(cost));
        parts.push((*verdict, what, figures));
    }
    let undecided: Vec<String> = parts
        .iter()
        .filter(|(verdict, ..)| matches!(verdict, Verdict::CannotTell(_)))
        .map(|(_, what, figures)| format!("{what} in both reports: {figures}"))
        .collect();
    let do_different_work =
        parts.iter().any(|(verdict, ..)| *verdict == Verdict::CannotTell(Reason::OtherShapes));
    parts.retain(|(verdict, ..)| !matches!(verdict, Verdict::CannotTell(_)));
    if let Some(judged) = comparison.judged_pct().filter(|judged| *judged < MIN_JUDGED_PCT) {
        let why = match do_different_work {
            true => "the two reports do different work".to_owned(),
            false => format!("{} of GPU time is comparable", only(judged)),
        };
        return format!("cannot tell: {}", [vec![why], undecided].concat().join("; "));
    }
    if parts.is_empty() && !undecided.is_empty() {
        return format!("cannot tell: {}", undecided.join("; "));
    }
    let is = |wanted: Verdict| parts.iter().any(|(verdict, ..)| *verdict == wanted);
    let word = match (is(Verdict::Faster), is(Verdict::Slower)) {
        _ if parts.is_empty()
            && comparison.totals.iter().all(|total| total.section == Section::Layers) =>
        {
            return "cannot tell as a whole: layers nest, so they have no total".to_owned();
        }
        _ if parts.is_empty() => {
            return "cannot tell: nothing runs twice in both reports, so there is no spread to measure noise"
                .to_owned();
        }
        (true, true) => "yes and no",
        (true, false) => "yes, faster per call",
        (false, true) => "no, slower per call",
        (false, false) => "no difference beyond noise",
    };
    // The parts that decided the verdict come first.
    parts.sort_by_key(|(verdict, ..)| !verdict.is_real());
    let is_mixed = parts.iter().any(|(verdict, ..)| *verdict != parts[0].0);
    let parts: Vec<String> = parts
        .into_iter()
        .map(|(verdict, what, figures)| match is_mixed {
            true => format!("{what} are {}, {figures}", verdict.as_str()),
            false => format!("the same {what} changed by {figures}"),
        })
        .collect();
    format!("{word}: {}", parts.join("; "))
}

fn compared(facts: &Facts) -> String {
    match &facts.iterations {
        Ok((label, a, b)) => {
            let mut text = format!("per iteration: `{label}`, {a} in A and {b} in B");
            let outside: Vec<String> = facts
                .kernels
                .iter()
                .zip(["A", "B"])
                .filter_map(|(kernels, side)| {
                    let [(_, all), (_, inside)] = (*kernels)?;
                    let share = 100.0 * all.saturating_sub(inside) as f64 / all.max(1) as f64;
                    (share >= 0.5).then(|| format!("{share:.0} % of {side}'s"))
                })
                .collect();
            if !outside.is_empty() {
                text.push_str(&format!(
                    "; excluded: {} kernel time, launched outside the iterations",
                    outside.join(" and ")
                ));
                if facts.by_thread {
                    text.push_str(" (--attribute process includes launches from other threads)");
                }
            }
            text
        }
        Err(why) => {
            let mut text = format!("per call: {why}");
            if let Some(([a, b], what)) = facts.windows.filter(|([a, b], _)| a != b) {
                let times = [a, b].map(|ns| time(ns as f64));
                let lengths = match times[0] == times[1] {
                    // Lengths that differ can round to the same text.
                    true => {
                        let longer = if a > b { "A" } else { "B" };
                        format!("{}, {longer} is {} longer", times[0], time(a.abs_diff(b) as f64))
                    }
                    false => format!("{} in A and {} in B", times[0], times[1]),
                };
                text.push_str(&format!(
                    ". Windows of different length are not comparable: {lengths} ({what})"
                ));
            }
            text
        }
    }
}

/// The changes larger than noise, the largest effects first.
fn largest_changes(comparison: &Comparison) -> Option<String> {
    // Kernels and copies are the GPU's work. Layers, classes and calls show the same work in other ways.
    let views: [&[Section]; 4] = [
        &[Section::Kernels, Section::Memory],
        &[Section::Layers],
        &[Section::Nccl, Section::Classes],
        &[Section::Api],
    ];
    let view =
        views.into_iter().find(|view| comparison.rows.iter().any(|row| view.contains(&row.section)))?;
    let rows = || comparison.rows.iter().filter(move |row| view.contains(&row.section));
    let largest = rows().max_by_key(|row| row.change_ns.unsigned_abs())?;
    let mut most = 0;
    let mut has_named_largest = false;
    let mut parts = Vec::new();
    for (verdict, word) in [(Verdict::Slower, "slower"), (Verdict::Faster, "faster")] {
        let mut found: Vec<&Row> = rows().filter(|row| row.verdict == verdict).collect();
        found.sort_by_key(|row| std::cmp::Reverse(row.cost_effect_ns.unwrap_or(0).unsigned_abs()));
        if found.is_empty() {
            continue;
        }
        let effects = found.iter().filter_map(|row| row.cost_effect_ns);
        most = effects.map(i64::unsigned_abs).fold(most, u64::max);
        has_named_largest |= found.iter().take(MAX_NAMED).any(|row| std::ptr::eq(*row, largest));
        let named: Vec<String> = found
            .iter()
            .take(MAX_NAMED)
            .map(|row| {
                let cost = row.cost_effect_ns.map_or_else(String::new, |ns| signed(ns as f64) + ", ");
                format!(
                    "{} ({cost}{})",
                    short_name(row, &comparison.rows),
                    match row.cost.and_then(|c| c.change_pct) {
                        None => "from 0 ns".to_owned(),
                        change => signed_pct(change) + " per call",
                    }
                )
            })
            .collect();
        let more = found.len().saturating_sub(MAX_NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        parts.push(format!("{word}: {}{more}", named.join(", ")));
    }
    // Name a row twice only if its cost explains less than half of its change.
    let least = if has_named_largest { most.saturating_mul(2) } else { most };
    if !parts.is_empty() && largest.change_ns.unsigned_abs() <= least {
        return Some(parts.join("; "));
    }
    if parts.is_empty() {
        // Rows without any difference are not listed here, although they are comparable.
        let is_judged = rows().any(|row| row.verdict == Verdict::WithinNoise);
        parts.push(match is_judged {
            true => format!("no {} changed by more than noise", noun(largest.section)),
            false => format!("no {} that changed is comparable", noun(largest.section)),
        });
    }
    let calls = largest.calls_effect_ns.unwrap_or(0);
    let why = match largest.verdict {
        Verdict::OnlyA => ", only in A".to_owned(),
        Verdict::OnlyB => ", only in B".to_owned(),
        _ if calls == 0 => String::new(),
        _ => {
            let order = if calls > 0 { "more" } else { "fewer" };
            format!(", of which {} from {order} calls", signed(calls as f64))
        }
    };
    parts.push(format!(
        "the largest change is {}: {}{}{why}",
        short_name(largest, &comparison.rows),
        signed(largest.change_ns as f64),
        per_word(largest.per),
    ));
    Some(parts.join("; "))
}

/// The change of the window, of kernel time and of copy time, each with its parts.
fn amounts(comparison: &Comparison, window: Option<&Row>) -> Vec<String> {
    let mut amounts = Vec::new();
    if let Some(window) = window {
        let parts: Vec<String> = comparison
            .rows
            .iter()
            .filter(|row| row.section == Section::GpuTime && row.part != Some(Part::Window))
            .filter(|row| row.name_a == window.name_a && row.name_b == window.name_b)
            .filter_map(|row| Some(format!("{} {}", row.part?.as_str(), signed(row.change_ns as f64))))
            .collect();
        amounts.push(format!("{} per iteration: {}", signed(window.change_ns as f64), parts.join(", ")));
    }
    for total in &comparison.totals {
        let what = match total.section {
            Section::Kernels => "kernel time",
            Section::Memory => "copies and fills",
            _ => continue,
        };
        let [change, calls, cost, other] = total.change_ns;
        let effects = [
            (calls, if calls < 0 { "from fewer calls" } else { "from more calls" }),
            (cost, "from cost per call"),
            (other, "from names, launch shapes or sizes in one report only"),
        ];
        let parts: Vec<String> = effects
            .iter()
            .filter(|(ns, _)| *ns != 0)
            .map(|(ns, cause)| format!("{} {cause}", signed(*ns as f64)))
            .collect();
        if parts.is_empty() {
            continue;
        }
        let (a, b) = match comparison.per {
            Per::Report => (total.a.1 as f64, total.b.1 as f64),
            Per::Iteration(a, b) => (total.a.1 as f64 / a as f64, total.b.1 as f64 / b as f64),
        };
        amounts.push(format!(
            "{what}{} {} → {} ({}): {}",
            per_word(comparison.per),
            time(a),
            time(b),
            signed(change as f64),
            parts.join(", ")
        ));
    }
    amounts
}

fn noise_caveat(facts: &Facts) -> String {
    format!(
        "noise is the spread within each run ({} % bounds); it does not include clock or temperature differences between runs",
        facts.confidence_pct
    )
}

/// The sections that only one report has.
fn lacking(comparison: &Comparison) -> Option<String> {
    let lacks: Vec<String> = ["A", "B"]
        .into_iter()
        .filter_map(|side| {
            let sections = comparison.lacking.iter().filter(|(_, a_lacks)| *a_lacks == (side == "A"));
            let sections: Vec<&str> = sections.map(|(section, _)| section.as_str()).collect();
            (!sections.is_empty()).then(|| format!("{side} has no {}", sections.join(", ")))
        })
        .collect();
    (!lacks.is_empty()).then(|| lacks.join("; "))
}

/// Counts by verdict: `3 slower, 2 faster, 30 within noise, …`
pub(super) fn tally(comparison: &Comparison, section: Section) -> String {
    let rows: Vec<&Row> = comparison.rows.iter().filter(|row| row.section == section).collect();
    let mut parts = Vec::new();
    for word in ["slower", "faster", "within noise", "cannot tell", "only in A", "only in B"] {
        let count = rows.iter().filter(|row| row.verdict.as_str() == word).count();
        if count > 0 {
            parts.push(format!("{count} {word}"));
        }
    }
    let same =
        comparison.totals.iter().find(|total| total.section == section).map_or(0, |total| total.same);
    if same > 0 {
        parts.push(format!("{same} unchanged"));
    }
    parts.join(", ")
}

/// The verdict of a row, with its reason.
pub(super) fn verdict(row: &Row) -> String {
    match row.verdict {
        Verdict::CannotTell(reason) => {
            let reason = match (reason, row.section, row.per) {
                (Reason::OneCall, Section::GpuTime, _) => "one iteration",
                (Reason::OneCall, Section::Layers, _) => "one range",
                // There are several calls, but all in one iteration.
                (Reason::OneCall, _, Per::Iteration(..)) if row.calls_a.min(row.calls_b) > 1 => {
                    "one iteration"
                }
                (Reason::OtherShapes, Section::Memory, _) => "other sizes",
                (Reason::OtherShapes, Section::Layers, _) => "other places",
                (reason, ..) => reason.as_str(),
            };
            format!("cannot tell: {reason}")
        }
        // "Faster" would be wrong: a GPU that idles less is not faster.
        Verdict::Faster if row.section == Section::GpuTime => "shorter".to_owned(),
        Verdict::Slower if row.section == Section::GpuTime => "longer".to_owned(),
        verdict => verdict.as_str().to_owned(),
    }
}

/// Mean times: `4.00 ms → 4.01 ms`
pub(super) fn times(row: &Row) -> String {
    let side = |total, calls| if calls == 0 { "-".to_owned() } else { mean(total, calls) };
    format!("{} → {}", side(row.total_a_ns, row.calls_a), side(row.total_b_ns, row.calls_b))
}

/// The full name on both sides: `a`, or `a → b`.
pub(super) fn names(row: &Row) -> String {
    let lines = |name: &Option<String>| {
        let name = name.as_ref()?;
        let lines: Vec<&str> =
            name.split('\n').map(|line| if line.is_empty() { "(unnamed)" } else { line }).collect();
        Some(lines.join(" | "))
    };
    match (lines(&row.name_a), lines(&row.name_b)) {
        (Some(a), Some(b)) if a == b => a,
        (Some(a), Some(b)) => format!("{a} → {b}"),
        (a, b) => a.or(b).unwrap_or_default(),
    }
}

fn mean(total_ns: i64, calls: i64) -> String {
    time(if calls == 0 { 0.0 } else { total_ns as f64 / calls as f64 })
}

/// A time for people.
pub(super) fn time(ns: f64) -> String {
    let column = Column { kind: Type::Duration, unit: Some(Unit::Ns), ..Column::untyped("") };
    let whole = ns.round();
    // Below a microsecond, show whole nanoseconds.
    let value = if whole.abs() < 1000.0 { Value::Int(whole as i64) } else { Value::Real(ns) };
    humanize(&value, &column)
}

/// A change for people, with its sign.
pub(super) fn signed(ns: f64) -> String {
    let text = time(ns);
    if ns.round() > 0.0 { format!("+{text}") } else { text }
}

/// A change in percent, with its sign.
pub(super) fn signed_pct(pct: Option<f64>) -> String {
    match pct {
        Some(pct) => format!("{pct:+.1} %").replace("-0.0", "+0.0"),
        None => "-".to_owned(),
    }
}

/// A change and its noise, for a sentence.
pub(super) fn relative(cost: &Cost) -> String {
    match cost.change_pct {
        None => "from 0 ns".to_owned(),
        change => format!("{}, noise {}", signed_pct(change), pct(cost.noise_pct)),
    }
}

/// A noise bound in percent.
pub(super) fn pct(pct: Option<f64>) -> String {
    match pct {
        Some(pct) => format!("±{pct:.1} %"),
        None => "-".to_owned(),
    }
}

pub(super) fn noun(section: Section) -> &'static str {
    match section {
        Section::GpuTime => "part",
        Section::Kernels => "kernel",
        Section::Classes => "class",
        Section::Layers => "layer",
        Section::Nccl => "collective",
        Section::Memory => "operation",
        Section::Api => "function",
    }
}

fn per_word(per: Per) -> &'static str {
    if per == Per::Report { "" } else { " per iteration" }
}

/// A share in percent. A small share never reads as 0 %, and a large one never as 100 %.
pub(super) fn share(pct: f64) -> String {
    match pct {
        pct if pct > 0.0 && pct < 0.5 => "less than 1 %".to_owned(),
        pct if (99.5..100.0).contains(&pct) => "nearly all".to_owned(),
        pct => format!("{pct:.0} %"),
    }
}

/// A share in percent that is too small: `only 40 %`.
pub(super) fn only(pct: f64) -> String {
    let share = share(pct);
    if share.starts_with("less") { share } else { format!("only {share}") }
}

/// A short name for a sentence: the function of a kernel, and a piece that tells it from others in `rows`.
pub(super) fn short_name(row: &Row, rows: &[Row]) -> String {
    let name = first_line(row);
    if name.is_empty() {
        return "(unnamed)".to_owned();
    }
    let others: Vec<&str> = rows
        .iter()
        .filter(|other| other.section == row.section)
        .map(first_line)
        .filter(|other| *other != name)
        .collect();
    let own = |name: &str| match row.section {
        Section::Kernels => short(crate::classify::simple_name(name)),
        _ => short(name),
    };
    let text = own(name);
    let namesakes: Vec<&str> = others.into_iter().filter(|other| own(other) == text).collect();
    if namesakes.is_empty() {
        return text;
    }
    let text = format!("{text} ({})", distinct_piece(name, &namesakes));
    let is_unique = namesakes.iter().all(|other| {
        let theirs = namesakes.iter().copied().filter(|namesake| namesake != other).chain([name]);
        format!("{} ({})", own(other), distinct_piece(other, &theirs.collect::<Vec<_>>())) != text
    });
    if is_unique { text } else { name.to_owned() }
}

/// The piece of a name that starts at the first word in which the most similar name differs.
fn distinct_piece(name: &str, others: &[&str]) -> String {
    let letters: Vec<char> = name.chars().collect();
    let common = |other: &&str| letters.iter().zip(other.chars()).take_while(|(x, y)| **x == *y).count();
    let differs = others.iter().map(common).max().unwrap_or_default().min(letters.len());
    let is_word = |c: &&char| c.is_alphanumeric() || **c == '_';
    // If another name starts with all of this one, show the last word.
    let from = if differs < letters.len() { differs } else { letters.len().saturating_sub(1) };
    let start = from - letters[..from].iter().rev().take_while(is_word).count();
    let end = letters.len().min(start.max(from) + PIECE_CHARS);
    let (before, after) = (if start > 0 { "…" } else { "" }, if end < letters.len() { "…" } else { "" });
    format!("{before}{}{after}", letters[start..end].iter().collect::<String>())
}

fn first_line(row: &Row) -> &str {
    row.name().lines().next().unwrap_or_default()
}

/// The first line of a name, cut in the middle: kernels often differ at the end.
fn short(name: &str) -> String {
    let line: Vec<char> = name.lines().next().unwrap_or_default().chars().collect();
    if line.len() <= MAX_NAME_CHARS {
        return line.into_iter().collect();
    }
    let (head, tail) = (MAX_NAME_CHARS / 2, MAX_NAME_CHARS / 2 - 1);
    line[..head].iter().chain(&['…']).chain(&line[line.len() - tail..]).collect()
}

/// Cells of a cost: the change, its noise, and the comparable share of the time if that is not all.
pub(super) fn cost(cost: Option<Cost>) -> [String; 3] {
    let Some(cost) = cost else { return Default::default() };
    let judged =
        if cost.compared_pct < 99.5 { format!("{:.0} %", cost.compared_pct) } else { String::new() };
    [signed_pct(cost.change_pct), pct(cost.noise_pct), judged]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_different_kernels_never_read_alike() {
        let (mul, add) = (
            "void at::k<void at::f<MulFunctor<float>>>(int)",
            "void at::k<void at::f<AddFunctor<float>>>(int)",
        );
        assert_eq!(distinct_piece(mul, &[add]), "…MulFunctor<float>>>(int)");
        assert_eq!(distinct_piece(add, &[mul]), "…AddFunctor<float>>>(int)");
        assert_eq!(distinct_piece("k(a)", &["k(a)b"]), "…a)");
        assert_eq!(distinct_piece("gemm_64", &["gemm_64_tn"]), "gemm_64");
        assert_eq!(distinct_piece("é", &[""]), "é");
        assert_eq!(share(0.2), "less than 1 %");
        assert_eq!(share(99.7), "nearly all");
        assert_eq!((only(0.2).as_str(), only(40.0).as_str()), ("less than 1 %", "only 40 %"));
        assert_eq!((share(100.0).as_str(), share(0.0).as_str()), ("100 %", "0 %"));
    }
}
