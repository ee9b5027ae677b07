//! What is drawn: lanes with their slices and with busy shares of pieces of time, from the queries of the timeline page.

use nsq::{Column, Report, Result, RowSink, Scope, Value};
use std::collections::HashMap;

/// Pieces that the time is split into for busy shares of far views.
const PIECES: i64 = 2000;
/// Most slices that are held: as many as a page has.
const SLICES: i64 = 400_000;

/// A part of the time, in nanoseconds on the report's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) start: i64,
    pub(crate) end: i64,
}

impl Span {
    pub(crate) fn length(self) -> i64 {
        self.end - self.start
    }
}

/// A slice of a lane: an operation, call, range, step or cause.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Slice {
    pub(crate) span: Span,
    pub(crate) name: u32,
    pub(crate) category: u32,
    /// Position of the launch in [`Timeline::launches`] plus one; 0 without one.
    launch: u32,
}

/// The call that launched a GPU operation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Launch {
    pub(crate) call: u32,
    pub(crate) span: Span,
    pub(crate) thread: i64,
    /// The innermost range around it; 0 without one.
    pub(crate) range: u32,
}

/// The busy time of one category in a piece of a lane.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Piece {
    pub(crate) span: Span,
    pub(crate) category: u32,
    pub(crate) busy: i64,
}

/// A line of the view.
#[derive(Debug, Clone, Default)]
pub(crate) struct Lane {
    pub(crate) title: String,
    pub(crate) kind: String,
    /// By start.
    pub(crate) slices: Vec<Slice>,
    /// The latest end of the slices up to each one: those before it can be skipped.
    latest: Vec<i64>,
    pub(crate) pieces: Vec<Piece>,
    /// All slices of the lane, also those that are not held.
    pub(crate) count: i64,
}

impl Lane {
    /// The slices that overlap a span.
    pub(crate) fn within(&self, span: Span) -> &[Slice] {
        let end = self.slices.partition_point(|slice| slice.span.start < span.end);
        let start = self.latest[..end].partition_point(|latest| *latest <= span.start);
        &self.slices[start..end]
    }

    /// The pieces that overlap a span.
    pub(crate) fn pieces_within(&self, span: Span) -> &[Piece] {
        let start = self.pieces.partition_point(|piece| piece.span.end <= span.start);
        let end = self.pieces.partition_point(|piece| piece.span.start < span.end);
        &self.pieces[start..end.max(start)]
    }

    pub(crate) fn is_whole(&self) -> bool {
        i64::try_from(self.slices.len()).is_ok_and(|held| held >= self.count)
    }
}

/// A part of a report over time.
#[derive(Debug, Default)]
pub(crate) struct Timeline {
    pub(crate) lanes: Vec<Lane>,
    launches: Vec<Launch>,
    names: Vec<String>,
    ids: HashMap<String, u32>,
    whole: Option<Span>,
    pub(crate) piece: i64,
    /// Lanes of the report, also those without a line here.
    pub(crate) lane_count: i64,
}

impl Timeline {
    /// Reads the slices and busy shares of a part of a report.
    pub(crate) fn read(report: &Report, scope: &Scope) -> Result<Self> {
        let mut read = Self::default();
        read.id("");
        let slices = report.query("timeline_slices").scope(scope);
        slices
            .param("pieces", PIECES)
            .param("slices", SLICES)
            .run_into(&mut Slices { to: &mut read, columns: Columns::default() })?;
        let pieces = report.query("timeline_pieces").scope(scope);
        pieces
            .param("pieces", PIECES)
            .run_into(&mut Pieces { to: &mut read, columns: Columns::default() })?;
        for lane in &mut read.lanes {
            let mut latest = i64::MIN;
            let ends = lane.slices.iter().map(|slice| {
                latest = latest.max(slice.span.end);
                latest
            });
            lane.latest = ends.collect();
        }
        Ok(read)
    }

    /// The time that was read.
    pub(crate) fn whole(&self) -> Span {
        self.whole.unwrap_or(Span { start: 0, end: 1 })
    }

    /// A name or category; empty for none.
    pub(crate) fn name(&self, id: u32) -> &str {
        self.names.get(id as usize).map_or("", String::as_str)
    }

    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    pub(crate) fn launch(&self, slice: &Slice) -> Option<&Launch> {
        self.launches.get((slice.launch as usize).checked_sub(1)?)
    }

    fn id(&mut self, name: &str) -> u32 {
        if let Some(id) = self.ids.get(name) {
            return *id;
        }
        let id = u32::try_from(self.names.len()).unwrap_or(0);
        self.names.push(name.to_owned());
        self.ids.insert(name.to_owned(), id);
        id
    }

    /// The lane of a row, which is made with its first row.
    fn lane(&mut self, lane_id: Option<i64>) -> &mut Lane {
        let place = lane_id.and_then(|id| usize::try_from(id - 1).ok()).unwrap_or(0);
        if self.lanes.len() <= place {
            self.lanes.resize_with(place + 1, Lane::default);
        }
        &mut self.lanes[place]
    }
}

