//! Reads tables that `nsys stats --format csv` or `nsq run --format csv` wrote.
//!
//! Columns are found by the names in the header. A table is read by position if it has no header, or if
//! its header has no known names and either the user gave positions or `--seed-compat` is set.

use super::tables::{KernelSum, MemorySum, RangeSpan};
use crate::error::{Error, Result};
use csv::ByteRecord;
use std::path::Path;

/// The positions of columns, for tables without known column names.
///
/// Positions start at 0; a negative position counts from the end of the row.
#[derive(Debug, Clone, PartialEq)]
pub struct CsvLayout {
    /// The first row is a header.
    pub with_header: bool,
    /// Milliseconds per unit of the times. `None`: the unit of the header, else nanoseconds.
    pub time_scale_to_ms: Option<f64>,
    /// Ignore the header's unit of a column whose position is given, as the seed does.
    pub ignores_units: bool,
    /// Total time in the kernel table; default 1.
    pub kernel_time: Option<i64>,
    /// Instances in the kernel table; default 2.
    pub kernel_calls: Option<i64>,
    /// Name in the kernel table; default 8.
    pub kernel_name: Option<i64>,
    /// Name in the range table; default 0.
    pub range_name: Option<i64>,
    /// Projected duration in the range table; default 2.
    pub range_dur: Option<i64>,
    /// Operation in the memory table; default 8.
    pub memory_name: Option<i64>,
    /// Total time in the memory table; default 1.
    pub memory_time: Option<i64>,
    /// Count in the memory table; default 2.
    pub memory_calls: Option<i64>,
}

impl Default for CsvLayout {
    fn default() -> Self {
        Self {
            with_header: true,
            time_scale_to_ms: None,
            ignores_units: false,
            kernel_time: None,
            kernel_calls: None,
            kernel_name: None,
            range_name: None,
            range_dur: None,
            memory_name: None,
            memory_time: None,
            memory_calls: None,
        }
    }
}

/// Reads sums per kernel name, from `cuda_gpu_kern_sum`.
pub fn read_kernels(file: &Path, bytes: &[u8], layout: &CsvLayout) -> Result<Vec<KernelSum>> {
    let wanted = [
        Wanted {
            what: "total time",
            names: &["total time", "total_ns"],
            given: layout.kernel_time,
            usual: Some(1),
        },
        Wanted {
            what: "instances",
            names: &["instances", "calls"],
            given: layout.kernel_calls,
            usual: Some(2),
        },
        Wanted {
            what: "name",
            names: &["name", "kernel_name"],
            given: layout.kernel_name,
            usual: Some(8),
        },
    ];
    let mut kernels = Vec::new();
    read(file, bytes, layout, &wanted, |row| {
        kernels.push(KernelSum { total_ns: row.time(0)?, calls: row.count(1)?, name: row.text(2)? });
        Ok(())
    })?;
    Ok(kernels)
}

/// Reads sums per memory operation, from `cuda_gpu_mem_time_sum`.
pub fn read_memory(file: &Path, bytes: &[u8], layout: &CsvLayout) -> Result<Vec<MemorySum>> {
    let wanted = [
        Wanted {
            what: "total time",
            names: &["total time", "total_ns"],
            given: layout.memory_time,
            usual: Some(1),
        },
        Wanted {
            what: "count",
            names: &["count", "operations", "instances", "calls"],
            given: layout.memory_calls,
            usual: Some(2),
        },
        Wanted {
            what: "operation",
            names: &["operation", "op_name"],
            given: layout.memory_name,
            usual: Some(8),
        },
    ];
    let mut memory = Vec::new();
    read(file, bytes, layout, &wanted, |row| {
        memory.push(MemorySum { total_ns: row.time(0)?, calls: row.count(1)?, operation: row.text(2)? });
        Ok(())
    })?;
    Ok(memory)
}

