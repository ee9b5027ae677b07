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
    ($(#[$doc:meta])* $name:ident { $($text:literal => $key:ident,)* }) => {
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
                        Ok(match key { $($text => $name::$key,)* _ => $name::Other })
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
        "ts" => Start,
        "dur" => Duration,
        "args" => Args,
    }
}

keys! {
    /// Keys of an event's arguments.
    ArgKey {
        "device" => Device,
        "context" => Context,
        "stream" => Stream,
        "correlation" => Correlation,
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
        "kind" => Kind,
        "cuda_sync_kind" => SyncKind,
        "name" => Name,
        "Collective name" => CollectiveName,
        "Process Group Name" => Group,
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
                ArgKey::Kind | ArgKey::SyncKind => self.kind = map.next_value()?,
                ArgKey::Name => self.name = map.next_value()?,
                ArgKey::CollectiveName => self.collective.name = map.next_value()?,
                ArgKey::Group => self.collective.group = map.next_value()?,
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