/// The columns of an answer by name.
#[derive(Default)]
struct Columns(HashMap<String, usize>);

impl Columns {
    fn of(columns: &[Column]) -> Self {
        Self(columns.iter().enumerate().map(|(place, column)| (column.name.clone(), place)).collect())
    }

    fn int(&self, row: &[Value], column: &str) -> Option<i64> {
        match row.get(*self.0.get(column)?)? {
            Value::Int(int) => Some(*int),
            _ => None,
        }
    }

    fn text<'r>(&self, row: &'r [Value], column: &str) -> &'r str {
        match self.0.get(column).and_then(|place| row.get(*place)) {
            Some(Value::Text(text)) => text,
            _ => "",
        }
    }

    fn span(&self, row: &[Value], start: &str, dur: &str) -> Option<Span> {
        let (start, dur) = (self.int(row, start)?, self.int(row, dur)?);
        Some(Span { start, end: start.saturating_add(dur) })
    }

    /// The title of a lane, such as `GPU 0 stream 7`, or `4711 CUDA API` for a thread. A name that the program gave the
    /// stream follows its number.
    fn title(&self, row: &[Value]) -> String {
        let int = |column| self.int(row, column);
        let owner = match (int("gpu_id"), int("tid"), int("pid")) {
            (Some(gpu), _, _) => format!("GPU {gpu} "),
            (None, Some(thread), _) => format!("{thread} "),
            (None, None, Some(process)) => format!("{process} "),
            (None, None, None) => String::new(),
        };
        let kind = self.text(row, "lane_kind");
        // The owner of the idle time of a GPU is in its kind.
        let kind = kind.strip_prefix("GPU ").unwrap_or(kind);
        match (int("stream_id"), int("depth")) {
            (Some(stream), _) => match self.text(row, "stream_name") {
                "" => format!("{owner}{kind} {stream}"),
                name => format!("{owner}{kind} {stream} {name}"),
            },
            (None, Some(depth)) if depth > 0 => format!("{owner}{kind} {depth}"),
            _ => format!("{owner}{kind}"),
        }
    }
}

/// Takes the rows of `timeline_slices`.
struct Slices<'t> {
    to: &'t mut Timeline,
    columns: Columns,
}

impl RowSink for Slices<'_> {
    fn begin(&mut self, columns: &[Column]) -> Result<()> {
        self.columns = Columns::of(columns);
        Ok(())
    }

    fn row(&mut self, row: &[Value]) -> Result<()> {
        let columns = &self.columns;
        let to = &mut *self.to;
        if to.whole.is_none() {
            to.whole = columns.span(row, "window_start_ns", "window_ns");
            to.piece = columns.int(row, "piece_ns").unwrap_or(1);
            to.lane_count = columns.int(row, "lane_count").unwrap_or(0);
        }
        let Some(span) = columns.span(row, "start_ns", "dur_ns") else { return Ok(()) };
        let name = to.id(columns.text(row, "slice_name"));
        let category = to.id(columns.text(row, "category"));
        let mut launch = 0;
        if let Some(span) = columns.span(row, "call_start_ns", "call_dur_ns") {
            let (call, range) =
                (to.id(columns.text(row, "call_name")), to.id(columns.text(row, "range_text")));
            let thread = columns.int(row, "call_tid").unwrap_or(0);
            to.launches.push(Launch { call, span, thread, range });
            launch = u32::try_from(to.launches.len()).unwrap_or(0);
        }
        let lane = to.lane(columns.int(row, "lane_id"));
        if lane.title.is_empty() {
            lane.title = columns.title(row);
            lane.kind = columns.text(row, "lane_kind").to_owned();
            lane.count = columns.int(row, "lane_slice_count").unwrap_or(0);
        }
        lane.slices.push(Slice { span, name, category, launch });
        Ok(())
    }

    fn end(&mut self) -> Result<()> {
        Ok(())
    }
}

/// Takes the rows of `timeline_pieces`.
struct Pieces<'t> {
    to: &'t mut Timeline,
    columns: Columns,
}

impl RowSink for Pieces<'_> {
    fn begin(&mut self, columns: &[Column]) -> Result<()> {
        self.columns = Columns::of(columns);
        Ok(())
    }

    fn row(&mut self, row: &[Value]) -> Result<()> {
        let columns = &self.columns;
        let Some(span) = columns.span(row, "start_ns", "dur_ns") else { return Ok(()) };
        let category = self.to.id(columns.text(row, "category"));
        let busy = columns.int(row, "busy_ns").unwrap_or(0);
        self.to.lane(columns.int(row, "lane_id")).pieces.push(Piece { span, category, busy });
        Ok(())
    }

    fn end(&mut self) -> Result<()> {
        Ok(())
    }
}
