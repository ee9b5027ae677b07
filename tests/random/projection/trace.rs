//! Small random captures with few distinct times, so that many bounds coincide.

use crate::support::{NEWEST_COMMON, project};
use rusqlite::{Connection, ToSql, params};
use std::fmt;
use std::path::Path;

/// The bits of a globalTid that hold the thread.
const THREAD: i64 = 0xFF_FFFF;

/// The globalPid of a thread's process.
pub fn process(global_tid: i64) -> i64 {
    global_tid & !THREAD
}

/// A text as NVTX records it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Text {
    Empty,
    Inline(&'static str),
    Registered(&'static str),
}

impl Text {
    pub fn get(self) -> Option<&'static str> {
        match self {
            Self::Empty => None,
            Self::Inline(text) | Self::Registered(text) => Some(text),
        }
    }
}

/// The registered texts and the names of kernels. The id of a string is its index plus one.
pub const STRINGS: [&str; 11] = [
    "forward",
    "step 1",
    "step 2",
    // In the default domain, this reads like "forward" in the domain "lib".
    "lib:forward",
    "lib",
    "other",
    "gemm<float>",
    "gemm<half>",
    "softmax",
    "gemm",
    "cudaLaunchKernel_v7000",
];
const RANGE_TEXTS: [&str; 4] = ["forward", "step 1", "step 2", "lib:forward"];
const DOMAIN_TEXTS: [&str; 2] = ["lib", "other"];
/// String ids of the kernels' demangled names; two kernels share a short name.
pub const KERNELS: [i64; 3] = [7, 8, 9];

fn string_id(text: &str) -> i64 {
    1 + STRINGS.iter().position(|string| *string == text).expect("a registered string") as i64
}

pub const PUSH_POP: i64 = 59;
pub const START_END: i64 = 60;
const IMPORTED_PUSH_POP: i64 = 70;
const IMPORTED_START_END: i64 = 71;
const MARK: i64 = 34;
const DOMAIN: i64 = 75;
const DOMAIN_END: i64 = 76;

#[derive(Debug, Clone)]
pub struct Range {
    pub id: i64,
    pub start: i64,
    pub end: Option<i64>,
    pub event_type: i64,
    pub thread: i64,
    pub end_thread: Option<i64>,
    pub text: Text,
    pub domain: Option<i64>,
}

impl Range {
    pub fn is_push_pop(&self) -> bool {
        [PUSH_POP, IMPORTED_PUSH_POP].contains(&self.event_type)
    }
}

/// An NVTX event other than a range. Domain events name domains; the others must have no effect.
#[derive(Debug, Clone)]
pub struct Event {
    pub id: i64,
    pub start: i64,
    pub event_type: i64,
    pub thread: i64,
    pub text: Text,
    pub domain: Option<i64>,
}

impl Event {
    pub fn makes_domain(&self) -> bool {
        self.event_type == DOMAIN
    }
}

#[derive(Debug, Clone)]
pub struct Call {
    pub id: i64,
    pub start: i64,
    pub end: i64,
    /// 0 for the runtime, 1 for the driver.
    pub class: i64,
    pub thread: i64,
    pub correlation: Option<i64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpKind {
    Kernel,
    Memcpy,
    Memset,
    Graph,
}

impl OpKind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Kernel => "kernel",
            Self::Memcpy => "memcpy",
            Self::Memset => "memset",
            Self::Graph => "graph",
        }
    }

    fn table(self) -> &'static str {
        match self {
            Self::Kernel => "CUPTI_ACTIVITY_KIND_KERNEL",
            Self::Memcpy => "CUPTI_ACTIVITY_KIND_MEMCPY",
            Self::Memset => "CUPTI_ACTIVITY_KIND_MEMSET",
            Self::Graph => "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
        }
    }
}

const OP_KINDS: [OpKind; 4] = [OpKind::Kernel, OpKind::Memcpy, OpKind::Memset, OpKind::Graph];

#[derive(Debug, Clone)]
pub struct Op {
    pub kind: OpKind,
    pub id: i64,
    pub start: i64,
    pub end: i64,
    pub process: i64,
    pub correlation: Option<i64>,
    /// The string id of a kernel's demangled name.
    pub name: Option<i64>,
}

#[derive(Debug, Clone, Default)]
pub struct Trace {
    pub ranges: Vec<Range>,
    pub events: Vec<Event>,
    pub calls: Vec<Call>,
    pub ops: Vec<Op>,
    /// Whether tables without rows exist, as after `nsys export --lazy=false`.
    pub has_empty_tables: bool,
}

