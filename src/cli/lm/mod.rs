//! `weft lm`: language models, one file a command.

mod apply;
mod automaton;
mod classes;
mod compile;
pub(crate) mod estimate;
mod info;
mod query;

use clap::{Args, Subcommand};

use super::env::Status;
use crate::cli::args::thread_pool;
use crate::error::Result;

pub use apply::LmApply;

#[derive(Args, Debug)]
#[command(
    after_help = "Wherever a model is read, ARPA text and the binary of `weft lm compile` are both taken, plain or \
                  compressed.\n\nExample:\n  weft lm compile lm.arpa -o lm.bin\n  weft lm query lm.bin test.txt"
)]
pub struct LmArgs {
    #[command(subcommand)]
    command: LmCommand,
}

#[derive(Subcommand, Debug)]
#[allow(clippy::large_enum_variant)] // one value a process
enum LmCommand {
    Estimate(estimate::Cmd),
    Compile(compile::Cmd),
    Query(query::Cmd),
    Info(info::Cmd),
    Fst(automaton::Cmd),
    Apply(apply::Cmd),
    Classes(classes::Cmd),
}

impl LmArgs {
    pub fn run(&self) -> Result<Status> {
        match &self.command {
            LmCommand::Estimate(c) => c.run(),
            LmCommand::Compile(c) => c.run(),
            LmCommand::Query(c) => c.run(),
            LmCommand::Info(c) => c.run(),
            LmCommand::Fst(c) => c.run(),
            LmCommand::Apply(c) => c.run(),
            LmCommand::Classes(c) => c.run(),
        }
    }
}

/// Runs `work` on this many threads; 0 is one a processor.
pub(crate) fn with_threads<T: Send>(threads: usize, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    thread_pool(threads)?.install(work)
}
