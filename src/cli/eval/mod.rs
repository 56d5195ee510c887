//! `weft eval`: how good translations and orders are, one file a metric.

mod bleu;
mod chrf;
mod compare;
mod crossing;
mod exact;
mod input;
mod kendall;
mod orders;
mod report;
mod ribes;
mod ter;
mod terbleu;

use clap::{Args, Subcommand};

use super::env::Status;
use crate::error::Result;

#[derive(Args, Debug)]
#[command(
    after_help = "BLEU, chrF and TER are sacreBLEU's to the last digit, with its signatures; RIBES is that of its reference script.\n\
                  Text is read plain, gz or zstd; a sentence a line.\n\n\
                  Examples:\n  weft eval bleu ref.txt hyp1.txt\n  weft eval compare ref.txt hyp1.txt hyp2.txt"
)]
pub struct EvalArgs {
    #[command(subcommand)]
    command: EvalCommand,
}

#[derive(Subcommand, Debug)]
enum EvalCommand {
    Bleu(bleu::Cmd),
    Chrf(chrf::Cmd),
    Ter(ter::Cmd),
    Ribes(ribes::Cmd),
    Exact(exact::Cmd),
    Terbleu(terbleu::Cmd),
    Kendall(kendall::Cmd),
    Crossing(crossing::Cmd),
    Compare(compare::Cmd),
}

impl EvalArgs {
    pub fn run(&self) -> Result<Status> {
        match &self.command {
            EvalCommand::Bleu(c) => c.run(),
            EvalCommand::Chrf(c) => c.run(),
            EvalCommand::Ter(c) => c.run(),
            EvalCommand::Ribes(c) => c.run(),
            EvalCommand::Exact(c) => c.run(),
            EvalCommand::Terbleu(c) => c.run(),
            EvalCommand::Kendall(c) => c.run(),
            EvalCommand::Crossing(c) => c.run(),
            EvalCommand::Compare(c) => c.run(),
        }
    }
}