/// How many rows a trace may have.
#[derive(Clone, Copy)]
pub struct Size {
    pub ranges: u64,
    pub calls: u64,
    pub ops: u64,
}

/// Small enough to check by hand.
pub const SMALL: Size = Size { ranges: 25, calls: 20, ops: 25 };
/// Larger than any block that an implementation may work in.
pub const LARGE: Size = Size { ranges: 250, calls: 700, ops: 900 };

/// Knuth's linear congruential generator. Only its high bits are used, as the low ones are weak.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    fn up_to(&mut self, most: i64) -> i64 {
        self.below(most as u64 + 1) as i64
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize].clone()
    }

    fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last as u64 + 1) as usize);
        }
    }
}

/// Builds the trace of a seed.
struct Maker {
    random: Random,
    size: Size,
    /// The first time, and the number of distinct times.
    origin: i64,
    times: i64,
    threads: Vec<i64>,
    trace: Trace,
    /// Bounds of earlier intervals, for later ones to reuse.
    bounds: Vec<(i64, i64)>,
}

impl Trace {
    pub fn random(seed: u64, size: Size) -> Self {
        // Spread the seeds: neighbouring small seeds would give neighbouring first draws.
        let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        random.below(1);
        let times = if size.calls > SMALL.calls {
            random.pick(&[200, 5_000])
        } else {
            random.pick(&[3, 8, 20, 40, 40, 1_000])
        };
        let origin = random.pick(&[0, -times / 2, -1_000_000_007]);
        let threads = threads(&mut random);
        let trace = Trace { has_empty_tables: random.one_in(5), ..Trace::default() };
        let mut maker = Maker { random, size, origin, times, threads, trace, bounds: Vec::new() };
        maker.fill();
        maker.trace
    }
}

/// Two or three processes of one to three threads each.
fn threads(random: &mut Random) -> Vec<i64> {
    let process = |hardware: i64, vm: i64, pid: i64| hardware << 56 | vm << 48 | pid << 24;
    let first = process(0, 1, 100);
    // With the same pid, the second process is on another host; the domain names are then shared.
    let second = if random.one_in(3) { process(0, 2, 100) } else { process(0, 1, 200) };
    // The highest bit makes the id negative.
    let third = if random.one_in(2) { process(0x80, 1, 300) } else { process(0, 1, 300) };
    let mut threads = Vec::new();
    for process in &[first, second, third][..random.pick(&[2, 3])] {
        for thread in 0..random.pick(&[1, 1, 2, 3]) {
            // The main thread's tid equals the pid; other threads have the same tids in all processes.
            threads.push(process | if thread == 0 { process >> 24 & THREAD } else { 7_000 + thread });
        }
    }
    threads
}

impl Maker {
    fn fill(&mut self) {
        let style = self.random.below(3);
        let Size { mut ranges, mut calls, ops } = self.size;
        (ranges, calls) = (self.random.below(ranges + 1), self.random.below(calls + 1));
        if style > 0 {
            // As in a real program: ranges nest and calls follow each other.
            self.walk(&mut ranges, &mut calls);
        }
        if style < 2 {
            (0..calls).for_each(|_| self.any_call());
            (0..ranges).for_each(|_| self.any_range());
        }
        let ops = self.random.below(ops + 1);
        (0..ops).for_each(|_| self.any_op());
        for _ in 0..self.random.below(5) {
            self.any_event();
        }
        // A start and an end of 0, or before, would be no times.
        let calls = self.trace.calls.iter_mut().map(|call| (&mut call.start, &mut call.end));
        let ops = self.trace.ops.iter_mut().map(|op| (&mut op.start, &mut op.end));
        for (start, end) in calls.chain(ops).filter(|(start, end)| **end == **start && **start <= 0) {
            (*start, *end) = (1, 1);
        }
        self.number();
    }

    /// A thread, with a bias towards the first ones.
    fn thread(&mut self) -> i64 {
        let threads = self.threads.len() as u64;
        let nth = self.random.below(threads).min(self.random.below(threads));
        self.threads[nth as usize]
    }

    fn time(&mut self) -> i64 {
        self.origin + self.random.up_to(self.times)
    }

    /// A start and an end, often shared with an earlier interval.
    fn interval(&mut self) -> (i64, i64) {
        let last = self.origin + self.times;
        let (start, end) = (self.time(), self.time());
        let any = (start.min(end), start.max(end));
        if self.bounds.is_empty() || self.random.one_in(3) {
            return if self.random.one_in(4) { (start, start) } else { any };
        }
        let (start, end) = self.random.pick(&self.bounds);
        match self.random.below(7) {
            0 => (start, end),
            1 => (start, any.1.max(start)),
            2 => (any.0.min(end), end),
            3 => (end, any.1.max(end)),
            4 => (any.0.min(start), start),
            5 => (start, (start + self.random.up_to(3)).min(last).max(start)),
            _ => (start.saturating_sub(self.random.up_to(3)).max(self.origin), end),
        }
    }

