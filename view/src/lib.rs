//! `nsq-view`, which `nsq timeline` runs on a terminal: lanes over time, to zoom, search and measure.
//!
//! The queries of the timeline page say what is in the lanes; this program draws them.

mod draw;
mod lanes;
mod places;
mod shares;
#[cfg(test)]
mod tests;
mod view;

use clap::Parser;
use draw::About;
use lanes::Timeline;
use nsq::options::ScopeArgs;
use nsq::table::{Column, Type, Unit, humanize};
use nsq::{Cancel, Error, Report, Result, Scope, Value, report_paths, visible};
use places::Place;
use ratatui::crossterm::event::{self, DisableMouseCapture, EnableMouseCapture, Event, KeyEventKind};
use ratatui::crossterm::execute;
use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};
use view::{List, View, Wish};

/// Look at a report over time, in the terminal
#[derive(Debug, Parser)]
#[command(name = "nsq-view", version, max_term_width = 100)]
#[command(after_help = "\
Examples:
  nsq timeline report.sqlite
  nsq timeline report.sqlite --time 1.2s/1.3s      every slice of a tenth of a second

Press ? for the keys. nsq timeline report.sqlite -o timeline.html writes a page for a browser.")]
struct Args {
    /// SQLite export, .nsys-rep or PyTorch trace.
    #[arg(value_name = "REPORT")]
    report: PathBuf,
    #[command(flatten)]
    scope: ScopeArgs,
}

/// Runs the program with these arguments, the first of which is its name.
pub fn main(arguments: Vec<OsString>) -> ExitCode {
    let args = Args::parse_from(nsq::scope::join_iterations(arguments.into_iter()));
    match run(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {}", visible(&error.to_string()));
            if let Some(help) = error.help() {
                eprintln!("  help: {}", visible(&help));
            }
            ExitCode::from(error.exit_code())
        }
    }
}

fn run(args: &Args) -> Result<()> {
    if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        return Err(Error::usage(
            "the view needs a terminal for its input and its output",
            "write a page for a browser: nsq timeline REPORT -o timeline.html",
        ));
    }
    let (paths, _) = report_paths(std::slice::from_ref(&args.report))?;
    let [path] = paths.as_slice() else {
        let reason = format!("the view shows one report, but {} are given", paths.len());
        let help = "name one, or write a page with all: nsq timeline REPORT... -o timeline.html";
        return Err(Error::usage(reason, help));
    };
    let cancel = Cancel::default();
    let library = nsq::library()?.cancelled_by(&cancel);
    let report = library.open(path)?;
    let scope = args.scope.text();
    eprintln!("reading {} …", visible(&report.name()));
    let timeline = Timeline::read(&report, &scope)?;
    if timeline.lanes.is_empty() {
        let reason = format!("{}: no event is in the scope", report.name());
        return Err(Error::usage(reason, "choose another scope"));
    }
    let failed = |error| Error::io(path, error);
    let mut terminal = ratatui::try_init().map_err(failed)?;
    let is_mouse_on = execute!(io::stdout(), EnableMouseCapture).is_ok();
    let ended = std::thread::scope(|scope_of_threads| {
        let ended = Program::new(&report, &scope, timeline).run(&mut terminal, scope_of_threads);
        // What still computes must not keep the terminal.
        cancel.cancel();
        ended
    });
    if is_mouse_on {
        let _ = execute!(io::stdout(), DisableMouseCapture);
    }
    ratatui::restore();
    ended.map_err(failed)
}

/// What a thread of its own has computed.
enum Computed {
    Findings(Result<Vec<Place>>),
    Timeline(Result<Timeline>),
}

struct Program<'r> {
    report: &'r Report,
    scope: &'r Scope,
    timeline: Timeline,
    view: View,
    message: String,
    computing: Option<Receiver<Computed>>,
    findings: Option<Vec<Place>>,
}

/// How often computed results are looked for.
const TICK: Duration = Duration::from_millis(100);
/// How long nothing is drawn if nothing happens.
const LONGEST_WAIT: Duration = Duration::from_secs(1);

impl<'r> Program<'r> {
    fn new(report: &'r Report, scope: &'r Scope, timeline: Timeline) -> Self {
        let view = View::new(&timeline);
        let left_out = timeline.lane_count - timeline.lanes.len() as i64;
        let message = match left_out {
            0 => String::new(),
            more => format!("{more} lanes with less to show are left out"),
        };
        Self { report, scope, timeline, view, message, computing: None, findings: None }
    }

