//! What is shown of a timeline, and how keys and the mouse change it.

use crate::lanes::{Slice, Span, Timeline};
use crate::places::{self, Place};
use ratatui::crossterm::event::{
    KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind,
};

/// Shortest window, in nanoseconds.
const SHORTEST: i64 = 100;

/// Where things are on the screen, as last drawn.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Layout {
    /// First column of the lanes' bars.
    pub(crate) left: u16,
    /// Columns of the bars.
    pub(crate) columns: u16,
    /// First row of the lanes.
    pub(crate) top: u16,
    /// Rows of lanes.
    pub(crate) rows: u16,
}

/// A list over the lanes.
#[derive(Debug, Clone, Default)]
pub(crate) struct List {
    pub(crate) title: String,
    pub(crate) places: Vec<Place>,
    pub(crate) chosen: usize,
}

/// What the keys mean.
#[derive(Debug, Clone)]
pub(crate) enum Mode {
    Lanes,
    /// Text of a search is typed.
    Search(String),
    List(List),
    Help,
}

/// What the program is asked to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wish {
    Nothing,
    Quit,
    /// Read every slice of the window.
    Read,
    /// Compute the findings.
    Findings,
}

/// The state of the view.
#[derive(Debug)]
pub(crate) struct View {
    pub(crate) window: Span,
    /// Position of the chosen lane, and of the first one on the screen.
    pub(crate) lane: usize,
    pub(crate) first: usize,
    /// Position of the chosen slice in its lane.
    pub(crate) slice: Option<usize>,
    /// What is measured: from a mark, or dragged.
    pub(crate) measured: Option<Span>,
    /// The column of the mouse where a drag began.
    dragged_from: Option<u16>,
    pub(crate) mode: Mode,
    /// The last list, for the next and previous of its places.
    last: List,
    pub(crate) layout: Layout,
}

impl View {
    pub(crate) fn new(timeline: &Timeline) -> Self {
        // The first stream is what most people look for.
        let lane = timeline.lanes.iter().position(|lane| lane.kind == "stream").unwrap_or(0);
        Self {
            window: timeline.whole(),
            lane,
            first: 0,
            slice: None,
            measured: None,
            dragged_from: None,
            mode: Mode::Lanes,
            last: List::default(),
            layout: Layout::default(),
        }
    }