    /// A correlation id. Two processes share their ids; the third one has ids beyond 32 bits.
    fn correlation(&mut self, thread: i64) -> i64 {
        let few = 2 + self.size.calls / 2;
        let number = 1 + self.random.below(few) as i64;
        if thread >> 24 & THREAD == 300 { 4_294_967_290 + number } else { number }
    }

    fn any_range(&mut self) {
        let (start, end) = self.interval();
        self.range(start, end);
        if self.random.one_in(8) {
            self.range(start, end); // the same bounds, perhaps in another thread
            if self.random.one_in(2) {
                let thread = self.trace.ranges[self.trace.ranges.len() - 2].thread;
                self.trace.ranges.last_mut().expect("just pushed").thread = thread;
            }
        }
    }

    fn range(&mut self, start: i64, end: i64) {
        let thread = self.thread();
        let event_type =
            self.random.pick(&[PUSH_POP, PUSH_POP, START_END, IMPORTED_PUSH_POP, IMPORTED_START_END]);
        self.range_of(thread, event_type, start, end);
    }

    fn range_of(&mut self, thread: i64, event_type: i64, start: i64, end: i64) {
        let (text, domain) = (self.text(&RANGE_TEXTS), self.domain());
        let mut range = Range {
            id: 0,
            start,
            end: (!self.random.one_in(12)).then_some(end),
            event_type,
            thread,
            end_thread: None,
            text,
            domain,
        };
        if !range.is_push_pop() && self.random.one_in(4) {
            range.end_thread = Some(self.thread());
        }
        self.bounds.push((start, end));
        self.trace.ranges.push(range);
    }

