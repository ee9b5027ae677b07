//! `nsq answer`: answers a prepared list of questions (a playbook) for reports and folders of reports.

mod args;
mod profile;
mod stats_reports;

use super::first_word::must_be_reports;
use super::note;
use super::output::{must_differ, write_to};
pub(super) use args::Args;
use nsq_ask::page::{Given, PartAnswer, Questions, Status, table_text};
use nsq_library::catalog::Catalog;
use nsq_render::render::{Format, Heading, Style};
use nsq_report::report::{Profile as Found, find};
use nsq_sweep::threads::Threads;
use nsq_value::error::{EXIT_FAILED, EXIT_LACKS_DATA, Error, Result};
use nsq_value::shell;
use nsq_value::table::{Column, ResultTable, Value as Cell};
use profile::{Profile, failure_line};
use serde_json::{Map, Value as Json, json};
use std::path::{Path, PathBuf};

pub(super) fn run(args: &Args) -> Result<u8> {
    must_be_reports(&args.reports)?;
    let format = args.format()?;
    let mut catalog = args.library.load()?;
    let name = match Path::new(&args.playbook) {
        path if args.playbook.contains(['/', '\\']) || args.playbook.ends_with(".yml") => {
            catalog.add_playbook(path)?
        }
        _ => args.playbook.clone(),
    };
    // Whether a query uses classes is only known later, so duplicate rules are left to `nsq check`.
    if args.classes.classes.is_some() {
        args.classes.choose(&mut catalog, [])?;
    }
    let (params, files) = (args.params(), args.files()?);
    let given = Given {
        parts: &args.part,
        params: &params,
        files: &files,
        scope: args.scope(),
        classes: args.classes.classes.as_deref(),
    };
    let questions = Questions::new(&catalog, &name, given)?;
    args.check_output(&files)?;
    match args.reports.iter().any(|path| path.is_dir()) {
        true => folder(args, &catalog, &questions, format),
        false => reports(args, &catalog, &questions, format),
    }
}

/// Answers one report, or two together.
fn reports(args: &Args, catalog: &Catalog, questions: &Questions<'_>, format: Format) -> Result<u8> {
    let mut clock = args.limits.start(Threads::default());
    let (facts, answers) = profile::answer(args, questions, &args.reports, &mut clock)?;
    let written = match &args.reports_to {
        Some(target) => stats_reports::write_beside(args, catalog, target),
        None => Ok(Vec::new()),
    };
    let unanswered = unanswered(&answers);
    // The questions are about marked passes: the first screen needs no marks.
    let is_silent = !answers.is_empty() && answers.iter().all(|part| part.status() == Status::Lacking);
    let profile = Profile { name: String::new(), outcome: Ok((facts, answers)), written: None };
    let mut document = profile.to_json(args)?;
    document.shift_remove("profile");
    write(args, questions, format, &[profile], document, None)?;
    let lacking = written?;
    lacking.iter().for_each(|line| note(line));
    unanswered.iter().for_each(|line| note(&format!("not answered: {line}")));
    if is_silent && let Some(report) = args.reports.first() {
        note(&format!(
            "no question of {} is answered; what to fix first: nsq {}",
            args.playbook,
            shell::path(report)
        ));
    }
    Ok(if unanswered.is_empty() && lacking.is_empty() { 0 } else { EXIT_LACKS_DATA })
}

