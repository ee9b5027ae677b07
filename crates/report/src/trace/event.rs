//! One event of a trace: the fields that an import needs, borrowed from its text.

use super::lenient::{Id, Int, Text, Triple, ignore_other_types};
use super::time::Nanoseconds;
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::fmt;

/// The fields of an event. A key with a value of an unexpected type counts as missing.
#[derive(Debug, Default)]
pub(super) struct Event<'t> {
    /// The event's `ph`: `X` has a start and a duration, `M` names a process or thread.
    pub(super) phase: Text<'t>,
    pub(super) category: Text<'t>,
    pub(super) name: Text<'t>,
    pub(super) pid: Id<'t>,
    pub(super) tid: Id<'t>,
    /// The number or word that the two ends of an arrow share.
    pub(super) flow: Id<'t>,
    pub(super) start: Nanoseconds,
    pub(super) duration: Nanoseconds,
    pub(super) args: Args<'t>,
}

/// The arguments that an import uses. [`ArgKey`] has Kineto's names for them.
#[derive(Debug, Default)]
pub(super) struct Args<'t> {
    pub(super) device: Int,
    pub(super) context: Int,
    pub(super) stream: Int,
    pub(super) correlation: Int,
    /// The operator that the event belongs to.
    pub(super) external: Int,
    pub(super) bytes: Int,
    pub(super) grid: [Int; 3],
    pub(super) block: [Int; 3],
    pub(super) registers: Int,
    pub(super) priority: Int,
    pub(super) graph: Int,
    pub(super) graph_node: Int,
    pub(super) from_device: Int,
    pub(super) to_device: Int,
    pub(super) sequence: Int,
    pub(super) event: Int,
    pub(super) kind: Text<'t>,
    pub(super) name: Text<'t>,
    pub(super) collective: Collective<'t>,
    pub(super) inputs: Inputs<'t>,
    pub(super) memory: Memory,
    /// The step of a program in JAX.
    pub(super) step: Int,
    /// XLA's one text about a kernel, a copy or a fill.
    pub(super) details: Text<'t>,
    /// What Ascend calls an operation of its hardware.
    pub(super) task: Text<'t>,
    pub(super) hlo: Hlo<'t>,
    /// The rank and the process that a merger of traces moved the event from.
    pub(super) rank: Int,
    pub(super) raw_pid: Int,
}

/// The part of an XLA program that a kernel runs.
#[derive(Debug, Default)]
pub(super) struct Hlo<'t> {
    pub(super) module: Text<'t>,
    pub(super) op: Text<'t>,
    /// Place in the program of the user, as in `jit(step)/dot_general:`.
    pub(super) place: Text<'t>,
}

/// What PyTorch's allocator says of one allocation or release.
#[derive(Debug, Default)]
pub(super) struct Memory {
    /// 0 for the host; 1, 6 and others for accelerators.
    pub(super) device_type: Int,
    pub(super) address: Int,
    /// Bytes of the block; below 0 for a release.
    pub(super) bytes: Int,
    pub(super) allocated: Int,
    pub(super) reserved: Int,
}

/// The inputs of an operator, as the trace writes them (`record_shapes=True`). Each is one JSON value per input.
#[derive(Debug, Default)]
pub(super) struct Inputs<'t> {
    pub(super) dims: Option<&'t RawValue>,
    pub(super) types: Option<&'t RawValue>,
    pub(super) strides: Option<&'t RawValue>,
    pub(super) values: Option<&'t RawValue>,
}

/// What PyTorch says of the collective that a kernel runs.
#[derive(Debug, Default)]
pub(super) struct Collective<'t> {
    pub(super) name: Text<'t>,
    pub(super) group: Text<'t>,
    /// What the program calls the group, such as mesh_tp.
    pub(super) description: Text<'t>,
    pub(super) group_ranks: Text<'t>,
    pub(super) group_size: Int,
    pub(super) data_type: Text<'t>,
    pub(super) in_elements: Int,
    pub(super) out_elements: Int,
    pub(super) source: Int,
    pub(super) destination: Int,
    pub(super) sequence: Int,
}