    fn text(&mut self, texts: &[&'static str]) -> Text {
        let text = self.random.pick(texts);
        match self.random.below(7) {
            0 => Text::Empty,
            1..4 => Text::Registered(text),
            _ => Text::Inline(text),
        }
    }

    fn domain(&mut self) -> Option<i64> {
        self.random.pick(&[None, Some(0), Some(0), Some(1), Some(2), Some(3)])
    }

    /// A domain (perhaps created twice, with different names), its end, or a mark after all other
    /// events.
    fn any_event(&mut self) {
        let event_type = self.random.pick(&[DOMAIN, DOMAIN, DOMAIN, MARK, DOMAIN_END]);
        let start = if event_type == MARK { self.origin + self.times + 99 } else { self.time() };
        let (thread, text) = (self.thread(), self.text(&DOMAIN_TEXTS));
        let domain = Some(1 + self.random.up_to(2));
        self.trace.events.push(Event { id: 0, start, event_type, thread, text, domain });
    }

    /// Any call; calls of one thread may overlap.
    fn any_call(&mut self) {
        let (thread, (start, end)) = (self.thread(), self.interval());
        let correlation = match self.random.below(12) {
            0 => None,
            1 => Some(0),
            _ => Some(self.correlation(thread)),
        };
        self.call(thread, start, end, correlation);
    }

    fn call(&mut self, thread: i64, start: i64, end: i64, correlation: Option<i64>) {
        let class = self.random.pick(&[0, 0, 1]);
        self.bounds.push((start, end));
        self.trace.calls.push(Call { id: 0, start, end, class, thread, correlation });
        if self.random.one_in(5) {
            // The driver call inside. With its own correlation id, both calls may launch something.
            let inner_start = start + self.random.up_to(end - start);
            let inner_end = inner_start + self.random.up_to(end - inner_start);
            let number =
                if self.random.one_in(3) { Some(self.correlation(thread)) } else { correlation };
            let inner = (inner_start, inner_end);
            let (start, end) = if self.random.one_in(3) { (start, end) } else { inner };
            self.trace.calls.push(Call { id: 0, start, end, class: 1, thread, correlation: number });
        }
    }

    /// Threads push, pop and call in sequence, as a program does.
    fn walk(&mut self, ranges: &mut u64, calls: &mut u64) {
        for thread in self.threads.clone() {
            let mut now = self.time().min(self.origin + self.times / 3);
            let mut open: Vec<i64> = Vec::new();
            let most = (self.times / self.size.calls as i64).max(1) + 1;
            while now < self.origin + self.times && (*ranges > 0 || *calls > 0) {
                match self.random.below(5) {
                    0 | 1 if *ranges > open.len() as u64 => open.push(now),
                    2 if !open.is_empty() => {
                        let start = open.pop().expect("not empty");
                        self.range_of(thread, PUSH_POP, start, now);
                        *ranges -= 1;
                    }
                    3 | 4 if *calls > 0 => {
                        let end = now + self.random.up_to(most);
                        let correlation = Some(self.correlation(thread));
                        self.call(thread, now, end, correlation);
                        *calls -= 1;
                        now = end;
                    }
                    _ => {}
                }
                now += self.random.up_to(most);
            }
            while let Some(start) = open.pop() {
                self.range_of(thread, PUSH_POP, start, now);
                *ranges -= 1;
                now += self.random.up_to(most);
            }
            if self.random.one_in(3) {
                break;
            }
        }
    }

    fn any_op(&mut self) {
        let kind = self.random.pick(&[&OP_KINDS[..], &[OpKind::Kernel; 3]].concat());
        // The start is independent of the launch, and may be before it.
        let start = self.time();
        let end = if self.random.one_in(6) { start } else { start + self.random.up_to(9) };
        let thread = self.thread();
        let (mut process, mut correlation) = (process(thread), Some(self.correlation(thread)));
        match self.random.below(16) {
            0 => correlation = Some(0),
            1 => correlation = None,
            2 => correlation = Some(999_999),
            3 => {} // perhaps the id of another process's call
            _ if self.trace.calls.is_empty() => {}
            _ => {
                let call = self.random.pick(&self.trace.calls);
                (process, correlation) =
                    (crate::projection::trace::process(call.thread), call.correlation);
            }
        }
        let name = (kind == OpKind::Kernel).then(|| self.random.pick(&KERNELS));
        self.trace.ops.push(Op { kind, id: 0, start, end, process, correlation, name });
    }

    /// Gives every row its id, in order of creation or shuffled.
    fn number(&mut self) {
        let Self { random, trace, .. } = self;
        if !random.one_in(3) {
            random.shuffle(&mut trace.ranges);
            random.shuffle(&mut trace.calls);
        }
        let has_gaps = random.one_in(3);
        let mut next = |id: &mut i64| {
            *id += 1 + if has_gaps { random.up_to(2) } else { 0 };
            *id
        };
        let mut last = 0;
        // Half of the events come before the ranges, half after.
        let before = trace.events.len() / 2;
        trace.events[..before].iter_mut().for_each(|event| event.id = next(&mut last));
        trace.ranges.iter_mut().for_each(|range| range.id = next(&mut last));
        trace.events[before..].iter_mut().for_each(|event| event.id = next(&mut last));
        let mut last = 0;
        trace.calls.iter_mut().for_each(|call| call.id = next(&mut last));
        for kind in OP_KINDS {
            let mut last = 0;
            for op in trace.ops.iter_mut().filter(|op| op.kind == kind) {
                op.id = next(&mut last);
            }
        }
    }
}

impl Trace {
    /// Writes the trace as an export of the newest common version, replacing an existing file.
    pub fn write(&self, path: &Path) {
        if path.exists() {
            std::fs::remove_file(path).unwrap();
        }
        let file = Connection::open(path).unwrap();
        file.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN").unwrap();
        file.execute_batch(&definition("StringIds")).unwrap();
        let rows: Vec<_> = (1i64..).zip(STRINGS).collect();
        insert(&file, "INSERT INTO StringIds VALUES (?, ?)", &rows, |(id, value), insert| {
            insert(params![id, value]);
        });
        let table = |name: &str, rows: usize| {
            if rows > 0 || self.has_empty_tables {
                file.execute_batch(&definition(name)).unwrap();
            }
        };
        table("NVTX_EVENTS", self.ranges.len() + self.events.len());
        let sql = "INSERT INTO NVTX_EVENTS (rowid, start, end, eventType, text, globalTid, endGlobalTid, textId, domainId) \
                   VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)";
        insert(&file, sql, &self.events, |event, insert| {
            let (text, text_id) = columns(event.text);
            let Event { id, start, event_type, thread, domain, .. } = event;
            let none: Option<i64> = None;
            insert(params![id, start, none, event_type, text, thread, none, text_id, domain]);
        });
        insert(&file, sql, &self.ranges, |range, insert| {
            let (text, text_id) = columns(range.text);
            let Range { id, start, end, event_type, thread, end_thread, domain, .. } = range;
            insert(params![id, start, end, event_type, text, thread, end_thread, text_id, domain]);
        });
        table("CUPTI_ACTIVITY_KIND_RUNTIME", self.calls.len());
        let sql = "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME \
                   (rowid, start, end, eventClass, globalTid, correlationId, nameId, returnValue) \
                   VALUES (?, ?, ?, ?, ?, ?, 11, 0)";
        insert(&file, sql, &self.calls, |call, insert| {
            let Call { id, start, end, class, thread, correlation } = call;
            insert(params![id, start, end, class, thread, correlation]);
        });
        for kind in OP_KINDS {
            let ops: Vec<&Op> = self.ops.iter().filter(|op| op.kind == kind).collect();
            table(kind.table(), ops.len());
            // Columns that must not be null and have no meaning here.
            let (others, values) = match kind {
                OpKind::Kernel => (
                    "demangledName, shortName, registersPerThread, gridX, gridY, gridZ, blockX, blockY, blockZ, \
                     staticSharedMemory, dynamicSharedMemory, localMemoryPerThread, localMemoryTotal, gridId, tensorSizeMinusOneElements",
                    "?6, iif(?6 < 9, 10, 9), 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, ''",
                ),
                OpKind::Memcpy => ("bytes, copyKind", "8, coalesce(?6, 1)"),
                OpKind::Memset => ("bytes, value", "8, coalesce(?6, 0)"),
                OpKind::Graph => ("graphId, graphExecId", "1, coalesce(?6, 1)"),
            };
            let sql = format!(
                "INSERT INTO {} (rowid, start, end, globalPid, correlationId, deviceId, contextId, streamId, {others}) \
                 VALUES (?1, ?2, ?3, ?4, ?5, 0, 1, 7, {values})",
                kind.table()
            );
            insert(&file, &sql, &ops, |op, insert| {
                insert(params![op.id, op.start, op.end, op.process, op.correlation, op.name]);
            });
        }
        file.execute_batch("COMMIT").unwrap();
    }

