//! The filters that lay out columns of fixed width.

use super::bounds::at_most;
use super::filters::{laid_out, number};
use minijinja::value::Value;
use minijinja::{Environment, Error as Fault, ErrorKind, State};

/// Separates two names in a row.
const ARROW: &str = " → ";

/// Adds the filters. `visible` makes text from a report safe to print.
pub(super) fn add(environment: &mut Environment<'static>, visible: fn(&str) -> String) {
    environment.add_filter("us", |value: Value, decimals: Option<usize>| {
        Ok::<_, Fault>(format!("{:.*}", at_most(decimals.unwrap_or(2))?, number(&value)? / 1e3))
    });
    environment.add_filter("short_us", |value: Value| {
        let text = format!("{:.3}", number(&value)? / 1e3);
        Ok::<_, Fault>(text.trim_end_matches('0').trim_end_matches('.').to_owned())
    });
    environment.add_filter(
        "left",
        move |state: &State, value: Value, width: usize, gap: Option<usize>| {
            let text = shown(&value, visible)?;
            // A cell wider than its column is followed by one space.
            let pad = at_most(width)?.saturating_sub(text.chars().count());
            let pad = pad.max(at_most(gap.unwrap_or(1))?);
            Ok::<_, Fault>(laid_out(state, text + &" ".repeat(pad)))
        },
    );
    environment.add_filter("right", move |state: &State, value: Value, width: usize| {
        let (text, width) = (shown(&value, visible)?, at_most(width)?);
        Ok::<_, Fault>(laid_out(state, format!("{text:>width$}")))
    });
    environment.add_filter("cut", move |state: &State, value: Value, width: usize| {
        let text = shown(&value, visible)?;
        let cut = match text.chars().count() > width {
            true => text.chars().take(width.saturating_sub(2)).chain("..".chars()).collect(),
            false => text,
        };
        Ok::<_, Fault>(laid_out(state, cut))
    });
    environment.add_filter("bar", |value: Value, most: Value, cells: usize| {
        let full = (at_most(cells)? as f64 * number(&value)? / number(&most)?.max(1.0)) as usize;
        let cell = |cell| if cell < full { '█' } else { '░' };
        Ok::<_, Fault>((0..cells).map(cell).collect::<String>())
    });
    environment.add_filter(
        "then",
        move |state: &State, before: Value, after: Value, width: Option<usize>| {
            let (before, after) = (shown(&before, visible)?, shown(&after, visible)?);
            let text = match width {
                Some(width) => pair(&before, &after, width),
                None => format!("{before}{ARROW}{after}"),
            };
            Ok::<_, Fault>(laid_out(state, text))
        },
    );
}

/// The value as text that is safe to print.
fn shown(value: &Value, visible: fn(&str) -> String) -> Result<String, Fault> {
    if value.is_none() || value.is_undefined() {
        return Err(Fault::new(ErrorKind::InvalidOperation, "null is not text"));
    }
    let text = value.to_string();
    Ok(if value.is_safe() || value.is_number() { text } else { visible(&text) })
}

/// Two names in at most `width` characters. Both keep their beginning and end.
fn pair(before: &str, after: &str, width: usize) -> String {
    let (left, right) = (before.chars().count(), after.chars().count());
    let room = width.saturating_sub(ARROW.chars().count());
    // A short name leaves its room to the other one.
    let (for_left, for_right) = match (left, right) {
        (left, right) if left + right <= room => (left, right),
        (left, right) if left <= room / 2 => (left, (room - left).min(right)),
        (_, right) if right <= room / 2 => (room - right, right),
        _ => (room / 2, room - room / 2),
    };
    format!("{}{ARROW}{}", without_middle(before, for_left), without_middle(after, for_right))
}

/// Cuts the middle out of a text, so that it has at most `width` characters.
fn without_middle(text: &str, width: usize) -> String {
    let count = text.chars().count();
    if count <= width {
        return text.to_owned();
    }
    let kept = width.saturating_sub(3);
    let (head, tail) = (kept - kept / 2, kept / 2);
    text.chars().take(head).chain("...".chars()).chain(text.chars().skip(count - tail)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn laid_out(source: &str) -> String {
        let mut environment = Environment::new();
        add(&mut environment, |text| text.escape_debug().to_string());
        environment.render_str(source, ()).unwrap()
    }

    #[test]
    fn cells_are_padded_and_cut() {
        assert_eq!(
            laid_out("{{ 'ab'|left(4) }}|{{ 'abc'|left(2) }}|{{ 'abc'|left(2, 0) }}|{{ 7|right(3) }}"),
            "ab  |abc |abc|  7"
        );
        let name = "kernel_cutlass_kernel_flash_attncuteflash_fwd_sm100Flash";
        assert_eq!(
            laid_out(&format!("{{{{ '{name}'|cut(48) }}}}")),
            "kernel_cutlass_kernel_flash_attncuteflash_fwd_.."
        );
        let whole = "x".repeat(48);
        assert_eq!(laid_out(&format!("{{{{ '{whole}'|cut(48) }}}}")), whole);
        assert_eq!(laid_out("{{ '\u{1b}'|cut(48)|left(2) }}"), "\\u{1b} ");
    }

    #[test]
    fn times_are_in_microseconds() {
        assert_eq!(laid_out("{{ 1250|us }} {{ 1250|us(1) }}"), "1.25 1.2");
        assert_eq!(
            laid_out("{{ 500|short_us }} {{ 1e9|short_us }} {{ 2500|short_us }}"),
            "0.5 1000000 2.5"
        );
    }

    #[test]
    fn bars_are_floored() {
        assert_eq!(laid_out("{{ 79|bar(80, 40) }}"), "█".repeat(39) + "░");
        assert_eq!(laid_out("{{ 80|bar(80, 4) }}{{ 0|bar(0, 2) }}"), "████░░");
    }

    #[test]
    fn a_pair_keeps_both_ends_of_its_names() {
        assert_eq!(pair("a", "b", 80), "a → b");
        for (left, right) in [(77, 1), (1, 77), (40, 37), (38, 39), (500, 2), (2, 500), (500, 500)] {
            let before = format!("<{}>", "x".repeat(left - 1));
            let after = format!("({})", "y".repeat(right));
            let pair = pair(&before, &after, 80);
            assert!(pair.chars().count() <= 80, "{pair}");
            assert!(pair.starts_with('<') && pair.contains("> → (") && pair.ends_with(')'), "{pair}");
        }
        let long = pair(&"a".repeat(90), &"b".repeat(90), 80);
        assert_eq!(
            long,
            format!("{0}...{1} → {2}...{2}", "a".repeat(18), "a".repeat(17), "b".repeat(18))
        );
    }
}
