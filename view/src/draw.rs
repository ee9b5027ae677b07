//! Draws the view.

use crate::lanes::{Lane, Span, Timeline};
use crate::shares::{Share, shares, sums};
use crate::view::{Layout, List, Mode, View};
use crate::{moment, time};
use nsq::visible;
use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use unicode_width::UnicodeWidthChar;

/// Signs of a share, in eighths.
const EIGHTHS: [&str; 9] = [" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];
/// Rows below the lanes: slice, launch, sums, two of names, keys.
const BELOW: u16 = 6;
/// Columns that a slice must have for its name to be written in it.
const NAMED: u16 = 4;

const KEYS: &str =
    "? keys  q quit  ←→ move  +- zoom  ↑↓ lane  n p slice  / search  f findings  t steps  m measure";
const HELP: [&str; 17] = [
    "← →  h l      move by a tenth of the window; H L by nearly all of it",
    "+ -  w s      zoom at the chosen slice, else in the middle; the wheel zooms at the mouse",
    "0  Home       the whole time",
    "↑ ↓  k j      choose a lane; PgUp PgDn by a screen",
    "n p  Tab      next and previous slice of the lane",
    "Enter         zoom to the chosen slice, or to what is measured",
    "m             measure: begin at the chosen slice, and extend to the next one that is chosen",
    "              drag with the mouse to measure; x ends it",
    "/             search names; Enter lists them, the longest sum first",
    ". ,           next and previous place of the last list",
    "f             findings, each with its longest places",
    "t             steps",
    "r             read every slice of the window, if only the longest are held",
    "q  Esc        quit",
    "",
    "The height of a bar is the share of its time in which something runs. Its colour is what runs",
    "longest: see the last line but one. Sums are of the chosen lane, in the window or in what is measured.",
];

pub(crate) fn draw(frame: &mut Frame<'_>, view: &mut View, timeline: &Timeline, about: &About<'_>) {
    let area = frame.area();
    let buffer = frame.buffer_mut();
    let left = label_width(area.width);
    let rows = area.height.saturating_sub(2 + BELOW);
    view.layout = Layout { left, columns: area.width.saturating_sub(left), top: 2, rows };
    // The chosen lane stays on the screen when its size changes.
    let rows = usize::from(rows.max(1));
    view.first = view.first.clamp((view.lane + 1).saturating_sub(rows), view.lane);
    head(buffer, area, view, about);
    for (row, place) in (view.first..timeline.lanes.len()).take(rows).enumerate() {
        let y = view.layout.top + row as u16;
        lane(buffer, y, view, timeline, place);
    }
    below(buffer, area, view, timeline, about);
    match &view.mode {
        Mode::Help => boxed(buffer, area, "Keys", &HELP.map(str::to_owned), None),
        Mode::List(list) => listed(buffer, area, list),
        Mode::Lanes | Mode::Search(_) => {}
    }
}

/// What is told beside the timeline.
pub(crate) struct About<'a> {
    pub(crate) report: &'a str,
    /// What the program is doing, or could not do.
    pub(crate) message: &'a str,
}

fn label_width(width: u16) -> u16 {
    (width / 4).clamp(17, 28)
}

/// Writes text from `x` on, and returns the column after it. Nothing is written beyond `end`.
fn put(buffer: &mut Buffer, x: u16, y: u16, end: u16, text: &str, style: Style) -> u16 {
    let mut at = x;
    for sign in visible(text).chars() {
        let width = sign.width().unwrap_or(0) as u16;
        if at + width > end {
            break;
        }
        if let Some(cell) = buffer.cell_mut((at, y)) {
            cell.reset();
            cell.set_char(sign).set_style(style);
        }
        at += width;
    }
    at
}

fn head(buffer: &mut Buffer, area: Rect, view: &View, about: &About<'_>) {
    let bold = Style::new().add_modifier(Modifier::BOLD);
    let window = view.window;
    let shown = format!(
        "{} to {}, {}",
        moment(window.start, window.length() / 100),
        moment(window.end, window.length() / 100),
        time(window.length())
    );
    let end = put(buffer, 0, 0, area.width, about.report, bold);
    put(buffer, end + 2, 0, area.width, &shown, Style::new());
    let Layout { left, columns, .. } = view.layout;
    let dim = Style::new().add_modifier(Modifier::DIM);
    for (column, text) in ticks(window, columns) {
        put(buffer, left + column, 1, area.width, &format!("╷{text}"), dim);
    }
}

/// Round times of a ruler, with their columns: about one for each 16 columns.
fn ticks(window: Span, columns: u16) -> Vec<(u16, String)> {
    let wanted = (window.length() as f64 / f64::from((columns / 16).max(1))).max(1.0);
    let power = 10f64.powf(wanted.log10().floor());
    let step = [5.0, 2.0, 1.0].map(|factor| factor * power).into_iter().find(|step| *step <= wanted);
    let step = (step.unwrap_or(wanted) as i64).max(1);
    let first = window.start.div_euclid(step) * step;
    (0..=u16::MAX)
        .map(|nth| first + i64::from(nth) * step)
        .take_while(|at| *at < window.end)
        .filter(|at| *at >= window.start)
        .map(|at| {
            let place = (at - window.start) as f64 / window.length().max(1) as f64;
            ((place * f64::from(columns)) as u16, moment(at, step))
        })
        .collect()
}

