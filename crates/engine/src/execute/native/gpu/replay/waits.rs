//! What calls and operations wait for.

use super::functions::FunctionKind;
use super::launched::{Launched, Near};
use crate::execute::native::gpu::answers::Answers;
use crate::execute::native::ids::{self, NO_ID, PROCESS};
use crate::execute::native::reader::Reader;
use foldhash::{HashMap, HashMapExt, HashSet};
use nsq_sweep::occupancy::NONE;
use nsq_sweep::projection::OpKind;
use nsq_sweep::replay::Capture;
use nsq_value::error::Result;
use std::collections::BTreeMap;

/// Threads of a process take turns if a turn has this many calls on average.
const LONG_TURN: usize = 8;

/// What is known of a report before its waits.
pub(super) struct Waits<'a> {
    pub(super) answers: &'a Answers,
    pub(super) functions: &'a [FunctionKind],
    pub(super) places: &'a [u32],
    pub(super) outer_of: &'a [u32],
}

/// A wait as the driver recorded it.
#[derive(Clone, Copy)]
struct Recorded {
    stream: Option<i64>,
    event: Option<i64>,
    context: Option<i64>,
}

/// An event that was recorded: when, and on which stream.
type Record = (i64, u32);

impl Waits<'_> {
    /// Adds the waits of calls, those of streams for events, and those of threads for each other.
    pub(super) fn add(&self, reader: &mut Reader, capture: &mut Capture) -> Result<()> {
        let launched = Launched::new(self.answers, capture);
        let calls = self.named_calls(capture);
        let records = self.records(reader, capture, &calls)?;
        let recorded = self.recorded(reader, &calls)?;
        let mut own: HashMap<u32, Vec<u32>> = HashMap::new();
        for (place, op) in (0u32..).zip(&capture.ops) {
            let is_copy = self.answers.occupancy.ops[place as usize].kind != OpKind::Kernel;
            if op.launch != NONE && is_copy && op.end <= capture.calls[op.launch as usize].end {
                own.entry(op.launch).or_default().push(place);
            }
        }
        for (&call, ops) in &own {
            capture.waits.extend(ops.iter().map(|&op| (call, op)));
        }
        let waiting = self.waiting_calls();
        let near = Near::new(capture, &waiting);
        for (call, kind) in waiting {
            let (process, start) = (self.process(call), capture.calls[call as usize].start);
            let known = recorded.get(&call).copied();
            match kind {
                FunctionKind::StreamWait => {
                    let event =
                        known.and_then(|known| self.record(&records, process, known.event, start));
                    let waits =
                        known.and_then(|known| self.stream(process, known.stream, known.context));
                    let likely = near.likely(capture, call, &launched);
                    let source = event
                        .map_or(likely.map(|(_, source)| source), |(at, from)| launched.last(from, at));
                    let op =
                        waits.map_or(likely.map(|(op, _)| op), |stream| launched.next(stream, start));
                    if let (Some(source), Some(op)) = (source, op) {
                        capture.events.push((op, source));
                    }
                }
                FunctionKind::Event => match known {
                    Some(known) => {
                        let record = self.record(&records, process, known.event, start);
                        let op = record.and_then(|(at, stream)| launched.last(stream, at));
                        match op {
                            Some(op) => launched.wait(call, op, capture),
                            None => self.wait_for_event(call, &launched, capture),
                        }
                    }
                    None => self.wait_for_event(call, &launched, capture),
                },
                FunctionKind::Stream => {
                    let stream =
                        known.and_then(|known| self.stream(process, known.stream, known.context));
                    match stream {
                        Some(stream) => {
                            if let Some(op) = launched.awaited(stream, call, capture) {
                                launched.wait(call, op, capture);
                            }
                        }
                        None => self.wait_for_any(call, &launched, capture),
                    }
                }
                FunctionKind::Device | FunctionKind::Free => {
                    let context = known.and_then(|known| known.context);
                    let is_in = |stream: &&u32| {
                        let of = self.answers.occupancy.streams[**stream as usize].context_id;
                        context.is_none() || of.is_none() || of == context
                    };
                    let streams = launched.streams(process).iter().filter(is_in);
                    for &stream in streams {
                        if let Some(op) = launched.awaited(stream, call, capture) {
                            launched.wait(call, op, capture);
                        }
                    }
                }
                FunctionKind::Blocking if !own.contains_key(&call) => {
                    self.wait_for_any(call, &launched, capture);
                }
                _ => {}
            }
        }
        self.default_streams(reader, &launched, capture)?;
        self.take_turns(capture);
        Ok(())
    }

    /// Of a call that waits for something unknown: the stream that ended last while it waited.
    fn wait_for_any(&self, call: u32, launched: &Launched, capture: &mut Capture) {
        let of = capture.calls[call as usize];
        let streams = launched.streams(self.process(call)).iter();
        let last = streams.filter_map(|&stream| launched.last(stream, of.start));
        let ended = last.filter(|&op| (of.start..=of.end).contains(&capture.ops[op as usize].end));
        let last = ended.max_by_key(|&op| (capture.ops[op as usize].end, op));
        capture.waits.extend(last.map(|op| (call, op)));
    }

    /// Of a call that waits for an event which nothing recorded: the operation that ended last while it waited. Others may
    /// have been launched after that event.
    fn wait_for_event(&self, call: u32, launched: &Launched, capture: &mut Capture) {
        let of = capture.calls[call as usize];
        let end = |op: u32| capture.ops[op as usize].end;
        let ended = launched.streams(self.process(call)).iter().filter_map(|&stream| {
            let ops = &launched.ops[stream as usize];
            let before = &ops[..ops.partition_point(|&(at, _)| at < of.start)];
            let ended = before.partition_point(|&(_, op)| end(op) <= of.end);
            ended.checked_sub(1).map(|place| before[place].1).filter(|&op| end(op) >= of.start)
        });
        let last = ended.max_by_key(|&op| (end(op), op));
        capture.waits.extend(last.map(|op| (call, op)));
    }

    fn process(&self, call: u32) -> i64 {
        let calls = &self.answers.launches().calls;
        calls.global_tids[calls.threads()[self.places[call as usize] as usize] as usize] & PROCESS
    }

    fn kind(&self, place: u32) -> FunctionKind {
        let calls = &self.answers.launches().calls;
        if calls.is_poll(place) {
            return FunctionKind::Event;
        }
        let name = calls.names()[place as usize];
        self.functions.get(name as usize).copied().unwrap_or_default()
    }

    /// The calls that wait or let wait, also those inside others.
    fn waiting_calls(&self) -> Vec<(u32, FunctionKind)> {
        let of = |(place, &outer): (u32, &u32)| (outer, self.kind(place));
        let mut calls: Vec<(u32, FunctionKind)> = (0u32..).zip(self.outer_of).map(of).collect();
        calls.retain(|(_, kind)| !matches!(kind, FunctionKind::Other | FunctionKind::Allocation));
        calls.sort_unstable_by_key(|&(call, kind)| (call, kind as u8));
        calls.dedup();
        calls
    }

    /// The calls about events and waits, by process and correlation ID.
    fn named_calls(&self, _: &Capture) -> HashMap<(i64, i64), u32> {
        let calls = &self.answers.launches().calls;
        let mut named = HashMap::new();
        for (place, &outer) in (0u32..).zip(self.outer_of) {
            let kind = self.kind(place);
            if kind != FunctionKind::Other && kind != FunctionKind::Allocation {
                named.insert((self.process(outer), calls.correlation(place as usize)), outer);
            }
        }
        named
    }

    /// When each event was recorded, by process and event.
    fn records(
        &self,
        reader: &mut Reader,
        capture: &Capture,
        calls: &HashMap<(i64, i64), u32>,
    ) -> Result<HashMap<(i64, i64), Vec<Record>>> {
        let mut records: HashMap<(i64, i64), Vec<Record>> = HashMap::new();
        if self.answers.calls.input.reads("all_event_record") {
            let sql = "SELECT global_pid, correlation_id, event_id, stream_id, context_id FROM all_event_record";
            reader.rows(sql, |cells| {
                let process = cells.int(0).unwrap_or(NO_ID);
                let call = cells.int(1).and_then(|id| calls.get(&(process, id)));
                let stream = self.stream(process, cells.int(3), cells.int(4));
                if let (Some(&call), Some(event), Some(stream)) = (call, cells.int(2), stream) {
                    let at = capture.calls[call as usize].start;
                    records.entry((process, event)).or_default().push((at, stream));
                }
                Ok(())
            })?;
        }
        records.values_mut().for_each(|of| of.sort_unstable());
        Ok(records)
    }

    /// The last time that an event was recorded before a time.
    fn record(
        &self,
        records: &HashMap<(i64, i64), Vec<Record>>,
        process: i64,
        event: Option<i64>,
        before: i64,
    ) -> Option<Record> {
        let of = records.get(&(process, event?))?;
        of.partition_point(|&(at, _)| at < before).checked_sub(1).map(|place| of[place])
    }

    /// The waits as the driver recorded them, by call.
    fn recorded(
        &self,
        reader: &mut Reader,
        calls: &HashMap<(i64, i64), u32>,
    ) -> Result<HashMap<u32, Recorded>> {
        let mut recorded = HashMap::new();
        if self.answers.calls.input.reads("all_cuda_sync") {
            let sql =
                "SELECT global_pid, correlation_id, stream_id, event_id, context_id FROM all_cuda_sync";
            reader.rows(sql, |cells| {
                let process = cells.int(0).unwrap_or(NO_ID);
                if let Some(&call) = cells.int(1).and_then(|id| calls.get(&(process, id))) {
                    let (stream, event) = (cells.int(2), cells.int(3));
                    recorded.insert(call, Recorded { stream, event, context: cells.int(4) });
                }
                Ok(())
            })?;
        }
        Ok(recorded)
    }

    /// The stream with this ID in a process.
    fn stream(&self, process: i64, id: Option<i64>, context: Option<i64>) -> Option<u32> {
        let id = id?;
        let streams = (0u32..).zip(&self.answers.occupancy.streams);
        let mut found = streams.filter(|(_, of)| {
            of.global_pid == process
                && of.stream_id == Some(id)
                && (context.is_none() || of.context_id.is_none() || of.context_id == context)
        });
        found.next().map(|(place, _)| place)
    }

    /// Operations of a default stream wait for those of other streams of its context that were launched before, and the
    /// other way round, except for streams that are made not to.
    fn default_streams(
        &self,
        reader: &mut Reader,
        launched: &Launched,
        capture: &mut Capture,
    ) -> Result<()> {
        if !self.answers.calls.input.reads("all_stream") {
            return Ok(());
        }
        let mut kinds: HashMap<(i64, i64, i64), bool> = HashMap::new();
        reader.rows("SELECT pid, context_id, stream_id, stream_kind FROM all_stream", |cells| {
            let ids = cells.int(0).zip(cells.int(1)).zip(cells.int(2));
            let kind = cells.text(3).unwrap_or_default();
            if let Some(((pid, context), stream)) = ids {
                match kind {
                    b"Null stream" => _ = kinds.insert((pid, context, stream), true),
                    b"Default stream" => _ = kinds.insert((pid, context, stream), false),
                    _ => {}
                }
            }
            Ok(())
        })?;
        let kind = |stream: u32| {
            let of = &self.answers.occupancy.streams[stream as usize];
            let key = (ids::pid(of.global_pid)?, of.context_id?, of.stream_id?);
            kinds.get(&key).map(|&is_null| (is_null, (key.0, key.1)))
        };
        // For each context: its default stream, and those that wait for it.
        let mut contexts: BTreeMap<(i64, i64), (Vec<u32>, Vec<u32>)> = BTreeMap::new();
        for stream in 0..self.answers.occupancy.streams.len() as u32 {
            if let Some((is_null, context)) = kind(stream) {
                let of = contexts.entry(context).or_default();
                if is_null { of.0.push(stream) } else { of.1.push(stream) }
            }
        }
        for (nulls, others) in contexts.into_values() {
            for (&null, &other) in
                nulls.iter().flat_map(|null| others.iter().map(move |other| (null, other)))
            {
                for (waiting, awaited) in [(null, other), (other, null)] {
                    let mut last = None;
                    for &(at, op) in &launched.ops[waiting as usize] {
                        let source = launched.last(awaited, at);
                        // The operation before in the stream has waited for it.
                        if source != last {
                            capture.events.extend(source.map(|source| (op, source)));
                            last = source;
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Threads of a process that take turns to launch wait for each other: the first call of a turn follows the last one of
    /// the turn before, as a backward pass that another thread runs. A thread that launches nothing, such as one that
    /// polls, hands nothing on.
    fn take_turns(&self, capture: &mut Capture) {
        let launches = capture.ops.iter().filter(|op| op.launch != NONE);
        let threads: HashSet<u32> =
            launches.map(|op| capture.calls[op.launch as usize].thread).collect();
        let mut processes: BTreeMap<i64, Vec<u32>> = BTreeMap::new();
        for call in 0..self.places.len() as u32 {
            if threads.contains(&capture.calls[call as usize].thread) {
                processes.entry(self.process(call)).or_default().push(call);
            }
        }
        for mut calls in processes.into_values() {
            calls.sort_by_key(|&call| (capture.calls[call as usize].start, call));
            let of = |call: u32| capture.calls[call as usize];
            let is_turn = |pair: &&[u32]| of(pair[0]).thread != of(pair[1]).thread;
            let turns = calls.windows(2).filter(is_turn).count();
            if turns > 0 && calls.len() / turns >= LONG_TURN {
                let apart = |pair: &&[u32]| of(pair[0]).end <= of(pair[1]).start;
                let turns = calls.windows(2).filter(is_turn).filter(apart);
                let wakes: Vec<(u32, u32)> = turns.map(|pair| (pair[1], pair[0])).collect();
                capture.wakes.extend(wakes);
            }
        }
    }
}
