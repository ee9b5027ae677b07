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

/// Declares the keys of an event's arguments, and which field takes the value of each.
macro_rules! args {
    ($($($text:literal)|+ => $key:ident $([$made:expr])? ($($field:tt)+),)*) => {
        keys! {
            /// Keys of an event's arguments.
            ArgKey { $($($text)|+ => $key,)* }
        }

        impl<'de> Args<'de> {
            fn read<A: MapAccess<'de>>(&mut self, key: ArgKey, map: &mut A) -> Result<(), A::Error> {
                match key {
                    $(ArgKey::$key => self.$($field)+ = $($made)?(map.next_value()?),)*
                    ArgKey::Other => drop(map.next_value::<IgnoredAny>()?),
                }
                Ok(())
            }
        }
    };
}

args! {
    "device" | "Device Id" => Device(device),
    "context" => Context(context),
    "stream" | "Stream Id" | "Physic Stream Id" => Stream(stream),
    "correlation" | "correlation_id" | "connection_id" => Correlation(correlation),
    "External id" | "external id" => External(external),
    "bytes" => Bytes(bytes),
    "grid" => Grid[Triple::numbers](grid),
    "block" => Block[Triple::numbers](block),
    "registers per thread" => Registers(registers),
    "priority" => Priority(priority),
    "graph id" => Graph(graph),
    "graph node id" => GraphNode(graph_node),
    "fromDevice" => FromDevice(from_device),
    "toDevice" => ToDevice(to_device),
    "Sequence number" => Sequence(sequence),
    "wait_on_cuda_event_id" => Event(event),
    "kind" | "cuda_sync_kind" => Kind(kind),
    "name" => Name(name),
    "Collective name" => CollectiveName(collective.name),
    "Process Group Name" => Group(collective.group),
    "Process Group Description" => GroupDescription(collective.description),
    "Process Group Ranks" => GroupRanks(collective.group_ranks),
    "Group size" => GroupSize(collective.group_size),
    "dtype" => DataType(collective.data_type),
    "In msg nelems" => InElements(collective.in_elements),
    "Out msg nelems" => OutElements(collective.out_elements),
    "Src Rank" => Source(collective.source),
    "Dst Rank" => Destination(collective.destination),
    "Seq" => CollectiveSequence(collective.sequence),
    "Input Dims" => InputDims[Some](inputs.dims),
    "Input type" => InputTypes[Some](inputs.types),
    "Input Strides" => InputStrides[Some](inputs.strides),
    "Concrete Inputs" => InputValues[Some](inputs.values),
    "Device Type" => DeviceType(memory.device_type),
    "Addr" => Address(memory.address),
    "Bytes" => MemoryBytes(memory.bytes),
    "Total Allocated" => Allocated(memory.allocated),
    "Total Reserved" => Reserved(memory.reserved),
    "step_num" => Step(step),
    "kernel_details" | "memcpy_details" | "memset_details" | "Memset_details" => Details(details),
    "Task Type" => Task(task),
    "hlo_module" => HloModule(hlo.module),
    "hlo_op" => HloOp(hlo.op),
    "tf_op" => HloPlace(hlo.place),
    "rank" => Rank(rank),
    "pid_raw" => RawPid(raw_pid),
    "grid_x" => GridX(grid[0]),
    "grid_y" => GridY(grid[1]),
    "grid_z" => GridZ(grid[2]),
    "block_x" => BlockX(block[0]),
    "block_y" => BlockY(block[1]),
    "block_z" => BlockZ(block[2]),
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
            self.read(key, &mut map)?;
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(())
    }

    ignore_other_types!(());
}
