//! The tracks of a trace: GPUs with their streams, processes with their threads, and lanes below them.

use crate::packets::Packets;
use crate::schema::{CounterDescriptor, ProcessDescriptor, ThreadDescriptor, TrackDescriptor};
use std::collections::HashMap;
use std::io::{self, Write};

/// `CounterDescriptor.unit`.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Unit {
    /// The name of the track has it.
    InName = 0,
    Count = 2,
    Bytes = 3,
}

/// To whom a track belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Owner {
    /// A GPU, by its number on its machine; `None` if it is unknown.
    Gpu(Option<i64>),
    /// A process, by the global ID of nsys.
    Process(i64),
    /// A thread, by the global ID of nsys.
    Thread(i64),
}

/// A track below that of an owner.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Child {
    owner: Owner,
    name: String,
    /// Slices of one track nest. Those that overlap otherwise go to the next lane.
    lane: usize,
}

/// The tracks of one report.
pub(crate) struct Tracks {
    /// Position of the report in the trace.
    place: u64,
    /// Before the names of GPUs and processes; empty if the trace has one report.
    prefix: String,
    names: HashMap<Owner, String>,
    owners: HashMap<Owner, u64>,
    children: HashMap<Child, u64>,
    last: u64,
}

/// Tracks that one report can have: their IDs are in one range for each report.
const MOST_TRACKS: u64 = 1 << 32;

impl Tracks {
    pub(crate) fn new(place: u64, prefix: String, names: HashMap<Owner, String>) -> Self {
        let (owners, children) = (HashMap::new(), HashMap::new());
        Self { place, prefix, names, owners, children, last: place * MOST_TRACKS }
    }

    /// The ID of a track for slices.
    pub(crate) fn lane<W: Write>(
        &mut self,
        packets: &mut Packets<W>,
        owner: Owner,
        name: &str,
        lane: usize,
    ) -> io::Result<u64> {
        self.child(packets, Child { owner, name: name.to_owned(), lane }, None)
    }

    /// The ID of a track for the values of a counter.
    pub(crate) fn counter<W: Write>(
        &mut self,
        packets: &mut Packets<W>,
        owner: Owner,
        name: &str,
        unit: Unit,
    ) -> io::Result<u64> {
        let counter = Some(CounterDescriptor { unit: unit as i32 });
        self.child(packets, Child { owner, name: name.to_owned(), lane: 0 }, counter)
    }

    fn child<W: Write>(
        &mut self,
        packets: &mut Packets<W>,
        child: Child,
        counter: Option<CounterDescriptor>,
    ) -> io::Result<u64> {
        if let Some(uuid) = self.children.get(&child) {
            return Ok(*uuid);
        }
        let parent_uuid = Some(self.owner(packets, child.owner)?);
        let uuid = self.next();
        let name = match child.lane {
            0 => child.name.clone(),
            lane => format!("{} ({})", child.name, lane + 1),
        };
        let name = Some(name);
        packets.describe(TrackDescriptor {
            uuid,
            name,
            parent_uuid,
            counter,
            ..TrackDescriptor::default()
        })?;
        self.children.insert(child, uuid);
        Ok(uuid)
    }

    fn owner<W: Write>(&mut self, packets: &mut Packets<W>, owner: Owner) -> io::Result<u64> {
        if let Some(uuid) = self.owners.get(&owner) {
            return Ok(*uuid);
        }
        let known = self.names.get(&owner).cloned();
        let mut track = TrackDescriptor::default();
        match owner {
            Owner::Gpu(gpu) => {
                let name = gpu.map_or("GPU".to_owned(), |gpu| format!("GPU {gpu}"));
                track.name = Some(format!("{}{name}", self.prefix));
            }
            Owner::Process(id) => {
                let name = known.unwrap_or_default();
                let process_name = format!("{}{name}", self.prefix);
                track.process = Some(ProcessDescriptor { pid: self.pid(id), process_name });
            }
            Owner::Thread(id) => {
                let process = id & !0xff_ffff;
                track.parent_uuid = Some(self.owner(packets, Owner::Process(process))?);
                track.thread = Some(ThreadDescriptor {
                    pid: self.pid(process),
                    tid: self.own((id & 0xff_ffff) as i32),
                    thread_name: known.unwrap_or_default(),
                });
            }
        }
        track.uuid = self.next();
        let uuid = track.uuid;
        packets.describe(track)?;
        self.owners.insert(owner, uuid);
        Ok(uuid)
    }

    fn pid(&self, global_pid: i64) -> i32 {
        self.own((global_pid >> 24 & 0xff_ffff) as i32)
    }

    /// The processes of two reports can have the same ID, and must not become one.
    fn own(&self, id: i32) -> i32 {
        id | (self.place as i32) << 24
    }

    fn next(&mut self) -> u64 {
        self.last += 1;
        self.last
    }
}