/// Reads projected ranges, from `nvtx_gpu_proj_trace`.
pub fn read_ranges(file: &Path, bytes: &[u8], layout: &CsvLayout) -> Result<Vec<RangeSpan>> {
    let wanted = [
        Wanted {
            what: "name",
            names: &["name", "range_name"],
            given: layout.range_name,
            usual: Some(0),
        },
        Wanted {
            what: "projected duration",
            names: &["projected duration", "dur_ns"],
            given: layout.range_dur,
            usual: Some(2),
        },
        Wanted { what: "process", names: &["pid"], given: None, usual: None },
        Wanted { what: "launches", names: &["numgpuops", "launch_count"], given: None, usual: None },
        Wanted { what: "start", names: &["projected start", "start_ns"], given: None, usual: None },
        Wanted { what: "range", names: &["rangeid", "range_id"], given: None, usual: None },
    ];
    let mut ranges = Vec::new();
    read(file, bytes, layout, &wanted, |row| {
        let name = Some(row.text(0)?).filter(|name| !name.is_empty() && name != "None");
        ranges.push(RangeSpan {
            name,
            dur_ns: row.time(1)?,
            pid: row.optional(2),
            launches: row.optional(3),
            start_ns: row.optional_time(4),
            range_id: row.optional(5),
            ..RangeSpan::default()
        });
        Ok(())
    })?;
    Ok(ranges)
}

/// A column to look for.
struct Wanted {
    /// The column in messages.
    what: &'static str,
    /// Known names, in lower case, without the unit in parentheses.
    names: &'static [&'static str],
    /// The position that the user gave.
    given: Option<i64>,
    /// The position in a table without known names; `None` if the column is optional.
    usual: Option<i64>,
}

/// Most rows to skip in search of the header: `nsys stats` prints messages before its table.
const PREAMBLE: usize = 40;