    /// Smaller traces: each leaves out some rows, from many at a time to one.
    pub fn reductions(&self) -> impl Iterator<Item = Self> + '_ {
        [16, 8, 4, 2, 1].into_iter().flat_map(move |chunk: usize| {
            let without = move |len: usize| (0..len.div_ceil(chunk)).map(move |nth| nth * chunk);
            let cut = move |at: usize, len: usize| at..(at + chunk).min(len);
            let ranges = without(self.ranges.len()).map(move |at| {
                let mut trace = self.clone();
                trace.ranges.drain(cut(at, self.ranges.len()));
                trace
            });
            let calls = without(self.calls.len()).map(move |at| {
                let mut trace = self.clone();
                trace.calls.drain(cut(at, self.calls.len()));
                trace
            });
            let ops = without(self.ops.len()).map(move |at| {
                let mut trace = self.clone();
                trace.ops.drain(cut(at, self.ops.len()));
                trace
            });
            let events = without(self.events.len()).map(move |at| {
                let mut trace = self.clone();
                trace.events.drain(cut(at, self.events.len()));
                trace
            });
            ranges.chain(calls).chain(ops).chain(events)
        })
    }
}

/// `text` and `textId`.
fn columns(text: Text) -> (Option<&'static str>, Option<i64>) {
    match text {
        Text::Empty => (None, None),
        Text::Inline(text) => (Some(text), None),
        Text::Registered(text) => (None, Some(string_id(text))),
    }
}

fn insert<T>(
    file: &Connection,
    sql: &str,
    rows: &[T],
    values: impl Fn(&T, &mut dyn FnMut(&[&dyn ToSql])),
) {
    if rows.is_empty() {
        return;
    }
    let mut statement = file.prepare(sql).unwrap();
    for row in rows {
        values(row, &mut |values| {
            statement.execute(values).unwrap();
        });
    }
}

/// The `CREATE TABLE` statement of the newest common schema.
pub fn definition(table: &str) -> String {
    static SCHEMA: std::sync::LazyLock<String> = std::sync::LazyLock::new(|| {
        std::fs::read_to_string(project(&format!("fixtures/schema/{NEWEST_COMMON}.sql"))).unwrap()
    });
    let start = SCHEMA.find(&format!("CREATE TABLE {table} (")).expect("a table of the schema");
    let len = SCHEMA[start..].find(";\n").expect("an end") + 1;
    SCHEMA[start..start + len].to_owned()
}

impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for range in &self.ranges {
            writeln!(f, "  {range:?}")?;
        }
        for event in &self.events {
            writeln!(f, "  {event:?}")?;
        }
        for call in &self.calls {
            writeln!(f, "  {call:?}")?;
        }
        self.ops.iter().try_for_each(|op| writeln!(f, "  {op:?}"))
    }
}