fn lane(buffer: &mut Buffer, y: u16, view: &View, timeline: &Timeline, place: usize) {
    let lane = &timeline.lanes[place];
    let Layout { left, columns, .. } = view.layout;
    let is_chosen = place == view.lane;
    let style = if is_chosen { Style::new().add_modifier(Modifier::REVERSED) } else { Style::new() };
    let end = put(buffer, 0, y, left - 1, &lane.title, style);
    (end..left - 1).for_each(|x| {
        put(buffer, x, y, left - 1, " ", style);
    });
    for (column, share) in shares(timeline, lane, view.window, columns).into_iter().enumerate() {
        let Share { busy, category } = share;
        let eighths = match (busy * 8.0).round() as usize {
            0 if busy > 0.0 => 1,
            eighths => eighths.min(8),
        };
        let color = Style::new().fg(color_of(timeline.name(category)));
        put(buffer, left + column as u16, y, left + columns, EIGHTHS[eighths], color);
    }
    names(buffer, y, view, timeline, lane);
    if is_chosen {
        mark(buffer, y, view, timeline);
    }
}

/// The first and last column of a span in the bars, if it is in the window.
fn columns_of(view: &View, span: Span) -> Option<(u16, u16)> {
    let Layout { left, columns, .. } = view.layout;
    let column = |at: i64| {
        (at - view.window.start) as f64 * f64::from(columns) / view.window.length().max(1) as f64
    };
    let (start, end) = (column(span.start), column(span.end));
    if end < 0.0 || start >= f64::from(columns) {
        return None;
    }
    let start = start.max(0.0) as u16;
    let end = (end.min(f64::from(columns)).ceil() as u16).max(start + 1);
    Some((left + start, left + end))
}

/// Writes the names of slices that have room for them.
fn names(buffer: &mut Buffer, y: u16, view: &View, timeline: &Timeline, lane: &Lane) {
    let least = view.window.length() / i64::from(view.layout.columns.max(1)) * i64::from(NAMED);
    for slice in lane.within(view.window).iter().filter(|slice| slice.span.length() > least) {
        let Some((start, end)) = columns_of(view, slice.span) else { continue };
        if end - start < NAMED {
            continue;
        }
        let style = Style::new().fg(Color::Black).bg(color_of(timeline.name(slice.category)));
        let name = match timeline.name(slice.name) {
            "" => timeline.name(slice.category),
            name => name,
        };
        // The last column keeps its bar, as a border to the next slice.
        let after = put(buffer, start, y, end - 1, name, style);
        (after..end - 1).for_each(|x| {
            put(buffer, x, y, end - 1, " ", style);
        });
    }
}

/// Marks the chosen slice and what is measured.
fn mark(buffer: &mut Buffer, y: u16, view: &View, timeline: &Timeline) {
    let chosen = view.chosen(timeline).map(|slice| slice.span);
    for (span, modifier) in
        [(view.measured, Modifier::UNDERLINED), (chosen, Modifier::REVERSED | Modifier::BOLD)]
    {
        let Some((start, end)) = span.and_then(|span| columns_of(view, span)) else { continue };
        for x in start..end {
            if let Some(cell) = buffer.cell_mut((x, y)) {
                cell.set_style(Style::new().add_modifier(modifier));
            }
        }
    }
}

fn below(buffer: &mut Buffer, area: Rect, view: &View, timeline: &Timeline, about: &About<'_>) {
    let top = area.height.saturating_sub(BELOW);
    let lines = details(view, timeline);
    let style =
        |row: usize| if row == 0 { Style::new().add_modifier(Modifier::BOLD) } else { Style::new() };
    for (row, line) in lines.iter().enumerate() {
        put(buffer, 0, top + row as u16, area.width, line, style(row));
    }
    legend(buffer, area, top + 4, view, timeline);
    let last = area.height.saturating_sub(1);
    let (text, style) = match &view.mode {
        Mode::Search(typed) => (format!("/{typed}▏"), Style::new()),
        _ if !about.message.is_empty() => {
            (about.message.to_owned(), Style::new().add_modifier(Modifier::BOLD))
        }
        _ => (KEYS.to_owned(), Style::new().add_modifier(Modifier::DIM)),
    };
    put(buffer, 0, last, area.width, &text, style);
}

