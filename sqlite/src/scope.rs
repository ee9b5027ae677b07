//! The function `nsq_scope(option, …)`: the part of the report that all later statements of the connection ask about.
//! `nsq_scope('whole')` is the whole report again, and `nsq_scope()` changes nothing. All return the options.

use crate::offer::Asked;
use nsq::{Attribute, Scope};
use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::{Connection, Error, Result};
use std::sync::Arc;

/// An example for errors.
const EXAMPLE: &str = "nsq_scope('device=0', 'iter=step/2..4')";

pub(crate) fn register(host: &Connection, asked: &Arc<Asked>) -> Result<()> {
    let asked = Arc::clone(asked);
    // Not in views and triggers of a report: only the statement itself may narrow what is asked.
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DIRECTONLY;
    host.create_scalar_function("nsq_scope", -1, flags, move |context| {
        if !context.is_empty() {
            asked.set_scope(scope_of(context)?);
        }
        Ok(asked.scope().words().join(" "))
    })
}

/// The scope of options `name=value`, with the names of the command line.
fn scope_of(context: &Context<'_>) -> Result<Scope> {
    let mut scope = Scope::default();
    for place in 0..context.len() {
        let option: String = context.get(place)?;
        set(&mut scope, &option).map_err(|why| Error::UserFunctionError(why.into()))?;
    }
    Ok(scope)
}

fn set(scope: &mut Scope, option: &str) -> std::result::Result<(), String> {
    let (name, value) = option.split_once('=').unwrap_or((option, ""));
    let name = name.trim_start_matches('-');
    let id =
        || value.parse::<i64>().map_err(|_| format!("nsq_scope: {name}={value}: expected an integer"));
    let text = value.to_owned();
    if value.is_empty() && name != "steady" && name != "whole" {
        return Err(format!("nsq_scope: '{option}' has no value: write {EXAMPLE}"));
    }
    match name {
        "whole" => *scope = Scope::default(),
        "steady" => scope.steady = true,
        "time" => scope.time = Some(text),
        "gpu" => scope.gpus.push(id()?),
        "device" => scope.devices.push(id()?),
        "stream" => scope.streams.push(id()?),
        "process" => scope.processes.push(id()?),
        "thread" => scope.threads.push(text),
        "nvtx" => scope.nvtx.push(text),
        "iter" => scope.iterations.push(text),
        "exclude" => scope.exclude.push(text),
        "window" => scope.windows.push(text),
        "attribute" => {
            scope.attribute = Some(match value {
                "thread" => Attribute::Thread,
                "process" => Attribute::Process,
                "capture" => Attribute::Capture,
                _ => {
                    return Err(format!(
                        "nsq_scope: attribute={value}: expected thread, process or capture"
                    ));
                }
            });
        }
        _ => {
            return Err(format!(
                "nsq_scope: unknown option '{name}'. Options: attribute, device, exclude, gpu, iter, nvtx, process, \
                 steady, stream, thread, time, whole, window, as in {EXAMPLE}"
            ));
        }
    }
    Ok(())
}