/// Answers every profile in a folder, and writes one summary that also lists the failures.
fn folder(args: &Args, catalog: &Catalog, questions: &Questions<'_>, format: Format) -> Result<u8> {
    let [folder] = args.reports.as_slice() else {
        return Err(Error::usage(
            "a folder cannot be combined with another report",
            "give one folder, or one or two reports",
        ));
    };
    let found = find(folder)?;
    let failed = |(path, error): (PathBuf, Error)| failure_line(&path.display().to_string(), &error);
    let mut failures: Vec<String> = found.failures.into_iter().map(failed).collect();
    found.notes.iter().for_each(|text| note(text));
    if found.profiles.is_empty() && failures.is_empty() {
        return Err(Error::Report {
            path: folder.clone(),
            reason: "contains no profile".to_owned(),
            help: "put .nsys-rep, .qdrep, .sqlite, or PyTorch's .json or .json.gz files into it or its subfolders"
                .to_owned(),
        });
    }
    must_differ(args.output.output.as_deref(), found.profiles.iter().flat_map(Found::files))?;
    let mut clock = args.limits.start(Threads::default());
    let all =
        found.profiles.iter().map(|found| Profile::of(found, args, catalog, questions, &mut clock));
    let all = all.collect::<Result<Vec<Profile<'_>>>>()?;
    failures.extend(all.iter().flat_map(Profile::failures));
    let mut document = Map::new();
    document.insert("folder".to_owned(), folder.display().to_string().into());
    document.insert("failures".to_owned(), failures.clone().into());
    let profiles = all.iter().map(|profile| Ok(profile.to_json(args)?.into()));
    document.insert("profiles".to_owned(), profiles.collect::<Result<Vec<Json>>>()?.into());
    write(args, questions, format, &all, document, Some(&failures))?;
    failures.iter().for_each(|failure| note(&format!("failed: {failure}")));
    Ok(match failures.is_empty() {
        false => EXIT_FAILED,
        true if all.iter().any(Profile::is_lacking) => EXIT_LACKS_DATA,
        true => 0,
    })
}

/// Writes the answers. `failures`: those of a folder.
fn write(
    args: &Args,
    questions: &Questions<'_>,
    format: Format,
    profiles: &[Profile<'_>],
    document: Map<String, Json>,
    failures: Option<&[String]>,
) -> Result<()> {
    let page = questions.page();
    let text = if format == Format::Json {
        let mut whole = Heading::of_nsq().facts;
        whole.insert("playbook".to_owned(), json!({ "name": page.name, "version": page.version }));
        whole.extend(document);
        serde_json::to_string_pretty(&whole).map_err(|e| Error::Output(e.into()))? + "\n"
    } else {
        let mut style = args.output.style(format);
        let width = style.width;
        // Tables stand below a question, indented by four.
        style.width = width.map(|width| width.saturating_sub(4));
        let views = profiles.iter().map(|profile| profile.view(args, format, &style));
        questions.layout(json!({
            "title": page.title,
            "name": page.name,
            "version": page.version,
            "markdown": format == Format::Markdown,
            "details": args.details,
            "width": width,
            "bold": style.color,
            "overview": failures.map(|_| overview(questions, profiles, format, &style)).transpose()?,
            "failures": failures,
            "profiles": views.collect::<Result<Vec<Json>>>()?,
        }))?
    };
    write_to(args.output.output.as_deref(), |out| out.write_all(text.as_bytes()).map_err(Error::Output))
}

/// A table with one row per profile and one column per part.
fn overview(
    questions: &Questions<'_>,
    profiles: &[Profile<'_>],
    format: Format,
    style: &Style,
) -> Result<String> {
    let parts = questions.parts();
    let labels = parts.iter().map(|part| Column::untyped(&format!("({})", part.part)));
    let columns = [Column::untyped("profile")].into_iter().chain(labels).collect();
    let rows = profiles.iter().map(|profile| {
        let words: Vec<&str> = match &profile.outcome {
            Ok((_, answers)) => answers.iter().map(|answer| word(answer.status())).collect(),
            Err(_) => parts.iter().map(|_| "failed").collect(),
        };
        let words = words.into_iter().map(|word| Cell::Text(word.to_owned()));
        [Cell::Text(profile.name.clone())].into_iter().chain(words).collect()
    });
    let table = ResultTable { rows: rows.collect(), columns };
    table_text(&table, &Heading::default(), format, style.clone())
}

fn word(status: Status) -> &'static str {
    match status {
        Status::Answered => "answered",
        Status::Partly => "partly",
        Status::Lacking => "no data",
    }
}

/// One line with the parts without any answer, and one per part that was partly answered.
fn unanswered(answers: &[PartAnswer<'_>]) -> Vec<String> {
    let with = |status| answers.iter().filter(move |answer| answer.status() == status);
    let lacking: Vec<String> = with(Status::Lacking).map(PartAnswer::label).collect();
    let whole = (!lacking.is_empty()).then(|| lacking.join(", "));
    let partly = with(Status::Partly).map(|answer| format!("{} {}", answer.label(), answer.lacking()));
    whole.into_iter().chain(partly).collect()
}
