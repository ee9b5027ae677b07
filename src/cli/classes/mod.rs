//! `nsq classes`: the page `classes`, for reports and for the CSV tables and configs of the tools before nsq.

mod args;
mod class_map;
mod inputs;
mod loaded;
mod report;
mod sections;
mod tagged;

use super::failures::complain_of_all;
use super::note;
use super::output::{self, must_differ};
pub(super) use args::Args;
use inputs::Input;
use nsq_ask::page::{PageRequest, ReportInput};
use nsq_ask::request::Failed;
use nsq_render::render::{Format, visible};
use nsq_sweep::threads::Threads;
use nsq_value::error::{EXIT_FAILED, EXIT_LACKS_DATA, Error, Result};
use nsq_value::table::ResultTable;
use sections::Answered;

pub(super) fn run(args: &Args) -> Result<u8> {
    if args.seed_compat.is_some() && args.output.format()? != Format::Text {
        return Err(Error::usage(
            "--seed-compat prints text only",
            "leave out --format and end the name of -o in .txt, or leave out --seed-compat",
        ));
    }
    let (inputs, map) = inputs::collect(args)?;
    must_differ(args.output.output.as_deref(), inputs.iter().flat_map(Input::files))?;
    let mut catalog = args.library.load()?;
    let map = class_map::choose(&mut catalog, args, map)?;
    let mut params = vec![format!("overlaps={}", map.is_given)];
    if let Some(labels) = args.seed_compat {
        params.extend(["seed=true".to_owned(), format!("labels={}", labels.name())]);
        params.push(format!("classes={}", serde_json::json!(map.classes)));
    }
    let request = PageRequest::new(&catalog, "classes", &params, visible)?;
    let (mut reports, mut answered, mut failures) = (Vec::new(), Vec::new(), Vec::new());
    for input in &inputs {
        match input.load(args, &catalog) {
            Ok(loaded) => {
                let about = ReportInput { name: input.title.clone(), ..ReportInput::default() };
                reports.push(request.given(about, &loaded.tables));
                answered.push(Answered { input, tag: loaded.tag, notes: loaded.notes });
            }
            Err(error) if inputs.len() == 1 || matches!(error, Error::Interrupted) => return Err(error),
            Err(error) => {
                let (name, path) = (input.title.clone(), input.main_file().to_owned());
                failures.push(Failed { name, path, error });
            }
        }
    }
    let answer = match reports.is_empty() {
        true => None,
        false => {
            let limits = args.limits.limits(Threads::default());
            let asked = request.answer(reports, catalog.classes(), &limits)?;
            Some(asked.map_err(|none| none.into_error("classes", inputs[0].main_file(), true))?)
        }
    };
    let table = |name: &str| {
        let mut tables = answer.iter().flat_map(|answer| &answer.tables);
        tables.find(|table| table.name == name).map(|table| &table.table)
    };
    for row in table("notes").into_iter().flat_map(ResultTable::iter) {
        let side = row.int("side").and_then(|side| usize::try_from(side).ok());
        if let (Some(of), Some(text)) = (side.and_then(|side| answered.get_mut(side)), row.text("note"))
        {
            of.notes.push(text.to_owned());
        }
    }
    for Answered { input, notes, .. } in &answered {
        for text in notes {
            note(&format!("{}: {text}", input.title));
        }
    }
    let code = complain_of_all(&failures);
    // Never write a file without one of its inputs. On a terminal the other inputs are still useful.
    let Some(answer) =
        answer.as_ref().filter(|_| matches!(code, 0 | EXIT_LACKS_DATA) || args.output.output.is_none())
    else {
        note("nothing was written");
        return Ok(if code == 0 { EXIT_FAILED } else { code });
    };
    match args.seed_compat {
        Some(_) => {
            let text = answer.layout("seed")?;
            output::write_to(args.output.output.as_deref(), |out| {
                out.write_all(text.as_bytes()).map_err(Error::Output)
            })?;
        }
        None => sections::write(&args.output, &map.name, &answered, &table)?,
    }
    Ok(code)
}
