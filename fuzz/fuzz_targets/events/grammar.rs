//! PyTorch traces from bytes: the keys and categories of Kineto, with values that it never writes.

use libfuzzer_sys::arbitrary::{Result, Unstructured};
use std::fmt::Write;

/// Part of every text that no database of a trace may hold.
pub const SECRET: &str = "S3CRET";

/// Members of a trace that an import reads.
const FACTS: [&str; 6] = [
    "schemaVersion",
    "baseTimeNanoseconds",
    "deviceProperties",
    "distributedInfo",
    "traceEvents",
    "displayTimeUnit",
];

/// Members that may hold a secret, and are skipped.
const PRIVATE: [&str; 5] = ["environment", "argv", "hostname", "PT_PROFILER_JOB_USER", "traceName"];

const CATEGORIES: [&str; 19] = [
    "kernel",
    "Kernel",
    "gpu_memcpy",
    "Memcpy",
    "gpu_memset",
    "cuda_sync",
    "cpu_op",
    "Operator",
    "user_annotation",
    "python_function",
    "overhead",
    "Trace",
    "Runtime",
    "cuda_runtime",
    "cuda_driver",
    "xpu_runtime",
    "ac2g",
    "",
    "no such category",
];

const NAMES: [&str; 16] = [
    "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)",
    "void at::native::vectorized_elementwise_kernel<4, at::native::MulFunctor<float>>(int)",
    "Memcpy HtoD (Pageable -> Device)",
    "Memcpy DtoD (",
    "Memset (Device)",
    "cudaLaunchKernel",
    "cudaMemcpyAsync",
    "cudaDeviceSynchronize",
    "Stream Wait Event",
    "Event Sync",
    "ProfilerStep#1",
    "process_name",
    "thread_name",
    "aten::mm",
    "operator<<(std::ostream&)::<lambda()>",
    "",
];

const ARGUMENTS: [&str; 34] = [
    "device",
    "context",
    "stream",
    "correlation",
    "bytes",
    "grid",
    "block",
    "registers per thread",
    "priority",
    "graph id",
    "graph node id",
    "fromDevice",
    "toDevice",
    "Sequence number",
    "wait_on_cuda_event_id",
    "kind",
    "cuda_sync_kind",
    "name",
    "Collective name",
    "Process Group Name",
    "Process Group Ranks",
    "Group size",
    "dtype",
    "In msg nelems",
    "Out msg nelems",
    "Src Rank",
    "Dst Rank",
    "Seq",
    "Input Dims",
    "Input type",
    "Input Strides",
    "Concrete Inputs",
    "External id",
    "labels",
];

/// Values, also such as no JSON has.
const VALUES: [&str; 44] = [
    "0",
    "1",
    "7",
    "-1",
    "2147483648",
    "4294967295",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551615",
    "184467440737095516160.5",
    "1e308",
    "1e400",
    "-0.0000000001",
    "0.1",
    "1.5e3",
    "-0",
    "NaN",
    "nan",
    "Infinity",
    "-Infinity",
    "inf",
    "-inf",
    "0x10",
    "01",
    "+1",
    "1.",
    ".5",
    "null",
    "true",
    "false",
    "undefined",
    "\"\"",
    "\"stream 7\"",
    "\"12\"",
    "\"\\u001b[2J\\ud800<b>\"",
    "\"\\ud83d\\ude00\\u0000\"",
    "\"\\x\"",
    "[]",
    "{}",
    "[128,1,1]",
    "[[1,2],[3]]",
    "[\"float\",\"\"]",
    "{\"a\": [1, {}]}",
    "[[[[[[[[[[1]]]]]]]]]]",
];

/// What stands between values, and should not.
const FAULTS: [&str; 10] = [",", "", "]", "}", "{", ":", "\"", " // x\n", "\u{feff}", "\u{0}"];

/// Writes a trace.
pub struct Grammar<'u, 'b> {
    bytes: &'b mut Unstructured<'u>,
    text: String,
    time: i64,
}

