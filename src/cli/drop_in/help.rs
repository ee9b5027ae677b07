//! `--help-reports`, `--help-rules` and `--help-formats`.

use super::request::Command;
use crate::cli::output::say;
use nsq_library::catalog::{Catalog, Kind, Query};
use nsq_render::render::nsys::NsysFormat;
use nsq_value::error::{Error, Result};

/// Lists the reports of a command, or describes one, or all (`ALL`).
pub(super) fn reports(catalog: &Catalog, command: Command, name: &str) -> Result<u8> {
    let queries = catalog.readable_queries();
    let is_listed = |query: &&&Query| {
        query.header.nsys.is_some() && (query.header.kind == Kind::Rule) == (command == Command::Analyze)
    };
    let listed = queries.iter().filter(is_listed);
    let mut text = String::new();
    match name {
        "" => {
            text.push_str(&format!("\nThe following {}s are available:\n\n", command.noun()));
            listed.for_each(|query| text.push_str(&format!("  {}\n", line(query))));
            text.push_str(&format!(
                "\nFor more information, use '--help-{0}s <{0}_name>'\n",
                command.noun()
            ));
        }
        "ALL" => listed.for_each(|query| text.push_str(&described(query))),
        name => text.push_str(&described(catalog.query(name).map_err(|error| command.explain(error))?)),
    }
    say(&text)?;
    Ok(0)
}

/// `NAME[:arg][:arg=<value>] -- TITLE`
fn line(query: &Query) -> String {
    let header = &query.header;
    let args: String = header
        .nsys
        .iter()
        .flat_map(|nsys| &nsys.args)
        .map(|arg| match arg.param {
            Some(_) => format!("[:{}=<value>]", arg.name),
            None => format!("[:{}]", arg.name),
        })
        .collect();
    let title = header.nsys.as_ref().map_or(&header.title, |nsys| &nsys.title);
    format!("{}{args} -- {title}", header.name)
}

fn described(query: &Query) -> String {
    let header = &query.header;
    let mut text = format!("\n{}\n\n    {}\n", line(query), header.summary);
    for arg in header.nsys.iter().flat_map(|nsys| &nsys.args) {
        let param = arg.param.iter().chain(arg.set.keys()).next();
        let param = param.and_then(|name| header.params.iter().find(|param| param.name == *name));
        let doc = param.map_or("", |param| param.doc.as_str());
        text.push_str(&format!("\n    {} - {doc}\n", arg.name));
    }
    text.push_str("\n    start=<ns>, end=<ns>, nvtx=<range> - As --filter-time and --filter-nvtx, for this report.\n");
    text.push_str(&format!("\n    {}\n", header.limits));
    text
}

/// The arguments of a format: its name, and what it does.
const DRAWN: [(&str, &str); 5] = [
    ("nohdr", "Omit the names of the columns."),
    ("nofmt", "Accepted; nsq never regroups digits."),
    ("autolines=<rows>", "Rows that decide how wide columns are; 0 takes all. Default: 100."),
    ("colmax=<chars>", "Widest column that the rows decide; 0 is unlimited. Default: 100."),
    ("<width>...", "Widths of the first columns: `.` is automatic, 0 hides a column."),
];
const LINES: [(&str, &str); 1] = [("nohdr", "Omit the line of column names.")];
const TABS: [(&str, &str); 2] = [LINES[0], ("esc", "Write a tab in a name as \\t instead of a space.")];
const PAGE: [(&str, &str); 2] =
    [("title=<text>", "Title of the page."), ("css=<address>", "Style sheet of the page.")];
const UNITS: [(&str, &str); 8] = [
    ("ts=, dur=", "Unit of points in time and of durations: ns, us, ms or sec."),
    ("time=", "Both."),
    ("mem=, thru=", "Unit of sizes and of throughputs: B, KB, KiB, MB, MiB, GB or GiB."),
    ("bytes=", "Both."),
    ("gid=, addr=", "Accepted; the reports have no such column, or only one unit for it."),
    ("ratio=%", "Accepted."),
    ("noconv", "Leave times in ns and sizes in bytes."),
    ("nohdrunit", "Omit the units in the names of columns."),
];

/// Lists the formats, or describes one, or all (`ALL`).
pub(super) fn formats(name: &str) -> Result<u8> {
    let about = |format: NsysFormat| match format {
        NsysFormat::Column => ("Aligned columns", &DRAWN[..]),
        NsysFormat::Table => ("Table with a frame", &DRAWN[..]),
        NsysFormat::Csv => ("Comma-separated values", &LINES[..]),
        NsysFormat::Tsv => ("Tab-separated values", &TABS[..]),
        NsysFormat::Json => ("Array of JSON objects", &[][..]),
        NsysFormat::Hdoc => ("HTML page with a table", &PAGE[..]),
        NsysFormat::Htable => ("HTML table", &[][..]),
    };
    let mut text = String::new();
    if name.is_empty() {
        text.push_str("\nThe following formats are available:\n\n");
        for (name, format) in NsysFormat::NAMES {
            text.push_str(&format!("  {name:<10} {} (.{})\n", about(format).0, format.extension()));
        }
        text.push_str("\nFor more information, use '--help-formats <format_name>'\n");
        say(&text)?;
        return Ok(0);
    }
    let described: Vec<_> =
        NsysFormat::NAMES.into_iter().filter(|(known, _)| name == "ALL" || *known == name).collect();
    if described.is_empty() {
        let names = NsysFormat::NAMES.iter().map(|(name, _)| *name);
        return Err(Error::unknown("format", name, names, "`--help-formats` lists the formats."));
    }
    for (name, format) in described {
        let (title, own) = about(format);
        text.push_str(&format!("\n{name}[:<argument>]...\n\n    {title}.\n\n"));
        for (argument, doc) in own.iter().chain(&UNITS) {
            text.push_str(&format!("    {argument:<18} {doc}\n"));
        }
    }
    say(&text)?;
    Ok(0)
}
