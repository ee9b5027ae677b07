//! What Ballista logs, with `--verbose`.

use log::{LevelFilter, Log, Metadata, Record};

struct Stderr;

impl Log for Stderr {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &Record<'_>) {
        let text = format!("{}: {}", record.level(), record.args());
        eprintln!("{}", nsq::visible(&text));
    }

    fn flush(&self) {}
}

/// Prints what Ballista logs: more with each `--verbose`.
pub(super) fn log(verbose: u8) {
    let level = match verbose {
        0 => return,
        1 => LevelFilter::Warn,
        2 => LevelFilter::Info,
        _ => LevelFilter::Debug,
    };
    if log::set_logger(&Stderr).is_ok() {
        log::set_max_level(level);
    }
}