fn read(
    file: &Path,
    bytes: &[u8],
    layout: &CsvLayout,
    wanted: &[Wanted],
    mut take: impl FnMut(&Cells<'_>) -> Result<()>,
) -> Result<()> {
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return Err(fault(
            file,
            None,
            "the text is UTF-16",
            "save it as UTF-8; PowerShell's > writes UTF-16",
        ));
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(bytes);
    let mut records = reader.byte_records();
    let mut waiting: Vec<ByteRecord> = Vec::new();
    let mut columns = None;
    if layout.with_header {
        for record in records.by_ref().take(PREAMBLE) {
            let record = record.map_err(|e| broken(file, &e))?;
            columns = Columns::named(&record, wanted, layout);
            waiting.push(record);
            if columns.is_some() {
                waiting.clear();
                break;
            }
        }
        if columns.is_none() {
            // Read by position only on request: any table has a second column.
            let is_requested =
                layout.ignores_units || wanted.iter().any(|column| column.given.is_some());
            if !is_requested || waiting.is_empty() {
                return Err(no_table(file, waiting.first(), wanted));
            }
            let header = waiting.remove(0);
            columns = Some(Columns::usual(wanted).with_units(&header, wanted, layout));
        }
    }
    let columns = columns.unwrap_or_else(|| Columns::usual(wanted)).scaled(layout);
    let mut width = columns.width;
    let rows = waiting.into_iter().map(Ok).chain(records);
    for record in rows {
        let record = record.map_err(|e| broken(file, &e))?;
        let expected = *width.get_or_insert(record.len());
        if record.len() != expected {
            return Err(fault(
                file,
                line_of(&record),
                &format!("expected {expected} columns, found {}", record.len()),
                "check for an unquoted name with commas, or a truncated file",
            ));
        }
        take(&Cells { file, record: &record, columns: &columns, wanted })?;
    }
    Ok(())
}

/// The error for a file in which no row names the wanted columns.
fn no_table(file: &Path, first: Option<&ByteRecord>, wanted: &[Wanted]) -> Error {
    let needed = wanted.iter().filter(|column| column.usual.is_some());
    let needed: Vec<&str> = needed.filter_map(|column| column.names.first().copied()).collect();
    let needed = needed.join(", ");
    let help = "pass the CSV that `nsys stats` or `nsq stats` writes for this report, or give the column positions in a \
                config";
    match first {
        None => fault(file, None, "the file is empty", help),
        Some(first) => {
            let first = first.iter().map(String::from_utf8_lossy).collect::<Vec<_>>().join(",");
            let first: String = first.chars().take(80).collect();
            let what = format!("no header with the columns {needed}; the first row is `{first}`");
            fault(file, Some(1), &what, help)
        }
    }
}

/// The positions of the wanted columns.
struct Columns {
    places: Vec<Option<i64>>,
    /// Number of columns in every row; `None`: the number in the first row.
    width: Option<usize>,
    ns_per_unit: f64,
}

impl Columns {
    /// Finds columns by the names in a header; `None` if a required column is missing.
    fn named(header: &ByteRecord, wanted: &[Wanted], layout: &CsvLayout) -> Option<Self> {
        let names: Vec<(String, Option<String>)> = header.iter().map(name_and_unit).collect();
        let mut places = Vec::new();
        let mut known = false;
        for column in wanted {
            let found =
                column.names.iter().find_map(|name| names.iter().position(|(known, _)| known == name));
            if column.given.is_none() && column.usual.is_some() && found.is_none() {
                return None;
            }
            known |= found.is_some();
            places.push(column.given.or(found.and_then(|place| i64::try_from(place).ok())));
        }
        let named = Self { places, width: Some(header.len()), ns_per_unit: 1.0 };
        known.then(|| named.with_units(header, wanted, layout))
    }

    /// Takes the unit of times from the header, which has it after the column name.
    fn with_units(mut self, header: &ByteRecord, wanted: &[Wanted], layout: &CsvLayout) -> Self {
        for (column, place) in wanted.iter().zip(&self.places) {
            let is_read = column.usual.is_some() && !(column.given.is_some() && layout.ignores_units);
            let cell = place.filter(|_| is_read).and_then(|place| place_in(place, header.len()));
            let unit = cell.and_then(|cell| header.get(cell)).and_then(|cell| name_and_unit(cell).1);
            self.ns_per_unit = unit.as_deref().and_then(unit_ns).unwrap_or(self.ns_per_unit);
        }
        self
    }

    fn usual(wanted: &[Wanted]) -> Self {
        let places = wanted.iter().map(|column| column.given.or(column.usual)).collect();
        Self { places, width: None, ns_per_unit: 1.0 }
    }

    fn scaled(self, layout: &CsvLayout) -> Self {
        Self { ns_per_unit: layout.time_scale_to_ms.map_or(self.ns_per_unit, |ms| ms * 1e6), ..self }
    }
}

/// The index in a row of `width` cells; a negative position counts from the end.
fn place_in(place: i64, width: usize) -> Option<usize> {
    let place = if place < 0 { i64::try_from(width).ok()?.checked_add(place)? } else { place };
    usize::try_from(place).ok()
}

/// `Total Time (ns)` → `total time` and `ns`.
fn name_and_unit(cell: &[u8]) -> (String, Option<String>) {
    let text = String::from_utf8_lossy(cell).trim().to_lowercase();
    match text.strip_suffix(')').and_then(|text| text.rsplit_once('(')) {
        Some((name, unit)) => (name.trim().to_owned(), Some(unit.trim().to_owned())),
        None => (text, None),
    }
}

fn unit_ns(unit: &str) -> Option<f64> {
    Some(match unit {
        "ns" | "nsec" => 1.0,
        "us" | "µs" | "usec" => 1e3,
        "ms" | "msec" => 1e6,
        "s" | "sec" => 1e9,
        _ => return None,
    })
}

/// Access to the wanted cells of a row.
struct Cells<'a> {
    file: &'a Path,
    record: &'a ByteRecord,
    columns: &'a Columns,
    wanted: &'a [Wanted],
}