impl Inputs<'_> {
    /// All of them as one JSON object without spaces; `None` without dimensions.
    pub(super) fn to_json(&self) -> Option<String> {
        self.dims?;
        let named = [
            ("dims", self.dims),
            ("types", self.types),
            ("strides", self.strides),
            ("values", self.values),
        ];
        let mut json = String::from("{");
        for (name, value) in named.into_iter().filter_map(|(name, value)| Some((name, value?))) {
            if json.len() > 1 {
                json.push(',');
            }
            json.push('"');
            json.push_str(name);
            json.push_str("\":");
            push_compact(&mut json, value.get());
        }
        json.push('}');
        Some(json)
    }
}

/// Appends JSON without the spaces between its values.
fn push_compact(json: &mut String, value: &str) {
    let (mut is_in_string, mut is_escaped) = (false, false);
    for c in value.chars() {
        if is_in_string || !c.is_ascii_whitespace() {
            json.push(c);
        }
        is_in_string ^= c == '"' && !is_escaped;
        is_escaped = is_in_string && c == '\\' && !is_escaped;
    }
}

/// Declares an enum of JSON keys.
macro_rules! keys {
    ($(#[$doc:meta])* $name:ident { $($($text:literal)|+ => $key:ident,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        enum $name { $($key,)* Other }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct KeyVisitor;
                impl Visitor<'_> for KeyVisitor {
                    type Value = $name;

                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str("a key")
                    }

                    fn visit_str<E>(self, key: &str) -> Result<$name, E> {
                        Ok(match key { $($($text)|+ => $name::$key,)* _ => $name::Other })
                    }
                }
                deserializer.deserialize_identifier(KeyVisitor)
            }
        }
    };
}

keys! {
    /// Keys of an event.
    EventKey {
        "ph" => Phase,
        "cat" => Category,
        "name" => Name,
        "pid" => Pid,
        "tid" => Tid,
        "id" => Flow,
        "ts" => Start,
        "dur" => Duration,
        "args" => Args,
    }
}

keys! {
    /// Keys of an event's arguments.
    ArgKey {
        "device" | "Device Id" => Device,
        "context" => Context,
        "stream" | "Stream Id" | "Physic Stream Id" => Stream,
        "correlation" | "correlation_id" | "connection_id" => Correlation,
        "External id" | "external id" => External,
        "bytes" => Bytes,
        "grid" => Grid,
        "block" => Block,
        "registers per thread" => Registers,
        "priority" => Priority,
        "graph id" => Graph,
        "graph node id" => GraphNode,
        "fromDevice" => FromDevice,
        "toDevice" => ToDevice,
        "Sequence number" => Sequence,
        "wait_on_cuda_event_id" => Event,
        "kind" | "cuda_sync_kind" => Kind,
        "name" => Name,
        "Collective name" => CollectiveName,
        "Process Group Name" => Group,
        "Process Group Description" => GroupDescription,
        "Process Group Ranks" => GroupRanks,
        "Group size" => GroupSize,
        "dtype" => DataType,
        "In msg nelems" => InElements,
        "Out msg nelems" => OutElements,
        "Src Rank" => Source,
        "Dst Rank" => Destination,
        "Seq" => CollectiveSequence,
        "Input Dims" => InputDims,
        "Input type" => InputTypes,
        "Input Strides" => InputStrides,
        "Concrete Inputs" => InputValues,
        "Device Type" => DeviceType,
        "Addr" => Address,
        "Bytes" => MemoryBytes,
        "Total Allocated" => Allocated,
        "Total Reserved" => Reserved,
        "step_num" => Step,
        "kernel_details" | "memcpy_details" | "memset_details" | "Memset_details" => Details,
        "Task Type" => Task,
        "hlo_module" => HloModule,
        "hlo_op" => HloOp,
        "tf_op" => HloPlace,
        "rank" => Rank,
        "pid_raw" => RawPid,
        "grid_x" => GridX,
        "grid_y" => GridY,
        "grid_z" => GridZ,
        "block_x" => BlockX,
        "block_y" => BlockY,
        "block_z" => BlockZ,
    }
}

