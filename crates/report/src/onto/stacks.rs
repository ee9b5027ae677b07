//! What a trace has around the calls of its operations, and the same around the calls of an export.

use super::operations::{Call, Operation, has};
use super::pairs::Pairs;
use foldhash::{HashMap, HashMapExt};
use rusqlite::{Connection, params};

/// No range.
const NONE: u32 = u32::MAX;

/// A range or a Python call of the trace.
#[derive(Debug)]
struct Frame {
    /// The frame around it.
    parent: u32,
    /// A hash of its name and inputs, and of those around it.
    meaning: u64,
    text: i64,
    kind: Kind,
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    /// An NVTX range: its domain, sequence number and inputs.
    Range {
        domain: i64,
        sequence: Option<i64>,
        inputs: Option<i64>,
    },
    Python,
}

/// The frames of a trace.
#[derive(Debug)]
pub(super) struct Stacks {
    frames: Vec<Frame>,
    /// The innermost frame around the call of each operation.
    innermost: Vec<u32>,
}

/// A frame as the trace has it.
struct Recorded {
    thread: i64,
    start: i64,
    end: i64,
    text: i64,
    kind: Kind,
}

impl Stacks {
    /// The frames of a trace, and those around its operations.
    pub(super) fn read(trace: &Connection, operations: &[Operation]) -> rusqlite::Result<Self> {
        let mut recorded = ranges(trace)?;
        recorded.extend(python(trace)?);
        // Those that hold others come first; of equal ones, a Python call holds an operator.
        recorded.sort_by_key(|frame| {
            (
                frame.thread,
                frame.start,
                std::cmp::Reverse(frame.end),
                !matches!(frame.kind, Kind::Python),
            )
        });
        let mut calls: Vec<(Call, usize)> =
            operations.iter().enumerate().filter_map(|(place, op)| Some((op.call?, place))).collect();
        calls.sort_unstable();
        let mut stacks = Self { frames: Vec::new(), innermost: vec![NONE; operations.len()] };
        let mut open: Vec<(u32, i64)> = Vec::new();
        let (mut thread, mut next) = (None, 0);
        for (call, place) in calls {
            if thread != Some(call.thread) {
                thread = Some(call.thread);
                open.clear();
                next = recorded.partition_point(|frame| frame.thread < call.thread);
            }
            while let Some(frame) = recorded.get(next)
                && (frame.thread, frame.start) <= (call.thread, call.start)
            {
                open.retain(|(_, end)| *end > frame.start);
                let parent = open.last().map_or(NONE, |(parent, _)| *parent);
                open.push((stacks.add(parent, frame), frame.end));
                next += 1;
            }
            open.retain(|(_, end)| *end > call.start);
            stacks.innermost[place] = open.last().map_or(NONE, |(frame, _)| *frame);
        }
        Ok(stacks)
    }

    fn add(&mut self, parent: u32, frame: &Recorded) -> u32 {
        let around = self.frames.get(parent as usize).map_or(0, |parent| parent.meaning);
        let inputs = match frame.kind {
            Kind::Range { inputs, .. } => inputs.unwrap_or(0),
            Kind::Python => -1,
        };
        let mixed =
            |sum: u64, value: i64| (sum ^ sum >> 29).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ value as u64;
        let meaning = mixed(mixed(around, frame.text), inputs);
        self.frames.push(Frame { parent, meaning, text: frame.text, kind: frame.kind });
        self.frames.len() as u32 - 1
    }

    /// Whether two operations have equal frames around them.
    pub(super) fn agree(&self, one: usize, other: usize) -> bool {
        let meaning =
            |op: usize| self.frames.get(self.innermost[op] as usize).map(|frame| frame.meaning);
        meaning(one) == meaning(other)
    }

    /// A frame and those around it, from the outermost.
    fn path(&self, innermost: u32) -> Vec<u32> {
        let mut path = Vec::new();
        let mut frame = innermost;
        while let Some(found) = self.frames.get(frame as usize) {
            path.push(frame);
            frame = found.parent;
        }
        path.reverse();
        path
    }

    /// The innermost frame that holds both.
    fn common(&self, one: u32, other: u32) -> u32 {
        let (one, other) = (self.path(one), self.path(other));
        one.iter().zip(&other).take_while(|(a, b)| a == b).last().map_or(NONE, |(frame, _)| *frame)
    }
}

fn ranges(trace: &Connection) -> rusqlite::Result<Vec<Recorded>> {
    if !has(trace, "NVTX_EVENTS")? {
        return Ok(Vec::new());
    }
    let mut inputs: HashMap<i64, i64> = HashMap::new();
    if has(trace, "NSQ_OPERATOR_INPUT")? {
        let mut statement = trace.prepare("SELECT rangeId, inputsId FROM NSQ_OPERATOR_INPUT")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            inputs.insert(row.get(0)?, row.get(1)?);
        }
    }
    let sql = "SELECT globalTid, start, \"end\", textId, coalesce(domainId, 0), int64Value, rowid FROM NVTX_EVENTS
      WHERE eventType = 59 AND \"end\" > start AND globalTid IS NOT NULL AND textId IS NOT NULL";
    let mut statement = trace.prepare(sql)?;
    let rows = statement.query_map([], |row| {
        let inputs = inputs.get(&row.get(6)?).copied();
        let kind = Kind::Range { domain: row.get(4)?, sequence: row.get(5)?, inputs };
        Ok(Recorded {
            thread: row.get(0)?,
            start: row.get(1)?,
            end: row.get(2)?,
            text: row.get(3)?,
            kind,
        })
    })?;
    rows.collect()
}

