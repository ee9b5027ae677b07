//! The part of Perfetto's trace format that nsq writes.
//!
//! Names and numbers are those of `protos/perfetto/trace/perfetto_trace.proto`. A reader skips fields that it does not
//! know, and fields that are left out have their defaults.

use prost::Message;

/// A whole trace: packets one after the other. Each packet is written as a `Trace` of its own, because the
/// concatenation of two is a trace of both.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Trace {
    #[prost(message, repeated, tag = "1")]
    pub(crate) packet: Vec<TracePacket>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct TracePacket {
    #[prost(uint64, optional, tag = "8")]
    pub(crate) timestamp: Option<u64>,
    #[prost(uint32, tag = "10")]
    pub(crate) trusted_packet_sequence_id: u32,
    #[prost(message, optional, tag = "11")]
    pub(crate) track_event: Option<TrackEvent>,
    #[prost(message, optional, tag = "12")]
    pub(crate) interned_data: Option<InternedData>,
    #[prost(uint32, tag = "13")]
    pub(crate) sequence_flags: u32,
    #[prost(message, optional, tag = "60")]
    pub(crate) track_descriptor: Option<TrackDescriptor>,
}

/// The interned names before this packet are void.
pub(crate) const INCREMENTAL_STATE_CLEARED: u32 = 1;
/// This packet refers to interned names.
pub(crate) const NEEDS_INCREMENTAL_STATE: u32 = 2;

#[derive(Clone, PartialEq, Message)]
pub(crate) struct InternedData {
    #[prost(message, repeated, tag = "1")]
    pub(crate) event_categories: Vec<Interned>,
    #[prost(message, repeated, tag = "2")]
    pub(crate) event_names: Vec<Interned>,
}

/// `EventCategory` and `EventName`, which have the same fields.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Interned {
    #[prost(uint64, tag = "1")]
    pub(crate) iid: u64,
    #[prost(string, tag = "2")]
    pub(crate) name: String,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct TrackDescriptor {
    #[prost(uint64, tag = "1")]
    pub(crate) uuid: u64,
    #[prost(string, optional, tag = "2")]
    pub(crate) name: Option<String>,
    #[prost(message, optional, tag = "3")]
    pub(crate) process: Option<ProcessDescriptor>,
    #[prost(message, optional, tag = "4")]
    pub(crate) thread: Option<ThreadDescriptor>,
    #[prost(uint64, optional, tag = "5")]
    pub(crate) parent_uuid: Option<u64>,
    #[prost(message, optional, tag = "8")]
    pub(crate) counter: Option<CounterDescriptor>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct ProcessDescriptor {
    #[prost(int32, tag = "1")]
    pub(crate) pid: i32,
    #[prost(string, tag = "6")]
    pub(crate) process_name: String,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct ThreadDescriptor {
    #[prost(int32, tag = "1")]
    pub(crate) pid: i32,
    #[prost(int32, tag = "2")]
    pub(crate) tid: i32,
    #[prost(string, tag = "5")]
    pub(crate) thread_name: String,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct CounterDescriptor {
    /// 0 is `UNIT_UNSPECIFIED`, 2 `UNIT_COUNT`, 3 `UNIT_SIZE_BYTES`.
    #[prost(int32, tag = "3")]
    pub(crate) unit: i32,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct TrackEvent {
    #[prost(uint64, repeated, tag = "3")]
    pub(crate) category_iids: Vec<u64>,
    #[prost(int32, tag = "9")]
    pub(crate) r#type: i32,
    #[prost(uint64, optional, tag = "10")]
    pub(crate) name_iid: Option<u64>,
    #[prost(uint64, tag = "11")]
    pub(crate) track_uuid: u64,
    #[prost(int64, optional, tag = "30")]
    pub(crate) counter_value: Option<i64>,
    #[prost(double, optional, tag = "44")]
    pub(crate) double_counter_value: Option<f64>,
    #[prost(fixed64, repeated, packed = "false", tag = "47")]
    pub(crate) flow_ids: Vec<u64>,
}

/// `TrackEvent.type`.
pub(crate) const SLICE_BEGIN: i32 = 1;
/// `TrackEvent.type`.
pub(crate) const SLICE_END: i32 = 2;
/// `TrackEvent.type`.
pub(crate) const COUNTER: i32 = 4;