impl Cells<'_> {
    fn cell(&self, wanted: usize) -> Option<String> {
        let place = self.columns.places.get(wanted).copied().flatten()?;
        let cell = self.record.get(place_in(place, self.record.len())?)?;
        Some(String::from_utf8_lossy(cell).into_owned())
    }

    fn text(&self, wanted: usize) -> Result<String> {
        self.cell(wanted).ok_or_else(|| {
            let what = self.wanted[wanted].what;
            fault(
                self.file,
                line_of(self.record),
                &format!("no column for the {what}: the row has {} columns", self.record.len()),
                "check that this is the right table, with the column names that nsys or nsq writes",
            )
        })
    }

    /// A time in ns, at least 0.
    fn time(&self, wanted: usize) -> Result<i64> {
        let text = self.text(wanted)?;
        self.checked(wanted, &text, self.in_ns(&text))
    }

    fn in_ns(&self, text: &str) -> Option<i64> {
        let (text, scale) = (text.trim(), self.columns.ns_per_unit);
        let whole = || text.parse::<i64>().ok().filter(|_| scale == 1.0);
        let scaled = || {
            let ns = (text.parse::<f64>().ok()? * scale).round();
            (ns.abs() < i64::MAX as f64).then_some(ns as i64)
        };
        whole().or_else(scaled)
    }

    /// A count, at least 0.
    fn count(&self, wanted: usize) -> Result<i64> {
        let text = self.text(wanted)?;
        let real = || {
            let real: f64 = text.trim().parse().ok()?;
            (real.fract() == 0.0 && real.abs() < 9e15).then_some(real as i64)
        };
        let count = text.trim().parse().ok().or_else(real);
        self.checked(wanted, &text, count)
    }

    fn checked(&self, wanted: usize, text: &str, number: Option<i64>) -> Result<i64> {
        let what = self.wanted[wanted].what;
        let (reason, help) = match number {
            Some(number) if number >= 0 => return Ok(number),
            Some(_) => (format!("negative {what}: {text}"), "times and counts are 0 or more"),
            None => (
                format!("invalid {what} '{text}': expected a 64-bit number"),
                "check that this is the right table, and that its header is one row",
            ),
        };
        Err(fault(self.file, line_of(self.record), &reason, help))
    }

    /// A time in ns, if the column and a number are there.
    fn optional_time(&self, wanted: usize) -> Option<i64> {
        let text = self.cell(wanted)?;
        self.in_ns(&text)
    }

    /// A number, if the column and a number are there.
    fn optional(&self, wanted: usize) -> Option<i64> {
        self.cell(wanted)?.trim().parse().ok()
    }
}

fn line_of(record: &ByteRecord) -> Option<u64> {
    record.position().map(csv::Position::line)
}

fn broken(file: &Path, error: &csv::Error) -> Error {
    fault(
        file,
        error.position().map(csv::Position::line),
        &error.to_string(),
        "check that this is a CSV file",
    )
}