fn python(trace: &Connection) -> rusqlite::Result<Vec<Recorded>> {
    if !has(trace, "NSQ_PYTHON_FRAME")? {
        return Ok(Vec::new());
    }
    let sql = "SELECT globalTid, start, \"end\", nameId FROM NSQ_PYTHON_FRAME
      WHERE \"end\" > start AND globalTid IS NOT NULL";
    let mut statement = trace.prepare(sql)?;
    let rows = statement.query_map([], |row| {
        let (thread, start, end, text) = (row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?);
        Ok(Recorded { thread, start, end, text, kind: Kind::Python })
    })?;
    rows.collect()
}

/// A frame of the trace at the time that its calls have in the export.
struct Placed {
    frame: u32,
    thread: i64,
    start: i64,
    end: i64,
    depth: u32,
    /// Whether it was not placed before. If calls of other frames lie between its own, it has several places.
    is_first: bool,
}

/// The innermost frame around the call of each operation of the export. One without a pair is where the pairs before and
/// after it in its stream both are, if the same thread launched all three.
fn innermost(left: &[Operation], pairs: &[(usize, usize)], stacks: &Stacks) -> Vec<(Call, bool, u32)> {
    let mut found = vec![None; left.len()];
    for (ours, theirs) in pairs {
        found[*ours] = Some(stacks.innermost[*theirs]);
    }
    // The next pair of the stream.
    let mut after = vec![None; left.len()];
    let mut next: Option<usize> = None;
    for place in (0..left.len()).rev() {
        after[place] = next;
        if found[place].is_some() {
            next = Some(place);
        }
    }
    let stream = |place: usize| (left[place].process, left[place].stream);
    let thread = |place: usize| left[place].call.map(|call| call.thread);
    let mut calls = Vec::new();
    let mut before: Option<usize> = None;
    for (place, op) in left.iter().enumerate() {
        if found[place].is_some() {
            before = Some(place);
        }
        let Some(call) = op.call else { continue };
        let is_near = |other: &usize| stream(*other) == stream(place) && thread(*other) == thread(place);
        let frame = match (found[place], before.filter(is_near), after[place].filter(is_near)) {
            (Some(frame), _, _) => frame,
            (None, Some(one), Some(other)) => {
                stacks.common(found[one].unwrap_or(NONE), found[other].unwrap_or(NONE))
            }
            _ => NONE,
        };
        calls.push((call, found[place].is_none(), frame));
    }
    calls
}

/// The frames around the calls of the export: each from the first to the last call in it, unless a call of another frame
/// is between.
fn placed(left: &[Operation], pairs: &[(usize, usize)], stacks: &Stacks) -> Vec<Placed> {
    let mut calls = innermost(left, pairs, stacks);
    calls.sort_unstable();
    // Operations of a graph share one call.
    calls.dedup_by_key(|(call, ..)| *call);
    let mut placed: Vec<Placed> = Vec::new();
    // Places in `placed`.
    let mut open: Vec<usize> = Vec::new();
    let mut known: Vec<bool> = vec![false; stacks.frames.len()];
    let mut thread = None;
    for (call, _, frame) in calls {
        if thread != Some(call.thread) {
            thread = Some(call.thread);
            open.clear();
        }
        let around = stacks.path(frame);
        let kept = open
            .iter()
            .zip(&around)
            .take_while(|(place, frame)| placed[**place].frame == **frame)
            .count();
        open.truncate(kept);
        for place in &open {
            placed[*place].end = call.end;
        }
        for (depth, frame) in around.iter().enumerate().skip(kept) {
            open.push(placed.len());
            let is_first = !std::mem::replace(&mut known[*frame as usize], true);
            placed.push(Placed {
                frame: *frame,
                thread: call.thread,
                start: call.start,
                end: call.end,
                depth: depth as u32,
                is_first,
            });
        }
    }
    // Those that hold others come first.
    placed.sort_by_key(|placed| (placed.thread, placed.start, placed.depth));
    placed
}

