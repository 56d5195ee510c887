//! `weft eval exact`: exact matches.

use clap::Args;

use super::input::Texts;
use super::report::Report;
use crate::cli::env::Status;
use crate::error::Result;
use crate::eval::exact::Exact;

/// The percentage of sentences that are word for word a reference (SPR of de Gispert et al. 2014)
#[derive(Args, Debug)]
#[command(after_help = "With --json: an object with `name`, `score` (full precision), `matches` and `sentences`.\n\n\
                  Example:\n  weft eval exact ref.txt hyp1.txt")]
pub struct Cmd {
    #[command(flatten)]
    texts: Texts,
    /// Capital letters are small ones
    #[arg(long)]
    lowercase: bool,
    #[command(flatten)]
    report: Report,
}

impl Cmd {
    pub fn run(&self) -> Result<Status> {
        self.report.run(&Exact { lowercase: self.lowercase }, &self.texts, |_| {})
    }
}
