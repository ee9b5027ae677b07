//! Packets of a trace, one after the other. Names are written once, and referred to by number.

use crate::schema::{
    COUNTER, INCREMENTAL_STATE_CLEARED, Interned, InternedData, NEEDS_INCREMENTAL_STATE, SLICE_BEGIN,
    SLICE_END, Trace, TracePacket, TrackDescriptor, TrackEvent,
};
use prost::Message;
use std::collections::HashMap;
use std::io::{self, Write};

/// All packets are one sequence: they share the interned names.
const SEQUENCE: u32 = 1;

/// What was written.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Counts {
    pub(crate) tracks: u64,
    pub(crate) slices: u64,
    pub(crate) flows: u64,
    pub(crate) counter_values: u64,
}

/// A value of a counter.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Number {
    Int(i64),
    Real(f64),
}

/// Writes packets to `out`.
pub(crate) struct Packets<W> {
    out: W,
    buffer: Vec<u8>,
    names: HashMap<String, u64>,
    categories: HashMap<String, u64>,
    is_first: bool,
    pub(crate) counts: Counts,
}

impl<W: Write> Packets<W> {
    pub(crate) fn new(out: W) -> Self {
        let (buffer, names, categories) = (Vec::new(), HashMap::new(), HashMap::new());
        Self { out, buffer, names, categories, is_first: true, counts: Counts::default() }
    }

    /// Ends the trace.
    pub(crate) fn into_inner(self) -> W {
        self.out
    }

    pub(crate) fn describe(&mut self, track: TrackDescriptor) -> io::Result<()> {
        self.counts.tracks += 1;
        self.write(TracePacket { track_descriptor: Some(track), ..TracePacket::default() })
    }

    /// The start of a slice. The first time that a `flow` is written, an arrow begins; the second time, it ends.
    pub(crate) fn begin(
        &mut self,
        track_uuid: u64,
        at_ns: u64,
        category: &str,
        name: &str,
        flow: Option<u64>,
    ) -> io::Result<()> {
        let mut new = InternedData::default();
        let category = intern(&mut self.categories, category, &mut new.event_categories);
        let name = intern(&mut self.names, name, &mut new.event_names);
        let has_new = !new.event_categories.is_empty() || !new.event_names.is_empty();
        self.counts.slices += 1;
        self.write(TracePacket {
            timestamp: Some(at_ns),
            interned_data: has_new.then_some(new),
            sequence_flags: NEEDS_INCREMENTAL_STATE,
            track_event: Some(TrackEvent {
                r#type: SLICE_BEGIN,
                track_uuid,
                category_iids: vec![category],
                name_iid: Some(name),
                flow_ids: flow.into_iter().collect(),
                ..TrackEvent::default()
            }),
            ..TracePacket::default()
        })
    }

    /// The end of the innermost open slice of a track.
    pub(crate) fn end(&mut self, track_uuid: u64, at_ns: u64) -> io::Result<()> {
        let event = TrackEvent { r#type: SLICE_END, track_uuid, ..TrackEvent::default() };
        self.event(at_ns, event)
    }

    pub(crate) fn counter(&mut self, track_uuid: u64, at_ns: u64, value: Number) -> io::Result<()> {
        self.counts.counter_values += 1;
        let mut event = TrackEvent { r#type: COUNTER, track_uuid, ..TrackEvent::default() };
        match value {
            Number::Int(value) => event.counter_value = Some(value),
            Number::Real(value) => event.double_counter_value = Some(value),
        }
        self.event(at_ns, event)
    }

    fn event(&mut self, at_ns: u64, event: TrackEvent) -> io::Result<()> {
        let (timestamp, track_event) = (Some(at_ns), Some(event));
        let sequence_flags = NEEDS_INCREMENTAL_STATE;
        self.write(TracePacket { timestamp, track_event, sequence_flags, ..TracePacket::default() })
    }

    fn write(&mut self, mut packet: TracePacket) -> io::Result<()> {
        packet.trusted_packet_sequence_id = SEQUENCE;
        if std::mem::take(&mut self.is_first) {
            packet.sequence_flags |= INCREMENTAL_STATE_CLEARED;
        }
        self.buffer.clear();
        Trace { packet: vec![packet] }.encode(&mut self.buffer).map_err(io::Error::other)?;
        self.out.write_all(&self.buffer)
    }
}

/// The number of a name, which `new` gets if this is its first use.
fn intern(known: &mut HashMap<String, u64>, name: &str, new: &mut Vec<Interned>) -> u64 {
    if let Some(iid) = known.get(name) {
        return *iid;
    }
    let iid = known.len() as u64 + 1;
    known.insert(name.to_owned(), iid);
    new.push(Interned { iid, name: name.to_owned() });
    iid
}