/// Reads an event in place: it is large, and a trace has millions.
impl<'de> DeserializeSeed<'de> for &mut Event<'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for &mut Event<'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an event, which is an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key()? {
            match key {
                EventKey::Phase => self.phase = map.next_value()?,
                EventKey::Category => self.category = map.next_value()?,
                EventKey::Name => self.name = map.next_value()?,
                EventKey::Pid => self.pid = map.next_value()?,
                EventKey::Tid => self.tid = map.next_value()?,
                EventKey::Flow => self.flow = map.next_value()?,
                EventKey::Start => self.start = map.next_value()?,
                EventKey::Duration => self.duration = map.next_value()?,
                EventKey::Args => {
                    // If a key occurs twice, the last one wins.
                    self.args = Args::default();
                    map.next_value_seed(&mut self.args)?;
                }
                EventKey::Other => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for &mut Args<'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for &mut Args<'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("arguments, which are an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key()? {
            match key {
                ArgKey::Device => self.device = map.next_value()?,
                ArgKey::Context => self.context = map.next_value()?,
                ArgKey::Stream => self.stream = map.next_value()?,
                ArgKey::Correlation => self.correlation = map.next_value()?,
                ArgKey::External => self.external = map.next_value()?,
                ArgKey::Bytes => self.bytes = map.next_value()?,
                ArgKey::Grid => self.grid = map.next_value::<Triple>()?.0,
                ArgKey::Block => self.block = map.next_value::<Triple>()?.0,
                ArgKey::Registers => self.registers = map.next_value()?,
                ArgKey::Priority => self.priority = map.next_value()?,
                ArgKey::Graph => self.graph = map.next_value()?,
                ArgKey::GraphNode => self.graph_node = map.next_value()?,
                ArgKey::FromDevice => self.from_device = map.next_value()?,
                ArgKey::ToDevice => self.to_device = map.next_value()?,
                ArgKey::Sequence => self.sequence = map.next_value()?,
                ArgKey::Event => self.event = map.next_value()?,
                ArgKey::Kind => self.kind = map.next_value()?,
                ArgKey::Name => self.name = map.next_value()?,
                ArgKey::CollectiveName => self.collective.name = map.next_value()?,
                ArgKey::Group => self.collective.group = map.next_value()?,
                ArgKey::GroupDescription => self.collective.description = map.next_value()?,
                ArgKey::GroupRanks => self.collective.group_ranks = map.next_value()?,
                ArgKey::GroupSize => self.collective.group_size = map.next_value()?,
                ArgKey::DataType => self.collective.data_type = map.next_value()?,
                ArgKey::InElements => self.collective.in_elements = map.next_value()?,
                ArgKey::OutElements => self.collective.out_elements = map.next_value()?,
                ArgKey::Source => self.collective.source = map.next_value()?,
                ArgKey::Destination => self.collective.destination = map.next_value()?,
                ArgKey::CollectiveSequence => self.collective.sequence = map.next_value()?,
                ArgKey::InputDims => self.inputs.dims = Some(map.next_value()?),
                ArgKey::InputTypes => self.inputs.types = Some(map.next_value()?),
                ArgKey::InputStrides => self.inputs.strides = Some(map.next_value()?),
                ArgKey::InputValues => self.inputs.values = Some(map.next_value()?),
                ArgKey::DeviceType => self.memory.device_type = map.next_value()?,
                ArgKey::Address => self.memory.address = map.next_value()?,
                ArgKey::MemoryBytes => self.memory.bytes = map.next_value()?,
                ArgKey::Allocated => self.memory.allocated = map.next_value()?,
                ArgKey::Reserved => self.memory.reserved = map.next_value()?,
                ArgKey::Step => self.step = map.next_value()?,
                ArgKey::Details => self.details = map.next_value()?,
                ArgKey::Task => self.task = map.next_value()?,
                ArgKey::HloModule => self.hlo.module = map.next_value()?,
                ArgKey::HloOp => self.hlo.op = map.next_value()?,
                ArgKey::HloPlace => self.hlo.place = map.next_value()?,
                ArgKey::Rank => self.rank = map.next_value()?,
                ArgKey::RawPid => self.raw_pid = map.next_value()?,
                ArgKey::GridX => self.grid[0] = map.next_value()?,
                ArgKey::GridY => self.grid[1] = map.next_value()?,
                ArgKey::GridZ => self.grid[2] = map.next_value()?,
                ArgKey::BlockX => self.block[0] = map.next_value()?,
                ArgKey::BlockY => self.block[1] = map.next_value()?,
                ArgKey::BlockZ => self.block[2] = map.next_value()?,
                ArgKey::Other => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(())
    }

    ignore_other_types!(());
}
