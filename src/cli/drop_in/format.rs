//! Formats with their arguments: `column:time=us:nohdr`.

use nsq_engine::compile::{ByteUnit, NsysUnits, TimeUnit};
use nsq_render::render::nsys::{NsysFormat, NsysStyle, Width};
use nsq_value::error::{Error, Result};

/// A format, its layout and its units.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FormatSpec {
    pub(super) style: NsysStyle,
    pub(super) units: NsysUnits,
}

const TIME_UNITS: [(&str, TimeUnit); 4] =
    [("ns", TimeUnit::Ns), ("us", TimeUnit::Us), ("ms", TimeUnit::Ms), ("sec", TimeUnit::S)];

const BYTE_UNITS: [(&str, ByteUnit); 7] = [
    ("b", ByteUnit::B),
    ("kb", ByteUnit::Kb),
    ("kib", ByteUnit::Kib),
    ("mb", ByteUnit::Mb),
    ("mib", ByteUnit::Mib),
    ("gb", ByteUnit::Gb),
    ("gib", ByteUnit::Gib),
];

impl FormatSpec {
    /// Parses a format. `.` is the default of the output. A unit of `--timeunit` precedes those of arguments.
    pub(super) fn parse(text: &str, is_console: bool, unit: Option<TimeUnit>) -> Result<Self> {
        let default = if is_console { "column" } else { "csv" };
        let mut words = text.split(':');
        let name = words.next().filter(|name| *name != ".").unwrap_or(default);
        let known = NsysFormat::NAMES.iter().find(|(known, _)| *known == name);
        let (_, format) = known.ok_or_else(|| {
            let names = NsysFormat::NAMES.iter().map(|(name, _)| *name);
            let help = "The formats are column, table, csv, tsv, json, hdoc and htable.";
            Error::unknown("format", name, names, help)
        })?;
        let mut spec = Self { style: NsysStyle::of(*format), units: NsysUnits::default() };
        let mut is_converted = true;
        for word in words {
            spec.take(word, &mut is_converted).ok_or_else(|| {
                Error::usage(
                    format!("unknown argument '{word}' of format '{name}'"),
                    format!("`--help-formats {name}` describes the arguments"),
                )
            })?;
        }
        if let Some(unit) = unit {
            (spec.units.timestamp, spec.units.duration) = (unit, unit);
        }
        if !is_converted {
            let in_headers = spec.units.in_headers;
            let native =
                NsysUnits { memory: ByteUnit::B, throughput: ByteUnit::B, ..NsysUnits::default() };
            spec.units = NsysUnits { in_headers, ..native };
        }
        Ok(spec)
    }

    /// Applies an argument. `None` if the format has no such argument.
    fn take(&mut self, word: &str, is_converted: &mut bool) -> Option<()> {
        let format = self.style.format;
        let is_drawn = self.style.is_drawn();
        let has_lines = is_drawn || matches!(format, NsysFormat::Csv | NsysFormat::Tsv);
        match (word, word.split_once('=')) {
            ("noconv", _) => *is_converted = false,
            ("nohdrunit", _) => self.units.in_headers = false,
            ("nohdr", _) if has_lines => self.style.no_header = true,
            // Numbers are not regrouped, so this changes nothing.
            ("nofmt", _) if is_drawn => {}
            ("esc", _) if format == NsysFormat::Tsv => self.style.escape_tabs = true,
            (_, Some(("autolines", rows))) if is_drawn => self.style.scanned_rows = rows.parse().ok()?,
            (_, Some(("colmax", width))) if is_drawn => self.style.widest = width.parse().ok()?,
            (_, Some(("title", title))) if format == NsysFormat::Hdoc => {
                self.style.page_title = title.to_owned();
            }
            (_, Some(("css", address))) if format == NsysFormat::Hdoc => {
                self.style.style_sheet = Some(address.to_owned());
            }
            (".", None) if is_drawn => self.style.widths.push(Width::Auto),
            (width, None) if is_drawn => self.style.widths.push(Width::Fixed(width.parse().ok()?)),
            (_, Some((category, unit))) => return self.take_unit(category, unit),
            _ => return None,
        }
        Some(())
    }

    fn take_unit(&mut self, category: &str, unit: &str) -> Option<()> {
        let unit = unit.to_ascii_lowercase();
        let time = || TIME_UNITS.iter().find(|(name, _)| *name == unit).map(|(_, unit)| *unit);
        let bytes = || BYTE_UNITS.iter().find(|(name, _)| *name == unit).map(|(_, unit)| *unit);
        match category {
            "ts" => self.units.timestamp = time()?,
            "dur" => self.units.duration = time()?,
            "time" => (self.units.timestamp, self.units.duration) = (time()?, time()?),
            "mem" => self.units.memory = bytes()?,
            "thru" => self.units.throughput = bytes()?,
            "bytes" => (self.units.memory, self.units.throughput) = (bytes()?, bytes()?),
            // The reports have no column of these, or only one unit for it.
            "gid" if ["gidint", "gidhex", "gidsubint", "gidsubhex"].contains(&unit.as_str()) => {}
            "addr" if ["uint", "hex"].contains(&unit.as_str()) => {}
            "ratio" if unit == "%" => {}
            _ => return None,
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_set_units_and_layout() {
        let spec = FormatSpec::parse("column:time=us:dur=ms:mem=KiB:10:0:.:nohdr", true, None).unwrap();
        assert_eq!((spec.units.timestamp, spec.units.duration), (TimeUnit::Us, TimeUnit::Ms));
        assert_eq!((spec.units.memory, spec.units.throughput), (ByteUnit::Kib, ByteUnit::Mb));
        assert_eq!(spec.style.widths, [Width::Fixed(10), Width::Fixed(0), Width::Auto]);
        assert!(spec.style.no_header);
    }

    #[test]
    fn the_option_precedes_the_argument_and_noconv_both() {
        let unit = |text| FormatSpec::parse(text, false, Some(TimeUnit::S)).unwrap().units;
        assert_eq!(unit("csv:time=ms").duration, TimeUnit::S);
        assert_eq!(
            (unit("csv:noconv").duration, unit("csv:noconv").memory),
            (TimeUnit::Ns, ByteUnit::B)
        );
    }

    #[test]
    fn unknown_formats_and_arguments_are_refused() {
        for text in ["foo", "csv:bad", "json:nohdr", "column:colmax=x", "csv:time=xx", "csv:10"] {
            assert!(FormatSpec::parse(text, true, None).is_err(), "{text}");
        }
        assert_eq!(FormatSpec::parse(".", false, None).unwrap().style.format, NsysFormat::Csv);
    }
}
