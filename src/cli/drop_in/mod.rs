//! What `nsq stats` and `nsq analyze` share: the command line and the output of the commands of nsys.

mod args;
mod asked;
mod destination;
mod filter;
mod format;
mod help;
mod instant;
mod printing;
mod request;
mod rules;

pub(super) use args::DropInArgs;
pub(super) use asked::text_of;
pub(super) use printing::run;
pub(super) use request::{Command, Request};