/// The chosen slice, its launch, and the sums of the lane: four lines.
fn details(view: &View, timeline: &Timeline) -> [String; 4] {
    let mut lines: [String; 4] = Default::default();
    let Some(lane) = timeline.lanes.get(view.lane) else { return lines };
    if let Some(slice) = view.chosen(timeline) {
        lines[0] = format!(
            "{} · {} · {} · at {}",
            timeline.name(slice.name),
            timeline.name(slice.category),
            time(slice.span.length()),
            moment(slice.span.start, 1)
        );
        lines[1] = match timeline.launch(slice) {
            Some(launch) => {
                let range = match timeline.name(launch.range) {
                    "" => String::new(),
                    range => format!(", in {range}"),
                };
                format!(
                    "launched {} before it, by {} ({}) of thread {}{range}",
                    time(slice.span.start - launch.span.start),
                    timeline.name(launch.call),
                    time(launch.span.length()),
                    launch.thread
                )
            }
            None => String::new(),
        };
    } else {
        lines[0] =
            format!("{}: {} slices. n chooses the next one, Enter zooms to it", lane.title, lane.count);
    }
    let span = view.measured.unwrap_or(view.window);
    let of = if view.measured.is_some() { "measured" } else { "window" };
    let is_held = lane.is_whole();
    let sums = sums(lane, span);
    let least = if is_held { "" } else { "at least " };
    lines[2] = format!(
        "{of} {}: {least}{} busy ({:.1} %), {least}{} slices{}",
        time(span.length()),
        time(sums.busy),
        100.0 * sums.busy as f64 / span.length().max(1) as f64,
        sums.count,
        if is_held { "" } else { "; r reads all of the window" }
    );
    let names: Vec<String> = sums
        .by_name
        .iter()
        .take(4)
        .map(|(name, time_ns, count)| format!("{} {} × {}", time(*time_ns), count, timeline.name(*name)))
        .collect();
    lines[3] = names.join("  ·  ");
    lines
}

/// The categories on the screen, in their colours.
fn legend(buffer: &mut Buffer, area: Rect, y: u16, view: &View, timeline: &Timeline) {
    let mut shown: Vec<u32> = Vec::new();
    let lanes = timeline.lanes.iter().skip(view.first).take(view.layout.rows.into());
    for lane in lanes {
        for category in lane.pieces_within(view.window).iter().map(|piece| piece.category) {
            if !shown.contains(&category) {
                shown.push(category);
            }
        }
    }
    let mut x = 0;
    for category in shown {
        let name = timeline.name(category);
        x = put(buffer, x, y, area.width, "█ ", Style::new().fg(color_of(name)));
        x = put(buffer, x, y, area.width, name, Style::new()) + 2;
    }
}

/// A colour of the terminal's own palette, so that it fits light and dark ones.
fn color_of(category: &str) -> Color {
    match category {
        "compute" => Color::Blue,
        "communication" => Color::Red,
        "copy" => Color::Green,
        "fill" => Color::Cyan,
        "graph" | "warm-up" | "tail" => Color::Magenta,
        "step" | "range" => Color::Yellow,
        "call" | "OS call" => Color::Cyan,
        "running" => Color::Green,
        // Causes of idle time and states of threads.
        _ => Color::Gray,
    }
}

fn listed(buffer: &mut Buffer, area: Rect, list: &List) {
    let lines: Vec<String> = match list.places.is_empty() {
        true => vec!["nothing found".to_owned()],
        false => list.places.iter().map(|place| place.text.clone()).collect(),
    };
    let title = format!("{}: {}", list.title, list.places.len());
    boxed(buffer, area, &title, &lines, Some(list.chosen));
}

/// Lines in a box over the lanes. The chosen one is in view.
fn boxed(buffer: &mut Buffer, area: Rect, title: &str, lines: &[String], chosen: Option<usize>) {
    let height = (lines.len() as u16 + 2).min(area.height.saturating_sub(2));
    let inside = usize::from(height.saturating_sub(2));
    let first = chosen.unwrap_or(0).saturating_sub(inside.saturating_sub(1));
    let (x, width) = (2, area.width.saturating_sub(4));
    let edge = |left: &str, right: &str| {
        format!("{left}{}{right}", "─".repeat(usize::from(width).saturating_sub(2)))
    };
    put(buffer, x, 1, x + width, &edge("┌", "┐"), Style::new());
    put(
        buffer,
        x + 2,
        1,
        x + width - 1,
        &format!(" {title} "),
        Style::new().add_modifier(Modifier::BOLD),
    );
    for row in 0..inside {
        let y = 2 + row as u16;
        let style = match chosen == Some(first + row) {
            true => Style::new().add_modifier(Modifier::REVERSED),
            false => Style::new(),
        };
        let blank = format!("│{}│", " ".repeat(usize::from(width).saturating_sub(2)));
        put(buffer, x, y, x + width, &blank, Style::new());
        if let Some(line) = lines.get(first + row) {
            put(buffer, x + 2, y, x + width - 2, line, style);
        }
    }
    put(buffer, x, 1 + height.saturating_sub(1), x + width, &edge("└", "┘"), Style::new());
}
