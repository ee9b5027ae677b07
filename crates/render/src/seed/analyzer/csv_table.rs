//! Reads tables that `nsys stats --format csv` or `nsq run --format csv` wrote.
//!
//! Columns are found by the names in the header. A table is read by position if it has no header, or if
//! its header has no known names and either the user gave positions or `--seed-compat` is set.

use super::csv_columns::{Columns, CsvLayout, Kind, Wanted, place_in};
use csv::ByteRecord;
use nsq_value::error::{Error, Result};
use nsq_value::table::{Column, ResultTable, Value};
use std::path::Path;

/// Reads sums per kernel name, from `cuda_gpu_kern_sum`: rows of nsq's query of this name.
pub fn read_kernels(file: &Path, bytes: &[u8], layout: &CsvLayout) -> Result<ResultTable> {
    let wanted = [
        Wanted::new("total_ns", Kind::Time, "total time", &["total time"], (layout.kernel_time, 1)),
        Wanted::new("calls", Kind::Count, "instances", &["instances"], (layout.kernel_calls, 2)),
        Wanted::new("kernel_name", Kind::Text, "name", &["name"], (layout.kernel_name, 8)),
    ];
    read(file, bytes, layout, &wanted)
}

/// Reads sums per memory operation, from `cuda_gpu_mem_time_sum`: rows of nsq's query of this name.
pub fn read_memory(file: &Path, bytes: &[u8], layout: &CsvLayout) -> Result<ResultTable> {
    let counts = &["count", "operations", "instances"];
    let wanted = [
        Wanted::new("total_ns", Kind::Time, "total time", &["total time"], (layout.memory_time, 1)),
        Wanted::new("calls", Kind::Count, "count", counts, (layout.memory_calls, 2)),
        Wanted::new("op_name", Kind::Text, "operation", &["operation"], (layout.memory_name, 8)),
    ];
    read(file, bytes, layout, &wanted)
}

/// Reads projected ranges, from `nvtx_gpu_proj_trace`: rows of nsq's query of this name. The name of work
/// outside all ranges is null.
pub fn read_ranges(file: &Path, bytes: &[u8], layout: &CsvLayout) -> Result<ResultTable> {
    let projected = &["projected duration"];
    let wanted = [
        Wanted::new("range_name", Kind::Range, "name", &["name"], (layout.range_name, 0)),
        Wanted::new("dur_ns", Kind::Time, "projected duration", projected, (layout.range_dur, 2)),
        Wanted::optional("pid", Kind::Count, &[]),
        Wanted::optional("launch_count", Kind::Count, &["numgpuops"]),
        Wanted::optional("start_ns", Kind::Time, &["projected start"]),
        Wanted::optional("range_id", Kind::Count, &["rangeid"]),
    ];
    read(file, bytes, layout, &wanted)
}

/// Most rows to skip in search of the header: `nsys stats` prints messages before its table.
const PREAMBLE: usize = 40;

fn read(file: &Path, bytes: &[u8], layout: &CsvLayout, wanted: &[Wanted]) -> Result<ResultTable> {
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
    if !layout.without_header {
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
    let own = wanted.iter().map(|wanted| Column::untyped(wanted.column)).collect();
    let mut table = ResultTable { columns: own, rows: Vec::new() };
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
        let cells = Cells { file, record: &record, columns: &columns, wanted };
        table.rows.push((0..wanted.len()).map(|place| cells.value(place)).collect::<Result<_>>()?);
    }
    Ok(table)
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

    /// The value of a column. One that is optional is null where it is missing or invalid.
    fn value(&self, wanted: usize) -> Result<Value> {
        let column = &self.wanted[wanted];
        let int = |int: Option<i64>| int.map_or(Value::Null, Value::Int);
        Ok(match (column.kind, column.usual) {
            (Kind::Time, Some(_)) => Value::Int(self.time(wanted)?),
            (Kind::Count, Some(_)) => Value::Int(self.count(wanted)?),
            (Kind::Time, None) => int(self.cell(wanted).and_then(|text| self.in_ns(&text))),
            (Kind::Count, None) => int(self.cell(wanted).and_then(|text| text.trim().parse().ok())),
            (Kind::Range, _) => match self.text(wanted)? {
                name if name.is_empty() || name == "None" => Value::Null,
                name => Value::Text(name),
            },
            (Kind::Text, _) => Value::Text(self.text(wanted)?),
        })
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

    fn kernels(text: &[u8]) -> Result<Vec<Vec<Value>>> {
        with(text, &CsvLayout::default())
    }

    fn with(text: &[u8], layout: &CsvLayout) -> Result<Vec<Vec<Value>>> {
        Ok(read_kernels(Path::new("k.csv"), text, layout)?.rows)
    }

    fn sum(total_ns: i64, calls: i64, name: &str) -> Vec<Value> {
        vec![Value::Int(total_ns), Value::Int(calls), Value::Text(name.to_owned())]
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
        let read = with(odd.as_bytes(), &as_the_seed).unwrap();
        assert_eq!(read, [sum(100, 2, "k")]);
        let layout = CsvLayout {
            without_header: true,
            kernel_time: Some(0),
            kernel_calls: Some(1),
            kernel_name: Some(-1),
            time_scale_to_ms: Some(1e-3),
            ..CsvLayout::default()
        };
        let bare = with(b"3,2,x,k\n", &layout).unwrap();
        assert_eq!(bare, [sum(3000, 2, "k")]);
    }

    #[test]
    fn a_column_given_by_position_has_the_unit_of_its_header() {
        let read = |text: &str, ignores_units| {
            let layout = CsvLayout { kernel_time: Some(-3), ignores_units, ..CsvLayout::default() };
            with(text.as_bytes(), &layout).unwrap()
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
        assert!(kernels(HEADER.as_bytes()).unwrap().is_empty());
        let foreign = [HEADER.as_bytes(), b"1,5,1,,,,,,k\xff\xfe\n"].concat();
        assert_eq!(kernels(&foreign).unwrap(), [sum(5, 1, "k\u{fffd}\u{fffd}")]);
    }

    #[test]
    fn the_row_for_work_outside_all_ranges_is_kept() {
        let text = "Name,Projected Start (ns),Projected Duration (ns),PID,NumGPUOps\nNone,1,9,4,315\nit,2,8,None,1\n";
        let ranges = read_ranges(Path::new("n.csv"), text.as_bytes(), &CsvLayout::default()).unwrap();
        let int = Value::Int;
        let it = Value::Text("it".to_owned());
        let outside = vec![Value::Null, int(9), int(4), int(315), int(1), Value::Null];
        let it = vec![it, int(8), Value::Null, int(1), int(2), Value::Null];
        assert_eq!(ranges.rows, [outside, it]);
    }
}