fn fault(file: &Path, line: Option<u64>, reason: &str, help: &str) -> Error {
    let reason = match line {
        Some(line) => format!("line {line}: {reason}"),
        None => reason.to_owned(),
    };
    Error::Report { path: file.to_owned(), reason, help: help.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kernels(text: &[u8]) -> Result<Vec<KernelSum>> {
        read_kernels(Path::new("k.csv"), text, &CsvLayout::default())
    }

    fn sum(total_ns: i64, calls: i64, name: &str) -> KernelSum {
        KernelSum { name: name.to_owned(), total_ns, calls }
    }

    const HEADER: &str =
        "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\n";

    #[test]
    fn columns_are_found_by_name() {
        let usual = format!("{HEADER}50,100,2,1,1,1,1,1,\"k<a, b>(int)\"\n");
        assert_eq!(kernels(usual.as_bytes()).unwrap(), [sum(100, 2, "k<a, b>(int)")]);
        let shapes = "Time (%),Total Time (us),Instances,GridXYZ,Name\n50,1.5,2,1 1 1,k\n";
        assert_eq!(kernels(shapes.as_bytes()).unwrap(), [sum(1500, 2, "k")]);
        let own = "time_pct,total_ns,calls,kernel_name\r\n50,7,2,k\r\n";
        assert_eq!(kernels(own.as_bytes()).unwrap(), [sum(7, 2, "k")]);
        let preamble =
            format!("\u{feff}Processing [x] with [y]...\n\n ** Summary:\n\n{HEADER}1,5,1,,,,,,k\n");
        assert_eq!(kernels(preamble.as_bytes()).unwrap(), [sum(5, 1, "k")]);
    }

    #[test]
    fn a_table_without_known_names_is_read_by_position_on_request() {
        let odd = "a,b,c,d,e,f,g,h,i\n50,100,2,1,1,1,1,1,k\n";
        let refused = kernels(odd.as_bytes()).unwrap_err().to_string();
        assert!(refused.contains("the first row is `a,b,c,d"), "{refused}");
        let skipped = b"SKIPPED: r.sqlite does not contain CUDA kernel data.\n";
        assert!(kernels(skipped).is_err() && kernels(b"").is_err());
        let as_the_seed = CsvLayout { ignores_units: true, ..CsvLayout::default() };
        let read = read_kernels(Path::new("k.csv"), odd.as_bytes(), &as_the_seed).unwrap();
        assert_eq!(read, [sum(100, 2, "k")]);
        let layout = CsvLayout {
            with_header: false,
            kernel_time: Some(0),
            kernel_calls: Some(1),
            kernel_name: Some(-1),
            time_scale_to_ms: Some(1e-3),
            ..CsvLayout::default()
        };
        let bare = read_kernels(Path::new("k.csv"), b"3,2,x,k\n", &layout).unwrap();
        assert_eq!(bare, [sum(3000, 2, "k")]);
    }

    #[test]
    fn a_column_given_by_position_has_the_unit_of_its_header() {
        let read = |text: &str, ignores_units| {
            let layout = CsvLayout { kernel_time: Some(-3), ignores_units, ..CsvLayout::default() };
            read_kernels(Path::new("k.csv"), text.as_bytes(), &layout).unwrap()
        };
        let known = "x,Total Time (us),Instances,Name\n0,3,2,k\n";
        assert_eq!(
            (read(known, false), read(known, true)),
            (vec![sum(3000, 2, "k")], vec![sum(3, 2, "k")])
        );
        let odd = "a,b,c,d,e,f,took (ms),h,i\n0,0,2,0,0,0,3,0,k\n";
        assert_eq!(read(odd, false), [sum(3_000_000, 2, "k")]);
        assert_eq!(read(odd, true), [sum(3, 2, "k")]);
    }

    #[test]
    fn errors_name_the_line() {
        let bad = |row: &str| {
            kernels(format!("{HEADER}1,5,1,,,,,,k\n{row}\n").as_bytes()).unwrap_err().to_string()
        };
        assert_eq!(bad("1,5,1"), "k.csv: line 3: expected 9 columns, found 3");
        assert!(
            bad("1,-5,1,,,,,,k").contains("line 3: negative total time"),
            "{}",
            bad("1,-5,1,,,,,,k")
        );
        assert!(bad("1,5,-1,,,,,,k").contains("negative instances"));
        for time in ["1e400", "nan", "inf", "9999999999999999999999", "", "x"] {
            assert!(bad(&format!("1,{time},1,,,,,,k")).contains("invalid total time"), "{time}");
        }
        assert!(bad("1,5,1.5,,,,,,k").contains("invalid instances '1.5': expected a 64-bit number"));
        assert!(kernels(b"\xff\xfea\0").unwrap_err().to_string().contains("UTF-16"));
    }

    #[test]
    fn empty_tables_and_invalid_utf8_are_read() {
        assert_eq!(kernels(HEADER.as_bytes()).unwrap(), []);
        let foreign = [HEADER.as_bytes(), b"1,5,1,,,,,,k\xff\xfe\n"].concat();
        assert_eq!(kernels(&foreign).unwrap(), [sum(5, 1, "k\u{fffd}\u{fffd}")]);
    }

    #[test]
    fn the_row_for_work_outside_all_ranges_is_kept() {
        let text = "Name,Projected Start (ns),Projected Duration (ns),PID,NumGPUOps\nNone,1,9,4,315\nit,2,8,None,1\n";
        let ranges = read_ranges(Path::new("n.csv"), text.as_bytes(), &CsvLayout::default()).unwrap();
        let outside = RangeSpan {
            start_ns: Some(1),
            dur_ns: 9,
            pid: Some(4),
            launches: Some(315),
            ..RangeSpan::default()
        };
        let it = RangeSpan {
            name: Some("it".to_owned()),
            start_ns: Some(2),
            dur_ns: 8,
            launches: Some(1),
            ..RangeSpan::default()
        };
        assert_eq!(ranges, [outside, it]);
    }
}