impl<'u> Grammar<'u, '_> {
    /// The text of a trace.
    pub fn trace(bytes: &mut Unstructured<'u>) -> Result<String> {
        let mut grammar = Grammar { bytes, text: String::new(), time: 1_000_000 };
        match grammar.bytes.int_in_range(0..=15)? {
            0 => grammar.events()?,
            1 => {
                grammar.text.push('\u{feff}');
                grammar.object()?;
            }
            _ => grammar.object()?,
        }
        // A trace that was cut off.
        if grammar.one_in(24)? {
            let mut end = grammar.bytes.int_in_range(0..=grammar.text.len())?;
            while !grammar.text.is_char_boundary(end) {
                end -= 1;
            }
            grammar.text.truncate(end);
        }
        Ok(grammar.text)
    }

    /// Whether something rare happens. It does not when the bytes are used up.
    fn one_in(&mut self, many: u8) -> Result<bool> {
        Ok(!self.bytes.ratio(many - 1, many)?)
    }

    fn push(&mut self, of: &[&str]) -> Result<()> {
        let text = *self.bytes.choose(of)?;
        self.text.push_str(text);
        Ok(())
    }

    /// A comma, and sometimes a fault in its place.
    fn comma(&mut self) -> Result<()> {
        match self.one_in(64)? {
            true => self.push(&FAULTS),
            false => {
                self.text.push(',');
                Ok(())
            }
        }
    }

    fn object(&mut self) -> Result<()> {
        self.text.push('{');
        for number in 0..self.bytes.int_in_range(0..=4)? {
            if number > 0 {
                self.comma()?;
            }
            self.member()?;
        }
        if !self.text.ends_with('{') {
            self.comma()?;
        }
        self.text.push_str("\"traceEvents\":");
        self.events()?;
        if self.one_in(4)? {
            self.comma()?;
            self.member()?;
        }
        self.text.push('}');
        Ok(())
    }

    /// A member of the outermost object. A private one holds a secret.
    fn member(&mut self) -> Result<()> {
        match self.bytes.int_in_range(0..=7)? {
            0 | 1 => {
                let name = *self.bytes.choose(&PRIVATE)?;
                let _ =
                    write!(self.text, "\"{name}\":[{{\"a\":\"{SECRET}_{name}\"}},{}]", self.text.len());
                Ok(())
            }
            2 => {
                // So long that the next value crosses the border of two chunks.
                let long = (1 << 20) - self.bytes.int_in_range(0..=4096)?;
                let _ = write!(self.text, "\"pad\":\"{}\"", "x".repeat(long));
                Ok(())
            }
            3 => {
                self.text.push_str(
                    "\"deviceProperties\":[{\"id\":0,\"name\":\"GPU\",\"numSms\":108,\"totalGlobalMem\":",
                );
                self.value(2)?;
                self.text.push_str("}]");
                Ok(())
            }
            _ => {
                let name = *self.bytes.choose(&FACTS)?;
                let _ = write!(self.text, "\"{name}\":");
                self.value(3)
            }
        }
    }

    fn events(&mut self) -> Result<()> {
        self.text.push('[');
        for number in 0..self.bytes.int_in_range(0..=24)? {
            if number > 0 {
                self.comma()?;
                self.space()?;
            }
            self.event()?;
            if self.bytes.is_empty() {
                break;
            }
        }
        self.text.push(']');
        Ok(())
    }

    fn space(&mut self) -> Result<()> {
        match self.one_in(4)? {
            true => self.push(&[" ", "\n", "\t\r\n", "  "]),
            false => Ok(()),
        }
    }

    /// An event of Kineto in which some values are damaged.
    fn event(&mut self) -> Result<()> {
        let phase = match self.bytes.int_in_range(0..=15)? {
            0 => "M",
            1 => "B",
            2 => "i",
            3 => "",
            _ => "X",
        };
        let (category, name) = (*self.bytes.choose(&CATEGORIES)?, *self.bytes.choose(&NAMES)?);
        self.time = self.time.saturating_add(self.bytes.int_in_range(-100..=1_000)?);
        let _ = write!(self.text, "{{\"ph\":\"{phase}\",\"cat\":\"{category}\",\"name\":\"{name}\"");
        let (start, thread) = (self.time, self.bytes.int_in_range(1..=3)?);
        for (key, usual) in
            [("pid", "1".to_owned()), ("tid", thread.to_string()), ("ts", start.to_string())]
        {
            let _ = write!(self.text, ",\"{key}\":");
            self.usually(&usual)?;
        }
        if phase == "X" || self.one_in(8)? {
            let length = self.bytes.int_in_range(0..=500)?.to_string();
            self.text.push_str(",\"dur\":");
            self.usually(&length)?;
        }
        if self.one_in(8)? {
            self.comma()?;
            let _ = write!(self.text, "\"env\":\"{SECRET}_of_an_event\"");
        }
        self.text.push_str(",\"args\":");
        if self.one_in(16)? {
            self.value(3)?;
        } else {
            let correlation = self.bytes.int_in_range(1..=12)?;
            let _ = write!(
                self.text,
                "{{\"device\":0,\"context\":1,\"stream\":7,\"correlation\":{correlation}"
            );
            for _ in 0..self.bytes.int_in_range(0..=6)? {
                self.comma()?;
                let key = *self.bytes.choose(&ARGUMENTS)?;
                let _ = write!(self.text, "\"{key}\":");
                self.value(2)?;
            }
            self.text.push('}');
        }
        if self.one_in(32)? {
            // A key that occurs twice.
            self.text.push_str(",\"args\":");
            self.value(2)?;
        }
        self.text.push('}');
        Ok(())
    }

    /// The usual value, or in one of eight cases any.
    fn usually(&mut self, usual: &str) -> Result<()> {
        match self.one_in(8)? {
            true => self.value(2),
            false => {
                self.text.push_str(usual);
                Ok(())
            }
        }
    }

    fn value(&mut self, depth: u32) -> Result<()> {
        match self.bytes.int_in_range(0..=9)? {
            0 => {
                let number: i64 = self.bytes.arbitrary()?;
                let _ = write!(self.text, "{number}");
                Ok(())
            }
            1 => {
                let number: f64 = self.bytes.arbitrary()?;
                let _ = write!(self.text, "{number}");
                Ok(())
            }
            2 => {
                let length = self.bytes.int_in_range(0..=24)?;
                let text = String::from_utf8_lossy(self.bytes.bytes(length)?).into_owned();
                // Sometimes with quotes and controls as they are.
                let is_plain = self.one_in(8)?;
                match is_plain {
                    true => self.text.push_str(&format!("\"{text}\"")),
                    false => self.text.push_str(&serde_json::Value::from(text).to_string()),
                }
                Ok(())
            }
            3 if depth > 0 => {
                self.text.push('[');
                for number in 0..self.bytes.int_in_range(0..=3)? {
                    if number > 0 {
                        self.comma()?;
                    }
                    self.value(depth - 1)?;
                }
                self.text.push(']');
                Ok(())
            }
            4 if depth > 0 => {
                self.text.push_str("{\"rank\":");
                self.value(depth - 1)?;
                self.text.push('}');
                Ok(())
            }
            5 if self.one_in(16)? => {
                let deep = self.bytes.int_in_range(1..=20_000)?;
                let open = *self.bytes.choose(&["[", "{\"a\":"])?;
                self.text.push_str(&open.repeat(deep));
                if self.one_in(2)? {
                    self.text.push('1');
                    self.text.push_str(&if open == "[" { "]" } else { "}" }.repeat(deep));
                }
                Ok(())
            }
            _ => self.push(&VALUES),
        }
    }
}
