//! `nsq cache`: lists, clears and locates the cache.

use super::output::{OutputArgs, write_to};
use nsq_render::render::Heading;
use nsq_report::report::{cache_entries, cache_folder, clear_cache};
use nsq_value::error::{Error, Result};
use nsq_value::table::{Column, ResultTable, Type, Unit, Value, humanize};
use std::time::{SystemTime, UNIX_EPOCH};

/// List, clear or locate the cached exports and traces
///
/// The cache folder is NSQ_CACHE, else XDG_CACHE_HOME/nsq, else ~/.cache/nsq. Only you can read it. An
/// entry is found by the report's size, time, head and tail (with --verify, by all its bytes), not by
/// its file name.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nsq cache ls
  nsq cache ls --format json
  nsq cache clear

When the cache grows beyond NSQ_CACHE_SIZE (such as 500MB; default: 20GiB), nsq deletes the entries \
that were not used for longest. It keeps the newest entry and entries in use. --no-cache bypasses \
the cache.")]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// List the entries, last used first
    #[command(alias = "list")]
    Ls {
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Delete all entries that are not in use, and the remains of killed runs
    Clear,
    /// Print the path of the cache folder
    Path,
}

pub(super) fn run(args: &Args) -> Result<u8> {
    match &args.command {
        Command::Ls { output } => output.table(&Heading::default(), &listing()?)?,
        Command::Clear => {
            let cleared = clear_cache()?;
            let size = Value::Int(i64::try_from(cleared.size_bytes).unwrap_or(i64::MAX));
            let size = humanize(&size, &column("size_bytes", Type::Bytes, ""));
            let in_use = match cleared.in_use {
                0 => String::new(),
                some => format!("; kept {some} in use"),
            };
            let entries = if cleared.entries == 1 { "entry" } else { "entries" };
            say(format!("removed {} {entries}, {size}{in_use}", cleared.entries).as_bytes())?;
        }
        Command::Path => match cache_folder()? {
            Some(folder) => say(folder.as_os_str().as_encoded_bytes())?,
            None => {
                return Err(Error::usage(
                    "no cache folder: NSQ_CACHE is not set and there is no home folder",
                    "set NSQ_CACHE to a folder for exports",
                ));
            }
        },
    }
    Ok(0)
}

fn say(line: &[u8]) -> Result<()> {
    write_to(None, |out| out.write_all(line).and_then(|()| out.write_all(b"\n")).map_err(Error::Output))
}

fn column(name: &str, kind: Type, doc: &str) -> Column {
    let unit = (kind == Type::Bytes).then_some(Unit::Bytes);
    Column { kind, unit, doc: doc.to_owned(), ..Column::untyped(name) }
}

fn listing() -> Result<ResultTable> {
    let rows = cache_entries()?.into_iter().map(|entry| {
        vec![
            Value::Text(entry.kind.word().to_owned()),
            Value::Text(entry.source),
            Value::Int(i64::try_from(entry.size_bytes).unwrap_or(i64::MAX)),
            Value::Text(utc(entry.made)),
            Value::Text(utc(entry.used)),
            Value::Text(entry.database.to_string_lossy().into_owned()),
        ]
    });
    Ok(ResultTable {
        columns: vec![
            column("kind", Type::Text, "Kind of entry: the export of a capture, or an imported trace."),
            column("source", Type::Text, "The file it was made from, under its name at that time."),
            column("size_bytes", Type::Bytes, "Size on disk."),
            column("made_utc", Type::Text, "When it was made."),
            column("used_utc", Type::Text, "When a run last used it."),
            column("database", Type::Text, "Path of the SQLite file."),
        ],
        rows: rows.collect(),
    })
}

/// Formats a time as `2026-11-22T01:05:48Z`.
fn utc(time: SystemTime) -> String {
    let seconds = time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    // Years start in March here, so that a leap day is the last day of its year.
    let day = days + 719_468;
    let (era, day) = (day / 146_097, day % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (year, month) = match month {
        0..10 => (year + era * 400, month + 3),
        _ => (year + era * 400 + 1, month - 9),
    };
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn utc_follows_the_calendar() {
        let at = |seconds| utc(UNIX_EPOCH + Duration::from_secs(seconds));
        assert_eq!(at(0), "1970-01-01T00:00:00Z");
        assert_eq!(at(951_782_399), "2000-02-28T23:59:59Z");
        assert_eq!(at(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(at(1_795_309_548), "2026-11-22T01:05:48Z");
        assert_eq!(at(4_107_542_400), "2100-03-01T00:00:00Z");
    }
}
