//! The view on the example report, drawn into memory.

use crate::draw::{About, draw};
use crate::lanes::{Span, Timeline};
use crate::shares::{shares, sums};
use crate::view::{Mode, View, Wish};
use nsq::{Report, Scope, Value};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{
    KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind,
};

fn example() -> (Report, Timeline) {
    let report = nsq::open(concat!(env!("CARGO_MANIFEST_DIR"), "/../fixtures/example.sqlite")).unwrap();
    let timeline = Timeline::read(&report, &Scope::default()).unwrap();
    (report, timeline)
}

fn screen(view: &mut View, timeline: &Timeline, (width, height): (u16, u16)) -> String {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    let about = About { report: "example.sqlite", message: "" };
    terminal.draw(|frame| draw(frame, view, timeline, &about)).unwrap();
    let buffer = terminal.backend().buffer();
    let row = |y| (0..width).map(|x| buffer[(x, y)].symbol()).collect::<String>();
    (0..height).map(|y| row(y).trim_end().to_owned() + "\n").collect()
}

fn press(view: &mut View, timeline: &Timeline, code: KeyCode) -> Wish {
    view.key(KeyEvent::new(code, KeyModifiers::NONE), timeline)
}

fn type_text(view: &mut View, timeline: &Timeline, text: &str) {
    for sign in text.chars() {
        press(view, timeline, KeyCode::Char(sign));
    }
}

#[test]
fn the_first_screen_has_the_lanes_and_the_keys() {
    let (_, timeline) = example();
    let mut view = View::new(&timeline);
    for size in [(60, 20), (100, 30), (200, 60)] {
        let text = screen(&mut view, &timeline, size);
        for wanted in ["example.sqlite", "GPU 0 stream 7", "█", "? keys", "busy ("] {
            assert!(text.contains(wanted), "{wanted} at {size:?}:\n{text}");
        }
    }
}

/// The rows of a relation on a GPU.
fn on_gpu(relation: &str, gpu: i64) -> String {
    format!("FROM {relation} JOIN process_device USING (global_pid, device_id) WHERE gpu_id = {gpu}")
}

#[test]
fn a_search_leads_to_the_longest_slice() {
    let (report, timeline) = example();
    let mut view = View::new(&timeline);
    screen(&mut view, &timeline, (100, 30));
    type_text(&mut view, &timeline, "/allreduce_sum");
    press(&mut view, &timeline, KeyCode::Enter);
    let listed = screen(&mut view, &timeline, (100, 30));
    assert!(listed.contains("Names with \"allreduce_sum\""), "{listed}");
    press(&mut view, &timeline, KeyCode::Enter);
    let chosen = view.chosen(&timeline).unwrap();
    assert!(timeline.name(chosen.name).contains("AllReduce_Sum"));
    let lane = &timeline.lanes[view.lane];
    let on_lane = lane.slices.iter().filter(|slice| slice.name == chosen.name);
    assert_eq!(on_lane.map(|slice| slice.span.length()).max(), Some(chosen.span.length()));
    // By another path: the longest on that GPU.
    let gpu: i64 = lane.title.split(' ').nth(1).unwrap().parse().unwrap();
    let sql = format!(
        "SELECT max(end_ns - start_ns) {} AND kernel_name LIKE '%AllReduce_Sum%'",
        on_gpu("kernel", gpu)
    );
    let longest = report.sql(&sql).run().unwrap();
    assert_eq!(longest.rows()[0][0], Value::Int(chosen.span.length()));
    // The window is around it.
    assert!(view.window.start <= chosen.span.start && chosen.span.end <= view.window.end);
}

#[test]
fn sums_of_a_window_are_those_of_the_relations() {
    let (report, timeline) = example();
    let place = timeline.lanes.iter().position(|lane| lane.title == "GPU 0 stream 7").unwrap();
    let lane = &timeline.lanes[place];
    assert!(lane.is_whole());
    let whole = timeline.whole();
    let part = |nth: i64, of: i64| whole.start + whole.length() * nth / of;
    for window in [
        whole,
        Span { start: part(1, 7), end: part(3, 7) },
        Span { start: part(40, 90), end: part(41, 90) },
    ] {
        let mut spans: Vec<(i64, i64)> = Vec::new();
        for relation in ["kernel", "memcpy", "memset"] {
            let sql = format!("SELECT start_ns, end_ns {} AND stream_id = 7", on_gpu(relation, 0));
            for row in report.sql(&sql).run().unwrap().iter() {
                let (start, end) = (row.int("start_ns").unwrap(), row.int("end_ns").unwrap());
                if start < window.end && end > window.start {
                    spans.push((start.max(window.start), end.min(window.end)));
                }
            }
        }
        spans.sort_unstable();
        let (mut busy, mut reached) = (0, window.start);
        for (start, end) in &spans {
            busy += (end - (*start).max(reached)).max(0);
            reached = reached.max(*end);
        }
        let found = sums(lane, window);
        assert_eq!((found.busy, found.count), (busy, spans.len()));
        assert_eq!(
            found.by_name.iter().map(|(_, time, _)| time).sum::<i64>(),
            spans.iter().map(|(start, end)| end - start).sum::<i64>()
        );
        // The bars add up to the same.
        let bars = shares(&timeline, lane, window, 80);
        let of_bars = bars.iter().map(|share| share.busy).sum::<f64>() * window.length() as f64 / 80.0;
        let error = (of_bars - busy as f64).abs() / window.length() as f64;
        assert!(error < 0.002, "{of_bars} and {busy}");
    }
}

/// The next of a sequence of numbers without a pattern (SplitMix64).
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[test]
fn any_keys_on_any_screen_keep_the_window_inside() {
    let (_, timeline) = example();
    let whole = timeline.whole();
    let mut view = View::new(&timeline);
    let mut state = 1;
    let keys: Vec<KeyCode> = "hlHLjk+-0npmx/.,t?fr\u{e9}".chars().map(KeyCode::Char).collect();
    let others = [
        KeyCode::Enter,
        KeyCode::Esc,
        KeyCode::PageDown,
        KeyCode::PageUp,
        KeyCode::Backspace,
        KeyCode::Tab,
    ];
    let keys = [keys.as_slice(), &others].concat();
    for step in 0..4_000u64 {
        let mut below = |most: u64| next(&mut state) % most;
        if below(8) == 0 {
            let kinds = [
                MouseEventKind::ScrollUp,
                MouseEventKind::ScrollDown,
                MouseEventKind::Down(MouseButton::Left),
                MouseEventKind::Drag(MouseButton::Left),
                MouseEventKind::Up(MouseButton::Left),
            ];
            let kind = kinds[below(5) as usize];
            let (column, row) = (below(220) as u16, below(70) as u16);
            view.mouse(MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE }, &timeline);
        } else {
            let key = keys[below(keys.len() as u64) as usize];
            press(&mut view, &timeline, key);
        }
        let size = (1 + below(210) as u16, 1 + below(60) as u16);
        if step % 8 == 0 {
            screen(&mut view, &timeline, size);
        }
        let Span { start, end } = view.window;
        assert!(
            whole.start <= start && start < end && end <= whole.end.max(start + 100),
            "{:?}",
            view.window
        );
        assert!(view.lane < timeline.lanes.len() && view.first <= view.lane);
    }
    view.mode = Mode::Lanes;
    assert_eq!(press(&mut view, &timeline, KeyCode::Char('q')), Wish::Quit);
}