/// Writes the frames around paired calls, and returns how many.
pub(super) fn write(
    export: &mut Connection,
    trace: &Connection,
    (left, found): (&[Operation], &Pairs),
    stacks: &Stacks,
) -> rusqlite::Result<usize> {
    let placed = placed(left, &found.pairs, stacks);
    let transaction = export.transaction()?;
    transaction.execute_batch(
        "CREATE TABLE IF NOT EXISTS NVTX_EVENTS (start INTEGER, \"end\" INTEGER, globalTid INTEGER,
           eventType INTEGER, textId INTEGER, domainId INTEGER, int64Value INTEGER);
         CREATE TABLE IF NOT EXISTS NSQ_OPERATOR_INPUT (start INTEGER, \"end\" INTEGER, globalTid INTEGER,
           rangeId INTEGER, inputsId INTEGER);
         CREATE TABLE IF NOT EXISTS NSQ_PYTHON_FRAME (start INTEGER, \"end\" INTEGER, globalTid INTEGER,
           nameId INTEGER);",
    )?;
    {
        let mut texts = Texts::new(&transaction, trace)?;
        let domains: i64 =
            transaction
                .query_row("SELECT coalesce(max(domainId), 0) FROM NVTX_EVENTS", [], |row| row.get(0))?;
        name_domains(
            &transaction,
            trace,
            domains,
            &mut texts,
            placed.first().map_or(0, |placed| placed.thread),
        )?;
        let mut range = transaction.prepare(
            "INSERT INTO NVTX_EVENTS (start, \"end\", globalTid, eventType, textId, domainId, int64Value)
             VALUES (?1, ?2, ?3, 59, ?4, ?5, ?6)",
        )?;
        let mut input = transaction.prepare(
            "INSERT INTO NSQ_OPERATOR_INPUT (start, \"end\", globalTid, rangeId, inputsId)
             VALUES (?1, ?2, ?3, ?4, ?5)",
        )?;
        let mut python = transaction.prepare(
            "INSERT INTO NSQ_PYTHON_FRAME (start, \"end\", globalTid, nameId) VALUES (?1, ?2, ?3, ?4)",
        )?;
        for Placed { frame, thread, start, end, depth: _, is_first } in &placed {
            let frame = &stacks.frames[*frame as usize];
            let text = texts.id(frame.text)?;
            match frame.kind {
                Kind::Python => {
                    python.execute(params![start, end, thread, text])?;
                }
                Kind::Range { domain, sequence, inputs } => {
                    let sequence = sequence.filter(|_| *is_first);
                    range.execute(params![start, end, thread, text, domains + domain, sequence])?;
                    let id = transaction.last_insert_rowid();
                    if let Some(inputs) = inputs.filter(|_| *is_first) {
                        let inputs = texts.id(inputs)?;
                        input.execute(params![start, end, thread, id, inputs])?;
                    }
                }
            }
        }
    }
    // A table without rows says that nothing was recorded.
    for table in ["NSQ_OPERATOR_INPUT", "NSQ_PYTHON_FRAME"] {
        let is_empty = format!("SELECT NOT EXISTS (SELECT 1 FROM {table})");
        if transaction.query_row(&is_empty, [], |row| row.get(0))? {
            transaction.execute_batch(&format!("DROP TABLE {table}"))?;
        }
    }
    transaction.commit()?;
    Ok(placed.len())
}

/// Names the domains of the trace in the export, after its own.
fn name_domains(
    export: &Connection,
    trace: &Connection,
    domains: i64,
    texts: &mut Texts<'_>,
    thread: i64,
) -> rusqlite::Result<()> {
    if !has(trace, "NVTX_EVENTS")? {
        return Ok(());
    }
    let mut named =
        trace.prepare("SELECT DISTINCT domainId, textId FROM NVTX_EVENTS WHERE eventType = 75")?;
    let mut rows = named.query([])?;
    while let Some(row) = rows.next()? {
        let (domain, text): (i64, i64) = (row.get(0)?, row.get(1)?);
        let sql = "INSERT INTO NVTX_EVENTS (start, \"end\", globalTid, eventType, textId, domainId)
          VALUES (0, 0, ?1, 75, ?2, ?3)";
        export.execute(sql, params![thread, texts.id(text)?, domains + domain])?;
    }
    Ok(())
}

/// Texts of the trace, which are added to the export when they are needed.
struct Texts<'a> {
    read: rusqlite::Statement<'a>,
    add: rusqlite::Statement<'a>,
    next: i64,
    known: HashMap<i64, i64>,
}

impl<'a> Texts<'a> {
    fn new(export: &'a Connection, trace: &'a Connection) -> rusqlite::Result<Self> {
        let next = "SELECT coalesce(max(id), 0) + 1 FROM StringIds";
        Ok(Self {
            read: trace.prepare("SELECT value FROM StringIds WHERE id = ?1")?,
            add: export.prepare("INSERT INTO StringIds (id, value) VALUES (?1, ?2)")?,
            next: export.query_row(next, [], |row| row.get(0))?,
            known: HashMap::new(),
        })
    }

    fn id(&mut self, theirs: i64) -> rusqlite::Result<i64> {
        if let Some(id) = self.known.get(&theirs) {
            return Ok(*id);
        }
        let text: Option<String> = self.read.query_row([theirs], |row| row.get(0))?;
        let id = self.next;
        self.add.execute(params![id, text])?;
        self.next += 1;
        self.known.insert(theirs, id);
        Ok(id)
    }
}