    /// The chosen slice.
    pub(crate) fn chosen<'t>(&self, timeline: &'t Timeline) -> Option<&'t Slice> {
        timeline.lanes.get(self.lane)?.slices.get(self.slice?)
    }

    pub(crate) fn key(&mut self, key: KeyEvent, timeline: &Timeline) -> Wish {
        if key.modifiers.contains(KeyModifiers::CONTROL) {
            return if key.code == KeyCode::Char('c') { Wish::Quit } else { Wish::Nothing };
        }
        match std::mem::replace(&mut self.mode, Mode::Lanes) {
            Mode::Search(text) => self.typed(key.code, text, timeline),
            Mode::List(list) => self.listed(key.code, list, timeline),
            // Any key closes the help.
            Mode::Help => Wish::Nothing,
            Mode::Lanes => self.moved(key.code, timeline),
        }
    }

    fn moved(&mut self, code: KeyCode, timeline: &Timeline) -> Wish {
        let tenth = (self.window.length() / 10).max(1);
        match code {
            KeyCode::Char('q') | KeyCode::Esc => return Wish::Quit,
            KeyCode::Left | KeyCode::Char('h' | 'a') => self.pan(-tenth, timeline),
            KeyCode::Right | KeyCode::Char('l' | 'd') => self.pan(tenth, timeline),
            KeyCode::Char('H') => self.pan(-9 * tenth, timeline),
            KeyCode::Char('L') => self.pan(9 * tenth, timeline),
            KeyCode::Up | KeyCode::Char('k') => self.choose_lane(self.lane.saturating_sub(1), timeline),
            KeyCode::Down | KeyCode::Char('j') => self.choose_lane(self.lane + 1, timeline),
            KeyCode::PageUp => {
                self.choose_lane(self.lane.saturating_sub(self.layout.rows.into()), timeline)
            }
            KeyCode::PageDown => self.choose_lane(self.lane + usize::from(self.layout.rows), timeline),
            KeyCode::Char('+' | '=' | 'w') => self.zoom(0.5, self.middle(timeline), timeline),
            KeyCode::Char('-' | 's') => self.zoom(2.0, self.middle(timeline), timeline),
            KeyCode::Char('0') | KeyCode::Home => self.window = timeline.whole(),
            KeyCode::Char('n') | KeyCode::Tab => self.next_slice(true, timeline),
            KeyCode::Char('p') | KeyCode::BackTab => self.next_slice(false, timeline),
            KeyCode::Enter => self.zoom_to_chosen(timeline),
            KeyCode::Char('m') => self.mark(timeline),
            KeyCode::Char('x') => self.measured = None,
            KeyCode::Char('/') => self.mode = Mode::Search(String::new()),
            KeyCode::Char('.') => self.next_place(true, timeline),
            KeyCode::Char(',') => self.next_place(false, timeline),
            KeyCode::Char('t') => {
                self.show(List {
                    title: "Steps".to_owned(),
                    places: places::steps(timeline),
                    chosen: 0,
                });
            }
            KeyCode::Char('f') => return Wish::Findings,
            KeyCode::Char('r') => return Wish::Read,
            KeyCode::Char('?') | KeyCode::F(1) => self.mode = Mode::Help,
            _ => {}
        }
        Wish::Nothing
    }

    fn typed(&mut self, code: KeyCode, mut text: String, timeline: &Timeline) -> Wish {
        match code {
            KeyCode::Esc => {}
            KeyCode::Enter => {
                let places = places::search(timeline, &text);
                self.show(List { title: format!("Names with \"{text}\""), places, chosen: 0 });
            }
            KeyCode::Backspace => {
                text.pop();
                self.mode = Mode::Search(text);
            }
            KeyCode::Char(typed) => {
                text.push(typed);
                self.mode = Mode::Search(text);
            }
            _ => self.mode = Mode::Search(text),
        }
        Wish::Nothing
    }

    fn listed(&mut self, code: KeyCode, mut list: List, timeline: &Timeline) -> Wish {
        let last = list.places.len().saturating_sub(1);
        match code {
            KeyCode::Esc | KeyCode::Char('q') => return Wish::Nothing,
            KeyCode::Up | KeyCode::Char('k') => list.chosen = list.chosen.saturating_sub(1),
            KeyCode::Down | KeyCode::Char('j') => list.chosen = (list.chosen + 1).min(last),
            KeyCode::PageUp => list.chosen = list.chosen.saturating_sub(10),
            KeyCode::PageDown => list.chosen = (list.chosen + 10).min(last),
            KeyCode::Enter => {
                self.last = list;
                self.go(timeline);
                return Wish::Nothing;
            }
            _ => {}
        }
        self.mode = Mode::List(list);
        Wish::Nothing
    }

    pub(crate) fn show(&mut self, list: List) {
        self.mode = Mode::List(list);
    }

    pub(crate) fn mouse(&mut self, mouse: MouseEvent, timeline: &Timeline) {
        let Layout { left, columns, top, rows } = self.layout;
        let is_inside = mouse.column >= left && mouse.column < left + columns;
        match mouse.kind {
            MouseEventKind::ScrollUp => self.zoom(0.8, self.time_at(mouse.column), timeline),
            MouseEventKind::ScrollDown => self.zoom(1.25, self.time_at(mouse.column), timeline),
            MouseEventKind::Down(MouseButton::Left) if mouse.row >= top && mouse.row < top + rows => {
                self.choose_lane(self.first + usize::from(mouse.row - top), timeline);
                if is_inside {
                    self.dragged_from = Some(mouse.column);
                    self.measured = None;
                    self.choose_at(self.time_at(mouse.column), timeline);
                }
            }
            MouseEventKind::Drag(MouseButton::Left) => {
                if let Some(from) = self.dragged_from.filter(|from| *from != mouse.column) {
                    let (start, end) = (from.min(mouse.column), from.max(mouse.column));
                    self.measured =
                        Some(Span { start: self.time_at(start), end: self.time_at(end + 1) });
                }
            }
            MouseEventKind::Up(MouseButton::Left) => self.dragged_from = None,
            _ => {}
        }
    }

    /// The time at the left edge of a column of the screen.
    fn time_at(&self, column: u16) -> i64 {
        let Layout { left, columns, .. } = self.layout;
        let place = f64::from(column.saturating_sub(left).min(columns)) / f64::from(columns.max(1));
        self.window.start + (place * self.window.length() as f64) as i64
    }

    /// Where keys zoom: at the chosen slice if it is in the window, else in the middle.
    fn middle(&self, timeline: &Timeline) -> i64 {
        let middle = |span: Span| span.start + span.length() / 2;
        let chosen = self.chosen(timeline).map(|slice| middle(slice.span));
        chosen
            .filter(|at| (self.window.start..self.window.end).contains(at))
            .unwrap_or(middle(self.window))
    }

    fn zoom(&mut self, by: f64, around: i64, timeline: &Timeline) {
        let (old, whole) = (self.window, timeline.whole());
        let length = ((old.length() as f64 * by) as i64).clamp(SHORTEST, whole.length().max(SHORTEST));
        let place = (around - old.start) as f64 / old.length().max(1) as f64;
        let start = around - (place * length as f64) as i64;
        self.window = Span { start, end: start + length };
        self.pan(0, timeline);
    }

    /// Moves the window, and keeps it within the timeline.
    fn pan(&mut self, by: i64, timeline: &Timeline) {
        let (whole, length) = (timeline.whole(), self.window.length());
        let last = (whole.end - length).max(whole.start);
        let start = (self.window.start + by).clamp(whole.start, last);
        self.window = Span { start, end: start + length };
    }

    fn choose_lane(&mut self, lane: usize, timeline: &Timeline) {
        let lane = lane.min(timeline.lanes.len().saturating_sub(1));
        if lane != self.lane {
            self.lane = lane;
            self.slice = None;
        }
        let rows = usize::from(self.layout.rows.max(1));
        self.first = self.first.clamp((lane + 1).saturating_sub(rows), lane);
    }

    /// Chooses the shortest slice of the lane at a time: the innermost one.
    fn choose_at(&mut self, at: i64, timeline: &Timeline) {
        let Some(lane) = timeline.lanes.get(self.lane) else { return };
        let width = self.window.length() / i64::from(self.layout.columns.max(1));
        let here = lane.within(Span { start: at, end: at + width.max(1) });
        let shortest =
            here.iter().filter(|slice| slice.span.end > at).min_by_key(|slice| slice.span.length());
        self.slice =
            shortest.and_then(|slice| lane.slices.iter().position(|other| std::ptr::eq(other, slice)));
    }

    fn next_slice(&mut self, is_forward: bool, timeline: &Timeline) {
        let Some(lane) = timeline.lanes.get(self.lane).filter(|lane| !lane.slices.is_empty()) else {
            return;
        };
        let last = lane.slices.len() - 1;
        let from_window = lane.slices.partition_point(|slice| slice.span.start < self.window.start);
        let next = match (self.slice, is_forward) {
            (Some(slice), true) => (slice + 1).min(last),
            (Some(slice), false) => slice.saturating_sub(1),
            (None, true) => from_window.min(last),
            (None, false) => from_window.saturating_sub(1),
        };
        self.slice = Some(next);
        self.bring_into_view(lane.slices[next].span, timeline);
    }

    /// Moves the window so that a span is in it, and no further.
    fn bring_into_view(&mut self, span: Span, timeline: &Timeline) {
        if span.start < self.window.start || span.start >= self.window.end {
            let to = span.start - self.window.length() / 3;
            self.pan(to - self.window.start, timeline);
        }
    }

    fn zoom_to_chosen(&mut self, timeline: &Timeline) {
        let chosen = self.chosen(timeline).map(|slice| slice.span);
        if let Some(span) = self.measured.or(chosen) {
            self.zoom_to(span, timeline);
        }
    }

    /// Shows a span with as much time before and after it.
    fn zoom_to(&mut self, span: Span, timeline: &Timeline) {
        let length = (3 * span.length()).clamp(SHORTEST, timeline.whole().length().max(SHORTEST));
        let start = span.start + span.length() / 2 - length / 2;
        self.window = Span { start, end: start + length };
        self.pan(0, timeline);
    }

    /// Begins to measure at the chosen slice, or ends there.
    fn mark(&mut self, timeline: &Timeline) {
        let Some(slice) = self.chosen(timeline).map(|slice| slice.span) else {
            self.measured = Some(self.window);
            return;
        };
        self.measured = Some(match self.measured {
            Some(from) => Span { start: from.start.min(slice.start), end: from.end.max(slice.end) },
            None => slice,
        });
    }

    fn next_place(&mut self, is_forward: bool, timeline: &Timeline) {
        let count = self.last.places.len();
        if count > 0 {
            let step = if is_forward { 1 } else { count - 1 };
            self.last.chosen = (self.last.chosen + step) % count;
            self.go(timeline);
        }
    }

    /// Shows the chosen place of the last list.
    fn go(&mut self, timeline: &Timeline) {
        let Some(place) = self.last.places.get(self.last.chosen).cloned() else { return };
        if let Some(lane) = place.lane {
            self.choose_lane(lane, timeline);
            let slices = timeline.lanes.get(lane).map(|lane| lane.slices.as_slice()).unwrap_or_default();
            self.slice = slices.iter().position(|slice| slice.span == place.span);
        }
        self.measured = place.lane.is_none().then_some(place.span);
        self.zoom_to(place.span, timeline);
    }

    /// Keeps what is shown with another timeline of the same report.
    pub(crate) fn onto(&mut self, timeline: &Timeline, title: Option<&str>) {
        self.slice = None;
        let same = timeline.lanes.iter().position(|lane| Some(lane.title.as_str()) == title);
        self.choose_lane(same.unwrap_or(0), timeline);
        self.pan(0, timeline);
    }
}
