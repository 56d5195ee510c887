//! `weft lm`: language models, one file a command.

mod estimate;

use clap::{Args, Subcommand};

use super::env::Status;
use crate::error::Result;

#[derive(Args, Debug)]
#[command(after_help = "Example:\n  weft lm estimate --order 4 train.txt -o lm.arpa")]
pub struct LmArgs {
    #[command(subcommand)]
    command: LmCommand,
}

#[derive(Subcommand, Debug)]
enum LmCommand {
    Estimate(estimate::Cmd),
}

impl LmArgs {
    pub fn run(&self) -> Result<Status> {
        match &self.command {
            LmCommand::Estimate(c) => c.run(),
        }
    }
}