    fn run<'s>(
        mut self,
        terminal: &mut ratatui::DefaultTerminal,
        threads: &'s std::thread::Scope<'s, '_>,
    ) -> io::Result<()>
    where
        'r: 's,
    {
        let name = self.report.name();
        std::thread::spawn(end_without_terminal);
        loop {
            let (view, timeline) = (&mut self.view, &self.timeline);
            let about = About { report: &name, message: &self.message };
            terminal.draw(|frame| draw::draw(frame, view, timeline, &about))?;
            let drawn = Instant::now();
            while !event::poll(TICK)? {
                // A terminal that is gone is only noticed by writing to it.
                if self.take_computed() || drawn.elapsed() >= LONGEST_WAIT {
                    break;
                }
            }
            // All that was typed meanwhile is one change of the screen.
            while event::poll(Duration::ZERO)? {
                let wish = match event::read()? {
                    Event::Key(key) if key.kind != KeyEventKind::Release => {
                        self.message.clear();
                        self.view.key(key, &self.timeline)
                    }
                    Event::Mouse(mouse) => {
                        self.view.mouse(mouse, &self.timeline);
                        Wish::Nothing
                    }
                    _ => Wish::Nothing,
                };
                match wish {
                    Wish::Quit => return Ok(()),
                    Wish::Nothing => {}
                    Wish::Findings => self.find(threads),
                    Wish::Read => self.read(threads),
                }
            }
        }
    }

    fn find<'s>(&mut self, threads: &'s std::thread::Scope<'s, '_>)
    where
        'r: 's,
    {
        if self.findings.is_some() {
            return self.show_findings();
        }
        let (report, scope) = (self.report, self.scope);
        self.compute("computing the findings …", threads, move || {
            Computed::Findings(places::findings(report, scope))
        });
    }

    /// Reads all slices of the window, or the whole time again after that.
    fn read<'s>(&mut self, threads: &'s std::thread::Scope<'s, '_>)
    where
        'r: 's,
    {
        let (report, mut scope) = (self.report, self.scope.clone());
        let window = self.view.window;
        if window != self.timeline.whole() {
            scope.time = Some(format!("{}ns/{}ns", window.start, window.end));
        }
        self.compute("reading the window …", threads, move || {
            Computed::Timeline(Timeline::read(report, &scope))
        });
    }

    fn compute<'s>(
        &mut self,
        what: &str,
        threads: &'s std::thread::Scope<'s, '_>,
        compute: impl FnOnce() -> Computed + Send + 's,
    ) {
        if self.computing.is_some() {
            return;
        }
        self.message = what.to_owned();
        let (sender, receiver) = mpsc::channel();
        // Nobody receives it once the program ends.
        threads.spawn(move || sender.send(compute()).is_ok());
        self.computing = Some(receiver);
    }

    /// Takes what was computed, if it is there.
    fn take_computed(&mut self) -> bool {
        let Some(computed) = self.computing.as_ref().and_then(|receiver| receiver.try_recv().ok())
        else {
            return false;
        };
        self.computing = None;
        self.message.clear();
        match computed {
            Computed::Findings(Ok(places)) => {
                self.findings = Some(places);
                self.show_findings();
            }
            Computed::Timeline(Ok(timeline)) => {
                let title = self.timeline.lanes.get(self.view.lane).map(|lane| lane.title.clone());
                self.timeline = timeline;
                self.view.onto(&self.timeline, title.as_deref());
                self.message =
                    "every slice of this window is here; 0 and then r read the whole time again"
                        .to_owned();
            }
            Computed::Findings(Err(error)) | Computed::Timeline(Err(error)) => {
                self.message = format!("error: {error}");
            }
        }
        true
    }

    fn show_findings(&mut self) {
        let places = self.findings.clone().unwrap_or_default();
        self.view.show(List {
            title: "Findings, with their longest places".to_owned(),
            places,
            chosen: 0,
        });
    }
}

/// A moment of the report's clock, with the digits that tell it from one `step` away.
fn moment(ns: i64, step: i64) -> String {
    const MS: i64 = 1_000_000;
    let (unit, name) = if step >= 10 * MS { (1_000 * MS, "s") } else { (MS, "ms") };
    let decimals = (unit as f64 / step.max(1) as f64).log10().ceil().max(0.0) as usize;
    format!("{:.decimals$} {name}", ns as f64 / unit as f64)
}

/// A length of time with a unit, as in all answers.
fn time(ns: i64) -> String {
    let column = Column {
        name: String::new(),
        kind: Type::Duration,
        unit: Some(Unit::Ns),
        label: None,
        priority: 0,
        doc: String::new(),
        decimals: None,
    };
    humanize(&Value::Int(ns), &column)
}

/// Ends the program when its terminal is gone: crossterm would read from it for ever.
fn end_without_terminal() {
    while ratatui::crossterm::terminal::window_size().is_ok() {
        std::thread::sleep(LONGEST_WAIT);
    }
    std::process::exit(1);
}
