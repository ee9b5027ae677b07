//! Rows of a statement as slices or counter values.

use crate::packets::{Number, Packets};
use crate::tracks::{Owner, Tracks, Unit};
use nsq::{Column, Error, Result, RowSink, Value};
use std::io::Write;

/// The clock of a report: what turns its times into those of the trace.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Clock {
    /// Time of the report at which `offset_ns` holds.
    pub(crate) at_ns: i64,
    pub(crate) offset_ns: i64,
    pub(crate) drift_ppm: f64,
}

impl Clock {
    /// A time of the trace. The trace begins at 0.
    pub(crate) fn time(&self, ns: i64) -> u64 {
        let drift = 1e-6 * self.drift_ppm * (ns - self.at_ns) as f64;
        (ns + self.offset_ns + drift.round() as i64).max(0) as u64
    }
}

/// A report that is being written.
pub(crate) struct Target<'t, W> {
    pub(crate) packets: &'t mut Packets<W>,
    pub(crate) tracks: &'t mut Tracks,
    pub(crate) clock: Clock,
    /// Position of the report in the trace.
    pub(crate) place: u64,
}

fn int(value: &Value) -> Option<i64> {
    match value {
        Value::Int(int) => Some(*int),
        _ => None,
    }
}

fn text(value: &Value) -> &str {
    match value {
        Value::Text(text) => text,
        _ => "",
    }
}

/// Slices in the order of their tracks, then of start, the longest first. Columns: gpu_id, global_pid, global_tid,
/// track, start_ns, end_ns, category, name, flow_id.
pub(crate) struct Slices<'s, 't, W> {
    pub(crate) target: &'s mut Target<'t, W>,
    /// Whether these slices begin flows: the others end them.
    pub(crate) begins_flows: bool,
    track: Option<(Owner, String)>,
    /// The ends of the open slices of each lane, and the lane's track. The last of each ends first.
    lanes: Vec<(u64, Vec<u64>)>,
}

impl<'s, 't, W: Write> Slices<'s, 't, W> {
    pub(crate) fn new(target: &'s mut Target<'t, W>, begins_flows: bool) -> Self {
        Self { target, begins_flows, track: None, lanes: Vec::new() }
    }

    /// Ends the open slices that end until a time.
    fn close(&mut self, until_ns: u64) -> std::io::Result<()> {
        for (uuid, ends) in &mut self.lanes {
            while let Some(end_ns) = ends.pop_if(|end_ns| *end_ns <= until_ns) {
                self.target.packets.end(*uuid, end_ns)?;
            }
        }
        Ok(())
    }

    fn write(&mut self, row: &[Value]) -> std::io::Result<()> {
        let [gpu_id, global_pid, global_tid, track, start_ns, end_ns, category, name, flow_id] = row
        else {
            return Err(std::io::Error::other("a statement of slices has nine columns"));
        };
        let (Some(start_ns), Some(end_ns)) = (int(start_ns), int(end_ns)) else { return Ok(()) };
        let owner = match (int(global_tid), int(gpu_id)) {
            (Some(thread), _) => Owner::Thread(thread),
            (None, gpu) if gpu.is_some() || int(global_pid).is_none() => Owner::Gpu(gpu),
            (None, _) => Owner::Process(int(global_pid).unwrap_or_default()),
        };
        if self.track.as_ref().is_none_or(|(of, name)| *of != owner || name != text(track)) {
            self.close(u64::MAX)?;
            self.lanes.clear();
            self.track = Some((owner, text(track).to_owned()));
        }
        let start_ns = self.target.clock.time(start_ns);
        let end_ns = self.target.clock.time(end_ns).max(start_ns);
        self.close(start_ns)?;
        let fits = |(_, ends): &(u64, Vec<u64>)| ends.last().is_none_or(|last| *last >= end_ns);
        let lane = match self.lanes.iter().position(fits) {
            Some(lane) => lane,
            None => {
                let (target, lane) = (&mut *self.target, self.lanes.len());
                let uuid = target.tracks.lane(target.packets, owner, text(track), lane)?;
                self.lanes.push((uuid, Vec::new()));
                lane
            }
        };
        // Row IDs are below 2^48.
        let flow = int(flow_id).map(|id| self.target.place << 48 | id as u64);
        let (uuid, ends) = &mut self.lanes[lane];
        self.target.packets.begin(*uuid, start_ns, text(category), text(name), flow)?;
        self.target.packets.counts.flows += u64::from(flow.is_some() && self.begins_flows);
        ends.push(end_ns);
        Ok(())
    }
}

impl<W: Write> RowSink for Slices<'_, '_, W> {
    fn begin(&mut self, _: &[Column]) -> Result<()> {
        Ok(())
    }

    fn row(&mut self, row: &[Value]) -> Result<()> {
        self.write(row).map_err(Error::Output)
    }

    fn end(&mut self) -> Result<()> {
        self.close(u64::MAX).map_err(Error::Output)
    }
}

/// Values of counters. Columns: gpu_id, track, at_ns, value.
pub(crate) struct Counters<'s, 't, W> {
    pub(crate) target: &'s mut Target<'t, W>,
    pub(crate) unit: Unit,
}

impl<W: Write> RowSink for Counters<'_, '_, W> {
    fn begin(&mut self, _: &[Column]) -> Result<()> {
        Ok(())
    }

    fn row(&mut self, row: &[Value]) -> Result<()> {
        let [gpu_id, track, at_ns, value] = row else { return Ok(()) };
        let value = match value {
            Value::Int(value) => Number::Int(*value),
            Value::Real(value) => Number::Real(*value),
            _ => return Ok(()),
        };
        let Some(at_ns) = int(at_ns) else { return Ok(()) };
        let target = &mut *self.target;
        let uuid =
            target.tracks.counter(target.packets, Owner::Gpu(int(gpu_id)), text(track), self.unit);
        let at_ns = target.clock.time(at_ns);
        uuid.and_then(|uuid| target.packets.counter(uuid, at_ns, value)).map_err(Error::Output)
    }

    fn end(&mut self) -> Result<()> {
        Ok(())
    }
}
